/* SPDX-License-Identifier: BSD-2-Clause */
#include "checks.h"

#include <string.h>
#include <strings.h>

#include "lex.h"

struct reader {
	const char *sql;
	size_t len;
	struct lex lex;
};

/* The next token other than blanks. */
static enum lex_kind
next(struct reader *r)
{
	enum lex_kind kind;

	do
		kind = lex_next(&r->lex, r->sql, r->len);
	while (kind == LEX_BLANK);
	return kind;
}

static int
is_token(const struct reader *r, const char *word)
{
	size_t len = r->lex.pos - r->lex.start;

	return strlen(word) == len && strncasecmp(r->sql + r->lex.start, word, len) == 0;
}

static void
take_name(struct reader *r, struct text *name)
{
	enum lex_kind kind = next(r);
	size_t quote = kind == LEX_QUOTED;

	text_clear(name);
	if (kind == LEX_QUOTED || kind == LEX_WORD)
		text_add(name, r->sql + r->lex.start + quote,
			r->lex.pos - r->lex.start - 2 * quote);
}

/* Take "(…)" with all parentheses in it; 0 if the next token is no parenthesis. */
static int
take_parentheses(struct reader *r, struct text *definition)
{
	enum lex_kind kind = next(r);
	size_t start = r->lex.start;
	unsigned depth = 0;

	if (!is_token(r, "("))
		return 0;
	for (; kind != LEX_END && kind != LEX_OPEN; kind = next(r)) {
		depth += is_token(r, "(") ? 1 : 0;
		depth -= is_token(r, ")") ? 1 : 0;
		if (depth == 0)
			break;
	}
	text_clear(definition);
	text_add_str(definition, "CHECK ");
	text_add(definition, r->sql + start, r->lex.pos - start);
	return 1;
}

void
checks_find(const char *sql, uint32_t lex_flags,
	void (*found)(void *user, const char *name, const char *definition), void *user)
{
	struct reader r = { .sql = sql, .len = strlen(sql) };
	struct text name = { 0 }, definition = { 0 };
	enum lex_kind kind;

	lex_init(&r.lex, lex_flags);
	while ((kind = next(&r)) != LEX_END && kind != LEX_OPEN) {
		if (kind == LEX_WORD && is_token(&r, "CONSTRAINT")) {
			take_name(&r, &name);
			continue;
		}
		if (kind == LEX_WORD && is_token(&r, "CHECK") &&
			take_parentheses(&r, &definition))
			found(user, text_str(&name), text_str(&definition));
		text_clear(&name);
	}
	text_finish(&name);
	text_finish(&definition);
}
