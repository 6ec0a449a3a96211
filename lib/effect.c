/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include <string.h>

/*
 * What statements and errors mean: what a request may have done whose answer was lost,
 * and which status a SQLSTATE is.
 */

int
cn_status_of(const char *sqlstate)
{
	if (strcmp(sqlstate, CNC_SQLSTATE(UNSUPPORTED)) == 0)
		return CENOTE_ERR_UNSUPPORTED;
	return strncmp(sqlstate, "08", 2) == 0 ? CENOTE_ERR_CONN : CENOTE_ERR_SERVER;
}

int
cn_attach_status(const char *sqlstate)
{
	static const struct {
		const char *prefix;
		int status;
	} table[] = {
		{ "28", CENOTE_ERR_AUTH },
		{ "3D000", CENOTE_ERR_AUTH },
		{ "0A000", CENOTE_ERR_UNSUPPORTED },
		{ "08P01", CENOTE_ERR_PROTOCOL },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strncmp(sqlstate, table[i].prefix, strlen(table[i].prefix)) == 0)
			return table[i].status;
	}
	return CENOTE_ERR_CONN;
}

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

/*
 * Only for what is said about a request whose answer was lost, and on the safe side: a
 * statement counts as reading only if it calls no function, and one that begins like the
 * end of a transaction, wherever a ';' stands before it, as ending it. PRAGMA and VACUUM
 * act outside of a transaction, also where autocommit is off.
 */
uint8_t
cn_sql_effect(const char *sql, size_t len)
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
			return CN_EFFECT_COMMIT;
		next = at < len ? memchr(sql + at, ';', len - at) : NULL;
		/* Alone it commits nothing; with others, some may be outside of the transaction. */
		if (begins_with_one_of(sql, at, len, undoes))
			return at > first || has_more(sql, next, len)
				       ? CN_EFFECT_COMMIT
				       : CN_EFFECT_ROLLBACK;
		if (!next)
			break;
	}
	if (!begins_with_one_of(sql, first, len, reads) ||
		memchr(sql + first, '(', len - first))
		return CN_EFFECT_WRITE;
	next = memchr(sql + first, ';', len - first);
	return has_more(sql, next, len) ? CN_EFFECT_WRITE : CN_EFFECT_NONE;
}
