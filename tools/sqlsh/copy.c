/* SPDX-License-Identifier: BSD-2-Clause */
#include "copy.h"

#include <string.h>
#include <strings.h>

#include "args.h"
#include "lex.h"

struct parser {
	struct lex lex;
	const char *text;
	size_t len;
};

void
copy_finish(struct copy *c)
{
	text_finish(&c->table);
	text_finish(&c->columns);
	text_finish(&c->file);
	text_finish(&c->options);
}

static enum lex_kind
next_token(struct parser *p)
{
	enum lex_kind kind;

	do
		kind = lex_next(&p->lex, p->text, p->len);
	while (kind == LEX_BLANK);
	return kind;
}

static int
token_is(const struct parser *p, const char *word)
{
	size_t n = p->lex.pos - p->lex.start;

	return strlen(word) == n && strncasecmp(p->text + p->lex.start, word, n) == 0;
}

/* Read the text after "(" up to its ")". Returns NULL, or the error. */
static const char *
parse_parens(struct parser *p, struct text *ret_inner)
{
	size_t begin = p->lex.pos;
	unsigned depth = 1;

	while (depth > 0) {
		enum lex_kind kind = next_token(p);

		if (kind == LEX_END || kind == LEX_OPEN)
			return "a parenthesis or quote is not closed";
		if (kind == LEX_CHAR && token_is(p, "("))
			depth++;
		else if (kind == LEX_CHAR && token_is(p, ")"))
			depth--;
	}
	text_add(ret_inner, p->text + begin, p->lex.start - begin);
	return NULL;
}

/* Read the table or query, and "from" or "to". */
static const char *
parse_target(struct parser *p, struct copy *c)
{
	enum lex_kind kind = next_token(p);
	const char *wrong = NULL;

	if (kind == LEX_CHAR && token_is(p, "(")) {
		c->is_query = 1;
		wrong = parse_parens(p, &c->table);
		kind = next_token(p);
	} else {
		while (kind == LEX_WORD || kind == LEX_QUOTED ||
			(kind == LEX_CHAR && token_is(p, "."))) {
			if (kind == LEX_WORD && c->table.len > 0 &&
				(token_is(p, "from") || token_is(p, "to")))
				break;
			text_add(&c->table, p->text + p->lex.start,
				p->lex.pos - p->lex.start);
			kind = next_token(p);
		}
		if (c->table.len > 0 && kind == LEX_CHAR && token_is(p, "(")) {
			wrong = parse_parens(p, &c->columns);
			kind = next_token(p);
		}
	}
	if (wrong)
		return wrong;
	if (c->table.len == 0 || kind != LEX_WORD ||
		!(token_is(p, "from") || token_is(p, "to")))
		return "TABLE or (QUERY), then from or to expected";
	c->is_import = token_is(p, "from");
	return c->is_import && c->is_query ? "a query can only be copied to a file"
					   : NULL;
}

static const char *
parse_options(struct args *a, struct copy *c)
{
	struct text word = { 0 };
	const char *wrong = NULL;
	int r;

	args_skip_blanks(a);
	if (strncasecmp(a->rest, "with", 4) == 0 && a->rest[4] &&
		strchr(" \t\r\n(", a->rest[4])) {
		text_add_str(&c->options, a->rest);
		return NULL;
	}
	while (!wrong && (r = args_next(a, &word)) != 0) {
		const char *s = text_str(&word);

		if (r > 0 && strcasecmp(s, "csv") == 0)
			c->kind = CSV_COMMA;
		else if (r > 0 && strcasecmp(s, "tsv") == 0)
			c->kind = CSV_TAB;
		else if (r > 0 && strcasecmp(s, "header") == 0)
			c->has_header = 1;
		else
			wrong = "behind the file csv, tsv, header or with ... expected";
	}
	text_finish(&word);
	return wrong;
}

const char *
copy_parse(struct copy *c, uint32_t lex_flags, const char *args)
{
	struct parser p = { .text = args, .len = strlen(args) };
	struct args rest;
	const char *wrong;
	int r;

	*c = (struct copy){ 0 };
	lex_init(&p.lex, lex_flags);
	wrong = parse_target(&p, c);
	if (wrong)
		return wrong;
	rest.rest = args + p.lex.pos;
	args_skip_blanks(&rest);
	/* 'stdin' in quotes is a file of that name. */
	if (strncasecmp(rest.rest, c->is_import ? "stdin" : "stdout", 5) == 0 ||
		*rest.rest == '-') {
		r = args_next(&rest, &c->file);
		if (c->file.len == (c->is_import ? 5u : 6u) || c->file.len == 1)
			text_clear(&c->file);
	} else {
		r = args_next(&rest, &c->file);
		if (r > 0 && c->file.len == 0)
			r = -1;
	}
	if (r <= 0)
		return "FILE, stdin or stdout expected";
	return parse_options(&rest, c);
}

void
copy_statement(const struct copy *c, struct text *ret_sql)
{
	text_addf(ret_sql, c->is_query ? "copy (%s)" : "copy %s", text_str(&c->table));
	if (c->columns.len > 0)
		text_addf(ret_sql, " (%s)", text_str(&c->columns));
	text_addf(ret_sql, " %s %s", c->is_import ? "from stdin" : "to stdout",
		text_str(&c->options));
}

static void
add_identifier(struct text *t, const struct cell *name, char quote)
{
	size_t i;

	text_add_char(t, quote);
	for (i = 0; i < name->len; i++) {
		if (name->text[i] == quote)
			text_add_char(t, quote);
		text_add_char(t, name->text[i]);
	}
	text_add_char(t, quote);
}

void
copy_insert(const struct copy *c, const struct cell *names, size_t n, char quote,
	int has_numbers, struct text *ret_sql)
{
	struct text *t = ret_sql;
	size_t i;

	text_addf(t, "insert into %s", text_str(&c->table));
	if (c->columns.len > 0) {
		text_addf(t, " (%s)", text_str(&c->columns));
	} else if (names) {
		for (i = 0; i < n; i++) {
			text_add_str(t, i > 0 ? ", " : " (");
			add_identifier(t, &names[i], quote);
		}
		text_add_char(t, ')');
	}
	text_add_str(t, " values (");
	for (i = 0; i < n; i++) {
		text_add_str(t, i > 0 ? ", " : "");
		if (has_numbers)
			text_addf(t, "$%zu", i + 1);
		else
			text_add_char(t, '?');
	}
	text_add_char(t, ')');
}
