/* SPDX-License-Identifier: BSD-2-Clause */
#include "stmt.h"

/*
 * Query attributes: values with names that go along with a statement. A server tells in its capabilities
 * whether it takes them (CLIENT_QUERY_ATTRIBUTES), and to one that does not the original sends none and
 * says nothing. A pool is such a server: its statements have positions only.
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

/* Those of the statement's own placeholders come first. */
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
