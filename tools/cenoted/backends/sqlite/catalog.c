/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Catalog queries are SQL over SQLite's PRAGMA functions. They run beside the client's own
 * statements, and change neither its counters nor its transaction. A SQLite database (main, temp,
 * an attached one) is a schema here. Lists about one table are made one table after the other: a
 * view that no longer compiles fails, and the other tables must not fail with it.
 *
 * Parameters of every query: ?1 schema, ?2 object, ?3 column (patterns; NULL matches everything),
 * ?4 types, ?5 catalog. Parameters of a query about one table: ?1 its schema, ?2 its name, ?3 as
 * before, ?6 whether it is WITHOUT ROWID.
 */
#include <string.h>

#include "../common/catalog.h"
#include "sqlite.h"

/* Writes a value that is computed from the declared type. The query gives the declared type in its
 * place. */
typedef int put_value(struct cnc_batch *w, const char *declared);

struct catalog_kind {
	const char *sql;
	int is_per_table;
	put_value *const *puts; /* by column; NULL: the query itself gives all values */
};

/* How ODBC describes a logical type; -1 is NULL. */
struct odbc_type {
	int16_t code; /* SQL_VARCHAR and so on */
	int16_t verbose_code; /* SQL_DATETIME … */
	int16_t sub; /* SQL_CODE_DATE … */
	int16_t size; /* digits or characters, without a fraction; -1: the declaration says */
	int16_t bytes;
	int16_t scale;
	int16_t radix;
};

static const struct odbc_type odbc_types[] = {
	[CENOTE_TYPE_NULL] = { 12, 12, -1, -1, -1, -1, -1 },
	[CENOTE_TYPE_BOOL] = { -7, -7, -1, 1, 1, -1, -1 },
	[CENOTE_TYPE_INT64] = { -5, -5, -1, 19, 8, 0, 10 },
	[CENOTE_TYPE_UINT64] = { -5, -5, -1, 20, 8, 0, 10 },
	[CENOTE_TYPE_DOUBLE] = { 8, 8, -1, 53, 8, -1, 2 },
	[CENOTE_TYPE_DECIMAL] = { 3, 3, -1, -1, -1, -1, 10 },
	[CENOTE_TYPE_TEXT] = { 12, 12, -1, -1, -1, -1, -1 },
	[CENOTE_TYPE_BYTES] = { -3, -3, -1, -1, -1, -1, -1 },
	[CENOTE_TYPE_DATE] = { 91, 9, 1, 10, 6, -1, -1 },
	[CENOTE_TYPE_TIME] = { 92, 9, 2, 8, 6, 6, -1 },
	[CENOTE_TYPE_TIMESTAMP] = { 93, 9, 3, 19, 16, 9, -1 },
	[CENOTE_TYPE_INTERVAL] = { 12, 12, -1, -1, -1, -1, -1 },
	[CENOTE_TYPE_UUID] = { -11, -11, -1, 36, 16, -1, -1 },
	[CENOTE_TYPE_JSON] = { 12, 12, -1, -1, -1, -1, -1 },
	[CENOTE_TYPE_OTHER] = { 12, 12, -1, -1, -1, -1, -1 },
};

static int
put_number(struct cnc_batch *w, int64_t v)
{
	char text[CNC_VALUE_TEXT_MAX];

	return cnc_batch_put(w, text, cnc_int64_text(v, text));
}

static int
put_known(struct cnc_batch *w, int64_t v)
{
	return v == -1 ? cnc_batch_null(w) : put_number(w, v);
}

static int
put_code(struct cnc_batch *w, const char *declared)
{
	return put_number(w, odbc_types[cnd_sq_type(declared)].code);
}

static int
put_verbose_code(struct cnc_batch *w, const char *declared)
{
	return put_number(w, odbc_types[cnd_sq_type(declared)].verbose_code);
}

static int
put_sub(struct cnc_batch *w, const char *declared)
{
	return put_known(w, odbc_types[cnd_sq_type(declared)].sub);
}

/* How many digits the fraction of a time has; -1: the type is not a time. */
static int64_t
fraction_of(uint8_t type, const char *declared)
{
	int64_t digits;

	if (type != CENOTE_TYPE_TIME && type != CENOTE_TYPE_TIMESTAMP)
		return -1;
	digits = cnd_sq_fraction(declared);
	return digits >= 0 ? digits : odbc_types[type].scale;
}

static int
put_size(struct cnc_batch *w, const char *declared)
{
	uint8_t type = cnd_sq_type(declared);
	int64_t first, second, digits = fraction_of(type, declared);
	int64_t fixed = odbc_types[type].size;

	cnd_sq_type_size(declared, &first, &second);
	if (digits > 0)
		fixed += 1 + digits;
	return put_known(w, fixed != -1 ? fixed : first);
}

/* The length in bytes. A character of UTF-8 text has up to four. */
static int
put_bytes(struct cnc_batch *w, const char *declared)
{
	uint8_t type = cnd_sq_type(declared);
	int64_t first, second;

	if (odbc_types[type].bytes != -1)
		return put_number(w, odbc_types[type].bytes);
	cnd_sq_type_size(declared, &first, &second);
	if (type == CENOTE_TYPE_DECIMAL && first >= 0)
		return put_number(w, first + 2);
	if (type == CENOTE_TYPE_TEXT && first >= 0)
		return put_number(w, first * 4);
	return put_known(w, first);
}

static int
put_octets(struct cnc_batch *w, const char *declared)
{
	uint8_t type = cnd_sq_type(declared);

	return type == CENOTE_TYPE_TEXT || type == CENOTE_TYPE_BYTES
		       ? put_bytes(w, declared)
		       : cnc_batch_null(w);
}

static int
put_scale(struct cnc_batch *w, const char *declared)
{
	uint8_t type = cnd_sq_type(declared);
	int64_t first, second, digits = fraction_of(type, declared);

	if (digits >= 0)
		return put_known(w, digits);
	if (type != CENOTE_TYPE_DECIMAL)
		return put_known(w, odbc_types[type].scale);
	cnd_sq_type_size(declared, &first, &second);
	return put_known(w, first >= 0 && second < 0 ? 0 : second);
}

static int
put_radix(struct cnc_batch *w, const char *declared)
{
	return put_known(w, odbc_types[cnd_sq_type(declared)].radix);
}

static const char database_sql[] =
	"SELECT name, nullif(file, '') FROM pragma_database_list"
	" WHERE (?5 IS NULL OR name = ?5) ORDER BY name";

static const char schema_sql[] =
	"SELECT NULL, name, NULL FROM pragma_database_list"
	" WHERE (?1 IS NULL OR name LIKE ?1 ESCAPE '\\') AND (?5 IS NULL OR name = ?5)"
	" ORDER BY name";

/* The tables and views that match. The queries about one table are run for each of them. */
#define TABLE_LIST                                                                       \
	"(SELECT schema, name, wr, CASE"                                                 \
	" WHEN name LIKE 'sqlite\\_%' ESCAPE '\\' OR type = 'shadow' THEN 'SYSTEM "      \
	"TABLE'"                                                                         \
	" WHEN type = 'view' THEN 'VIEW'"                                                \
	" WHEN schema = 'temp' THEN 'LOCAL TEMPORARY' ELSE 'TABLE' END AS kind"          \
	" FROM pragma_table_list"                                                        \
	" WHERE (?1 IS NULL OR schema LIKE ?1 ESCAPE '\\')"                              \
	" AND (?2 IS NULL OR name LIKE ?2 ESCAPE '\\')"                                  \
	" AND (?5 IS NULL OR schema = ?5))"

static const char table_sql[] =
	"SELECT NULL, schema, name, kind, NULL FROM " TABLE_LIST
	" WHERE ?4 IS NULL OR ?4 = '%' OR instr(',' || replace(replace(replace(upper(?4),"
	" '''', ''), ', ', ','), ' ,', ',') || ',', ',' || kind || ',')"
	" ORDER BY kind, schema, name";

static const char each_table_sql[] =
	"SELECT schema, name, wr FROM " TABLE_LIST " ORDER BY schema, name";

static put_value *const column_puts[CND_CATALOG_COLUMNS_MAX] = {
	[4] = put_code, /* data_type */
	[6] = put_size, /* column_size */
	[7] = put_bytes, /* buffer_length */
	[8] = put_scale, /* decimal_digits */
	[9] = put_radix, /* num_prec_radix */
	[13] = put_verbose_code, /* sql_data_type */
	[14] = put_sub, /* sql_datetime_sub */
	[15] = put_octets, /* char_octet_length */
};

/* A key column of a table WITHOUT ROWID is never NULL, and neither is an INTEGER PRIMARY KEY of one
 * column. */
static const char column_sql[] =
	"SELECT NULL, ?1, ?2, name, type, type, type, type, type, type, can_be_null, "
	"NULL,"
	" dflt_value, type, type, type, position,"
	" CASE WHEN can_be_null THEN 'YES' ELSE 'NO' END"
	" FROM (SELECT name, type, dflt_value, row_number() OVER (ORDER BY cid) AS "
	"position, NOT (\"notnull\" OR pk > 0 AND"
	" (?6 OR upper(type) = 'INTEGER' AND 1 = sum(pk > 0) OVER ())) AS can_be_null"
	" FROM pragma_table_xinfo(?2, ?1) WHERE hidden <> 1)"
	" WHERE ?3 IS NULL OR name LIKE ?3 ESCAPE '\\' ORDER BY position";

static const char primary_key_sql[] =
	"SELECT NULL, ?1, ?2, name, pk, NULL FROM pragma_table_xinfo(?2, ?1)"
	" WHERE pk > 0 ORDER BY pk";

#define RULE(column)                                                                     \
	"CASE upper(" column ") WHEN 'CASCADE' THEN 0 WHEN 'RESTRICT' THEN 1"            \
	" WHEN 'SET NULL' THEN 2 WHEN 'SET DEFAULT' THEN 4 ELSE 3 END"

/* A foreign key that names no columns refers to the primary key. */
static const char foreign_key_sql[] =
	"SELECT NULL, ?1, f.\"table\", coalesce(f.\"to\","
	" (SELECT p.name FROM pragma_table_xinfo(f.\"table\", ?1) p WHERE p.pk = f.seq + "
	"1)),"
	" NULL, ?1, ?2, f.\"from\", f.seq + 1, " RULE("f.on_update") ", " RULE(
		"f.on_delete") ", NULL, NULL, NULL FROM pragma_foreign_key_list(?2, ?1) f"
			       " ORDER BY f.\"table\", f.id, f.seq";

/* 3 is SQL_INDEX_OTHER. An empty condition means that there is one, but that it is not known. */
static const char index_sql[] =
	"SELECT NULL, ?1, ?2, 1 - i.\"unique\", ?1, i.name, 3, x.seqno + 1, x.name,"
	" CASE WHEN x.\"desc\" THEN 'D' ELSE 'A' END, NULL, NULL,"
	" CASE WHEN i.partial THEN '' END"
	" FROM pragma_index_list(?2, ?1) i, pragma_index_xinfo(i.name, ?1) x WHERE x.key"
	" ORDER BY 1 - i.\"unique\", i.name, x.seqno";

static const char type_sql[] =
	"WITH t (n, code, size, lp, ls, params, cs, sign, auto, smin, smax, verbose, "
	"sub, radix)"
	" AS (VALUES"
	" ('UUID', -11, 36, '''', '''', NULL, 1, NULL, NULL, NULL, NULL, -11, NULL, "
	"NULL),"
	" ('BOOLEAN', -7, 1, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, -7, NULL, "
	"NULL),"
	" ('INTEGER', -5, 19, NULL, NULL, NULL, 0, 0, 1, 0, 0, -5, NULL, 10),"
	" ('BLOB', -3, 1000000000, 'x''', '''', NULL, 1, NULL, NULL, NULL, NULL, -3, "
	"NULL, NULL),"
	" ('DECIMAL', 3, 15, NULL, NULL, 'precision,scale', 0, 0, 0, 0, 15, 3, NULL, 10),"
	" ('REAL', 8, 53, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, 8, NULL, 2),"
	" ('TEXT', 12, 1000000000, '''', '''', NULL, 1, NULL, NULL, NULL, NULL, 12, "
	"NULL, NULL),"
	" ('VARCHAR', 12, 1000000000, '''', '''', 'length', 1, NULL, NULL, NULL, NULL, "
	"12, NULL, NULL),"
	" ('JSON', 12, 1000000000, '''', '''', NULL, 1, NULL, NULL, NULL, NULL, 12, "
	"NULL, NULL),"
	" ('DATE', 91, 10, '''', '''', NULL, 0, NULL, NULL, NULL, NULL, 9, 1, NULL),"
	" ('TIME', 92, 18, '''', '''', NULL, 0, NULL, NULL, 0, 9, 9, 2, NULL),"
	" ('TIMESTAMP', 93, 29, '''', '''', NULL, 0, NULL, NULL, 0, 9, 9, 3, NULL))"
	" SELECT n, code, size, lp, ls, params, 1, cs, 3, sign, 0, auto, n, smin, smax, "
	"verbose,"
	" sub, radix, NULL FROM t ORDER BY code, n = 'JSON', n = 'VARCHAR'";

/* SQLite has no procedures, and nobody to whom anything could be granted. */
static const char procedure_sql[] = "SELECT NULL, NULL, NULL, 0, 0, 0, NULL, 0 WHERE 0";

static const char procedure_column_sql[] = "SELECT NULL, NULL, NULL, NULL, 0, 0, NULL, "
					   "0, 0, 0, 0, 0, NULL, NULL, 0, 0, 0, 0, "
					   "NULL WHERE 0";

static const char table_privilege_sql[] =
	"SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE 0";

static const char column_privilege_sql[] =
	"SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE 0";

static const struct catalog_kind kinds[] = {
	[CENOTE_CATALOG_DATABASES] = { database_sql, 0, NULL },
	[CENOTE_CATALOG_SCHEMAS] = { schema_sql, 0, NULL },
	[CENOTE_CATALOG_TABLES] = { table_sql, 0, NULL },
	[CENOTE_CATALOG_COLUMNS] = { column_sql, 1, column_puts },
	[CENOTE_CATALOG_PRIMARY_KEYS] = { primary_key_sql, 1, NULL },
	[CENOTE_CATALOG_FOREIGN_KEYS] = { foreign_key_sql, 1, NULL },
	[CENOTE_CATALOG_INDEXES] = { index_sql, 1, NULL },
	[CENOTE_CATALOG_TYPES] = { type_sql, 0, NULL },
	[CENOTE_CATALOG_PROCEDURES] = { procedure_sql, 0, NULL },
	[CENOTE_CATALOG_PROCEDURE_COLUMNS] = { procedure_column_sql, 0, NULL },
	[CENOTE_CATALOG_TABLE_PRIVILEGES] = { table_privilege_sql, 0, NULL },
	[CENOTE_CATALOG_COLUMN_PRIVILEGES] = { column_privilege_sql, 0, NULL },
};

struct catalog_query {
	struct cnd_session *s;
	struct cnd_sink *sink;
	const struct catalog_kind *kind;
	struct cnp_column columns[CND_CATALOG_COLUMNS_MAX];
	uint32_t n_columns;
	sqlite3_stmt *tables, *rows;
	uint64_t n_rows;
	int is_limited;
};

static int
put_row(struct catalog_query *q)
{
	struct cnc_batch *w = q->sink->batch;
	put_value *const *puts = q->kind->puts;
	int r = cnc_batch_row(w);
	uint32_t i;

	for (i = 0; r == CENOTE_OK && i < q->n_columns; i++) {
		if (puts && puts[i])
			r = puts[i](
				w, (const char *)sqlite3_column_text(q->rows, (int)i));
		else
			r = cnd_sq_put_plain(w, q->rows, (int)i);
	}
	r = cnd_row_end(w, r);
	if (r < 0)
		return r;
	q->n_rows++;
	r = q->sink->ops->row_done(q->sink);
	q->is_limited = r == CENOTE_DONE;
	return r < 0 ? r : CENOTE_OK;
}

/* Send the rows of one query. *ret_rc gets SQLite's last code. */
static int
put_rows(struct catalog_query *q, int *ret_rc)
{
	int r = CENOTE_OK, rc = SQLITE_DONE;

	while (r == CENOTE_OK && !q->is_limited) {
		rc = sqlite3_step(q->rows);
		if (rc != SQLITE_ROW)
			break;
		r = put_row(q);
	}
	*ret_rc = rc == SQLITE_ROW ? SQLITE_DONE : rc;
	return r;
}

static int
put_each_table(struct catalog_query *q)
{
	int r = CENOTE_OK, rc;

	while (r == CENOTE_OK && !q->is_limited) {
		rc = sqlite3_step(q->tables);
		if (rc == SQLITE_DONE)
			break;
		if (rc != SQLITE_ROW)
			return cnd_sq_fail(q->s, rc, 0);
		(void)sqlite3_bind_value(q->rows, 1, sqlite3_column_value(q->tables, 0));
		(void)sqlite3_bind_value(q->rows, 2, sqlite3_column_value(q->tables, 1));
		(void)sqlite3_bind_int(q->rows, 6, sqlite3_column_int(q->tables, 2));
		r = put_rows(q, &rc);
		/* SQLITE_ERROR: a view over something that no longer exists */
		if (r == CENOTE_OK && rc != SQLITE_DONE && rc != SQLITE_ERROR)
			r = cnd_sq_fail(q->s, rc, 0);
		(void)sqlite3_reset(q->rows);
	}
	return r;
}

/* Bind the filters. An absent filter stays NULL, which matches everything. */
static int
bind_filters(sqlite3_stmt *st, const struct cnp_catalog *f)
{
	const struct {
		int index, bit;
		struct cnp_str text;
	} filters[] = { { 1, 2, f->schema }, { 2, 4, f->object }, { 3, 8, f->column },
		{ 4, 16, f->types }, { 5, 1, f->catalog } };
	int rc = SQLITE_OK, n = sqlite3_bind_parameter_count(st);
	size_t i;

	for (i = 0; rc == SQLITE_OK && i < sizeof(filters) / sizeof(filters[0]); i++) {
		if (f->given & filters[i].bit && filters[i].index <= n)
			rc = sqlite3_bind_text64(st, filters[i].index, filters[i].text.p,
				filters[i].text.n, SQLITE_STATIC, SQLITE_UTF8);
	}
	return rc;
}

static int
compile(struct catalog_query *q, const struct cnp_catalog *filter)
{
	sqlite3 *db = q->s->db;
	int rc = sqlite3_prepare_v2(db, q->kind->sql, -1, &q->rows, NULL);

	if (rc == SQLITE_OK)
		rc = bind_filters(q->rows, filter);
	if (rc == SQLITE_OK && q->kind->is_per_table)
		rc = sqlite3_prepare_v2(db, each_table_sql, -1, &q->tables, NULL);
	if (rc == SQLITE_OK && q->tables)
		rc = bind_filters(q->tables, filter);
	return rc;
}

static int
run(struct catalog_query *q, const struct cnp_catalog *filter)
{
	int r, rc = compile(q, filter);

	if (rc != SQLITE_OK)
		return cnd_sq_fail(q->s, rc, 0);
	r = q->sink->ops->columns(q->sink, q->columns, q->n_columns, 0);
	if (r < 0)
		return r;
	if (q->tables)
		return put_each_table(q);
	r = put_rows(q, &rc);
	if (r == CENOTE_OK && rc != SQLITE_DONE)
		r = cnd_sq_fail(q->s, rc, 0);
	return r;
}

int
cnd_sq_catalog(
	struct cnd_session *s, const struct cnp_catalog *filter, struct cnd_sink *sink)
{
	struct catalog_query q = { .s = s, .sink = sink };
	char tag[32];
	int r;

	cnd_sq_enter(s, sink->diag);
	q.n_columns = cnd_catalog_columns(filter->kind, q.columns);
	if (q.n_columns == 0)
		return cnd_sq_refuse(s, CNC_SQLSTATE(BAD_PARAMETER), NULL,
			"there is no catalog list %u", (unsigned)filter->kind);
	q.kind = &kinds[filter->kind];
	s->is_internal++;
	s->is_catalog = 1;
	r = run(&q, filter);
	(void)sqlite3_finalize(q.rows);
	(void)sqlite3_finalize(q.tables);
	s->is_catalog = 0;
	s->is_internal--;
	if (r < 0)
		return r;
	sqlite3_snprintf(
		(int)sizeof(tag), tag, "SELECT %llu", (unsigned long long)q.n_rows);
	return cnd_done(sink, tag, q.is_limited ? CNP_DONE_LIMITED : 0);
}
