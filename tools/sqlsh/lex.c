/* SPDX-License-Identifier: BSD-2-Clause */
#include "lex.h"

#include <string.h>

static const struct {
	const char *backend;
	unsigned flags;
} dialects[] = {
	{ "sqlite", LEX_BRACKETS | LEX_BACKTICKS },
	{ "postgresql", LEX_DOLLARS | LEX_NESTED },
	{ "mysql", LEX_BACKTICKS | LEX_BACKSLASH },
	{ "freetds", LEX_BRACKETS | LEX_NESTED },
};

unsigned
lex_flags_for(const char *backend)
{
	size_t i;

	for (i = 0; backend && i < sizeof(dialects) / sizeof(dialects[0]); i++) {
		if (strcmp(dialects[i].backend, backend) == 0)
			return dialects[i].flags;
	}
	return LEX_BRACKETS | LEX_BACKTICKS | LEX_DOLLARS | LEX_NESTED;
}

void
lex_init(struct lex *l, unsigned flags)
{
	*l = (struct lex){ .flags = flags };
}

static int
is_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static int
is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static int
is_word_start(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (c & 0x80) != 0;
}

int
lex_is_word_char(int c)
{
	return is_word_start(c) || is_digit(c);
}

/* Go on in '…', "…", `…`, [..]: a doubled closing quote stands for itself. 1 when closed. */
static int
scan_quote(struct lex *l, const char *text, size_t len)
{
	int close = l->mode == '[' ? ']' : l->mode;

	while (l->pos < len) {
		char c = text[l->pos++];

		if (c == '\\' && l->escape) {
			if (l->pos < len)
				l->pos++;
		} else if (c == close) {
			if (l->pos >= len || text[l->pos] != close)
				return 1;
			l->pos++;
		}
	}
	return 0;
}

static int
scan_dollar(struct lex *l, const char *text, size_t len)
{
	while (l->pos < len) {
		const char *p = memchr(text + l->pos, '$', len - l->pos);

		if (!p) {
			l->pos = len;
			return 0;
		}
		l->pos = (size_t)(p - text);
		if (len - l->pos >= l->tag_len && memcmp(p, l->tag, l->tag_len) == 0) {
			l->pos += l->tag_len;
			return 1;
		}
		l->pos++;
	}
	return 0;
}

static int
scan_line_comment(struct lex *l, const char *text, size_t len)
{
	const char *p = memchr(text + l->pos, '\n', len - l->pos);

	l->pos = p ? (size_t)(p - text) : len;
	/* The end of the text ends it as well: nobody has to type an empty line after it. */
	return 1;
}

static int
scan_block_comment(struct lex *l, const char *text, size_t len)
{
	while (l->pos + 1 < len) {
		char c = text[l->pos], d = text[l->pos + 1];

		if (c == '*' && d == '/') {
			l->pos += 2;
			if (--l->depth == 0)
				return 1;
		} else if (c == '/' && d == '*' && (l->flags & LEX_NESTED)) {
			l->pos += 2;
			l->depth++;
		} else {
			l->pos++;
		}
	}
	return 0;
}

/* Go on with what is open. */
static enum lex_kind
scan_open(struct lex *l, const char *text, size_t len)
{
	enum lex_kind kind = LEX_QUOTED;
	int is_closed;

	switch (l->mode) {
	case '-':
		is_closed = scan_line_comment(l, text, len);
		kind = LEX_BLANK;
		break;
	case '*':
		is_closed = scan_block_comment(l, text, len);
		kind = LEX_BLANK;
		break;
	case '$':
		is_closed = scan_dollar(l, text, len);
		break;
	default:
		is_closed = scan_quote(l, text, len);
	}
	if (!is_closed)
		return LEX_OPEN;
	l->mode = '\0';
	return kind;
}

/* Length of the opening tag of a dollar quote ($$, $tag$) at text[pos], 0 if it is none. */
static size_t
dollar_tag(const char *text, size_t pos, size_t len)
{
	size_t i = pos + 1;

	if (i < len && is_digit(text[i]))
		return 0;
	while (i < len && lex_is_word_char(text[i]))
		i++;
	if (i >= len || text[i] != '$' || i + 1 - pos > LEX_TAG_MAX)
		return 0;
	return i + 1 - pos;
}

/* Whether a quote, comment or the like begins at the position; if so, go behind its opening. */
static int
open_token(struct lex *l, const char *text, size_t len)
{
	int c = (unsigned char)text[l->pos];
	int next = l->pos + 1 < len ? (unsigned char)text[l->pos + 1] : '\0';
	size_t n = 1;

	l->escape = (l->flags & LEX_BACKSLASH) != 0 && c != '`';
	if (c == '\'' || c == '"' || (c == '`' && (l->flags & LEX_BACKTICKS)) ||
		(c == '[' && (l->flags & LEX_BRACKETS))) {
		l->mode = (char)c;
	} else if (c == '-' && next == '-') {
		l->mode = '-';
	} else if (c == '/' && next == '*') {
		l->mode = '*';
		l->depth = 1;
		n = 2;
	} else if ((c == 'E' || c == 'e') && next == '\'' && (l->flags & LEX_DOLLARS)) {
		l->mode = '\'';
		l->escape = 1;
		n = 2;
	} else if (c == '$' && (l->flags & LEX_DOLLARS) &&
		   (n = dollar_tag(text, l->pos, len)) > 0) {
		l->mode = '$';
		memcpy(l->tag, text + l->pos, n);
		l->tag_len = n;
	} else {
		return 0;
	}
	l->pos += n;
	return 1;
}

/* A token that is never cut by the end of a line. */
static enum lex_kind
scan_plain(struct lex *l, const char *text, size_t len)
{
	int c = (unsigned char)text[l->pos++];
	int next = l->pos < len ? (unsigned char)text[l->pos] : '\0';

	if (is_blank(c)) {
		while (l->pos < len && is_blank(text[l->pos]))
			l->pos++;
		return LEX_BLANK;
	}
	if (is_word_start(c)) {
		while (l->pos < len &&
			(lex_is_word_char(text[l->pos]) || text[l->pos] == '$'))
			l->pos++;
		return LEX_WORD;
	}
	if (is_digit(c)) {
		while (l->pos < len &&
			(lex_is_word_char(text[l->pos]) || text[l->pos] == '.'))
			l->pos++;
		return LEX_NUMBER;
	}
	if (c == ':' && is_word_start(next)) {
		while (l->pos < len && lex_is_word_char(text[l->pos]))
			l->pos++;
		return LEX_PLACEHOLDER;
	}
	/* A cast: its second colon begins no placeholder. */
	if (c == ':' && next == ':')
		l->pos++;
	return LEX_CHAR;
}

enum lex_kind
lex_next(struct lex *l, const char *text, size_t len)
{
	if (l->mode)
		return scan_open(l, text, len);
	l->start = l->pos;
	if (l->pos >= len)
		return LEX_END;
	if (open_token(l, text, len))
		return scan_open(l, text, len);
	return scan_plain(l, text, len);
}
