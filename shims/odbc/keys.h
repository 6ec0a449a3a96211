/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_KEYS_H
#define COD_KEYS_H

#include "odbc.h"

/* How the driver finds the rows of a result again in their table: by the primary key, if the result
 * has all of its columns. For SQLSetPos() and SQLBulkOperations(). */
struct cod_keys {
	char *table; /* quoted, with its schema */
	/* name in the table of each column of the result; NULL: the column is not from it */
	char **names;
	bool *is_key;
	SQLUSMALLINT n_columns;
};

/* SQL_SUCCESS and stmt->keys. SQL_ERROR: the table or its key is missing (HYC00), or
 * another error. */
SQLRETURN cod_keys_find(struct cod_stmt *stmt);

/* A text that grows. After a failure, `text` may be incomplete and is_lost is set. */
struct cod_sql {
	char *text;
	size_t n, room;
	bool is_lost; /* there was no memory */
};

void cod_sql_put(struct cod_sql *sql, const char *text);
/* Put a name with the dialect's quotes. */
void cod_sql_put_name(struct cod_sql *sql, enum cod_dialect dialect, const char *name);
/* Put the marker of the i-th parameter, from 1. */
void cod_sql_put_param(struct cod_sql *sql, enum cod_dialect dialect, unsigned i);

/* Send a request of the driver's own and take its whole result. An error is one of the
 * statement. */
SQLRETURN cod_ask(struct cod_stmt *stmt, const char *sql, const cenote_params *params,
	cenote_result **ret_result);

/* Ask the server without a visible effect: no diagnostics, and no transaction that the program did
 * not begin. Returns the whole result; NULL: the server did not answer. */
cenote_result *cod_ask_aside(
	struct cod_dbc *dbc, const char *sql, const cenote_params *params);

#endif
