/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "tds.h"

/*
 * The server compiles a statement with its first values, and knows it again by its text: what is prepared here
 * is the text alone, and its columns are asked for where that runs nothing.
 */
struct cnd_tds_stmt {
	struct cnd_tds_stmt *next;
	uint32_t number;
	char *sql;
	size_t len;
	struct cnd_tds_scan scan;
};

/* ---- running ---- */

static int
wants_binary(const struct cnd_exec *exec)
{
	return exec->format == CENOTE_FORMAT_BINARY ||
	       (exec->formats.n > 0 &&
		       memchr(exec->formats.p, CENOTE_FORMAT_BINARY, exec->formats.n));
}

static int
answer_empty(struct cnd_sink *sink)
{
	struct cnp_done done = {
		.tag = CNP_STR_NONE, .affected = -1, .flags = CNP_DONE_EMPTY
	};

	return sink->ops->done(sink, &done);
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

int
cnd_tds_look_at_tx(struct cnd_session *s, int r)
{
	struct cnd_tds_aside aside;
	int t;

	cnd_tds_aside_begin(s, &aside, s->stop < 0);
	t = cnd_tds_refresh_tx(s);
	if (t < 0 && r >= 0)
		cnc_diag_copy(aside.diag, &aside.own);
	cnd_tds_aside_end(s, &aside);
	return r < 0 ? r : t;
}

/* With its values. */
static int
run_bound(struct cnd_tds_run *q, const char *sql, size_t len,
	const struct cnd_tds_scan *scan)
{
	struct cnd_session *s = q->s;
	struct cnc_buf b;
	int r;

	if (wants_binary(q->exec))
		return cnd_tds_refuse(s, CNC_SQLSTATE(UNSUPPORTED), NULL,
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
	/* while it is open nobody can ask for the state of the transaction */
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
		return answer_empty(sink);
	return run_text(&q, sql, len, &scan);
}

/* ---- prepared statements ---- */

static struct cnd_tds_stmt **
find_stmt(struct cnd_session *s, uint32_t number)
{
	struct cnd_tds_stmt **at = &s->stmts;

	while (*at && (*at)->number != number)
		at = &(*at)->next;
	return at;
}

static void
free_stmt(struct cnd_session *s, struct cnd_tds_stmt *st)
{
	cnc_free(s->mem, st->sql);
	cnc_free(s->mem, st);
}

static void
drop_stmt(struct cnd_session *s, uint32_t number)
{
	struct cnd_tds_stmt **at = find_stmt(s, number), *st = *at;

	if (!st)
		return;
	*at = st->next;
	free_stmt(s, st);
}

void
cnd_tds_close_all(struct cnd_session *s)
{
	while (s->stmts)
		drop_stmt(s, s->stmts->number);
}

static int
keep_stmt(struct cnd_session *s, const struct cnd_prepare *prepare,
	struct cnd_tds_stmt **ret_stmt)
{
	struct cnd_tds_stmt *st = cnc_calloc(s->mem, 1, sizeof(*st));

	if (!st)
		return CENOTE_ERR_NOMEM;
	st->sql = cnc_strndup(s->mem, prepare->sql.p, prepare->sql.n);
	if (!st->sql) {
		cnc_free(s->mem, st);
		return CENOTE_ERR_NOMEM;
	}
	st->len = prepare->sql.n;
	st->number = prepare->statement;
	cnd_tds_scan(st->sql, st->len, &st->scan);
	drop_stmt(s, st->number);
	st->next = s->stmts;
	s->stmts = st;
	*ret_stmt = st;
	return CENOTE_OK;
}

static int
no_stmt(struct cnd_session *s, const struct cnd_named *which)
{
	if (which->number == 0)
		return cnd_tds_refuse(s, CNC_SQLSTATE(NO_STATEMENT), NULL,
			"this server's statements have no names");
	return cnd_tds_refuse(s, CNC_SQLSTATE(NO_STATEMENT), NULL,
		"there is no prepared statement %u", (unsigned)which->number);
}

static int
send_params(struct cnd_session *s, const struct cnd_tds_stmt *st, struct cnd_sink *sink)
{
	uint32_t n = st->scan.n_params;
	struct cnp_param *params =
		cnc_arena_alloc(&s->arena, ((size_t)n + 1) * sizeof(*params));

	if (!params)
		return CENOTE_ERR_NOMEM;
	/* what the server would take is not known before it has a value */
	for (uint32_t i = 0; i < n; i++)
		params[i] = (struct cnp_param){ CENOTE_TYPE_NULL, 0, CNP_STR_NONE };
	return sink->ops->params(sink, params, n);
}

static int
send_nothing(struct cnd_sink *sink)
{
	struct cnp_done done = { .tag = CNP_STR_NONE, .affected = -1 };

	return sink->ops->done(sink, &done);
}

/* An error ends the batch before it said so. */
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
send_columns(struct cnd_session *s, const struct cnd_tds_stmt *st, struct cnd_sink *sink)
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
		r = cnd_tds_unbound(&b, st->sql, st->len);
	if (r == CENOTE_OK)
		r = cnc_buf_append(&b, off, sizeof(off) - 1);
	if (r == CENOTE_OK)
		r = cnd_tds_run(&q, (const char *)cnc_buf_head(&b), cnc_buf_len(&b));
	cnc_buf_finish(&b);
	if (r != CENOTE_ERR_SERVER)
		return r;
	if (leave_fmtonly(s) < 0)
		return CENOTE_ERR_CONN;
	/* with values in the place of NULL it may be right: TOP (?) */
	return st->scan.n_params > 0 ? send_nothing(sink) : r;
}

static int
send_description(
	struct cnd_session *s, const struct cnd_tds_stmt *st, struct cnd_sink *sink)
{
	int r = send_params(s, st, sink);

	if (r < 0)
		return r;
	if (st->scan.notes & CND_TDS_NOTE_ROWS)
		return send_columns(s, st, sink);
	return send_nothing(sink);
}

int
cnd_tds_prepare(
	struct cnd_session *s, const struct cnd_prepare *prepare, struct cnd_sink *sink)
{
	struct cnd_tds_stmt *st;
	int r = cnd_tds_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	if (prepare->statement == 0)
		return cnd_tds_refuse(s, CNC_SQLSTATE(UNSUPPORTED), NULL,
			"this server's statements have no names");
	r = keep_stmt(s, prepare, &st);
	if (r == CENOTE_OK)
		r = send_description(s, st, sink);
	if (r < 0)
		drop_stmt(s, prepare->statement);
	return r;
}

int
cnd_tds_describe(struct cnd_session *s, const struct cnd_named *which, uint8_t kind,
	struct cnd_sink *sink)
{
	struct cnd_tds_stmt **at = which->number ? find_stmt(s, which->number) : NULL;
	int r = cnd_tds_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	if (kind != CNP_NAMED_STATEMENT)
		return CENOTE_ERR_UNSUPPORTED;
	return at && *at ? send_description(s, *at, sink) : no_stmt(s, which);
}

int
cnd_tds_execute(struct cnd_session *s, const struct cnd_named *which,
	const struct cnd_exec *exec, struct cnd_sink *sink)
{
	struct cnd_tds_run q = { .s = s, .exec = exec, .sink = sink };
	struct cnd_tds_stmt **at = which->number ? find_stmt(s, which->number) : NULL;
	int r = cnd_tds_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	if (!at || !*at)
		return no_stmt(s, which);
	if ((*at)->scan.notes & CND_TDS_NOTE_EMPTY)
		return answer_empty(sink);
	return run_text(&q, (*at)->sql, (*at)->len, &(*at)->scan);
}

int
cnd_tds_close(struct cnd_session *s, const struct cnd_named *which, uint8_t kind,
	struct cnd_sink *sink)
{
	struct cnp_done done = { .tag = cnp_str("CLOSE"), .affected = -1 };
	int r = cnd_tds_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	if (which->number != 0 && kind == CNP_NAMED_STATEMENT)
		drop_stmt(s, which->number);
	return sink->ops->done(sink, &done);
}
