/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_ESCAPE_H
#define COD_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

#include <sql.h>
#include <sqlext.h>

#include "dialect.h"

/*
 * Translates a statement from ODBC's SQL to the server's: escape clauses in braces, and parameter
 * markers. Literals, quoted names and comments, as the server reads them, stay as they are.
 */

#define COD_ESCAPE_DEPTH_MAX  32 /* braces and parentheses in braces */
#define COD_ESCAPE_PARAMS_MAX 65535

struct cod_escape_options {
	enum cod_dialect dialect;
	/* the session reads a backslash in the way that is unusual for its server (dialect.h) */
	int is_odd;
	int is_noscan; /* SQL_ATTR_NOSCAN: braces stay as they are */
	/*
	 * Whether {call NAME(…)} names a function, which needs another call. `name` is as written,
	 * with quotes and schema. NULL: {call} is for procedures, {?=call} for functions.
	 */
	int (*is_function)(const char *name, size_t n, void *user);
	/*
	 * Whether parameter i, from 1, is an output parameter only. It is then not an argument of a
	 * function, but a column of the function's result. NULL: no parameter is.
	 */
	int (*is_output)(uint32_t i, void *user);
	void *user;
};

struct cod_statement {
	char *text; /* the server's text, with a zero byte; for free() */
	size_t n;
	/* parameter markers as the application counts them; the first of {?=call} is not in `text` */
	uint32_t n_params;
	/* markers that are not in `text`, since they are output parameters only */
	uint32_t n_left_out;
	int is_call; /* the statement is {call} or {?=call} */
	int calls_function; /* the call is of a function, not of a procedure */
	int returns_value; /* {?=call}: parameter 1 gets the only value of the only row */
	char message[128]; /* the reason of a failure */
};

/*
 * @param n bytes of `sql`
 *
 * @param ret_statement also set on failure, with the message; for cod_statement_finish()
 *
 * @return NULL; an SQLSTATE, a static text: 42000 the statement is malformed, is nested too deep, or
 * has an escape that the server cannot do; 22007, 22018 a literal is not valid; HY001 no memory.
 */
const char *cod_escape(const struct cod_escape_options *options, const char *sql,
	size_t n, struct cod_statement *ret_statement);
void cod_statement_finish(struct cod_statement *statement);

/*
 * The functions that {fn} translates, as SQLGetInfo() reports them: the mask for
 * SQL_NUMERIC_FUNCTIONS, SQL_STRING_FUNCTIONS, SQL_SYSTEM_FUNCTIONS or SQL_TIMEDATE_FUNCTIONS.
 */
SQLUINTEGER cod_function_mask(enum cod_dialect dialect, SQLUSMALLINT info_type);
/* The mask for SQL_TIMEDATE_ADD_INTERVALS or SQL_TIMEDATE_DIFF_INTERVALS: units of {fn
 * timestampadd()} and {fn timestampdiff()}. */
SQLUINTEGER cod_interval_mask(enum cod_dialect dialect, SQLUSMALLINT info_type);
/* The mask for SQL_CONVERT_…: target types of {fn convert(value, SQL_…)}, the same for every source
 * type. */
SQLUINTEGER cod_cast_mask(enum cod_dialect dialect);

#endif
