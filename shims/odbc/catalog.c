/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The catalog functions (SQLTables() and similar): one or two requests to the pool, whose rows are
 * filtered, adapted and sorted as the ODBC standard wants. catalog_call.c calls cod_catalog_ask() and
 * makes a cursor of the answer. It has no state.
 */
#include "catalog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog_internal.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The rows of one request. */
struct list {
	uint32_t request; /* enum cenote_catalog_kind */
	int has_patterns;
	/* Changes a row before it becomes a row of the result. Returns 0 to leave the row out. NULL:
	 * take every row as it is. */
	int (*take)(struct cod_catalog_build *build, struct cod_catalog_row *row);
};

/* The server reports this size for types without a limit. */
static const char unlimited_size[] = "1073741823";

/* ---- rows ---- */

static void
set_text(struct cod_catalog_row *row, uint32_t col, const char *text)
{
	row->values[col] = text;
	row->lens[col] = text ? strlen(text) : 0;
}

void
cod_catalog_set_number(struct cod_catalog_row *row, uint32_t col, long value)
{
	char *text = row->numbers[row->n_numbers++];

	(void)snprintf(text, sizeof(row->numbers[0]), "%ld", value);
	set_text(row, col, text);
}

static long
read_number(const struct cod_catalog_row *row, uint32_t col, long null)
{
	return row->values[col] ? strtol(row->values[col], NULL, 10) : null;
}

/* SQL_INTEGER cannot hold some sizes, such as that of MySQL's longtext. Treat them as unlimited. */
static void
limit_sizes(const struct cod_catalog *catalog, struct cod_catalog_row *row)
{
	for (uint32_t i = 0; i < catalog->rows.n_columns; i++) {
		if (catalog->columns[i].type.sql->concise == SQL_INTEGER &&
			read_number(row, i, 0) > INT32_MAX)
			set_text(row, i, unlimited_size);
	}
}

int
cod_catalog_put(struct cod_catalog_build *build, struct cod_catalog_row *row)
{
	limit_sizes(build->catalog, row);
	return cod_rows_put(&build->catalog->rows, row->values, row->lens) < 0
		       ? CENOTE_ERR_NOMEM
		       : CENOTE_OK;
}

static void
read_row(const cenote_result *res, uint64_t at, struct cod_catalog_row *ret_row)
{
	uint32_t n = cenote_result_n_columns(res);

	memset(ret_row, 0, sizeof(*ret_row));
	for (uint32_t i = 0; i < n && i < COD_CATALOG_COLUMNS_MAX; i++)
		ret_row->values[i] = cenote_result_text(res, at, i, &ret_row->lens[i]);
}

/* ---- types, as columns of a result have them ---- */

static SQLSMALLINT
widened(SQLSMALLINT type, int is_wide)
{
	const struct cod_string_form *form = cod_string_form(type);

	return (SQLSMALLINT)(is_wide && form != NULL ? form->wide : type);
}

/* Describe texts and bytes without a limit as long types. A type gets the server's maximum as its
 * size. A column gets the size of the buffer that a program should allocate. */
static SQLSMALLINT
adapt_size(const struct cod_catalog_args *args, struct cod_catalog_row *row,
	SQLSMALLINT type, uint32_t size)
{
	int is_column = args->kind != COD_CATALOG_TYPE_INFO;
	const struct cod_string_form *form = cod_string_form(type);

	if (is_column && args->options.is_int32 && type == SQL_BIGINT) {
		/* the size in digits, and in bytes */
		cod_catalog_set_number(row, size, cod_sql_type(SQL_INTEGER)->size);
		cod_catalog_set_number(row, size + 1, sizeof(SQLINTEGER));
		return SQL_INTEGER;
	}
	if (form == NULL)
		return type;
	if (is_column ? cod_is_limited(read_number(row, size, 0))
		      : row->values[size] != NULL)
		return type;
	if (is_column)
		cod_catalog_set_number(row, size, (long)args->options.long_size);
	else
		set_text(row, size, unlimited_size);
	return form->unlimited;
}

void
cod_catalog_adapt_type(const struct cod_catalog_args *args, struct cod_catalog_row *row,
	uint32_t type, uint32_t size)
{
	SQLSMALLINT told = (SQLSMALLINT)read_number(row, type, SQL_VARCHAR);
	SQLSMALLINT is = adapt_size(args, row, told, size);

	is = cod_sql_type_for(widened(is, args->options.is_wide), args->odbc_version);
	if (is != told)
		cod_catalog_set_number(row, type, is);
}

/* SQL_DATA_TYPE is the verbose type. For texts it equals DATA_TYPE. */
static void
adapt_verbose(struct cod_catalog_row *row, uint32_t type, uint32_t verbose)
{
	if (read_number(row, verbose, 0) != SQL_DATETIME)
		set_text(row, verbose, row->values[type]);
}

static int
take_column(struct cod_catalog_build *build, struct cod_catalog_row *row)
{
	cod_catalog_adapt_type(build->args, row, 4, 6);
	adapt_verbose(row, 4, 13);
	return 1;
}

static int
take_procedure_column(struct cod_catalog_build *build, struct cod_catalog_row *row)
{
	cod_catalog_adapt_type(build->args, row, 5, 7);
	adapt_verbose(row, 5, 14);
	return 1;
}

static int
take_type(struct cod_catalog_build *build, struct cod_catalog_row *row)
{
	const struct cod_catalog_args *a = build->args;
	SQLSMALLINT wanted = a->sql_type;

	cod_catalog_adapt_type(a, row, 1, 2);
	adapt_verbose(row, 1, 15);
	if (wanted == SQL_ALL_TYPES)
		return 1;
	/* With wide types, SQL_VARCHAR means SQL_WVARCHAR. */
	wanted = cod_sql_type_for(
		widened(cod_sql_type(wanted)->concise, a->options.is_wide),
		a->odbc_version);
	return read_number(row, 1, 0) == wanted;
}

/* ---- choosing rows ---- */

static int
has_catalog(const struct cod_catalog_build *build, const char *catalog)
{
	const char *pattern = build->texts->catalog_pattern;

	return !pattern || cod_catalog_is_like(catalog ? catalog : "", pattern);
}

static int
is_named(const char *pattern, const char *name)
{
	return !pattern || cod_catalog_is_like(name ? name : "", pattern);
}

/* The pool lists foreign keys by the referring table. If the application gave the referenced table,
 * look for it in the rows. */
static int
take_foreign_key(struct cod_catalog_build *build, struct cod_catalog_row *row)
{
	const struct cod_catalog_args *a = build->args;
	struct cod_catalog_filter_texts primary = { .schema = NULL };
	int is_it;

	if (!a->object)
		return 1;
	if (cod_catalog_filter(a, a->catalog, a->schema, a->object, 0, &primary) < 0)
		return CENOTE_ERR_NOMEM;
	is_it = is_named(primary.schema, row->values[1]) &&
		is_named(primary.object, row->values[2]) &&
		(!primary.catalog || !row->values[0] ||
			strcmp(primary.catalog, row->values[0]) == 0);
	cod_catalog_filter_finish(&primary);
	return is_it;
}

static int
take_index(struct cod_catalog_build *build, struct cod_catalog_row *row)
{
	return build->args->is_unique == SQL_INDEX_ALL || read_number(row, 3, 1) == 0;
}

static const struct list lists[COD_N_CATALOG_KINDS] = {
	[COD_CATALOG_TABLES] = { CENOTE_CATALOG_TABLES, 1, NULL },
	[COD_CATALOG_COLUMNS] = { CENOTE_CATALOG_COLUMNS, 1, take_column },
	[COD_CATALOG_PRIMARY_KEYS] = { CENOTE_CATALOG_PRIMARY_KEYS, 0, NULL },
	[COD_CATALOG_FOREIGN_KEYS] = { CENOTE_CATALOG_FOREIGN_KEYS, 0, take_foreign_key },
	[COD_CATALOG_STATISTICS] = { CENOTE_CATALOG_INDEXES, 0, take_index },
	[COD_CATALOG_SPECIAL_COLUMNS] = { 0, 0, NULL },
	[COD_CATALOG_PROCEDURES] = { CENOTE_CATALOG_PROCEDURES, 1, NULL },
	[COD_CATALOG_PROCEDURE_COLUMNS] = { CENOTE_CATALOG_PROCEDURE_COLUMNS, 1,
		take_procedure_column },
	[COD_CATALOG_TABLE_PRIVILEGES] = { CENOTE_CATALOG_TABLE_PRIVILEGES, 1, NULL },
	[COD_CATALOG_COLUMN_PRIVILEGES] = { CENOTE_CATALOG_COLUMN_PRIVILEGES, 0, NULL },
	[COD_CATALOG_TYPE_INFO] = { CENOTE_CATALOG_TYPES, 0, take_type },
};

static int
take_rows(struct cod_catalog_build *build, const struct list *list,
	const cenote_result *res)
{
	struct cod_catalog_row row;
	int r = CENOTE_OK;

	for (uint64_t i = 0; r >= 0 && i < cenote_result_n_rows(res); i++) {
		read_row(res, i, &row);
		if (list->has_patterns && !has_catalog(build, row.values[0]))
			continue;
		r = list->take ? list->take(build, &row) : 1;
		if (r > 0)
			r = cod_catalog_put(build, &row);
	}
	return r < 0 ? r : CENOTE_OK;
}

static int
ask(struct cod_catalog_build *build, const struct list *list)
{
	cenote_catalog_filter filter = CENOTE_CATALOG_FILTER_INIT;
	cenote_result *res;
	int r;

	cod_catalog_filter_set(build->texts, &filter);
	r = cenote_catalog(build->conn, list->request, &filter, &res);
	if (r != CENOTE_OK)
		return r;
	r = take_rows(build, list, res);
	cenote_result_destroy(res);
	return r;
}

/* ---- lists that need more than one request ---- */

static int
is_empty(const char *name)
{
	return !name || !*name;
}

/* No table has an empty name, so an empty name finds nothing. In SQLForeignKeys() it means any
 * table, as a null pointer does. */
static int
names_nothing(const struct cod_catalog_args *a)
{
	if (a->kind == COD_CATALOG_FOREIGN_KEYS)
		return 0;
	return (a->object && !*a->object) || (a->column && !*a->column);
}

/*
 * SQLTables() with SQL_ALL_CATALOGS, SQL_ALL_SCHEMAS or SQL_ALL_TABLE_TYPES: only one of the five
 * columns has values. The standard wants empty strings in the other arguments. No table has an empty
 * name, so a null pointer is also accepted in their place.
 */
static int
is_all(const char *it, const char *other, const char *table)
{
	return it && strcmp(it, "%") == 0 && is_empty(other) && table && !*table;
}

static int
take_name_only(struct cod_catalog_build *build, const cenote_result *res, uint32_t from,
	uint32_t to)
{
	int r = CENOTE_OK;

	for (uint64_t i = 0; r == CENOTE_OK && i < cenote_result_n_rows(res); i++) {
		struct cod_catalog_row row = { .n_numbers = 0 };

		row.values[to] = cenote_result_text(res, i, from, &row.lens[to]);
		if (row.values[to])
			r = cod_catalog_put(build, &row);
	}
	return r;
}

/* List catalogs, schemas or table types. A server without catalogs lists none. */
static int
list_names(struct cod_catalog_build *build, uint32_t request, uint32_t from, uint32_t to)
{
	cenote_result *res;
	int r = cenote_catalog(build->conn, request, NULL, &res);

	if (r != CENOTE_OK)
		return r;
	r = take_name_only(build, res, from, to);
	cenote_result_destroy(res);
	return r;
}

static int
list_table_types(struct cod_catalog_build *build)
{
	static const struct {
		const char *type;
		unsigned servers; /* bits of enum cod_dialect */
	} types[] = {
		{ "FOREIGN TABLE", 1u << COD_DIALECT_POSTGRESQL },
		{ "LOCAL TEMPORARY", ~0u },
		{ "MATERIALIZED VIEW", 1u << COD_DIALECT_POSTGRESQL },
		{ "SYSTEM TABLE", ~0u },
		{ "TABLE", ~0u },
		{ "VIEW", ~0u },
	};
	int r = CENOTE_OK;

	for (size_t i = 0; r == CENOTE_OK && i < COUNT(types); i++) {
		struct cod_catalog_row row = { .n_numbers = 0 };

		if (!(types[i].servers & 1u << build->args->dialect))
			continue;
		set_text(&row, 3, types[i].type);
		r = cod_catalog_put(build, &row);
	}
	return r;
}

static int
list_tables(struct cod_catalog_build *build)
{
	const struct cod_catalog_args *a = build->args;
	/* The databases of SQLite are schemas. */
	int has_catalogs = a->dialect != COD_DIALECT_SQLITE;

	if (is_all(a->catalog, a->schema, a->object))
		return has_catalogs ? list_names(build, CENOTE_CATALOG_DATABASES, 0, 0)
				    : CENOTE_OK;
	if (is_all(a->schema, a->catalog, a->object))
		return list_names(build, CENOTE_CATALOG_SCHEMAS, 1, 1);
	if (is_all(a->types, a->catalog, a->object) && is_empty(a->schema))
		return list_table_types(build);
	if (names_nothing(a))
		return CENOTE_OK;
	return ask(build, &lists[COD_CATALOG_TABLES]);
}

/* Put a row about each table before the rows about its indexes. */
static int
put_table_statistics(struct cod_catalog_build *build)
{
	cenote_catalog_filter filter = CENOTE_CATALOG_FILTER_INIT;
	struct cod_catalog_row table, row;
	cenote_result *res;
	int r;

	cod_catalog_filter_set(build->texts, &filter);
	r = cenote_catalog(build->conn, CENOTE_CATALOG_TABLES, &filter, &res);
	if (r != CENOTE_OK)
		return r;
	for (uint64_t i = 0; r == CENOTE_OK && i < cenote_result_n_rows(res); i++) {
		read_row(res, i, &table);
		memset(&row, 0, sizeof(row));
		memcpy(row.values, table.values, 3 * sizeof(row.values[0]));
		memcpy(row.lens, table.lens, 3 * sizeof(row.lens[0]));
		cod_catalog_set_number(&row, 6, SQL_TABLE_STAT);
		r = cod_catalog_put(build, &row);
	}
	cenote_result_destroy(res);
	return r;
}

static int
list_statistics(struct cod_catalog_build *build)
{
	int r = put_table_statistics(build);

	return r == CENOTE_OK ? ask(build, &lists[COD_CATALOG_STATISTICS]) : r;
}

/* The order when the application asked for the keys that refer to its table. */
static int
compare_referring(const void *a, const void *b)
{
	static const uint32_t order[] = { 4, 5, 6, 11, 8 };
	const uint8_t *const *rows[] = { a, b };

	for (size_t i = 0; i < COUNT(order); i++) {
		const char *x = cenote_row_text(*rows[0], 14, order[i], NULL);
		const char *y = cenote_row_text(*rows[1], 14, order[i], NULL);
		int difference = strcmp(x ? x : "", y ? y : "");

		if (order[i] == 8 && x && y) {
			long n = strtol(x, NULL, 10), other = strtol(y, NULL, 10);

			difference = (n > other) - (n < other);
		}
		if (difference)
			return difference;
	}
	return 0;
}

static int
list_foreign_keys(struct cod_catalog_build *build)
{
	int r = ask(build, &lists[COD_CATALOG_FOREIGN_KEYS]);

	if (r == CENOTE_OK && build->args->object)
		cod_rows_sort(&build->catalog->rows, compare_referring);
	return r;
}

static long
data_type(const struct cod_rows *rows, size_t i)
{
	const char *text = cenote_row_text(rows->rows[i], rows->n_columns, 1, NULL);

	return text ? strtol(text, NULL, 10) : 0;
}

/* Sort types by their ODBC number. Types of one number keep the server's order: the closest one
 * comes first. */
static int
list_types(struct cod_catalog_build *build)
{
	struct cod_rows *rows = &build->catalog->rows;
	int r = ask(build, &lists[COD_CATALOG_TYPE_INFO]);

	for (size_t i = 1; r == CENOTE_OK && i < rows->n_rows; i++) {
		for (size_t k = i; k > 0 && data_type(rows, k - 1) > data_type(rows, k);
			k--) {
			const uint8_t *row = rows->rows[k];

			rows->rows[k] = rows->rows[k - 1];
			rows->rows[k - 1] = row;
		}
	}
	return r;
}

static int
list_rest(struct cod_catalog_build *build)
{
	return ask(build, &lists[build->args->kind]);
}

static int (*const listers[COD_N_CATALOG_KINDS])(struct cod_catalog_build *) = {
	[COD_CATALOG_TABLES] = list_tables,
	[COD_CATALOG_COLUMNS] = list_rest,
	[COD_CATALOG_PRIMARY_KEYS] = list_rest,
	[COD_CATALOG_FOREIGN_KEYS] = list_foreign_keys,
	[COD_CATALOG_STATISTICS] = list_statistics,
	[COD_CATALOG_SPECIAL_COLUMNS] = cod_catalog_rowid,
	[COD_CATALOG_PROCEDURES] = list_rest,
	[COD_CATALOG_PROCEDURE_COLUMNS] = list_rest,
	[COD_CATALOG_TABLE_PRIVILEGES] = list_rest,
	[COD_CATALOG_COLUMN_PRIVILEGES] = list_rest,
	[COD_CATALOG_TYPE_INFO] = list_types,
};

static int
filter_of(const struct cod_catalog_args *a, struct cod_catalog_filter_texts *ret_texts)
{
	if (a->kind == COD_CATALOG_FOREIGN_KEYS)
		return cod_catalog_filter(
			a, a->fk_catalog, a->fk_schema, a->fk_object, 0, ret_texts);
	return cod_catalog_filter(a, a->catalog, a->schema, a->object,
		lists[a->kind].has_patterns, ret_texts);
}

static int
ask_once(cenote_conn *conn, const struct cod_catalog_args *args,
	struct cod_catalog *ret_catalog, const char **ret_state)
{
	struct cod_catalog catalog = { .columns = NULL };
	struct cod_catalog_filter_texts texts;
	struct cod_catalog_build build = { conn, args, &catalog, &texts };
	const char *state = cod_catalog_check(args);
	uint32_t n_columns;
	int r = CENOTE_ERR_NOMEM;

	if (state) {
		*ret_state = state;
		return COD_CATALOG_BAD;
	}
	if (filter_of(args, &texts) < 0)
		return CENOTE_ERR_NOMEM;
	if (cod_catalog_columns(args, &catalog.columns, &n_columns) < 0)
		goto out;
	cod_rows_init(&catalog.rows, n_columns);
	r = CENOTE_OK;
	if (args->kind == COD_CATALOG_TABLES || !names_nothing(args))
		r = listers[args->kind](&build);
	if (r == CENOTE_OK)
		*ret_catalog = catalog;
	else
		cod_catalog_finish(&catalog);
out:
	cod_catalog_filter_finish(&texts);
	return r;
}

/* Ask again in small letters if nothing was found: PostgreSQL calls a table t1 that a program created
 * as T1, and the program may look for T1. */
int
cod_catalog_ask(cenote_conn *conn, const struct cod_catalog_args *args,
	struct cod_catalog *ret_catalog, const char **ret_state)
{
	struct cod_catalog_args folded = *args;
	int r = ask_once(conn, args, ret_catalog, ret_state);

	if (r != CENOTE_OK || ret_catalog->rows.n_rows > 0 ||
		args->dialect != COD_DIALECT_POSTGRESQL ||
		!cod_catalog_has_capitals(args))
		return r;
	cod_catalog_finish(ret_catalog);
	folded.folds_capitals = 1;
	return ask_once(conn, &folded, ret_catalog, ret_state);
}

void
cod_catalog_finish(struct cod_catalog *catalog)
{
	cod_rows_finish(&catalog->rows);
	free(catalog->columns);
	catalog->columns = NULL;
}
