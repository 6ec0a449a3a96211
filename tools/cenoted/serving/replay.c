/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Run a transaction again that the server has rolled back because of a deadlock or a serialization failure (`replay`). It
 * owns s->replay: the requests of the open transaction, and what the client was told about each. request.c calls this file.
 *
 * The client must not be able to notice it. So a transaction is kept only while each of its requests is one statement whose
 * text shows what it does, and was answered without rows and notices. When it runs again, each statement must get the same
 * answer: the same row count, tag and insert id. Otherwise the client gets the error as it was.
 */
#include "serving.h"

#include <string.h>
#include <syslog.h>

#include "core/effect.h"
#include "core/sqlstate.h"
#include "quiet.h"

/* A transaction with more requests than this is not kept. */
#define STEPS_MAX   1000u
/* How many bytes of memory are kept for the next transaction. */
#define BYTES_KEPT  4096u
/* SQLSTATE of a deadlock in PostgreSQL; other servers use SERIALIZATION for it. */
#define PG_DEADLOCK "40P01"

/* ---- the requests so far ---- */

static void
forget(struct cnd_serving *s)
{
	s->replay.is_recording = false;
	s->replay.n = 0;
	cnc_buf_clear(&s->replay.steps, BYTES_KEPT);
}

void
cnd_replay_forget(struct cnd_serving *s)
{
	s->replay.is_odd = false;
	if (s->replay.max > 0)
		forget(s);
}

/* Append the request and its answer. */
static int
keep(struct cnd_serving *s, const struct cnp_msg *m)
{
	struct cnc_buf *b = &s->replay.steps;
	const struct cnd_serving_answer *a = &s->result.answer;
	size_t size;
	int r = cnp_msg_size(m, &size);

	if (r == CENOTE_OK && (size > CND_REPLAY_BYTES_MAX || s->replay.n == STEPS_MAX))
		r = CENOTE_ERR_LIMIT;
	if (r == CENOTE_OK)
		r = cnc_buf_append(b, a, sizeof(*a));
	if (r == CENOTE_OK)
		r = cnc_buf_u32(b, (uint32_t)size);
	if (r == CENOTE_OK)
		r = cnc_buf_u8(b, m->code);
	if (r == CENOTE_OK)
		r = cnp_msg_encode(b, m);
	s->replay.n += r == CENOTE_OK;
	return r;
}

/* Read the request at *io_at, and go on to the next. False: it was the last one. */
static bool
next_step(const struct cnd_serving *s, size_t *io_at, struct cnp_msg *ret_msg,
	struct cnd_serving_answer *ret_answer)
{
	const uint8_t *p = cnc_buf_head(&s->replay.steps) + *io_at;
	uint32_t size;

	if (*io_at == cnc_buf_len(&s->replay.steps))
		return false;
	memcpy(ret_answer, p, sizeof(*ret_answer));
	p += sizeof(*ret_answer);
	size = cnc_get_u32(p);
	*io_at += sizeof(*ret_answer) + 5 + size;
	/* keep() has written it, so it can be decoded */
	return cnp_msg_decode(p[4], p + 5, size, ret_msg) == CENOTE_OK;
}

/* Whether a statement of this number was executed in the transaction. */
static bool
is_used(const struct cnd_serving *s, uint32_t number)
{
	struct cnd_serving_answer answer;
	struct cnp_msg m;
	size_t at = 0;

	while (next_step(s, &at, &m, &answer)) {
		if (m.code == CNP_MSG_EXECUTE && m.as.execute.statement == number)
			return true;
	}
	return false;
}

/* Whether the request changes nothing that the transaction needs to run again. */
static bool
is_aside(const struct cnd_serving *s, const struct cnp_msg *m)
{
	switch (m->code) {
	case CNP_MSG_PREPARE:
		return !is_used(s, m->as.prepare.statement);
	case CNP_MSG_CLOSE:
		return !is_used(s, m->as.close.statement);
	case CNP_MSG_DESCRIBE:
	case CNP_MSG_PING:
	case CNP_MSG_SYNC:
		return true;
	default:
		return false;
	}
}

/* Whether the request is a statement that may run again, as its text shows. */
static bool
is_statement(struct cnd_serving *s, const struct cnp_msg *m)
{
	struct cnp_str sql = cnd_loss_text_of(s, m);

	return sql.n > 0 && !s->replay.has_pieces && !s->replay.is_unsafe &&
	       s->ops->may_replay(s, sql);
}

void
cnd_replay_changed(struct cnd_serving *s, struct cnp_str sql)
{
	s->replay.is_unsafe = s->replay.max > 0 && !s->ops->may_replay(s, sql);
}

/* Whether the text sets something for the next transaction only, as SET TRANSACTION does in MySQL. */
static bool
sets_next_transaction(const struct cnd_serving *s, const struct cnp_msg *m)
{
	struct cnp_str sql = cnd_loss_text_of(s, m);

	/* the text ends with a zero byte */
	return sql.n > 0 && cnc_sql_is_set(sql.p, sql.n) &&
	       (strcasestr(sql.p, "transaction") != NULL ||
		       strcasestr(sql.p, "tx_") != NULL);
}

/* Whether the client has learned nothing but one row count, and the request is a unit of its own. */
static bool
is_answered_plainly(const struct cnd_serving *s)
{
	return s->result.answer.n == 1 && !s->result.has_shown &&
	       (s->backend->sync == NULL || s->request.is_sync);
}

/* Whether the request belongs to the transaction that runs again. */
static bool
is_step(struct cnd_serving *s, uint8_t before, const struct cnp_msg *m)
{
	if (before == CENOTE_TX_IDLE)
		return cnd_loss_only_begins(s, m) ||
		       (s->held.is_manual && is_statement(s, m));
	return m->code == CNP_MSG_SAVEPOINT || is_statement(s, m);
}

void
cnd_replay_note(
	struct cnd_serving *s, const struct cnp_request *req, uint8_t before, int status)
{
	bool begins = before == CENOTE_TX_IDLE;

	if (s->replay.max == 0)
		return;
	if (s->held.tx == CENOTE_TX_IDLE)
		s->replay.is_odd = sets_next_transaction(s, &req->msg);
	if (s->held.tx != CENOTE_TX_OPEN || (!begins && !s->replay.is_recording)) {
		if (s->replay.n > 0)
			forget(s);
		return;
	}
	if (status >= 0 && !begins && is_aside(s, &req->msg))
		return;
	if (begins)
		forget(s);
	s->replay.is_recording =
		status >= 0 && !s->replay.is_odd && is_answered_plainly(s) &&
		is_step(s, before, &req->msg) && keep(s, &req->msg) == CENOTE_OK;
	if (!s->replay.is_recording)
		forget(s);
}

/* ---- running again ---- */

static int
refuse(struct cnd_sink *sink)
{
	cnd_sink_serving(sink)->result.has_shown = true;
	cnc_diag_set(sink->diag, CNC_SQLSTATE(INTERNAL),
		"a statement gives rows that gave none before");
	return CENOTE_ERR_SERVER;
}

static int
refuse_columns(
	struct cnd_sink *sink, const struct cnp_column *columns, uint32_t n, int known)
{
	(void)columns;
	(void)n;
	(void)known;
	return refuse(sink);
}

static int
take_done(struct cnd_sink *sink, const struct cnp_done *done)
{
	struct cnd_serving *s = cnd_sink_serving(sink);

	s->result.is_done = !(done->flags & CNP_DONE_MORE_RESULTS);
	cnd_sink_take_answer(s, done);
	return CENOTE_OK;
}

static int
take_notice(struct cnd_sink *sink, const struct cnc_diag *notice)
{
	(void)notice;
	cnd_sink_serving(sink)->result.has_shown = true;
	return CENOTE_OK;
}

static int
take_notification(struct cnd_sink *sink, const struct cnp_notification *n)
{
	return cnd_sink_ops.notification(sink, n);
}

static int
take_parameter(struct cnd_sink *sink, const char *name, const char *value)
{
	return cnd_sink_ops.parameter(sink, name, value);
}

/* For requests that run again. The client has had their answers, so it gets nothing. */
static const struct cnd_sink_ops replay_ops = {
	.params = cnd_quiet_params,
	.columns = refuse_columns,
	.row_done = refuse,
	.done = take_done,
	.notice = take_notice,
	.notification = take_notification,
	.parameter = take_parameter,
	.copy_out = cnd_quiet_copy_out,
	.copy_data = cnd_quiet_copy_data,
	.copy_done = cnd_quiet_refuse_copy,
	.copy_in = cnd_quiet_copy_in,
	.copy_read = cnd_quiet_copy_read,
};

static int
synchronise(struct cnd_serving *s, struct cnd_sink *sink, int status)
{
	return cnd_quiet_synchronise(sink, s->backend, s->session, status);
}

static uint8_t
tx_of(const struct cnd_serving *s)
{
	struct cnd_state state;

	s->backend->state(s->session, &state);
	return state.tx;
}

static int
run_step(struct cnd_serving *s, const struct cnp_msg *m)
{
	struct cnp_msg whole = *m;
	uint8_t tx = s->held.tx;
	int r;

	/* rules must decide as they did before */
	s->held.tx = tx_of(s);
	/* it gave no rows, so it needs no batches */
	if (whole.code == CNP_MSG_QUERY)
		whole.as.query.batch_rows = 0;
	else if (whole.code == CNP_MSG_EXECUTE)
		whole.as.execute.batch_rows = 0;
	cnd_request_begin_answer(s);
	s->sink.ops = &replay_ops;
	r = synchronise(s, &s->sink, cnd_request_handle(s, &whole));
	s->sink.ops = &cnd_sink_ops;
	s->held.tx = tx;
	cnc_arena_finish(&s->request.arena);
	return r;
}

static bool
is_same(const struct cnd_serving_answer *a, const struct cnd_serving_answer *b)
{
	return a->n == b->n && a->affected == b->affected &&
	       a->last_insert_id == b->last_insert_id && strcmp(a->tag, b->tag) == 0;
}

/* Run the kept requests. CENOTE_OK: all have the same answers as before. CENOTE_ERR_STATE: one has another answer. Another
 * negative value: one has failed, and s->diag says why. */
static int
run_steps(struct cnd_serving *s)
{
	struct cnd_serving_answer answer;
	struct cnp_msg m;
	size_t at = 0;
	uint32_t n = 0;
	int r;

	while (next_step(s, &at, &m, &answer)) {
		r = run_step(s, &m);
		if (r < 0)
			return r;
		if (s->result.has_shown || !is_same(&answer, &s->result.answer))
			return CENOTE_ERR_STATE;
		n++;
	}
	return n == s->replay.n ? CENOTE_OK : CENOTE_ERR_STATE;
}

/* ---- giving up ---- */

/* The client believes that it is in a transaction that has failed: begin a transaction, and make it fail. */
static int
fail_again(struct cnd_serving *s, struct cnd_quiet *quiet)
{
	static const char name[] = "cenote_replay";
	int r = synchronise(
		s, &quiet->sink, s->backend->begin(s->session, 0, 0, &quiet->sink));

	/* there is no savepoint of this name */
	if (r >= 0)
		r = synchronise(s, &quiet->sink,
			s->backend->savepoint(
				s->session, 2, name, sizeof(name) - 1, &quiet->sink));
	return r != CENOTE_ERR_CONN && tx_of(s) == CENOTE_TX_FAILED ? CENOTE_OK
								    : CENOTE_ERR_CONN;
}

/* The transaction cannot run again. Bring the session into the state in which the error left it: no transaction, or one that
 * has failed. */
static int
give_up(struct cnd_serving *s, uint8_t tx)
{
	struct cnd_quiet quiet;
	struct cnc_diag diag;
	int r = CENOTE_OK;

	/* this must also work after a cancel, or after the end of query_timeout, so it gets a new time limit */
	s->ops->begin(s, NULL);
	cnc_diag_init(&diag, NULL);
	cnd_quiet_init(&quiet, s->host.mem, &diag);
	if (tx_of(s) != CENOTE_TX_IDLE)
		r = synchronise(
			s, &quiet.sink, s->backend->rollback(s->session, &quiet.sink));
	if (r >= 0 && tx != CENOTE_TX_IDLE)
		r = fail_again(s, &quiet);
	cnd_quiet_finish(&quiet);
	cnc_diag_finish(&diag);
	return r < 0 ? CENOTE_ERR_CONN : CENOTE_OK;
}

/* ---- the request that failed ---- */

/* Whether the error says that another run may succeed. A rule that denies may have the same SQLSTATE, but the server has not
 * ended the transaction then. */
static bool
is_retriable(const struct cnd_serving *s)
{
	return cnd_loss_is_from_server(&s->diag) &&
	       (strcmp(s->diag.sqlstate, CNC_SQLSTATE(SERIALIZATION)) == 0 ||
		       strcmp(s->diag.sqlstate, PG_DEADLOCK) == 0);
}

/* Whether the whole transaction is known, and the request may be its next one. */
static bool
may_run_again(struct cnd_serving *s, const struct cnp_request *req)
{
	const struct cnp_msg *m = &req->msg;

	if (req->number == 0 || s->is_gone || s->stopped != 0 || s->ahead.n > 0 ||
		s->ahead.last != req->number || s->result.answer.n > 0 ||
		s->result.has_shown || (s->backend->sync != NULL && !s->request.is_sync))
		return false;
	if (s->held.tx == CENOTE_TX_IDLE)
		return !s->replay.is_odd && !s->loss.may_have_committed &&
		       is_statement(s, m);
	return s->replay.is_recording &&
	       (m->code == CNP_MSG_COMMIT ||
		       (m->code == CNP_MSG_QUERY &&
			       cnd_loss_only_ends(m->as.query.sql)) ||
		       is_statement(s, m));
}

/* Run the transaction again, and the request itself. *ret_is_final: the result is that of the request itself. */
static int
run_again(struct cnd_serving *s, const struct cnp_msg *m, bool *ret_is_final)
{
	int r = s->backend->undo(s->session, &s->diag);

	*ret_is_final = false;
	if (r >= 0)
		r = run_steps(s);
	if (r < 0)
		return r;
	*ret_is_final = true;
	cnd_request_begin_answer(s);
	return cnd_request_handle(s, m);
}

/* Try as often as the pool allows. *ret_tx: the state in which the last error of the server left the session. */
static int
try_again(struct cnd_serving *s, const struct cnp_msg *m, int status, bool *ret_is_final,
	uint8_t *ret_tx)
{
	uint32_t n = 0;

	*ret_is_final = true;
	do {
		status = synchronise(s, &s->sink, status);
		*ret_tx = tx_of(s);
		if (status == CENOTE_ERR_CONN)
			break;
		cnc_diag_clear(&s->diag);
		status = run_again(s, m, ret_is_final);
		n++;
	} while (status == CENOTE_ERR_SERVER && n < s->replay.max && is_retriable(s) &&
		 !s->result.has_shown && s->result.answer.n == 0 && s->stopped == 0);
	if (status >= 0)
		s->host.log(&s->host, LOG_INFO,
			"ran a transaction again after a deadlock or a serialization "
			"failure, %u times",
			n);
	return status;
}

int
cnd_replay_request(struct cnd_serving *s, const struct cnp_request *req, int status)
{
	struct cnc_diag error;
	bool is_final;
	uint8_t tx;
	int r;

	if (s->replay.max == 0 || status != CENOTE_ERR_SERVER || !is_retriable(s) ||
		!may_run_again(s, req))
		return status;
	cnc_diag_init(&error, s->host.mem);
	cnc_diag_copy(&error, &s->diag);
	r = try_again(s, &req->msg, status, &is_final, &tx);
	if (!is_final && r != CENOTE_ERR_CONN) {
		if (s->stopped == 0)
			cnc_diag_copy(&s->diag, &error);
		r = give_up(s, tx) < 0 ? CENOTE_ERR_CONN : status;
	}
	cnc_diag_finish(&error);
	return r;
}
