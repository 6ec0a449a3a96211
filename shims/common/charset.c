/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The number of bytes of a character in each of MySQL's character sets. The escaping functions of
 * the shims call this file. It has no state.
 */
#include "charset.h"

#include <stddef.h>

static inline int
is_in(unsigned c, unsigned first, unsigned last)
{
	return c >= first && c <= last;
}

static inline unsigned
byte_at(const char *p)
{
	return (unsigned char)*p;
}

/* A character set with two bytes, given by the ranges of the first and of the second byte. */
#define TWO_BYTES(name, is_head, is_tail)                                                \
	unsigned csh_##name##_charlen(unsigned c)                                        \
	{                                                                                \
		return is_head ? 2 : 1;                                                  \
	}                                                                                \
	unsigned csh_##name##_valid(const char *start, const char *end)                  \
	{                                                                                \
		unsigned c = end > start ? byte_at(start) : 0;                           \
		unsigned d = end - start > 1 ? byte_at(start + 1) : 0;                   \
		return is_head && is_tail ? 2 : 0;                                       \
	}

TWO_BYTES(big5, is_in(c, 0xa1, 0xf9), (is_in(d, 0x40, 0x7e) || is_in(d, 0xa1, 0xfe)))
TWO_BYTES(cp932, (is_in(c, 0x81, 0x9f) || is_in(c, 0xe0, 0xfc)),
	(is_in(d, 0x40, 0x7e) || is_in(d, 0x80, 0xfc)))
TWO_BYTES(gb2312, is_in(c, 0xa1, 0xf7), is_in(d, 0xa1, 0xfe))
TWO_BYTES(gbk, is_in(c, 0x81, 0xfe), (is_in(d, 0x40, 0x7e) || is_in(d, 0x80, 0xfe)))
/* Current servers read this as euckr. MariaDB's client library only knows the smaller set (csh_euckr). */
TWO_BYTES(uhc, is_in(c, 0x81, 0xfe),
	(is_in(d, 0x41, 0x5a) || is_in(d, 0x61, 0x7a) || is_in(d, 0x81, 0xfe)))

unsigned
csh_euckr_charlen(unsigned c)
{
	return is_in(c, 0xa1, 0xfe) ? 2 : 1;
}

unsigned
csh_euckr_valid(const char *start, const char *end)
{
	return end - start > 1 && byte_at(start) >= 0x80 &&
			       is_in(byte_at(start + 1), 0xa1, 0xfe)
		       ? 2
		       : 0;
}

/* EUC-JP and Microsoft's variant: two bytes, a half-width kana, or three bytes. */
unsigned
csh_ujis_charlen(unsigned c)
{
	if (is_in(c, 0xa1, 0xfe) || c == 0x8e)
		return 2;
	return c == 0x8f ? 3 : 1;
}

unsigned
csh_ujis_valid(const char *start, const char *end)
{
	unsigned n = end > start ? csh_ujis_charlen(byte_at(start)) : 1;

	if (n == 1 || end - start < (ptrdiff_t)n)
		return 0;
	for (unsigned i = 1; i < n; i++) {
		if (!is_in(byte_at(start + i), 0xa1,
			    byte_at(start) == 0x8e ? 0xdf : 0xfe))
			return 0;
	}
	return n;
}

/* For one byte, 0 means that the second byte decides. The caller then asks again with both
 * bytes. */
unsigned
csh_gb18030_charlen(unsigned c)
{
	unsigned first = c > 0xff ? c >> 8 : c, second = c & 0xff;

	if (c <= 0xff)
		return !is_in(first, 0x81, 0xfe);
	if (!is_in(first, 0x81, 0xfe))
		return 0;
	if (is_in(second, 0x30, 0x39))
		return 4;
	return is_in(second, 0x40, 0x7e) || is_in(second, 0x80, 0xfe) ? 2 : 0;
}

unsigned
csh_gb18030_valid(const char *start, const char *end)
{
	unsigned n;

	if (end - start < 2)
		return 0;
	n = csh_gb18030_charlen(byte_at(start) << 8 | byte_at(start + 1));
	if (n != 4)
		return n == 2 && is_in(byte_at(start), 0x81, 0xfe) ? 2 : 0;
	return end - start > 3 && is_in(byte_at(start + 2), 0x81, 0xfe) &&
			       is_in(byte_at(start + 3), 0x30, 0x39)
		       ? 4
		       : 0;
}

unsigned
csh_utf8mb4_charlen(unsigned c)
{
	if (c < 0x80)
		return 1;
	if (c < 0xc2)
		return 0;
	if (c < 0xe0)
		return 2;
	if (c < 0xf0)
		return 3;
	return c < 0xf8 ? 4 : 0;
}

unsigned
csh_utf8mb3_charlen(unsigned c)
{
	return c < 0xf0 ? csh_utf8mb4_charlen(c) : 0;
}

/* Has the character its shortest form, and is it not beyond U+10FFFF? */
static int
has_utf8_range(unsigned c, unsigned d)
{
	if (c == 0xe0)
		return d >= 0xa0;
	if (c == 0xf0)
		return d >= 0x90;
	return c < 0xf4 || (c == 0xf4 && d < 0x90);
}

static unsigned
utf8_valid(const char *start, const char *end, unsigned max)
{
	unsigned n = end > start ? csh_utf8mb4_charlen(byte_at(start)) : 0;

	if (n < 2 || n > max || end - start < (ptrdiff_t)n ||
		!has_utf8_range(byte_at(start), byte_at(start + 1)))
		return 0;
	for (unsigned i = 1; i < n; i++) {
		if (!is_in(byte_at(start + i), 0x80, 0xbf))
			return 0;
	}
	return n;
}

unsigned
csh_utf8mb3_valid(const char *start, const char *end)
{
	return utf8_valid(start, end, 3);
}

unsigned
csh_utf8mb4_valid(const char *start, const char *end)
{
	return utf8_valid(start, end, 4);
}

/* All characters have the same length. Clients cannot use these sets: servers read no SQL
 * in them. */
#define FIXED_BYTES(name, n)                                                             \
	unsigned csh_##name##_charlen(unsigned c)                                        \
	{                                                                                \
		(void)c;                                                                 \
		return n;                                                                \
	}                                                                                \
	unsigned csh_##name##_valid(const char *start, const char *end)                  \
	{                                                                                \
		return end - start >= n ? n : 0;                                         \
	}

FIXED_BYTES(two, 2)
FIXED_BYTES(four, 4)

unsigned
csh_utf16_charlen(unsigned c)
{
	return is_in(c & 0xff, 0xd8, 0xdb) ? 4 : 2;
}

unsigned
csh_utf16_valid(const char *start, const char *end)
{
	if (end - start < 2 || is_in(byte_at(start), 0xdc, 0xdf))
		return 0;
	if (csh_utf16_charlen(byte_at(start)) == 2)
		return 2;
	return end - start >= 4 && is_in(byte_at(start + 2), 0xdc, 0xdf) ? 4 : 0;
}
