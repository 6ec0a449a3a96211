/* SPDX-License-Identifier: BSD-2-Clause */
#include "listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "activation.h"
#include "ipc.h"
#include "log.h"
#include "auth/peer.h"
#include "units.h"

#define BACKLOG        4096
#define HOST_LEN_MAX   256u
/* For so long the kernel keeps a connection on which nothing has come to itself. */
#define DEFER_ACCEPT_S 10

/* Cut "HOST:PORT" in place: HOST without its brackets. -1: it is not of this form. */
static int
cut_host(char *text, char **ret_host, char **ret_port)
{
	char *colon = strrchr(text, ':');
	uint64_t port;

	if (colon == NULL || cnd_number_parse(colon + 1, 65535, &port) < 0 || port == 0)
		return -1;
	*colon = '\0';
	*ret_port = colon + 1;
	*ret_host = text;
	if (text[0] == '[' && colon[-1] == ']') {
		colon[-1] = '\0';
		*ret_host = text + 1;
		return 0;
	}
	/* an IPv6 address without brackets leaves open where its port begins */
	return *text == '\0' || strpbrk(text, ":[]") != NULL ? -1 : 0;
}

static int
add_one(struct cnd_listens *l, const struct addrinfo *a, int has_proxy,
	char why[CND_LISTEN_WHY_MAX])
{
	struct cnd_listen new = { .len = a->ai_addrlen, .has_proxy = (uint8_t)has_proxy };
	char text[CND_LISTEN_TEXT_MAX];

	memcpy(&new.addr, a->ai_addr, a->ai_addrlen);
	for (size_t i = 0; i < l->n; i++) {
		if (l->list[i].len == new.len &&
			memcmp(&l->list[i].addr, &new.addr, new.len) == 0) {
			snprintf(why, CND_LISTEN_WHY_MAX, "%s is given twice",
				cnd_listen_text(&new, text));
			return -1;
		}
	}
	if (l->n == CND_LISTENERS_MAX) {
		snprintf(why, CND_LISTEN_WHY_MAX, "more than %u addresses",
			CND_LISTENERS_MAX);
		return -1;
	}
	l->list[l->n++] = new;
	return 0;
}

static int
look_up(struct cnd_listens *l, const char *host, const char *port, int has_proxy,
	char why[CND_LISTEN_WHY_MAX])
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	struct addrinfo *list;
	int r;

	r = getaddrinfo(strcmp(host, "*") == 0 ? NULL : host, port, &hints, &list);
	if (r != 0) {
		snprintf(why, CND_LISTEN_WHY_MAX, "%.200s: %s", host, gai_strerror(r));
		return -1;
	}
	for (const struct addrinfo *a = list; a != NULL && r == 0; a = a->ai_next)
		r = add_one(l, a, has_proxy, why);
	freeaddrinfo(list);
	return r;
}

int
cnd_listen_add(struct cnd_listens *l, const char *text, char why[CND_LISTEN_WHY_MAX])
{
	size_t n = strcspn(text, " \t");
	const char *option = text + n + strspn(text + n, " \t");
	char copy[HOST_LEN_MAX + sizeof("[]:65535")];
	char *host, *port;

	if (*option != '\0' && strcmp(option, "proxy=v2") != 0) {
		snprintf(why, CND_LISTEN_WHY_MAX,
			"\"%.100s\" is not known; proxy=v2, or nothing, comes behind the "
			"address",
			option);
		return -1;
	}
	if (n >= sizeof(copy)) {
		snprintf(why, CND_LISTEN_WHY_MAX, "the address is too long");
		return -1;
	}
	memcpy(copy, text, n);
	copy[n] = '\0';
	if (cut_host(copy, &host, &port) < 0) {
		snprintf(why, CND_LISTEN_WHY_MAX,
			"\"%.100s\" is not an address; write HOST:PORT, [IPV6]:PORT or "
			"*:PORT",
			text);
		return -1;
	}
	return look_up(l, host, port, *option != '\0', why);
}

int
cnd_listen_is_equal(const struct cnd_listen *a, const struct cnd_listen *b)
{
	return a->len == b->len && a->has_proxy == b->has_proxy &&
	       memcmp(&a->addr, &b->addr, a->len) == 0;
}

int
cnd_listen_open(const struct cnd_listen *a)
{
	int fd = socket(a->addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int wait = DEFER_ACCEPT_S;
	int on = 1;
	int saved;

	if (fd < 0)
		return -1;
	/* IPv4 has a socket of its own, whatever the system's default is */
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

const char *
cnd_listen_text(const struct cnd_listen *a, char out[CND_LISTEN_TEXT_MAX])
{
	struct cnd_peer p = { .door = CND_DOOR_TCP };

	if (cnd_peer_set(&p, (const struct sockaddr *)&a->addr) < 0)
		snprintf(out, CND_LISTEN_TEXT_MAX, "(no TCP address)");
	else
		(void)cnd_peer_text(&p, out);
	return out;
}

/* ---- all of them ---- */

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
has(const struct cnd_listeners *l, const struct cnd_listen *a)
{
	for (size_t i = 0; i < CND_LISTENERS_MAX; i++) {
		if (l->list[i].fd >= 0 && cnd_listen_is_equal(&l->list[i].at, a))
			return 1;
	}
	return 0;
}

static int
wants(const struct cnd_listens *l, const struct cnd_listen *a)
{
	for (size_t i = 0; i < l->n; i++) {
		if (cnd_listen_is_equal(&l->list[i], a))
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
		fd = cnd_listen_open(a);
	while (fd < 0 && errno == EADDRINUSE && await != NULL &&
		await(cnd_listen_text(a, text)));
	return fd;
}

int
cnd_listeners_prepare(const struct cnd_listeners *now, const struct cnd_listens *wanted,
	cnd_await_address *await, struct cnd_listeners *ret_new)
{
	char text[CND_LISTEN_TEXT_MAX];
	int fd;

	cnd_listeners_init(ret_new);
	for (size_t i = 0; i < wanted->n; i++) {
		const struct cnd_listen *a = &wanted->list[i];

		if (has(now, a))
			continue;
		fd = cnd_activation_take((const struct sockaddr *)&a->addr, a->len);
		if (fd < 0)
			fd = open_soon(a, await);
		if (fd < 0) {
			cnd_log(LOG_ERR, "listen %s: %s", cnd_listen_text(a, text),
				strerror(errno));
			cnd_listeners_close(ret_new);
			return -1;
		}
		ret_new->list[i] = (struct cnd_listener){ fd, *a };
	}
	return 0;
}

static void
tell(int control_fd, uint32_t kind, uint32_t index, const struct cnd_listener *l)
{
	struct cnd_ipc m = { .kind = kind, .index = index };

	if (kind == CND_IPC_LISTENER) {
		m.serial = l->at.has_proxy;
		m.n_fds = 1;
		m.fds[0] = l->fd;
	}
	if (control_fd >= 0 && cnd_ipc_send(control_fd, &m) < 0)
		cnd_log(LOG_ERR, "the door does not listen");
}

/* Those that are not wanted any more. */
static void
close_others(struct cnd_listeners *now, const struct cnd_listens *wanted, int control_fd)
{
	for (uint32_t i = 0; i < CND_LISTENERS_MAX; i++) {
		struct cnd_listener *l = &now->list[i];

		if (l->fd < 0 || wants(wanted, &l->at))
			continue;
		tell(control_fd, CND_IPC_LISTENER_GONE, i, l);
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
		tell(control_fd, CND_IPC_LISTENER, slot, &now->list[slot]);
	}
}
