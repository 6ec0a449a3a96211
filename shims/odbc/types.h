/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_TYPES_H
#define COD_TYPES_H

#include <stdint.h>

#include <sql.h>
#include <sqlext.h>
#include <sqlucode.h>

#include <cenote/cenote.h>

#include "dialect.h"

/* ---- ODBC's own types ---- */

/* An SQL type. */
struct cod_sql_type {
	SQLSMALLINT concise; /* SQL_TYPE_DATE: SQL_DESC_CONCISE_TYPE */
	SQLSMALLINT verbose; /* SQL_DATETIME: SQL_DESC_TYPE */
	SQLSMALLINT sub; /* SQL_CODE_DATE: SQL_DESC_DATETIME_INTERVAL_CODE; else 0 */
	SQLSMALLINT c_type; /* the meaning of SQL_C_DEFAULT for a signed column */
	SQLSMALLINT c_unsigned; /* the meaning of SQL_C_DEFAULT for an unsigned column */
	SQLSMALLINT radix; /* SQL_DESC_NUM_PREC_RADIX: 10, 2, or 0 */
	SQLLEN size; /* column size if the type alone decides it, else 0 */
	SQLLEN octets; /* bytes of the default C type, else 0 */
	SQLLEN display; /* display size, else 0 */
};

/* Find an SQL type; NULL: there is no such type. The date codes of ODBC 2 find the types of ODBC 3
 * (SQL_DATE is SQL_TYPE_DATE). */
const struct cod_sql_type *cod_sql_type(SQLSMALLINT concise);
/*
 * The concise type for a verbose type and its code (SQL_DATETIME, SQL_CODE_DATE). For any other type
 * it is `verbose` itself. 0: no such type, or no such code. It also serves C types:
 * SQL_C_INTERVAL_... and SQL_C_TYPE_... have the same numbers.
 */
SQLSMALLINT cod_concise(SQLSMALLINT verbose, SQLSMALLINT sub);

/* A C type. */
struct cod_c_type {
	SQLSMALLINT concise; /* SQL_C_SLONG */
	SQLSMALLINT verbose; /* SQL_DATETIME of SQL_C_TYPE_DATE: SQL_DESC_TYPE */
	SQLSMALLINT sub; /* SQL_DESC_DATETIME_INTERVAL_CODE; else 0 */
	/* for types of a fixed length, which ignore BufferLength; else 0 */
	SQLLEN octets;
};

/* Find a C type; NULL: there is no such type. SQL_C_DEFAULT is a type. The C types of ODBC 2
 * (SQL_C_DATE and similar) find those of ODBC 3, but SQL_C_LONG stays itself and is signed. */
const struct cod_c_type *cod_c_type(SQLSMALLINT c_type);
/* What SQL_C_DEFAULT means for an SQL type; SQL_C_CHAR if there is no such type. */
SQLSMALLINT cod_default_c_type(SQLSMALLINT sql_type, int is_unsigned);
/* The number of an SQL type in the application's version of ODBC: dates are 9, 10 and 11
 * in ODBC 2. */
SQLSMALLINT cod_sql_type_for(SQLSMALLINT concise, SQLINTEGER odbc_version);

/* ---- types of a server's columns ---- */

/* What the server says about a column or a parameter, from cenote_column_int() and
 * cenote_column_text(). */
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
	const char *type_name; /* "" if unknown */
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

/* Set the type of a parameter. The server says no more about it than its type. */
void cod_native_of_param(int type, uint32_t native_type, struct cod_native *ret_native);

/* Everything that ODBC asks about a column's type. */
struct cod_type {
	const struct cod_sql_type *sql; /* concise, verbose and so on; never NULL */
	/* SQL_DESC_LENGTH, and ColumnSize of SQLDescribeCol(); 0: unknown */
	SQLULEN size;
	/* SQL_DESC_PRECISION: digits; for dates, digits of the fraction */
	SQLSMALLINT precision;
	SQLSMALLINT digits; /* DecimalDigits, and SQL_DESC_SCALE of exact numbers */
	SQLLEN octets; /* SQL_DESC_OCTET_LENGTH */
	SQLLEN display; /* SQL_DESC_DISPLAY_SIZE */
	SQLSMALLINT nullable;
	SQLSMALLINT searchable; /* SQL_PRED_… */
	/* the standard wants SQL_TRUE also for types that are not numbers */
	SQLSMALLINT is_unsigned;
	SQLSMALLINT is_case_sensitive;
	SQLSMALLINT is_fixed_scale; /* SQL_DESC_FIXED_PREC_SCALE: money */
	SQLSMALLINT is_auto; /* SQL_DESC_AUTO_UNIQUE_VALUE */
	/* SQL_DESC_TYPE_NAME; borrowed from the native type, or static */
	const char *name;
	const char *prefix, *suffix; /* of literals; "" if none */
};

/* How a connection describes types. */
struct cod_type_options {
	int is_wide; /* texts are SQL_WCHAR, SQL_WVARCHAR and SQL_WLONGVARCHAR */
	int is_int32; /* SQL_INTEGER replaces SQL_BIGINT */
	/* The size of texts and bytes that the server does not limit. Programs that bind by column
	 * size allocate this much for each row. */
	SQLULEN long_size;
};
#define COD_LONG_SIZE 8190 /* the same as in psqlodbc */
#define COD_LONG_SIZE_MAX                                                                \
	(INT32_MAX / 4) /* the bytes, four for a character, must fit into an SQLINTEGER */

void cod_type_of(enum cod_dialect dialect, const struct cod_native *native,
	const struct cod_type_options *options, struct cod_type *ret_type);
/* Whether a program can allocate texts or bytes of this length. 0 or less: the type has no limit. */
int cod_is_limited(int64_t length);

/* A column of a result: the record of an implementation row descriptor. Texts are never NULL; those
 * of a server's column are borrowed from it. */
struct cod_column {
	const char *name; /* also SQL_DESC_LABEL */
	const char *base_name, *table, *base_table, *schema, *catalog;
	int value_type; /* enum cenote_type of the values in canonical form */
	/* numbers of table and column from PostgreSQL; else 0 */
	int64_t table_id, attnum;
	struct cod_type type;
};

void cod_column_of(const cenote_column *column, enum cod_dialect dialect,
	const struct cod_type_options *options, struct cod_column *ret_column);
/* Make a column of the driver's own (catalog functions). `sql_type` is SQL_VARCHAR, SQL_WVARCHAR,
 * SQL_SMALLINT, SQL_INTEGER or the like. Names are borrowed. */
void cod_column_own(const char *name, SQLSMALLINT sql_type, SQLULEN size,
	SQLSMALLINT nullable, struct cod_column *ret_column);

#endif
