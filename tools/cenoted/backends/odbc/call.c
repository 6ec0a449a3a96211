/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Procedure calls. A parameter must be bound as input or output, so its direction must be known first. ODBC
 * tells it by SQLProcedureColumns(). The output values follow all other results, as a result of their own.
 */
#include <string.h>

#include "odbc.h"

/* Columns of SQLProcedureColumns(). */
enum {
	COL_NAME = 4,
	COL_KIND = 5,
	COL_DATA_TYPE = 6,
	COL_SIZE = 8,
	COL_DIGITS = 10
};

/* "[SCHEMA.]NAME", or with a catalog before them. */
struct called {
	struct cnd_od_text catalog, schema, name;
};

static int
split_name(struct cnd_session *s, struct cnp_str called, struct called *ret)
{
	struct cnd_od_text *const parts[] = { &ret->name, &ret->schema, &ret->catalog };
	const char *end = called.p + called.n, *p;
	int r = CENOTE_OK;

	for (size_t i = 0; i < 3 && r == CENOTE_OK && end > called.p; i++) {
		for (p = end; p > called.p && p[-1] != '.'; p--)
			;
		r = cnd_od_text_make(s, p, (size_t)(end - p), parts[i]);
		end = p > called.p ? p - 1 : p;
	}
	return r;
}

static void
free_name(struct cnd_session *s, struct called *c)
{
	cnd_od_text_finish(s, &c->catalog);
	cnd_od_text_finish(s, &c->schema);
	cnd_od_text_finish(s, &c->name);
}

/* ---- reading the list ---- */

static int64_t
get_int(SQLHSTMT handle, SQLUSMALLINT column)
{
	SQLINTEGER v = 0;
	SQLLEN n = 0;

	if (!CND_OD_OK(SQLGetData(handle, column, SQL_C_SLONG, &v, sizeof(v), &n)))
		return 0;
	return n == SQL_NULL_DATA ? 0 : v;
}

/* SQL_PARAM_… and the COLUMN_TYPE of SQLProcedureColumns() have the same numbers, except SQL_RETURN_VALUE. */
static SQLSMALLINT
direction_of(int64_t kind)
{
	return (SQLSMALLINT)(kind == SQL_RETURN_VALUE ? SQL_PARAM_OUTPUT : kind);
}

static int
read_direction(struct cnd_session *s, struct cnd_od_stmt *st, SQLHSTMT list,
	struct cnd_od_direction *d, int64_t *ret_kind)
{
	struct cnp_str name;
	char *copy;
	int r = cnd_od_read_value(
		s, list, COL_NAME, s->is_wide ? SQL_C_WCHAR : SQL_C_CHAR, &name);

	if (r < 0)
		return r;
	if (r == CENOTE_DONE)
		name = (struct cnp_str){ "", 0 };
	copy = cnc_arena_strndup(&st->names, name.p, name.n);
	if (!copy)
		return CENOTE_ERR_NOMEM;
	d->name = (struct cnp_str){ copy, name.n };
	*ret_kind = get_int(list, COL_KIND);
	d->io = direction_of(*ret_kind);
	d->sql_type = (SQLSMALLINT)get_int(list, COL_DATA_TYPE);
	d->size = (SQLULEN)get_int(list, COL_SIZE);
	d->digits = (SQLSMALLINT)get_int(list, COL_DIGITS);
	return CENOTE_OK;
}

/* Store the directions in the order of the placeholders. Returns the number of parameters, or a negative
 * error. */
static int64_t
read_list(struct cnd_session *s, struct cnd_od_stmt *st, SQLHSTMT list, int has_result)
{
	struct cnd_od_direction d;
	uint32_t n = 0;
	int64_t kind = SQL_RESULT_COL;
	int r = CENOTE_OK;

	while (r == CENOTE_OK && n <= st->n_params) {
		if (!CND_OD_OK(SQLFetch(list)))
			break;
		r = read_direction(s, st, list, &d, &kind);
		if (kind == SQL_RESULT_COL || (kind == SQL_RETURN_VALUE && !has_result))
			continue;
		if (n < st->n_params)
			st->directions[n] = d;
		n++;
	}
	return r < 0 ? r : (int64_t)n;
}

static int
list_columns(struct cnd_session *s, SQLHSTMT list, struct called *c)
{
	SQLRETURN rc;

	cnd_od_call_begin(s, list);
	rc = CND_OD_CALL(s, SQLProcedureColumns, list, c->catalog.p,
		(SQLSMALLINT)c->catalog.n, c->schema.p, (SQLSMALLINT)c->schema.n,
		c->name.p, (SQLSMALLINT)c->name.n, NULL, 0);
	cnd_od_call_end(s);
	return CND_OD_OK(rc);
}

static int
find_directions(
	struct cnd_session *s, struct cnd_od_stmt *st, struct called *c, int has_result)
{
	struct cnd_od_stmt *list;
	int64_t n = 0;
	int r = cnd_od_stmt_create(s, &list);

	if (r < 0)
		return r;
	cnc_arena_clear(&st->names);
	st->directions =
		cnc_arena_alloc(&st->names, st->n_params * sizeof(*st->directions));
	if (!st->directions)
		n = CENOTE_ERR_NOMEM;
	else if (list_columns(s, list->handle, c))
		n = read_list(s, st, list->handle, has_result);
	list->is_open = 1;
	cnd_od_stmt_reset(s, list);
	cnd_od_stmt_destroy(s, list);
	/* the driver does not know this procedure, or lists several: treat all parameters as input */
	if (n != (int64_t)st->n_params)
		st->directions = NULL;
	return n < 0 ? (int)n : s->stop;
}

int
cnd_od_call_directions(
	struct cnd_session *s, struct cnd_od_stmt *st, const char *sql, size_t len)
{
	struct called c = { 0 };
	struct cnp_str called;
	int has_result, r;

	st->directions = NULL;
	called = cnd_od_called(sql, len, &has_result);
	if (called.n == 0 || st->n_params == 0)
		return CENOTE_OK;
	r = split_name(s, called, &c);
	if (r == CENOTE_OK)
		r = find_directions(s, st, &c, has_result);
	free_name(s, &c);
	return r;
}

/* ---- output values ---- */

int
cnd_od_has_output(const struct cnd_od_stmt *st)
{
	for (uint32_t i = 0; i < st->n_bound; i++) {
		if (st->bound[i].is_output)
			return 1;
	}
	return 0;
}

static int
put_output(struct cnd_session *s, const struct cnd_od_bound *b, uint8_t type,
	uint8_t format, struct cnc_batch *w)
{
	struct cnp_str v = { b->bytes, 0 };
	uint8_t *room;
	size_t n;
	int r;

	if (b->len == SQL_NULL_DATA)
		return cnc_batch_null(w);
	n = b->len >= 0 && (size_t)b->len <= b->n_bytes ? (size_t)b->len : b->n_bytes;
	v.n = n;
	if (b->c_type == SQL_C_WCHAR) {
		cnc_buf_truncate(&s->value, 0);
		r = cnc_buf_reserve(&s->value, 2 * n + 1, &room);
		if (r < 0)
			return r;
		v.p = (const char *)room;
		v.n = cnd_od_utf8(b->bytes, n / sizeof(SQLWCHAR), (char *)room);
	}
	return cnd_od_put_text(w, type, format, v.p, v.n);
}

static int
put_row(struct cnd_session *s, const struct cnd_od_stmt *st,
	const struct cnp_column *columns, uint8_t format, struct cnc_batch *w)
{
	uint32_t i, n = 0;
	int r = cnc_batch_row(w);

	for (i = 0; r == CENOTE_OK && i < st->n_bound; i++) {
		if (st->bound[i].is_output)
			r = put_output(s, &st->bound[i], columns[n++].type, format, w);
	}
	return cnd_row_end(w, r);
}

int
cnd_od_put_output(struct cnd_session *s, struct cnd_od_stmt *st, uint8_t format,
	struct cnd_sink *sink)
{
	struct cnp_column *columns = cnc_calloc(s->mem, st->n_bound, sizeof(*columns));
	struct cnp_done done = {
		.tag = cnp_str(""), .affected = -1, .flags = CNP_DONE_OUTPUT
	};
	uint32_t i, n = 0;
	int r;

	if (!columns)
		return CENOTE_ERR_NOMEM;
	for (i = 0; i < st->n_bound; i++) {
		if (!st->bound[i].is_output)
			continue;
		columns[n] = (struct cnp_column)CNP_COLUMN_INIT;
		columns[n].name = st->directions[i].name;
		columns[n].type = cnd_od_type(st->directions[i].sql_type, "", 0);
		columns[n].native_type = (uint32_t)(int32_t)st->directions[i].sql_type;
		columns[n++].format = format;
	}
	r = sink->ops->columns(sink, columns, n, 0);
	if (r == CENOTE_OK)
		r = put_row(s, st, columns, format, sink->batch);
	if (r == CENOTE_OK)
		r = sink->ops->row_done(sink);
	cnc_free(s->mem, columns);
	return r < 0 ? r : sink->ops->done(sink, &done);
}
