/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_PG_LIBPQ_H
#define CND_PG_LIBPQ_H

#include "session.h"

/*
 * The stream by way of libpq's calls, for connections that libpq alone can read: messages to the
 * server become calls (libpq_calls.c), and their results become the messages that the server would
 * have sent (libpq_results.c); libpq.c stands in for the socket. An execution with its Sync goes
 * alone, so that it may be a COPY; all else of the extended protocol goes in libpq's pipeline mode.
 * libpq tells the state of the transaction only when nothing is under way, so nothing is begun
 * behind a Sync before that is answered.
 */

#define OPS_MAX 32u

enum op_kind {
	OP_QUERY,
	OP_EXECUTE,
	OP_PREPARE,
	OP_DESCRIBE,
	OP_CLOSE,
	OP_SYNC
};

/* What libpq was asked to do. */
struct op {
	enum op_kind kind;
	const char *refusal; /* the error instead of the server's */
	const char *state; /* its SQLSTATE, if not 0A000 */
	uint8_t is_portal; /* described: it has no parameters */
	uint8_t wants_columns;
	uint8_t gives_ready; /* ReadyForQuery is behind it */
	uint8_t has_columns; /* they were told */
	uint8_t is_bound; /* BindComplete was told */
	uint8_t is_single; /* rows come one by one */
	uint8_t copy; /* 'G', 'H': a copy is under way */
	uint8_t is_copied; /* its data is over, and whether it failed is not known yet */
	uint8_t has_failed;
};

struct cnd_pg_libpq {
	struct op ops[OPS_MAX]; /* a ring */
	uint32_t first, n;
	struct cnc_buf todo; /* to the server */
	struct cnc_buf made; /* from the server */
	int status; /* no memory while something was made */
	uint8_t is_open; /* a unit of requests has begun that no Sync has ended */
	uint8_t skips_sync; /* libpq has sent it with the end of a copy */
	uint8_t is_broken;
};

/* Of those under way, from the oldest. */
static inline struct op *
cnd_pg_op_at(struct cnd_pg_libpq *l, uint32_t i)
{
	return &l->ops[(l->first + i) % OPS_MAX];
}

/* What failed first is what the session ends with. */
static inline void
cnd_pg_libpq_note(struct cnd_pg_libpq *l, int r)
{
	if (r < 0 && l->status == CENOTE_OK)
		l->status = r;
}

/* libpq_calls.c */
/* Carry out the next message in `todo`: 1; 0 if there is none, or not now. */
int cnd_pg_libpq_call(struct cnd_session *s);

/* libpq_results.c */
/* Make messages of what the oldest call has: 1 something came of it; 0 nothing yet. */
int cnd_pg_libpq_take(struct cnd_session *s);
/* Of what comes unasked. */
void cnd_pg_libpq_take_notice(void *user, const PGresult *res);
void cnd_pg_libpq_take_notifications(struct cnd_session *s);
void cnd_pg_libpq_take_parameters(struct cnd_session *s);

#endif
