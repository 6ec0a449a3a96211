/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * GUIDs as text and as a structure. convert_get.c, convert_put.c and escape_literal.c call this file. It
 * has no state.
 */
#include "guid.h"

#include <stdint.h>
#include <stdio.h>

int
cod_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int
is_hyphen_at(size_t i)
{
	return i == 8 || i == 13 || i == 18 || i == 23;
}

static int
read_bytes(const char *p, uint8_t bytes[16])
{
	size_t n = 0;

	for (size_t i = 0; i < COD_GUID_TEXT; i++) {
		int digit = cod_hex_digit(p[i]);

		if (is_hyphen_at(i)) {
			if (p[i] != '-')
				return -1;
			continue;
		}
		if (digit < 0)
			return -1;
		bytes[n / 2] = (uint8_t)(n % 2 ? bytes[n / 2] << 4 | digit : digit);
		n++;
	}
	return 0;
}

int
cod_guid_read(const char *text, size_t n, SQLGUID *ret_guid)
{
	uint8_t b[16];

	for (; n > 0 && *text == ' '; n--)
		text++;
	while (n > 0 && text[n - 1] == ' ')
		n--;
	if (n == COD_GUID_TEXT + 2 && text[0] == '{' && text[n - 1] == '}') {
		text++;
		n -= 2;
	}
	if (n != COD_GUID_TEXT || read_bytes(text, b) < 0)
		return -1;
	ret_guid->Data1 =
		(uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
	ret_guid->Data2 = (uint16_t)(b[4] << 8 | b[5]);
	ret_guid->Data3 = (uint16_t)(b[6] << 8 | b[7]);
	for (int i = 0; i < 8; i++)
		ret_guid->Data4[i] = b[8 + i];
	return 0;
}

void
cod_guid_text(const SQLGUID *guid, char *out)
{
	const unsigned char *d = guid->Data4;

	snprintf(out, COD_GUID_TEXT + 1,
		"%08lx-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		(unsigned long)guid->Data1, guid->Data2, guid->Data3, d[0], d[1], d[2],
		d[3], d[4], d[5], d[6], d[7]);
}
