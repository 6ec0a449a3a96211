/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_SPILL_H
#define CND_SPILL_H

#include "core/buf.h"
#include "core/diag.h"

/*
 * Bytes that are kept for later, and read in the order they came in: in memory, and above 1 MB in a file without a
 * name in $TMPDIR. First everything is put, then everything is read.
 */
struct cnd_spill {
	struct cnc_buf
		buf; /* while writing what is not in the file yet; then what was read back */
	int fd; /* -1: no file yet */
	uint64_t written;
	uint64_t read_at;
};

/* `max`: of one piece that is read at a time. */
void cnd_spill_init(struct cnd_spill *sp, const struct cenote_allocator *mem, size_t max);
void cnd_spill_finish(struct cnd_spill *sp);
/* CENOTE_OK; CENOTE_ERR_SERVER and the diagnostics; CENOTE_ERR_NOMEM, CENOTE_ERR_LIMIT. */
int cnd_spill_put(
	struct cnd_spill *sp, const void *bytes, size_t n, struct cnc_diag *diag);
/* No more is put. */
int cnd_spill_rewind(struct cnd_spill *sp, struct cnc_diag *diag);
/* Have `need` bytes in `buf`, or as many as there are: they stay until they are consumed there. */
int cnd_spill_refill(struct cnd_spill *sp, size_t need, struct cnc_diag *diag);

#endif
