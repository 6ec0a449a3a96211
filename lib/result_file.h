/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CN_RESULT_FILE_H
#define CN_RESULT_FILE_H

#include "conn.h"
#include "core/saved.h"

/* A longer file is neither written nor read. */
#define CN_RESULT_FILE_MAX ((size_t)1 << 30)

/* The result in a file comes in this order: columns, any number of batches of rows, end. Each function returns CENOTE_OK,
 * CENOTE_ERR_LIMIT or CENOTE_ERR_NOMEM. */
int cn_result_put_columns(struct cnc_buf *b, const struct cn_columns *columns);
int cn_result_put_batch(struct cnc_buf *b, const uint8_t *batch, size_t len);
int cn_result_put_end(struct cnc_buf *b, const cenote_result *res);

/* Make a result from a file's content. The result has a reference to `block`. CENOTE_OK, CENOTE_ERR_PROTOCOL,
 * CENOTE_ERR_NOMEM. */
int cn_result_decode(const struct cenote_allocator *mem, struct cnc_block *block,
	const struct cnc_saved *saved, cenote_result **ret_res);

/* Read a whole regular file into one block. CENOTE_OK; CENOTE_DONE: there is no such file; CENOTE_ERR_FILE, with
 * errno; CENOTE_ERR_NOMEM. `dir`: the descriptor of the directory, or AT_FDCWD. `is_own`: the file must belong to the user,
 * and nobody else may have rights on it. */
int cn_result_file_read(const struct cenote_allocator *mem, int dir, const char *name,
	int is_own, struct cnc_block **ret_block);
/* Write a file under another name and rename it, so that a reader sees the old file or the new one. CENOTE_OK, or
 * CENOTE_ERR_FILE with errno. */
int cn_result_file_write(int dir, const char *name, const uint8_t *bytes, size_t len);

/* Microseconds since 1970. */
uint64_t cn_wall_us(void);

#endif
