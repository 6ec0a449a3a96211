/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/effect.h"

#include <string.h>

/* One statement, or what of the text stands behind it. */
struct text {
	const char *p;
	size_t n;
};

static int
is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || (unsigned char)c >= 0x80;
}

static int
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/*
 * The length of the comment that a text begins with; 0 if with none that every server takes for
 * one: MySQL carries out what is in a comment that begins with ! or M!, and servers disagree
 * on a comment within a comment.
 */
static size_t
comment_len(struct text t)
{
	const char *end;
	size_t i;

	if (t.n >= 2 && t.p[0] == '-' && t.p[1] == '-') {
		end = memchr(t.p, '\n', t.n);
		return end ? (size_t)(end - t.p) : t.n;
	}
	if (t.n < 4 || t.p[0] != '/' || t.p[1] != '*' || t.p[2] == '!' ||
		(t.p[2] == 'M' && t.p[3] == '!'))
		return 0;
	for (i = 2; i + 1 < t.n; i++) {
		if (t.p[i] == '/' && t.p[i + 1] == '*')
			return 0;
		if (t.p[i] == '*' && t.p[i + 1] == '/')
			return i + 2;
	}
	return 0;
}

static struct text
skip(struct text t, size_t n)
{
	t.p += n;
	t.n -= n;
	return t;
}

/* Behind white space and comments. */
static struct text
skip_blank(struct text t)
{
	size_t n;

	for (;;) {
		if (t.n > 0 && is_blank(t.p[0]))
			n = 1;
		else
			n = comment_len(t);
		if (n == 0)
			return t;
		t = skip(t, n);
	}
}

/* The length of that word if the text begins with it, else 0. */
static size_t
word_len(struct text t, const char *word)
{
	size_t i = 0;

	for (; word[i]; i++) {
		if (i >= t.n || (t.p[i] | 0x20) != word[i])
			return 0;
	}
	return i >= t.n || !is_word(t.p[i]) ? i : 0;
}

static int
begins_with_one_of(struct text t, const char *const *words)
{
	for (; *words; words++) {
		if (word_len(t, *words) > 0)
			return 1;
	}
	return 0;
}

/* Whether the word stands anywhere, be it in a string. */
static int
has_word(struct text t, const char *word)
{
	for (size_t i = 0; i < t.n; i++) {
		if ((i == 0 || !is_word(t.p[i - 1])) && word_len(skip(t, i), word) > 0)
			return 1;
	}
	return 0;
}

static int
has_comment(struct text t)
{
	for (size_t i = 0; i + 1 < t.n; i++) {
		if (t.p[i] == '/' && t.p[i + 1] == '*')
			return 1;
	}
	return 0;
}

/* A query that plainly only reads: no function, no SELECT INTO, nothing hidden in a comment. */
static int
only_reads(struct text t)
{
	static const char *const reads[] = { "select", "values", "table", "show", NULL };

	return begins_with_one_of(t, reads) && !memchr(t.p, '(', t.n) &&
	       !has_word(t, "into") && !has_comment(t);
}

/* MySQL: switching autocommit on commits, and so do SET PASSWORD and, of MariaDB, SET STATEMENT … FOR
 * what commits. */
static int
set_commits(struct text t)
{
	return has_word(t, "autocommit") || has_word(t, "password") ||
	       has_word(t, "statement");
}

/*
 * What no server ends a transaction with. All else may: MySQL commits before most of what is not
 * listed here (CREATE, ALTER, DROP, GRANT, LOCK TABLES, BEGIN …), procedures and anonymous blocks
 * may commit (CALL, DO, EXECUTE), and of what is not known nobody can tell.
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
	if (word_len(t, "set") > 0)
		return set_commits(t) ? CNC_EFFECT_COMMIT : CNC_EFFECT_WRITE;
	return begins_with_one_of(t, undoes) ? CNC_EFFECT_ROLLBACK : CNC_EFFECT_COMMIT;
}

/* The beginning of a transaction, and not of a block of statements. */
static int
begins_transaction(struct text t)
{
	static const char *const begins[] = { "begin", "start", NULL };

	return begins_with_one_of(t, begins) && !has_word(t, "end") &&
	       !has_word(t, "atomic") && !has_comment(t);
}

/* EXPLAIN carries out what ANALYZE stands before, wherever it is in the text. */
static int
explains_more(struct text t)
{
	return word_len(t, "explain") > 0 && has_word(t, "analyze");
}

uint8_t
cnc_sql_effect(const char *sql, size_t len)
{
	struct text t = skip_blank((struct text){ sql, len });
	uint8_t worst = CNC_EFFECT_NONE;
	const char *semicolon;
	size_t n = 0;

	while (t.n > 0) {
		struct text one = t;
		uint8_t effect;

		/* one in a string only makes it look worse */
		semicolon = memchr(t.p, ';', t.n);
		if (semicolon)
			one.n = (size_t)(semicolon - t.p);
		effect = explains_more(one) ? CNC_EFFECT_COMMIT : effect_of(one);
		t = skip_blank(skip(t, semicolon ? one.n + 1 : one.n));
		if (n == 0 && t.n == 0 && begins_transaction(one))
			return CNC_EFFECT_BEGIN;
		/* Alone it commits nothing; with others, some may be outside of the transaction. */
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
	return word_len(skip_blank((struct text){ sql, len }), "use") > 0;
}
