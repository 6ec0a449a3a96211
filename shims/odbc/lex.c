/* SPDX-License-Identifier: BSD-2-Clause */
#include "lex.h"

#include <string.h>

/* How a server reads what is no plain SQL. */
static const struct rules {
	unsigned char has_backslash; /* in literals */
	unsigned char has_escape_literals; /* E'…' */
	unsigned char has_backquotes;
	unsigned char has_brackets;
	unsigned char has_dollars;
	unsigned char nests; /* comments */
	unsigned char has_hash; /* # begins a comment, and -- only before a blank */
} rules[COD_N_DIALECTS] = {
	[COD_DIALECT_OTHER] = { 0, 0, 0, 0, 0, 0, 0 },
	[COD_DIALECT_POSTGRESQL] = { 0, 1, 0, 0, 1, 1, 0 },
	[COD_DIALECT_MYSQL] = { 1, 0, 1, 0, 0, 0, 1 },
	[COD_DIALECT_SQLITE] = { 0, 0, 1, 1, 0, 0, 0 },
	[COD_DIALECT_TDS] = { 0, 0, 0, 1, 0, 1, 0 },
};

size_t
cod_lex_length(struct cod_span text)
{
	return (size_t)(text.end - text.p);
}

int
cod_lex_shown(struct cod_span text)
{
	return cod_lex_length(text) > 40 ? 40 : (int)cod_lex_length(text);
}

int
cod_lex_is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

int
cod_lex_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || (unsigned char)c >= 0x80;
}

struct cod_span
cod_lex_trim(struct cod_span text)
{
	while (text.p < text.end && cod_lex_is_blank(*text.p))
		text.p++;
	while (text.p < text.end && cod_lex_is_blank(text.end[-1]))
		text.end--;
	return text;
}

struct cod_span
cod_lex_word(struct cod_span *text)
{
	struct cod_span word = { text->p, text->p };

	while (word.end < text->end && cod_lex_is_word(*word.end))
		word.end++;
	text->p = word.end;
	return word;
}

int
cod_lex_is(struct cod_span text, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(text.end - text.p) != n)
		return 0;
	for (size_t i = 0; i < n; i++) {
		char c = text.p[i];

		if ((c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c) != word[i])
			return 0;
	}
	return 1;
}

static int
follows(struct cod_span text, const char *what)
{
	size_t n = strlen(what);

	return (size_t)(text.end - text.p) >= n && memcmp(text.p, what, n) == 0;
}

int
cod_lex_has_backslash(enum cod_dialect dialect, int is_odd)
{
	return rules[dialect].has_backslash != (is_odd != 0);
}

static int
is_escaping(enum cod_dialect dialect, int is_odd, const char *begin, const char *quote)
{
	const struct rules *r = &rules[dialect];

	if (*quote == '`' || (*quote == '"' && !r->has_backslash))
		return 0;
	if (cod_lex_has_backslash(dialect, is_odd))
		return 1;
	if (!r->has_escape_literals || *quote != '\'' || quote == begin ||
		(quote[-1] | 0x20) != 'e')
		return 0;
	return quote - 1 == begin || !cod_lex_is_word(quote[-2]);
}

/* Behind the closing quote; two of them are none, since behind the first begins another text. */
static const char *
skip_quoted(enum cod_dialect dialect, int is_odd, const char *begin, struct cod_span t)
{
	int has_backslash = is_escaping(dialect, is_odd, begin, t.p);
	char quote = *t.p;

	if (quote == '[')
		quote = ']';
	for (t.p++; t.p < t.end && *t.p != quote; t.p++) {
		if (has_backslash && *t.p == '\\' && t.p + 1 < t.end)
			t.p++;
	}
	return t.p < t.end ? t.p + 1 : t.p;
}

static const char *
skip_line(struct cod_span t)
{
	while (t.p < t.end && *t.p != '\n' && *t.p != '\r')
		t.p++;
	return t.p;
}

static const char *
skip_comment(const struct rules *r, struct cod_span t)
{
	size_t depth = 0;

	while (t.p < t.end) {
		if (follows(t, "/*") && (depth == 0 || r->nests)) {
			depth++;
			t.p += 2;
		} else if (follows(t, "*/")) {
			t.p += 2;
			if (--depth == 0)
				break;
		} else {
			t.p++;
		}
	}
	return t.p;
}

/* $tag$ … $tag$; NULL: it only looks like it. */
static const char *
skip_dollars(const char *begin, struct cod_span t)
{
	const char *tag = t.p + 1;
	size_t n;

	if ((t.p > begin && cod_lex_is_word(t.p[-1])) ||
		(tag < t.end && *tag >= '0' && *tag <= '9'))
		return NULL;
	while (tag < t.end && cod_lex_is_word(*tag))
		tag++;
	if (tag == t.end || *tag != '$')
		return NULL;
	n = (size_t)(tag + 1 - t.p);
	for (const char *at = tag + 1; (size_t)(t.end - at) >= n; at++) {
		if (memcmp(at, t.p, n) == 0)
			return at + n;
	}
	return t.end;
}

static int
is_line_comment(const struct rules *r, struct cod_span t)
{
	if (r->has_hash && *t.p == '#')
		return 1;
	if (!follows(t, "--"))
		return 0;
	return !r->has_hash || t.end - t.p == 2 || cod_lex_is_blank(t.p[2]);
}

/* NULL: nothing of the kind begins here. */
static const char *
skip_opaque(enum cod_dialect dialect, int is_odd, const char *begin, struct cod_span t)
{
	const struct rules *r = &rules[dialect];

	if (*t.p == '\'' || *t.p == '"' || (*t.p == '`' && r->has_backquotes) ||
		(*t.p == '[' && r->has_brackets))
		return skip_quoted(dialect, is_odd, begin, t);
	if (*t.p == '$' && r->has_dollars)
		return skip_dollars(begin, t);
	if (is_line_comment(r, t))
		return skip_line(t);
	if (follows(t, "/*"))
		return skip_comment(r, t);
	return NULL;
}

int
cod_lex_is_line_comment(enum cod_dialect dialect, struct cod_span text)
{
	return is_line_comment(&rules[dialect], text);
}

const char *
cod_lex_skip(
	enum cod_dialect dialect, int is_odd, const char *begin, struct cod_span text)
{
	const char *behind = skip_opaque(dialect, is_odd, begin, text);

	return behind ? behind : text.p + 1;
}
