/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/buf.h"

#include <assert.h>
#include <string.h>

/*
 * The bounded byte queue, and loads and stores of the wire's numbers.
 */

/* Smallest piece of memory that a buffer asks for, if its bound allows. */
#define BUF_MIN 256u

void
cnc_buf_init(struct cnc_buf *b, const struct cenote_allocator *mem, size_t max)
{
	*b = (struct cnc_buf){ .mem = mem, .max = max };
}

void
cnc_buf_finish(struct cnc_buf *b)
{
	cnc_free(b->mem, b->data);
	cnc_buf_init(b, b->mem, b->max);
}

static void
move_to_front(struct cnc_buf *b)
{
	size_t len = cnc_buf_len(b);

	if (len)
		memmove(b->data, b->data + b->head, len);
	b->head = 0;
	b->tail = len;
}

/* Allocate cap bytes in all (len <= cap <= max), with the content at the front. */
static int
resize(struct cnc_buf *b, size_t cap)
{
	size_t len = cnc_buf_len(b);
	uint8_t *data;

	if (b->head == 0) {
		data = cnc_realloc(b->mem, b->data, cap);
		if (!data)
			return CENOTE_ERR_NOMEM;
	} else {
		/* realloc() would also copy the bytes that were consumed. */
		assert(b->data);
		data = cnc_alloc(b->mem, cap);
		if (!data)
			return CENOTE_ERR_NOMEM;
		memcpy(data, b->data + b->head, len);
		cnc_free(b->mem, b->data);
	}
	b->data = data;
	b->head = 0;
	b->tail = len;
	b->cap = cap;
	return CENOTE_OK;
}

int
cnc_buf_reserve_slow(struct cnc_buf *b, size_t n, uint8_t **ret_room)
{
	size_t len = cnc_buf_len(b);
	size_t cap;
	int r;

	if (n > b->max - len)
		return CENOTE_ERR_LIMIT;
	if (b->data && n <= b->cap - b->tail)
		goto out;
	/*
	 * Move the bytes that are left only if at least as many were consumed. Otherwise repeated
	 * moves would take quadratic time.
	 */
	if (b->data && n <= b->cap - len && b->head >= len) {
		move_to_front(b);
		goto out;
	}
	cap = b->cap > b->max / 2 ? b->max : b->cap * 2;
	if (cap < len + n)
		cap = len + n;
	if (cap < BUF_MIN)
		cap = b->max < BUF_MIN ? b->max : BUF_MIN;
	if (b->data && cap == b->cap) {
		move_to_front(b);
		goto out;
	}
	r = resize(b, cap);
	if (r < 0) {
		if (!b->data || n > b->cap - len)
			return r;
		move_to_front(b);
	}
out:
	*ret_room = b->data + b->tail;
	return CENOTE_OK;
}

void
cnc_buf_truncate(struct cnc_buf *b, size_t len)
{
	assert(len <= cnc_buf_len(b));
	b->tail = b->head + len;
	if (len == 0)
		b->head = b->tail = 0;
}

void
cnc_buf_clear(struct cnc_buf *b, size_t keep)
{
	uint8_t *data;

	b->head = b->tail = 0;
	if (b->cap <= keep)
		return;
	data = keep ? cnc_realloc(b->mem, b->data, keep) : NULL;
	if (data) {
		b->data = data;
		b->cap = keep;
	} else {
		cnc_buf_finish(b);
	}
}

int
cnc_buf_u8(struct cnc_buf *b, uint8_t v)
{
	return cnc_buf_append(b, &v, 1);
}

int
cnc_buf_u16(struct cnc_buf *b, uint16_t v)
{
	uint8_t bytes[2];

	cnc_put_u16(bytes, v);
	return cnc_buf_append(b, bytes, sizeof(bytes));
}

int
cnc_buf_u32(struct cnc_buf *b, uint32_t v)
{
	uint8_t bytes[4];

	cnc_put_u32(bytes, v);
	return cnc_buf_append(b, bytes, sizeof(bytes));
}

int
cnc_buf_str(struct cnc_buf *b, const void *bytes, size_t n)
{
	uint8_t *room;
	int r;

	if (n > UINT32_MAX - 5u)
		return CENOTE_ERR_LIMIT;
	r = cnc_buf_reserve(b, n + 5, &room);
	if (r < 0)
		return r;
	cnc_put_u32(room, (uint32_t)n);
	if (n)
		memcpy(room + 4, bytes, n);
	room[4 + n] = 0;
	cnc_buf_commit(b, n + 5);
	return CENOTE_OK;
}

void
cnc_reader_init(struct cnc_reader *r, const void *bytes, size_t n)
{
	static const uint8_t nothing[1] = { 0 };

	assert(bytes || !n);
	r->p = bytes ? bytes : nothing;
	r->end = r->p + n;
	r->bad = 0;
}

const char *
cnc_read_str(struct cnc_reader *r, size_t *ret_len)
{
	size_t left = (size_t)(r->end - r->p);
	const uint8_t *p = r->p;
	uint32_t n = 0;

	if (left >= 5)
		n = cnc_get_u32(p);
	if (r->bad || left < 5 || n > left - 5 || p[4 + n] != 0) {
		r->bad = 1;
		*ret_len = 0;
		return "";
	}
	r->p = p + 5 + n;
	*ret_len = n;
	return (const char *)p + 4;
}

int
cnc_reader_end(const struct cnc_reader *r)
{
	return r->bad || r->p != r->end ? CENOTE_ERR_PROTOCOL : CENOTE_OK;
}
