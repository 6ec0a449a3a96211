/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether columns can be NULL. Other servers report this with the result. PostgreSQL only names the
 * table and column, so the driver asks its catalog, once for each table and connection. describe.c,
 * desc_field.c and origin.c call it. The state is cod_dbc.facts.
 */
#include "keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/sql.h"

/* A column that is NOT NULL. The number 0 marks a table whose columns are known. */
struct cod_fact {
	int64_t table, attnum;
};

static bool
is_known(const struct cod_dbc *dbc, int64_t table, int64_t attnum)
{
	for (size_t i = 0; i < dbc->n_facts; i++) {
		if (dbc->facts[i].table == table && dbc->facts[i].attnum == attnum)
			return true;
	}
	return false;
}

static bool
add(struct cod_dbc *dbc, int64_t table, int64_t attnum)
{
	struct cod_fact *grown =
		realloc(dbc->facts, (dbc->n_facts + 1) * sizeof(*dbc->facts));

	if (grown == NULL)
		return false;
	grown[dbc->n_facts++] = (struct cod_fact){ table, attnum };
	dbc->facts = grown;
	return true;
}

void
cod_nullable_forget(struct cod_dbc *dbc)
{
	free(dbc->facts);
	dbc->facts = NULL;
	dbc->n_facts = 0;
}

void
cod_nullable_changed(struct cod_dbc *dbc, const char *tag)
{
	static const char *const harmless[] = { "INSERT ", "UPDATE ", "DELETE ", "MERGE ",
		"SELECT ", "BEGIN", "COMMIT" };

	for (size_t i = 0; i < COD_COUNT(harmless); i++) {
		if (strncmp(tag, harmless[i], strlen(harmless[i])) == 0)
			return;
	}
	cod_nullable_forget(dbc);
}

/* Whether the statement may return NULL for a column that is NOT NULL in its table, as outer joins
 * and groupings do. FETCH and EXECUTE count as such, since their text is unknown. */
static bool
adds_nulls(const struct cod_stmt *stmt)
{
	static const char *const words[] = { "left", "right", "full", "rollup", "cube",
		"grouping", "fetch", "execute", NULL };
	struct cnc_sql x = cnc_sql_begin(stmt->sql.text, stmt->sql.n,
		cod_sql_rules(stmt->dbc->dialect, cod_is_backslash_odd(stmt->dbc)));
	struct cnc_sql_token t;

	while ((t = cnc_sql_next(&x)).kind != CNC_SQL_END) {
		if (cnc_sql_is_one_of(&t, words))
			return true;
	}
	return false;
}

/* Make the query about the tables that are not known yet. Its text is NULL if all are known, or
 * without memory. */
static struct cod_sql
question(const struct cod_stmt *stmt)
{
	struct cod_sql sql = { 0 };
	char number[32];

	for (SQLUSMALLINT i = 0; i < stmt->n_columns; i++) {
		int64_t table = stmt->columns[i].table_id;

		if (table <= 0 || is_known(stmt->dbc, table, 0))
			continue;
		cod_sql_put(&sql, sql.n > 0 ? ", "
					    : "SELECT attrelid, attnum FROM "
					      "pg_catalog.pg_attribute WHERE "
					      "attnotnull AND attrelid IN (");
		(void)snprintf(number, sizeof(number), "%lld", (long long)table);
		cod_sql_put(&sql, number);
	}
	if (sql.n > 0)
		cod_sql_put(&sql, ")");
	return sql;
}

static void
take_answer(struct cod_stmt *stmt, const cenote_result *found)
{
	struct cod_dbc *dbc = stmt->dbc;
	int64_t table, attnum;

	for (uint64_t i = 0; i < cenote_result_n_rows(found); i++) {
		if (cenote_result_int64(found, i, 0, &table) != CENOTE_OK ||
			cenote_result_int64(found, i, 1, &attnum) != CENOTE_OK ||
			!add(dbc, table, attnum))
			return;
	}
	for (SQLUSMALLINT i = 0; i < stmt->n_columns; i++) {
		table = stmt->columns[i].table_id;
		if (table > 0 && !is_known(dbc, table, 0) && !add(dbc, table, 0))
			return;
	}
}

/* Ask the server about unknown tables. While the application reads a result, the driver does not ask,
 * since that would take the result into memory. The columns then stay unknown. */
static void
ask(struct cod_stmt *stmt)
{
	cenote_result *found = NULL;
	struct cod_sql sql;

	if (stmt->dbc->owner != NULL ||
		cenote_tx_state(stmt->dbc->conn) == CENOTE_TX_FAILED)
		return;
	sql = question(stmt);
	if (sql.text != NULL && !sql.is_lost)
		found = cod_ask_aside(stmt->dbc, sql.text, NULL);
	if (found != NULL)
		take_answer(stmt, found);
	cenote_result_destroy(found);
	free(sql.text);
}

void
cod_nullable_learn(struct cod_stmt *stmt)
{
	bool can_add;

	if (stmt->has_nullability || stmt->dbc->dialect != COD_DIALECT_POSTGRESQL)
		return;
	stmt->has_nullability = stmt->dbc->owner == NULL;
	can_add = adds_nulls(stmt);
	if (!can_add)
		ask(stmt);
	for (SQLUSMALLINT i = 0; i < stmt->n_columns; i++) {
		const struct cod_column *column = &stmt->columns[i];
		SQLSMALLINT *nullable = &stmt->columns[i].type.nullable;

		if (*nullable != SQL_NULLABLE_UNKNOWN)
			continue;
		if (can_add || column->table_id <= 0)
			*nullable = SQL_NULLABLE;
		else if (is_known(stmt->dbc, column->table_id, 0))
			*nullable = is_known(stmt->dbc, column->table_id, column->attnum)
					    ? SQL_NO_NULLS
					    : SQL_NULLABLE;
	}
}
