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
 * "… from C to SQL Data Types".
 *
 * Functions return an SQLSTATE, static text, or NULL: all went well. "01…" is a warning: it was
 * done, and SQL_SUCCESS_WITH_INFO is due. Any other is an error, and nothing was written.
 */

/* ---- from SQL to C ---- */

/* A fetched value: in canonical form (CENOTE_FORMAT_CANONICAL), as cenote_result_text() gives it. */
struct cod_value {
	const char *bytes; /* NULL: NULL */
	size_t n;
	int type; /* enum cenote_type of its column */
	SQLSMALLINT
	sql_type; /* of its column, concise; decides SQL_C_DEFAULT and what may become what */
	int is_unsigned; /* of the column, for SQL_C_DEFAULT */
};

/* A buffer of the application's. */
struct cod_target {
	SQLSMALLINT
	c_type; /* any; SQL_C_DEFAULT, SQL_ARD_TYPE is the caller's to resolve */
	SQLPOINTER to; /* NULL: bound for its length only, or not at all */
	SQLLEN room; /* bytes; of types of one length not looked at */
	SQLLEN *octets; /* SQL_DESC_OCTET_LENGTH_PTR; may be NULL */
	SQLLEN *indicator; /* SQL_DESC_INDICATOR_PTR; may be NULL, may be the same */
	SQLSMALLINT
	precision; /* of SQL_C_NUMERIC, and of seconds of intervals; as in the descriptor */
	SQLSMALLINT scale; /* of SQL_C_NUMERIC */
	SQLINTEGER
	leading; /* SQL_DESC_DATETIME_INTERVAL_PRECISION; 0 is its default, 2 */
};

/* How far SQLGetData() has got with a value. All zero: at its beginning; made so again when another
 * column or row is asked for, or another C type. */
struct cod_piece {
	size_t offset; /* bytes of the value that were given */
	size_t left; /* bytes of what is yet to be given, as that C type, where offset > 0 */
	int is_begun;
	int is_done; /* all was given: the next call has to answer SQL_NO_DATA, and not to call this */
};

/*
 * Put a value into a buffer.
 *
 * @param piece  NULL: a bound column, the whole value at once; else SQLGetData()'s: text and bytes
 *               are given in pieces, and is_done is set by the last one
 *
 * On success and warning *octets is the length in bytes of what there was to give in this
 * call (more than room if 01004), or *indicator is SQL_NULL_DATA.
 *
 * @return NULL; 01004 cut; 01S07 digits behind the point were cut; 22002 NULL and no indicator;
 *         22003 out of range; 22015 interval's leading field is too long; 22007, 22018 it is not of that
 *         form; 07006 no such conversion; HY003 no such C type; HY090 room < 0.
 */
const char *cod_get(const struct cod_value *value, const struct cod_target *target,
	struct cod_piece *piece);

/* Whether the standard has a conversion from this SQL type to that C type (SQL_C_DEFAULT: yes). */
int cod_can_get(SQLSMALLINT sql_type, SQLSMALLINT c_type);
/* … from that C type to this SQL type. */
int cod_can_put(SQLSMALLINT c_type, SQLSMALLINT sql_type);

/* A bookmark: a number of 64 bits; SQL_C_BOOKMARK and SQL_C_VARBOOKMARK (SQL_C_BINARY) are its bytes. As
 * cod_get(). */
#define COD_BOOKMARK_SIZE 8
const char *cod_get_bookmark(uint64_t number, const struct cod_target *target);
/* 0 and *ret_number; -1: it is none. `n` as in the indicator, SQL_C_BOOKMARK does not need it. */
int cod_read_bookmark(
	const void *from, SQLLEN n, SQLSMALLINT c_type, uint64_t *ret_number);

/* ---- from C to SQL ---- */

/* A parameter's value, of which indicator and offsets were looked at. */
struct cod_source {
	SQLSMALLINT c_type; /* as bound; SQL_C_DEFAULT is resolved by the SQL type */
	const void *from; /* not NULL */
	SQLLEN n; /* bytes, or SQL_NTS; of types of one length not looked at */
	SQLSMALLINT sql_type; /* concise */
	SQLULEN size; /* ColumnSize; 0 not known: no check */
	SQLSMALLINT digits; /* DecimalDigits */
	SQLSMALLINT precision,
		scale; /* SQL_C_NUMERIC: of the descriptor; scale 0: the structure's */
};

/* A value for cenote_params. `text` is borrowed from the source where its form allows, else `memory`. */
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
	char *memory; /* for free() */
};

/*
 * Read a value as its SQL type.
 *
 * @param ret_param  valid while the source's memory is; the caller calls cod_param_finish()
 *
 * Texts and bytes are not compared with `size`: they go as they are, and the server says 22001.
 *
 * @return NULL; 22001 digits of a text would be lost in an SQL type of whole numbers; 22003 out of
 *         range; 22007 a structure is no date, time or interval; 22008 a time would be lost in a date; 22018 a
 *         text is none of what the SQL type wants; 07006 no such conversion; HY003, HY004 no such
 *         type; HY090 n; HY001 no memory.
 */
const char *cod_param_read(enum cod_dialect dialect, const struct cod_source *source,
	struct cod_param *ret_param);
void cod_param_finish(struct cod_param *param);
/* All three. HY001 also for what libcenote has no room for. */
const char *cod_put(
	enum cod_dialect dialect, const struct cod_source *source, cenote_params *params);

#endif
