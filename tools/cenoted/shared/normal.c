/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statements as the log may show them: the digest, for each backend, and only where it surely contains no literal. Workers call
 * this file for a line of the log, never for each request.
 */
#include "normal.h"

#include <stdbool.h>
#include <string.h>

#include "core/diag.h"
#include "core/digest.h"
#include "core/sql.h"

static const struct dialect {
	const char *backend;
	uint32_t rules;
	/* Bytes that may begin or end a literal by rules that cenoted does not know: a statement with one of them is not shown. */
	const char *unsure;
	/* A setting of the session decides whether a backslash escapes. */
	bool has_backslash;
	/* A word behind the name of a procedure is a literal, without quotes. */
	bool has_bare_words;
} dialects[] = {
	{ "postgresql", CNC_SQL_POSTGRESQL, "", true, false },
	{ "mysql", CNC_SQL_MYSQL, "", true, false },
	/* "a" is a text if there is no such column, and in T-SQL with QUOTED_IDENTIFIER OFF */
	{ "sqlite", CNC_SQL_SQLITE | CNC_SQL_DOUBLE_QUOTED_TEXT, "", false, false },
	{ "freetds", CNC_SQL_TDS | CNC_SQL_DOUBLE_QUOTED_TEXT, "", false, true },
};

/* Over ODBC, the server may be any. */
static const struct dialect unknown = { "", CNC_SQL_UNKNOWN | CNC_SQL_DOUBLE_QUOTED_TEXT,
	"\\$[\"#", false, true };

static const struct dialect *
find_dialect(const char *backend)
{
	for (size_t i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++) {
		if (strcmp(dialects[i].backend, backend) == 0)
			return &dialects[i];
	}
	return &unknown;
}

uint32_t
cnd_normal_rules(const char *backend)
{
	return find_dialect(backend)->rules;
}

static bool
has_byte_of(struct cnp_str sql, const char *bytes)
{
	for (; *bytes != '\0'; bytes++) {
		if (memchr(sql.p, *bytes, sql.n) != NULL)
			return true;
	}
	return false;
}

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
 * Whether all settings of a session read this statement alike. Without a backslash they do. With one, they must agree on the
 * digest. In some character sets a backslash is the second byte of a character, and in MySQL the quote " has a setting of its own:
 * a statement that also has such bytes is not worth more readings.
 */
static bool
is_read_alike(const struct dialect *d, struct cnp_str sql, uint64_t hash)
{
	uint64_t other;

	if (!d->has_backslash || memchr(sql.p, '\\', sql.n) == NULL)
		return true;
	if (!is_ascii(sql) || (d->rules & CNC_SQL_DOUBLE_QUOTED_TEXT &&
				      memchr(sql.p, '"', sql.n) != NULL))
		return false;
	(void)cnc_digest(
		sql.p, sql.n, d->rules ^ (uint32_t)CNC_SQL_BACKSLASH, NULL, 0, &other);
	return other == hash;
}

/* T-SQL calls a procedure by EXEC, or by its name at the beginning of a batch. */
static bool
may_call(const struct dialect *d, struct cnp_str sql)
{
	static const char *const verbs[] = { "alter", "begin", "commit", "create",
		"declare", "delete", "drop", "insert", "merge", "rollback", "select",
		"set", "truncate", "update", "with", NULL };
	static const char *const calls[] = { "call", "exec", "execute", NULL };
	struct cnc_sql x = cnc_sql_begin(sql.p, sql.n, d->rules);
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
cnd_normalise(const char *backend, struct cnp_str sql, struct cnd_normal *ret)
{
	const struct dialect *d = find_dialect(backend);
	char text[CND_NORMAL_MAX];
	size_t n;

	ret->hash = 0;
	ret->text[0] = '\0';
	if (sql.n == 0 || sql.n > CND_NORMAL_SQL_MAX)
		return;
	n = cnc_digest(sql.p, sql.n, d->rules, text, sizeof(text), &ret->hash);
	if (has_byte_of(sql, d->unsure) || !is_read_alike(d, sql, ret->hash) ||
		(d->has_bare_words && may_call(d, sql)))
		return;
	/* one byte is kept for the zero byte */
	n = cnc_utf8_cut(text, n < sizeof(text) ? n : sizeof(text), sizeof(text) - 1);
	memcpy(ret->text, text, n);
	ret->text[n] = '\0';
}
