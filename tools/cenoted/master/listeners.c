/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sockets for the TCP addresses of the configuration. The master opens them at its start and at
 * a reload, or takes them from the service manager. The door, or the process that serves statistics,
 * accepts on them and gets a copy of each. master.c and master_pools.c call this file.
 */
#include "listeners.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

#include "activation.h"
#include "shared/ipc.h"
#include "shared/log.h"

#define BACKLOG        4096
/* For this long, the kernel keeps a connection on which nothing has arrived to itself. */
#define DEFER_ACCEPT_S 10

/* A listening socket: its descriptor, or -1 with errno. */
static int
open_socket(const struct cnd_listen *a)
{
	int fd = socket(a->addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int wait = DEFER_ACCEPT_S;
	int on = 1;
	int saved;

	if (fd < 0)
		return -1;
	/* IPv4 gets a socket of its own, whatever the system's default is */
	if (a->addr.ss_family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &wait, sizeof(wait));
	if (bind(fd, (const struct sockaddr *)&a->addr, a->len) == 0 &&
		listen(fd, BACKLOG) == 0)
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

void
cnd_listeners_init(struct cnd_listeners *l)
{
	for (size_t i = 0; i < CND_LISTENERS_MAX; i++)
		l->list[i].fd = -1;
}

void
cnd_listeners_close(struct cnd_listeners *l)
{
	for (size_t i = 0; i < CND_LISTENERS_MAX; i++) {
		if (l->list[i].fd >= 0)
			close(l->list[i].fd);
		l->list[i].fd = -1;
	}
}

static int
is_open(const struct cnd_listeners *l, const struct cnd_listen *a)
{
	for (size_t i = 0; i < CND_LISTENERS_MAX; i++) {
		if (l->list[i].fd >= 0 && cnd_listen_is_equal(&l->list[i].at, a))
			return 1;
	}
	return 0;
}

static int
open_soon(const struct cnd_listen *a, cnd_await_address *await)
{
	char text[CND_LISTEN_TEXT_MAX];
	int fd;

	do
		fd = open_socket(a);
	while (fd < 0 && errno == EADDRINUSE && await != NULL &&
		await(cnd_listen_text(a, text)));
	return fd;
}

int
cnd_listeners_prepare(const char *key, const struct cnd_listeners *now,
	const struct cnd_listens *wanted, cnd_await_address *await,
	struct cnd_listeners *ret_new)
{
	char text[CND_LISTEN_TEXT_MAX];
	bool is_own;
	int fd;

	cnd_listeners_init(ret_new);
	for (size_t i = 0; i < wanted->n; i++) {
		const struct cnd_listen *a = &wanted->list[i];

		if (is_open(now, a))
			continue;
		fd = cnd_activation_take(
			(const struct sockaddr *)&a->addr, a->len, &is_own);
		if (fd < 0)
			fd = open_soon(a, await);
		if (fd < 0) {
			cnd_log(LOG_ERR, "%s %s: %s", key, cnd_listen_text(a, text),
				strerror(errno));
			cnd_listeners_close(ret_new);
			return -1;
		}
		ret_new->list[i] = (struct cnd_listener){ fd, *a };
	}
	return 0;
}

static void
tell_door(int control_fd, uint32_t kind, uint32_t index, const struct cnd_listener *l)
{
	struct cnd_ipc m = { .kind = kind, .index = index };

	if (kind == CND_IPC_LISTENER) {
		m.serial = l->at.has_proxy;
		m.n_fds = 1;
		m.fds[0] = l->fd;
	}
	if (control_fd >= 0 && cnd_ipc_send(control_fd, &m) < 0)
		cnd_log(LOG_ERR, "the door does not read its messages");
}

/* Close the sockets that are not in `wanted`. */
static void
close_others(struct cnd_listeners *now, const struct cnd_listens *wanted, int control_fd)
{
	for (uint32_t i = 0; i < CND_LISTENERS_MAX; i++) {
		struct cnd_listener *l = &now->list[i];

		if (l->fd < 0 || cnd_listen_is_in(wanted, &l->at))
			continue;
		tell_door(control_fd, CND_IPC_LISTENER_GONE, i, l);
		close(l->fd);
		l->fd = -1;
	}
}

void
cnd_listeners_adopt(struct cnd_listeners *now, const struct cnd_listens *wanted,
	const struct cnd_listeners *new, int control_fd)
{
	uint32_t slot = 0;

	close_others(now, wanted, control_fd);
	for (size_t i = 0; i < CND_LISTENERS_MAX; i++) {
		if (new->list[i].fd < 0)
			continue;
		while (now->list[slot].fd >= 0)
			slot++;
		now->list[slot] = new->list[i];
		tell_door(control_fd, CND_IPC_LISTENER, slot, &now->list[slot]);
	}
}
