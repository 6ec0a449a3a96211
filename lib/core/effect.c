/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Find out from a statement's text what it may have done, if its answer was lost, and whether it concerns prepared
 * statements. lib and cenoted's worker call this file. It owns no state. It does not know the server: a text that is
 * harmless only on some servers counts as harmful.
 */
#include "core/effect.h"

#include <string.h>

#include "core/sql.h"

/* One statement of a text, or the rest of the text. */
struct text {
	const char *p;
	size_t n;
};

static struct text
skip(struct text t, size_t n)
{
	t.p += n;
	t.n -= n;
	return t;
}

/* Skip blanks and comments. Do not skip comments that MySQL executes, or whose end differs between
 * servers. */
static struct text
skip_blanks(struct text t)
{
	struct cnc_sql x = cnc_sql_begin(t.p, t.n, CNC_SQL_ANSI);

	if (!cnc_sql_skip_blanks(&x) ||
		(x.seen & ~(uint32_t)(CNC_SQL_SEEN_COMMENT | CNC_SQL_SEEN_OPEN_LINE)) !=
			0)
		return t;
	return skip(t, (size_t)(x.p - t.p));
}

static struct cnc_sql_token
first_token(struct text t)
{
	struct cnc_sql x = cnc_sql_begin(t.p, t.n, CNC_SQL_ANSI & ~CNC_SQL_COMMENTS);

	return cnc_sql_next(&x);
}

static bool
begins_with(struct text t, const char *word)
{
	struct cnc_sql_token first = first_token(t);

	return cnc_sql_is(&first, word);
}

static bool
begins_with_one_of(struct text t, const char *const *words)
{
	struct cnc_sql_token first = first_token(t);

	return cnc_sql_is_one_of(&first, words);
}

/* Does the text contain the word, even inside a string? A number may come directly before the word:
 * "1.5into". */
static bool
has_word(struct text t, const char *word)
{
	struct cnc_sql x = cnc_sql_begin(t.p, t.n, CNC_SQL_RAW);
	struct cnc_sql_token token;
	size_t n = strlen(word);

	while ((token = cnc_sql_next(&x)).kind != CNC_SQL_END) {
		if (token.kind == CNC_SQL_WORD && *token.p >= '0' && *token.p <= '9' &&
			token.n > n)
			token = (struct cnc_sql_token){ CNC_SQL_WORD, false,
				token.p + token.n - n, n };
		if (cnc_sql_is(&token, word))
			return true;
	}
	return false;
}

static bool
has_comment(struct text t)
{
	for (size_t i = 0; i + 1 < t.n; i++) {
		if (t.p[i] == '/' && t.p[i + 1] == '*')
			return true;
	}
	return false;
}

/* A query that plainly only reads: no function, no SELECT INTO, no comment that could hide something. */
static int
only_reads(struct text t)
{
	static const char *const reads[] = { "select", "values", "table", "show", NULL };

	return begins_with_one_of(t, reads) && !memchr(t.p, '(', t.n) &&
	       !has_word(t, "into") && !has_comment(t);
}

/* Can this SET commit? In MySQL, switching autocommit on commits, and SET PASSWORD does too. In
 * MariaDB, SET STATEMENT … FOR may be followed by a statement that commits. */
static int
set_commits(struct text t)
{
	return has_word(t, "autocommit") || has_word(t, "password") ||
	       has_word(t, "statement");
}

/*
 * `writes` has the statements with which no server ends a transaction. All others may end one.
 * MySQL commits before most statements that are not listed (CREATE, ALTER, DROP, GRANT, LOCK
 * TABLES, BEGIN …). Procedures and anonymous blocks may commit (CALL, DO, EXECUTE). Unknown
 * statements may do anything.
 */
static uint8_t
effect_of(struct text t)
{
	static const char *const writes[] = { "select", "values", "table", "show",
		"insert", "update", "delete", "merge", "with", "explain", "savepoint",
		"declare", "fetch", "move", "close", "copy", "listen", "unlisten",
		"notify", "use", "describe", "desc", "deallocate", "replace", NULL };
	static const char *const undoes[] = { "rollback", "abort", NULL };

	if (t.n == 0 || only_reads(t))
		return CNC_EFFECT_NONE;
	if (begins_with_one_of(t, writes))
		return CNC_EFFECT_WRITE;
	if (begins_with(t, "set"))
		return set_commits(t) ? CNC_EFFECT_COMMIT : CNC_EFFECT_WRITE;
	return begins_with_one_of(t, undoes) ? CNC_EFFECT_ROLLBACK : CNC_EFFECT_COMMIT;
}

/* Does the text begin a transaction, and not a block of statements? */
static int
begins_transaction(struct text t)
{
	static const char *const begins[] = { "begin", "start", NULL };

	return begins_with_one_of(t, begins) && !has_word(t, "end") &&
	       !has_word(t, "atomic") && !has_comment(t);
}

/* Does EXPLAIN also execute a statement? It does so with ANALYZE, which may be anywhere in the text. */
static int
explains_more(struct text t)
{
	return begins_with(t, "explain") && has_word(t, "analyze");
}

uint8_t
cnc_sql_effect(const char *sql, size_t len)
{
	struct text t = skip_blanks((struct text){ sql, len });
	uint8_t worst = CNC_EFFECT_NONE;
	const char *semicolon;
	size_t n = 0;

	while (t.n > 0) {
		struct text one = t;
		uint8_t effect;

		/* a semicolon inside a string only makes the result more cautious */
		semicolon = memchr(t.p, ';', t.n);
		if (semicolon)
			one.n = (size_t)(semicolon - t.p);
		effect = explains_more(one) ? CNC_EFFECT_COMMIT : effect_of(one);
		t = skip_blanks(skip(t, semicolon ? one.n + 1 : one.n));
		if (n == 0 && t.n == 0 && begins_transaction(one))
			return CNC_EFFECT_BEGIN;
		/* A ROLLBACK alone commits nothing. With other statements, some of these may be
		 * outside of the transaction. */
		if (effect == CNC_EFFECT_ROLLBACK && (n > 0 || t.n > 0))
			effect = CNC_EFFECT_COMMIT;
		n++;
		if (effect == CNC_EFFECT_COMMIT || effect == CNC_EFFECT_ROLLBACK)
			return effect;
		if (effect > worst)
			worst = effect;
	}
	return n > 1 && worst == CNC_EFFECT_NONE ? CNC_EFFECT_WRITE : worst;
}

int
cnc_sql_is_use(const char *sql, size_t len)
{
	return begins_with(skip_blanks((struct text){ sql, len }), "use");
}

int
cnc_sql_is_set(const char *sql, size_t len)
{
	return begins_with(skip_blanks((struct text){ sql, len }), "set");
}

/* Whether the statement begins with a command that may change settings. A DO block or a procedure may also do what the words
 * of has_name_word() do. */
static bool
begins_with_setting(struct text t)
{
	static const char *const verbs[] = { "set", "do", "call", NULL };

	while (t.n > 0) {
		const char *semicolon;

		t = skip_blanks(t);
		if (begins_with_one_of(t, verbs))
			return true;
		semicolon = t.n > 0 ? memchr(t.p, ';', t.n) : NULL;
		if (semicolon == NULL)
			return false;
		t = skip(t, (size_t)(semicolon - t.p) + 1);
	}
	return false;
}

uint8_t
cnc_sql_names(const char *sql, size_t len)
{
	static const char *const words[] = { "execute", "discard", "set_config",
		"pg_prepared_statements", "pg_prepared_statement", NULL };
	struct cnc_sql x = cnc_sql_begin(sql, len, CNC_SQL_RAW);
	uint8_t names = 0;
	struct cnc_sql_token t;

	while ((t = cnc_sql_next(&x)).kind != CNC_SQL_END) {
		if (cnc_sql_is(&t, "deallocate") || cnc_sql_is(&t, "prepare"))
			return CNC_NAMES_USED | CNC_NAMES_ENDED;
		if (cnc_sql_is_one_of(&t, words))
			names = CNC_NAMES_USED;
	}
	if (names == 0 && begins_with_setting((struct text){ sql, len }))
		names = CNC_NAMES_USED;
	return names;
}
