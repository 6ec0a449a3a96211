/* SPDX-License-Identifier: BSD-2-Clause */
/* How the session reads a backslash in a string. The driver must know that to translate escape
 * clauses and to find parameters. The state is cod_dbc.has_no_backslash. */
#include "odbc.h"

#include <string.h>

/* PostgreSQL reports the setting when it changes, MySQL with every result. */
bool
cod_is_backslash_odd(const struct cod_dbc *dbc)
{
	const char *standard = cenote_parameter(dbc->conn, "standard_conforming_strings");

	if (dbc->dialect == COD_DIALECT_POSTGRESQL)
		return standard != NULL && strcmp(standard, "off") == 0;
	return dbc->has_no_backslash;
}

static void
set_no_backslash(struct cod_dbc *dbc, bool is_set)
{
	dbc->has_no_backslash = is_set && dbc->dialect == COD_DIALECT_MYSQL;
}

void
cod_backslash_begin(struct cod_dbc *dbc)
{
	const char *mode = cenote_parameter(dbc->conn, "sql_mode");

	set_no_backslash(
		dbc, mode != NULL && strstr(mode, "NO_BACKSLASH_ESCAPES") != NULL);
}

void
cod_backslash_follow(struct cod_dbc *dbc, const cenote_result *result)
{
	/* SERVER_STATUS_NO_BACKSLASH_ESCAPES */
	set_no_backslash(dbc, (cenote_result_server_status(result) & 512) != 0);
}
