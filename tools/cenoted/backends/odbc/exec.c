/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs statements and passes their results to the sink. Owns the portals. A portal keeps its statement handle
 * until the client fetches more.
 */
#include <stdio.h>
#include <string.h>

#include "odbc.h"

/* Ask the host whether to stop after this many rows. The watch asks only when a call waits, and these rows
 * may all be in memory. */
#define LOOK_ROWS 64u

struct request {
	struct cnd_session *s;
	struct cnd_sink *sink;
	struct cnd_od_stmt *stmt; /* owned */
	struct cnd_portal *portal;
	uint32_t batch_rows;
	uint8_t format;
	struct cnp_str formats;
	uint8_t columns_known;
	struct cnd_statement *named; /* execute only */
	uint64_t n_rows; /* of the result */
};

static void
give_back(struct request *q)
{
	if (q->stmt)
		cnd_od_stmt_give(q->s, q->stmt);
	q->stmt = NULL;
}

static int
fail_stmt(const struct request *q)
{
	return cnd_od_fail(q->s, SQL_HANDLE_STMT, q->stmt->handle);
}

/* ---- the end of a result ---- */

/* Call SQLMoreResults() before done(), which must report whether more results follow. Returns 1, 0, or a
 * negative error. */
static int
move_on(const struct request *q)
{
	SQLRETURN rc;
	int r;

	cnd_od_call_begin(q->s, q->stmt->handle);
	rc = SQLMoreResults(q->stmt->handle);
	if (rc == SQL_NEED_DATA)
		rc = cnd_od_send_data(q->stmt);
	cnd_od_call_end(q->s);
	if (rc == SQL_NO_DATA)
		return 0;
	if (!CND_OD_OK(rc))
		return fail_stmt(q);
	r = rc == SQL_SUCCESS_WITH_INFO
		    ? cnd_od_notices(q->s, SQL_HANDLE_STMT, q->stmt->handle)
		    : CENOTE_OK;
	return r < 0 ? r : 1;
}

static int
send_done(const struct request *q, int64_t n, uint8_t flags)
{
	const struct cnd_od_scan *scan = &q->stmt->scan;
	int is_counted = (scan->flags & (CND_OD_VERB_ROWS | CND_OD_VERB_DML)) != 0;
	char tag[CND_OD_TAG_MAX + 24];
	struct cnp_done done = { .affected = -1, .flags = flags };

	if (is_counted && n >= 0 && scan->tag[0])
		(void)snprintf(tag, sizeof(tag), "%s %lld", scan->tag, (long long)n);
	else
		(void)snprintf(tag, sizeof(tag), "%s", scan->tag);
	/* a SELECT without columns has stored its rows (SELECT INTO), so the count is of changed rows */
	if (scan->flags & CND_OD_VERB_DML || (is_counted && q->stmt->columns.n == 0))
		done.affected = n;
	done.tag = cnp_str(tag);
	return q->sink->ops->done(q->sink, &done);
}

/* When a text has several statements, the driver does not tell which statement a result belongs to. */
static void
forget_verb(struct request *q)
{
	q->stmt->scan.flags = CND_OD_VERB_DML;
	q->stmt->scan.tag[0] = '\0';
}

/*
 * End this result, which read or changed `n` rows. CENOTE_OK: another result follows. CENOTE_DONE: that was
 * the last one. If a later statement failed, its error follows this result.
 */
static int
end_result(struct request *q, int64_t n, uint8_t flags)
{
	int more = move_on(q), has_output = more == 0 && cnd_od_has_output(q->stmt);
	int r;

	if (more != 0 || has_output)
		flags |= CNP_DONE_MORE_RESULTS;
	if (more == CENOTE_ERR_CONN)
		return more;
	r = send_done(q, n, flags);
	if (r < 0)
		return r;
	if (more > 0) {
		forget_verb(q);
		return CENOTE_OK;
	}
	if (has_output)
		r = cnd_od_put_output(q->s, q->stmt, q->format, q->sink);
	if (r < 0 || more < 0)
		return r < 0 ? r : more;
	return CENOTE_DONE;
}

/* ---- rows ---- */

static int
send_columns(struct request *q)
{
	struct cnd_od_stmt *st = q->stmt;
	uint64_t hash;
	int known, r = cnd_od_columns_format(q->s, st, q->format, q->formats);

	if (r < 0)
		return r;
	hash = cnd_od_columns_hash(st);
	known = q->columns_known && q->named && q->named->sent == hash;
	if (q->named)
		q->named->sent = hash;
	/* the client keeps the columns of the first result only */
	q->named = NULL;
	return q->sink->ops->columns(q->sink, st->columns.columns, st->columns.n, known);
}

static int
look(const struct request *q)
{
	struct cnd_session *s = q->s;

	if (s->stop == 0 && q->n_rows % LOOK_ROWS == 0) {
		s->stop = s->host->interrupted(s->host, s->diag);
		if (s->stop > 0)
			s->stop = 0;
	}
	return s->stop;
}

static int
fetch_row(const struct request *q)
{
	SQLRETURN rc;

	cnd_od_call_begin(q->s, q->stmt->handle);
	rc = SQLFetch(q->stmt->handle);
	cnd_od_call_end(q->s);
	if (rc == SQL_NO_DATA)
		return CENOTE_DONE;
	return CND_OD_OK(rc) ? CENOTE_OK : fail_stmt(q);
}

/* Returns what row_done() said about the last row sent. CENOTE_OK: there are no more rows. */
static int
send_rows(struct request *q)
{
	int r;

	for (;;) {
		r = look(q);
		if (r < 0)
			return r;
		r = fetch_row(q);
		if (r != CENOTE_OK)
			return r == CENOTE_DONE ? CENOTE_OK : r;
		r = cnd_od_put_row(q->s, q->stmt, q->sink->batch);
		if (r < 0)
			return r;
		q->n_rows++;
		r = q->sink->ops->row_done(q->sink);
		if (r != CENOTE_OK)
			return r;
	}
}

static int
keep_portal(struct request *q)
{
	struct cnd_od_portal *p = cnc_calloc(q->s->mem, 1, sizeof(*p));

	if (!p)
		return CENOTE_ERR_NOMEM;
	p->stmt = q->stmt;
	p->n_rows = q->n_rows;
	q->portal->own = p;
	q->stmt = NULL;
	return cnd_done(q->sink, "", CNP_DONE_MORE_ROWS);
}

/* Send the rows of the open result, and end it. Returns what end_result() does, or CENOTE_AGAIN: a portal is
 * open. */
static int
serve_rows(struct request *q)
{
	int r = send_rows(q);

	if (r == CENOTE_AGAIN) {
		r = keep_portal(q);
		return r < 0 ? r : CENOTE_AGAIN;
	}
	if (r < 0)
		return r;
	return end_result(q, (int64_t)q->n_rows, r == CENOTE_DONE ? CNP_DONE_LIMITED : 0);
}

static int
serve_count(struct request *q)
{
	SQLLEN n = -1;

	if (!CND_OD_OK(SQLRowCount(q->stmt->handle, &n)))
		n = -1;
	return end_result(q, (int64_t)n, 0);
}

/* Send the open result and all results after it. */
static int
serve(struct request *q)
{
	int r;

	do {
		q->n_rows = 0;
		r = cnd_od_columns(q->s, q->stmt);
		if (r == CENOTE_OK && q->stmt->columns.n > 0) {
			r = send_columns(q);
			cnd_od_columns_bind(q->s, q->stmt);
			if (r == CENOTE_OK)
				r = serve_rows(q);
		} else if (r == CENOTE_OK) {
			r = serve_count(q);
		}
	} while (r == CENOTE_OK);
	return r < 0 ? r : CENOTE_OK;
}

/* ---- execution ---- */

/* Some drivers read all rows at once. Without a limit, that would be the whole table. */
static void
limit_rows(struct request *q, uint64_t max_rows)
{
	SQLULEN n = (SQLULEN)max_rows;

	if (!(q->stmt->scan.flags & CND_OD_VERB_ROWS) || q->stmt->max_rows == max_rows)
		return;
	if (CND_OD_OK(SQLSetStmtAttr(
		    q->stmt->handle, SQL_ATTR_MAX_ROWS, (SQLPOINTER)n, SQL_IS_UINTEGER)))
		q->stmt->max_rows = max_rows;
}

/* Run `sql`, or the prepared statement if `sql` is NULL. */
static int
carry_out(struct request *q, const struct cnd_od_text *sql)
{
	SQLHSTMT handle = q->stmt->handle;
	SQLRETURN rc;

	q->stmt->is_open = 1;
	cnd_od_call_begin(q->s, handle);
	if (!sql)
		rc = SQLExecute(handle);
	else if (q->s->is_wide)
		rc = SQLExecDirectW(handle, sql->p, (SQLINTEGER)sql->n);
	else
		rc = SQLExecDirect(handle, sql->p, (SQLINTEGER)sql->n);
	if (rc == SQL_NEED_DATA)
		rc = cnd_od_send_data(q->stmt);
	cnd_od_call_end(q->s);
	if (rc == SQL_SUCCESS_WITH_INFO)
		return cnd_od_notices(q->s, SQL_HANDLE_STMT, handle);
	/* NO_DATA: an UPDATE or DELETE that found no row */
	return rc == SQL_SUCCESS || rc == SQL_NO_DATA ? CENOTE_OK : fail_stmt(q);
}

static int
run(struct request *q, const struct cnd_od_text *sql, uint64_t max_rows)
{
	struct cnd_od_scan scan = q->stmt->scan;
	int r;

	q->s->is_used = 1;
	limit_rows(q, max_rows);
	r = carry_out(q, sql);
	cnd_od_after_statement(q->s, &scan, r < 0);
	if (r == CENOTE_OK)
		r = serve(q);
	if (q->stmt)
		q->stmt->scan = scan;
	give_back(q);
	return r;
}

static int
run_direct(struct request *q, const char *sql, size_t len, const struct cnd_exec *exec)
{
	struct cnd_od_text text;
	int r = cnd_od_text_make(q->s, sql, len, &text);

	if (r == CENOTE_ERR_CONVERT)
		r = cnd_refuse(q->s->diag, CNC_SQLSTATE(BAD_CAST), NULL,
			"the statement is not UTF-8");
	if (r < 0) {
		give_back(q);
		return r;
	}
	r = run(q, &text, exec->max_rows);
	cnd_od_text_finish(q->s, &text);
	return r;
}

static int
run_prepared(struct request *q, const struct cnd_exec *exec)
{
	const struct cnd_od_named *n = q->named != NULL ? q->named->own : NULL;
	int r = cnd_od_bind(q->s, q->stmt, exec, n != NULL ? n->longs : NULL);

	if (r < 0) {
		give_back(q);
		return r;
	}
	return run(q, NULL, exec->max_rows);
}

static int
start(struct request *q, struct cnd_session *s, const struct cnd_exec *exec,
	struct cnd_sink *sink)
{
	int r = cnd_od_enter(s, sink->diag, sink);

	*q = (struct request){ .s = s,
		.sink = sink,
		.portal = exec->portal,
		.batch_rows = exec->batch_rows,
		.format = exec->format,
		.formats = exec->formats,
		.columns_known = exec->columns_known };
	if (r < 0)
		return r;
	return exec->format == CENOTE_FORMAT_BINARY ? CENOTE_ERR_UNSUPPORTED : CENOTE_OK;
}

/* Answer a statement that needs no server. CENOTE_DONE: it was answered. */
static int
answer_here(const struct request *q, const struct cnd_od_scan *scan)
{
	int r;

	if (scan->is_empty)
		r = cnd_done(q->sink, "", CNP_DONE_EMPTY);
	else
		r = cnd_od_tx_statement(q->s, scan);
	if (r == CENOTE_DONE)
		r = cnd_done(q->sink, scan->tag, 0);
	else if (r == CENOTE_OK && !scan->is_empty)
		return CENOTE_OK;
	return r < 0 ? r : CENOTE_DONE;
}

static int
query(struct request *q, const char *sql, size_t len, const struct cnd_exec *exec)
{
	struct cnd_od_scan scan;
	int has_result, r;

	r = cnd_od_check_refusals(q->s, sql, len);
	if (r < 0)
		return r;
	cnd_od_scan(sql, len, &scan);
	r = answer_here(q, &scan);
	if (r != CENOTE_OK)
		return r < 0 ? r : CENOTE_OK;
	r = cnd_od_stmt_take(q->s, &q->stmt);
	if (r < 0)
		return r;
	q->stmt->scan = scan;
	if (exec->n_params == 0 && cnd_od_called(sql, len, &has_result).n == 0)
		return run_direct(q, sql, len, exec);
	r = cnd_od_stmt_prepare(q->s, q->stmt, sql, len);
	if (r < 0) {
		give_back(q);
		return r;
	}
	return run_prepared(q, exec);
}

int
cnd_od_query(struct cnd_session *s, const char *sql, size_t len,
	const struct cnd_exec *exec, struct cnd_sink *sink)
{
	struct request q;
	int r = start(&q, s, exec, sink);

	if (r < 0)
		return r;
	if (memchr(sql, 0, len))
		return cnd_refuse(s->diag, CNC_SQLSTATE(SYNTAX), NULL,
			"zero byte in the statement");
	q.columns_known = 0;
	return query(&q, sql, len, exec);
}

int
cnd_od_execute(struct cnd_session *s, const struct cnd_named *which,
	const struct cnd_exec *exec, struct cnd_sink *sink)
{
	struct cnd_statement *statement = which->statement;
	struct cnd_od_scan scan;
	struct request q;
	int r = start(&q, s, exec, sink);

	if (r < 0)
		return r;
	cnd_od_scan(statement->sql, statement->len, &scan);
	r = answer_here(&q, &scan);
	if (r != CENOTE_OK)
		return r < 0 ? r : CENOTE_OK;
	r = cnd_od_named_take(s, statement, &q.stmt);
	if (r < 0)
		return r;
	q.named = statement;
	r = run_prepared(&q, exec);
	cnd_od_drop_longs(s, statement->own);
	return r;
}

/* ---- portals ---- */

int
cnd_od_fetch(struct cnd_session *s, struct cnd_portal *portal, uint32_t batch_rows,
	int wants_columns, struct cnd_sink *sink)
{
	struct cnd_exec exec = { .portal = portal, .batch_rows = batch_rows };
	struct cnd_od_portal *p = portal->own;
	struct request q;
	int r = start(&q, s, &exec, sink);

	if (r < 0)
		return r;
	portal->own = NULL;
	q.stmt = p->stmt;
	q.n_rows = p->n_rows;
	cnc_free(s->mem, p);
	q.format = q.stmt->columns.columns[0].format;
	r = sink->ops->columns(
		sink, q.stmt->columns.columns, q.stmt->columns.n, !wants_columns);
	if (r == CENOTE_OK)
		r = serve_rows(&q);
	if (r == CENOTE_OK)
		r = serve(&q);
	give_back(&q);
	return r < 0 ? r : CENOTE_OK;
}

void
cnd_od_close_portal(struct cnd_session *s, struct cnd_portal *portal)
{
	struct cnd_od_portal *p = portal->own;

	portal->own = NULL;
	cnd_od_stmt_give(s, p->stmt);
	cnc_free(s->mem, p);
}

void
cnd_od_close_portals(struct cnd_session *s)
{
	const struct cnd_statements *t = s->host->statements;

	for (size_t i = 0; i < t->n_portals; i++) {
		if (t->portals[i]->own != NULL)
			cnd_od_close_portal(s, t->portals[i]);
	}
}
