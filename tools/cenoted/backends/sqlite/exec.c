/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Run statements and give their rows to the sink. This file owns the portals. A portal's statement
 * waits until the client fetches more.
 */
#include <string.h>

#include "sqlite.h"

/* A request that is being run: its current statement, and what follows it. */
struct request {
	struct cnd_session *s;
	struct cnd_sink *sink;
	struct cnd_sq_stmt *stmt; /* one reference held */
	struct cnd_portal *portal;
	uint32_t batch_rows;
	uint8_t format;
	uint8_t columns_known;
	struct cnd_statement *named; /* only for execute */
	int was_in_tx;
	uint64_t n_rows;
	const char *rest; /* begins with a statement, or is empty */
	size_t rest_len;
	size_t rest_chars; /* characters of the request before `rest` */
};

static uint8_t
more_results(const struct request *q)
{
	return q->rest_len > 0 ? CNP_DONE_MORE_RESULTS : 0;
}

static void
release(struct cnd_session *s, struct cnd_sq_stmt *st)
{
	st->is_running = 0;
	/* This also wipes the client's values from a statement that may be kept. */
	if (st->n_params > 0)
		(void)sqlite3_clear_bindings(st->handle);
	cnd_sq_stmt_unref(s, st);
}

/* End a statement. Returns SQLite's last code for it. For an unfinished write, that is the code of
 * its commit. */
static int
end_statement(struct cnd_session *s, struct cnd_sq_stmt *st)
{
	int rc = sqlite3_reset(st->handle);

	if (st->verb->flags & CND_SQ_VERB_DML)
		s->has_changed = 1;
	s->is_vacuum = 0;
	/* Add what was noted when it was compiled again, or in SQL within the statement. */
	if (s->noted)
		cnd_sq_take_notes(s, s->noted);
	return rc;
}

static int
fail_statement(struct request *q, int rc)
{
	struct cnd_session *s = q->s;
	int r = cnd_sq_fail(s, rc, 0);

	(void)end_statement(s, q->stmt);
	release(s, q->stmt);
	cnd_sq_after_statement(s, q->was_in_tx, 1);
	return r;
}

/* Undo what an unfinished statement wrote, since a reset would commit it. SQLite then rolls the
 * transaction back as well. */
static void
undo_writes(struct cnd_session *s, sqlite3_stmt *handle)
{
	if (!sqlite3_stmt_busy(handle))
		return;
	/* The interruption would hit the portals too. */
	cnd_sq_close_portals(s, 0);
	sqlite3_interrupt(s->db);
	(void)sqlite3_step(handle);
}

/* End a statement after a row could not be sent. Returns `r`. */
static int
break_statement(struct request *q, int r)
{
	struct cnd_session *s = q->s;

	if (!q->stmt->is_readonly)
		undo_writes(s, q->stmt->handle);
	(void)end_statement(s, q->stmt);
	release(s, q->stmt);
	cnd_sq_after_statement(s, q->was_in_tx, 1);
	return r;
}

/* Fill in the tag, such as "SELECT 3", "INSERT 0 1" or "CREATE TABLE", and the counts. */
static void
fill_done(const struct request *q, struct cnp_done *done, char *tag)
{
	const struct cnd_sq_stmt *st = q->stmt;
	uint32_t flags = st->verb->flags;
	size_t n = st->tag_len;

	memcpy(tag, st->tag, n + 1);
	if (flags & (CND_SQ_VERB_ROWS | CND_SQ_VERB_DML)) {
		uint64_t count = q->n_rows;

		if (flags & CND_SQ_VERB_DML) {
			done->affected = sqlite3_changes64(q->s->db);
			count = (uint64_t)done->affected;
			if (flags & CND_SQ_VERB_INSERT && count > 0)
				done->last_insert_id =
					(uint64_t)sqlite3_last_insert_rowid(q->s->db);
		}
		tag[n++] = ' ';
		n += cnc_uint64_text(count, tag + n);
	}
	done->tag = (struct cnp_str){ tag, n };
}

static int
finish(struct request *q, uint8_t flags)
{
	char tag[CND_SQ_TAG_MAX + CNC_VALUE_TEXT_MAX];
	struct cnp_done done = { .affected = -1, .flags = flags };
	int rc = end_statement(q->s, q->stmt);

	if (rc != SQLITE_OK)
		return fail_statement(q, rc);
	fill_done(q, &done, tag);
	release(q->s, q->stmt);
	cnd_sq_after_statement(q->s, q->was_in_tx, 0);
	return q->sink->ops->done(q->sink, &done);
}

/* Keep the statement and what follows it in the portal. Returns CENOTE_AGAIN, or a failure of the
 * sink. */
static int
keep_portal(struct request *q)
{
	struct cnp_done done = {
		.tag = CNP_STR_NONE, .affected = -1, .flags = CNP_DONE_MORE_ROWS
	};
	struct cnd_sq_portal *p;
	int r;

	p = cnc_calloc(q->s->mem, 1, sizeof(*p));
	if (!p)
		return break_statement(q, CENOTE_ERR_NOMEM);
	if (q->rest_len > 0) {
		p->rest = cnc_strndup(q->s->mem, q->rest, q->rest_len);
		if (!p->rest) {
			cnc_free(q->s->mem, p);
			return break_statement(q, CENOTE_ERR_NOMEM);
		}
	}
	p->rest_len = q->rest_len;
	p->rest_chars = q->rest_chars;
	p->format = q->format;
	p->stmt = q->stmt;
	p->n_rows = q->n_rows;
	q->portal->own = p;
	r = q->sink->ops->done(q->sink, &done);
	return r < 0 ? r : CENOTE_AGAIN;
}

/* Send rows, beginning with the current one. Returns SQLITE_DONE after the last row, an error code
 * of SQLite, or SQLITE_ROW if it stopped earlier, with the reason in *ret_word. */
static int
send_rows(struct request *q, int *ret_word)
{
	struct cnd_sink *sink = q->sink;
	const struct cnd_sq_stmt *st = q->stmt;
	int rc = SQLITE_ROW, r;

	while (rc == SQLITE_ROW) {
		r = cnd_sq_put_row(st, q->format, sink->batch);
		if (r == CENOTE_OK) {
			q->n_rows++;
			r = sink->ops->row_done(sink);
		}
		/* An EXPLAIN cannot safely go on later, and it is short. */
		if (r == CENOTE_AGAIN && st->is_explain)
			r = CENOTE_OK;
		if (r != CENOTE_OK) {
			*ret_word = r;
			return SQLITE_ROW;
		}
		rc = sqlite3_step(st->handle);
	}
	return rc;
}

/* Go on after a step that returned `rc`: send rows, then end, or keep a portal. CENOTE_AGAIN: a
 * portal is open. */
static int
serve(struct request *q, int rc)
{
	int word = CENOTE_OK;

	if (rc == SQLITE_ROW)
		rc = send_rows(q, &word);
	if (rc == SQLITE_DONE)
		return finish(q, more_results(q));
	if (rc != SQLITE_ROW)
		return fail_statement(q, rc);
	if (word == CENOTE_AGAIN)
		return keep_portal(q);
	if (word == CENOTE_DONE)
		return finish(q, (uint8_t)(CNP_DONE_LIMITED | more_results(q)));
	return break_statement(q, word);
}

static int
send_columns(struct request *q, int has_row)
{
	struct cnd_sq_stmt *st = q->stmt;
	struct cnd_statement *n = q->named;
	uint64_t sent;
	int r = cnd_sq_columns(q->s, st, has_row), known;

	if (r < 0)
		return r;
	cnd_sq_columns_format(st, q->format);
	/* A copy of a statement that is running elsewhere counts its own versions. */
	if (n != NULL && n->own != st) {
		n->sent = 0;
		n = NULL;
	}
	sent = cnd_sq_sent(st, q->format);
	known = q->columns_known && n != NULL && n->sent == sent;
	if (n != NULL)
		n->sent = sent;
	return q->sink->ops->columns(q->sink, st->columns, st->n_columns, known);
}

static int
refuse_before(struct request *q, int r)
{
	release(q->s, q->stmt);
	return r;
}

/* Run q->stmt, and give up the reference to it. CENOTE_OK: the execution has ended.
 * CENOTE_AGAIN: a portal is open. */
static int
run(struct request *q, const struct cnd_exec *exec)
{
	struct cnd_session *s = q->s;
	struct cnd_sq_stmt *st = q->stmt;
	int r, rc;

	q->n_rows = 0;
	if (!st->handle) { /* no statement: newer versions of SQLite know more blanks */
		r = cnd_done(q->sink, "", more_results(q));
		return refuse_before(q, r);
	}
	r = cnd_sq_bind(s, st, exec);
	if (r == CENOTE_OK)
		r = cnd_sq_before_statement(s, st);
	if (r == CENOTE_DONE) {
		r = cnd_done(q->sink, st->tag, more_results(q));
		return refuse_before(q, r);
	}
	if (r < 0)
		return refuse_before(q, r);
	q->was_in_tx = !(st->verb->flags & (CND_SQ_VERB_COMMIT | CND_SQ_VERB_ROLLBACK)) &&
		       cnd_sq_in_tx(s);
	s->is_vacuum = (st->verb->flags & CND_SQ_VERB_VACUUM) != 0;
	st->is_running = 1;
	rc = sqlite3_step(st->handle);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return fail_statement(q, rc);
	if (sqlite3_column_count(st->handle) > 0) {
		r = send_columns(q, rc == SQLITE_ROW);
		if (r < 0)
			return break_statement(q, r);
	}
	return serve(q, rc);
}

/* Skip blanks, so that `rest` begins with a statement or is empty. */
static void
skip_blanks(struct request *q, size_t used)
{
	size_t n = used + cnd_sq_skip(q->rest + used, q->rest_len - used);

	q->rest_chars += cnd_sq_chars(q->rest, n);
	q->rest += n;
	q->rest_len -= n;
}

/* Run the statements in `rest`, one after the other, until a portal is open. */
static int
run_rest(struct request *q, const struct cnd_exec *exec)
{
	int r;

	while (q->rest_len > 0) {
		q->s->chars_before = q->rest_chars;
		r = cnd_sq_stmt_get(q->s, q->rest, q->rest_len, &q->stmt);
		if (r < 0)
			return r;
		skip_blanks(q, q->stmt->used);
		if (q->rest_len > 0 && exec->n_params > 0) {
			cnd_sq_stmt_unref(q->s, q->stmt);
			return cnd_sq_refuse(q->s, CNC_SQLSTATE(SYNTAX), NULL,
				"several statements in one request cannot take "
				"parameters");
		}
		r = run(q, exec);
		if (r != CENOTE_OK)
			return r == CENOTE_AGAIN ? CENOTE_OK : r;
	}
	return CENOTE_OK;
}

static int
start(struct request *q, struct cnd_session *s, const struct cnd_exec *exec,
	struct cnd_sink *sink)
{
	cnd_sq_enter(s, sink->diag);
	*q = (struct request){ .s = s,
		.sink = sink,
		.portal = exec->portal,
		.batch_rows = exec->batch_rows,
		.format = exec->format,
		.columns_known = exec->columns_known };
	return exec->format == CENOTE_FORMAT_BINARY ? CENOTE_ERR_UNSUPPORTED : CENOTE_OK;
}

int
cnd_sq_query(struct cnd_session *s, const char *sql, size_t len,
	const struct cnd_exec *exec, struct cnd_sink *sink)
{
	struct request q;
	int r = start(&q, s, exec, sink);

	if (r < 0)
		return r;
	if (memchr(sql, 0, len))
		return cnd_sq_refuse(
			s, CNC_SQLSTATE(SYNTAX), NULL, "zero byte in the statement");
	q.columns_known = 0;
	q.rest = sql;
	q.rest_len = len;
	skip_blanks(&q, 0);
	if (q.rest_len == 0)
		return cnd_done(sink, "", CNP_DONE_EMPTY);
	return run_rest(&q, exec);
}

int
cnd_sq_execute(struct cnd_session *s, const struct cnd_named *which,
	const struct cnd_exec *exec, struct cnd_sink *sink)
{
	struct request q;
	struct cnd_sq_stmt *st = which->statement->own;
	int r = start(&q, s, exec, sink);

	if (r < 0)
		return r;
	q.named = which->statement;
	q.stmt = st;
	q.stmt->refs++;
	/* A statement cannot run twice at the same time. */
	if (q.stmt->notes & CND_SQ_NOTE_ONCE || q.stmt->is_running) {
		q.stmt->refs--;
		r = cnd_sq_stmt_make(s, st->sql, st->len, &q.stmt);
		if (r < 0)
			return r;
	} else {
		cnd_sq_take_notes(s, q.stmt->notes);
	}
	r = run(&q, exec);
	return r == CENOTE_AGAIN ? CENOTE_OK : r;
}

static void
free_portal(struct cnd_session *s, struct cnd_sq_portal *p)
{
	cnc_free(s->mem, p->rest);
	cnc_free(s->mem, p);
}

int
cnd_sq_fetch(struct cnd_session *s, struct cnd_portal *portal, uint32_t batch_rows,
	int wants_columns, struct cnd_sink *sink)
{
	struct cnd_exec exec = { .portal = portal, .batch_rows = batch_rows };
	struct cnd_sq_portal *p = portal->own;
	struct request q;
	int r, rc;

	(void)start(&q, s, &exec, sink);
	portal->own = NULL;
	exec.format = q.format = p->format;
	q.stmt = p->stmt;
	q.n_rows = p->n_rows;
	q.rest = p->rest;
	q.rest_len = p->rest_len;
	q.rest_chars = p->rest_chars;
	q.was_in_tx = cnd_sq_in_tx(s);
	cnd_sq_columns_format(q.stmt, q.format);
	r = sink->ops->columns(sink, q.stmt->columns, q.stmt->n_columns, !wants_columns);
	if (r < 0) {
		r = break_statement(&q, r);
	} else {
		rc = sqlite3_step(q.stmt->handle);
		r = serve(&q, rc);
		if (r == CENOTE_OK)
			r = run_rest(&q, &exec);
	}
	free_portal(s, p);
	return r == CENOTE_AGAIN ? CENOTE_OK : r;
}

void
cnd_sq_close_portal(struct cnd_session *s, struct cnd_portal *portal)
{
	struct cnd_sq_portal *p = portal->own;

	portal->own = NULL;
	(void)end_statement(s, p->stmt);
	release(s, p->stmt);
	free_portal(s, p);
}

void
cnd_sq_close_portals(struct cnd_session *s, int only_writers)
{
	const struct cnd_statements *t = s->host->statements;

	for (size_t i = 0; i < t->n_portals; i++) {
		const struct cnd_sq_portal *p = t->portals[i]->own;

		if (p != NULL && !(only_writers && p->stmt->is_readonly))
			cnd_sq_close_portal(s, t->portals[i]);
	}
}

/* A client that leaves in the middle of a write has not finished it. Closing the portal would
 * commit the write, so undo it first. */
void
cnd_sq_forget_portal(struct cnd_session *s, struct cnd_portal *portal)
{
	const struct cnd_sq_portal *p = portal->own;

	if (!p->stmt->is_readonly && sqlite3_stmt_busy(p->stmt->handle)) {
		sqlite3_interrupt(s->db);
		(void)sqlite3_step(p->stmt->handle);
	}
	cnd_sq_close_portal(s, portal);
}
