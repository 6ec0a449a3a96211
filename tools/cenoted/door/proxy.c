/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parse the header of the PROXY protocol. opening.c calls it.
 */
#include "proxy.h"

#include <string.h>

static const uint8_t signature[12] = "\r\n\r\n\0\r\nQUIT\n";

#define HEADER_LEN    16u
#define CMD_LOCAL     0x20
#define CMD_PROXY     0x21
#define TCP_OVER_IPV4 0x11
#define TCP_OVER_IPV6 0x21

/* Take the source from the addresses: source and destination address, then their ports. -1: the bytes
 * are too few for the family. */
static int
take_source(uint8_t family, const uint8_t *bytes, size_t n, struct cnd_peer *peer)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in v4 = { .sin_family = AF_INET };

	switch (family) {
	case TCP_OVER_IPV4:
		if (n < 12)
			return -1;
		memcpy(&v4.sin_addr, bytes, 4);
		memcpy(&v4.sin_port, bytes + 8, 2);
		return cnd_peer_set(peer, (const struct sockaddr *)&v4);
	case TCP_OVER_IPV6:
		if (n < 36)
			return -1;
		memcpy(&v6.sin6_addr, bytes, 16);
		memcpy(&v6.sin6_port, bytes + 32, 2);
		return cnd_peer_set(peer, (const struct sockaddr *)&v6);
	default:
		return 0;
	}
}

int
cnd_proxy_parse(const uint8_t *bytes, size_t n, size_t *ret_len, struct cnd_peer *peer)
{
	size_t known = n < sizeof(signature) ? n : sizeof(signature);
	size_t len;

	if (memcmp(bytes, signature, known) != 0)
		return -1;
	if (n < HEADER_LEN)
		return 0;
	len = HEADER_LEN + ((size_t)bytes[14] << 8 | bytes[15]);
	if ((bytes[12] != CMD_LOCAL && bytes[12] != CMD_PROXY) || len > CND_PROXY_MAX)
		return -1;
	if (n < len)
		return 0;
	if (bytes[12] == CMD_PROXY &&
		take_source(bytes[13], bytes + HEADER_LEN, len - HEADER_LEN, peer) < 0)
		return -1;
	*ret_len = len;
	return 1;
}
