/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_CLASSES_H
#define COD_CLASSES_H

#include <sql.h>
#include <sqlext.h>

/* Classes of SQL types and C types. All types of a class are converted in the same way. Only
 * convert.c, convert_get.c and convert_put.c use them. */

enum cod_class {
	COD_TEXT, /* SQL_CHAR …, SQL_C_CHAR */
	COD_WIDE, /* SQL_WCHAR …, SQL_C_WCHAR */
	COD_BYTES,
	COD_BIT,
	COD_INTEGER, /* whole and exact */
	COD_EXACT, /* SQL_DECIMAL, SQL_NUMERIC; SQL_C_NUMERIC */
	COD_REAL,
	COD_DATE,
	COD_TIME,
	COD_TIMESTAMP,
	COD_GUID,
	COD_INTERVAL,
	COD_NO_CLASS
};
#define COD_N_CLASSES COD_NO_CLASS

enum cod_class cod_sql_class(SQLSMALLINT sql_type);
enum cod_class cod_c_class(SQLSMALLINT c_type); /* SQL_C_DEFAULT has no class. */

/* A C type for whole numbers. */
struct cod_integer {
	SQLSMALLINT c_type;
	unsigned char size;
	unsigned char is_signed;
};
const struct cod_integer *cod_integer(SQLSMALLINT c_type);

#endif
