/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_QUIET_H
#define CND_QUIET_H

#include "../backends/backend.h"

/* A sink for statements of the pool's own, which no client asked for: it drops rows and notices, and refuses copies. */
struct cnd_quiet {
	struct cnd_sink sink;
	struct cnc_batch batch;
	struct cnc_buf rows; /* the row that is being written */
};

/* `diag` gets the errors. */
void cnd_quiet_init(
	struct cnd_quiet *q, const struct cenote_allocator *mem, struct cnc_diag *diag);
void cnd_quiet_finish(struct cnd_quiet *q);
/* Run this text, which may have several statements, and the synchronisation point after it. Returns the same as
 * cnd_backend.query(). */
int cnd_quiet_run(struct cnd_quiet *q, const struct cnd_backend *backend,
	struct cnd_session *session, const char *sql);

#endif
