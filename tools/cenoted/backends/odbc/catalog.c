/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Catalog requests. They call ODBC's catalog functions, whose columns are those of the common lists. Some
 * functions take the name of one table and no pattern: for these, first list the tables that match.
 */
#include <stdio.h>
#include <string.h>

#include "../common/catalog.h"
#include "odbc.h"

/* The client's filters, in the driver's encoding. */
struct filters {
	struct cnd_od_text catalog, schema, object, column, types;
};

struct catalog_query;
typedef SQLRETURN catalog_fn(struct catalog_query *q);

struct catalog_kind {
	catalog_fn *call;
	uint8_t is_per_table;
	uint8_t columns[3]; /* the driver's column numbers; 0: they are 1, 2, 3 … */
};

/* A table that matches. A NULL name and the name "" are different. */
struct table {
	struct table *next;
	struct cnd_od_text catalog, schema, name;
};

struct catalog_query {
	struct cnd_session *s;
	struct cnd_sink *sink;
	const struct cnp_catalog *filter;
	const struct catalog_kind *kind;
	struct filters f;
	const struct table *table;
	SQLHSTMT handle;
	struct cnp_column columns[CND_CATALOG_COLUMNS_MAX];
	uint32_t n_columns;
	uint64_t n_rows;
	int is_limited;
};

/* A name and its length: two arguments of each catalog function. */
#define NAME(text) (text).p, (SQLSMALLINT)(text).n
#define NO_NAME    NULL, 0

/* ---- the functions ---- */

static SQLRETURN
call_databases(struct catalog_query *q)
{
	SQLWCHAR wide[] = { '%', 0 }, none[] = { 0 };
	void *all = q->s->is_wide ? (void *)wide : (void *)"%";

	return CND_OD_CALL(q->s, SQLTables, q->handle, all, 1, (void *)none, 0,
		(void *)none, 0, (void *)none, 0);
}

static SQLRETURN
call_schemas(struct catalog_query *q)
{
	SQLWCHAR wide[] = { '%', 0 }, none[] = { 0 };
	void *all = q->s->is_wide ? (void *)wide : (void *)"%";

	return CND_OD_CALL(q->s, SQLTables, q->handle, (void *)none, 0, all, 1,
		(void *)none, 0, (void *)none, 0);
}

static SQLRETURN
call_tables(struct catalog_query *q)
{
	return CND_OD_CALL(q->s, SQLTables, q->handle, NAME(q->f.catalog),
		NAME(q->f.schema), NAME(q->f.object), NAME(q->f.types));
}

static SQLRETURN
call_columns(struct catalog_query *q)
{
	return CND_OD_CALL(q->s, SQLColumns, q->handle, NAME(q->f.catalog),
		NAME(q->f.schema), NAME(q->f.object), NAME(q->f.column));
}

static SQLRETURN
call_primary_keys(struct catalog_query *q)
{
	return CND_OD_CALL(q->s, SQLPrimaryKeys, q->handle, NAME(q->table->catalog),
		NAME(q->table->schema), NAME(q->table->name));
}

static SQLRETURN
call_foreign_keys(struct catalog_query *q)
{
	return CND_OD_CALL(q->s, SQLForeignKeys, q->handle, NO_NAME, NO_NAME, NO_NAME,
		NAME(q->table->catalog), NAME(q->table->schema), NAME(q->table->name));
}

static SQLRETURN
call_indexes(struct catalog_query *q)
{
	return CND_OD_CALL(q->s, SQLStatistics, q->handle, NAME(q->table->catalog),
		NAME(q->table->schema), NAME(q->table->name), SQL_INDEX_ALL, SQL_QUICK);
}

static SQLRETURN
call_types(struct catalog_query *q)
{
	return CND_OD_CALL(q->s, SQLGetTypeInfo, q->handle, SQL_ALL_TYPES);
}

static SQLRETURN
call_procedures(struct catalog_query *q)
{
	return CND_OD_CALL(q->s, SQLProcedures, q->handle, NAME(q->f.catalog),
		NAME(q->f.schema), NAME(q->f.object));
}

static SQLRETURN
call_procedure_columns(struct catalog_query *q)
{
	return CND_OD_CALL(q->s, SQLProcedureColumns, q->handle, NAME(q->f.catalog),
		NAME(q->f.schema), NAME(q->f.object), NAME(q->f.column));
}

static SQLRETURN
call_table_privileges(struct catalog_query *q)
{
	return CND_OD_CALL(q->s, SQLTablePrivileges, q->handle, NAME(q->f.catalog),
		NAME(q->f.schema), NAME(q->f.object));
}

static SQLRETURN
call_column_privileges(struct catalog_query *q)
{
	return CND_OD_CALL(q->s, SQLColumnPrivileges, q->handle, NAME(q->table->catalog),
		NAME(q->table->schema), NAME(q->table->name), NAME(q->f.column));
}

static const struct catalog_kind kinds[] = {
	[CENOTE_CATALOG_DATABASES] = { call_databases, 0, { 1, 5 } },
	[CENOTE_CATALOG_SCHEMAS] = { call_schemas, 0, { 1, 2, 5 } },
	[CENOTE_CATALOG_TABLES] = { call_tables, 0, { 0 } },
	[CENOTE_CATALOG_COLUMNS] = { call_columns, 0, { 0 } },
	[CENOTE_CATALOG_PRIMARY_KEYS] = { call_primary_keys, 1, { 0 } },
	[CENOTE_CATALOG_FOREIGN_KEYS] = { call_foreign_keys, 1, { 0 } },
	[CENOTE_CATALOG_INDEXES] = { call_indexes, 1, { 0 } },
	[CENOTE_CATALOG_TYPES] = { call_types, 0, { 0 } },
	[CENOTE_CATALOG_PROCEDURES] = { call_procedures, 0, { 0 } },
	[CENOTE_CATALOG_PROCEDURE_COLUMNS] = { call_procedure_columns, 0, { 0 } },
	[CENOTE_CATALOG_TABLE_PRIVILEGES] = { call_table_privileges, 0, { 0 } },
	[CENOTE_CATALOG_COLUMN_PRIVILEGES] = { call_column_privileges, 1, { 0 } },
};

static int
call(struct catalog_query *q, catalog_fn *function)
{
	SQLRETURN rc;

	cnd_od_call_begin(q->s, q->handle);
	rc = function(q);
	cnd_od_call_end(q->s);
	return CND_OD_OK(rc) ? CENOTE_OK : cnd_od_fail(q->s, SQL_HANDLE_STMT, q->handle);
}

static int
next_row(struct catalog_query *q)
{
	SQLRETURN rc;

	cnd_od_call_begin(q->s, q->handle);
	rc = SQLFetch(q->handle);
	cnd_od_call_end(q->s);
	if (rc == SQL_NO_DATA)
		return CENOTE_DONE;
	return CND_OD_OK(rc) ? q->s->stop : cnd_od_fail(q->s, SQL_HANDLE_STMT, q->handle);
}

/* ---- filters ---- */

/* Clients escape wildcards by a backslash. Replace it by the driver's own escape. */
static int
make_pattern(struct cnd_session *s, struct cnp_str text, struct cnd_od_text *ret)
{
	SQLWCHAR *units;
	char *bytes;
	int r;

	/* the narrow form needs a copy too: it is changed below, and `text` belongs to the client */
	r = cnd_od_text_make(s, text.p, text.n, ret);
	if (r < 0 || s->escape == '\\' || s->escape == '\0')
		return r;
	if (s->is_wide) {
		units = ret->p;
		for (size_t i = 0; i < ret->n; i++)
			units[i] = units[i] == '\\' ? (SQLWCHAR)s->escape : units[i];
		return CENOTE_OK;
	}
	bytes = cnc_strndup(s->mem, text.p, text.n);
	if (!bytes)
		return CENOTE_ERR_NOMEM;
	for (size_t i = 0; i < text.n; i++) {
		if (bytes[i] == '\\')
			bytes[i] = s->escape;
	}
	*ret = (struct cnd_od_text){ bytes, text.n, 1 };
	return CENOTE_OK;
}

static int
make_filters(struct catalog_query *q)
{
	const struct cnp_catalog *f = q->filter;
	const struct {
		int bit;
		struct cnp_str text;
		struct cnd_od_text *to;
	} parts[] = { { 1, f->catalog, &q->f.catalog }, { 2, f->schema, &q->f.schema },
		{ 4, f->object, &q->f.object }, { 8, f->column, &q->f.column },
		{ 16, f->types, &q->f.types } };
	int r = CENOTE_OK;

	for (size_t i = 0; r == CENOTE_OK && i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (f->given & parts[i].bit)
			r = make_pattern(q->s, parts[i].text, parts[i].to);
	}
	return r == CENOTE_ERR_CONVERT ? cnd_refuse(q->s->diag, CNC_SQLSTATE(BAD_CAST),
						 NULL, "a filter is not UTF-8")
				       : r;
}

static void
free_filters(struct catalog_query *q)
{
	cnd_od_text_finish(q->s, &q->f.catalog);
	cnd_od_text_finish(q->s, &q->f.schema);
	cnd_od_text_finish(q->s, &q->f.object);
	cnd_od_text_finish(q->s, &q->f.column);
	cnd_od_text_finish(q->s, &q->f.types);
}

/* ---- rows ---- */

static int
read_text(struct catalog_query *q, uint32_t column, struct cnp_str *ret_text)
{
	SQLSMALLINT c_type = q->s->is_wide ? SQL_C_WCHAR : SQL_C_CHAR;

	return cnd_od_read_value(q->s, q->handle, (SQLUSMALLINT)column, c_type, ret_text);
}

/* Match `c` with the next character of the pattern, which is not %. Returns the length of that character, or
 * 0 for no match. */
static size_t
fits_one(const char *pattern, size_t len, char c)
{
	if (*pattern == '\\' && len > 1)
		return pattern[1] == c ? 2 : 0;
	return *pattern == '_' || *pattern == c;
}

/* The driver's lists of catalogs and schemas take no pattern, so match the names here. */
static int
is_like(struct cnp_str text, struct cnp_str pattern)
{
	size_t i = 0, at = 0, n, star = SIZE_MAX, again = 0;

	while (i < text.n) {
		if (at < pattern.n && pattern.p[at] == '%') {
			star = ++at;
			again = i;
			continue;
		}
		n = at < pattern.n ? fits_one(pattern.p + at, pattern.n - at, text.p[i])
				   : 0;
		if (n > 0) {
			at += n;
			i++;
		} else if (star == SIZE_MAX) {
			return 0;
		} else {
			at = star;
			i = ++again;
		}
	}
	while (at < pattern.n && pattern.p[at] == '%')
		at++;
	return at == pattern.n;
}

/* Whether the client did not ask for this row, which the driver returned all the same. */
static int
is_left_out(const struct catalog_query *q, uint32_t column, const struct cnp_str *v)
{
	const struct cnp_catalog *f = q->filter;

	if (f->kind == CENOTE_CATALOG_SCHEMAS && column == 1 && f->given & 2)
		return !is_like(*v, f->schema);
	if (f->kind == CENOTE_CATALOG_DATABASES && column == 0 && f->given & 1)
		return !is_like(*v, f->catalog);
	/* statistics of the table itself: SQL_TABLE_STAT */
	return f->kind == CENOTE_CATALOG_INDEXES && column == 6 && v->n == 1 &&
	       *v->p == '0';
}

/* Write the values of a row. CENOTE_DONE: the row is to be left out. */
static int
put_values(struct catalog_query *q, struct cnc_batch *w)
{
	struct cnp_str v;
	uint32_t i, from;
	int r = CENOTE_OK;

	for (i = 0; r == CENOTE_OK && i < q->n_columns; i++) {
		from = q->kind->columns[0] ? q->kind->columns[i] : i + 1;
		r = read_text(q, from, &v);
		if (r < 0)
			return r;
		if (r == CENOTE_OK && is_left_out(q, i, &v))
			return CENOTE_DONE;
		/* drivers return NULL or "" for what a server does not have */
		if (r == CENOTE_DONE || v.n == 0)
			r = cnc_batch_null(w);
		else
			r = cnd_od_put_text(
				w, q->columns[i].type, CENOTE_FORMAT_CANONICAL, v.p, v.n);
	}
	return r;
}

static int
put_row(struct catalog_query *q)
{
	struct cnc_batch *w = q->sink->batch;
	int r = cnc_batch_row(w);

	if (r == CENOTE_OK)
		r = put_values(q, w);
	if (r == CENOTE_DONE) {
		cnc_batch_row_undo(w);
		return CENOTE_OK;
	}
	r = cnd_row_end(w, r);
	if (r < 0)
		return r;
	q->n_rows++;
	r = q->sink->ops->row_done(q->sink);
	q->is_limited = r == CENOTE_DONE;
	return r < 0 ? r : CENOTE_OK;
}

static int
put_rows(struct catalog_query *q)
{
	int r = call(q, q->kind->call);

	while (r == CENOTE_OK && !q->is_limited) {
		r = next_row(q);
		if (r == CENOTE_OK)
			r = put_row(q);
	}
	(void)SQLFreeStmt(q->handle, SQL_CLOSE);
	return r == CENOTE_DONE ? CENOTE_OK : r;
}

/* ---- lists that are read table by table ---- */

static void
free_tables(struct cnd_session *s, struct table *tables)
{
	struct table *next;

	for (; tables; tables = next) {
		next = tables->next;
		cnd_od_text_finish(s, &tables->catalog);
		cnd_od_text_finish(s, &tables->schema);
		cnd_od_text_finish(s, &tables->name);
		cnc_free(s->mem, tables);
	}
}

/* Copy a value of the row, to pass it to the next catalog function. */
static int
take_name(struct catalog_query *q, uint32_t column, struct cnd_od_text *ret)
{
	struct cnp_str v;
	char *copy;
	int r = read_text(q, column, &v);

	if (r != CENOTE_OK)
		return r < 0 ? r : CENOTE_OK;
	if (q->s->is_wide)
		return cnd_od_text_make(q->s, v.p, v.n, ret);
	copy = cnc_strndup(q->s->mem, v.p, v.n);
	if (!copy)
		return CENOTE_ERR_NOMEM;
	*ret = (struct cnd_od_text){ copy, v.n, 1 };
	return CENOTE_OK;
}

static int
take_table(struct catalog_query *q, struct table **end)
{
	struct table *t = cnc_calloc(q->s->mem, 1, sizeof(*t));
	int r;

	if (!t)
		return CENOTE_ERR_NOMEM;
	*end = t;
	r = take_name(q, 1, &t->catalog);
	if (r == CENOTE_OK)
		r = take_name(q, 2, &t->schema);
	return r == CENOTE_OK ? take_name(q, 3, &t->name) : r;
}

static int
list_tables(struct catalog_query *q, struct table **ret_tables)
{
	struct table **end = ret_tables;
	int r = call(q, call_tables);

	while (r == CENOTE_OK) {
		r = next_row(q);
		if (r != CENOTE_OK)
			break;
		r = take_table(q, end);
		end = *end ? &(*end)->next : end;
	}
	(void)SQLFreeStmt(q->handle, SQL_CLOSE);
	return r == CENOTE_DONE ? CENOTE_OK : r;
}

static int
put_each_table(struct catalog_query *q)
{
	struct table *tables = NULL;
	int r = list_tables(q, &tables);

	for (q->table = tables; r == CENOTE_OK && q->table && !q->is_limited;
		q->table = q->table->next)
		r = put_rows(q);
	free_tables(q->s, tables);
	return r;
}

/* ---- one request ---- */

static int
run(struct catalog_query *q)
{
	struct cnd_od_stmt *st;
	int r = cnd_od_stmt_take(q->s, &st);

	if (r < 0)
		return r;
	q->handle = st->handle;
	r = q->sink->ops->columns(q->sink, q->columns, q->n_columns, 0);
	if (r == CENOTE_OK)
		r = q->kind->is_per_table ? put_each_table(q) : put_rows(q);
	st->is_open = 1;
	cnd_od_stmt_give(q->s, st);
	return r;
}

int
cnd_od_catalog(
	struct cnd_session *s, const struct cnp_catalog *filter, struct cnd_sink *sink)
{
	struct catalog_query q = { .s = s, .sink = sink, .filter = filter };
	char tag[32];
	int r = cnd_od_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	q.n_columns = cnd_catalog_columns(filter->kind, q.columns);
	if (q.n_columns == 0 || filter->kind >= sizeof(kinds) / sizeof(kinds[0]))
		return cnd_refuse(s->diag, CNC_SQLSTATE(BAD_PARAMETER), NULL,
			"there is no catalog list %u", (unsigned)filter->kind);
	q.kind = &kinds[filter->kind];
	s->is_used = 1;
	r = make_filters(&q);
	if (r == CENOTE_OK)
		r = run(&q);
	free_filters(&q);
	if (r < 0)
		return r;
	(void)snprintf(tag, sizeof(tag), "SELECT %llu", (unsigned long long)q.n_rows);
	return cnd_done(sink, tag, q.is_limited ? CNP_DONE_LIMITED : 0);
}
