/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * UTF-8 and UTF-16: lengths, conversions and cutting at whole characters. call.c and the
 * conversions call this file. It has no state.
 */
#include "unicode.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT 0xfffdu

_Static_assert(sizeof(SQLWCHAR) == 2, "an SQLWCHAR is a unit of UTF-16");

/* The number of bytes of a character, by its first byte; and the bits that this byte contributes. */
static size_t
lead(unsigned char c, uint32_t *ret_bits)
{
	if (c >= 0xc2 && c <= 0xdf) {
		*ret_bits = c & 0x1fu;
		return 2;
	}
	if (c >= 0xe0 && c <= 0xef) {
		*ret_bits = c & 0x0fu;
		return 3;
	}
	if (c >= 0xf0 && c <= 0xf4) {
		*ret_bits = c & 0x07u;
		return 4;
	}
	*ret_bits = c < 0x80 ? c : REPLACEMENT;
	return 1;
}

/* Is the character not in its shortest form, half of a pair, or beyond the largest character? */
static int
is_bad(uint32_t c, size_t n)
{
	return (n == 3 && c < 0x800) || (n == 4 && (c < 0x10000 || c > 0x10ffff)) ||
	       (c >= 0xd800 && c <= 0xdfff);
}

/* Read the character at p. Returns its number of bytes; 1 if the bytes are not a character. */
static size_t
take(const char *p, size_t n, uint32_t *ret_c)
{
	uint32_t c;
	size_t size = lead((unsigned char)*p, &c);

	*ret_c = size == 1 ? c : REPLACEMENT;
	if (size == 1 || size > n)
		return 1;
	for (size_t i = 1; i < size; i++) {
		if (((unsigned char)p[i] & 0xc0) != 0x80)
			return 1;
		c = c << 6 | ((unsigned char)p[i] & 0x3fu);
	}
	if (is_bad(c, size))
		return 1;
	*ret_c = c;
	return size;
}

static size_t
units_of(uint32_t c)
{
	return c > 0xffff ? 2 : 1;
}

size_t
cod_wide_length(const char *utf8, size_t n)
{
	size_t units = 0;
	uint32_t c;

	for (size_t at = 0; at < n;) {
		at += take(utf8 + at, n - at, &c);
		units += units_of(c);
	}
	return units;
}

static SQLWCHAR *
put_wide(SQLWCHAR *to, uint32_t c)
{
	if (c > 0xffff) {
		c -= 0x10000;
		*to++ = (SQLWCHAR)(0xd800 | c >> 10);
		c = 0xdc00 | (c & 0x3ff);
	}
	*to++ = (SQLWCHAR)c;
	return to;
}

size_t
cod_wide(const char *utf8, size_t n, SQLWCHAR *to)
{
	SQLWCHAR *end = to;
	uint32_t c;

	for (size_t at = 0; at < n;) {
		at += take(utf8 + at, n - at, &c);
		end = put_wide(end, c);
	}
	return (size_t)(end - to);
}

/* Read the character at w. Returns its number of units; 1 for half of a pair. */
static size_t
take_wide(const SQLWCHAR *w, size_t n, uint32_t *ret_c)
{
	*ret_c = w[0];
	if (w[0] < 0xd800 || w[0] > 0xdfff)
		return 1;
	if (w[0] > 0xdbff || n < 2 || w[1] < 0xdc00 || w[1] > 0xdfff) {
		*ret_c = REPLACEMENT;
		return 1;
	}
	*ret_c = 0x10000 + (((uint32_t)w[0] & 0x3ff) << 10 | (w[1] & 0x3ffu));
	return 2;
}

static size_t
put_narrow(char *to, uint32_t c)
{
	static const struct {
		uint32_t end;
		unsigned char mark;
	} sizes[] = { { 0x80, 0 }, { 0x800, 0xc0 }, { 0x10000, 0xe0 },
		{ 0x110000, 0xf0 } };
	size_t n = 0;

	while (c >= sizes[n].end)
		n++;
	for (size_t i = n; i > 0; i--) {
		to[i] = (char)(0x80 | (c & 0x3f));
		c >>= 6;
	}
	to[0] = (char)(sizes[n].mark | c);
	return n + 1;
}

size_t
cod_narrow_length(const SQLWCHAR *w, size_t n)
{
	char character[4];
	size_t bytes = 0;
	uint32_t c;

	for (size_t at = 0; at < n;) {
		at += take_wide(w + at, n - at, &c);
		bytes += put_narrow(character, c);
	}
	return bytes;
}

size_t
cod_narrow(const SQLWCHAR *w, size_t n, char *to)
{
	size_t bytes = 0;
	uint32_t c;

	for (size_t at = 0; at < n;) {
		at += take_wide(w + at, n - at, &c);
		bytes += put_narrow(to + bytes, c);
	}
	return bytes;
}

size_t
cod_wide_strlen(const SQLWCHAR *w)
{
	size_t n = 0;

	while (w[n])
		n++;
	return n;
}

size_t
cod_fit(const char *utf8, size_t n, size_t room)
{
	size_t at = room > 4 ? room - 4 : 0;
	uint32_t c;

	if (n <= room)
		return n;
	/* Go back to the beginning of a character. Only the last few bytes can belong to it. */
	while (at > 0 && ((unsigned char)utf8[at] & 0xc0) == 0x80)
		at--;
	for (;;) {
		size_t size = take(utf8 + at, n - at, &c);

		if (at + size > room)
			return at;
		at += size;
	}
}

size_t
cod_wide_fit(const char *utf8, size_t n, size_t room, size_t *ret_units)
{
	size_t at = 0, units = 0;
	uint32_t c;

	while (at < n) {
		size_t size = take(utf8 + at, n - at, &c);

		if (units + units_of(c) > room)
			break;
		at += size;
		units += units_of(c);
	}
	*ret_units = units;
	return at;
}

char *
cod_text_dup(const SQLCHAR *text, SQLLEN n)
{
	size_t size = n == SQL_NTS ? strlen((const char *)text) : (size_t)n;
	char *copy = malloc(size + 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, size);
	copy[size] = 0;
	return copy;
}

char *
cod_wide_dup(const SQLWCHAR *text, SQLLEN n)
{
	size_t units = n == SQL_NTS ? cod_wide_strlen(text) : (size_t)n;
	size_t size = cod_narrow_length(text, units);
	char *copy = malloc(size + 1);

	if (!copy)
		return NULL;
	copy[cod_narrow(text, units, copy)] = 0;
	return copy;
}

int
cod_is_length(SQLLEN n)
{
	return n >= 0 || n == SQL_NTS;
}

static int
out_narrow(const struct cod_out *out, size_t room, const char *utf8, size_t n)
{
	size_t fits = room > 0 ? cod_fit(utf8, n, room - 1) : 0;

	if (room == 0)
		return 1;
	memcpy(out->to, utf8, fits);
	((char *)out->to)[fits] = 0;
	return fits < n;
}

static int
out_wide(const struct cod_out *out, size_t room, const char *utf8, size_t n)
{
	size_t units, fits;

	if (room == 0)
		return 1;
	fits = cod_wide_fit(utf8, n, room - 1, &units);
	(void)cod_wide(utf8, fits, out->to);
	((SQLWCHAR *)out->to)[units] = 0;
	return fits < n;
}

int
cod_out_text(const struct cod_out *out, const char *utf8, size_t n, SQLLEN *ret_bytes)
{
	size_t room = out->room > 0 ? (size_t)out->room : 0;

	if (ret_bytes)
		*ret_bytes = (SQLLEN)(out->is_wide ? cod_wide_length(utf8, n) *
							     sizeof(SQLWCHAR)
						   : n);
	if (!out->to)
		return 0;
	return out->is_wide ? out_wide(out, room / sizeof(SQLWCHAR), utf8, n)
			    : out_narrow(out, room, utf8, n);
}
