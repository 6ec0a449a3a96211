/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/effect.h"

#include <string.h>

static int
is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

/* Behind white space and comments. */
static size_t
skip_blank(const char *sql, size_t at, size_t len)
{
	for (;;) {
		if (at < len &&
			(sql[at] == ' ' || (sql[at] >= '\t' && sql[at] <= '\r'))) {
			at++;
		} else if (at + 1 < len && sql[at] == '-' && sql[at + 1] == '-') {
			while (at < len && sql[at] != '\n')
				at++;
		} else if (at + 1 < len && sql[at] == '/' && sql[at + 1] == '*') {
			at += 2;
			while (at + 1 < len && !(sql[at] == '*' && sql[at + 1] == '/'))
				at++;
			at = at + 2 < len ? at + 2 : len;
		} else {
			return at;
		}
	}
}

static int
begins_with(const char *sql, size_t at, size_t len, const char *word)
{
	size_t i = 0;

	for (; word[i]; i++) {
		if (at + i >= len || (sql[at + i] | 0x20) != word[i])
			return 0;
	}
	return at + i >= len || !is_word(sql[at + i]);
}

static int
begins_with_one_of(const char *sql, size_t at, size_t len, const char *const *words)
{
	for (; *words; words++) {
		if (begins_with(sql, at, len, *words))
			return 1;
	}
	return 0;
}

/* Whether anything stands behind a ';', which may be NULL. */
static int
has_more(const char *sql, const char *semicolon, size_t len)
{
	return semicolon && skip_blank(sql, (size_t)(semicolon + 1 - sql), len) < len;
}

uint8_t
cnc_sql_effect(const char *sql, size_t len)
{
	static const char *const reads[] = { "select", "values", "table", "show", NULL };
	static const char *const ends[] = { "commit", "end", "release", "prepare",
		"pragma", "vacuum", NULL };
	static const char *const undoes[] = { "rollback", "abort", NULL };
	size_t first = skip_blank(sql, 0, len);
	const char *next;

	for (size_t at = first; at < len; at = (size_t)(next + 1 - sql)) {
		at = skip_blank(sql, at, len);
		if (begins_with_one_of(sql, at, len, ends))
			return CNC_EFFECT_COMMIT;
		next = at < len ? memchr(sql + at, ';', len - at) : NULL;
		/* Alone it commits nothing; with others, some may be outside of the transaction. */
		if (begins_with_one_of(sql, at, len, undoes))
			return at > first || has_more(sql, next, len)
				       ? CNC_EFFECT_COMMIT
				       : CNC_EFFECT_ROLLBACK;
		if (!next)
			break;
	}
	if (!begins_with_one_of(sql, first, len, reads) ||
		memchr(sql + first, '(', len - first))
		return CNC_EFFECT_WRITE;
	next = memchr(sql + first, ';', len - first);
	return has_more(sql, next, len) ? CNC_EFFECT_WRITE : CNC_EFFECT_NONE;
}
