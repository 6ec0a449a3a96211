/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shows the place of an error in a statement. shell.c calls it. It has no state.
 */
#include "caret.h"

#include <string.h>

/* How many bytes to show on each side of the position. */
#define CARET_CONTEXT 60u

/* Byte offset of a character, counted from 1; len + 1 if there is no such character. */
static size_t
offset_of(const char *sql, size_t len, unsigned long position)
{
	size_t i = 0;

	for (; position > 1 && i < len; position--) {
		uint32_t c;
		size_t n = utf8_decode(sql + i, len - i, &c);

		i += n > 0 ? n : 1;
	}
	return position == 1 ? i : len + 1;
}

/* Move back to the beginning of a character. */
static size_t
to_character(const char *sql, size_t begin, size_t i)
{
	while (i > begin && ((unsigned char)sql[i] & 0xc0) == 0x80)
		i--;
	return i;
}

static size_t
add_piece(struct text *out, const char *s, size_t len)
{
	struct text plain = { 0 };
	size_t i, width;

	text_add(&plain, s, len);
	for (i = 0; i < len; i++) {
		if (plain.data[i] == '\t' || plain.data[i] == '\r')
			plain.data[i] = ' ';
	}
	width = display_add(out, text_str(&plain), len);
	text_finish(&plain);
	return width;
}

void
caret_add(struct text *out, const char *sql, size_t len, unsigned long position)
{
	size_t at, begin, end, line = 1, i, width, before = out->len;

	at = position > 0 ? offset_of(sql, len, position) : len + 1;
	if (at > len)
		return;
	begin = end = at;
	while (begin > 0 && sql[begin - 1] != '\n')
		begin--;
	while (end < len && sql[end] != '\n')
		end++;
	for (i = 0; i < begin; i++)
		line += sql[i] == '\n';
	text_addf(out, "LINE %zu: ", line);
	if (at - begin > CARET_CONTEXT) {
		begin = to_character(sql, begin, at - CARET_CONTEXT);
		text_add_str(out, "...");
	}
	width = out->len - before + add_piece(out, sql + begin, at - begin);
	if (end - at > CARET_CONTEXT) {
		end = to_character(sql, at, at + CARET_CONTEXT);
		(void)add_piece(out, sql + at, end - at);
		text_add_str(out, "...");
	} else {
		(void)add_piece(out, sql + at, end - at);
	}
	text_add_char(out, '\n');
	text_add_repeat(out, ' ', width);
	text_add_str(out, "^\n");
}
