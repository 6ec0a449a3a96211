/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_TYPES_H
#define COD_TYPES_H

#include <stdint.h>

#include <sql.h>
#include <sqlext.h>
#include <sqlucode.h>

#include <cenote/cenote.h>

#include "dialect.h"

/* ---- what ODBC itself says of types ---- */

/* An SQL type. */
struct cod_sql_type {
	SQLSMALLINT concise; /* SQL_TYPE_DATE: SQL_DESC_CONCISE_TYPE */
	SQLSMALLINT verbose; /* SQL_DATETIME: SQL_DESC_TYPE */
	SQLSMALLINT sub; /* SQL_CODE_DATE: SQL_DESC_DATETIME_INTERVAL_CODE; else 0 */
	SQLSMALLINT c_type; /* SQL_C_DEFAULT means this, of a signed one */
	SQLSMALLINT c_unsigned; /* … of an unsigned one */
	SQLSMALLINT radix; /* SQL_DESC_NUM_PREC_RADIX: 10, 2, or 0 */
	SQLLEN size; /* column size where the type alone decides it, else 0 */
	SQLLEN octets; /* bytes as its default C type, else 0 */
	SQLLEN display; /* display size, else 0 */
};

/* NULL: no such type. ODBC 2's codes of dates are those of ODBC 3 (SQL_DATE is SQL_TYPE_DATE). */
const struct cod_sql_type *cod_sql_type(SQLSMALLINT concise);
/* The concise type of a verbose one and its code (SQL_DATETIME, SQL_CODE_DATE); of others
 * `verbose` itself. 0: no such type, or no such code of it. `is_c`: of C types, which are SQL_C_INTERVAL_…
 * and SQL_C_TYPE_…, and have the same numbers. */
SQLSMALLINT cod_concise(SQLSMALLINT verbose, SQLSMALLINT sub);

/* A C type. */
struct cod_c_type {
	SQLSMALLINT concise; /* SQL_C_SLONG */
	SQLSMALLINT verbose; /* SQL_DATETIME of SQL_C_TYPE_DATE: SQL_DESC_TYPE */
	SQLSMALLINT sub; /* SQL_DESC_DATETIME_INTERVAL_CODE; else 0 */
	SQLLEN octets; /* of types of one length, which ignore BufferLength; else 0 */
};

/* NULL: no such type. SQL_C_DEFAULT is one; ODBC 2's SQL_C_DATE, SQL_C_LONG … are those of ODBC 3
 * (SQL_C_LONG stays itself, and is signed). */
const struct cod_c_type *cod_c_type(SQLSMALLINT c_type);
/* The C type that SQL_C_DEFAULT means for an SQL type; SQL_C_CHAR if there is no such type. */
SQLSMALLINT cod_default_c_type(SQLSMALLINT sql_type, int is_unsigned);
/* An SQL type as an application of this version of ODBC knows it: dates are 9, 10 and 11 in ODBC 2. */
SQLSMALLINT cod_sql_type_for(SQLSMALLINT concise, SQLINTEGER odbc_version);

/* ---- what a server's column is ---- */

/* What the server says of a column or a parameter: cenote_column_int(), cenote_column_text(). */
struct cod_native {
	int type; /* enum cenote_type */
	uint32_t native_type;
	int64_t modifier;
	uint32_t flags;
	int64_t charset;
	int64_t length;
	int64_t precision;
	int64_t scale;
	int nullable; /* 0, 1, 2: SQL_NO_NULLS, SQL_NULLABLE, SQL_NULLABLE_UNKNOWN */
	const char *type_name; /* "" if not known */
};
#define COD_NATIVE_INIT                                                                  \
	{                                                                                \
		CENOTE_TYPE_TEXT, 0, -1, 0, -1, -1, -1, -1, SQL_NULLABLE_UNKNOWN, ""     \
	}

/* A type of text or bytes, its wide form, and the type that it has without a limit. */
struct cod_string_form {
	SQLSMALLINT sql, wide, unlimited;
};
/* NULL: the type is neither text nor bytes. */
const struct cod_string_form *cod_string_form(SQLSMALLINT sql);

/* The type of a parameter, of which the server says its types only. */
void cod_native_of_param(int type, uint32_t native_type, struct cod_native *ret_native);

/* All that ODBC wants to know of a column's type. */
struct cod_type {
	const struct cod_sql_type *sql; /* concise, verbose and so on; never NULL */
	SQLULEN size; /* SQL_DESC_LENGTH and SQLDescribeCol's ColumnSize; 0 not known */
	SQLSMALLINT precision; /* SQL_DESC_PRECISION: digits; of dates: of the fraction */
	SQLSMALLINT digits; /* DecimalDigits, and SQL_DESC_SCALE of exact numbers */
	SQLLEN octets; /* SQL_DESC_OCTET_LENGTH */
	SQLLEN display; /* SQL_DESC_DISPLAY_SIZE */
	SQLSMALLINT nullable;
	SQLSMALLINT searchable; /* SQL_PRED_… */
	SQLSMALLINT
	is_unsigned; /* SQL_TRUE of what is no number, too, as the standard has it */
	SQLSMALLINT is_case_sensitive;
	SQLSMALLINT is_fixed_scale; /* SQL_DESC_FIXED_PREC_SCALE: money */
	SQLSMALLINT is_auto; /* SQL_DESC_AUTO_UNIQUE_VALUE */
	const char *name; /* SQL_DESC_TYPE_NAME; borrowed from the native, or static */
	const char *prefix, *suffix; /* of literals; "" if none */
};

/* How a connection describes types. */
struct cod_type_options {
	int is_wide; /* texts are SQL_WCHAR, SQL_WVARCHAR, SQL_WLONGVARCHAR rather than SQL_CHAR … */
	int is_int32; /* what would be SQL_BIGINT is SQL_INTEGER */
	/* Size of texts and bytes that the server does not limit. Programs that bind by column size
	 * allocate this much for each row. */
	SQLULEN long_size;
};
#define COD_LONG_SIZE 8190 /* as psqlodbc has it */
#define COD_LONG_SIZE_MAX                                                                \
	(INT32_MAX / 4) /* its bytes, four for a character, are an SQLINTEGER */

void cod_type_of(enum cod_dialect dialect, const struct cod_native *native,
	const struct cod_type_options *options, struct cod_type *ret_type);
/* Whether a text or bytes of this length are of a size that a program can allocate. 0 and less: there is
 * no limit. */
int cod_is_limited(int64_t length);

/* A column of a result: an implementation row descriptor's record. Texts are never NULL; those of a server's
 * column are borrowed from it. */
struct cod_column {
	const char *name; /* also SQL_DESC_LABEL */
	const char *base_name, *table, *base_table, *schema, *catalog;
	int value_type; /* enum cenote_type of its values in canonical form */
	int64_t table_id, attnum; /* PostgreSQL's numbers of table and column; 0 */
	struct cod_type type;
};

void cod_column_of(const cenote_column *column, enum cod_dialect dialect,
	const struct cod_type_options *options, struct cod_column *ret_column);
/* Of a column of the driver's own making (catalog functions): `sql_type` SQL_VARCHAR, SQL_WVARCHAR,
 * SQL_SMALLINT, SQL_INTEGER …; names are borrowed. */
void cod_column_own(const char *name, SQLSMALLINT sql_type, SQLULEN size,
	SQLSMALLINT nullable, struct cod_column *ret_column);

#endif
