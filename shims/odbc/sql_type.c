/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SQL types of the ODBC standard and their attributes, in tables. types.c and the conversions
 * look types up. It has no state.
 */
#include "types.h"

#include <stddef.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Characters and bytes. Their sizes depend on a length. */
#define TEXT(type, c)                                                                    \
	{                                                                                \
		type, type, 0, c, c, 0, 0, 0, 0                                          \
	}
#define NUMBER(type, c, c_unsigned, radix, size, octets, display)                        \
	{                                                                                \
		type, type, 0, c, c_unsigned, radix, size, octets, display               \
	}
#define DATETIME(type, sub, c, size, octets)                                             \
	{                                                                                \
		type, SQL_DATETIME, sub, c, c, 0, size, octets, size                     \
	}
/* The size is for a leading field of two digits and no fraction. */
#define INTERVAL(name, size)                                                             \
	{                                                                                \
		SQL_INTERVAL_##name, SQL_INTERVAL, SQL_CODE_##name,                      \
			SQL_C_INTERVAL_##name, SQL_C_INTERVAL_##name, 0, size,           \
			sizeof(SQL_INTERVAL_STRUCT), size                                \
	}

static const struct cod_sql_type sql_types[] = {
	TEXT(SQL_CHAR, SQL_C_CHAR),
	TEXT(SQL_VARCHAR, SQL_C_CHAR),
	TEXT(SQL_LONGVARCHAR, SQL_C_CHAR),
	TEXT(SQL_WCHAR, SQL_C_WCHAR),
	TEXT(SQL_WVARCHAR, SQL_C_WCHAR),
	TEXT(SQL_WLONGVARCHAR, SQL_C_WCHAR),
	TEXT(SQL_BINARY, SQL_C_BINARY),
	TEXT(SQL_VARBINARY, SQL_C_BINARY),
	TEXT(SQL_LONGVARBINARY, SQL_C_BINARY),
	NUMBER(SQL_DECIMAL, SQL_C_CHAR, SQL_C_CHAR, 10, 0, 0, 0),
	NUMBER(SQL_NUMERIC, SQL_C_CHAR, SQL_C_CHAR, 10, 0, 0, 0),
	NUMBER(SQL_BIT, SQL_C_BIT, SQL_C_BIT, 0, 1, 1, 1),
	NUMBER(SQL_TINYINT, SQL_C_STINYINT, SQL_C_UTINYINT, 10, 3, 1, 4),
	NUMBER(SQL_SMALLINT, SQL_C_SSHORT, SQL_C_USHORT, 10, 5, 2, 6),
	NUMBER(SQL_INTEGER, SQL_C_SLONG, SQL_C_ULONG, 10, 10, 4, 11),
	NUMBER(SQL_BIGINT, SQL_C_SBIGINT, SQL_C_UBIGINT, 10, 19, 8, 20),
	NUMBER(SQL_REAL, SQL_C_FLOAT, SQL_C_FLOAT, 2, 7, 4, 14),
	NUMBER(SQL_FLOAT, SQL_C_DOUBLE, SQL_C_DOUBLE, 2, 15, 8, 24),
	NUMBER(SQL_DOUBLE, SQL_C_DOUBLE, SQL_C_DOUBLE, 2, 15, 8, 24),
	NUMBER(SQL_GUID, SQL_C_GUID, SQL_C_GUID, 0, 36, sizeof(SQLGUID), 36),
	DATETIME(SQL_TYPE_DATE, SQL_CODE_DATE, SQL_C_TYPE_DATE, 10,
		sizeof(SQL_DATE_STRUCT)),
	DATETIME(SQL_TYPE_TIME, SQL_CODE_TIME, SQL_C_TYPE_TIME, 8,
		sizeof(SQL_TIME_STRUCT)),
	DATETIME(SQL_TYPE_TIMESTAMP, SQL_CODE_TIMESTAMP, SQL_C_TYPE_TIMESTAMP, 19,
		sizeof(SQL_TIMESTAMP_STRUCT)),
	INTERVAL(YEAR, 2),
	INTERVAL(MONTH, 2),
	INTERVAL(DAY, 2),
	INTERVAL(HOUR, 2),
	INTERVAL(MINUTE, 2),
	INTERVAL(SECOND, 2),
	INTERVAL(YEAR_TO_MONTH, 5),
	INTERVAL(DAY_TO_HOUR, 5),
	INTERVAL(DAY_TO_MINUTE, 8),
	INTERVAL(DAY_TO_SECOND, 11),
	INTERVAL(HOUR_TO_MINUTE, 5),
	INTERVAL(HOUR_TO_SECOND, 8),
	INTERVAL(MINUTE_TO_SECOND, 5),
};

#define C_TYPE(type, octets)                                                             \
	{                                                                                \
		type, type, 0, octets                                                    \
	}
#define C_INTERVAL(name)                                                                 \
	{                                                                                \
		SQL_C_INTERVAL_##name, SQL_INTERVAL, SQL_CODE_##name,                    \
			sizeof(SQL_INTERVAL_STRUCT)                                      \
	}

static const struct cod_c_type c_types[] = {
	C_TYPE(SQL_C_DEFAULT, 0),
	C_TYPE(SQL_C_CHAR, 0),
	C_TYPE(SQL_C_WCHAR, 0),
	C_TYPE(SQL_C_BINARY, 0),
	C_TYPE(SQL_C_BIT, 1),
	C_TYPE(SQL_C_TINYINT, 1),
	C_TYPE(SQL_C_STINYINT, 1),
	C_TYPE(SQL_C_UTINYINT, 1),
	C_TYPE(SQL_C_SHORT, 2),
	C_TYPE(SQL_C_SSHORT, 2),
	C_TYPE(SQL_C_USHORT, 2),
	C_TYPE(SQL_C_LONG, 4),
	C_TYPE(SQL_C_SLONG, 4),
	C_TYPE(SQL_C_ULONG, 4),
	C_TYPE(SQL_C_SBIGINT, 8),
	C_TYPE(SQL_C_UBIGINT, 8),
	C_TYPE(SQL_C_FLOAT, sizeof(SQLREAL)),
	C_TYPE(SQL_C_DOUBLE, sizeof(SQLDOUBLE)),
	C_TYPE(SQL_C_NUMERIC, sizeof(SQL_NUMERIC_STRUCT)),
	C_TYPE(SQL_C_GUID, sizeof(SQLGUID)),
	{ SQL_C_TYPE_DATE, SQL_DATETIME, SQL_CODE_DATE, sizeof(SQL_DATE_STRUCT) },
	{ SQL_C_TYPE_TIME, SQL_DATETIME, SQL_CODE_TIME, sizeof(SQL_TIME_STRUCT) },
	{ SQL_C_TYPE_TIMESTAMP, SQL_DATETIME, SQL_CODE_TIMESTAMP,
		sizeof(SQL_TIMESTAMP_STRUCT) },
	C_INTERVAL(YEAR),
	C_INTERVAL(MONTH),
	C_INTERVAL(DAY),
	C_INTERVAL(HOUR),
	C_INTERVAL(MINUTE),
	C_INTERVAL(SECOND),
	C_INTERVAL(YEAR_TO_MONTH),
	C_INTERVAL(DAY_TO_HOUR),
	C_INTERVAL(DAY_TO_MINUTE),
	C_INTERVAL(DAY_TO_SECOND),
	C_INTERVAL(HOUR_TO_MINUTE),
	C_INTERVAL(HOUR_TO_SECOND),
	C_INTERVAL(MINUTE_TO_SECOND),
};

/* The date types of ODBC 2 had the numbers that the verbose types have now. */
static const struct {
	SQLSMALLINT old, concise;
} old_dates[] = {
	{ SQL_DATE, SQL_TYPE_DATE },
	{ SQL_TIME, SQL_TYPE_TIME },
	{ SQL_TIMESTAMP, SQL_TYPE_TIMESTAMP },
};

static SQLSMALLINT
renewed(SQLSMALLINT type)
{
	for (size_t i = 0; i < COUNT(old_dates); i++) {
		if (type == old_dates[i].old)
			return old_dates[i].concise;
	}
	return type;
}

const struct cod_sql_type *
cod_sql_type(SQLSMALLINT concise)
{
	SQLSMALLINT type = renewed(concise);

	for (size_t i = 0; i < COUNT(sql_types); i++) {
		if (sql_types[i].concise == type)
			return &sql_types[i];
	}
	return NULL;
}

SQLSMALLINT
cod_concise(SQLSMALLINT verbose, SQLSMALLINT sub)
{
	if (verbose != SQL_DATETIME && verbose != SQL_INTERVAL)
		return verbose;
	for (size_t i = 0; i < COUNT(sql_types); i++) {
		if (sql_types[i].verbose == verbose && sql_types[i].sub == sub)
			return sql_types[i].concise;
	}
	return 0;
}

const struct cod_c_type *
cod_c_type(SQLSMALLINT c_type)
{
	SQLSMALLINT type = renewed(c_type);

	for (size_t i = 0; i < COUNT(c_types); i++) {
		if (c_types[i].concise == type)
			return &c_types[i];
	}
	return NULL;
}

SQLSMALLINT
cod_default_c_type(SQLSMALLINT sql_type, int is_unsigned)
{
	const struct cod_sql_type *type = cod_sql_type(sql_type);

	if (!type)
		return SQL_C_CHAR;
	if (is_unsigned)
		return type->c_unsigned;
	return type->c_type;
}

SQLSMALLINT
cod_sql_type_for(SQLSMALLINT concise, SQLINTEGER odbc_version)
{
	for (size_t i = 0; i < COUNT(old_dates); i++) {
		if (odbc_version == SQL_OV_ODBC2 && concise == old_dates[i].concise)
			return old_dates[i].old;
	}
	return concise;
}
