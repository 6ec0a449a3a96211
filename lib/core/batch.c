/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/batch.h"

/*
 * The writer of flat batches, and the checks of received ones (batch.h). Backends write
 * rows through it, straight into the output buffer.
 */

int
cnc_batch_begin(struct cnc_batch *w, struct cnc_buf *out, uint32_t n_columns)
{
	uint8_t *room;
	int r;

	if (n_columns > CNC_BATCH_COLS_MAX)
		return CENOTE_ERR_LIMIT;
	r = cnc_buf_reserve(out, CNC_BATCH_HEADER, &room);
	if (r < 0)
		return r;
	*w = (struct cnc_batch){
		.out = out,
		.start = cnc_buf_len(out),
		.row = cnc_buf_len(out) + CNC_BATCH_HEADER,
		.n_columns = n_columns,
	};
	cnc_put_u32(room, 0);
	cnc_put_u32(room + 4, n_columns);
	cnc_buf_commit(out, CNC_BATCH_HEADER);
	return CENOTE_OK;
}

int
cnc_batch_row(struct cnc_batch *w)
{
	size_t size = (size_t)4 * w->n_columns;
	uint8_t *room;
	int r;

	if (w->n_rows == UINT32_MAX ||
		(w->n_columns == 0 && w->n_rows == CNC_BATCH_EMPTY_ROWS_MAX))
		return CENOTE_ERR_LIMIT;
	w->row = cnc_buf_len(w->out);
	w->column = 0;
	r = cnc_buf_reserve(w->out, size, &room);
	if (r < 0)
		return r;
	cnc_buf_commit(w->out, size);
	return CENOTE_OK;
}

void
cnc_batch_row_done(struct cnc_batch *w)
{
	assert(w->column == w->n_columns);
	w->n_rows++;
	w->row = cnc_buf_len(w->out);
	w->column = 0;
}

void
cnc_batch_row_undo(struct cnc_batch *w)
{
	cnc_buf_truncate(w->out, w->row);
	w->column = 0;
}

size_t
cnc_batch_end(struct cnc_batch *w)
{
	uint8_t *header = cnc_buf_head(w->out) + w->start;

	cnc_put_u32(header, w->n_rows);
	cnc_put_u32(header + 4, w->n_columns);
	return cnc_batch_len(w);
}

int
cnc_batch_check_header(
	const uint8_t *batch, size_t len, uint32_t n_columns, uint32_t *ret_n_rows)
{
	uint32_t n_rows;

	if (len < CNC_BATCH_HEADER || n_columns > CNC_BATCH_COLS_MAX)
		return CENOTE_ERR_PROTOCOL;
	n_rows = cnc_get_u32(batch);
	if (cnc_get_u32(batch + 4) != n_columns)
		return CENOTE_ERR_PROTOCOL;
	/* Each value takes at least its offset and its zero byte. */
	if (n_columns == 0 ? n_rows > CNC_BATCH_EMPTY_ROWS_MAX
			   : n_rows > (len - CNC_BATCH_HEADER) / ((size_t)5 * n_columns))
		return CENOTE_ERR_PROTOCOL;
	*ret_n_rows = n_rows;
	return CENOTE_OK;
}

size_t
cnc_batch_check_row(const uint8_t *row, size_t left, uint32_t n_columns)
{
	size_t begin = (size_t)4 * n_columns;

	if (left < begin)
		return SIZE_MAX;
	for (uint32_t i = 0; i < n_columns; i++) {
		uint32_t word = cnc_get_u32(row + (size_t)4 * i);
		size_t end = word & ~CNC_BATCH_NULL;

		if (end < begin || end >= left || row[end] != 0)
			return SIZE_MAX;
		if ((word & CNC_BATCH_NULL) && end != begin)
			return SIZE_MAX;
		begin = end + 1;
	}
	return begin;
}

int
cnc_batch_check(const uint8_t *batch, size_t len, uint32_t n_columns,
	int (*row)(void *user, const uint8_t *row), void *user, uint32_t *ret_n_rows)
{
	const uint8_t *p;
	size_t left;
	uint32_t n_rows;
	int r;

	r = cnc_batch_check_header(batch, len, n_columns, &n_rows);
	if (r < 0)
		return r;
	p = batch + CNC_BATCH_HEADER;
	left = len - CNC_BATCH_HEADER;
	for (uint32_t i = 0; i < n_rows; i++) {
		size_t size = cnc_batch_check_row(p, left, n_columns);

		if (size == SIZE_MAX)
			return CENOTE_ERR_PROTOCOL;
		r = row ? row(user, p) : CENOTE_OK;
		if (r < 0)
			return r;
		p += size;
		left -= size;
	}
	if (left != 0)
		return CENOTE_ERR_PROTOCOL;
	*ret_n_rows = n_rows;
	return CENOTE_OK;
}
