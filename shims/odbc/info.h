/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_INFO_H
#define COD_INFO_H

#include <stddef.h>

#include <sql.h>
#include <sqlext.h>

#include "dialect.h"

/* SQLGetInfo(): a table of what is known beforehand, and what has to be asked. */

/* What the connection knows. Texts are UTF-8; NULL is "". */
struct cod_info_facts {
	enum cod_dialect dialect;
	const char *dsn; /* SQL_DATA_SOURCE_NAME; "" if connected without */
	const char *server_version; /* cenote_info(conn, "server_version") */
	const char *database; /* SQL_DATABASE_NAME */
	const char *server; /* SQL_SERVER_NAME: pool, or host */
	const char *user; /* SQL_USER_NAME */
	const char *driver_name; /* file name of the driver */
	SQLUINTEGER is_read_only; /* SQL_DATA_SOURCE_READ_ONLY */
	SQLUINTEGER
	odbc_version; /* SQL_OV_ODBC2, SQL_OV_ODBC3, SQL_OV_ODBC3_80 of the application */
};

enum cod_info_kind {
	COD_INFO_TEXT,
	COD_INFO_U16, /* SQLUSMALLINT */
	COD_INFO_U32 /* SQLUINTEGER */
};

struct cod_info_value {
	enum cod_info_kind kind;
	SQLUINTEGER number;
	const char *text; /* static, or borrowed from the facts or from `buffer` */
	char buffer[64];
};

/* 0 and *ret_value; -1: no such information type (HY096). What the driver manager answers itself
 * (SQL_DRIVER_HDBC …) is not here. */
int cod_info(SQLUSMALLINT id, const struct cod_info_facts *facts,
	struct cod_info_value *ret_value);

/* The n-th id that there is, for tests and docs; -1 behind the last. */
int cod_info_id(size_t i);

#endif
