/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Splits SQL into tokens for sqlsh, with lib/core's reader of SQL. split.c cuts statements with it;
 * other files look for placeholders and names. It owns no state.
 */
#include "lex.h"

#include <string.h>

/* PostgreSQL joins a string with a string on the next line. At the end of a line sqlsh cannot know
 * whether one follows, so it reads two strings. */
#define POSTGRESQL (CNC_SQL_POSTGRESQL & ~(unsigned)CNC_SQL_CONTINUED)
#define UNKNOWN                                                                          \
	((CNC_SQL_UNKNOWN & ~(unsigned)CNC_SQL_EXECUTED) | CNC_SQL_DOLLAR_QUOTES |       \
		CNC_SQL_PREFIXES | CNC_SQL_NESTED)

static const struct {
	const char *backend;
	uint32_t rules;
} dialects[] = {
	{ "sqlite", CNC_SQL_SQLITE },
	{ "postgresql", POSTGRESQL },
	{ "mysql", CNC_SQL_MYSQL },
	{ "freetds", CNC_SQL_TDS },
};

uint32_t
lex_flags_for(const char *backend)
{
	for (size_t i = 0; backend != NULL && i < sizeof(dialects) / sizeof(dialects[0]);
		i++) {
		if (strcmp(dialects[i].backend, backend) == 0)
			return dialects[i].rules | CNC_SQL_COLON;
	}
	return UNKNOWN | CNC_SQL_COLON;
}

void
lex_init(struct lex *l, uint32_t flags)
{
	*l = (struct lex){ .flags = flags };
}

bool
lex_is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || (c & 0x80) != 0;
}

static enum lex_kind
kind_of(const struct cnc_sql_token *t)
{
	switch (t->kind) {
	case CNC_SQL_WORD:
		return LEX_WORD;
	case CNC_SQL_NUMBER:
	case CNC_SQL_VARIABLE:
		return LEX_NUMBER;
	case CNC_SQL_TEXT:
	case CNC_SQL_NAME:
		return LEX_QUOTED;
	case CNC_SQL_PLACEHOLDER:
		return *t->p == ':' ? LEX_PLACEHOLDER : LEX_CHAR;
	default:
		return LEX_CHAR;
	}
}

/* Read blanks and comments if they come next, else a token. */
static enum lex_kind
read_next(struct cnc_sql *x)
{
	const char *before = x->p;
	struct cnc_sql_token t;
	bool is_quoted = x->open.what != '\0' && x->open.what != '*';

	if (!is_quoted && !cnc_sql_skip_blanks(x))
		return LEX_OPEN;
	if (x->p != before)
		return LEX_BLANK;
	if (x->p == x->end)
		return x->open.what != '\0' ? LEX_OPEN : LEX_END;
	t = cnc_sql_next(x);
	return t.kind == CNC_SQL_BAD ? LEX_OPEN : kind_of(&t);
}

enum lex_kind
lex_next(struct lex *l, const char *text, size_t len)
{
	struct cnc_sql *x = &l->sql;
	enum lex_kind kind;

	if (l->mode != '\0') {
		cnc_sql_resume(x, text + l->open, text + len);
	} else {
		*x = cnc_sql_begin(text, len, l->flags);
		x->p += l->pos;
		l->start = l->pos;
	}
	kind = read_next(x);
	l->mode = (char)(kind == LEX_OPEN ? x->open.what : '\0');
	if (kind == LEX_OPEN)
		l->open = (size_t)(x->open.begin - text);
	l->pos = (size_t)(x->p - text);
	return kind;
}
