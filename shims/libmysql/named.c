/* SPDX-License-Identifier: BSD-2-Clause */
#include "stmt.h"

/*
 * Query attributes: values with names that a program sends along with a statement. The pool's
 * parameters have positions, but no names, so attributes are dropped. That is no error: the original
 * drops them without one, too, if the server does not announce CLIENT_QUERY_ATTRIBUTES. face.c
 * calls this file.
 */

my_bool
cmy_mysql_bind_param(
	MYSQL *mysql, unsigned n_params, MYSQL_BIND *binds, const char **names)
{
	(void)n_params;
	(void)binds;
	(void)names;
	return cmy_session(mysql) == NULL;
}

/* Bind the values for the statement's placeholders, which come first. The attributes after them are
 * dropped. */
my_bool
cmy_mysql_stmt_bind_named_param(
	MYSQL_STMT *stmt, MYSQL_BIND *binds, unsigned n_params, const char **names)
{
	(void)names;
	if (n_params < stmt->param_count) {
		cmy_stmt_error(stmt, CR_PARAMS_NOT_BOUND);
		return 1;
	}
	return cmy_mysql_stmt_bind_param(stmt, binds);
}
