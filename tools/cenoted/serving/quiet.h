/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_QUIET_H
#define CND_QUIET_H

#include "../backends/backend.h"

/* A sink for statements that no client has sent: it drops rows and notices, and refuses copies. */
struct cnd_quiet {
	struct cnd_sink sink;
	struct cnc_batch batch;
	struct cnc_buf rows; /* the row that is being written */
	uint64_t n_rows; /* rows that were dropped */
};

/* `diag` gets the errors. */
void cnd_quiet_init(
	struct cnd_quiet *q, const struct cenote_allocator *mem, struct cnc_diag *diag);
void cnd_quiet_finish(struct cnd_quiet *q);
/* Run this text, which may have several statements, and the synchronisation point after it. CENOTE_ERR_SERVER: it failed.
 * CENOTE_ERR_CONN: the session is lost. */
int cnd_quiet_run(struct cnd_quiet *q, const struct cnd_backend *backend,
	struct cnd_session *session, const char *sql);
/* A statement has returned `status`: run the synchronisation point after it. Returns `status`, unless that point fails after
 * a success, or the session is lost. */
int cnd_quiet_synchronise(struct cnd_sink *sink, const struct cnd_backend *backend,
	struct cnd_session *session, int status);

/* For sinks that drop other answers: they drop the types of parameters, and refuse copies. */
int cnd_quiet_params(struct cnd_sink *sink, const struct cnp_param *params, uint32_t n);
int cnd_quiet_refuse_copy(struct cnd_sink *sink);
int cnd_quiet_copy_out(struct cnd_sink *sink, const struct cnp_copy_out *m);
int cnd_quiet_copy_data(struct cnd_sink *sink, const void *data, size_t len);
int cnd_quiet_copy_in(struct cnd_sink *sink, const struct cnp_copy_in *m);
int cnd_quiet_copy_read(struct cnd_sink *sink, int fd, struct cnp_str *ret_data);

#endif
