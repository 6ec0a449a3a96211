/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_SPILL_H
#define CND_SPILL_H

#include "core/buf.h"
#include "core/diag.h"

/*
 * A byte queue for later: up to 1 MB stays in memory, more goes to a file without a name in $TMPDIR. The
 * caller first puts everything, then reads everything in the same order.
 */
struct cnd_spill {
	/* while writing: the bytes that are not in the file yet; then the bytes read back */
	struct cnc_buf buf;
	int fd; /* -1: no file yet */
	uint64_t written;
	uint64_t read_at;
};

/* `max`: bytes of the largest piece that is read at a time. */
void cnd_spill_init(struct cnd_spill *sp, const struct cenote_allocator *mem, size_t max);
void cnd_spill_finish(struct cnd_spill *sp);
/* CENOTE_OK; CENOTE_ERR_SERVER, with the diagnostics filled; CENOTE_ERR_NOMEM, CENOTE_ERR_LIMIT. */
int cnd_spill_put(
	struct cnd_spill *sp, const void *bytes, size_t n, struct cnc_diag *diag);
/* Change from writing to reading. */
int cnd_spill_rewind(struct cnd_spill *sp, struct cnc_diag *diag);
/* Read until `buf` has `need` bytes, or all that are left. They stay until the caller consumes them in
 * `buf`. */
int cnd_spill_refill(struct cnd_spill *sp, size_t need, struct cnc_diag *diag);

#endif
