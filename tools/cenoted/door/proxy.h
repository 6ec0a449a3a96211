/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_PROXY_H
#define CND_PROXY_H

#include <stddef.h>

#include "auth/peer.h"

/* The header of the PROXY protocol, version 2 (HAProxy's proxy-protocol.txt, section 2.2). A proxy
 * sends it first to name the client that it speaks for. */

/* The longest header that is accepted. A header with all the TLVs that proxies send is far
 * shorter. */
#define CND_PROXY_MAX 1024u

/*
 * 1: the header is *ret_len bytes long, and *peer is the client that it names. *peer stays as it is
 * if the header says LOCAL (a health check of the proxy) or names an address family other than TCP's.
 * 0: more bytes are needed. -1: the bytes are not such a header.
 */
int cnd_proxy_parse(
	const uint8_t *bytes, size_t n, size_t *ret_len, struct cnd_peer *peer);

#endif
