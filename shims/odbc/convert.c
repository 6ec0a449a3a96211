/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SQL types and C types that can be converted into each other: the tables of the ODBC standard,
 * appendix D. convert_get.c and convert_put.c convert; fetch.c and param.c call this file. It has
 * no state.
 */
#include "convert.h"

#include "classes.h"
#include "interval.h"
#include "types.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Type numbers lie between -28 and 113. The tables store class + 1, so that 0 means "no class". */
#define LOWEST   (-28)
#define AT(type) [(type)-LOWEST]

static const unsigned char sql_classes[] = {
	AT(SQL_CHAR) = COD_TEXT + 1,
	AT(SQL_VARCHAR) = COD_TEXT + 1,
	AT(SQL_LONGVARCHAR) = COD_TEXT + 1,
	AT(SQL_WCHAR) = COD_WIDE + 1,
	AT(SQL_WVARCHAR) = COD_WIDE + 1,
	AT(SQL_WLONGVARCHAR) = COD_WIDE + 1,
	AT(SQL_BINARY) = COD_BYTES + 1,
	AT(SQL_VARBINARY) = COD_BYTES + 1,
	AT(SQL_LONGVARBINARY) = COD_BYTES + 1,
	AT(SQL_BIT) = COD_BIT + 1,
	AT(SQL_TINYINT) = COD_INTEGER + 1,
	AT(SQL_SMALLINT) = COD_INTEGER + 1,
	AT(SQL_INTEGER) = COD_INTEGER + 1,
	AT(SQL_BIGINT) = COD_INTEGER + 1,
	AT(SQL_DECIMAL) = COD_EXACT + 1,
	AT(SQL_NUMERIC) = COD_EXACT + 1,
	AT(SQL_REAL) = COD_REAL + 1,
	AT(SQL_FLOAT) = COD_REAL + 1,
	AT(SQL_DOUBLE) = COD_REAL + 1,
	AT(SQL_DATE) = COD_DATE + 1,
	AT(SQL_TIME) = COD_TIME + 1,
	AT(SQL_TIMESTAMP) = COD_TIMESTAMP + 1,
	AT(SQL_TYPE_DATE) = COD_DATE + 1,
	AT(SQL_TYPE_TIME) = COD_TIME + 1,
	AT(SQL_TYPE_TIMESTAMP) = COD_TIMESTAMP + 1,
	AT(SQL_GUID) = COD_GUID + 1,
};

static const unsigned char c_classes[] = {
	AT(SQL_C_CHAR) = COD_TEXT + 1,
	AT(SQL_C_WCHAR) = COD_WIDE + 1,
	AT(SQL_C_BINARY) = COD_BYTES + 1,
	AT(SQL_C_BIT) = COD_BIT + 1,
	AT(SQL_C_TINYINT) = COD_INTEGER + 1,
	AT(SQL_C_STINYINT) = COD_INTEGER + 1,
	AT(SQL_C_UTINYINT) = COD_INTEGER + 1,
	AT(SQL_C_SHORT) = COD_INTEGER + 1,
	AT(SQL_C_SSHORT) = COD_INTEGER + 1,
	AT(SQL_C_USHORT) = COD_INTEGER + 1,
	AT(SQL_C_LONG) = COD_INTEGER + 1,
	AT(SQL_C_SLONG) = COD_INTEGER + 1,
	AT(SQL_C_ULONG) = COD_INTEGER + 1,
	AT(SQL_C_SBIGINT) = COD_INTEGER + 1,
	AT(SQL_C_UBIGINT) = COD_INTEGER + 1,
	AT(SQL_C_NUMERIC) = COD_EXACT + 1,
	AT(SQL_C_FLOAT) = COD_REAL + 1,
	AT(SQL_C_DOUBLE) = COD_REAL + 1,
	AT(SQL_C_DATE) = COD_DATE + 1,
	AT(SQL_C_TIME) = COD_TIME + 1,
	AT(SQL_C_TIMESTAMP) = COD_TIMESTAMP + 1,
	AT(SQL_C_TYPE_DATE) = COD_DATE + 1,
	AT(SQL_C_TYPE_TIME) = COD_TIME + 1,
	AT(SQL_C_TYPE_TIMESTAMP) = COD_TIMESTAMP + 1,
	AT(SQL_C_GUID) = COD_GUID + 1,
};

static const struct cod_integer integers[] = {
	{ SQL_C_SLONG, 4, 1 },
	{ SQL_C_SBIGINT, 8, 1 },
	{ SQL_C_LONG, 4, 1 },
	{ SQL_C_ULONG, 4, 0 },
	{ SQL_C_UBIGINT, 8, 0 },
	{ SQL_C_SSHORT, 2, 1 },
	{ SQL_C_SHORT, 2, 1 },
	{ SQL_C_USHORT, 2, 0 },
	{ SQL_C_TINYINT, 1, 1 },
	{ SQL_C_STINYINT, 1, 1 },
	{ SQL_C_UTINYINT, 1, 0 },
};

#define BIT(class) (1u << (class))
#define TEXTS      (BIT(COD_TEXT) | BIT(COD_WIDE))
#define NUMBERS    (BIT(COD_INTEGER) | BIT(COD_EXACT) | BIT(COD_REAL) | BIT(COD_BIT))
#define ALL        (BIT(COD_N_CLASSES) - 1)

/* The conversions that the standard's tables allow, as bits of the other side's classes. goes_with()
 * decides about intervals. */
static const unsigned gets[COD_N_CLASSES] = {
	[COD_TEXT] = ALL,
	[COD_WIDE] = ALL,
	[COD_BYTES] = TEXTS | BIT(COD_BYTES),
	[COD_BIT] = TEXTS | BIT(COD_BYTES) | NUMBERS,
	[COD_INTEGER] = TEXTS | BIT(COD_BYTES) | NUMBERS | BIT(COD_INTERVAL),
	[COD_EXACT] = TEXTS | BIT(COD_BYTES) | NUMBERS | BIT(COD_INTERVAL),
	[COD_REAL] = TEXTS | BIT(COD_BYTES) | NUMBERS,
	[COD_DATE] = TEXTS | BIT(COD_BYTES) | BIT(COD_DATE) | BIT(COD_TIMESTAMP),
	[COD_TIME] = TEXTS | BIT(COD_BYTES) | BIT(COD_TIME) | BIT(COD_TIMESTAMP),
	[COD_TIMESTAMP] = TEXTS | BIT(COD_BYTES) | BIT(COD_DATE) | BIT(COD_TIME) |
			  BIT(COD_TIMESTAMP),
	[COD_GUID] = TEXTS | BIT(COD_BYTES) | BIT(COD_GUID),
	[COD_INTERVAL] = TEXTS | BIT(COD_BYTES) | BIT(COD_INTEGER) | BIT(COD_EXACT) |
			 BIT(COD_INTERVAL),
};

static const unsigned puts_to[COD_N_CLASSES] = {
	[COD_TEXT] = ALL,
	[COD_WIDE] = ALL,
	[COD_BYTES] = ALL,
	[COD_BIT] = TEXTS | NUMBERS,
	[COD_INTEGER] = TEXTS | NUMBERS | BIT(COD_INTERVAL),
	[COD_EXACT] = TEXTS | NUMBERS | BIT(COD_INTERVAL),
	[COD_REAL] = TEXTS | NUMBERS,
	[COD_DATE] = TEXTS | BIT(COD_DATE) | BIT(COD_TIMESTAMP),
	[COD_TIME] = TEXTS | BIT(COD_TIME) | BIT(COD_TIMESTAMP),
	[COD_TIMESTAMP] = TEXTS | BIT(COD_DATE) | BIT(COD_TIME) | BIT(COD_TIMESTAMP),
	[COD_GUID] = TEXTS | BIT(COD_GUID),
	[COD_INTERVAL] = TEXTS | BIT(COD_INTEGER) | BIT(COD_EXACT) | BIT(COD_INTERVAL),
};

static enum cod_class
class_of(const unsigned char *classes, size_t n, SQLSMALLINT type)
{
	int at = type - LOWEST;

	if (cod_is_interval(type))
		return COD_INTERVAL;
	if (at < 0 || (size_t)at >= n || classes[at] == 0)
		return COD_NO_CLASS;
	return (enum cod_class)(classes[at] - 1);
}

enum cod_class
cod_sql_class(SQLSMALLINT sql_type)
{
	return class_of(sql_classes, COUNT(sql_classes), sql_type);
}

enum cod_class
cod_c_class(SQLSMALLINT c_type)
{
	return class_of(c_classes, COUNT(c_classes), c_type);
}

const struct cod_integer *
cod_integer(SQLSMALLINT c_type)
{
	const struct cod_integer *integer = integers;

	while (integer->c_type != c_type)
		integer++;
	return integer;
}

/* An interval converts to and from a number only if it has a single field. */
static int
goes_with(SQLSMALLINT interval, SQLSMALLINT other, enum cod_class class)
{
	if (class == COD_INTERVAL)
		return cod_interval_is_months(interval) == cod_interval_is_months(other);
	if (class == COD_INTEGER || class == COD_EXACT)
		return cod_interval_is_single(interval);
	return 1;
}

static int
is_allowed(const unsigned *table, SQLSMALLINT from, enum cod_class from_class,
	SQLSMALLINT to, enum cod_class to_class)
{
	if (from_class == COD_NO_CLASS || to_class == COD_NO_CLASS ||
		!(table[from_class] & BIT(to_class)))
		return 0;
	if (from_class == COD_INTERVAL)
		return goes_with(from, to, to_class);
	return to_class != COD_INTERVAL || goes_with(to, from, from_class);
}

int
cod_can_get(SQLSMALLINT sql_type, SQLSMALLINT c_type)
{
	return c_type == SQL_C_DEFAULT ||
	       is_allowed(gets, sql_type, cod_sql_class(sql_type), c_type,
		       cod_c_class(c_type));
}

int
cod_can_put(SQLSMALLINT c_type, SQLSMALLINT sql_type)
{
	return c_type == SQL_C_DEFAULT || is_allowed(puts_to, c_type, cod_c_class(c_type),
						  sql_type, cod_sql_class(sql_type));
}
