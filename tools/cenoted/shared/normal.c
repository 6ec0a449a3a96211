/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statements as the log may show them: the digest, where it surely contains no literal. Workers call this file for a line of the
 * log, never for each request.
 */
#include "normal.h"

#include <stdbool.h>
#include <string.h>

#include "core/diag.h"
#include "core/digest.h"
#include "core/sql.h"

/* Only MySQL and MariaDB have these comments; a setting of theirs decides whether "a" is a text. */
#define OF_MYSQL      CNC_SQL_HASH
/* Only PostgreSQL has these texts. */
#define OF_POSTGRESQL CNC_SQL_PREFIXES
/* Only T-SQL has these words. */
#define OF_TDS        CNC_SQL_WORD_SIGNS

static bool
is_ascii(struct cnp_str sql)
{
	for (size_t i = 0; i < sql.n; i++) {
		if ((unsigned char)sql.p[i] >= 0x80)
			return false;
	}
	return true;
}

/*
 * Whether all settings of a session find the same texts. Without a backslash they do. With one, they must agree on the digest. In
 * some character sets a backslash is the second byte of a character, and in MySQL the quote " has a setting of its own: a
 * statement that also has such bytes is not worth more readings.
 */
static bool
is_read_alike(uint32_t rules, struct cnp_str sql)
{
	uint64_t one, other;

	if ((rules & (OF_MYSQL | OF_POSTGRESQL)) == 0 ||
		memchr(sql.p, '\\', sql.n) == NULL)
		return true;
	if (!is_ascii(sql) || (rules & OF_MYSQL && memchr(sql.p, '"', sql.n) != NULL))
		return false;
	(void)cnc_digest(sql.p, sql.n, rules, NULL, 0, &one);
	(void)cnc_digest(
		sql.p, sql.n, rules ^ (uint32_t)CNC_SQL_BACKSLASH, NULL, 0, &other);
	return one == other;
}

/* T-SQL calls a procedure by EXEC, or by its name at the beginning of a batch. A word behind the name is then a literal. */
static bool
may_call(uint32_t rules, struct cnp_str sql)
{
	static const char *const verbs[] = { "alter", "begin", "commit", "create",
		"declare", "delete", "drop", "insert", "merge", "rollback", "select",
		"set", "truncate", "update", "with", NULL };
	static const char *const calls[] = { "exec", "execute", NULL };
	struct cnc_sql x = cnc_sql_begin(sql.p, sql.n, rules);
	struct cnc_sql_token t = cnc_sql_next(&x);

	if (!cnc_sql_is_one_of(&t, verbs))
		return true;
	for (; t.kind != CNC_SQL_END; t = cnc_sql_next(&x)) {
		if (cnc_sql_is_one_of(&t, calls))
			return true;
	}
	return false;
}

void
cnd_normalise(uint32_t rules, struct cnp_str sql, struct cnd_normal *ret)
{
	char text[CND_NORMAL_MAX];
	uint64_t shown;
	size_t n;

	ret->hash = 0;
	ret->text[0] = '\0';
	if (sql.n > CND_NORMAL_SQL_MAX)
		sql.n = CND_NORMAL_SQL_MAX;
	if (sql.n == 0 || rules == 0)
		return;
	(void)cnc_digest(sql.p, sql.n, rules, NULL, 0, &ret->hash);
	if (ret->hash == 0)
		ret->hash = 1;
	if (rules & OF_MYSQL)
		rules |= CNC_SQL_DOUBLE_QUOTED_TEXT;
	if (!is_read_alike(rules, sql) || (rules & OF_TDS && may_call(rules, sql)))
		return;
	n = cnc_digest(sql.p, sql.n, rules, text, sizeof(text), &shown);
	/* one byte is kept for the zero byte */
	n = cnc_utf8_cut(text, n < sizeof(text) ? n : sizeof(text), sizeof(text) - 1);
	memcpy(ret->text, text, n);
	ret->text[n] = '\0';
}
