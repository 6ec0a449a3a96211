/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_ANSWER_H
#define CND_ANSWER_H

#include "../backend.h"

/* A result without rows: its tag ("" for none) and enum cnp_done_flag. */
int cnd_done(struct cnd_sink *sink, const char *tag, uint8_t flags);
/* A savepoint was set (0), released (1) or rolled back to (2): the tag. */
const char *cnd_savepoint_tag(uint8_t action);
/* Descriptions of n parameters without type and name, to be filled; NULL: no memory. */
struct cnp_param *cnd_params_make(const struct cenote_allocator *mem, uint32_t n);
/* Send them, unless `r` is a failure, and free them. NULL: no memory. */
int cnd_params_send(struct cnd_sink *sink, const struct cenote_allocator *mem,
	struct cnp_param *params, uint32_t n, int r);
/* The values of a row are written, or `r` says why not: then the row is taken back. Returns `r`. */
int cnd_row_end(struct cnc_batch *batch, int r);
/* Write a number, date or time in canonical form, from any text of that type. CENOTE_DONE: the text is none, or the
 * type has no such form, and nothing was written. */
int cnd_put_canonical(struct cnc_batch *batch, uint8_t type, const char *p, size_t n);

#endif
