/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_CONVERT_H
#define COD_CONVERT_H

#include <stddef.h>
#include <stdint.h>

#include <sql.h>
#include <sqlext.h>
#include <sqlucode.h>

#include <cenote/cenote.h>

#include "dialect.h"

/*
 * The conversions of the ODBC standard, appendix D: "Converting Data from SQL to C Data Types" and
 * "Converting Data from C to SQL Data Types".
 *
 * Functions return an SQLSTATE, a static text, or NULL for success. "01..." is a warning: the value
 * was written, and the function returns SQL_SUCCESS_WITH_INFO. Any other SQLSTATE is an error, and
 * nothing was written.
 */

/* ---- from SQL to C ---- */

/* A fetched value in canonical form (CENOTE_FORMAT_CANONICAL), as cenote_result_text() gives it. */
struct cod_value {
	const char *bytes; /* NULL: the value is NULL */
	size_t n;
	int type; /* enum cenote_type of its column */
	/* the column's concise type; decides SQL_C_DEFAULT and which conversions exist */
	SQLSMALLINT sql_type;
	int is_unsigned; /* the column is unsigned, which matters for SQL_C_DEFAULT */
};

/* A buffer of the application. */
struct cod_target {
	SQLSMALLINT c_type; /* any; the caller resolves SQL_C_DEFAULT and SQL_ARD_TYPE */
	SQLPOINTER to; /* NULL: the application wants only the length, or nothing */
	SQLLEN room; /* bytes; ignored for types of a fixed length */
	SQLLEN *octets; /* SQL_DESC_OCTET_LENGTH_PTR; may be NULL */
	SQLLEN *indicator; /* SQL_DESC_INDICATOR_PTR; may be NULL, may equal `octets` */
	/* for SQL_C_NUMERIC, and for seconds of intervals; as in the descriptor */
	SQLSMALLINT precision;
	SQLSMALLINT scale; /* for SQL_C_NUMERIC */
	/* SQL_DESC_DATETIME_INTERVAL_PRECISION; 0 means the default, 2 */
	SQLINTEGER leading;
};

/* The position of SQLGetData() in a value. All zero means the beginning. The caller resets it for
 * another column, row or C type. */
struct cod_piece {
	size_t offset; /* bytes of the value that the application has */
	size_t left; /* bytes that remain, in the C type, if offset > 0 */
	int is_begun;
	/* the application has the whole value: the next call must return SQL_NO_DATA and not call
	 * cod_get() */
	int is_done;
};

/*
 * Put a value into a buffer.
 *
 * @param piece  NULL for a bound column, whose value is written at once. For SQLGetData(), text and
 *         bytes come in pieces, and the last piece sets is_done.
 *
 * On success and on a warning, *octets is the length in bytes that was left before this call (with
 * 01004 more than the room), or *indicator is SQL_NULL_DATA.
 *
 * @return NULL; 01004 cut; 01S07 digits after the point were cut; 22002 NULL, but no indicator;
 *         22003 out of range; 22015 the interval's leading field is too long; 22007, 22018 the text
 *         does not have the type's form; 07006 there is no such conversion; HY003 unknown C type;
 *         HY090 room < 0.
 */
const char *cod_get(const struct cod_value *value, const struct cod_target *target,
	struct cod_piece *piece);

/* Can this SQL type be converted to that C type? SQL_C_DEFAULT always works. */
int cod_can_get(SQLSMALLINT sql_type, SQLSMALLINT c_type);
/* Whether the standard converts this C type to that SQL type. */
int cod_can_put(SQLSMALLINT c_type, SQLSMALLINT sql_type);

/* A bookmark is a number of 64 bits. SQL_C_BOOKMARK and SQL_C_VARBOOKMARK (SQL_C_BINARY) are its
 * bytes. Returns as cod_get() does. */
#define COD_BOOKMARK_SIZE 8
const char *cod_get_bookmark(uint64_t number, const struct cod_target *target);
/* Read a bookmark. 0 and *ret_number; -1: it is not a bookmark. `n` is as in the indicator;
 * SQL_C_BOOKMARK does not need it. */
int cod_read_bookmark(
	const void *from, SQLLEN n, SQLSMALLINT c_type, uint64_t *ret_number);

/* ---- from C to SQL ---- */

/* The value of a parameter. The caller has applied indicator and offsets. */
struct cod_source {
	/* as the application bound it; SQL_C_DEFAULT depends on the SQL type */
	SQLSMALLINT c_type;
	const void *from; /* not NULL */
	SQLLEN n; /* bytes, or SQL_NTS; ignored for types of a fixed length */
	SQLSMALLINT sql_type; /* concise */
	SQLULEN size; /* ColumnSize; 0: unknown, no check */
	SQLSMALLINT digits; /* DecimalDigits */
	SQLSMALLINT precision,
		/* from the descriptor, for SQL_C_NUMERIC; if the scale is 0, the structure's scale
		 * counts */
		scale;
};

/* A value for cenote_params. `text` points into the source if it can be sent as it is, else into
 * `memory`. */
struct cod_param {
	int type; /* enum cenote_type; CENOTE_TYPE_NULL */
	union {
		int64_t i; /* BOOL, INT64 */
		uint64_t u; /* UINT64 */
		double d;
		cenote_date date;
		cenote_time time;
		cenote_timestamp timestamp;
	} as;
	const char *text; /* DECIMAL, TEXT, BYTES, INTERVAL, UUID */
	size_t n;
	char *memory; /* the caller frees it */
};

/*
 * Read a value as its SQL type.
 *
 * @param ret_param  valid as long as the source's memory; the caller calls cod_param_finish()
 *
 * Nothing compares texts and bytes with `size`: the server reports 22001.
 *
 * @return NULL; 22001 a whole number would lose digits of the text; 22003 out of range; 22007 the
 *         structure is not a date, time or interval; 22008 a date would lose its time; 22018 the
 *         text does not have the form of the SQL type; 07006 there is no such conversion; HY003,
 *         HY004 unknown type; HY090 bad `n`; HY001 no memory.
 */
const char *cod_param_read(enum cod_dialect dialect, const struct cod_source *source,
	struct cod_param *ret_param);
void cod_param_finish(struct cod_param *param);
/* Read a value, append it to `params` and free it. HY001 also if libcenote is out of memory. */
const char *cod_put(
	enum cod_dialect dialect, const struct cod_source *source, cenote_params *params);

#endif
