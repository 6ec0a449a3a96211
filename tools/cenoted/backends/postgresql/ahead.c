/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests of a unit that are sent to the server together, with one Sync or Flush after the last one. The server then
 * answers with one write, and needs no switch to the worker and back for each request. Two kinds of requests are not
 * sent this way: requests that depend on an earlier answer (portals, a BEGIN of our own, columns that are asked for
 * first), and copies, during which the server does not read further requests.
 */
#include "session.h"

/* This many bytes fit into the socket, even while the server is busy with its answers. */
#define BYTES_MAX 32768u

/* ---- which requests can be sent together ---- */

static int
can_begin(const struct cnd_session *s)
{
	return !s->is_lost && !s->client.is_manual &&
	       !cnd_has_portals(s->host->statements) && s->spent.portal == 0 &&
	       !s->spent.has_unnamed && cnc_buf_len(&s->due.buf) == 0 &&
	       !s->sync.is_skipping && !s->sync.is_owed && s->sync.n_ready == 0;
}

static int
has_room(const struct cnd_session *s)
{
	return s->ahead.n < CND_PG_AHEAD_MAX && !s->ahead.has_sync;
}

static int
has_zero(struct cnp_str text)
{
	return text.n > 0 && memchr(text.p, 0, text.n) != NULL;
}

static int
is_whole(const struct cnd_session *s, const struct cnd_exec *exec)
{
	return exec->batch_rows == 0 && exec->max_rows == 0 && exec->formats.n == 0 &&
	       !cnd_pg_needs_columns_first(s, exec);
}

/* Add Bind, Describe if the columns are not known, and Execute. */
static int
add_run(struct cnd_session *s, struct cnp_str name, const struct cnd_pg_stmt *st,
	const struct cnd_exec *exec)
{
	int r = cnd_pg_add_bind(s, name.p, name.n, st, exec);

	if (r == CENOTE_OK && (st == NULL || !st->is_stable))
		r = cnd_pg_add_named(&s->out.buf, 'D', 'P', "", 0);
	return r < 0 ? r : cnd_pg_add_execute(&s->out.buf, "", 0);
}

static int
add_query(struct cnd_session *s, const struct cnd_ahead *what)
{
	struct cnd_pg_scan scan;
	int r;

	if (has_zero(what->sql) || !is_whole(s, what->exec))
		return CENOTE_AGAIN;
	cnd_pg_memo_scan(&s->memo, what->sql.p, what->sql.n, &s->facts, &scan);
	if (cnd_pg_strict_advice(s, &scan) != NULL ||
		(scan.flags & (CND_PG_SCAN_COPY | CND_PG_SCAN_SEVERAL)) ||
		(what->exec->is_simple && what->exec->is_sync) ||
		(!cnd_pg_is_native(what->exec) && scan.n_params != what->exec->n_params))
		return CENOTE_AGAIN;
	r = cnd_pg_add_parse(s, what->sql.p, what->sql.n, what->exec);
	if (r == CENOTE_OK)
		r = add_run(s, CNP_STR_NONE, NULL, what->exec);
	if (r < 0)
		return r;
	s->client.holds_unnamed = 0;
	cnd_pg_note(s, &scan, 0);
	return CENOTE_OK;
}

static int
add_numbered(struct cnd_session *s, const struct cnd_ahead *what,
	struct cnd_pg_ahead *ret_ahead)
{
	struct cnd_pg_stmt *st = what->which->statement->own;
	int r;

	if ((st->scan.flags & CND_PG_SCAN_COPY) || what->exec->n_params != st->n_params)
		return CENOTE_AGAIN;
	ret_ahead->stmt = st;
	r = add_run(s, cnp_str(st->name), st, what->exec);
	if (r == CENOTE_OK)
		cnd_pg_note(s, &st->scan, 0);
	return r;
}

static int
add_execute(struct cnd_session *s, const struct cnd_ahead *what,
	struct cnd_pg_ahead *ret_ahead)
{
	struct cnd_pg_scan scan;
	int r;

	if (!is_whole(s, what->exec))
		return CENOTE_AGAIN;
	if (what->which->statement != NULL)
		return add_numbered(s, what, ret_ahead);
	if (s->client.may_copy || has_zero(what->which->name))
		return CENOTE_AGAIN;
	scan = *cnd_pg_known_find(s, what->which->name);
	r = add_run(s, what->which->name, NULL, what->exec);
	if (r == CENOTE_OK)
		cnd_pg_note(s, &scan, 0);
	return r;
}

static int
add_prepare(struct cnd_session *s, const struct cnd_prepare *p)
{
	struct cnd_pg_scan scan;
	int r;

	if (has_zero(p->sql) || has_zero(p->name))
		return CENOTE_AGAIN;
	cnd_pg_memo_scan(&s->memo, p->sql.p, p->sql.n, &s->facts, &scan);
	if ((scan.flags & CND_PG_SCAN_COPY) || cnd_pg_strict_advice(s, &scan) != NULL)
		return CENOTE_AGAIN;
	/* the server may refuse it, since there is one of that name */
	cnd_pg_known_forget(s);
	r = cnd_pg_add_prepare(s, p, p->name.p, p->name.n, NULL);
	if (r == CENOTE_OK)
		cnd_pg_note_prepared(s, &scan, p->name);
	return r;
}

static int
add_about(struct cnd_session *s, const struct cnd_ahead *what, char message)
{
	const struct cnp_str name = what->which->name;

	if (has_zero(name))
		return CENOTE_AGAIN;
	if (message == 'C') {
		cnd_pg_known_forget(s);
		cnd_pg_settings_doubt(s);
	}
	return cnd_pg_add_named(&s->out.buf, message,
		what->which->kind == CNP_NAMED_PORTAL ? 'P' : 'S', name.p, name.n);
}

static int
add(struct cnd_session *s, const struct cnd_ahead *what, struct cnd_pg_ahead *ret_ahead)
{
	switch (what->code) {
	case CNP_MSG_QUERY:
		return add_query(s, what);
	case CNP_MSG_EXECUTE:
		return add_execute(s, what, ret_ahead);
	case CNP_MSG_PREPARE:
		return add_prepare(s, what->prepare);
	case CNP_MSG_DESCRIBE:
		return add_about(s, what, 'D');
	case CNP_MSG_CLOSE:
		return add_about(s, what, 'C');
	case CNP_MSG_SYNC:
		return CENOTE_OK;
	default:
		return CENOTE_AGAIN;
	}
}

static int
try_add(struct cnd_session *s, const struct cnd_ahead *what, struct cnd_pg_ahead *a)
{
	size_t len = cnc_buf_len(&s->out.buf);
	struct cnc_diag *diag = s->diag;
	struct cnc_diag unused;
	int r;

	/* A request that fails here runs in its turn, and reports its error then. */
	cnc_diag_init(&unused, NULL);
	s->diag = &unused;
	r = add(s, what, a);
	if (r == CENOTE_OK && a->is_sync)
		r = cnd_pg_add_plain(&s->out.buf, 'S');
	if (s->ahead.n > 0 && cnc_buf_len(&s->out.buf) > BYTES_MAX)
		r = CENOTE_AGAIN;
	s->diag = diag;
	cnc_diag_finish(&unused);
	if (r != CENOTE_OK)
		cnc_buf_truncate(&s->out.buf, len);
	return r;
}

static int
ahead(struct cnd_session *s, const struct cnd_ahead *what)
{
	struct cnd_pg_ahead a = { .code = what->code,
		.kind = what->which->kind,
		.format = what->exec->format,
		.is_known = what->exec->columns_known,
		.is_sync = what->is_sync };

	if (s->ahead.n == 0) {
		if (!can_begin(s) || what->code == CNP_MSG_SYNC)
			return CENOTE_AGAIN;
		if (s->out.buf.mem == NULL && cnd_pg_enter(s, s->diag) < 0)
			return CENOTE_AGAIN;
		cnc_buf_clear(&s->out.buf, SIZE_MAX);
		s->out.n_ready = s->out.n_before = s->out.is_unsynced = 0;
		s->ahead.has_standard_strings = s->facts.has_standard_strings;
	}
	if (!has_room(s) || try_add(s, what, &a) != CENOTE_OK)
		return CENOTE_AGAIN;
	s->out.is_unsynced = 1;
	if (a.is_sync) {
		s->out.n_ready++;
		s->ahead.has_sync = 1;
	}
	if (what->code != CNP_MSG_SYNC)
		s->ahead.list[s->ahead.n++] = a;
	return CENOTE_OK;
}

int
cnd_pg_ahead(struct cnd_session *s, const struct cnd_ahead *what)
{
	static const struct cnd_exec none = { 0 };
	static const struct cnd_named nameless = { 0 };
	struct cnd_ahead all = *what;

	if (all.exec == NULL)
		all.exec = &none;
	if (all.which == NULL)
		all.which = &nameless;
	return ahead(s, &all);
}

/* ---- answers ---- */

static int
set_run(struct cnd_session *s, const struct cnd_pg_ahead *a)
{
	struct cnd_pg_run *run = &s->run;

	run->format = a->format;
	run->until_ready = a->is_sync;
	switch (a->code) {
	case CNP_MSG_PREPARE:
		run->is_describing = 1;
		run->own_tag = "PREPARE";
		return CENOTE_OK;
	case CNP_MSG_CLOSE:
		run->is_closing = 1;
		run->own_tag = "CLOSE";
		return CENOTE_OK;
	case CNP_MSG_DESCRIBE:
		run->is_describing = 1;
		run->own_tag = "DESCRIBE";
		s->params.n = 0;
		return a->kind == CNP_NAMED_PORTAL && run->sink != NULL
			       ? cnd_pg_give_params(s)
			       : CENOTE_OK;
	default:
		break;
	}
	if (a->stmt != NULL && a->stmt->is_stable) {
		run->is_cached = a->stmt->has_rows;
		run->is_known = a->is_known;
		run->desc = &a->stmt->desc;
		cnd_pg_form_known(s, run->desc, a->format);
	}
	return CENOTE_OK;
}

/* If an earlier request changed standard_conforming_strings, scan.c misread this SQL, and it may do anything. */
static void
note_again(struct cnd_session *s)
{
	static const struct cnd_pg_scan any = { .pins = CENOTE_PIN_FUNCTION,
		.flags = CND_PG_SCAN_DEFINES | CND_PG_SCAN_STAYS };

	if (s->ahead.has_standard_strings == s->facts.has_standard_strings)
		return;
	cnd_pg_note(s, &any, 0);
	cnd_pg_prepared_forget(s);
}

static int
send_all(struct cnd_session *s)
{
	int r = CENOTE_OK;

	if (cnc_buf_len(&s->out.buf) == 0)
		return CENOTE_OK;
	if (!s->ahead.has_sync)
		r = cnd_pg_add_plain(&s->out.buf, 'H');
	return r < 0 ? r : cnd_pg_send(s);
}

/* The request failed in the pool. The server does not know that, and carries out the later requests. */
static int
lose(struct cnd_session *s)
{
	return cnd_pg_lost(s, CNC_SQLSTATE(OUTCOME_UNKNOWN),
		"a request of a pipeline failed in the pool, and those behind it were "
		"with the server already: %s",
		s->diag != NULL ? s->diag->message : "");
}

int
cnd_pg_answer(struct cnd_session *s, struct cnd_sink *sink)
{
	const struct cnd_pg_ahead *a = &s->ahead.list[s->ahead.at++];
	int is_last = s->ahead.at == s->ahead.n;
	int r;

	s->diag = sink->diag;
	s->stop.status = CENOTE_OK;
	if (s->is_lost) {
		cnc_diag_copy(s->diag, &s->lost);
		return CENOTE_ERR_CONN;
	}
	note_again(s);
	(void)cnd_pg_run_begin(s, sink);
	r = set_run(s, a);
	/* Keep a failure of the sink until the answer was read. */
	s->run.status = r;
	r = send_all(s);
	if (r == CENOTE_OK)
		r = cnd_pg_run(s);
	if (r == CENOTE_OK && !is_last)
		return r;
	/* the client is gone: the reset reads the rest */
	if (r == CENOTE_ERR_CONN && !s->is_lost)
		return r;
	if (r < 0 && !is_last && !s->is_lost && !s->sync.is_skipping)
		r = lose(s);
	cnd_pg_ahead_forget(s);
	return r;
}

void
cnd_pg_ahead_drain(struct cnd_session *s)
{
	int r = CENOTE_OK;

	if (s->ahead.at < s->ahead.n && !s->sync.is_skipping)
		cnd_pg_stop(s, CENOTE_ERR_SERVER);
	/* after an error the server skips the rest */
	while (s->ahead.at < s->ahead.n && r == CENOTE_OK && !s->sync.is_skipping) {
		(void)cnd_pg_run_begin(s, NULL);
		r = set_run(s, &s->ahead.list[s->ahead.at++]);
		s->run.in_rows = 1;
		s->run.is_quiet = 1;
		if (r == CENOTE_OK)
			r = cnd_pg_run(s);
	}
}
