/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Escapes that are calls: {fn ...} with the templates of function.c, {call ...} and {?=call ...}.
 * escape.c calls it. It has no state.
 */
#include "escape_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "function.h"
#include "interval.h"

#define ARGUMENTS_MAX 16

/* ---- functions ---- */

struct arguments {
	struct cod_span source[ARGUMENTS_MAX];
	struct cod_escape_out text[ARGUMENTS_MAX]; /* translated */
	size_t n;
};

/* Translate each argument into memory of its own. The order of the text numbers the markers. */
static void
translate_arguments(struct cod_translation *t, struct cod_span text, struct arguments *a)
{
	struct cod_escape_out *outer = t->out;
	struct cod_span rest = cod_span_trim(text, t->rules);

	while (rest.p < rest.end && !t->state) {
		struct cod_span argument = cod_escape_argument(t, &rest);

		if (a->n == ARGUMENTS_MAX || cod_span_length(argument) == 0) {
			cod_escape_fail(t, "42000",
				"a function has an empty argument, or too many");
			break;
		}
		a->source[a->n] = argument;
		t->out = &a->text[a->n++];
		cod_escape_translate(t, argument);
		if (rest.p < rest.end && ++rest.p == rest.end)
			cod_escape_fail(t, "42000", "an argument is missing");
	}
	t->out = outer;
}

static void
put_all(struct cod_translation *t, const struct arguments *a)
{
	for (size_t i = 0; i < a->n; i++) {
		if (i > 0)
			cod_escape_put_text(t, ", ");
		cod_escape_put(t, a->text[i].p, a->text[i].n);
	}
}

static void
put_template(struct cod_translation *t, const char *template, const struct arguments *a)
{
	for (const char *p = template; *p; p++) {
		size_t i = (size_t)(p[1] - '1');

		if (*p == '%' && p[1] == '*') {
			put_all(t, a);
			p++;
		} else if (*p == '%' && p[1] >= '1' && p[1] <= '9' && i < a->n) {
			cod_escape_put(t, a->text[i].p, a->text[i].n);
			p++;
		} else {
			cod_escape_put(t, p, 1);
		}
	}
}

static void
put_call(struct cod_translation *t, struct cod_span name, const struct arguments *a)
{
	cod_escape_put_span(t, name);
	cod_escape_put_text(t, "(");
	put_all(t, a);
	cod_escape_put_text(t, ")");
}

/* Write timestampadd(unit, …) or timestampdiff(unit, …). */
static void
put_interval_function(
	struct cod_translation *t, struct cod_span name, int is_diff, struct arguments *a)
{
	const char *template = a->n == 3 ? cod_interval_function(t->options->dialect,
						   a->source[0], is_diff)
					 : NULL;
	struct arguments two = { .text = { a->text[1], a->text[2] }, .n = 2 };

	if (!template)
		cod_escape_fail(t, "42000", "the server has no {fn %.*s} with that unit",
			cod_span_shown(name), name.p);
	else
		put_template(t, template, &two);
}

/* Write convert(value, SQL_type). */
static void
put_cast(struct cod_translation *t, const struct arguments *a)
{
	const char *type =
		a->n == 2 ? cod_cast_type(t->options->dialect, a->source[1]) : NULL;

	if (!type) {
		cod_escape_fail(
			t, "42000", "the server has no {fn convert()} to that type");
		return;
	}
	cod_escape_put_text(t, "CAST(");
	cod_escape_put(t, a->text[0].p, a->text[0].n);
	cod_escape_put_text(t, " AS ");
	cod_escape_put_text(t, type);
	cod_escape_put_text(t, ")");
}

static void
put_function(struct cod_translation *t, struct cod_span name, struct arguments *a)
{
	const char *template = cod_function(t->options->dialect, name, a->n);
	int is_known = t->options->dialect != COD_DIALECT_OTHER &&
		       t->options->dialect != COD_DIALECT_TDS;

	if (is_known && cod_span_is(name, "TIMESTAMPADD"))
		put_interval_function(t, name, 0, a);
	else if (is_known && cod_span_is(name, "TIMESTAMPDIFF"))
		put_interval_function(t, name, 1, a);
	else if (is_known && cod_span_is(name, "CONVERT"))
		put_cast(t, a);
	else if (template && *template)
		put_template(t, template, a);
	else if (template || !cod_is_function(name))
		put_call(t, name, a);
	else
		cod_escape_fail(t, "42000",
			"the server has no {fn %.*s} with %zu arguments",
			cod_span_shown(name), name.p, a->n);
}

void
cod_escape_function(struct cod_translation *t, struct cod_span text)
{
	struct cnc_sql x = cod_span_read(text, t->rules);
	struct cnc_sql_token name = cnc_sql_next(&x);
	struct arguments a = { .n = 0 };
	struct cod_span inner;

	if (name.kind != CNC_SQL_WORD || !cnc_sql_take_char(&x, '(') ||
		!cod_escape_close(&x, '(', ')', &inner) ||
		cnc_sql_next(&x).kind != CNC_SQL_END) {
		cod_escape_fail(t, "42000", "{fn} is not followed by a function's call");
		return;
	}
	translate_arguments(t, inner, &a);
	if (!t->state)
		put_function(t, cod_span_of(&name), &a);
	for (size_t i = 0; i < a.n; i++)
		free(a.text[i].p);
}

/* ---- calls ---- */

/* The SQL to call a procedure, a function for its rows, and a function for its value. NULL: the
 * server cannot. */
static const struct {
	const char *procedure, *function, *value;
	int has_parentheses; /* a call of a procedure needs parentheses */
} calls[COD_N_DIALECTS] = {
	[COD_DIALECT_OTHER] = { "CALL ", "SELECT ", "SELECT ", 1 },
	[COD_DIALECT_POSTGRESQL] = { "CALL ", "SELECT * FROM ", "SELECT ", 1 },
	[COD_DIALECT_MYSQL] = { "CALL ", "SELECT ", "SELECT ", 1 },
	[COD_DIALECT_SQLITE] = { NULL, "SELECT ", "SELECT ", 1 },
	[COD_DIALECT_TDS] = { "EXEC ", "SELECT ", "SELECT ", 0 },
};

static bool
is_part_of_name(const struct cnc_sql_token *token)
{
	switch (token->kind) {
	case CNC_SQL_WORD:
	case CNC_SQL_NAME:
	case CNC_SQL_NUMBER:
	case CNC_SQL_VARIABLE:
		return true;
	case CNC_SQL_TEXT:
		return *token->p == '"';
	default:
		return cnc_sql_is_char(token, '.') || cnc_sql_is_char(token, '$') ||
		       cnc_sql_is_char(token, '#') || cnc_sql_is_char(token, '@');
	}
}

/* Take a name with its quotes and schema: parts without blanks between them. Empty: there is no
 * name. */
static struct cod_span
take_name(struct cnc_sql *x)
{
	struct cod_span name = { x->p, x->p };
	struct cnc_sql ahead = *x;
	struct cnc_sql_token token = cnc_sql_next(&ahead);

	name.p = name.end = token.p;
	do {
		if (!is_part_of_name(&token))
			break;
		*x = ahead;
		name.end = x->p;
		token = cnc_sql_next(&ahead);
	} while (!token.has_space);
	return name;
}

static const char *
call_of(const struct cod_translation *t, struct cod_span name)
{
	const struct cod_escape_options *o = t->options;

	if (t->statement->returns_value)
		return calls[o->dialect].value;
	if (o->is_function && o->is_function(name.p, cod_span_length(name), o->user))
		return calls[o->dialect].function;
	return calls[o->dialect].procedure;
}

static int
is_left_out(const struct cod_translation *t, struct cod_span argument)
{
	const struct cod_escape_options *o = t->options;
	uint32_t i = t->n_markers + 1 + (uint32_t)t->statement->returns_value;

	return o->is_output && cod_span_length(argument) == 1 && *argument.p == '?' &&
	       o->is_output(i, o->user);
}

static void
put_arguments(struct cod_translation *t, struct cod_span text)
{
	const char *between = "";

	for (;; text.p++) {
		struct cod_span argument = cod_escape_argument(t, &text);

		if (is_left_out(t, argument)) {
			t->n_markers++;
			t->statement->n_left_out++;
		} else {
			cod_escape_put_text(t, between);
			cod_escape_translate(t, argument);
			between = ", ";
		}
		if (text.p == text.end || t->state)
			return;
	}
}

/* Write the call of a function. If it has output parameters, they are columns of its result. */
static void
put_function_call(struct cod_translation *t, const char *verb, struct cod_span name,
	struct cod_span inner)
{
	struct cod_escape_out arguments = { .p = NULL }, *outer = t->out;

	t->statement->calls_function = 1;
	t->out = &arguments;
	put_arguments(t, inner);
	t->out = outer;
	cod_escape_put_text(t, t->statement->n_left_out > 0
				       ? calls[t->options->dialect].function
				       : verb);
	cod_escape_put_span(t, name);
	cod_escape_put_text(t, "(");
	cod_escape_put(t, arguments.p, arguments.n);
	cod_escape_put_text(t, ")");
	free(arguments.p);
}

void
cod_escape_call(struct cod_translation *t, struct cod_span text)
{
	struct cnc_sql x = cod_span_read(text, t->rules);
	struct cod_span name = take_name(&x), inner = { x.end, x.end };
	bool ok = cod_span_length(name) > 0;
	const char *verb;

	if (cnc_sql_take_char(&x, '('))
		ok = ok && cod_escape_close(&x, '(', ')', &inner);
	if (!ok || cnc_sql_next(&x).kind != CNC_SQL_END) {
		cod_escape_fail(
			t, "42000", "{call} is not followed by a procedure's name");
		return;
	}
	t->statement->is_call = 1;
	verb = call_of(t, name);
	if (!verb) {
		cod_escape_fail(t, "42000", "the server has no procedures");
		return;
	}
	if (verb != calls[t->options->dialect].procedure) {
		put_function_call(t, verb, name, inner);
		return;
	}
	cod_escape_put_text(t, verb);
	cod_escape_put_span(t, name);
	if (!calls[t->options->dialect].has_parentheses) {
		cod_escape_put_text(t, " ");
		cod_escape_translate(t, inner);
		return;
	}
	cod_escape_put_text(t, "(");
	cod_escape_translate(t, inner);
	cod_escape_put_text(t, ")");
}

void
cod_escape_value(struct cod_translation *t, struct cod_span text)
{
	struct cnc_sql x = cod_span_read(text, t->rules);

	if (!cnc_sql_take_char(&x, '=') || t->n_markers > 0) {
		cod_escape_fail(t, "42000", "{?} is not followed by = call");
		return;
	}
	if (!cnc_sql_take(&x, "call")) {
		cod_escape_fail(t, "42000", "{?=} is not followed by call");
		return;
	}
	t->statement->returns_value = 1;
	cod_escape_call(t, (struct cod_span){ x.p, x.end });
}
