/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the columns of a result come from. Other servers name tables with the result. PostgreSQL
 * gives numbers, so the driver asks its catalog when a program first wants a name. describe.c and
 * desc_field.c call it. The state is cod_stmt.origins.
 */
#include "keys.h"

#include <stdio.h>
#include <stdlib.h>

static bool
is_of_origin(SQLSMALLINT field)
{
	static const SQLSMALLINT fields[] = { SQL_DESC_AUTO_UNIQUE_VALUE,
		SQL_DESC_BASE_COLUMN_NAME, SQL_DESC_BASE_TABLE_NAME,
		SQL_DESC_CATALOG_NAME, SQL_DESC_SCHEMA_NAME, SQL_DESC_TABLE_NAME };

	for (size_t i = 0; i < COD_COUNT(fields); i++) {
		if (fields[i] == field)
			return true;
	}
	return false;
}

/* Make the query about origins. Its text is NULL if no column comes from a table, or without
 * memory. */
static struct cod_sql
question(const struct cod_stmt *stmt)
{
	struct cod_sql sql = { 0 };
	char pair[64];

	for (SQLUSMALLINT i = 0; i < stmt->n_columns; i++) {
		const struct cod_column *column = &stmt->columns[i];

		if (column->table_id <= 0)
			continue;
		if (sql.n == 0)
			cod_sql_put(&sql,
				"SELECT a.attrelid, a.attnum, "
				"pg_catalog.current_database(), "
				"n.nspname, c.relname, a.attname, a.attidentity <> '' OR "
				"coalesce(pg_catalog.pg_get_expr(d.adbin, d.adrelid) "
				"LIKE "
				"'nextval(%', false) FROM pg_catalog.pg_attribute a "
				"JOIN pg_catalog.pg_class c ON c.oid = a.attrelid "
				"JOIN pg_catalog.pg_namespace n ON n.oid = "
				"c.relnamespace "
				"LEFT JOIN pg_catalog.pg_attrdef d "
				"ON d.adrelid = a.attrelid AND d.adnum = a.attnum "
				"WHERE (a.attrelid, a.attnum) IN (");
		else
			cod_sql_put(&sql, ", ");
		(void)snprintf(pair, sizeof(pair), "(%lld, %lld)",
			(long long)column->table_id, (long long)column->attnum);
		cod_sql_put(&sql, pair);
	}
	if (sql.n > 0)
		cod_sql_put(&sql, ")");
	return sql;
}

/* A text of the answer; "" if the server sent NULL. */
static const char *
text_at(const cenote_result *found, uint64_t row, uint32_t col)
{
	const char *text = cenote_result_text(found, row, col, NULL);

	return text != NULL ? text : "";
}

static void
name_columns(struct cod_stmt *stmt, const cenote_result *found, uint64_t row)
{
	int64_t table, number, is_auto;

	if (cenote_result_int64(found, row, 0, &table) != CENOTE_OK ||
		cenote_result_int64(found, row, 1, &number) != CENOTE_OK ||
		cenote_result_int64(found, row, 6, &is_auto) != CENOTE_OK)
		return;
	for (SQLUSMALLINT i = 0; i < stmt->n_columns; i++) {
		struct cod_column *column = &stmt->columns[i];

		if (column->table_id != table || column->attnum != number)
			continue;
		column->catalog = text_at(found, row, 2);
		column->schema = text_at(found, row, 3);
		column->table = text_at(found, row, 4);
		column->base_table = column->table;
		column->base_name = text_at(found, row, 5);
		if (is_auto != 0)
			column->type.is_auto = SQL_TRUE;
	}
}

/* Some origins may stay unknown, for example after an error in a transaction. */
void
cod_origins_learn(struct cod_stmt *stmt, SQLSMALLINT field)
{
	struct cod_sql sql;

	if (field == SQL_DESC_NULLABLE || field == SQL_COLUMN_NULLABLE)
		cod_nullable_learn(stmt);
	if (stmt->has_origins || stmt->dbc->dialect != COD_DIALECT_POSTGRESQL ||
		!is_of_origin(field))
		return;
	stmt->has_origins = true;
	sql = question(stmt);
	if (sql.text != NULL && !sql.is_lost)
		stmt->origins = cod_ask_aside(stmt->dbc, sql.text, NULL);
	free(sql.text);
	for (uint64_t i = 0; i < cenote_result_n_rows(stmt->origins); i++)
		name_columns(stmt, stmt->origins, i);
}
