/* SPDX-License-Identifier: BSD-2-Clause */
#include "escape.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "function.h"
#include "guid.h"
#include "interval.h"
#include "lex.h"
#include "moment.h"

#define ARGUMENTS_MAX 16

/* A text under construction. */
struct out {
	char *p;
	size_t n, room;
};

struct translation {
	const struct cod_escape_options *options;
	struct cod_statement *statement;
	const char *begin; /* of the whole statement */
	struct out *out;
	unsigned depth;
	uint32_t n_markers; /* in the text */
	const char *state; /* of the first failure; behind it nothing is done */
};

static void translate(struct translation *t, struct cod_span text);

static void
fail(struct translation *t, const char *state, const char *format, ...)
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

static void
put(struct translation *t, const char *p, size_t n)
{
	struct out *out = t->out;

	if (t->state)
		return;
	if (out->room - out->n <= n) {
		size_t room = (out->n + n + 64) * 2;
		char *larger = realloc(out->p, room);

		if (!larger) {
			fail(t, "HY001", "out of memory");
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

static void
put_text(struct translation *t, const char *text)
{
	put(t, text, strlen(text));
}

static size_t
length(struct cod_span text)
{
	return (size_t)(text.end - text.p);
}

/* For messages. */
static int
shown(struct cod_span text)
{
	return length(text) > 40 ? 40 : (int)length(text);
}

static const char *
next(const struct translation *t, struct cod_span text)
{
	return cod_lex_skip(t->options->dialect, t->begin, text);
}

/* ---- parameter markers ---- */

/* Beside a marker it would become a part of it, or hide what it begins. */
static int
is_joining(char c)
{
	return cod_lex_is_word(c) || c == '$';
}

static void
put_marker(struct translation *t)
{
	char text[16];

	if (t->n_markers >= COD_ESCAPE_PARAMS_MAX) {
		fail(t, "42000", "more than %d parameter markers", COD_ESCAPE_PARAMS_MAX);
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
		put_text(t, " ");
	put_text(t, text);
}

static void
take_marker(struct translation *t, struct cod_span *text)
{
	put_marker(t);
	text->p++;
	if (text->p < text->end && is_joining(*text->p))
		put_text(t, " ");
}

/* ---- what is between braces and parentheses ---- */

/* What is between `text.p`, which is an opening one, and its closing one; 0, or -1: there is none. */
static int
find_closing(const struct translation *t, struct cod_span text, char open, char close,
	struct cod_span *ret_inner)
{
	struct cod_span at = { text.p + 1, text.end };
	size_t depth = 1;

	while (at.p < at.end) {
		if (*at.p == open)
			depth++;
		else if (*at.p == close && --depth == 0)
			break;
		at.p = next(t, at);
	}
	if (at.p >= at.end)
		return -1;
	*ret_inner = (struct cod_span){ text.p + 1, at.p };
	return 0;
}

/* Up to the next comma that is in no parentheses and no braces. */
static struct cod_span
take_argument(const struct translation *t, struct cod_span *rest)
{
	struct cod_span argument = { rest->p, rest->end };
	long depth = 0;

	while (rest->p < rest->end && (*rest->p != ',' || depth > 0)) {
		depth += *rest->p == '(' || *rest->p == '{';
		depth -= *rest->p == ')' || *rest->p == '}';
		rest->p = next(t, *rest);
	}
	argument.end = rest->p;
	return cod_lex_trim(argument);
}

/* A literal, which is all that is left: what is between its quotes, none of which is in it. */
static int
take_literal(struct cod_span text, struct cod_span *ret_inner)
{
	text = cod_lex_trim(text);
	if (length(text) < 2 || *text.p != '\'' || text.end[-1] != '\'' ||
		memchr(text.p + 1, '\'', length(text) - 2))
		return -1;
	*ret_inner = (struct cod_span){ text.p + 1, text.end - 1 };
	return 0;
}

/* ---- literals ---- */

static void
bad_literal(
	struct translation *t, const char *state, const char *what, struct cod_span text)
{
	text = cod_lex_trim(text);
	fail(t, state, "%.*s is no %s", shown(text), text.p, what);
}

/* PostgreSQL and MySQL are told the type; SQLite has none, and compares texts. */
static void
put_literal(struct translation *t, const char *type, const char *text)
{
	static const unsigned char is_typed[COD_N_DIALECTS] = {
		[COD_DIALECT_OTHER] = 1,
		[COD_DIALECT_POSTGRESQL] = 1,
		[COD_DIALECT_MYSQL] = 1,
	};

	if (is_typed[t->options->dialect])
		put_text(t, type);
	put_text(t, "'");
	put_text(t, text);
	put_text(t, "'");
}

static void
escape_date(struct translation *t, struct cod_span text)
{
	char shown_text[COD_MOMENT_TEXT_MAX];
	struct cod_span inner;
	struct cod_moment m;

	if (take_literal(text, &inner) < 0 ||
		cod_moment_read(inner.p, length(inner), &m) < 0 || !m.has_date ||
		m.has_time) {
		bad_literal(t, "22007", "date", text);
		return;
	}
	(void)cod_date_text(&m.at.date, shown_text);
	put_literal(t, "DATE ", shown_text);
}

static void
escape_time(struct translation *t, struct cod_span text)
{
	char shown_text[COD_MOMENT_TEXT_MAX];
	struct cod_span inner;
	struct cod_moment m;

	if (take_literal(text, &inner) < 0 ||
		cod_moment_read(inner.p, length(inner), &m) < 0 || m.has_date) {
		bad_literal(t, "22007", "time", text);
		return;
	}
	(void)cod_time_text(&m.at.time, shown_text);
	put_literal(t, "TIME ", shown_text);
}

static void
escape_timestamp(struct translation *t, struct cod_span text)
{
	char shown_text[COD_MOMENT_TEXT_MAX];
	struct cod_span inner;
	struct cod_moment m;

	if (take_literal(text, &inner) < 0 ||
		cod_moment_read(inner.p, length(inner), &m) < 0 || !m.has_date) {
		bad_literal(t, "22007", "timestamp", text);
		return;
	}
	(void)cod_timestamp_text(&m.at, shown_text);
	put_literal(t, "TIMESTAMP ", shown_text);
}

static void
escape_guid(struct translation *t, struct cod_span text)
{
	char shown_text[COD_GUID_TEXT + 1];
	struct cod_span inner;
	SQLGUID guid;

	if (take_literal(text, &inner) < 0 ||
		cod_guid_read(inner.p, length(inner), &guid) < 0) {
		bad_literal(t, "22018", "GUID", text);
		return;
	}
	cod_guid_text(&guid, shown_text);
	if (t->options->dialect == COD_DIALECT_POSTGRESQL)
		put_text(t, "uuid ");
	put_text(t, "'");
	put_text(t, shown_text);
	put_text(t, "'");
}

/* The character is no beginning of an escape here, whatever the server takes it for. */
static void
escape_character(struct translation *t, struct cod_span text)
{
	struct cod_span inner;

	if (take_literal(text, &inner) < 0 || length(inner) == 0) {
		bad_literal(t, "42000", "escape character", text);
		return;
	}
	put_text(t, "ESCAPE '");
	if (*inner.p == '\\' && t->options->dialect == COD_DIALECT_MYSQL)
		put_text(t, "\\");
	put(t, inner.p, length(inner));
	put_text(t, "'");
}

/* ---- intervals ---- */

static const struct {
	const char *first, *last; /* of the literal's qualifier */
	SQLSMALLINT type;
	const char *mysql;
} qualifiers[] = {
	{ "YEAR", "", SQL_INTERVAL_YEAR, "YEAR" },
	{ "MONTH", "", SQL_INTERVAL_MONTH, "MONTH" },
	{ "DAY", "", SQL_INTERVAL_DAY, "DAY" },
	{ "HOUR", "", SQL_INTERVAL_HOUR, "HOUR" },
	{ "MINUTE", "", SQL_INTERVAL_MINUTE, "MINUTE" },
	{ "SECOND", "", SQL_INTERVAL_SECOND, "SECOND" },
	{ "YEAR", "MONTH", SQL_INTERVAL_YEAR_TO_MONTH, "YEAR_MONTH" },
	{ "DAY", "HOUR", SQL_INTERVAL_DAY_TO_HOUR, "DAY_HOUR" },
	{ "DAY", "MINUTE", SQL_INTERVAL_DAY_TO_MINUTE, "DAY_MINUTE" },
	{ "DAY", "SECOND", SQL_INTERVAL_DAY_TO_SECOND, "DAY_SECOND" },
	{ "HOUR", "MINUTE", SQL_INTERVAL_HOUR_TO_MINUTE, "HOUR_MINUTE" },
	{ "HOUR", "SECOND", SQL_INTERVAL_HOUR_TO_SECOND, "HOUR_SECOND" },
	{ "MINUTE", "SECOND", SQL_INTERVAL_MINUTE_TO_SECOND, "MINUTE_SECOND" },
};

/* A field, and the precision in parentheses that it may have, which is left out. */
static struct cod_span
take_field(struct cod_span *text)
{
	struct cod_span word;

	*text = cod_lex_trim(*text);
	word = cod_lex_word(text);
	*text = cod_lex_trim(*text);
	if (text->p < text->end && *text->p == '(') {
		const char *close = memchr(text->p, ')', length(*text));

		text->p = close ? close + 1 : text->end;
		*text = cod_lex_trim(*text);
	}
	return word;
}

/* The index of what is written behind the literal; -1: none. */
static int
find_qualifier(struct cod_span text)
{
	struct cod_span first = take_field(&text), to = cod_lex_word(&text);
	struct cod_span last = to;

	if (length(to) > 0 && cod_lex_is(to, "TO"))
		last = take_field(&text);
	if (text.p != text.end)
		return -1;
	for (size_t i = 0; i < sizeof(qualifiers) / sizeof(qualifiers[0]); i++) {
		if (cod_lex_is(first, qualifiers[i].first) &&
			cod_lex_is(last, qualifiers[i].last))
			return (int)i;
	}
	return -1;
}

static void
put_interval(struct translation *t, const struct cod_interval *interval, int qualifier)
{
	char text[COD_INTERVAL_TEXT_MAX];

	if (t->options->dialect == COD_DIALECT_SQLITE) {
		fail(t, "42000", "the server has no intervals");
		return;
	}
	if (t->options->dialect == COD_DIALECT_POSTGRESQL) {
		put_text(t, "INTERVAL '");
		put(t, text, cod_interval_units(interval, text));
		put_text(t, "'");
		return;
	}
	put_text(t, "INTERVAL '");
	put(t, text, cod_interval_text(interval, qualifiers[qualifier].type, text));
	put_text(t, "' ");
	put_text(t, qualifiers[qualifier].mysql);
}

/* {INTERVAL [+|-] '…' field [TO field]} */
static void
escape_interval(struct translation *t, struct cod_span text)
{
	struct cod_span all = text, literal;
	struct cod_interval interval;
	int qualifier, is_negative;

	text = cod_lex_trim(text);
	is_negative = text.p < text.end && *text.p == '-';
	if (text.p < text.end && (*text.p == '-' || *text.p == '+'))
		text.p++;
	text = cod_lex_trim(text);
	literal.p = text.p;
	literal.end = length(text) > 0 && *text.p == '\''
			      ? memchr(text.p + 1, '\'', length(text) - 1)
			      : NULL;
	if (!literal.end) {
		bad_literal(t, "22007", "interval", all);
		return;
	}
	qualifier = find_qualifier((struct cod_span){ literal.end + 1, text.end });
	if (qualifier < 0 || cod_interval_read(literal.p + 1, length(literal) - 1,
				     qualifiers[qualifier].type, &interval) < 0) {
		bad_literal(t, "22007", "interval", all);
		return;
	}
	interval.is_negative ^= is_negative;
	put_interval(t, &interval, qualifier);
}

/* ---- functions ---- */

struct arguments {
	struct cod_span source[ARGUMENTS_MAX];
	struct out text[ARGUMENTS_MAX]; /* translated */
	size_t n;
};

/* Each in memory of its own, in the order in which they are written: so are their markers numbered. */
static void
translate_arguments(struct translation *t, struct cod_span text, struct arguments *a)
{
	struct out *outer = t->out;
	struct cod_span rest = cod_lex_trim(text);

	while (rest.p < rest.end && !t->state) {
		struct cod_span argument = take_argument(t, &rest);

		if (a->n == ARGUMENTS_MAX || length(argument) == 0) {
			fail(t, "42000", "arguments of a function are not well formed");
			break;
		}
		a->source[a->n] = argument;
		t->out = &a->text[a->n++];
		translate(t, argument);
		if (rest.p < rest.end && ++rest.p == rest.end)
			fail(t, "42000", "an argument is missing");
	}
	t->out = outer;
}

static void
put_all(struct translation *t, const struct arguments *a)
{
	for (size_t i = 0; i < a->n; i++) {
		if (i > 0)
			put_text(t, ", ");
		put(t, a->text[i].p, a->text[i].n);
	}
}

static void
put_template(struct translation *t, const char *template, const struct arguments *a)
{
	for (const char *p = template; *p; p++) {
		size_t i = (size_t)(p[1] - '1');

		if (*p == '%' && p[1] == '*') {
			put_all(t, a);
			p++;
		} else if (*p == '%' && p[1] >= '1' && p[1] <= '9' && i < a->n) {
			put(t, a->text[i].p, a->text[i].n);
			p++;
		} else {
			put(t, p, 1);
		}
	}
}

static void
put_call(struct translation *t, struct cod_span name, const struct arguments *a)
{
	put(t, name.p, length(name));
	put_text(t, "(");
	put_all(t, a);
	put_text(t, ")");
}

/* timestampadd(unit, …), timestampdiff(unit, …) */
static void
put_interval_function(
	struct translation *t, struct cod_span name, int is_diff, struct arguments *a)
{
	const char *template = a->n == 3 ? cod_interval_function(t->options->dialect,
						   a->source[0], is_diff)
					 : NULL;
	struct arguments two = { .text = { a->text[1], a->text[2] }, .n = 2 };

	if (!template)
		fail(t, "42000", "the server has nothing for {fn %.*s} of that unit",
			shown(name), name.p);
	else
		put_template(t, template, &two);
}

/* convert(value, SQL_type) */
static void
put_cast(struct translation *t, const struct arguments *a)
{
	const char *type =
		a->n == 2 ? cod_cast_type(t->options->dialect, a->source[1]) : NULL;

	if (!type) {
		fail(t, "42000",
			"the server has nothing for {fn convert()} to that type");
		return;
	}
	put_text(t, "CAST(");
	put(t, a->text[0].p, a->text[0].n);
	put_text(t, " AS ");
	put_text(t, type);
	put_text(t, ")");
}

static void
put_function(struct translation *t, struct cod_span name, struct arguments *a)
{
	const char *template = cod_function(t->options->dialect, name, a->n);
	int is_known = t->options->dialect != COD_DIALECT_OTHER &&
		       t->options->dialect != COD_DIALECT_TDS;

	if (is_known && cod_lex_is(name, "TIMESTAMPADD"))
		put_interval_function(t, name, 0, a);
	else if (is_known && cod_lex_is(name, "TIMESTAMPDIFF"))
		put_interval_function(t, name, 1, a);
	else if (is_known && cod_lex_is(name, "CONVERT"))
		put_cast(t, a);
	else if (template && *template)
		put_template(t, template, a);
	else if (template || !cod_is_function(name))
		put_call(t, name, a);
	else
		fail(t, "42000", "the server has nothing for {fn %.*s} of %zu arguments",
			shown(name), name.p, a->n);
}

static void
escape_function(struct translation *t, struct cod_span text)
{
	struct arguments a = { .n = 0 };
	struct cod_span name, inner;

	text = cod_lex_trim(text);
	name = cod_lex_word(&text);
	text = cod_lex_trim(text);
	if (length(name) == 0 || length(text) == 0 || *text.p != '(' ||
		find_closing(t, text, '(', ')', &inner) < 0 ||
		inner.end + 1 != text.end) {
		fail(t, "42000", "{fn} is not followed by a function's call");
		return;
	}
	translate_arguments(t, inner, &a);
	if (!t->state)
		put_function(t, name, &a);
	for (size_t i = 0; i < a.n; i++)
		free(a.text[i].p);
}

/* ---- calls ---- */

/* How a server calls; NULL: it has no such thing. */
static const struct {
	const char *procedure, *function, *value;
	int has_parentheses; /* of procedures */
} calls[COD_N_DIALECTS] = {
	[COD_DIALECT_OTHER] = { "CALL ", "SELECT ", "SELECT ", 1 },
	[COD_DIALECT_POSTGRESQL] = { "CALL ", "SELECT * FROM ", "SELECT ", 1 },
	[COD_DIALECT_MYSQL] = { "CALL ", "SELECT ", "SELECT ", 1 },
	[COD_DIALECT_SQLITE] = { NULL, "SELECT ", "SELECT ", 1 },
	[COD_DIALECT_TDS] = { "EXEC ", "SELECT ", "SELECT ", 0 },
};

/* The procedure's name, quotes and schema included. */
static struct cod_span
take_name(const struct translation *t, struct cod_span *text)
{
	struct cod_span name = { text->p, text->p };

	while (text->p < text->end && *text->p &&
		(cod_lex_is_word(*text->p) || strchr(".$#@\"`[", *text->p)))
		text->p = next(t, *text);
	name.end = text->p;
	*text = cod_lex_trim(*text);
	return name;
}

static const char *
call_of(const struct translation *t, struct cod_span name)
{
	const struct cod_escape_options *o = t->options;

	if (t->statement->returns_value)
		return calls[o->dialect].value;
	if (o->is_function && o->is_function(name.p, length(name), o->user))
		return calls[o->dialect].function;
	return calls[o->dialect].procedure;
}

static int
is_left_out(const struct translation *t, struct cod_span argument)
{
	const struct cod_escape_options *o = t->options;
	uint32_t i = t->n_markers + 1 + (uint32_t)t->statement->returns_value;

	return o->is_output && length(argument) == 1 && *argument.p == '?' &&
	       o->is_output(i, o->user);
}

static void
put_arguments(struct translation *t, struct cod_span text)
{
	const char *between = "";

	for (;; text.p++) {
		struct cod_span argument = take_argument(t, &text);

		if (is_left_out(t, argument)) {
			t->n_markers++;
			t->statement->n_left_out++;
		} else {
			put_text(t, between);
			translate(t, argument);
			between = ", ";
		}
		if (text.p == text.end || t->state)
			return;
	}
}

/* What only comes out makes it give columns. */
static void
put_function_call(struct translation *t, const char *verb, struct cod_span name,
	struct cod_span inner)
{
	struct out arguments = { .p = NULL }, *outer = t->out;

	t->statement->calls_function = 1;
	t->out = &arguments;
	put_arguments(t, inner);
	t->out = outer;
	put_text(t, t->statement->n_left_out > 0 ? calls[t->options->dialect].function
						 : verb);
	put(t, name.p, length(name));
	put_text(t, "(");
	put(t, arguments.p, arguments.n);
	put_text(t, ")");
	free(arguments.p);
}

static void
escape_call(struct translation *t, struct cod_span text)
{
	struct cod_span name, inner = { NULL, NULL };
	const char *verb;

	text = cod_lex_trim(text);
	name = take_name(t, &text);
	if (length(name) == 0 ||
		(length(text) > 0 &&
			(*text.p != '(' || find_closing(t, text, '(', ')', &inner) < 0 ||
				inner.end + 1 != text.end))) {
		fail(t, "42000", "{call} is not followed by a procedure's name");
		return;
	}
	t->statement->is_call = 1;
	verb = call_of(t, name);
	if (!verb) {
		fail(t, "42000", "the server has no procedures");
		return;
	}
	if (verb != calls[t->options->dialect].procedure) {
		put_function_call(t, verb, name, inner);
		return;
	}
	put_text(t, verb);
	put(t, name.p, length(name));
	if (!calls[t->options->dialect].has_parentheses) {
		put_text(t, " ");
		translate(t, inner);
		return;
	}
	put_text(t, "(");
	translate(t, inner);
	put_text(t, ")");
}

/* {?=call …} */
static void
escape_value(struct translation *t, struct cod_span text)
{
	struct cod_span word;

	text = cod_lex_trim(text);
	if (length(text) == 0 || *text.p != '=' || t->n_markers > 0) {
		fail(t, "42000", "{?} is not followed by = call");
		return;
	}
	text.p++;
	text = cod_lex_trim(text);
	word = cod_lex_word(&text);
	if (!cod_lex_is(word, "CALL")) {
		fail(t, "42000", "{?=} is not followed by call");
		return;
	}
	t->statement->returns_value = 1;
	escape_call(t, text);
}

/* ---- all of them ---- */

static const struct {
	const char *keyword;
	void (*escape)(struct translation *, struct cod_span);
} escapes[] = {
	{ "D", escape_date },
	{ "T", escape_time },
	{ "TS", escape_timestamp },
	{ "FN", escape_function },
	{ "CALL", escape_call },
	{ "OJ", translate },
	{ "ESCAPE", escape_character },
	{ "GUID", escape_guid },
	{ "INTERVAL", escape_interval },
};

/* What is within the braces. */
static void
escape(struct translation *t, struct cod_span text)
{
	struct cod_span word;

	text = cod_lex_trim(text);
	if (length(text) > 0 && *text.p == '?') {
		text.p++;
		escape_value(t, text);
		return;
	}
	word = cod_lex_word(&text);
	/* a name may go on with it, so that no quoted text begins there */
	if (length(text) > 0 && *text.p == '$')
		word.end = ++text.p;
	for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
		if (cod_lex_is(word, escapes[i].keyword)) {
			escapes[i].escape(t, text);
			return;
		}
	}
	fail(t, "42000", "unknown escape {%.*s}", shown(word), word.p);
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
	if (!cod_lex_is(word, "ESCAPE") || length(at) < 4 || at.p[0] != '\'' ||
		at.p[2] != '\'')
		return -1;
	at.p += 3;
	at = cod_lex_trim(at);
	if (length(at) == 0 || *at.p != '}')
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
keep_apart(struct translation *t, size_t at, struct cod_span rest)
{
	struct out *out = t->out;

	if (t->state || out->n == 0)
		return;
	if (rest.p < rest.end && would_join(out->p[out->n - 1], *rest.p))
		put_text(t, " ");
	if (at == 0 || at == out->n || !would_join(out->p[at - 1], out->p[at]))
		return;
	put_text(t, " ");
	if (t->state)
		return;
	memmove(out->p + at + 1, out->p + at, out->n - at - 1);
	out->p[at] = ' ';
}

/* Behind the closing brace. */
static const char *
translate_escape(struct translation *t, struct cod_span text)
{
	struct cod_span inner, rest = text;
	size_t at = t->out->n;

	if (find_end_of_character(text, &inner) < 0 &&
		find_closing(t, text, '{', '}', &inner) < 0) {
		fail(t, "42000", "{ without }");
		return text.end;
	}
	if (t->depth == COD_ESCAPE_DEPTH_MAX) {
		fail(t, "42000", "escapes are nested more than %d deep",
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

static void
translate(struct translation *t, struct cod_span text)
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
		behind = next(t, text);
		put(t, text.p, (size_t)(behind - text.p));
		/* the end of its line was a blank at the end of an argument or of an escape */
		if (behind == text.end && t->depth > 0 &&
			cod_lex_is_line_comment(t->options->dialect, text))
			put_text(t, "\n");
		text.p = behind;
	}
}

const char *
cod_escape(const struct cod_escape_options *options, const char *sql, size_t n,
	struct cod_statement *ret_statement)
{
	struct out out = { .p = NULL };
	struct translation t = {
		.options = options, .statement = ret_statement, .begin = sql, .out = &out
	};

	*ret_statement = (struct cod_statement){ .text = NULL };
	put(&t, "", 0);
	translate(&t, (struct cod_span){ sql, sql + n });
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
