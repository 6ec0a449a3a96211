/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queries and prepared statements: look at the text, put the values in, run it, and find out what
 * it did to the transaction. It owns the backend's part of a prepared statement.
 */
#include <string.h>

#include "tds.h"

/* ---- running ---- */

static int
wants_binary(const struct cnd_exec *exec)
{
	return exec->format == CENOTE_FORMAT_BINARY ||
	       (exec->formats.n > 0 &&
		       memchr(exec->formats.p, CENOTE_FORMAT_BINARY, exec->formats.n));
}

/* Whether the transaction may be in another state now. */
static int
may_have_changed_tx(const struct cnd_session *s, const struct cnd_tds_scan *scan, int r)
{
	if (s->is_lost || (r < 0 && r != CENOTE_ERR_SERVER))
		return 0;
	return scan->notes & CND_TDS_NOTE_TX || (s->is_chained && !s->tx) ||
	       (r < 0 && s->tx != CENOTE_TX_IDLE);
}

/* Run a statement with its values. */
static int
run_bound(struct cnd_tds_run *q, const char *sql, size_t len,
	const struct cnd_tds_scan *scan)
{
	struct cnd_session *s = q->s;
	struct cnc_buf b;
	int r;

	if (wants_binary(q->exec))
		return cnd_refuse(s->diag, CNC_SQLSTATE(UNSUPPORTED), NULL,
			"values in binary form are not to be had from this server");
	cnc_buf_init(&b, s->mem, CND_TDS_SQL_MAX);
	r = cnd_tds_bound(s, &b, sql, len, scan, q->exec->params, q->exec->n_params);
	q->has_output = scan->notes & CND_TDS_NOTE_OUTPUT && q->exec->n_params > 0;
	if (r == CENOTE_OK)
		r = cnd_tds_run(q, (const char *)cnc_buf_head(&b), cnc_buf_len(&b));
	cnc_buf_finish(&b);
	return r;
}

static int
run_text(struct cnd_tds_run *q, const char *sql, size_t len,
	const struct cnd_tds_scan *scan)
{
	struct cnd_session *s = q->s;
	int r;

	s->pins |= scan->pins;
	/* while the result is open, nobody can ask for the state of the transaction */
	q->may_pause =
		q->exec->batch_rows > 0 && !may_have_changed_tx(s, scan, CENOTE_OK);
	q->only_reads = (scan->notes & CND_TDS_NOTE_ROWS) != 0;
	r = cnd_tds_is_copy(sql, len) ? cnd_tds_copy(s, sql, len, q->exec, q->sink)
				      : run_bound(q, sql, len, scan);
	if (r == CENOTE_AGAIN)
		return CENOTE_OK;
	return may_have_changed_tx(s, scan, r) ? cnd_tds_look_at_tx(s, r) : r;
}

int
cnd_tds_query(struct cnd_session *s, const char *sql, size_t len,
	const struct cnd_exec *exec, struct cnd_sink *sink)
{
	struct cnd_tds_run q = { .s = s, .exec = exec, .sink = sink };
	struct cnd_tds_scan scan;
	int r = cnd_tds_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	cnd_tds_scan(sql, len, &scan);
	if (scan.notes & CND_TDS_NOTE_EMPTY)
		return cnd_done(sink, "", CNP_DONE_EMPTY);
	return run_text(&q, sql, len, &scan);
}

/* ---- prepared statements ---- */

/*
 * The server compiles a statement with its first values, and later recognises it by its text. So a
 * statement prepared here is only what the scan of its text found. Its columns are asked for only
 * if that runs nothing.
 */
void
cnd_tds_forget(struct cnd_session *s, struct cnd_statement *statement)
{
	cnc_free(s->mem, statement->own);
	statement->own = NULL;
}

/* The server does not tell which types it expects. */
static int
send_params(struct cnd_session *s, uint32_t n, struct cnd_sink *sink)
{
	struct cnp_param *params = cnd_params_make(s->mem, n);

	return cnd_params_send(sink, s->mem, params, n, CENOTE_OK);
}

/* Switch FMTONLY off after an error, which ended the batch before its own "set fmtonly off". */
static int
leave_fmtonly(struct cnd_session *s)
{
	struct cnd_tds_aside aside;
	int r;

	cnd_tds_aside_begin(s, &aside, s->stop < 0);
	r = cnd_tds_do(s, "set fmtonly off");
	cnd_tds_aside_end(s, &aside);
	if (r < 0)
		s->is_lost = 1;
	return r;
}

/* The columns of a statement that only reads: the server compiles it, and runs nothing. */
static int
send_columns(struct cnd_session *s, struct cnp_str sql, const struct cnd_tds_scan *scan,
	struct cnd_sink *sink)
{
	static const char on[] = "set fmtonly on ", off[] = "\nset fmtonly off";
	static const struct cnd_exec plain = { .format = CENOTE_FORMAT_TEXT };
	struct cnd_tds_run q = {
		.s = s, .exec = &plain, .sink = sink, .is_describing = 1
	};
	struct cnc_buf b;
	int r;

	cnc_buf_init(&b, s->mem, CND_TDS_SQL_MAX);
	r = cnc_buf_append(&b, on, sizeof(on) - 1);
	if (r == CENOTE_OK)
		r = cnd_tds_unbound(&b, sql.p, sql.n);
	if (r == CENOTE_OK)
		r = cnc_buf_append(&b, off, sizeof(off) - 1);
	if (r == CENOTE_OK)
		r = cnd_tds_run(&q, (const char *)cnc_buf_head(&b), cnc_buf_len(&b));
	cnc_buf_finish(&b);
	if (r != CENOTE_ERR_SERVER)
		return r;
	if (leave_fmtonly(s) < 0)
		return CENOTE_ERR_CONN;
	/* with values in place of NULL the statement may be right: TOP (?) */
	return scan->n_params > 0 ? cnd_done(sink, "", 0) : r;
}

static int
send_description(struct cnd_session *s, struct cnp_str sql,
	const struct cnd_tds_scan *scan, struct cnd_sink *sink)
{
	int r = send_params(s, scan->n_params, sink);

	if (r < 0)
		return r;
	return scan->notes & CND_TDS_NOTE_ROWS ? send_columns(s, sql, scan, sink)
					       : cnd_done(sink, "", 0);
}

int
cnd_tds_prepare(
	struct cnd_session *s, const struct cnd_prepare *prepare, struct cnd_sink *sink)
{
	struct cnd_tds_scan *scan;
	int r = cnd_tds_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	cnd_tds_forget(s, prepare->statement);
	scan = cnc_calloc(s->mem, 1, sizeof(*scan));
	if (scan == NULL)
		return CENOTE_ERR_NOMEM;
	cnd_tds_scan(prepare->sql.p, prepare->sql.n, scan);
	prepare->statement->own = scan;
	r = send_description(s, prepare->sql, scan, sink);
	if (r < 0)
		cnd_tds_forget(s, prepare->statement);
	return r;
}

int
cnd_tds_describe(
	struct cnd_session *s, const struct cnd_named *which, struct cnd_sink *sink)
{
	const struct cnd_statement *st = which->statement;
	int r = cnd_tds_enter(s, sink->diag, sink);

	return r < 0 ? r
		     : send_description(
			       s, (struct cnp_str){ st->sql, st->len }, st->own, sink);
}

int
cnd_tds_execute(struct cnd_session *s, const struct cnd_named *which,
	const struct cnd_exec *exec, struct cnd_sink *sink)
{
	struct cnd_tds_run q = { .s = s, .exec = exec, .sink = sink };
	const struct cnd_statement *st = which->statement;
	const struct cnd_tds_scan *scan = st->own;
	int r = cnd_tds_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	return scan->notes & CND_TDS_NOTE_EMPTY ? cnd_done(sink, "", CNP_DONE_EMPTY)
						: run_text(&q, st->sql, st->len, scan);
}
