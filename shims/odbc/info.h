/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_INFO_H
#define COD_INFO_H

#include <stddef.h>

#include <sql.h>
#include <sqlext.h>

#include "dialect.h"

/* SQLGetInfo(): fixed answers, and answers that depend on the connection. */

/* What the connection knows. Texts are UTF-8; NULL means "". */
struct cod_info_facts {
	enum cod_dialect dialect;
	const char *dsn; /* SQL_DATA_SOURCE_NAME; "" if the application named none */
	const char *server_version; /* cenote_info(conn, "server_version") */
	const char *database; /* SQL_DATABASE_NAME */
	const char *server; /* SQL_SERVER_NAME: pool, or host */
	const char *user; /* SQL_USER_NAME */
	const char *driver_name; /* the driver's file name */
	SQLUINTEGER is_read_only; /* SQL_DATA_SOURCE_READ_ONLY */
	/* the version that the application uses: SQL_OV_ODBC2, SQL_OV_ODBC3 or SQL_OV_ODBC3_80 */
	SQLUINTEGER odbc_version;
};

enum cod_info_kind {
	COD_INFO_TEXT,
	COD_INFO_U16, /* SQLUSMALLINT */
	COD_INFO_U32 /* SQLUINTEGER */
};

struct cod_info_value {
	enum cod_info_kind kind;
	SQLUINTEGER number;
	const char *text; /* static, or from the facts or `buffer` */
	char buffer[64];
};

/* Answer an information type. 0 and *ret_value; -1: there is no such type (HY096). The driver manager
 * itself answers some types (SQL_DRIVER_HDBC and similar); they are not here. */
int cod_info(SQLUSMALLINT id, const struct cod_info_facts *facts,
	struct cod_info_value *ret_value);

/* The n-th id in the table, for tests and docs; -1 after the last one. */
int cod_info_id(size_t i);

#endif
