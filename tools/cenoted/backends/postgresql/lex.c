/* SPDX-License-Identifier: BSD-2-Clause */
#include "lex.h"

#include <string.h>

static int
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static int
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Every byte above ASCII is a letter. */
static int
is_name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (unsigned char)c >= 0x80;
}

static int
is_name_part(char c)
{
	return is_name_start(c) || is_digit(c) || c == '$';
}

static int
is_operator(char c)
{
	return c != '\0' && strchr("~!@#^&|`?+-*/%<>=", c) != NULL;
}

static char
lower(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* The character n places on; '\0' behind the end. */
static char
at(const struct cnd_pg_lex *l, size_t n)
{
	return (char)((size_t)(l->end - l->p) > n ? l->p[n] : 0);
}

static int
is_comment(const struct cnd_pg_lex *l)
{
	return (at(l, 0) == '-' && at(l, 1) == '-') ||
	       (at(l, 0) == '/' && at(l, 1) == '*');
}

/* Behind a comment that begins here, and may hold others; 0 if it is not closed. */
static int
skip_block(struct cnd_pg_lex *l)
{
	size_t depth = 0;

	while (l->p < l->end) {
		if (at(l, 0) == '/' && at(l, 1) == '*') {
			depth++;
			l->p += 2;
		} else if (at(l, 0) == '*' && at(l, 1) == '/') {
			l->p += 2;
			if (--depth == 0)
				return 1;
		} else {
			l->p++;
		}
	}
	return 0;
}

/* Behind blanks and comments; 0 if one is not closed. */
static int
skip_blanks(struct cnd_pg_lex *l)
{
	while (l->p < l->end) {
		if (is_blank(*l->p)) {
			l->p++;
			continue;
		}
		if (!is_comment(l))
			break;
		l->has_comments = 1;
		if (*l->p == '/') {
			if (!skip_block(l))
				return 0;
		} else {
			while (l->p < l->end && *l->p != '\n' && *l->p != '\r')
				l->p++;
		}
	}
	return 1;
}

/* Behind the quote that ends what began with one here; 0 if there is none. A doubled one is
 * part of it. */
static int
skip_quoted(struct cnd_pg_lex *l, char quote, int has_backslash)
{
	for (l->p++; l->p < l->end; l->p++) {
		if (has_backslash && *l->p == '\\') {
			/* In some encodings it may be the second byte of a character. */
			if ((unsigned char)l->p[-1] >= 0x80)
				break;
			/* With what follows, if anything does. */
			l->p += l->end - l->p > 1;
		} else if (*l->p == quote) {
			if (at(l, 1) != quote) {
				l->p++;
				return 1;
			}
			l->p++;
		}
	}
	l->p = l->end;
	return 0;
}

/* The length of a $tag$ that begins here; 0 if it is none. */
static size_t
dollar_tag(const struct cnd_pg_lex *l)
{
	size_t n = 1;

	if (at(l, n) != '$' && !is_name_start(at(l, n)))
		return 0;
	while (is_name_part(at(l, n)) && at(l, n) != '$')
		n++;
	return at(l, n) == '$' ? n + 1 : 0;
}

/* Behind the same tag further on; 0 if there is none. */
static int
skip_dollar(struct cnd_pg_lex *l, size_t n_tag)
{
	const char *tag = l->p;

	l->p += n_tag;
	while ((size_t)(l->end - l->p) >= n_tag) {
		const char *dollar = memchr(l->p, '$', (size_t)(l->end - l->p));

		if (!dollar || (size_t)(l->end - dollar) < n_tag)
			break;
		if (memcmp(dollar, tag, n_tag) == 0) {
			l->p = dollar + n_tag;
			return 1;
		}
		l->p = dollar + 1;
	}
	l->p = l->end;
	return 0;
}

/* The length of what says which kind of string follows: E, B, X, N or U&. */
static size_t
string_prefix(const struct cnd_pg_lex *l)
{
	char c = lower(at(l, 0));

	if ((c == 'e' || c == 'b' || c == 'x' || c == 'n') && at(l, 1) == '\'')
		return 1;
	if (c == 'u' && at(l, 1) == '&' && (at(l, 2) == '\'' || at(l, 2) == '"'))
		return 2;
	return 0;
}

/* Behind blanks and line comments with a line's end among them, if a quote follows: then the
 * string goes on with it. */
static int
goes_on(struct cnd_pg_lex *l)
{
	struct cnd_pg_lex ahead = *l;
	int has_newline = 0;

	while (is_blank(at(&ahead, 0)) || (is_comment(&ahead) && *ahead.p == '-')) {
		if (*ahead.p == '-') {
			while (ahead.p < ahead.end && *ahead.p != '\n' &&
				*ahead.p != '\r')
				ahead.p++;
		} else {
			has_newline |= *ahead.p == '\n' || *ahead.p == '\r';
			ahead.p++;
		}
	}
	if (!has_newline || at(&ahead, 0) != '\'')
		return 0;
	*l = ahead;
	return 1;
}

static enum cnd_pg_token_kind
lex_string(struct cnd_pg_lex *l)
{
	char prefix = lower(*l->p);
	int has_backslash = prefix == 'e' || ((prefix == '\'' || prefix == 'n') &&
						     !l->has_standard_strings);

	l->p += string_prefix(l);
	do {
		if (!skip_quoted(l, '\'', has_backslash))
			return CND_PG_TOKEN_BAD;
	} while (goes_on(l));
	return CND_PG_TOKEN_STRING;
}

static enum cnd_pg_token_kind
lex_name(struct cnd_pg_lex *l)
{
	l->p += string_prefix(l);
	return skip_quoted(l, '"', 0) ? CND_PG_TOKEN_NAME : CND_PG_TOKEN_BAD;
}

/* How many there are. */
static size_t
skip_digits(struct cnd_pg_lex *l)
{
	size_t n = 0;

	for (; is_digit(at(l, 0)); n++)
		l->p++;
	return n;
}

static enum cnd_pg_token_kind
lex_dollar(struct cnd_pg_lex *l)
{
	size_t n_tag = dollar_tag(l);

	if (n_tag > 0)
		return skip_dollar(l, n_tag) ? CND_PG_TOKEN_STRING : CND_PG_TOKEN_BAD;
	l->p++;
	return skip_digits(l) && !is_name_start(at(l, 0)) ? CND_PG_TOKEN_PARAM
							  : CND_PG_TOKEN_BAD;
}

/* Plain decimal ones. Before version 15 a word may follow without a blank, from 16 on there are
 * 0x1f and 1_000: what is not the same in all of them is BAD. */
static enum cnd_pg_token_kind
lex_number(struct cnd_pg_lex *l)
{
	(void)skip_digits(l);
	if (at(l, 0) == '.') {
		l->p++;
		(void)skip_digits(l);
	}
	if (lower(at(l, 0)) == 'e') {
		size_t n_sign = at(l, 1) == '-' || at(l, 1) == '+';

		if (!is_digit(at(l, 1 + n_sign)))
			return CND_PG_TOKEN_BAD;
		l->p += 1 + n_sign;
		(void)skip_digits(l);
	}
	return is_name_start(at(l, 0)) ? CND_PG_TOKEN_BAD : CND_PG_TOKEN_NUMBER;
}

static enum cnd_pg_token_kind
lex_operator(struct cnd_pg_lex *l)
{
	while (is_operator(at(l, 0)) && !is_comment(l))
		l->p++;
	return CND_PG_TOKEN_OPERATOR;
}

static enum cnd_pg_token_kind
lex_word(struct cnd_pg_lex *l)
{
	while (is_name_part(at(l, 0)))
		l->p++;
	return CND_PG_TOKEN_WORD;
}

static enum cnd_pg_token_kind
lex_token(struct cnd_pg_lex *l)
{
	char c = *l->p;
	size_t n_prefix = string_prefix(l);

	if (c == '\'' || (n_prefix > 0 && l->p[n_prefix] == '\''))
		return lex_string(l);
	if (c == '"' || n_prefix > 0)
		return lex_name(l);
	if (is_name_start(c))
		return lex_word(l);
	if (is_digit(c) || (c == '.' && is_digit(at(l, 1))))
		return lex_number(l);
	if (c == '$')
		return lex_dollar(l);
	if (is_operator(c))
		return lex_operator(l);
	l->p++;
	if (c == ':' && at(l, 0) == ':') {
		l->p++;
		return CND_PG_TOKEN_CAST;
	}
	return c != '\0' && strchr("()[],;:.", c) ? CND_PG_TOKEN_SELF : CND_PG_TOKEN_BAD;
}

struct cnd_pg_token
cnd_pg_lex_next(struct cnd_pg_lex *l)
{
	struct cnd_pg_token t = { CND_PG_TOKEN_BAD, 0, l->end, 0 };

	if (!skip_blanks(l))
		return t;
	t.text = l->p;
	t.kind = l->p < l->end ? lex_token(l) : CND_PG_TOKEN_END;
	t.len = (size_t)(l->p - t.text);
	if (t.kind == CND_PG_TOKEN_NAME) {
		size_t n_prefix = *t.text == '"' ? 1 : 3;

		t.has_escapes = n_prefix == 3;
		t.text += n_prefix;
		t.len -= n_prefix + 1;
	}
	return t;
}

int
cnd_pg_token_is_all(const struct cnd_pg_token *t, const char *word)
{
	size_t i;

	if (t->kind != CND_PG_TOKEN_WORD && t->kind != CND_PG_TOKEN_NAME)
		return 0;
	for (i = 0; i < t->len; i++) {
		char c = t->text[i];

		if (t->kind == CND_PG_TOKEN_WORD)
			c = lower(c);

		/* Also where the word ends. */
		if (c != word[i])
			return 0;
	}
	return word[i] == '\0';
}

int
cnd_pg_token_is_self(const struct cnd_pg_token *t, char c)
{
	return t->kind == CND_PG_TOKEN_SELF && *t->text == c;
}
