/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_ROWSET_H
#define CNC_ROWSET_H

#include "core/arena.h"
#include "core/batch.h"
#include "core/block.h"

/* A batch of at most this many bytes is copied, so that it does not keep its block alive. */
#define CNC_ROWSET_COPY_MAX 4096u

/*
 * Rows in flat batches. A batch is checked once, when it is added. After that, a value is found by row and
 * column in constant time, without parsing or copying.
 */
struct cnc_rowset {
	/* own copy, because a result outlives its connection */
	struct cenote_allocator mem;
	/* copies of small batches; uses .mem, so never move the struct */
	struct cnc_arena arena;
	const uint8_t **rows; /* one pointer per row, into a block or the arena */
	size_t n_rows;
	size_t cap_rows;
	uint32_t n_columns;
	struct cnc_block **blocks;
	size_t n_blocks;
	size_t cap_blocks;
	size_t bytes; /* memory held, blocks included */
};

void cnc_rowset_init(
	struct cnc_rowset *rs, const struct cenote_allocator *mem, uint32_t n_columns);
void cnc_rowset_finish(struct cnc_rowset *rs);
/* Drop the rows and keep the columns, for the next batch of a streamed result. */
void cnc_rowset_clear(struct cnc_rowset *rs);

/*
 * Check a batch and add its rows. `block` contains the bytes, and gets a reference if they are not copied.
 * NULL: always copy. CENOTE_OK, CENOTE_ERR_PROTOCOL, CENOTE_ERR_NOMEM; on failure the set is as before.
 */
int cnc_rowset_add(
	struct cnc_rowset *rs, const uint8_t *batch, size_t len, struct cnc_block *block);

/* Programs mostly read rows in order, and the beginning of a row is usually not in the cache. So it is
 * prefetched some rows ahead. (This is a macro, because gcc removes a function that only prefetches.) */
#define CNC_ROWSET_AHEAD 8u
#if defined(__GNUC__) || defined(__clang__)
#define CNC_PREFETCH(address) __builtin_prefetch(address)
#else
#define CNC_PREFETCH(address) ((void)(address))
#endif

/* A value; NULL for NULL, and for a row or column that does not exist. ret_len may be NULL. */
static inline const char *
cnc_rowset_value(const struct cnc_rowset *rs, uint64_t row, uint32_t col, size_t *ret_len)
{
	if (row >= rs->n_rows || col >= rs->n_columns)
		return NULL;
	if (col == 0 && rs->n_rows - row > CNC_ROWSET_AHEAD) {
		const uint8_t *ahead = rs->rows[row + CNC_ROWSET_AHEAD];

		CNC_PREFETCH(ahead);
		CNC_PREFETCH(ahead + (size_t)4 * rs->n_columns);
	}
	return cnc_row_value(rs->rows[row], rs->n_columns, col, ret_len);
}

#endif
