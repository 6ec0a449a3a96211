/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statement handles, prepared statements, and values that come in pieces. Owns struct cnd_od_named, and a
 * spare handle for the next direct statement.
 */
#include <string.h>

#include "odbc.h"

#define LONG_MAX_BYTES ((size_t)1 << 30)

/* ---- handles ---- */

int
cnd_od_stmt_create(struct cnd_session *s, struct cnd_od_stmt **ret_stmt)
{
	struct cnd_od_stmt *st = cnc_calloc(s->mem, 1, sizeof(*st));

	if (!st)
		return CENOTE_ERR_NOMEM;
	cnc_arena_init(&st->columns.text, s->mem);
	cnc_arena_init(&st->names, s->mem);
	if (!CND_OD_OK(SQLAllocHandle(SQL_HANDLE_STMT, s->dbc, &st->handle))) {
		cnc_free(s->mem, st);
		return cnd_od_fail(s, SQL_HANDLE_DBC, s->dbc);
	}
	*ret_stmt = st;
	return CENOTE_OK;
}

void
cnd_od_stmt_destroy(struct cnd_session *s, struct cnd_od_stmt *st)
{
	if (!st)
		return;
	cnd_od_unbind(s, st);
	cnd_od_call_begin(s, NULL);
	(void)SQLFreeHandle(SQL_HANDLE_STMT, st->handle);
	cnd_od_call_end(s);
	cnc_arena_finish(&st->columns.text);
	cnc_arena_finish(&st->names);
	cnc_free(s->mem, st);
}

void
cnd_od_stmt_reset(struct cnd_session *s, struct cnd_od_stmt *st)
{
	if (st->is_open) {
		cnd_od_call_begin(s, NULL);
		(void)SQLFreeStmt(st->handle, SQL_CLOSE);
		cnd_od_call_end(s);
	}
	st->is_open = 0;
	cnd_od_unbind(s, st);
}

int
cnd_od_stmt_take(struct cnd_session *s, struct cnd_od_stmt **ret_stmt)
{
	struct cnd_od_stmt *st = s->spare;

	if (!st)
		return cnd_od_stmt_create(s, ret_stmt);
	s->spare = NULL;
	*ret_stmt = st;
	return CENOTE_OK;
}

/* Where to keep the handle for its next use; NULL: destroy it. */
static struct cnd_od_stmt **
place_of(struct cnd_session *s, const struct cnd_od_stmt *st)
{
	const struct cnd_statements *t = s->host->statements;
	struct cnd_od_named *n;

	if (s->is_lost)
		return NULL;
	if (st->id == 0)
		return s->spare || st->directions ? NULL : &s->spare;
	for (size_t i = 0; i < t->n_statements; i++) {
		n = t->statements[i]->own;
		if (n != NULL && n->id == st->id)
			return n->stmt != NULL ? NULL : &n->stmt;
	}
	return NULL;
}

void
cnd_od_stmt_give(struct cnd_session *s, struct cnd_od_stmt *st)
{
	struct cnd_od_stmt **place = place_of(s, st);

	if (!place) {
		cnd_od_stmt_destroy(s, st);
		return;
	}
	cnd_od_stmt_reset(s, st);
	*place = st;
}

/* ---- preparing ---- */

int
cnd_od_check_refusals(struct cnd_session *s, const char *sql, size_t len)
{
	const struct cnd_od_refusal *refusal = cnd_od_refused(s->quirks, sql, len);

	return refusal ? cnd_refuse(s->diag, refusal->sqlstate, NULL, "%s", refusal->why)
		       : CENOTE_OK;
}

int
cnd_od_stmt_prepare(
	struct cnd_session *s, struct cnd_od_stmt *st, const char *sql, size_t len)
{
	struct cnd_od_text text;
	SQLSMALLINT n = 0;
	SQLRETURN rc;
	int r = cnd_od_text_make(s, sql, len, &text);

	if (r == CENOTE_ERR_CONVERT)
		return cnd_refuse(s->diag, CNC_SQLSTATE(BAD_CAST), NULL,
			"the statement is not UTF-8");
	if (r < 0)
		return r;
	cnd_od_call_begin(s, st->handle);
	rc = CND_OD_CALL(s, SQLPrepare, st->handle, text.p, (SQLINTEGER)text.n);
	if (CND_OD_OK(rc))
		rc = SQLNumParams(st->handle, &n);
	cnd_od_call_end(s);
	cnd_od_text_finish(s, &text);
	if (!CND_OD_OK(rc))
		return cnd_od_fail(s, SQL_HANDLE_STMT, st->handle);
	/* ODBC returns the count as a short, and the driver's count does not fit */
	if (n < 0)
		return cnd_refuse(s->diag, CNC_SQLSTATE(LIMIT), NULL,
			"a statement has at most 32767 parameters here");
	st->n_params = (uint32_t)n;
	return st->scan.flags & CND_OD_VERB_CALL ? cnd_od_call_directions(s, st, sql, len)
						 : CENOTE_OK;
}

/* ---- statements under a client's number ---- */

void
cnd_od_drop_longs(struct cnd_session *s, struct cnd_od_named *n)
{
	struct cnd_od_long *next;

	for (; n->longs; n->longs = next) {
		next = n->longs->next;
		cnc_buf_finish(&n->longs->bytes);
		cnc_free(s->mem, n->longs);
	}
}

void
cnd_od_forget(struct cnd_session *s, struct cnd_statement *statement)
{
	struct cnd_od_named *n = statement->own;

	cnd_od_drop_longs(s, n);
	cnd_od_stmt_destroy(s, n->stmt);
	cnc_free(s->mem, n);
	statement->own = NULL;
}

int
cnd_od_named_take(struct cnd_session *s, const struct cnd_statement *statement,
	struct cnd_od_stmt **ret_stmt)
{
	struct cnd_od_named *n = statement->own;
	struct cnd_od_stmt *st = n->stmt;
	int r;

	if (!st) {
		r = cnd_od_stmt_create(s, &st);
		if (!st)
			return r;
		st->id = n->id;
		cnd_od_scan(statement->sql, statement->len, &st->scan);
		r = cnd_od_stmt_prepare(s, st, statement->sql, statement->len);
		if (r < 0) {
			cnd_od_stmt_destroy(s, st);
			return r;
		}
	}
	n->stmt = NULL;
	*ret_stmt = st;
	return CENOTE_OK;
}

void
cnd_od_forget_prepared(struct cnd_session *s)
{
	const struct cnd_statements *t = s->host->statements;

	for (size_t i = 0; i < t->n_statements; i++) {
		struct cnd_od_named *n = t->statements[i]->own;

		if (n == NULL)
			continue;
		cnd_od_stmt_destroy(s, n->stmt);
		n->stmt = NULL;
	}
}

/* ---- descriptions ---- */

static int
describe_param(struct cnd_session *s, const struct cnd_od_stmt *st, uint32_t i,
	struct cnp_param *p)
{
	SQLSMALLINT type, digits, nullable;
	SQLULEN size;
	SQLRETURN rc;

	if (!s->describes_params)
		return CENOTE_OK;
	cnd_od_call_begin(s, st->handle);
	rc = SQLDescribeParam(
		st->handle, (SQLUSMALLINT)(i + 1), &type, &size, &digits, &nullable);
	cnd_od_call_end(s);
	/* the driver cannot describe the parameters of this statement */
	if (!CND_OD_OK(rc))
		return s->stop;
	p->type = cnd_od_type(type, "", 0);
	p->native_type = (uint32_t)(int32_t)type;
	return CENOTE_OK;
}

static int
send_params(struct cnd_session *s, const struct cnd_od_stmt *st, struct cnd_sink *sink)
{
	struct cnp_param *params = cnd_params_make(s->mem, st->n_params);
	int r = CENOTE_OK;

	for (uint32_t i = 0; params != NULL && r == CENOTE_OK && i < st->n_params; i++)
		r = describe_param(s, st, i, &params[i]);
	return cnd_params_send(sink, s->mem, params, st->n_params, r);
}

static int
send_description(
	struct cnd_session *s, struct cnd_statement *statement, struct cnd_sink *sink)
{
	struct cnd_od_named *n = statement->own;
	struct cnd_od_stmt *st = NULL;
	int r = cnd_od_named_take(s, statement, &st);

	if (!st)
		return r;
	n->stmt = st;
	r = send_params(s, st, sink);
	if (r == CENOTE_OK)
		r = cnd_od_columns(s, st);
	if (r == CENOTE_OK && st->columns.n > 0) {
		(void)cnd_od_columns_format(s, st, CENOTE_FORMAT_TEXT, CNP_STR_NONE);
		statement->sent = cnd_od_columns_hash(st);
		r = sink->ops->columns(sink, st->columns.columns, st->columns.n, 0);
	}
	return r < 0 ? r : cnd_done(sink, "", 0);
}

/* Store the statement under its number, in place of the previous one. Takes `st` over, even on failure. */
static int
put_named(struct cnd_session *s, struct cnd_statement *statement, struct cnd_od_stmt *st)
{
	struct cnd_od_named *n = cnc_calloc(s->mem, 1, sizeof(*n));

	if (n == NULL) {
		cnd_od_stmt_destroy(s, st);
		return CENOTE_ERR_NOMEM;
	}
	if (statement->own != NULL)
		cnd_od_forget(s, statement);
	n->id = st->id = ++s->n_prepared;
	n->stmt = st;
	statement->own = n;
	statement->sent = 0;
	return CENOTE_OK;
}

int
cnd_od_prepare(
	struct cnd_session *s, const struct cnd_prepare *prepare, struct cnd_sink *sink)
{
	struct cnd_od_stmt *st = NULL;
	int r = cnd_od_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	if (memchr(prepare->sql.p, 0, prepare->sql.n))
		return cnd_refuse(s->diag, CNC_SQLSTATE(SYNTAX), NULL,
			"zero byte in the statement");
	r = cnd_od_check_refusals(s, prepare->sql.p, prepare->sql.n);
	if (r == CENOTE_OK)
		r = cnd_od_stmt_create(s, &st);
	if (!st)
		return r;
	s->is_used = 1;
	cnd_od_scan(prepare->sql.p, prepare->sql.n, &st->scan);
	/* do not prepare an empty text: drivers answer it differently */
	if (!st->scan.is_empty)
		r = cnd_od_stmt_prepare(s, st, prepare->sql.p, prepare->sql.n);
	if (r < 0) {
		cnd_od_stmt_destroy(s, st);
		return r;
	}
	r = put_named(s, prepare->statement, st);
	if (r < 0)
		return r;
	r = send_description(s, prepare->statement, sink);
	if (r < 0)
		cnd_od_forget(s, prepare->statement);
	return r;
}

int
cnd_od_describe(
	struct cnd_session *s, const struct cnd_named *which, struct cnd_sink *sink)
{
	int r = cnd_od_enter(s, sink->diag, sink);

	return r < 0 ? r : send_description(s, which->statement, sink);
}

/* ---- long data ---- */

static struct cnd_od_long *
find_long(struct cnd_session *s, struct cnd_od_named *n, uint16_t param)
{
	struct cnd_od_long *l = n->longs;

	while (l && l->param != param)
		l = l->next;
	if (l)
		return l;
	l = cnc_calloc(s->mem, 1, sizeof(*l));
	if (!l)
		return NULL;
	l->param = param;
	l->next = n->longs;
	cnc_buf_init(&l->bytes, s->mem, LONG_MAX_BYTES);
	n->longs = l;
	return l;
}

int
cnd_od_long_data(struct cnd_session *s, struct cnd_statement *statement, uint16_t param,
	struct cnp_str data, struct cnc_diag *ret_diag)
{
	struct cnd_od_long *l;
	int r = cnd_od_enter(s, ret_diag, NULL);

	if (r < 0)
		return r;
	l = find_long(s, statement->own, param);
	r = l ? cnc_buf_append(&l->bytes, data.p, data.n) : CENOTE_ERR_NOMEM;
	return r == CENOTE_ERR_LIMIT ? cnd_refuse(s->diag, CNC_SQLSTATE(LIMIT), NULL,
					       "a value in pieces is at most 1 GB")
				     : r;
}
