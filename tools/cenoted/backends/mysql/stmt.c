/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prepared statements, and cursors whose rows are fetched in batches. It owns struct cnd_my_stmt,
 * which a statement number, a cursor and the running request may share.
 */
#include <stdlib.h>
#include <string.h>

#include "my.h"
#include "values.h"

#define ASK_ROWS      64u
/* Rows that one COM_STMT_FETCH brings. The worker holds them until they are sent. */
#define PREFETCH_ROWS 256u

struct cnd_my_stmt {
	/* references: from a statement number, portals, and the running request */
	uint32_t refs;
	MYSQL_STMT *handle;
	struct cnd_my_scan scan;
	uint32_t n_params;
	uint8_t *is_long; /* parameters whose value came in pieces; NULL: none */
	uint8_t has_portal;
	uint8_t is_tableless;
	unsigned n_meanings; /* s->trace.n_meanings when it was prepared */
	uint8_t is_stale; /* the library's columns are out of date: prepare it again */
	uint64_t shape; /* hash of its columns as last seen; 0: none seen */
	void *fields; /* memory that compat.c allocated, or NULL */
};

/* A cursor of the server. */
struct cnd_my_portal {
	struct cnd_my_stmt *stmt;
	struct cnc_arena arena; /* holds the columns */
	struct cnp_column *columns;
	uint32_t n_columns;
	struct cnd_my_rows *rows;
};

/* A running execution. */
struct run {
	struct cnd_session *s;
	struct cnd_my_stmt *st;
	const char *sql; /* the statement's text */
	size_t len;
	const struct cnd_exec *exec;
	struct cnd_sink *sink;
	struct cnd_statement *named; /* NULL: prepared for this one use */
	uint8_t has_cursor;
	uint8_t is_output;
	uint8_t is_later; /* earlier results of the same execution were sent */
	uint8_t is_left_out; /* columns are not sent, because the client has them */
	uint8_t has_row;
};

static void
stmt_unref(struct cnd_session *s, struct cnd_my_stmt *st)
{
	if (!st || --st->refs > 0)
		return;
	if (st->handle)
		(void)mysql_stmt_close(st->handle);
	free(st->fields);
	cnc_free(s->mem, st->is_long);
	cnc_free(s->mem, st);
}

static int
prepare(struct cnd_session *s, MYSQL_STMT *handle, const char *sql, size_t len)
{
	int r = cnd_my_watch_begin(s);

	if (r < 0)
		return r;
	r = mysql_stmt_prepare(handle, sql, (unsigned long)len);
	cnd_my_watch_end(s);
	return r != 0 ? cnd_my_failed(s, handle) : CENOTE_OK;
}

static int
stmt_make(
	struct cnd_session *s, const char *sql, size_t len, struct cnd_my_stmt **ret_stmt)
{
	struct cnd_my_stmt *st = cnc_calloc(s->mem, 1, sizeof(*st));
	int r = CENOTE_OK;

	if (!st)
		return CENOTE_ERR_NOMEM;
	st->refs = 1;
	st->handle = mysql_stmt_init(s->my);
	if (st->handle == NULL)
		r = CENOTE_ERR_NOMEM;
	else
		r = prepare(s, st->handle, sql, len);
	if (r < 0) {
		stmt_unref(s, st);
		return r;
	}
	st->n_params = (uint32_t)mysql_stmt_param_count(st->handle);
	st->n_meanings = s->trace.n_meanings;
	*ret_stmt = st;
	return CENOTE_OK;
}

void
cnd_my_forget(struct cnd_session *s, struct cnd_statement *statement)
{
	stmt_unref(s, statement->own);
	statement->own = NULL;
}

bool
cnd_my_has_older(const struct cnd_session *s)
{
	const struct cnd_statements *all = s->host->statements;

	for (size_t i = 0; i < all->n_statements; i++) {
		const struct cnd_my_stmt *st = all->statements[i]->own;

		if (st != NULL && st->n_meanings != s->trace.n_meanings)
			return true;
	}
	return false;
}

/* ---- portals ---- */

void
cnd_my_forget_portal(struct cnd_session *s, struct cnd_portal *portal)
{
	struct cnd_my_portal *p = portal->own;

	portal->own = NULL;
	(void)mysql_stmt_free_result(p->stmt->handle);
	/* closing the cursor closes the statement on the server, which may still be needed */
	if (p->stmt->refs > 1 && !s->is_lost)
		(void)mysql_stmt_reset(p->stmt->handle);
	p->stmt->has_portal = 0;
	cnd_my_rows_free(s, p->rows);
	cnc_arena_finish(&p->arena);
	stmt_unref(s, p->stmt);
	cnc_free(s->mem, p);
}

void
cnd_my_close_portal(struct cnd_session *s, struct cnd_portal *portal)
{
	cnd_my_wait_for(s);
	cnd_my_forget_portal(s, portal);
}

/* ---- what the client knows of the columns ---- */

static uint64_t
hash_bytes(uint64_t h, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	size_t i;

	for (i = 0; i < n; i++)
		h = (h ^ p[i]) * 1099511628211u;
	return (h ^ n) * 1099511628211u;
}

/* Hash of the columns. Never 0. */
static uint64_t
hash_columns(const struct cnp_column *columns, uint32_t n)
{
	uint64_t h = 14695981039346656037u;
	uint32_t i;

	for (i = 0; i < n; i++) {
		const struct cnp_column *c = &columns[i];
		const int64_t numbers[] = { c->type, c->nullable, c->native_type,
			c->modifier, c->native_flags, c->charset, c->length, c->precision,
			c->scale };
		size_t k;

		for (k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
			h = (h ^ (uint64_t)numbers[k]) * 1099511628211u;
		h = hash_bytes(h, c->name.p, c->name.n);
		h = hash_bytes(h, c->org_name.p, c->org_name.n);
		h = hash_bytes(h, c->table.p, c->table.n);
		h = hash_bytes(h, c->org_table.p, c->org_table.n);
		h = hash_bytes(h, c->schema.p, c->schema.n);
	}
	return h ? h : 1;
}

/* Hash of the columns in the formats that the client gets. Never 0. */
static uint64_t
hash_sent(uint64_t shape, const struct cnd_exec *exec)
{
	uint64_t h = hash_bytes(shape, &exec->format, 1);

	h = hash_bytes(h, exec->formats.p, exec->formats.n);
	return h ? h : 1;
}

/* ---- running ---- */

/* CENOTE_ROW, CENOTE_OK at the end of the rows, or a failure. */
static int
put_next(struct run *q, struct cnd_my_rows *rows)
{
	struct cnd_session *s = q->s;
	int r = CENOTE_DONE, got;

	/* with a cursor, the library fetches some rows at a time and keeps them */
	if (!q->has_cursor)
		r = cnd_my_put_row_ahead(s, rows, q->sink->batch);
	if (r != CENOTE_DONE)
		return r;
	got = mysql_stmt_fetch(q->st->handle);
	if (got == MYSQL_NO_DATA) {
		cnd_my_take_end(s->my);
		return CENOTE_OK;
	}
	if (got != 0 && got != MYSQL_DATA_TRUNCATED)
		return cnd_my_failed(s, q->st->handle);
	r = cnd_my_put_row(s, rows, q->st->handle, q->sink->batch);
	return r < 0 ? r : CENOTE_ROW;
}

/* Send rows up to the end or the batch's end. CENOTE_OK: there are no more. CENOTE_AGAIN, CENOTE_DONE: returned by
 * the sink. */
static int
send_rows(struct run *q, struct cnd_my_rows *rows)
{
	struct cnd_session *s = q->s;
	uint32_t count = 0;
	int r;

	while ((r = put_next(q, rows)) == CENOTE_ROW) {
		q->has_row = 1;
		r = q->sink->ops->row_done(q->sink);
		if (r == CENOTE_AGAIN && !q->has_cursor)
			r = CENOTE_OK;
		if (r == CENOTE_OK && ++count % ASK_ROWS == 0)
			r = cnd_my_interrupted(s);
		if (r != CENOTE_OK)
			return r;
	}
	return r;
}

static int
end_result(struct run *q, int word)
{
	struct cnd_session *s = q->s;
	struct cnp_done done;

	cnd_my_done(s, &done);
	done.affected = -1;
	if (word == CENOTE_DONE)
		done.flags |= CNP_DONE_LIMITED;
	if (q->is_output || done.server_status & SERVER_PS_OUT_PARAMS)
		done.flags |= CNP_DONE_OUTPUT;
	if (word == CENOTE_AGAIN) {
		done.flags &= (uint8_t)~CNP_DONE_MORE_RESULTS;
		done.flags |= CNP_DONE_MORE_ROWS;
	}
	return q->sink->ops->done(q->sink, &done);
}

/* Copy the columns and their strings, which the library frees. */
static int
copy_columns(struct cnd_my_portal *p, const struct cnp_column *columns, uint32_t n)
{
	struct cnp_column *copy =
		cnc_arena_alloc(&p->arena, ((size_t)n + 1) * sizeof(*copy));
	uint32_t i, k;

	if (!copy)
		return CENOTE_ERR_NOMEM;
	for (i = 0; i < n; i++) {
		struct cnp_str *texts[] = { &copy[i].name, &copy[i].org_name,
			&copy[i].table, &copy[i].org_table, &copy[i].schema,
			&copy[i].catalog, &copy[i].type_name };

		copy[i] = columns[i];
		for (k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
			texts[k]->p =
				cnc_arena_strndup(&p->arena, texts[k]->p, texts[k]->n);
			if (!texts[k]->p)
				return CENOTE_ERR_NOMEM;
		}
	}
	p->columns = copy;
	p->n_columns = n;
	return CENOTE_OK;
}

static int
keep_portal(struct run *q, const struct cnp_column *columns, uint32_t n,
	struct cnd_my_portal **ret_portal)
{
	struct cnd_session *s = q->s;
	struct cnd_my_portal *p = cnc_calloc(s->mem, 1, sizeof(*p));
	int r;

	if (!p)
		return CENOTE_ERR_NOMEM;
	cnc_arena_init(&p->arena, s->mem);
	r = copy_columns(p, columns, n);
	if (r < 0) {
		cnc_arena_finish(&p->arena);
		cnc_free(s->mem, p);
		return r;
	}
	p->stmt = q->st;
	p->stmt->refs++;
	p->stmt->has_portal = 1;
	q->exec->portal->own = p;
	*ret_portal = p;
	return CENOTE_OK;
}

/* Send one result whose rows come straight from the connection. */
static int
answer_stream(struct run *q, const MYSQL_FIELD *fields, const struct cnp_column *columns,
	uint32_t n)
{
	struct cnd_my_rows *rows = NULL;
	int r = cnd_my_rows_bind(q->s, q->st->handle, fields, columns, n, &rows);

	if (r == CENOTE_OK)
		r = send_rows(q, rows);
	cnd_my_rows_free(q->s, rows);
	if (r < 0)
		return r;
	/* read and discard the rows beyond max_rows: only then is the status known */
	(void)mysql_stmt_free_result(q->st->handle);
	return end_result(q, r);
}

/* Send one result of a cursor. CENOTE_AGAIN: its portal is open. */
static int
answer_cursor(struct run *q, const MYSQL_FIELD *fields, const struct cnp_column *columns,
	uint32_t n)
{
	struct cnd_session *s = q->s;
	struct cnd_my_portal *p;
	int r = keep_portal(q, columns, n, &p), t;

	if (r < 0)
		return r;
	r = cnd_my_rows_bind(s, q->st->handle, fields, p->columns, n, &p->rows);
	if (r == CENOTE_OK)
		r = send_rows(q, p->rows);
	if (r != CENOTE_AGAIN)
		cnd_my_close_portal(s, q->exec->portal);
	if (r < 0)
		return r;
	t = end_result(q, r);
	return t < 0 ? t : r == CENOTE_AGAIN ? r : CENOTE_OK;
}

static int
send_columns(struct run *q, const struct cnp_column *columns, uint32_t n)
{
	struct cnd_my_stmt *st = q->st;
	uint64_t shape, sent;

	if (q->named == NULL)
		return q->sink->ops->columns(q->sink, columns, n, 0);
	shape = hash_columns(columns, n);
	sent = hash_sent(shape, q->exec);
	if (st->shape != 0 && st->shape != shape)
		st->is_stale = 1;
	st->shape = shape;
	shape = q->named->sent;
	q->named->sent = sent;
	q->is_left_out = q->exec->columns_known && !q->is_later && shape == sent;
	return q->sink->ops->columns(q->sink, columns, n, q->is_left_out);
}

static int
answer_rows(struct run *q)
{
	struct cnd_session *s = q->s;
	uint32_t n = mysql_stmt_field_count(q->st->handle);
	const MYSQL_FIELD *fields = cnd_my_stmt_fields(q->st->handle, s->my, n);
	struct cnp_column *columns;
	int r = cnd_my_columns(s, fields, n, q->exec, &columns);

	if (r == CENOTE_OK) {
		cnd_my_tell_more(s);
		r = send_columns(q, columns, n);
	}
	if (r < 0)
		return r;
	r = q->has_cursor ? answer_cursor(q, fields, columns, n)
			  : answer_stream(q, fields, columns, n);
	/* the client must see that the execution began before it failed */
	if (r < 0 && q->is_left_out && !q->has_row && !q->is_later)
		(void)q->sink->ops->columns(q->sink, columns, n, 0);
	return r;
}

static int
answer_ok(struct run *q)
{
	struct cnp_done done;
	int r = cnd_my_track(q->s);

	if (r < 0)
		return r;
	cnd_my_done(q->s, &done);
	return q->sink->ops->done(q->sink, &done);
}

/* Read and discard the rest of an execution. */
static void
drain(struct run *q)
{
	if (q->s->is_lost)
		return;
	(void)mysql_stmt_free_result(q->st->handle);
	while (mysql_stmt_next_result(q->st->handle) == 0)
		(void)mysql_stmt_free_result(q->st->handle);
	if (mysql_errno(q->s->my) >= CR_MIN_ERROR &&
		mysql_errno(q->s->my) <= CR_MAX_ERROR)
		q->s->is_lost = 1;
}

/* Send all results of an execution. */
static int
answer_all(struct run *q)
{
	int r, next;

	for (;;) {
		q->has_cursor = q->exec->batch_rows > 0 &&
				(cnd_my_status(q->s->my) & CND_MY_STATUS_CURSOR) != 0;
		q->is_output = (cnd_my_status(q->s->my) & SERVER_PS_OUT_PARAMS) != 0;
		r = mysql_stmt_field_count(q->st->handle) > 0 ? answer_rows(q)
							      : answer_ok(q);
		if (r == CENOTE_AGAIN)
			return CENOTE_OK;
		if (r < 0) {
			drain(q);
			return r;
		}
		/* a cursor has only one result, and the library no longer knows it */
		if (q->has_cursor)
			return CENOTE_OK;
		r = cnd_my_watch_begin(q->s);
		if (r < 0) {
			drain(q);
			return r;
		}
		next = mysql_stmt_next_result(q->st->handle);
		cnd_my_watch_end(q->s);
		q->is_later = 1;
		if (next < 0)
			return CENOTE_OK;
		if (next > 0)
			return cnd_my_failed(q->s, q->st->handle);
	}
}

/* The library reports an error if the server has no columns for a statement (EXPLAIN, INSERT … RETURNING). The
 * server reports one if a SELECT returns no rows (INTO). */
static int
can_have_cursor(const struct run *q)
{
	return q->exec->batch_rows > 0 && mysql_stmt_field_count(q->st->handle) > 0 &&
	       cnd_my_is_select(q->sql, q->len, q->s->reading.lexis);
}

static void
set_cursor(const struct run *q)
{
	unsigned long type =
		can_have_cursor(q) ? CURSOR_TYPE_READ_ONLY : CURSOR_TYPE_NO_CURSOR;
	unsigned long rows =
		q->exec->batch_rows < PREFETCH_ROWS ? q->exec->batch_rows : PREFETCH_ROWS;

	(void)mysql_stmt_attr_set(q->st->handle, STMT_ATTR_CURSOR_TYPE, &type);
	if (rows > 0)
		(void)mysql_stmt_attr_set(q->st->handle, STMT_ATTR_PREFETCH_ROWS, &rows);
}

/* The values for an execution. */
struct values {
	const struct cnc_value *params;
	uint32_t n_params;
	uint32_t n_rows;
};

/* If the values are for several rows, an extra entry after them gives the number of rows. */
static int
take_values(const struct run *q, struct values *ret_values)
{
	struct values v = { q->exec->params, q->st->n_params, 1 };
	uint32_t given = q->exec->n_params;
	const struct cnc_value *last = given > 0 ? &v.params[given - 1] : NULL;

	if (last && last->is_native && last->native_type == CND_MY_NATIVE_ROWS &&
		!last->is_null && last->len == 4) {
		v.n_rows = cnc_get_u32((const uint8_t *)last->bytes);
		given--;
	}
	*ret_values = v;
	if (given == (uint64_t)v.n_params * v.n_rows && (v.n_rows == 1 || given > 0))
		return CENOTE_OK;
	if (v.n_rows == 1)
		return cnd_refuse(q->s->diag, CNC_SQLSTATE(WRONG_PARAM_COUNT), NULL,
			"the statement takes %u parameters, %u were given",
			(unsigned)v.n_params, (unsigned)given);
	return cnd_refuse(q->s->diag, CNC_SQLSTATE(WRONG_PARAM_COUNT), NULL,
		"the statement takes %u parameters, %u were given for %u rows",
		(unsigned)v.n_params, (unsigned)given, (unsigned)v.n_rows);
}

/* Check that exactly the values that the client marks as sent ahead in pieces were sent. */
static int
check_long(struct run *q, const struct values *v)
{
	struct cnd_my_stmt *st = q->st;
	uint32_t i;

	for (i = 0; i < v->n_params * v->n_rows; i++) {
		int has = st->is_long && i < v->n_params && st->is_long[i];

		if (has == (v->params[i].is_long != 0))
			continue;
		/* the server drops the pieces that it got */
		if (mysql_stmt_reset(st->handle) != 0)
			return cnd_my_failed(q->s, st->handle);
		cnc_free(q->s->mem, st->is_long);
		st->is_long = NULL;
		return cnd_refuse(q->s->diag, CNC_SQLSTATE(WRONG_PARAM_COUNT), NULL,
			has ? "the value of parameter %u was sent ahead, and is given "
			      "again"
			    : "the value of parameter %u was to be sent ahead, and was "
			      "not",
			(unsigned)i + 1);
	}
	return CENOTE_OK;
}

/* Bind the values for one row or several, and mark the values that were sent ahead. */
static int
bind(struct run *q)
{
	struct cnd_my_stmt *st = q->st;
	struct values v;
	uint32_t i;
	int r = take_values(q, &v);

	if (r < 0 || st->n_params == 0)
		return r;
	r = check_long(q, &v);
	if (r == CENOTE_OK)
		r = cnd_my_bind(q->s, st->handle, v.params, v.n_params, v.n_rows);
	for (i = 0; r == CENOTE_OK && st->is_long && i < st->n_params; i++) {
		if (st->is_long[i])
			cnd_my_mark_long(st->handle, i);
	}
	return r;
}

static int
run(struct run *q)
{
	int r = bind(q);

	if (r < 0)
		return r;
	set_cursor(q);
	r = cnd_my_watch_begin(q->s);
	if (r < 0)
		return r;
	r = mysql_stmt_execute(q->st->handle);
	cnd_my_watch_end(q->s);
	cnd_my_unset_rows(q->st->handle);
	/* the server drops the values in pieces too, even after a failure */
	cnc_free(q->s->mem, q->st->is_long);
	q->st->is_long = NULL;
	/* the statement has run, but the library did not expect these columns */
	if (r != 0 && mysql_stmt_errno(q->st->handle) == CR_NEW_STMT_METADATA &&
		q->s->stop == 0) {
		q->st->is_stale = 1;
		r = cnd_my_adopt_fields(q->st->handle, q->s->my, &q->st->fields);
	}
	return r != 0 ? cnd_my_failed(q->s, q->st->handle) : answer_all(q);
}

/* Some texts cannot be prepared but run as text: several statements, and some commands. */
static int
wants_text(
	struct cnd_session *s, const char *sql, size_t len, const struct cnd_exec *exec)
{
	int32_t code = s->diag->native;

	if (exec->n_params > 0 || exec->format == CENOTE_FORMAT_BINARY ||
		exec->formats.n > 0)
		return 0;
	return code == (int32_t)CND_MY_ER_UNSUPPORTED_PS ||
	       (code == (int32_t)CND_MY_ER_PARSE && exec->is_simple &&
		       memchr(sql, ';', len));
}

int
cnd_my_query_prepared(struct cnd_session *s, const char *sql, size_t len,
	const struct cnd_exec *exec, struct cnd_sink *sink)
{
	struct run q = { .s = s, .sql = sql, .len = len, .exec = exec, .sink = sink };
	int r = stmt_make(s, sql, len, &q.st);

	if (r == CENOTE_ERR_SERVER && s->stop == 0 && wants_text(s, sql, len, exec)) {
		cnc_diag_clear(s->diag);
		return CENOTE_DONE;
	}
	if (r < 0)
		return r;
	r = run(&q);
	stmt_unref(s, q.st);
	return r;
}

/* ---- numbered statements ---- */

/* The server does not report which types it expects. */
static int
send_params(struct cnd_session *s, uint32_t n, struct cnd_sink *sink)
{
	struct cnp_param *params = cnd_params_make(s->mem, n);

	return cnd_params_send(sink, s->mem, params, n, CENOTE_OK);
}

static int
send_description(
	struct cnd_session *s, struct cnd_statement *statement, struct cnd_sink *sink)
{
	struct cnd_my_stmt *st = statement->own;
	static const struct cnd_exec plain = { .format = CENOTE_FORMAT_TEXT };
	struct cnp_done done = { .tag = CNP_STR_NONE, .affected = -1 };
	struct cnp_column *columns;
	MYSQL_RES *meta;
	uint32_t n;
	int r = send_params(s, st->n_params, sink);

	meta = r == CENOTE_OK ? mysql_stmt_result_metadata(st->handle) : NULL;
	if (meta) {
		n = mysql_num_fields(meta);
		r = cnd_my_columns(s, mysql_fetch_fields(meta), n, &plain, &columns);
		if (r == CENOTE_OK)
			r = sink->ops->columns(sink, columns, n, 0);
		if (r == CENOTE_OK) {
			st->shape = hash_columns(columns, n);
			statement->sent = hash_sent(st->shape, &plain);
		}
		mysql_free_result(meta);
	}
	done.warnings = mysql_warning_count(s->my);
	done.server_status = cnd_my_status(s->my);
	return r < 0 ? r : sink->ops->done(sink, &done);
}

/*
 * Whether the same text is prepared again after values in pieces were sent for it. The server must then drop these
 * values. Preparing the text again could fail, since the server looks for its tables in the database that was
 * current then.
 */
static int
is_pieced(const struct cnd_prepare *prepare)
{
	const struct cnd_statement *statement = prepare->statement;
	const struct cnd_my_stmt *st = statement->own;

	return st != NULL && st->is_long != NULL && !st->is_stale &&
	       statement->len == prepare->sql.n &&
	       memcmp(statement->sql, prepare->sql.p, statement->len) == 0;
}

static int
forget_pieces(
	struct cnd_session *s, struct cnd_statement *statement, struct cnd_sink *sink)
{
	struct cnd_my_stmt *st = statement->own;

	cnc_free(s->mem, st->is_long);
	st->is_long = NULL;
	if (mysql_stmt_reset(st->handle) != 0)
		return cnd_my_failed(s, st->handle);
	return send_description(s, statement, sink);
}

int
cnd_my_prepare(
	struct cnd_session *s, const struct cnd_prepare *prepare, struct cnd_sink *sink)
{
	const struct cnp_str sql = prepare->sql;
	struct cnd_my_scan scan;
	struct cnd_my_stmt *st;
	int r = cnd_my_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	if (is_pieced(prepare))
		return forget_pieces(s, prepare->statement, sink);
	cnd_my_learn_modes(s);
	cnd_my_scan(sql.p, sql.n, &s->reading, &scan);
	r = cnd_my_check_strict(s, &scan);
	if (r < 0)
		return r;
	r = stmt_make(s, sql.p, sql.n, &st);
	if (r < 0)
		return r;
	st->scan = scan;
	st->is_tableless = (uint8_t)cnd_my_is_tableless(s, sql.p, sql.n);
	cnd_my_forget(s, prepare->statement);
	prepare->statement->own = st;
	prepare->statement->sent = 0;
	r = send_description(s, prepare->statement, sink);
	if (r < 0)
		cnd_my_forget(s, prepare->statement);
	return r;
}

/* A statement whose cursor is open cannot run again. The cursor keeps the statement, and the number
 * gets a new one. A statement with outdated columns is also replaced. */
static int
replace_stmt(struct cnd_session *s, struct cnd_statement *statement)
{
	struct cnd_my_stmt *old = statement->own, *fresh;
	int r = stmt_make(s, statement->sql, statement->len, &fresh);

	if (r < 0)
		return r;
	/* the server may understand the text otherwise than before */
	fresh->n_meanings = old->n_meanings;
	fresh->scan = old->scan;
	fresh->is_tableless = old->is_tableless;
	fresh->is_long = old->is_long;
	old->is_long = NULL;
	statement->own = fresh;
	stmt_unref(s, old);
	return CENOTE_OK;
}

int
cnd_my_describe(
	struct cnd_session *s, const struct cnd_named *which, struct cnd_sink *sink)
{
	const struct cnd_my_stmt *st = which->statement->own;
	int r = cnd_my_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	if (st->is_stale)
		r = replace_stmt(s, which->statement);
	return r < 0 ? r : send_description(s, which->statement, sink);
}

int
cnd_my_execute(struct cnd_session *s, const struct cnd_named *which,
	const struct cnd_exec *exec, struct cnd_sink *sink)
{
	struct cnd_statement *statement = which->statement;
	struct run q = { .s = s,
		.st = statement->own,
		.sql = statement->sql,
		.len = statement->len,
		.exec = exec,
		.sink = sink,
		.named = statement };
	int r = cnd_my_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	if (q.st->has_portal || q.st->is_stale) {
		r = replace_stmt(s, statement);
		if (r < 0)
			return r;
		q.st = statement->own;
	}
	r = cnd_my_check_moved(s, &q.st->scan);
	if (r < 0)
		return r;
	q.st->refs++;
	cnd_my_note(s, &q.st->scan);
	if (!q.st->is_tableless)
		s->trace.has_touched = s->trace.may_have_set = 1;
	r = cnd_my_after_error(s, run(&q));
	stmt_unref(s, q.st);
	return r;
}

int
cnd_my_close(struct cnd_session *s, const struct cnd_named *which, struct cnd_sink *sink)
{
	struct cnp_done done = { .tag = cnp_str("CLOSE"), .affected = -1 };
	int r = cnd_my_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	cnd_my_forget(s, which->statement);
	return sink->ops->done(sink, &done);
}

int
cnd_my_fetch(struct cnd_session *s, struct cnd_portal *portal, uint32_t batch_rows,
	int wants_columns, struct cnd_sink *sink)
{
	struct cnd_exec exec = { .portal = portal, .batch_rows = batch_rows };
	struct cnd_my_portal *p = portal->own;
	struct run q = {
		.s = s, .st = p->stmt, .exec = &exec, .sink = sink, .has_cursor = 1
	};
	int r = cnd_my_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	r = sink->ops->columns(sink, p->columns, p->n_columns, !wants_columns);
	if (r == CENOTE_OK)
		r = send_rows(&q, p->rows);
	if (r != CENOTE_AGAIN)
		cnd_my_close_portal(s, portal);
	if (r < 0)
		return cnd_my_after_error(s, r);
	return end_result(&q, r);
}

int
cnd_my_long_data(struct cnd_session *s, struct cnd_statement *statement, uint16_t param,
	struct cnp_str data, struct cnc_diag *ret_diag)
{
	struct cnd_my_stmt *st = statement->own;
	int r = cnd_my_enter(s, ret_diag, NULL);

	if (r < 0)
		return r;
	/* replace the statement before its values arrive, not between the values and the execution */
	if (st->has_portal || (st->is_stale && st->is_long == NULL)) {
		r = replace_stmt(s, statement);
		if (r < 0)
			return r;
		st = statement->own;
	}
	if (param >= st->n_params)
		return cnd_refuse(s->diag, CNC_SQLSTATE(WRONG_PARAM_COUNT), NULL,
			"the statement has %u parameters, there is no parameter %u",
			(unsigned)st->n_params, param + 1u);
	if (!st->is_long)
		st->is_long = cnc_calloc(s->mem, st->n_params, 1);
	if (!st->is_long)
		return CENOTE_ERR_NOMEM;
	if (cnd_my_ready_long(st->handle, param) < 0)
		return CENOTE_ERR_NOMEM;
	if (mysql_stmt_send_long_data(st->handle, param, data.p, (unsigned long)data.n))
		return cnd_my_failed(s, st->handle);
	st->is_long[param] = 1;
	return CENOTE_OK;
}
