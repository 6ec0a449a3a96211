/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The TCP addresses of the `listen` and `stats_listen` lines: reads them from the configuration, compares them, and
 * writes them out. The master opens the sockets (master/listeners.c).
 */
#include "listen.h"

#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "auth/peer.h"
#include "shared/units.h"

#define HOST_LEN_MAX 256u

/* Cut "HOST:PORT" in place; HOST loses its brackets. -1: the text has another form. */
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
	/* in an IPv6 address without brackets, the port could begin at any colon */
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
			"unknown option \"%.100s\"; only proxy=v2 may follow the address",
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
cnd_listen_is_in(const struct cnd_listens *l, const struct cnd_listen *a)
{
	for (size_t i = 0; i < l->n; i++) {
		if (cnd_listen_is_equal(&l->list[i], a))
			return 1;
	}
	return 0;
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
