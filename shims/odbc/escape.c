/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Translates a statement from ODBC's SQL to the server's: parameter markers, and escape clauses in
 * braces. core/sql.h reads the text as the server does, so that quotes and comments stay as they are.
 * statement.c calls cod_escape(). The state is struct cod_translation, for the time of the call.
 */
#include "escape_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
cod_escape_fail(struct cod_translation *t, const char *state, const char *format, ...)
{
	va_list args;

	if (t->state)
		return;
	t->state = state;
	va_start(args, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is not */
	(void)vsnprintf(
		t->statement->message, sizeof(t->statement->message), format, args);
	va_end(args);
}

void
cod_escape_put(struct cod_translation *t, const char *p, size_t n)
{
	struct cod_escape_out *out = t->out;

	if (t->state)
		return;
	if (out->room - out->n <= n) {
		size_t room = (out->n + n + 64) * 2;
		char *larger = realloc(out->p, room);

		if (!larger) {
			cod_escape_fail(t, "HY001", "out of memory");
			return;
		}
		out->p = larger;
		out->room = room;
	}
	if (n > 0)
		memcpy(out->p + out->n, p, n);
	out->n += n;
	out->p[out->n] = 0;
}

void
cod_escape_put_text(struct cod_translation *t, const char *text)
{
	cod_escape_put(t, text, strlen(text));
}

void
cod_escape_put_span(struct cod_translation *t, struct cod_span text)
{
	cod_escape_put(t, text.p, cod_span_length(text));
}

uint32_t
cod_escape_literal_rules(const struct cod_translation *t)
{
	return t->rules & ~(uint32_t)(CNC_SQL_BACKSLASH | CNC_SQL_CONTINUED);
}

/* ---- parameter markers ---- */

/* Whether a character next to a marker would join it into one token. */
static bool
is_joining(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Write a marker. `rest` is the text after it. */
static void
put_marker(struct cod_translation *t, struct cod_span rest)
{
	char text[16];

	if (t->n_markers >= COD_ESCAPE_PARAMS_MAX) {
		cod_escape_fail(t, "42000", "more than %d parameter markers",
			COD_ESCAPE_PARAMS_MAX);
		return;
	}
	t->n_markers++;
	if (t->options->dialect == COD_DIALECT_POSTGRESQL)
		(void)snprintf(text, sizeof(text), "$%u",
			(unsigned)(t->n_markers - t->statement->n_left_out));
	else if (t->options->dialect == COD_DIALECT_SQLITE)
		(void)snprintf(text, sizeof(text), "?%u", (unsigned)t->n_markers);
	else
		(void)snprintf(text, sizeof(text), "?");
	if (t->out->n > 0 && is_joining(t->out->p[t->out->n - 1]))
		cod_escape_put_text(t, " ");
	cod_escape_put_text(t, text);
	if (rest.p < rest.end && is_joining(*rest.p))
		cod_escape_put_text(t, " ");
}

/* ---- finding the end of braces and parentheses ---- */

bool
cod_escape_close(struct cnc_sql *x, char open, char close, struct cod_span *ret_inner)
{
	const char *begin = x->p;
	struct cnc_sql_token token;
	size_t depth = 1;

	while ((token = cnc_sql_next(x)).kind != CNC_SQL_END) {
		if (cnc_sql_is_char(&token, open))
			depth++;
		else if (cnc_sql_is_char(&token, close) && --depth == 0)
			break;
	}
	*ret_inner = (struct cod_span){ begin, token.p };
	return token.kind != CNC_SQL_END;
}

struct cod_span
cod_escape_argument(const struct cod_translation *t, struct cod_span *rest)
{
	struct cod_span argument = *rest;
	struct cnc_sql x = cod_span_read(*rest, t->rules);
	struct cnc_sql_token token;
	long depth = 0;

	while ((token = cnc_sql_next(&x)).kind != CNC_SQL_END) {
		if (cnc_sql_is_char(&token, ',') && depth <= 0)
			break;
		depth += cnc_sql_is_char(&token, '(') || cnc_sql_is_char(&token, '{');
		depth -= cnc_sql_is_char(&token, ')') || cnc_sql_is_char(&token, '}');
	}
	argument.end = rest->p = token.p;
	return cod_span_trim(argument, t->rules);
}

bool
cod_escape_literal(const struct cnc_sql_token *token, struct cod_span *ret_inner)
{
	size_t n;
	const char *inner = cnc_sql_inside(token, &n);

	*ret_inner = (struct cod_span){ inner, inner + n };
	return token->kind == CNC_SQL_TEXT && *token->p == '\'' &&
	       memchr(inner, '\'', n) == NULL;
}

/* {oj ...}: drop the braces. */
static void
translate_join(struct cod_translation *t, struct cod_span text)
{
	text.end = cod_span_trim(text, t->rules).end;
	cod_escape_translate(t, text);
}

/* ---- all escapes ---- */

static const struct {
	const char *keyword;
	void (*escape)(struct cod_translation *, struct cod_span);
} escapes[] = {
	{ "D", cod_escape_date },
	{ "T", cod_escape_time },
	{ "TS", cod_escape_timestamp },
	{ "FN", cod_escape_function },
	{ "CALL", cod_escape_call },
	{ "OJ", translate_join },
	{ "ESCAPE", cod_escape_character },
	{ "GUID", cod_escape_guid },
	{ "INTERVAL", cod_escape_interval },
};

/* Translate what is inside the braces. */
static void
translate_inner(struct cod_translation *t, struct cod_span text)
{
	struct cnc_sql x = cod_span_read(text, t->rules);
	struct cnc_sql_token token = cnc_sql_next(&x);
	struct cod_span word = { token.p, token.p };

	text.p = x.p;
	if (token.kind == CNC_SQL_PLACEHOLDER && *token.p == '?') {
		cod_escape_value(t, text);
		return;
	}
	if (token.kind == CNC_SQL_WORD)
		word = cod_span_of(&token);
	for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
		if (cod_span_is(word, escapes[i].keyword)) {
			escapes[i].escape(t, text);
			return;
		}
	}
	cod_escape_fail(
		t, "42000", "unknown escape {%.*s}", cod_span_shown(word), word.p);
}

/*
 * Find the end of {escape '\'}. The character between the quotes is never the beginning of an escape
 * sequence. But the server's rules would read a backslash as such, and not find the end.
 */
static bool
close_character(
	const struct cod_translation *t, struct cnc_sql *x, struct cod_span *ret_inner)
{
	struct cnc_sql ahead = *x;
	struct cnc_sql_token token;

	if (!cnc_sql_take(&ahead, "escape"))
		return false;
	ahead.rules = cod_escape_literal_rules(t);
	token = cnc_sql_next(&ahead);
	if (token.kind != CNC_SQL_TEXT || token.n != 3)
		return false;
	token = cnc_sql_next(&ahead);
	if (!cnc_sql_is_char(&token, '}'))
		return false;
	*ret_inner = (struct cod_span){ x->p, token.p };
	x->p = ahead.p;
	return true;
}

/* Two adjacent characters of one kind may form one token: a word, name, number or text, or an
 * operator or the beginning of a comment. */
enum kind {
	KIND_NONE,
	KIND_WORD,
	KIND_OPERATOR
};

static enum kind
kind_of(char c)
{
	if (is_joining(c) || (c && strchr("'\"`[].@#", c)))
		return KIND_WORD;
	return c && strchr("+-*/<>=~!%^&|:\\", c) ? KIND_OPERATOR : KIND_NONE;
}

static int
would_join(char left, char right)
{
	return kind_of(left) != KIND_NONE && kind_of(left) == kind_of(right);
}

/* The braces separated the text from `at` on from its neighbours on both sides. Put blanks where it
 * would join them now. */
static void
keep_apart(struct cod_translation *t, size_t at, struct cod_span rest)
{
	struct cod_escape_out *out = t->out;

	if (t->state || out->n == 0)
		return;
	if (rest.p < rest.end && would_join(out->p[out->n - 1], *rest.p))
		cod_escape_put_text(t, " ");
	if (at == 0 || at == out->n || !would_join(out->p[at - 1], out->p[at]))
		return;
	cod_escape_put_text(t, " ");
	if (t->state)
		return;
	memmove(out->p + at + 1, out->p + at, out->n - at - 1);
	out->p[at] = ' ';
}

/* Translate the escape that `x` has just opened, and go past its end. */
static void
translate_escape(struct cod_translation *t, struct cnc_sql *x)
{
	struct cod_span inner;
	size_t at = t->out->n;

	if (!close_character(t, x, &inner) && !cod_escape_close(x, '{', '}', &inner)) {
		cod_escape_fail(t, "42000", "{ without }");
		return;
	}
	if (t->depth == COD_ESCAPE_DEPTH_MAX) {
		cod_escape_fail(t, "42000", "escapes are nested more than %d deep",
			COD_ESCAPE_DEPTH_MAX);
		return;
	}
	t->depth++;
	translate_inner(t, inner);
	t->depth--;
	keep_apart(t, at, (struct cod_span){ x->p, x->end });
}

void
cod_escape_translate(struct cod_translation *t, struct cod_span text)
{
	struct cnc_sql x = cod_span_read(text, t->rules);
	struct cnc_sql_token token;

	while (t->state == NULL && (token = cnc_sql_next(&x)).kind != CNC_SQL_END) {
		bool is_marker = token.kind == CNC_SQL_PLACEHOLDER && *token.p == '?';

		if (!is_marker &&
			(t->options->is_noscan || !cnc_sql_is_char(&token, '{')))
			continue;
		cod_escape_put_span(t, (struct cod_span){ text.p, token.p });
		if (is_marker)
			put_marker(t, (struct cod_span){ x.p, x.end });
		else
			translate_escape(t, &x);
		text.p = x.p;
	}
	cod_escape_put_span(t, text);
	/* the text after the braces must not become a part of the comment */
	if (t->depth > 0 && (x.seen & CNC_SQL_SEEN_OPEN_LINE) != 0)
		cod_escape_put_text(t, "\n");
}

const char *
cod_escape(const struct cod_escape_options *options, const char *sql, size_t n,
	struct cod_statement *ret_statement)
{
	struct cod_escape_out out = { .p = NULL };
	struct cod_translation t = {
		.options = options, .statement = ret_statement, .out = &out
	};

	t.rules = cod_sql_rules(options->dialect, options->is_odd != 0);
	*ret_statement = (struct cod_statement){ .text = NULL };
	cod_escape_put(&t, "", 0);
	cod_escape_translate(&t, (struct cod_span){ sql, sql + n });
	if (t.state) {
		free(out.p);
		return t.state;
	}
	ret_statement->text = out.p;
	ret_statement->n = out.n;
	ret_statement->n_params = t.n_markers + (uint32_t)ret_statement->returns_value;
	return NULL;
}

void
cod_statement_finish(struct cod_statement *statement)
{
	free(statement->text);
	statement->text = NULL;
}
