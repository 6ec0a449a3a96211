/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <strings.h>

#include "tds.h"

static int
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0';
}

static int
is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '#' || c == '@' ||
	       (unsigned char)c >= 0x80;
}

static int
begins(const struct cnd_tds_lexer *x, const char *two)
{
	return x->end - x->p >= 2 && memcmp(x->p, two, 2) == 0;
}

/* Comments nest. 0, or -1 if it does not end. */
static int
skip_comment(struct cnd_tds_lexer *x)
{
	unsigned depth = 0;

	while (x->p < x->end) {
		if (begins(x, "/*")) {
			depth++;
			x->p += 2;
		} else if (begins(x, "*/")) {
			depth--;
			x->p += 2;
			if (depth == 0)
				return 0;
		} else {
			x->p++;
		}
	}
	return -1;
}

/* Babelfish ends such a comment at a carriage return, too. */
static void
skip_line(struct cnd_tds_lexer *x)
{
	while (x->p < x->end && *x->p != '\n' && *x->p != '\r')
		x->p++;
}

/* To the next word. 0, or -1 within an open comment. */
static int
skip_blanks(struct cnd_tds_lexer *x)
{
	for (;;) {
		while (x->p < x->end && is_blank(*x->p))
			x->p++;
		if (begins(x, "--"))
			skip_line(x);
		else if (!begins(x, "/*"))
			return 0;
		else if (skip_comment(x) < 0)
			return -1;
	}
}

/* Behind the quote that ends it; a doubled one does not. 0, or -1 if there is none. */
static int
skip_quoted(struct cnd_tds_lexer *x, char quote)
{
	for (x->p++; x->p < x->end; x->p++) {
		if (*x->p != quote)
			continue;
		x->p++;
		if (x->p == x->end || *x->p != quote)
			return 0;
	}
	return -1;
}

static enum cnd_tds_token_kind
skip_token(struct cnd_tds_lexer *x)
{
	char c = *x->p;

	if (c == '\'')
		return skip_quoted(x, '\'') < 0 ? CND_TDS_DARK : CND_TDS_TEXT;
	if (c == '"' || c == '[')
		return skip_quoted(x, c == '[' ? ']' : '"') < 0 ? CND_TDS_DARK
								: CND_TDS_NAME;
	if (is_word_char(c)) {
		while (x->p < x->end && is_word_char(*x->p))
			x->p++;
		return c == '@' ? CND_TDS_VARIABLE : CND_TDS_WORD;
	}
	x->p++;
	return c == '?' ? CND_TDS_PLACEHOLDER : CND_TDS_OTHER;
}

struct cnd_tds_token
cnd_tds_next(struct cnd_tds_lexer *x)
{
	struct cnd_tds_token t = { CND_TDS_DARK, x->p, 0 };

	if (skip_blanks(x) < 0)
		return t;
	t.p = x->p;
	t.kind = x->p == x->end ? CND_TDS_END : skip_token(x);
	t.n = (size_t)(x->p - t.p);
	return t;
}

int
cnd_tds_is_word(const struct cnd_tds_token *t, const char *word)
{
	return t->kind == CND_TDS_WORD && strlen(word) == t->n &&
	       strncasecmp(t->p, word, t->n) == 0;
}
