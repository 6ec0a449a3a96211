/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_KEYS_H
#define COD_KEYS_H

#include "odbc.h"

/*
 * How rows of a result are found again in their table: by its primary key, where the result has all of
 * that. For SQLSetPos() and SQLBulkOperations().
 */
struct cod_keys {
	char *table; /* quoted, with its schema */
	char **names; /* of each column of the result in that table; NULL: it is not of it */
	bool *is_key;
	SQLUSMALLINT n_columns;
};

/* SQL_SUCCESS and stmt->keys; SQL_ERROR: there is no such table, or no key (HYC00), or another error. */
SQLRETURN cod_keys_find(struct cod_stmt *stmt);

/* Text that grows. After a failure it stays NULL, and everything put to it fails. */
struct cod_sql {
	char *text;
	size_t n, room;
	bool is_lost; /* no memory */
};

void cod_sql_put(struct cod_sql *sql, const char *text);
/* A name, quoted as the dialect does. */
void cod_sql_put_name(struct cod_sql *sql, enum cod_dialect dialect, const char *name);
/* The i-th parameter, from 1. */
void cod_sql_put_param(struct cod_sql *sql, enum cod_dialect dialect, unsigned i);

/* A request besides the statement's own, whose whole result is wanted. */
SQLRETURN cod_ask(struct cod_stmt *stmt, const char *sql, const cenote_params *params,
	cenote_result **ret_result);

/*
 * What a description or translation needs to know, without a trace: no diagnostics, and no transaction that the
 * program did not begin. Returns the whole result; NULL: it could not be found out.
 */
cenote_result *cod_ask_aside(
	struct cod_dbc *dbc, const char *sql, const cenote_params *params);

#endif
