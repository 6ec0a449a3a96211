/* SPDX-License-Identifier: BSD-2-Clause */
#include "relay.h"

#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_un
address_of(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%.100s", path);
	return a;
}

/* Pass bytes on. Returns 1 to go on, 0 to end the connection. */
static int
pass(struct relay *r, int direction, int from, int to)
{
	static const uint8_t own[2] = { 0x17, 0x03 };
	uint8_t bytes[16384];
	ssize_t n = recv(from, bytes, sizeof(bytes), 0);
	size_t before = r->passed[direction], at;

	if (n <= 0)
		return 0;
	r->passed[direction] += (size_t)n;
	if (r->trick == RELAY_PASS || r->direction != direction || r->at < before ||
		r->at >= before + (size_t)n)
		return send(to, bytes, (size_t)n, MSG_NOSIGNAL) == n;
	at = r->at - before;
	if (r->trick == RELAY_CHANGE)
		bytes[at] ^= 0x41;
	(void)send(to, bytes, at, MSG_NOSIGNAL);
	if (r->trick == RELAY_CUT)
		return 0;
	if (r->trick == RELAY_INSERT)
		(void)send(to, own, sizeof(own), MSG_NOSIGNAL);
	return send(to, bytes + at, (size_t)n - at, MSG_NOSIGNAL) == n - (ssize_t)at;
}

static void
serve(struct relay *r, int client)
{
	const struct sockaddr_un to = address_of(r->to);
	struct pollfd fds[2] = { { .fd = client, .events = POLLIN },
		{ .fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
			.events = POLLIN } };
	int goes_on = connect(fds[1].fd, (const struct sockaddr *)&to, sizeof(to)) == 0;

	r->passed[0] = r->passed[1] = 0;
	while (goes_on && poll(fds, 2, 20000) > 0) {
		for (int i = 0; i < 2 && goes_on; i++) {
			if (fds[i].revents != 0)
				goes_on = pass(r, i, fds[i].fd, fds[1 - i].fd);
		}
	}
	close(fds[1].fd);
	close(client);
}

static void *
run(void *user)
{
	struct relay *r = user;
	int client;

	while ((client = accept4(r->listen_fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		serve(r, client);
	return NULL;
}

int
relay_start(struct relay *r, const char *dir, const char *to)
{
	char path[128];
	struct sockaddr_un a;

	memset(r, 0, sizeof(*r));
	(void)snprintf(r->dir, sizeof(r->dir), "%s", dir);
	(void)snprintf(r->to, sizeof(r->to), "%s", to);
	(void)snprintf(path, sizeof(path), "%s/main.sock", dir);
	a = address_of(path);
	r->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (mkdir(dir, 0700) < 0 || r->listen_fd < 0 ||
		bind(r->listen_fd, (const struct sockaddr *)&a, sizeof(a)) < 0 ||
		listen(r->listen_fd, 8) < 0)
		return -1;
	return pthread_create(&r->thread, NULL, run, r) == 0 ? 0 : -1;
}

void
relay_set(struct relay *r, int direction, enum relay_trick trick, size_t at)
{
	r->direction = direction;
	r->trick = trick;
	r->at = at;
}

void
relay_stop(struct relay *r)
{
	shutdown(r->listen_fd, SHUT_RDWR);
	pthread_join(r->thread, NULL);
	close(r->listen_fd);
}
