/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_ANSWER_H
#define CND_ANSWER_H

#include "../backend.h"

/* Send the end of a result without rows. `flags`: enum cnp_done_flag; `tag`: "" for none. */
int cnd_done(struct cnd_sink *sink, const char *tag, uint8_t flags);
/* The tag after a savepoint was set (0), released (1) or rolled back to (2). */
const char *cnd_savepoint_tag(uint8_t action);
/* Make descriptions of n parameters, without type and name, for the caller to fill in. NULL: no memory. */
struct cnp_param *cnd_params_make(const struct cenote_allocator *mem, uint32_t n);
/* Send the descriptions unless `r` is a failure, and free them. `params` NULL: returns CENOTE_ERR_NOMEM. */
int cnd_params_send(struct cnd_sink *sink, const struct cenote_allocator *mem,
	struct cnp_param *params, uint32_t n, int r);
/* End a row whose values are written. If `r` is a failure, take the row back. Returns `r`. */
int cnd_row_end(struct cnc_batch *batch, int r);
/* Write a number, date or time in canonical form, from any text of that type. CENOTE_DONE: nothing was
 * written, since the text is not of that type or the type has no canonical form. */
int cnd_put_canonical(struct cnc_batch *batch, uint8_t type, const char *p, size_t n);

#endif
