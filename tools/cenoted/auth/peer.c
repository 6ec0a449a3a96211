/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a client comes from: its address, and the networks of the configuration. Pure functions,
 * used by the configuration, the door and the workers.
 */
#include "peer.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "shared/units.h"

#define V4_BITS 96u

static void
map_v4(struct in6_addr *to, const struct in_addr *from)
{
	memset(to, 0, sizeof(*to));
	to->s6_addr[10] = to->s6_addr[11] = 0xff;
	memcpy(to->s6_addr + 12, from, sizeof(*from));
}

int
cnd_peer_set(struct cnd_peer *p, const struct sockaddr *addr)
{
	struct sockaddr_in6 v6;
	struct sockaddr_in v4;

	if (addr->sa_family == AF_INET6) {
		memcpy(&v6, addr, sizeof(v6));
		p->addr = v6.sin6_addr;
		p->port = ntohs(v6.sin6_port);
	} else if (addr->sa_family == AF_INET) {
		memcpy(&v4, addr, sizeof(v4));
		map_v4(&p->addr, &v4.sin_addr);
		p->port = ntohs(v4.sin_port);
	} else {
		return -1;
	}
	p->door = CND_DOOR_TCP;
	return 0;
}

/* Write the address alone. Returns whether it is IPv4. */
static int
addr_text(const struct in6_addr *addr, char out[INET6_ADDRSTRLEN])
{
	int is_v4 = IN6_IS_ADDR_V4MAPPED(addr);

	out[0] = '\0';
	(void)inet_ntop(is_v4 ? AF_INET : AF_INET6, addr->s6_addr + (is_v4 ? 12 : 0), out,
		INET6_ADDRSTRLEN);
	return is_v4;
}

int
cnd_peer_credentials(int fd, struct ucred *ret_peer)
{
	socklen_t len = sizeof(*ret_peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ret_peer, &len);
}

const char *
cnd_peer_text(const struct cnd_peer *p, char out[CND_PEER_TEXT_MAX])
{
	char addr[INET6_ADDRSTRLEN];

	if (p->door == CND_DOOR_UNIX)
		return "unix";
	snprintf(out, CND_PEER_TEXT_MAX, addr_text(&p->addr, addr) ? "%s:%u" : "[%s]:%u",
		addr, (unsigned)p->port);
	return out;
}

const char *
cnd_network_text(const struct cnd_network *n, char out[CND_NETWORK_TEXT_MAX])
{
	char addr[INET6_ADDRSTRLEN];
	unsigned first = n->bits >= V4_BITS && addr_text(&n->addr, addr) ? V4_BITS : 0;

	/* a network such as ::ffff:0:0/90 is wider than IPv4: write it as IPv6 */
	if (first == 0)
		(void)inet_ntop(AF_INET6, &n->addr, addr, sizeof(addr));
	snprintf(out, CND_NETWORK_TEXT_MAX, "%s/%u", addr, n->bits - first);
	return out;
}

/* Bit `i` of an address; bit 0 is the highest. */
static int
bit_of(const struct in6_addr *addr, unsigned i)
{
	return addr->s6_addr[i / 8] >> (7 - i % 8) & 1;
}

int
cnd_network_parse(const char *text, struct cnd_network *ret_network)
{
	struct cnd_network n = { .bits = 128 };
	const char *slash = strchr(text, '/');
	size_t len = slash != NULL ? (size_t)(slash - text) : strlen(text);
	char addr[INET6_ADDRSTRLEN];
	unsigned first = 0;
	struct in_addr v4;
	uint64_t bits;

	if (len >= sizeof(addr))
		return -1;
	memcpy(addr, text, len);
	addr[len] = '\0';
	if (inet_pton(AF_INET, addr, &v4) == 1) {
		map_v4(&n.addr, &v4);
		first = V4_BITS;
	} else if (inet_pton(AF_INET6, addr, &n.addr) != 1) {
		return -1;
	}
	if (slash != NULL) {
		if (cnd_number_parse(slash + 1, 128 - first, &bits) < 0)
			return -1;
		n.bits = (uint8_t)(first + bits);
	}
	for (unsigned i = n.bits; i < 128; i++) {
		if (bit_of(&n.addr, i))
			return -1;
	}
	*ret_network = n;
	return 0;
}

struct cnd_network
cnd_peer_network(const struct cnd_peer *p)
{
	struct cnd_network n = { .bits = 128, .addr = p->addr };

	if (!IN6_IS_ADDR_V4MAPPED(&n.addr)) {
		n.bits = 64;
		memset(n.addr.s6_addr + 8, 0, 8);
	}
	return n;
}

int
cnd_network_has(const struct cnd_network *n, const struct in6_addr *addr)
{
	unsigned whole = n->bits / 8;
	unsigned rest = n->bits % 8;

	if (memcmp(n->addr.s6_addr, addr->s6_addr, whole) != 0)
		return 0;
	return rest == 0 ||
	       (n->addr.s6_addr[whole] ^ addr->s6_addr[whole]) >> (8 - rest) == 0;
}

int
cnd_networks_admit(const struct cnd_networks *n, const struct in6_addr *addr)
{
	int is_listed = 0, is_in_list = 0;

	for (uint32_t i = 0; i < n->n; i++) {
		int is_here = cnd_network_has(&n->list[i].network, addr);

		if (n->list[i].is_denied && is_here)
			return 0;
		is_listed |= !n->list[i].is_denied;
		is_in_list |= is_here;
	}
	return !is_listed || is_in_list;
}
