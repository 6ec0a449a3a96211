/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_PROXY_H
#define CND_PROXY_H

#include <stddef.h>

#include "auth/peer.h"

/*
 * The header of the PROXY protocol, version 2 (HAProxy's proxy-protocol.txt, section 2.2), which a
 * proxy sends before anything else to say for whom it speaks.
 */

/* A header with all the TLVs that proxies send is far below. */
#define CND_PROXY_MAX 1024u

/*
 * 1: the header is *ret_len bytes long, and *peer is who it names; it stays who connected where the
 * header says LOCAL (a proxy's own health check) or an address family that is not TCP's. 0: more bytes
 * are needed. -1: this is no such header.
 */
int cnd_proxy_parse(
	const uint8_t *bytes, size_t n, size_t *ret_len, struct cnd_peer *peer);

#endif
