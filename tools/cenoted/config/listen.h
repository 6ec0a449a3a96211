/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_LISTEN_H
#define CND_LISTEN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* The TCP addresses of the `listen` lines, which the door accepts on, or of the `stats_listen` lines. */
#define CND_LISTENERS_MAX  32u
#define CND_LISTEN_WHY_MAX 256u

/* An address to listen on. */
struct cnd_listen {
	struct sockaddr_storage addr;
	socklen_t len;
	uint8_t has_proxy; /* each client comes with a header of the PROXY protocol, version 2 */
};

struct cnd_listens {
	struct cnd_listen list[CND_LISTENERS_MAX];
	size_t n;
};

/*
 * Add the addresses of "HOST:PORT [proxy=v2]". HOST is an address, [an IPv6 address], a name, which
 * may have several addresses, or * for all addresses of the machine. 0, or -1 with the reason in
 * `why`.
 */
int cnd_listen_add(struct cnd_listens *l, const char *text, char why[CND_LISTEN_WHY_MAX]);
int cnd_listen_is_equal(const struct cnd_listen *a, const struct cnd_listen *b);
int cnd_listen_is_in(const struct cnd_listens *l, const struct cnd_listen *a);

/* Write the address: "127.0.0.1:9432", "[::]:9432". */
#define CND_LISTEN_TEXT_MAX 64u
const char *cnd_listen_text(const struct cnd_listen *a, char out[CND_LISTEN_TEXT_MAX]);

#endif
