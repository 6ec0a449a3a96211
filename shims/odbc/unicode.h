/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_UNICODE_H
#define COD_UNICODE_H

#include <stddef.h>

#include <sql.h>
#include <sqlext.h>
#include <sqlucode.h>

/*
 * UTF-8 is for libcenote and the ANSI functions. UTF-16 in the machine's byte order is for the W
 * functions and SQL_C_WCHAR: an SQLWCHAR has 2 bytes, and characters above U+FFFF take two. Bytes
 * that are not a character become U+FFFD, one for each byte or half of a pair, so that every
 * conversion succeeds. A "unit" is one SQLWCHAR.
 */

/* The number of units that a text takes. */
size_t cod_wide_length(const char *utf8, size_t n);
/* Write cod_wide_length() units without a zero, and return their number. `n` bytes never give more
 * than `n` units. */
size_t cod_wide(const char *utf8, size_t n, SQLWCHAR *to);
/* The number of bytes that the units take in UTF-8. */
size_t cod_narrow_length(const SQLWCHAR *w, size_t n);
/* Write cod_narrow_length() bytes without a zero, and return their number, which is never more than
 * 3 * n. */
size_t cod_narrow(const SQLWCHAR *w, size_t n, char *to);
/* The number of units before the zero. */
size_t cod_wide_strlen(const SQLWCHAR *w);

/* The number of the text's n bytes that fit into `room`, up to the end of a whole character. */
size_t cod_fit(const char *utf8, size_t n, size_t room);
/* The number of the text's n bytes that fit into `room` units of UTF-16, up to the end of a whole
 * character. *ret_units is the number of units for these bytes. */
size_t cod_wide_fit(const char *utf8, size_t n, size_t room, size_t *ret_units);

/*
 * Copy a text argument as UTF-8 with a zero byte; the caller frees it. `n` is as in ODBC: SQL_NTS,
 * or bytes (units for a wide text).
 *
 * NULL: no memory. The caller checks for a NULL argument, and for a negative length that is not
 * SQL_NTS (HY090, cod_is_length()).
 */
char *cod_text_dup(const SQLCHAR *text, SQLLEN n);
char *cod_wide_dup(const SQLWCHAR *text, SQLLEN n);
/* Is the length valid? It must be SQL_NTS, or not negative. */
int cod_is_length(SQLLEN n);

/* Where a function writes a text for the application. */
struct cod_out {
	SQLPOINTER to; /* NULL: the application wants only the length */
	SQLLEN room; /* bytes with the zero at the end; no room if <= 0 */
	int is_wide; /* UTF-16; an odd last byte is not used */
};

/*
 * Write a text with a zero at the end if there is room for one. It cuts before a character that
 * does not fit as a whole.
 *
 * *ret_bytes, unless NULL, is the whole length in bytes without the zero. Returns 0, or 1 if the
 * text was cut or the zero did not fit (01004). With `to` NULL nothing is cut.
 */
int cod_out_text(
	const struct cod_out *out, const char *utf8, size_t n, SQLLEN *ret_bytes);

#endif
