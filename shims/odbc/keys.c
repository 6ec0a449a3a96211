/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the table of a result and its primary key, so that SQLSetPos() and SQLBulkOperations() can
 * find a row again. position.c calls it. The state is cod_stmt.keys.
 */
#include "keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------- the table of a result ----- */

/* The table of a result, from the first column that has one. */
struct origin {
	char *catalog, *schema, *table;
};

static void
origin_finish(struct origin *origin)
{
	free(origin->catalog);
	free(origin->schema);
	free(origin->table);
}

/* Replace a text by a copy of another. NULL becomes "", although servers should not send NULL
 * here. */
static bool
set(char **to, const char *text)
{
	free(*to);
	*to = text != NULL ? cod_strdup(text, strlen(text)) : cod_strdup("", 0);
	return *to != NULL;
}

static bool
keys_init(struct cod_keys *keys, SQLUSMALLINT n)
{
	keys->n_columns = n;
	keys->names = calloc(n, sizeof(*keys->names));
	keys->is_key = calloc(n, sizeof(*keys->is_key));
	return keys->names != NULL && keys->is_key != NULL;
}

/* Find the table and columns for servers that name them in the result. */
static SQLRETURN
origin_by_name(struct cod_stmt *stmt, struct cod_keys *keys, struct origin *origin)
{
	const struct cod_column *first = NULL;

	for (SQLUSMALLINT i = 0; i < stmt->n_columns; i++) {
		const struct cod_column *column = &stmt->columns[i];

		if (*column->base_table == '\0')
			continue;
		if (first == NULL)
			first = column;
		if (strcmp(column->base_table, first->base_table) == 0 &&
			!set(&keys->names[i], column->base_name))
			return cod_fail(&stmt->head, "HY001");
	}
	if (first == NULL)
		return SQL_NO_DATA;
	if (!set(&origin->catalog, first->catalog) ||
		!set(&origin->schema, first->schema) ||
		!set(&origin->table, first->base_table))
		return cod_fail(&stmt->head, "HY001");
	return SQL_SUCCESS;
}

static SQLRETURN
take_origin(struct cod_stmt *stmt, const cenote_result *found, int64_t table,
	struct cod_keys *keys, struct origin *origin)
{
	const cenote_result *result = stmt->cursor.result;

	if (cenote_result_n_rows(found) == 0)
		return SQL_NO_DATA;
	if (!set(&origin->catalog, "") ||
		!set(&origin->schema, cenote_result_text(found, 0, 0, NULL)) ||
		!set(&origin->table, cenote_result_text(found, 0, 1, NULL)))
		return cod_fail(&stmt->head, "HY001");
	for (SQLUSMALLINT i = 0; i < stmt->n_columns; i++) {
		const cenote_column *column = cenote_result_column(result, i);
		int64_t number = cenote_column_int(column, CENOTE_COLUMN_ATTNUM), value;

		if (cenote_column_int(column, CENOTE_COLUMN_TABLE_ID) != table)
			continue;
		for (uint64_t row = 0; row < cenote_result_n_rows(found); row++) {
			if (cenote_result_int64(found, row, 2, &value) == CENOTE_OK &&
				value == number &&
				!set(&keys->names[i],
					cenote_result_text(found, row, 3, NULL)))
				return cod_fail(&stmt->head, "HY001");
		}
	}
	return SQL_SUCCESS;
}

/* Find the table and columns for PostgreSQL, which gives their numbers in the result. */
static SQLRETURN
origin_by_number(struct cod_stmt *stmt, struct cod_keys *keys, struct origin *origin)
{
	cenote_result *found = NULL;
	int64_t table = 0;
	char sql[320];
	SQLRETURN ret;

	for (SQLUSMALLINT i = 0; i < stmt->n_columns && table <= 0; i++)
		table = cenote_column_int(cenote_result_column(stmt->cursor.result, i),
			CENOTE_COLUMN_TABLE_ID);
	if (table <= 0)
		return SQL_NO_DATA;
	(void)snprintf(sql, sizeof(sql),
		"select n.nspname, c.relname, a.attnum, a.attname "
		"from pg_catalog.pg_class c "
		"join pg_catalog.pg_namespace n on n.oid = c.relnamespace "
		"join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 "
		"where c.oid = %lld",
		(long long)table);
	ret = cod_ask(stmt, sql, NULL, &found);
	if (ret != SQL_SUCCESS)
		return ret;
	ret = take_origin(stmt, found, table, keys, origin);
	cenote_result_destroy(found);
	return ret;
}

/* ----------------------------------------------------------------------- the primary key ----- */

static bool
mark_key(struct cod_keys *keys, const char *name)
{
	if (name == NULL)
		return false;
	for (SQLUSMALLINT i = 0; i < keys->n_columns; i++) {
		if (keys->names[i] != NULL && strcmp(keys->names[i], name) == 0) {
			keys->is_key[i] = true;
			return true;
		}
	}
	return false;
}

static bool
is_text(const char *text)
{
	return text != NULL && *text != '\0';
}

/* Make a pattern that matches this name only. NULL: no memory. */
static char *
pattern_of(const char *name)
{
	char *pattern, *to;

	if (name == NULL)
		return NULL;
	pattern = to = malloc(2 * strlen(name) + 1);
	if (pattern == NULL)
		return NULL;
	for (; *name != '\0'; name++) {
		if (strchr("%_\\", *name) != NULL)
			*to++ = '\\';
		*to++ = *name;
	}
	*to = '\0';
	return pattern;
}

static SQLRETURN
find_key(struct cod_stmt *stmt, struct cod_keys *keys, const struct origin *origin)
{
	cenote_catalog_filter filter = CENOTE_CATALOG_FILTER_INIT;
	char *schema = pattern_of(origin->schema), *table = pattern_of(origin->table);
	cenote_result *found = NULL;
	int64_t col;
	bool is_whole;
	int r = CENOTE_ERR_NOMEM;

	filter.catalog = is_text(origin->catalog) ? origin->catalog : NULL;
	filter.schema = is_text(schema) ? schema : NULL;
	filter.object = table;
	if (schema != NULL && table != NULL)
		r = cod_settle(stmt->dbc);
	if (r == CENOTE_OK)
		r = cenote_catalog(
			stmt->dbc->conn, CENOTE_CATALOG_PRIMARY_KEYS, &filter, &found);
	free(schema);
	free(table);
	if (r < 0)
		return cod_fail_cenote(
			&stmt->head, &COD_NOWHERE, cenote_conn_diag(stmt->dbc->conn), r);
	col = cenote_result_find_column(found, "column_name");
	is_whole = col >= 0 && cenote_result_n_rows(found) > 0;
	for (uint64_t i = 0; i < cenote_result_n_rows(found) && is_whole; i++)
		is_whole =
			mark_key(keys, cenote_result_text(found, i, (uint32_t)col, NULL));
	cenote_result_destroy(found);
	/* Take the end of the results, so that the connection is free. */
	while (cenote_get_result(stmt->dbc->conn, &found) == CENOTE_OK)
		cenote_result_destroy(found);
	if (is_whole)
		return SQL_SUCCESS;
	return SQL_NO_DATA;
}

static bool
set_table(struct cod_stmt *stmt, struct cod_keys *keys, const struct origin *origin)
{
	enum cod_dialect dialect = stmt->dbc->dialect;
	const char *outer = is_text(origin->schema) ? origin->schema : origin->catalog;
	struct cod_sql name = { 0 };

	if (!is_text(origin->table))
		return false;
	if (is_text(outer)) {
		cod_sql_put_name(&name, dialect, outer);
		cod_sql_put(&name, ".");
	}
	cod_sql_put_name(&name, dialect, origin->table);
	keys->table = name.text;
	return !name.is_lost;
}

SQLRETURN
cod_keys_find(struct cod_stmt *stmt)
{
	bool by_number = stmt->dbc->dialect == COD_DIALECT_POSTGRESQL;
	struct origin origin = { 0 };
	SQLRETURN ret = SQL_NO_DATA;

	if (stmt->keys != NULL)
		return SQL_SUCCESS;
	stmt->keys = calloc(1, sizeof(*stmt->keys));
	if (stmt->keys == NULL || !keys_init(stmt->keys, stmt->n_columns)) {
		cod_keys_forget(stmt);
		return cod_fail(&stmt->head, "HY001");
	}
	if (stmt->cursor.result != NULL)
		ret = (by_number ? origin_by_number : origin_by_name)(
			stmt, stmt->keys, &origin);
	if (ret == SQL_SUCCESS)
		ret = find_key(stmt, stmt->keys, &origin);
	if (ret == SQL_SUCCESS && !set_table(stmt, stmt->keys, &origin))
		ret = cod_fail(&stmt->head, "HY001");
	origin_finish(&origin);
	if (ret == SQL_SUCCESS)
		return ret;
	cod_keys_forget(stmt);
	if (ret == SQL_NO_DATA)
		return cod_fail_text(
			&stmt->head, "HYC00", "the result lacks its table's primary key");
	return ret;
}

void
cod_keys_forget(struct cod_stmt *stmt)
{
	struct cod_keys *keys = stmt->keys;

	if (keys == NULL)
		return;
	for (SQLUSMALLINT i = 0; keys->names != NULL && i < keys->n_columns; i++)
		free(keys->names[i]);
	free(keys->names);
	free(keys->is_key);
	free(keys->table);
	free(keys);
	stmt->keys = NULL;
}
