/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_KEPT_H
#define CND_KEPT_H

#include <stdbool.h>

#include "core/arena.h"
#include "protocol/columns.h"

/*
 * A result as the pool's cache keeps it, behind the key in the frame of core/saved.h. All numbers are little-endian, and a text
 * is a u32 length, its bytes and a zero byte.
 *
 *     u64 all, u32 n, u64 tables[n]: the counters of writes when the request was sent
 *     text: the columns, as in COLUMNS
 *     texts: batches of rows, as in ROWS; then an empty text
 *     text: the tag; i64 affected rows, u64 last insert id, u32 warnings, u32 status of the server
 */
struct cnd_kept {
	uint64_t all;
	uint32_t n_tables;
	const uint8_t *tables; /* n_tables numbers of 8 bytes */
	struct cnp_str columns; /* as encoded */
	struct cnp_column *list; /* the same, decoded */
	uint32_t n_columns;
	const uint8_t
		*batches; /* checked; texts with their lengths, up to the empty one */
	struct cnp_done done;
};

int cnd_kept_put_columns(struct cnc_buf *b, const struct cnp_column *columns, uint32_t n);
int cnd_kept_put_end(struct cnc_buf *b, const struct cnp_done *done);

/* Read and check it all; texts are borrowed. CENOTE_OK; CENOTE_ERR_PROTOCOL: these bytes are no result; CENOTE_ERR_NOMEM. */
int cnd_kept_read(const uint8_t *bytes, size_t len, struct cnc_arena *arena,
	struct cnd_kept *ret_kept);
/* The next batch of a result that was read. False: there is none. */
bool cnd_kept_next_batch(struct cnd_kept *k, const uint8_t **ret_batch, size_t *ret_len);

#endif
