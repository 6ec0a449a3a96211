/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/rowset.h"

#include <string.h>

/*
 * Rows of received batches, found by number. A result is one or two of these.
 */

/* First size of the array of rows, and of the array of blocks. */
#define ROWS_FIRST   16u
#define BLOCKS_FIRST 4u

void
cnc_rowset_init(
	struct cnc_rowset *rs, const struct cenote_allocator *mem, uint32_t n_columns)
{
	*rs = (struct cnc_rowset){ .mem = *mem, .n_columns = n_columns };
	cnc_arena_init(&rs->arena, &rs->mem);
}

static void
count_bytes(struct cnc_rowset *rs)
{
	rs->bytes = rs->arena.total + rs->cap_rows * sizeof(*rs->rows) +
		    rs->cap_blocks * sizeof(struct cnc_block *);
	for (size_t i = 0; i < rs->n_blocks; i++)
		rs->bytes += sizeof(struct cnc_block) + rs->blocks[i]->cap;
}

static void
drop_blocks(struct cnc_rowset *rs)
{
	for (size_t i = 0; i < rs->n_blocks; i++)
		cnc_block_unref(rs->blocks[i]);
	rs->n_blocks = 0;
}

void
cnc_rowset_finish(struct cnc_rowset *rs)
{
	uint32_t n_columns = rs->n_columns;
	struct cenote_allocator mem = rs->mem;

	drop_blocks(rs);
	cnc_free(&rs->mem, rs->blocks);
	cnc_free(&rs->mem, rs->rows);
	cnc_arena_finish(&rs->arena);
	cnc_rowset_init(rs, &mem, n_columns);
}

void
cnc_rowset_clear(struct cnc_rowset *rs)
{
	drop_blocks(rs);
	cnc_arena_clear(&rs->arena);
	rs->n_rows = 0;
	count_bytes(rs);
}

static int
reserve_rows(struct cnc_rowset *rs, uint32_t n)
{
	size_t cap = rs->cap_rows ? rs->cap_rows : ROWS_FIRST;
	const uint8_t **rows;

	if (n <= rs->cap_rows - rs->n_rows)
		return CENOTE_OK;
	if (n > SIZE_MAX / sizeof(*rows) / 2 - rs->n_rows)
		return CENOTE_ERR_NOMEM;
	while (cap < rs->n_rows + n)
		cap *= 2;
	rows = cnc_realloc(&rs->mem, rs->rows, cap * sizeof(*rows));
	if (!rows)
		return CENOTE_ERR_NOMEM;
	rs->rows = rows;
	rs->bytes += (cap - rs->cap_rows) * sizeof(*rows);
	rs->cap_rows = cap;
	return CENOTE_OK;
}

static int
keep_block(struct cnc_rowset *rs, struct cnc_block *block)
{
	/* Batches of the same block arrive one after the other. */
	if (rs->n_blocks > 0 && rs->blocks[rs->n_blocks - 1] == block)
		return CENOTE_OK;
	if (rs->n_blocks == rs->cap_blocks) {
		size_t cap = rs->cap_blocks ? rs->cap_blocks * 2 : BLOCKS_FIRST;
		struct cnc_block **blocks = cnc_realloc(
			&rs->mem, rs->blocks, cap * sizeof(struct cnc_block *));

		if (!blocks)
			return CENOTE_ERR_NOMEM;
		rs->blocks = blocks;
		rs->bytes += (cap - rs->cap_blocks) * sizeof(struct cnc_block *);
		rs->cap_blocks = cap;
	}
	rs->blocks[rs->n_blocks++] = cnc_block_ref(block);
	rs->bytes += sizeof(*block) + block->cap;
	return CENOTE_OK;
}

/* Copy a checked batch, and make the rows point into the copy. */
static int
copy_batch(struct cnc_rowset *rs, const uint8_t *batch, size_t len, uint32_t n_rows)
{
	const uint8_t **rows = rs->rows + rs->n_rows;
	size_t before = rs->arena.total;
	uint8_t *copy = cnc_arena_alloc(&rs->arena, len);

	if (!copy)
		return CENOTE_ERR_NOMEM;
	memcpy(copy, batch, len);
	for (uint32_t i = 0; i < n_rows; i++)
		rows[i] = copy + (rows[i] - batch);
	rs->bytes += rs->arena.total - before;
	return CENOTE_OK;
}

/* Check the rows of a batch, and store their addresses after the rows that are counted. */
static int
note_rows(struct cnc_rowset *rs, const uint8_t *batch, size_t len, uint32_t n_rows)
{
	const uint8_t **rows = rs->rows + rs->n_rows;
	size_t at = CNC_BATCH_HEADER;

	for (uint32_t i = 0; i < n_rows; i++) {
		size_t size = cnc_batch_check_row(batch + at, len - at, rs->n_columns);

		if (size == SIZE_MAX)
			return CENOTE_ERR_PROTOCOL;
		rows[i] = batch + at;
		at += size;
	}
	return at == len ? CENOTE_OK : CENOTE_ERR_PROTOCOL;
}

int
cnc_rowset_add(
	struct cnc_rowset *rs, const uint8_t *batch, size_t len, struct cnc_block *block)
{
	uint32_t n_rows;
	int r;

	r = cnc_batch_check_header(batch, len, rs->n_columns, &n_rows);
	if (r < 0)
		return r;
	if (n_rows == 0)
		return len == CNC_BATCH_HEADER ? CENOTE_OK : CENOTE_ERR_PROTOCOL;
	r = reserve_rows(rs, n_rows);
	if (r < 0)
		return r;
	r = note_rows(rs, batch, len, n_rows);
	if (r < 0)
		return r;
	if (block && len > CNC_ROWSET_COPY_MAX)
		r = keep_block(rs, block);
	else
		r = copy_batch(rs, batch, len, n_rows);
	if (r < 0)
		return r;
	rs->n_rows += n_rows;
	return CENOTE_OK;
}
