/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_PEER_H
#define CND_PEER_H

#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>

/* Whether a client came by a unix socket or by TCP. */
enum cnd_door {
	CND_DOOR_UNIX,
	CND_DOOR_TCP
};

struct cnd_peer {
	uint8_t door; /* enum cnd_door */
	uint16_t port; /* TCP only, like addr; in host order */
	struct in6_addr addr; /* IPv4 as ::ffff:a.b.c.d (RFC 4291, 2.5.5.2) */
};

#define CND_PEER_TEXT_MAX 64u

/* Set the address from the result of accept() or getpeername(). 0; -1: this is not a TCP address. */
int cnd_peer_set(struct cnd_peer *p, const struct sockaddr *addr);
/* Write the address: "192.0.2.1:50000", "[2001:db8::1]:50000", "unix". */
const char *cnd_peer_text(const struct cnd_peer *p, char out[CND_PEER_TEXT_MAX]);

/* Get the process and user at the other end of a unix socket. 0; -1 with errno. */
int cnd_peer_credentials(int fd, struct ucred *ret_peer);

/* A network (RFC 4632, RFC 4291): an address and how many of its bits count. */
struct cnd_network {
	uint8_t bits; /* 0 … 128, counted in `addr`: IPv4 begins at 96 */
	struct in6_addr addr;
};

/* Parse "10.0.0.0/8", "2001:db8::/32", "192.0.2.1". 0; -1: it is not a network, or bits after the
 * prefix are set. */
int cnd_network_parse(const char *text, struct cnd_network *ret_network);
/* Write a network in the form that cnd_network_parse() reads. */
#define CND_NETWORK_TEXT_MAX 64u
const char *cnd_network_text(const struct cnd_network *n, char out[CND_NETWORK_TEXT_MAX]);
/* The network that stands for one host: an IPv6 host may have all addresses of a /64. */
struct cnd_network cnd_peer_network(const struct cnd_peer *p);
int cnd_network_has(const struct cnd_network *n, const struct in6_addr *addr);

/* Where clients may come from: a pool's `deny` and `allow`. */
#define CND_NETWORKS_MAX 40u

struct cnd_networks {
	uint32_t n;
	struct {
		uint8_t is_denied;
		struct cnd_network network;
	} list[CND_NETWORKS_MAX];
};

/* Whether an address may come. 0: it is in a denied network, or there are allowed networks and it is
 * in none of them. */
int cnd_networks_admit(const struct cnd_networks *n, const struct in6_addr *addr);

#endif
