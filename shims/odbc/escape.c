/* SPDX-License-Identifier: BSD-2-Clause */
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

const char *
cod_escape_next(const struct cod_translation *t, struct cod_span text)
{
	return cod_lex_skip(t->options->dialect, t->options->is_odd, t->begin, text);
}

/* ---- parameter markers ---- */

/* Beside a marker it would become a part of it, or hide what it begins. */
static int
is_joining(char c)
{
	return cod_lex_is_word(c) || c == '$';
}

static void
put_marker(struct cod_translation *t)
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
}

static void
take_marker(struct cod_translation *t, struct cod_span *text)
{
	put_marker(t);
	text->p++;
	if (text->p < text->end && is_joining(*text->p))
		cod_escape_put_text(t, " ");
}

/* ---- what is between braces and parentheses ---- */

int
cod_escape_closing(const struct cod_translation *t, struct cod_span text, char open,
	char close, struct cod_span *ret_inner)
{
	struct cod_span at = { text.p + 1, text.end };
	size_t depth = 1;

	while (at.p < at.end) {
		if (*at.p == open)
			depth++;
		else if (*at.p == close && --depth == 0)
			break;
		at.p = cod_escape_next(t, at);
	}
	if (at.p >= at.end)
		return -1;
	*ret_inner = (struct cod_span){ text.p + 1, at.p };
	return 0;
}

struct cod_span
cod_escape_argument(const struct cod_translation *t, struct cod_span *rest)
{
	struct cod_span argument = { rest->p, rest->end };
	long depth = 0;

	while (rest->p < rest->end && (*rest->p != ',' || depth > 0)) {
		depth += *rest->p == '(' || *rest->p == '{';
		depth -= *rest->p == ')' || *rest->p == '}';
		rest->p = cod_escape_next(t, *rest);
	}
	argument.end = rest->p;
	return cod_lex_trim(argument);
}

int
cod_escape_literal(struct cod_span text, struct cod_span *ret_inner)
{
	text = cod_lex_trim(text);
	if (cod_lex_length(text) < 2 || *text.p != '\'' || text.end[-1] != '\'' ||
		memchr(text.p + 1, '\'', cod_lex_length(text) - 2))
		return -1;
	*ret_inner = (struct cod_span){ text.p + 1, text.end - 1 };
	return 0;
}

/* ---- all of them ---- */

static const struct {
	const char *keyword;
	void (*escape)(struct cod_translation *, struct cod_span);
} escapes[] = {
	{ "D", cod_escape_date },
	{ "T", cod_escape_time },
	{ "TS", cod_escape_timestamp },
	{ "FN", cod_escape_function },
	{ "CALL", cod_escape_call },
	{ "OJ", cod_escape_translate },
	{ "ESCAPE", cod_escape_character },
	{ "GUID", cod_escape_guid },
	{ "INTERVAL", cod_escape_interval },
};

/* What is within the braces. */
static void
escape(struct cod_translation *t, struct cod_span text)
{
	struct cod_span word;

	text = cod_lex_trim(text);
	if (cod_lex_length(text) > 0 && *text.p == '?') {
		text.p++;
		cod_escape_value(t, text);
		return;
	}
	word = cod_lex_word(&text);
	/* a name may go on with it, so that no quoted text begins there */
	if (cod_lex_length(text) > 0 && *text.p == '$')
		word.end = ++text.p;
	for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
		if (cod_lex_is(word, escapes[i].keyword)) {
			escapes[i].escape(t, text);
			return;
		}
	}
	cod_escape_fail(t, "42000", "unknown escape {%.*s}", cod_lex_shown(word), word.p);
}

/*
 * {escape '\'}: the one character between the quotes is never the beginning of anything, but the server's
 * way to read literals would take a backslash for that.
 */
static int
find_end_of_character(struct cod_span text, struct cod_span *ret_inner)
{
	struct cod_span at = { text.p + 1, text.end }, word;

	at = cod_lex_trim(at);
	word = cod_lex_word(&at);
	at = cod_lex_trim(at);
	if (!cod_lex_is(word, "ESCAPE") || cod_lex_length(at) < 4 || at.p[0] != '\'' ||
		at.p[2] != '\'')
		return -1;
	at.p += 3;
	at = cod_lex_trim(at);
	if (cod_lex_length(at) == 0 || *at.p != '}')
		return -1;
	*ret_inner = (struct cod_span){ text.p + 1, at.p };
	return 0;
}

/* What may be one word, name, number or literal with what stands beside it, and what one operator or the
 * beginning of a comment. */
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

/* The braces kept what is put from `at` on apart from what is on its left, and on its right. */
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

/* Behind the closing brace. */
static const char *
translate_escape(struct cod_translation *t, struct cod_span text)
{
	struct cod_span inner, rest = text;
	size_t at = t->out->n;

	if (find_end_of_character(text, &inner) < 0 &&
		cod_escape_closing(t, text, '{', '}', &inner) < 0) {
		cod_escape_fail(t, "42000", "{ without }");
		return text.end;
	}
	if (t->depth == COD_ESCAPE_DEPTH_MAX) {
		cod_escape_fail(t, "42000", "escapes are nested more than %d deep",
			COD_ESCAPE_DEPTH_MAX);
		return text.end;
	}
	t->depth++;
	escape(t, inner);
	t->depth--;
	rest.p = inner.end + 1;
	keep_apart(t, at, rest);
	return rest.p;
}

void
cod_escape_translate(struct cod_translation *t, struct cod_span text)
{
	while (text.p < text.end && !t->state) {
		const char *behind;

		if (*text.p == '?') {
			take_marker(t, &text);
			continue;
		}
		if (*text.p == '{' && !t->options->is_noscan) {
			text.p = translate_escape(t, text);
			continue;
		}
		behind = cod_escape_next(t, text);
		cod_escape_put(t, text.p, (size_t)(behind - text.p));
		/* the end of its line was a blank at the end of an argument or of an escape */
		if (behind == text.end && t->depth > 0 &&
			cod_lex_is_line_comment(t->options->dialect, text))
			cod_escape_put_text(t, "\n");
		text.p = behind;
	}
}

const char *
cod_escape(const struct cod_escape_options *options, const char *sql, size_t n,
	struct cod_statement *ret_statement)
{
	struct cod_escape_out out = { .p = NULL };
	struct cod_translation t = {
		.options = options, .statement = ret_statement, .begin = sql, .out = &out
	};

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
