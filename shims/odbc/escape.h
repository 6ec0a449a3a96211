/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_ESCAPE_H
#define COD_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

#include <sql.h>
#include <sqlext.h>

#include "dialect.h"

/*
 * A statement in ODBC's SQL, made one of the server's: escape clauses in braces, and parameter
 * markers. What is in literals, quoted names and comments, as the server reads these, stays as it is.
 */

#define COD_ESCAPE_DEPTH_MAX  32 /* braces and parentheses in braces */
#define COD_ESCAPE_PARAMS_MAX 65535

struct cod_escape_options {
	enum cod_dialect dialect;
	int is_odd; /* the session reads a backslash as its server usually does not (dialect.h) */
	int is_noscan; /* SQL_ATTR_NOSCAN: braces stay as they are */
	/*
	 * Whether {call NAME(…)} names a function, which is called in another way. `name` is as it is
	 * written, quotes and schema included. NULL: {call} is of procedures, {?=call} of functions.
	 */
	int (*is_function)(const char *name, size_t n, void *user);
	/*
	 * Whether parameter i, from 1, only comes out: it is no argument of a function, but a column of what the
	 * function gives. NULL: none does.
	 */
	int (*is_output)(uint32_t i, void *user);
	void *user;
};

struct cod_statement {
	char *text; /* the server's, with a zero byte; for free() */
	size_t n;
	/* Markers as the application counts them. The first one of {?=call} is not in `text`. */
	uint32_t n_params;
	uint32_t
		n_left_out; /* of them, that are not in `text` since they only come out */
	int is_call; /* {call}, {?=call} */
	int calls_function; /* one of these, and not of a procedure */
	int returns_value; /* {?=call}: parameter 1 is what the only column of the only row holds */
	char message[128]; /* why, where it failed */
};

/*
 * @param n              bytes
 * @param ret_statement  set also on failure, to what cod_statement_finish() may be called for: message
 *
 * @return NULL; an SQLSTATE, static: 42000 not well formed, nested too deep, or an escape that the
 *         server has nothing for; 22007, 22018 a literal that is none; HY001 no memory.
 */
const char *cod_escape(const struct cod_escape_options *options, const char *sql,
	size_t n, struct cod_statement *ret_statement);
void cod_statement_finish(struct cod_statement *statement);

/*
 * Functions that {fn} maps, as SQLGetInfo() has them: the mask of one of SQL_NUMERIC_FUNCTIONS,
 * SQL_STRING_FUNCTIONS, SQL_SYSTEM_FUNCTIONS, SQL_TIMEDATE_FUNCTIONS.
 */
SQLUINTEGER cod_function_mask(enum cod_dialect dialect, SQLUSMALLINT info_type);
/* SQL_TIMEDATE_ADD_INTERVALS, SQL_TIMEDATE_DIFF_INTERVALS: units of {fn timestampadd()}, …diff(). */
SQLUINTEGER cod_interval_mask(enum cod_dialect dialect, SQLUSMALLINT info_type);
/* SQL_CONVERT_… : targets of {fn convert(value, SQL_…)}. The same for every source. */
SQLUINTEGER cod_cast_mask(enum cod_dialect dialect);

#endif
