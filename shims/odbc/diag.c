/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The diagnostic records of a handle in the order of the standard, and the code of the statement
 * that was executed. Every function that can fail writes here through call.c; diag_get.c reads. The
 * state is struct cod_diag.
 */
#include "diag.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/sql.h"

#define ROOM_MIN    4
/* SQLGetDiagRec() cannot count more records. */
#define RECORDS_MAX INT16_MAX

static char no_memory[] = "[Cenote][ODBC] memory allocation error";

static void
drop_last(struct cod_diag *diag)
{
	struct cod_diag_record *last = &diag->records[--diag->n];

	if (last->message != no_memory)
		free(last->message);
}

void
cod_diag_clear(struct cod_diag *diag)
{
	while (diag->n > 0)
		drop_last(diag);
	diag->is_cut = false;
	diag->ret = SQL_SUCCESS;
}

void
cod_diag_finish(struct cod_diag *diag)
{
	cod_diag_clear(diag);
	free(diag->records);
	*diag = (struct cod_diag){ 0 };
}

/* Errors come before "no data", and that comes before warnings. */
static int
rank_of(const struct cod_diag_record *record)
{
	if (strncmp(record->sqlstate, "01", 2) == 0)
		return 2;
	return strncmp(record->sqlstate, "02", 2) == 0 ? 1 : 0;
}

/* Records without a row come first, then by row, then by rank. */
static bool
comes_before(const struct cod_diag_record *a, const struct cod_diag_record *b)
{
	if (a->row != b->row)
		return a->row < b->row;
	return rank_of(a) < rank_of(b);
}

/* At the limit, drop the last record. Errors stand before warnings, so it is the least important
 * one. */
static bool
make_room(struct cod_diag *diag)
{
	size_t room = diag->room < ROOM_MIN ? ROOM_MIN : 2 * diag->room;
	struct cod_diag_record *grown;

	if (diag->n == RECORDS_MAX)
		drop_last(diag);
	if (diag->n < diag->room)
		return true;
	grown = realloc(diag->records, room * sizeof(*grown));
	if (grown == NULL)
		return false;
	diag->records = grown;
	diag->room = room;
	return true;
}

static char *
message_of(const char *component, const char *message)
{
	size_t size = strlen(component) + strlen(message) + sizeof("[Cenote][] ");
	char *text = malloc(size);

	if (text != NULL)
		(void)snprintf(text, size, "[Cenote][%s] %s", component, message);
	return text;
}

static void
insert(struct cod_diag *diag, const struct cod_diag_record *record)
{
	size_t at = diag->n;

	while (at > 0 && comes_before(record, &diag->records[at - 1]))
		at--;
	memmove(&diag->records[at + 1], &diag->records[at],
		(diag->n - at) * sizeof(*record));
	diag->records[at] = *record;
	diag->n++;
}

void
cod_diag_add(struct cod_diag *diag, const struct cod_diag_where *where,
	const char *sqlstate, SQLINTEGER native, const char *component,
	const char *message)
{
	struct cod_diag_record record = {
		.is_of_server = strcmp(component, "ODBC") != 0,
		.native = native,
		.row = where->row,
		.column = where->column,
	};

	if (!make_room(diag)) {
		diag->is_cut = true;
		return;
	}
	record.message = message_of(
		component, message != NULL ? message : cod_state_text(sqlstate));
	if (record.message == NULL) {
		sqlstate = "HY001";
		record.message = no_memory;
	}
	(void)snprintf(record.sqlstate, sizeof(record.sqlstate), "%s", sqlstate);
	insert(diag, &record);
}

static struct cod_diag_record cut = {
	.sqlstate = "HY001",
	.row = SQL_NO_ROW_NUMBER,
	.column = SQL_NO_COLUMN_NUMBER,
	.message = no_memory,
};

const struct cod_diag_record *
cod_diag_record(const struct cod_diag *diag, SQLSMALLINT i)
{
	if (i < 1)
		return NULL;
	if ((size_t)i <= diag->n)
		return &diag->records[i - 1];
	return diag->is_cut && (size_t)i == diag->n + 1 ? &cut : NULL;
}

/* ------------------------------------------------------- the executed statement ----- */

static const struct {
	const char *word, *second; /* NULL: any word may follow */
	const char *name;
	SQLINTEGER code;
} functions[] = {
	{ "alter", "domain", "ALTER DOMAIN", SQL_DIAG_ALTER_DOMAIN },
	{ "alter", "table", "ALTER TABLE", SQL_DIAG_ALTER_TABLE },
	{ "call", NULL, "CALL", SQL_DIAG_CALL },
	{ "create", "assertion", "CREATE ASSERTION", SQL_DIAG_CREATE_ASSERTION },
	{ "create", "character", "CREATE CHARACTER SET", SQL_DIAG_CREATE_CHARACTER_SET },
	{ "create", "collation", "CREATE COLLATION", SQL_DIAG_CREATE_COLLATION },
	{ "create", "domain", "CREATE DOMAIN", SQL_DIAG_CREATE_DOMAIN },
	{ "create", "index", "CREATE INDEX", SQL_DIAG_CREATE_INDEX },
	{ "create", "unique", "CREATE INDEX", SQL_DIAG_CREATE_INDEX },
	{ "create", "schema", "CREATE SCHEMA", SQL_DIAG_CREATE_SCHEMA },
	{ "create", "table", "CREATE TABLE", SQL_DIAG_CREATE_TABLE },
	{ "create", "temporary", "CREATE TABLE", SQL_DIAG_CREATE_TABLE },
	{ "create", "temp", "CREATE TABLE", SQL_DIAG_CREATE_TABLE },
	{ "create", "view", "CREATE VIEW", SQL_DIAG_CREATE_VIEW },
	{ "delete", NULL, "DELETE WHERE", SQL_DIAG_DELETE_WHERE },
	{ "drop", "assertion", "DROP ASSERTION", SQL_DIAG_DROP_ASSERTION },
	{ "drop", "collation", "DROP COLLATION", SQL_DIAG_DROP_COLLATION },
	{ "drop", "domain", "DROP DOMAIN", SQL_DIAG_DROP_DOMAIN },
	{ "drop", "index", "DROP INDEX", SQL_DIAG_DROP_INDEX },
	{ "drop", "schema", "DROP SCHEMA", SQL_DIAG_DROP_SCHEMA },
	{ "drop", "table", "DROP TABLE", SQL_DIAG_DROP_TABLE },
	{ "drop", "view", "DROP VIEW", SQL_DIAG_DROP_VIEW },
	{ "grant", NULL, "GRANT", SQL_DIAG_GRANT },
	{ "insert", NULL, "INSERT", SQL_DIAG_INSERT },
	{ "revoke", NULL, "REVOKE", SQL_DIAG_REVOKE },
	{ "select", NULL, "SELECT CURSOR", SQL_DIAG_SELECT_CURSOR },
	{ "update", NULL, "UPDATE WHERE", SQL_DIAG_UPDATE_WHERE },
	{ "with", NULL, "SELECT CURSOR", SQL_DIAG_SELECT_CURSOR },
};

/* The next word after opening parentheses: a query in parentheses is a query. */
static struct cnc_sql_token
read_word(struct cnc_sql *x)
{
	while (cnc_sql_take_char(x, '('))
		continue;
	return cnc_sql_next(x);
}

void
cod_diag_set_function(struct cod_diag *diag, const char *sql)
{
	struct cnc_sql x = cnc_sql_begin(sql, strlen(sql), CNC_SQL_ANSI);
	struct cnc_sql_token first = read_word(&x), second = read_word(&x);

	diag->function = "";
	diag->function_code = SQL_DIAG_UNKNOWN_STATEMENT;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (!cnc_sql_is(&first, functions[i].word))
			continue;
		if (functions[i].second == NULL ||
			cnc_sql_is(&second, functions[i].second)) {
			diag->function = functions[i].name;
			diag->function_code = functions[i].code;
			return;
		}
	}
}
