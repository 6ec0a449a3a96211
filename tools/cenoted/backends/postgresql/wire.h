/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_PG_WIRE_H
#define CND_PG_WIRE_H

#include "core/buf.h"

/*
 * PostgreSQL's frontend/backend protocol, version 3, as bytes: nothing here does I/O. What the
 * server sends is not trusted: every length is checked before it is believed.
 */

/* A message of the server, borrowed from the bytes it was found in. */
struct cnd_pg_msg {
	uint8_t type;
	const uint8_t *body;
	size_t len;
};

#define CND_PG_HEADER  5u
/* The server's own limit of a message is 1 GB. */
#define CND_PG_MSG_MAX 0x3fffffffu

static inline uint16_t
cnd_pg_get_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t
cnd_pg_get_u32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void
cnd_pg_put_u16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static inline void
cnd_pg_put_u32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
}

/* The message at the front of n bytes: its size with the header; 0: it is not all there, and
 * *ret_size says how large it will be (CND_PG_HEADER while not even that is known); or
 * CENOTE_ERR_PROTOCOL: no message is like that. */
int cnd_pg_msg_next(
	const uint8_t *bytes, size_t n, struct cnd_pg_msg *ret_msg, size_t *ret_size);

#endif
