/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dialect of a pool, from the name of its backend, and how each dialect reads SQL. connect.c
 * looks it up once for each session. It has no state.
 */
#include "dialect.h"

#include <string.h>

#include "core/sql.h"

static const struct {
	const char *backend;
	enum cod_dialect dialect;
} backends[] = {
	{ "postgresql", COD_DIALECT_POSTGRESQL },
	{ "mysql", COD_DIALECT_MYSQL },
	{ "sqlite", COD_DIALECT_SQLITE },
	{ "freetds", COD_DIALECT_TDS },
};

enum cod_dialect
cod_dialect_of(const char *backend)
{
	for (size_t i = 0; backend && i < sizeof(backends) / sizeof(backends[0]); i++) {
		if (strcmp(backend, backends[i].backend) == 0)
			return backends[i].dialect;
	}
	return COD_DIALECT_OTHER;
}

uint32_t
cod_sql_rules(enum cod_dialect dialect, bool is_odd)
{
	/* ODBC numbers markers by their order. MySQL's driver treats every comment as a comment,
	 * although the server executes some. */
	static const uint32_t rules[COD_N_DIALECTS] = {
		[COD_DIALECT_OTHER] = CNC_SQL_ANSI,
		[COD_DIALECT_POSTGRESQL] = CNC_SQL_POSTGRESQL,
		[COD_DIALECT_MYSQL] = CNC_SQL_MYSQL & ~(uint32_t)CNC_SQL_EXECUTED,
		[COD_DIALECT_SQLITE] =
			CNC_SQL_SQLITE & ~(uint32_t)CNC_SQL_QUESTION_NUMBER,
		[COD_DIALECT_TDS] = CNC_SQL_TDS,
	};

	return (rules[dialect] | CNC_SQL_QUESTION) ^ (is_odd ? CNC_SQL_BACKSLASH : 0u);
}
