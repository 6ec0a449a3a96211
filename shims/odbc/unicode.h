/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_UNICODE_H
#define COD_UNICODE_H

#include <stddef.h>

#include <sql.h>
#include <sqlext.h>
#include <sqlucode.h>

/*
 * UTF-8, which is what libcenote and the ANSI functions speak, and UTF-16 in the machine's byte order, which
 * is what the W functions and SQL_C_WCHAR are: an SQLWCHAR is 2 bytes, and characters above U+FFFF
 * are two of them. What is not well formed becomes U+FFFD, one for each byte or half pair, so that
 * every conversion succeeds. A "unit" is one SQLWCHAR.
 */

/* How many units a text takes. */
size_t cod_wide_length(const char *utf8, size_t n);
/* Writes cod_wide_length() units, no zero. The number. `n` bytes never give more than `n` units. */
size_t cod_wide(const char *utf8, size_t n, SQLWCHAR *to);
/* How many bytes of UTF-8 units take. */
size_t cod_narrow_length(const SQLWCHAR *w, size_t n);
/* Writes cod_narrow_length() bytes, no zero. The number; never more than 3 * n. */
size_t cod_narrow(const SQLWCHAR *w, size_t n, char *to);
/* Units up to the zero one. */
size_t cod_wide_strlen(const SQLWCHAR *w);

/* The most of the text's n bytes that fit in `room` and end with a whole character. */
size_t cod_fit(const char *utf8, size_t n, size_t room);
/* The most of the text's n bytes whose UTF-16 fits in `room` units and ends with a whole character;
 * *ret_units is how many units they are. */
size_t cod_wide_fit(const char *utf8, size_t n, size_t room, size_t *ret_units);

/*
 * What an application gave as a text argument, as UTF-8 with a zero byte, in memory of its own that the
 * caller frees. `n` is as ODBC has it: SQL_NTS, or bytes (units of a wide one).
 *
 * NULL: no memory. A NULL argument is not allowed (the caller knows what it means), nor a negative
 * length that is not SQL_NTS (HY090, cod_is_length()).
 */
char *cod_text_dup(const SQLCHAR *text, SQLLEN n);
char *cod_wide_dup(const SQLWCHAR *text, SQLLEN n);
/* Whether a length argument is one: SQL_NTS, or not negative. */
int cod_is_length(SQLLEN n);

/* Where a text goes that a function hands out. */
struct cod_out {
	SQLPOINTER to; /* NULL: only the length is wanted */
	SQLLEN room; /* bytes, the zero at the end included; none if <= 0 */
	int is_wide; /* UTF-16, and the odd byte of a room is not used */
};

/*
 * Hand out a text, always with a zero behind it where there is room for one. It is cut before a
 * character that does not fit whole.
 *
 * *ret_bytes, where not NULL, is the whole length, in bytes, without the zero. 0; 1: it was cut, or
 * there was no room for the zero (01004). `to` NULL is never cut.
 */
int cod_out_text(
	const struct cod_out *out, const char *utf8, size_t n, SQLLEN *ret_bytes);

#endif
