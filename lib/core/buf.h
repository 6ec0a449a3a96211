/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_BUF_H
#define CNC_BUF_H

#include <assert.h>
#include <string.h>

#include "core/mem.h"

/*
 * A byte queue with a bound: written at the tail, consumed at the head. The bound is set at
 * initialisation, and no call makes the queue hold more.
 */
struct cnc_buf {
	const struct cenote_allocator *mem;
	uint8_t *data;
	size_t head; /* first byte not consumed */
	size_t tail; /* after the last byte */
	size_t cap;
	size_t max; /* most bytes between head and tail */
};

void cnc_buf_init(struct cnc_buf *b, const struct cenote_allocator *mem, size_t max);
/* Frees the memory. The buffer may be used again, as after initialisation. */
void cnc_buf_finish(struct cnc_buf *b);

static inline size_t
cnc_buf_len(const struct cnc_buf *b)
{
	return b->tail - b->head;
}

static inline uint8_t *
cnc_buf_head(const struct cnc_buf *b)
{
	return b->data ? b->data + b->head : NULL;
}

/* The part of cnc_buf_reserve() that moves or grows the buffer. Call cnc_buf_reserve() instead. */
int cnc_buf_reserve_slow(struct cnc_buf *b, size_t n, uint8_t **ret_room);

/*
 * Reserve room for n more bytes at the tail, without adding them to the content. *ret_room points
 * to it. CENOTE_OK, CENOTE_ERR_LIMIT past the bound, CENOTE_ERR_NOMEM. On failure nothing changes.
 */
static inline int
cnc_buf_reserve(struct cnc_buf *b, size_t n, uint8_t **ret_room)
{
	/* cap <= max always, so room within cap is within the bound. */
	if (n >= b->cap - b->tail)
		return cnc_buf_reserve_slow(b, n, ret_room);
	*ret_room = b->data + b->tail;
	return CENOTE_OK;
}

/* Add n bytes that were written into reserved room to the content. */
static inline void
cnc_buf_commit(struct cnc_buf *b, size_t n)
{
	assert(n <= b->cap - b->tail);
	b->tail += n;
}

static inline int
cnc_buf_append(struct cnc_buf *b, const void *bytes, size_t n)
{
	uint8_t *room;
	int r = cnc_buf_reserve(b, n, &room);

	if (r < 0)
		return r;
	if (n)
		memcpy(room, bytes, n);
	b->tail += n;
	return CENOTE_OK;
}

/* Drop n bytes at the head (n <= len). An empty buffer starts again at the front of its memory. */
static inline void
cnc_buf_consume(struct cnc_buf *b, size_t n)
{
	assert(n <= cnc_buf_len(b));
	b->head += n;
	if (b->head == b->tail)
		b->head = b->tail = 0;
}

/* Drop bytes at the tail so that `len` remain (len <= current). */
void cnc_buf_truncate(struct cnc_buf *b, size_t len);
/* Drop everything; memory above `keep` bytes is given back. */
void cnc_buf_clear(struct cnc_buf *b, size_t keep);

/* Little-endian appends. */
int cnc_buf_u8(struct cnc_buf *b, uint8_t v);
int cnc_buf_u16(struct cnc_buf *b, uint16_t v);
int cnc_buf_u32(struct cnc_buf *b, uint32_t v);
/* Append a u32 length, the bytes, and a zero byte that the length does not include. */
int cnc_buf_str(struct cnc_buf *b, const void *bytes, size_t n);

/* Unaligned little-endian loads and stores. */
static inline uint16_t
cnc_get_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t
cnc_get_u32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

static inline uint64_t
cnc_get_u64(const uint8_t *p)
{
	return (uint64_t)cnc_get_u32(p) | (uint64_t)cnc_get_u32(p + 4) << 32;
}

static inline void
cnc_put_u16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static inline void
cnc_put_u32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
	p[2] = (uint8_t)(v >> 16);
	p[3] = (uint8_t)(v >> 24);
}

static inline void
cnc_put_u64(uint8_t *p, uint64_t v)
{
	cnc_put_u32(p, (uint32_t)v);
	cnc_put_u32(p + 4, (uint32_t)(v >> 32));
}

/*
 * A reader over borrowed bytes. Every getter checks the length; after the first failure
 * `bad` stays set and all further getters give zeroes and empty text, so a decoder may read
 * all fields and check once.
 */
struct cnc_reader {
	const uint8_t *p;
	const uint8_t *end;
	int bad;
};

void cnc_reader_init(struct cnc_reader *r, const void *bytes, size_t n);

/* n bytes, borrowed. If there are fewer, returns NULL and sets `bad`. */
static inline const uint8_t *
cnc_read_bytes(struct cnc_reader *r, size_t n)
{
	const uint8_t *p = r->p;

	if (r->bad || n > (size_t)(r->end - p)) {
		r->bad = 1;
		return NULL;
	}
	r->p = p + n;
	return p;
}

static inline uint8_t
cnc_read_u8(struct cnc_reader *r)
{
	const uint8_t *p = cnc_read_bytes(r, 1);

	return p ? *p : 0;
}

static inline uint16_t
cnc_read_u16(struct cnc_reader *r)
{
	const uint8_t *p = cnc_read_bytes(r, 2);

	return p ? cnc_get_u16(p) : 0;
}

static inline uint32_t
cnc_read_u32(struct cnc_reader *r)
{
	const uint8_t *p = cnc_read_bytes(r, 4);

	return p ? cnc_get_u32(p) : 0;
}

static inline uint64_t
cnc_read_u64(struct cnc_reader *r)
{
	const uint8_t *p = cnc_read_bytes(r, 8);

	return p ? cnc_get_u64(p) : 0;
}

/* Read a text that cnc_buf_str() wrote. It is borrowed, and its zero byte is checked. "" and 0 when bad. */
const char *cnc_read_str(struct cnc_reader *r, size_t *ret_len);
/* 0 if everything was read and `bad` is not set, else CENOTE_ERR_PROTOCOL. */
int cnc_reader_end(const struct cnc_reader *r);

#endif
