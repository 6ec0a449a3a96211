/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Run a transaction again that the server has rolled back because of a deadlock or a serialization failure (`replay`). It
 * owns s->replay: the requests of the open transaction, and what the client was told about each. request.c calls this file.
 *
 * The client must not be able to notice it. So a transaction is kept only while each of its requests is one statement whose
 * text shows what it does, and was answered without rows and notices. When it runs again, each statement must get the same
 * answer: the same row count, tag and insert id. Otherwise the client gets the error as it was.
 *
 * A prepared statement must be the same in both runs. What the transaction prepares and closes is kept too, and done again in
 * its turn. If a statement is older than the transaction and has a name, the server must confirm its text (named_texts.c).
 */
#include "serving.h"

#include <stdint.h>
#include <string.h>
#include <syslog.h>

#include "core/effect.h"
#include "core/sqlstate.h"
#include "quiet.h"

/* A transaction with more requests than this is not kept. */
#define STEPS_MAX   1000u
/* How many bytes of memory are kept for the next transaction. */
#define BYTES_KEPT  4096u
/* How much longer each run after the second one waits than the one before. */
#define PAUSE_MS    20
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

/* ---- prepared statements ---- */

/* A prepared statement: its number, or its name if that is 0. */
struct subject {
	uint32_t number;
	struct cnp_str name;
};

/* The statement that the request prepares, executes or closes. False: it does none of these. */
static bool
subject_of(const struct cnp_msg *m, struct subject *ret_subject)
{
	switch (m->code) {
	case CNP_MSG_PREPARE:
		*ret_subject =
			(struct subject){ m->as.prepare.statement, m->as.prepare.name };
		return true;
	case CNP_MSG_EXECUTE:
		*ret_subject =
			(struct subject){ m->as.execute.statement, m->as.execute.name };
		return true;
	case CNP_MSG_CLOSE:
		*ret_subject =
			(struct subject){ m->as.close.statement, m->as.close.name };
		return m->as.close.kind == CNP_NAMED_STATEMENT;
	default:
		return false;
	}
}

static bool
is_same_subject(const struct subject *a, const struct subject *b)
{
	return a->number == b->number &&
	       (a->number != 0 || (a->name.n == b->name.n &&
					  memcmp(a->name.p, b->name.p, a->name.n) == 0));
}

/* Whether the request prepares or closes a statement. */
static bool
is_definition(const struct cnp_msg *m)
{
	struct subject subject;

	return m->code != CNP_MSG_EXECUTE && subject_of(m, &subject);
}

/* Find the first kept request about the statement of `m`. Returns the place behind it. SIZE_MAX: there is none. */
static size_t
find_first(const struct cnd_serving *s, const struct cnp_msg *m, struct cnp_msg *ret_msg)
{
	struct cnd_serving_answer answer;
	struct subject subject, other;
	size_t at = 0;

	if (!subject_of(m, &subject))
		return SIZE_MAX;
	while (next_step(s, &at, ret_msg, &answer)) {
		if (subject_of(ret_msg, &other) && is_same_subject(&subject, &other))
			return at;
	}
	return SIZE_MAX;
}

/* Whether the transaction has executed a statement that is older than itself. This statement must stay as it is. */
static bool
is_older_and_used(const struct cnd_serving *s, const struct cnp_msg *m)
{
	struct cnp_msg first;

	return find_first(s, m, &first) != SIZE_MAX && first.code == CNP_MSG_EXECUTE;
}

/* ---- what may be kept ---- */

/* Whether the request changes nothing that the transaction needs to run again. */
static bool
is_aside(const struct cnp_msg *m)
{
	switch (m->code) {
	case CNP_MSG_CLOSE:
		return m->as.close.kind != CNP_NAMED_STATEMENT;
	case CNP_MSG_DESCRIBE:
	case CNP_MSG_PING:
	case CNP_MSG_SYNC:
		return true;
	default:
		return false;
	}
}

/* The text that the server executes. Empty: not known. */
static struct cnp_str
text_of(const struct cnd_serving *s, const struct cnp_msg *m)
{
	return m->code == CNP_MSG_EXECUTE && m->as.execute.statement == 0
		       ? cnd_named_text(s, m->as.execute.name)
		       : cnd_loss_text_of(s, m);
}

/* Whether the request is a statement that may run again, as its text shows. */
static bool
is_statement(struct cnd_serving *s, const struct cnp_msg *m)
{
	struct cnp_str sql = text_of(s, m);

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
	if (before != CENOTE_TX_IDLE && is_definition(m))
		return !is_older_and_used(s, m);
	if (!is_answered_plainly(s))
		return false;
	if (before == CENOTE_TX_IDLE)
		return cnd_loss_only_begins(s, m) ||
		       (s->held.is_manual && is_statement(s, m));
	return m->code == CNP_MSG_SAVEPOINT || is_statement(s, m);
}

/* Remember what outlives the request. What is set for the next transaction stays set while a statement is prepared. */
static void
note_lasting(struct cnd_serving *s, uint8_t before, const struct cnp_msg *m)
{
	/* a query ends the statement without a name, too */
	if (m->code == CNP_MSG_QUERY)
		cnd_named_text_drop(s, CNP_STR_NONE);
	if (s->held.tx == CENOTE_TX_IDLE &&
		(before != CENOTE_TX_IDLE || !(is_aside(m) || is_definition(m))))
		s->replay.is_odd = sets_next_transaction(s, m);
}

void
cnd_replay_note(
	struct cnd_serving *s, const struct cnp_request *req, uint8_t before, int status)
{
	bool begins = before == CENOTE_TX_IDLE;

	if (s->replay.max == 0)
		return;
	note_lasting(s, before, &req->msg);
	if (s->held.tx != CENOTE_TX_OPEN || (!begins && !s->replay.is_recording)) {
		if (s->replay.n > 0)
			forget(s);
		return;
	}
	if (status >= 0 && !begins && is_aside(&req->msg))
		return;
	if (begins)
		forget(s);
	s->replay.is_recording = status >= 0 && !s->replay.is_odd &&
				 is_step(s, before, &req->msg) &&
				 keep(s, &req->msg) == CENOTE_OK;
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
	/* the columns of a statement that is prepared */
	if (cnd_sink_serving(sink)->result.is_describing)
		return CENOTE_OK;
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
	if (s->has_rules)
		cnd_limits_begin(s);
	cnd_request_begin_answer(s);
	s->sink.ops = &replay_ops;
	s->replay.is_running = true;
	/* as a set-up request, PREPARE ends a statement of the same name first */
	s->result.is_quiet = m->code == CNP_MSG_PREPARE;
	r = synchronise(s, &s->sink, cnd_request_handle(s, &whole));
	s->result.is_quiet = false;
	s->replay.is_running = false;
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

	for (s->replay.failed_at = 0; next_step(s, &at, &m, &answer);
		s->replay.failed_at = at) {
		r = run_step(s, &m);
		if (r < 0)
			return r;
		if (!is_definition(&m) &&
			(s->result.has_shown || !is_same(&answer, &s->result.answer)))
			return CENOTE_ERR_STATE;
		n++;
	}
	return n == s->replay.n ? CENOTE_OK : CENOTE_ERR_STATE;
}

/* Ask the server about the names of statements that the transaction uses and has not prepared. Returns what
 * cnd_named_text_holds() returns. `m` is the request that has failed. */
static int
check_names(struct cnd_serving *s, const struct cnp_msg *m)
{
	struct cnd_serving_answer answer;
	struct cnp_msg step, first;
	size_t at = 0;
	int r = CENOTE_OK;

	while (r >= 0 && next_step(s, &at, &step, &answer)) {
		if (step.code == CNP_MSG_EXECUTE && step.as.execute.statement == 0 &&
			find_first(s, &step, &first) == at)
			r = cnd_named_text_holds(s, step.as.execute.name);
	}
	if (r >= 0 && m->code == CNP_MSG_EXECUTE && m->as.execute.statement == 0 &&
		find_first(s, m, &first) == SIZE_MAX)
		r = cnd_named_text_holds(s, m->as.execute.name);
	return r;
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

/* A run has ended early. Prepare and close what it left out, so that the client's statements are what they were. */
static int
restore_statements(struct cnd_serving *s)
{
	struct cnd_serving_answer answer;
	struct cnp_msg m;
	size_t at = s->replay.failed_at;
	int r = CENOTE_OK;

	while (r >= 0 && next_step(s, &at, &m, &answer)) {
		if (is_definition(&m))
			r = run_step(s, &m);
	}
	return r;
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
	if (r >= 0)
		r = restore_statements(s);
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

/* On a busy machine, the other transaction may not have woken up yet. Without a pause, this one would take the same lock
 * again, and meet the other in the next deadlock. n: how many runs there were. */
static int
give_way(struct cnd_serving *s, uint32_t n)
{
	int r = n == 0 ? 0 : s->host.wait(&s->host, -1, 0, (int)n * PAUSE_MS, &s->diag);

	return r < 0 ? r : CENOTE_OK;
}

/* Run the transaction again, and the request itself. *ret_is_final: the result is that of the request itself. */
static int
run_again(struct cnd_serving *s, const struct cnp_msg *m, uint32_t n, bool *ret_is_final)
{
	int r = s->backend->undo(s->session, &s->diag);

	*ret_is_final = false;
	if (r >= 0)
		r = give_way(s, n);
	if (r >= 0)
		r = check_names(s, m);
	/* with autocommit off, the questions have begun a transaction */
	if (r >= 0 && tx_of(s) != CENOTE_TX_IDLE)
		r = s->backend->undo(s->session, &s->diag);
	if (r >= 0)
		r = run_steps(s);
	if (r < 0)
		return r;
	*ret_is_final = true;
	if (s->has_rules)
		cnd_limits_begin(s);
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
	/* so far, all statements are as the client left them */
	s->replay.failed_at = cnc_buf_len(&s->replay.steps);
	do {
		status = synchronise(s, &s->sink, status);
		*ret_tx = tx_of(s);
		if (status == CENOTE_ERR_CONN)
			break;
		cnc_diag_clear(&s->diag);
		status = run_again(s, m, n, ret_is_final);
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
		if (s->stopped != 0)
			cnc_diag_copy(&error, &s->diag);
		r = give_up(s, tx) < 0 ? CENOTE_ERR_CONN : status;
		cnc_diag_copy(&s->diag, &error);
	}
	cnc_diag_finish(&error);
	return r;
}
