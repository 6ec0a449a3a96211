/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/base64.h"

#include <string.h>

/*
 * Base64 for SCRAM's keys and salts.
 */

static const char digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t
cnc_base64_encode(const void *bytes, size_t n, char *out)
{
	const uint8_t *from = bytes;
	char *to = out;

	for (size_t left = n; left > 0; from += 3) {
		size_t have = left < 3 ? left : 3;
		uint32_t group = (uint32_t)from[0] << 16;

		if (have > 1)
			group |= (uint32_t)from[1] << 8;
		if (have > 2)
			group |= from[2];
		*to++ = digits[group >> 18];
		*to++ = digits[group >> 12 & 63];
		*to++ = digits[group >> 6 & 63];
		*to++ = digits[group & 63];
		left -= have;
		memset(to - (3 - have), '=', 3 - have);
	}
	*to = '\0';
	return (size_t)(to - out);
}

/* The number of bytes that a padded group lacks: 0, 1 or 2. */
static size_t
padding_of(const char *group)
{
	if (group[3] != '=')
		return 0;
	return group[2] == '=' ? 2 : 1;
}

/* Decode four characters, of which the last `n_padding` are '='. -1: a character is not a digit, or
 * bits are set that belong to no byte. */
static int
decode_group(const char *text, size_t n_padding, uint32_t *ret_group)
{
	uint32_t group = 0;

	for (size_t i = 0; i < 4 - n_padding; i++) {
		const char *digit = text[i] != '\0' ? strchr(digits, text[i]) : NULL;

		if (!digit)
			return -1;
		group = group << 6 | (uint32_t)(digit - digits);
	}
	group <<= 6 * n_padding;
	*ret_group = group;
	return group & ((1u << 8 * n_padding) - 1) ? -1 : 0;
}

ptrdiff_t
cnc_base64_decode(const char *text, size_t len, void *out, size_t max)
{
	uint8_t *to = out;
	size_t n = 0;

	if (len % 4 != 0)
		return -1;
	for (size_t at = 0; at < len; at += 4) {
		size_t n_padding = at + 4 == len ? padding_of(text + at) : 0;
		size_t n_bytes = 3 - n_padding;
		uint32_t group;

		if (decode_group(text + at, n_padding, &group) < 0 || n_bytes > max - n)
			return -1;
		for (size_t i = 0; i < n_bytes; i++)
			to[n++] = (uint8_t)(group >> (16 - 8 * i));
	}
	return (ptrdiff_t)n;
}
