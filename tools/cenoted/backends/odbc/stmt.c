/* SPDX-License-Identifier: BSD-2-Clause */
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

/* Where it belongs, if that place is still its own. */
static struct cnd_od_stmt **
place_of(struct cnd_session *s, const struct cnd_od_stmt *st)
{
	if (s->is_lost)
		return NULL;
	if (st->id == 0)
		return s->spare || st->directions ? NULL : &s->spare;
	for (size_t i = 0; i < s->n_named; i++) {
		if (s->named[i].id == st->id)
			return s->named[i].stmt ? NULL : &s->named[i].stmt;
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

	return refusal ? cnd_od_refuse(s, refusal->sqlstate, NULL, "%s", refusal->why)
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
		return cnd_od_refuse(
			s, CNC_SQLSTATE(BAD_CAST), NULL, "the statement is not UTF-8");
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
	/* the driver's count does not fit where ODBC has it returned */
	if (n < 0)
		return cnd_od_refuse(s, CNC_SQLSTATE(LIMIT), NULL,
			"a statement has at most 32767 parameters here");
	st->n_params = (uint32_t)n;
	return st->scan.flags & CND_OD_VERB_CALL ? cnd_od_call_directions(s, st, sql, len)
						 : CENOTE_OK;
}

/* ---- statements under a client's number ---- */

/* Where a number is, or belongs, in the table, which is in order of numbers. */
static size_t
named_index(const struct cnd_session *s, uint32_t statement)
{
	size_t low = 0, high = s->n_named, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (s->named[mid].number < statement)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct cnd_od_named *
cnd_od_named(struct cnd_session *s, uint32_t statement)
{
	size_t i = named_index(s, statement);

	return i < s->n_named && s->named[i].number == statement ? &s->named[i] : NULL;
}

static int
named_add(struct cnd_session *s, uint32_t statement, struct cnd_od_named **ret_named)
{
	size_t i = named_index(s, statement), cap = s->cap_named ? 2 * s->cap_named : 8;
	struct cnd_od_named *grown;

	if (s->n_named == s->cap_named) {
		grown = cnc_realloc(s->mem, s->named, cap * sizeof(*grown));
		if (!grown)
			return CENOTE_ERR_NOMEM;
		s->named = grown;
		s->cap_named = cap;
	}
	memmove(s->named + i + 1, s->named + i, (s->n_named - i) * sizeof(*s->named));
	s->n_named++;
	s->named[i] = (struct cnd_od_named){ .number = statement };
	*ret_named = &s->named[i];
	return CENOTE_OK;
}

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

static void
named_empty(struct cnd_session *s, struct cnd_od_named *n)
{
	cnd_od_drop_longs(s, n);
	cnd_od_stmt_destroy(s, n->stmt);
	cnc_free(s->mem, n->sql);
}

int
cnd_od_named_take(
	struct cnd_session *s, struct cnd_od_named *n, struct cnd_od_stmt **ret_stmt)
{
	struct cnd_od_stmt *st = n->stmt;
	int r;

	if (!st) {
		r = cnd_od_stmt_create(s, &st);
		if (!st)
			return r;
		st->id = n->id;
		cnd_od_scan(n->sql, n->len, &st->scan);
		r = cnd_od_stmt_prepare(s, st, n->sql, n->len);
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
	for (size_t i = 0; i < s->n_named; i++) {
		cnd_od_stmt_destroy(s, s->named[i].stmt);
		s->named[i].stmt = NULL;
	}
}

int
cnd_od_close(struct cnd_session *s, const struct cnd_named *which, uint8_t kind,
	struct cnd_sink *sink)
{
	struct cnd_od_named *n = cnd_od_named(s, which->number);
	int r = cnd_od_enter(s, sink->diag, sink);
	size_t i;

	if (r < 0)
		return r;
	if (n && kind == CNP_NAMED_STATEMENT) {
		named_empty(s, n);
		i = (size_t)(n - s->named);
		s->n_named--;
		memmove(n, n + 1, (s->n_named - i) * sizeof(*n));
	}
	return cnd_od_done(sink, "CLOSE", 0);
}

void
cnd_od_close_all(struct cnd_session *s)
{
	for (size_t i = 0; i < s->n_named; i++)
		named_empty(s, &s->named[i]);
	s->n_named = 0;
}

/* ---- descriptions ---- */

static int
describe_param(struct cnd_session *s, const struct cnd_od_stmt *st, uint32_t i,
	struct cnp_param *p)
{
	SQLSMALLINT type, digits, nullable;
	SQLULEN size;
	SQLRETURN rc;

	p->type = CENOTE_TYPE_NULL;
	if (!s->describes_params)
		return CENOTE_OK;
	cnd_od_call_begin(s, st->handle);
	rc = SQLDescribeParam(
		st->handle, (SQLUSMALLINT)(i + 1), &type, &size, &digits, &nullable);
	cnd_od_call_end(s);
	/* a driver that cannot tell it, for this statement, has no types to tell */
	if (!CND_OD_OK(rc))
		return s->stop;
	p->type = cnd_od_type(type, "", 0);
	p->native_type = (uint32_t)(int32_t)type;
	return CENOTE_OK;
}

static int
send_params(struct cnd_session *s, const struct cnd_od_stmt *st, struct cnd_sink *sink)
{
	struct cnp_param *params = NULL;
	int r = CENOTE_OK;

	if (st->n_params > 0) {
		params = cnc_calloc(s->mem, st->n_params, sizeof(*params));
		if (!params)
			return CENOTE_ERR_NOMEM;
	}
	for (uint32_t i = 0; r == CENOTE_OK && i < st->n_params; i++) {
		params[i].name = CNP_STR_NONE;
		r = describe_param(s, st, i, &params[i]);
	}
	if (r == CENOTE_OK)
		r = sink->ops->params(sink, params, st->n_params);
	cnc_free(s->mem, params);
	return r;
}

static int
send_description(struct cnd_session *s, struct cnd_od_named *n, struct cnd_sink *sink)
{
	struct cnd_od_stmt *st = NULL;
	int r = cnd_od_named_take(s, n, &st);

	if (!st)
		return r;
	n->stmt = st;
	r = send_params(s, st, sink);
	if (r == CENOTE_OK)
		r = cnd_od_columns(s, st);
	if (r == CENOTE_OK && st->columns.n > 0) {
		(void)cnd_od_columns_format(s, st, CENOTE_FORMAT_TEXT, CNP_STR_NONE);
		n->sent_hash = cnd_od_columns_hash(st);
		r = sink->ops->columns(sink, st->columns.columns, st->columns.n, 0);
	}
	return r < 0 ? r : cnd_od_done(sink, "", 0);
}

/* Under its number, in the place of what had it. */
static int
named_put(struct cnd_session *s, const struct cnd_prepare *prepare,
	struct cnd_od_stmt *st, struct cnd_od_named **ret_named)
{
	struct cnd_od_named *n = cnd_od_named(s, prepare->statement);
	char *sql = cnc_strndup(s->mem, prepare->sql.p, prepare->sql.n);
	int r = sql ? CENOTE_OK : CENOTE_ERR_NOMEM;

	if (r == CENOTE_OK && n)
		named_empty(s, n);
	else if (r == CENOTE_OK)
		r = named_add(s, prepare->statement, &n);
	if (r < 0) {
		cnc_free(s->mem, sql);
		return r;
	}
	st->id = ++s->n_prepared;
	*n = (struct cnd_od_named){ .number = prepare->statement,
		.id = st->id,
		.sql = sql,
		.len = prepare->sql.n,
		.stmt = st };
	*ret_named = n;
	return CENOTE_OK;
}

int
cnd_od_prepare(
	struct cnd_session *s, const struct cnd_prepare *prepare, struct cnd_sink *sink)
{
	struct cnd_od_named *n = NULL;
	struct cnd_od_stmt *st = NULL;
	int r = cnd_od_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	if (memchr(prepare->sql.p, 0, prepare->sql.n))
		return cnd_od_refuse(
			s, CNC_SQLSTATE(SYNTAX), NULL, "zero byte in the statement");
	r = cnd_od_check_refusals(s, prepare->sql.p, prepare->sql.n);
	if (r == CENOTE_OK)
		r = cnd_od_stmt_create(s, &st);
	if (!st)
		return r;
	s->is_used = 1;
	cnd_od_scan(prepare->sql.p, prepare->sql.n, &st->scan);
	/* nothing to prepare: drivers differ in what they say of it */
	if (!st->scan.is_empty)
		r = cnd_od_stmt_prepare(s, st, prepare->sql.p, prepare->sql.n);
	if (r == CENOTE_OK)
		r = named_put(s, prepare, st, &n);
	if (r < 0 || !n) {
		cnd_od_stmt_destroy(s, st);
		return r;
	}
	return send_description(s, n, sink);
}

static int
refuse_unknown(struct cnd_session *s, uint32_t statement)
{
	return cnd_od_refuse(s, CNC_SQLSTATE(NO_STATEMENT), NULL,
		"there is no prepared statement %u", (unsigned)statement);
}

int
cnd_od_describe(struct cnd_session *s, const struct cnd_named *which, uint8_t kind,
	struct cnd_sink *sink)
{
	struct cnd_od_named *n = cnd_od_named(s, which->number);
	int r = cnd_od_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	if (kind != CNP_NAMED_STATEMENT)
		return CENOTE_ERR_UNSUPPORTED;
	return n ? send_description(s, n, sink) : refuse_unknown(s, which->number);
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
cnd_od_long_data(struct cnd_session *s, uint32_t statement, uint16_t param,
	struct cnp_str data, struct cnc_diag *ret_diag)
{
	struct cnd_od_named *n = cnd_od_named(s, statement);
	struct cnd_od_long *l;
	int r = cnd_od_enter(s, ret_diag, NULL);

	if (r < 0)
		return r;
	if (!n)
		return refuse_unknown(s, statement);
	l = find_long(s, n, param);
	r = l ? cnc_buf_append(&l->bytes, data.p, data.n) : CENOTE_ERR_NOMEM;
	return r == CENOTE_ERR_LIMIT ? cnd_od_refuse(s, CNC_SQLSTATE(LIMIT), NULL,
					       "a value in pieces is at most 1 GB")
				     : r;
}
