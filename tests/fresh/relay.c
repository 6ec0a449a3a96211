/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A relay between clients and a pool that cuts the connection at a chosen byte.
 */
#include "fresh.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct fr_relay {
	char dir[64];
	struct sockaddr_un here, there;
	int fd;
	_Atomic uint32_t cut;
	_Atomic int is_stopping;
	_Atomic int n_serving;
	pthread_t thread;
};

struct connection {
	struct fr_relay *relay;
	int client;
};

static int
send_all(int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t r = send(fd, bytes, n, MSG_NOSIGNAL);

		if (r <= 0)
			return -1;
		bytes += r;
		n -= (size_t)r;
	}
	return 0;
}

/* Pass on the bytes that have arrived, at most *left of them. Returns -1 at the end of the
 * connection. */
static int
pass(int from, int to, uint32_t *left)
{
	char bytes[16384];
	ssize_t n;

	n = recv(from, bytes, sizeof(bytes), 0);
	if (n <= 0)
		return -1;
	if (left == NULL)
		return send_all(to, bytes, (size_t)n);
	if ((uint32_t)n >= *left) {
		(void)send_all(to, bytes, *left);
		return -1;
	}
	*left -= (uint32_t)n;
	return send_all(to, bytes, (size_t)n);
}

/* Serve one connection, in a thread of its own: a cancel comes on a second connection. */
static void *
serve(void *arg)
{
	struct fr_relay *relay = ((struct connection *)arg)->relay;
	int client = ((struct connection *)arg)->client;
	int pool = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	uint32_t left = atomic_load(&relay->cut);

	if (pool >= 0 && connect(pool, (const struct sockaddr *)&relay->there,
				 sizeof(relay->there)) == 0) {
		struct pollfd fds[2] = { { client, POLLIN, 0 }, { pool, POLLIN, 0 } };

		while (!atomic_load(&relay->is_stopping) && poll(fds, 2, 100) >= 0) {
			if (fds[0].revents != 0 && pass(client, pool, &left) < 0)
				break;
			if (fds[1].revents != 0 && pass(pool, client, NULL) < 0)
				break;
		}
	}
	if (pool >= 0)
		close(pool);
	close(client);
	free(arg);
	atomic_fetch_sub(&relay->n_serving, 1);
	return NULL;
}

static void
begin_to_serve(struct fr_relay *relay, int client)
{
	struct connection *c = malloc(sizeof(*c));
	pthread_t thread;

	if (c == NULL) {
		close(client);
		return;
	}
	*c = (struct connection){ relay, client };
	atomic_fetch_add(&relay->n_serving, 1);
	if (pthread_create(&thread, NULL, serve, c) == 0) {
		pthread_detach(thread);
		return;
	}
	atomic_fetch_sub(&relay->n_serving, 1);
	close(client);
	free(c);
}

static void *
run(void *arg)
{
	struct fr_relay *relay = arg;

	while (!atomic_load(&relay->is_stopping)) {
		struct pollfd fd = { relay->fd, POLLIN, 0 };
		int client;

		if (poll(&fd, 1, 100) <= 0)
			continue;
		client = accept4(relay->fd, NULL, NULL, SOCK_CLOEXEC);
		if (client >= 0)
			begin_to_serve(relay, client);
	}
	return NULL;
}

static void
name_socket(struct sockaddr_un *sa, const char *dir, const char *pool)
{
	memset(sa, 0, sizeof(*sa));
	sa->sun_family = AF_UNIX;
	snprintf(sa->sun_path, sizeof(sa->sun_path), "%.70s/%.20s.sock", dir, pool);
}

int
fr_relay_start(const char *run_dir, const char *pool, struct fr_relay **ret_relay)
{
	struct fr_relay *relay = calloc(1, sizeof(*relay));

	if (relay == NULL)
		return -1;
	snprintf(relay->dir, sizeof(relay->dir), "/tmp/cenote-relay-XXXXXX");
	if (mkdtemp(relay->dir) == NULL)
		goto failed;
	name_socket(&relay->here, relay->dir, pool);
	name_socket(&relay->there, run_dir, pool);
	relay->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (relay->fd < 0 ||
		bind(relay->fd, (struct sockaddr *)&relay->here, sizeof(relay->here)) <
			0 ||
		listen(relay->fd, 4) < 0 ||
		pthread_create(&relay->thread, NULL, run, relay) != 0)
		goto failed;
	*ret_relay = relay;
	return 0;

failed:
	fprintf(stderr, "# relay: %s\n", strerror(errno));
	free(relay);
	return -1;
}

const char *
fr_relay_dir(struct fr_relay *relay)
{
	return relay->dir;
}

void
fr_relay_cut(struct fr_relay *relay, uint32_t bytes)
{
	atomic_store(&relay->cut, bytes);
}

void
fr_relay_stop(struct fr_relay *relay)
{
	if (!relay)
		return;
	atomic_store(&relay->is_stopping, 1);
	pthread_join(relay->thread, NULL);
	while (atomic_load(&relay->n_serving) > 0)
		usleep(1000);
	close(relay->fd);
	unlink(relay->here.sun_path);
	rmdir(relay->dir);
	free(relay);
}
