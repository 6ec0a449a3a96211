/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_BATCH_H
#define CNC_BATCH_H

#include "core/buf.h"

/*
 * The flat batch: the form in which rows are sent, and in which a result set keeps them (docs/protocol.md,
 * "Rows").
 *
 *     batch:  u32 n_rows, u32 n_columns, then the rows back to back
 *     row:    u32 end[n_columns], then the values, each followed by a zero byte
 *
 * end[i] is the offset, from the row's first byte, of value i's zero byte; its top bit is set if the value is
 * NULL (then it is empty). Value 0 begins after the array, value i after the zero byte of value i-1. The next
 * row begins after the last zero byte.
 */
#define CNC_BATCH_HEADER         8u
#define CNC_BATCH_NULL           0x80000000u
#define CNC_BATCH_ROW_MAX        0x7fffffffu
#define CNC_BATCH_COLS_MAX       65535u
/* The most rows without columns in a batch: they take no bytes, so their size sets no limit. */
#define CNC_BATCH_EMPTY_ROWS_MAX 65536u

/* Writes a batch directly into an output buffer. */
struct cnc_batch {
	struct cnc_buf *out;
	/* offset of the batch from the head of `out`, which must not move until the batch ends */
	size_t start;
	/* offset of the row that is being written, also from the head of `out` */
	size_t row;
	uint32_t n_rows;
	uint32_t n_columns;
	uint32_t column; /* the next column to write */
};

/* All these functions return CENOTE_OK, CENOTE_ERR_LIMIT or CENOTE_ERR_NOMEM. After a failure
 * within a row, call cnc_batch_row_undo(): the previous rows are intact. */
int cnc_batch_begin(struct cnc_batch *w, struct cnc_buf *out, uint32_t n_columns);
int cnc_batch_row(struct cnc_batch *w);
/* Count the row: all its columns were written. */
void cnc_batch_row_done(struct cnc_batch *w);
void cnc_batch_row_undo(struct cnc_batch *w);
/* Write the counts into the header. Returns the bytes of the whole batch. */
size_t cnc_batch_end(struct cnc_batch *w);

/* For values that are formatted in place: reserve room for at most max bytes, then report the
 * value's real length. */
static inline int
cnc_batch_room(struct cnc_batch *w, size_t max, char **ret_room)
{
	struct cnc_buf *b = w->out;
	uint8_t *room;
	int r;

	assert(w->column < w->n_columns);
	/* The row so far is within the limit, so the difference is not negative. */
	if (max > CNC_BATCH_ROW_MAX - (cnc_buf_len(b) - w->row))
		return CENOTE_ERR_LIMIT;
	r = cnc_buf_reserve(b, max + 1, &room);
	if (r < 0)
		return r;
	*ret_room = (char *)room;
	return CENOTE_OK;
}

/* End the value of len bytes that was just written. `flag` is 0 or CNC_BATCH_NULL. */
static inline void
cnc_batch_value_end(struct cnc_batch *w, size_t len, uint32_t flag)
{
	struct cnc_buf *b = w->out;
	uint8_t *row = b->data + b->head + w->row;
	uint8_t *end = b->data + b->tail + len;

	*end = 0;
	cnc_put_u32(row + (size_t)4 * w->column, (uint32_t)(end - row) | flag);
	w->column++;
	b->tail += len + 1;
}

static inline void
cnc_batch_room_done(struct cnc_batch *w, size_t len)
{
	cnc_batch_value_end(w, len, 0);
}

static inline int
cnc_batch_put(struct cnc_batch *w, const void *bytes, size_t len)
{
	char *room;
	int r = cnc_batch_room(w, len, &room);

	if (r < 0)
		return r;
	if (len)
		memcpy(room, bytes, len);
	cnc_batch_value_end(w, len, 0);
	return CENOTE_OK;
}

static inline int
cnc_batch_null(struct cnc_batch *w)
{
	char *room;
	int r = cnc_batch_room(w, 0, &room);

	if (r < 0)
		return r;
	cnc_batch_value_end(w, 0, CNC_BATCH_NULL);
	return CENOTE_OK;
}

/*
 * The values of a row that reserves its room in one step, because all lengths are known. The caller must
 * not write more bytes than it reserved, and must write all columns of the row.
 */
struct cnc_batch_fill {
	uint8_t *row;
	uint8_t *room; /* where the next value goes */
	uint8_t *end; /* end of the buffer's memory */
	uint32_t column;
};

/* `max`: bytes of all values, with the zero byte of each value except the last. */
static inline int
cnc_batch_fill_begin(struct cnc_batch *w, size_t max, struct cnc_batch_fill *ret_fill)
{
	char *room;
	int r = cnc_batch_room(w, max, &room);

	if (r < 0)
		return r;
	*ret_fill = (struct cnc_batch_fill){
		.row = w->out->data + w->out->head + w->row,
		.room = (uint8_t *)room,
		.end = w->out->data + w->out->cap,
	};
	return CENOTE_OK;
}

/* `flag` is 0 or CNC_BATCH_NULL. `readable` bytes may be read from `bytes` on. If there are enough,
 * a short value is copied with a fixed length that goes beyond its end, because such a copy needs
 * no function call. */
static inline void
cnc_batch_fill_value(struct cnc_batch_fill *f, const uint8_t *bytes, size_t len,
	size_t readable, uint32_t flag)
{
	enum {
		STEP = 32
	};

	if (len <= STEP && readable >= STEP && f->end - f->room > STEP)
		memcpy(f->room, bytes, STEP);
	else if (len > 0)
		memcpy(f->room, bytes, len);
	f->room += len;
	cnc_put_u32(
		f->row + (size_t)4 * f->column++, (uint32_t)(f->room - f->row) | flag);
	*f->room++ = 0;
}

static inline void
cnc_batch_fill_end(struct cnc_batch *w, const struct cnc_batch_fill *f)
{
	w->column = f->column;
	cnc_buf_commit(w->out, (size_t)(f->room - (w->out->data + w->out->tail)));
}

/* Bytes of the batch up to now, header included. */
static inline size_t
cnc_batch_len(const struct cnc_batch *w)
{
	return cnc_buf_len(w->out) - w->start;
}

/*
 * Check the header of a received batch: it must have n_columns columns, and its bytes must be
 * enough for the number of rows. CENOTE_OK or CENOTE_ERR_PROTOCOL.
 */
int cnc_batch_check_header(
	const uint8_t *batch, size_t len, uint32_t n_columns, uint32_t *ret_n_rows);
/* Check one row in `left` bytes. Returns its size, or SIZE_MAX if it is not well formed. */
size_t cnc_batch_check_row(const uint8_t *row, size_t left, uint32_t n_columns);

/*
 * Check a received batch: the counts are right, every offset is in order and within the row, every value
 * has its zero byte, and nothing follows the last row. Calls `row` (may be NULL) with each row's first byte.
 * CENOTE_OK, CENOTE_ERR_PROTOCOL, or what `row` returned if negative.
 */
int cnc_batch_check(const uint8_t *batch, size_t len, uint32_t n_columns,
	int (*row)(void *user, const uint8_t *row), void *user, uint32_t *ret_n_rows);

/* A value of a checked row; NULL for NULL. ret_len may be NULL. */
static inline const char *
cnc_row_value(const uint8_t *row, uint32_t n_columns, uint32_t col, size_t *ret_len)
{
	uint32_t end = cnc_get_u32(row + 4u * col);
	uint32_t begin =
		col == 0 ? 4u * n_columns
			 : (cnc_get_u32(row + 4u * (col - 1)) & ~CNC_BATCH_NULL) + 1;

	if (end & CNC_BATCH_NULL)
		return NULL;
	if (ret_len)
		*ret_len = end - begin;
	return (const char *)row + begin;
}

/* All values of a checked row, and their lengths: NULL and 0 for NULL. */
static inline void
cnc_row_values(
	const uint8_t *row, uint32_t n_columns, const char **ret_values, size_t *ret_lens)
{
	uint32_t begin = 4u * n_columns, end;

	for (uint32_t i = 0; i < n_columns; i++) {
		end = cnc_get_u32(row + 4u * i);
		ret_values[i] = end & CNC_BATCH_NULL ? NULL : (const char *)row + begin;
		end &= ~CNC_BATCH_NULL;
		ret_lens[i] = end - begin;
		begin = end + 1;
	}
}

#endif
