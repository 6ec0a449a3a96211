/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Escapes that are values: dates, times, timestamps, GUIDs, intervals, and the escape character of
 * LIKE. escape.c calls it. It has no state.
 */
#include "escape_internal.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "guid.h"
#include "interval.h"
#include "moment.h"

/* ---- literals ---- */

static void
bad_literal(struct cod_translation *t, const char *state, const char *what,
	struct cod_span text)
{
	text = cod_span_trim(text, t->rules);
	cod_escape_fail(
		t, state, "%.*s is not a valid %s", cod_span_shown(text), text.p, what);
}

/* Read a literal that is all of `text`. False: it is not one. */
static bool
read_literal(struct cod_translation *t, struct cod_span text, struct cod_span *ret_inner)
{
	struct cnc_sql x = cod_span_read(text, cod_escape_literal_rules(t));
	struct cnc_sql_token token = cnc_sql_next(&x);

	return cod_escape_literal(&token, ret_inner) &&
	       cnc_sql_next(&x).kind == CNC_SQL_END;
}

/* Write a literal. PostgreSQL and MySQL need the type before it. SQLite has no such types and
 * compares texts. */
static void
put_literal(struct cod_translation *t, const char *type, const char *text)
{
	static const unsigned char is_typed[COD_N_DIALECTS] = {
		[COD_DIALECT_OTHER] = 1,
		[COD_DIALECT_POSTGRESQL] = 1,
		[COD_DIALECT_MYSQL] = 1,
	};

	if (is_typed[t->options->dialect])
		cod_escape_put_text(t, type);
	cod_escape_put_text(t, "'");
	cod_escape_put_text(t, text);
	cod_escape_put_text(t, "'");
}

/* Read a literal. has_date: it must have a date, else it must not; may_have_time: it may have a
 * time. */
static bool
read_moment(struct cod_translation *t, struct cod_span text, const char *what,
	bool has_date, bool may_have_time, struct cod_moment *ret_moment)
{
	struct cod_span inner;

	if (read_literal(t, text, &inner) &&
		cod_moment_read(inner.p, cod_span_length(inner), ret_moment) == 0 &&
		(ret_moment->has_date != 0) == has_date &&
		(may_have_time || !ret_moment->has_time))
		return true;
	bad_literal(t, "22007", what, text);
	return false;
}

void
cod_escape_date(struct cod_translation *t, struct cod_span text)
{
	char shown_text[COD_MOMENT_TEXT_MAX];
	struct cod_moment m;

	if (!read_moment(t, text, "date", true, false, &m))
		return;
	(void)cod_date_text(&m.at.date, shown_text);
	put_literal(t, "DATE ", shown_text);
}

void
cod_escape_time(struct cod_translation *t, struct cod_span text)
{
	char shown_text[COD_MOMENT_TEXT_MAX];
	struct cod_moment m;

	if (!read_moment(t, text, "time", false, true, &m))
		return;
	(void)cod_time_text(&m.at.time, shown_text);
	put_literal(t, "TIME ", shown_text);
}

void
cod_escape_timestamp(struct cod_translation *t, struct cod_span text)
{
	char shown_text[COD_MOMENT_TEXT_MAX];
	struct cod_moment m;

	if (!read_moment(t, text, "timestamp", true, true, &m))
		return;
	(void)cod_timestamp_text(&m.at, shown_text);
	put_literal(t, "TIMESTAMP ", shown_text);
}

void
cod_escape_guid(struct cod_translation *t, struct cod_span text)
{
	char shown_text[COD_GUID_TEXT + 1];
	struct cod_span inner;
	SQLGUID guid;

	if (!read_literal(t, text, &inner) ||
		cod_guid_read(inner.p, cod_span_length(inner), &guid) < 0) {
		bad_literal(t, "22018", "GUID", text);
		return;
	}
	cod_guid_text(&guid, shown_text);
	if (t->options->dialect == COD_DIALECT_POSTGRESQL)
		cod_escape_put_text(t, "uuid ");
	cod_escape_put_text(t, "'");
	cod_escape_put_text(t, shown_text);
	cod_escape_put_text(t, "'");
}

/* Write the ESCAPE clause so that the server takes the character itself. */
void
cod_escape_character(struct cod_translation *t, struct cod_span text)
{
	struct cod_span inner;

	if (!read_literal(t, text, &inner) || cod_span_length(inner) == 0) {
		bad_literal(t, "42000", "escape character", text);
		return;
	}
	cod_escape_put_text(t, "ESCAPE '");
	if (*inner.p == '\\' && (t->rules & CNC_SQL_BACKSLASH) != 0)
		cod_escape_put_text(t, "\\");
	cod_escape_put_span(t, inner);
	cod_escape_put_text(t, "'");
}

/* ---- intervals ---- */

static const struct {
	const char *first, *last; /* first and last field of the literal's qualifier */
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

/* Take a field. It may have a precision in parentheses, which the server does not need. */
static struct cod_span
take_field(struct cnc_sql *x)
{
	struct cnc_sql_token token = cnc_sql_next(x);

	if (token.kind != CNC_SQL_END)
		cnc_sql_skip_parens(x);
	return cod_span_of(&token);
}

/* The index of the qualifier after the literal; -1: there is no such qualifier. */
static int
find_qualifier(struct cnc_sql *x)
{
	struct cod_span first = take_field(x), last = { first.end, first.end };

	if (cnc_sql_take(x, "to"))
		last = take_field(x);
	if (cnc_sql_next(x).kind != CNC_SQL_END)
		return -1;
	for (size_t i = 0; i < sizeof(qualifiers) / sizeof(qualifiers[0]); i++) {
		if (cod_span_is(first, qualifiers[i].first) &&
			cod_span_is(last, qualifiers[i].last))
			return (int)i;
	}
	return -1;
}

static void
put_interval(
	struct cod_translation *t, const struct cod_interval *interval, int qualifier)
{
	char text[COD_INTERVAL_TEXT_MAX];

	if (t->options->dialect == COD_DIALECT_SQLITE) {
		cod_escape_fail(t, "42000", "the server has no intervals");
		return;
	}
	if (t->options->dialect == COD_DIALECT_POSTGRESQL) {
		cod_escape_put_text(t, "INTERVAL '");
		cod_escape_put(t, text, cod_interval_units(interval, text));
		cod_escape_put_text(t, "'");
		return;
	}
	cod_escape_put_text(t, "INTERVAL '");
	cod_escape_put(
		t, text, cod_interval_text(interval, qualifiers[qualifier].type, text));
	cod_escape_put_text(t, "' ");
	cod_escape_put_text(t, qualifiers[qualifier].mysql);
}

/* {INTERVAL [+|-] '...' field [TO field]} */
void
cod_escape_interval(struct cod_translation *t, struct cod_span text)
{
	struct cnc_sql x = cod_span_read(text, cod_escape_literal_rules(t));
	bool is_negative = cnc_sql_take_char(&x, '-');
	struct cnc_sql_token token;
	struct cod_span literal;
	struct cod_interval interval;
	int qualifier;

	if (!is_negative)
		(void)cnc_sql_take_char(&x, '+');
	token = cnc_sql_next(&x);
	if (!cod_escape_literal(&token, &literal)) {
		bad_literal(t, "22007", "interval", text);
		return;
	}
	qualifier = find_qualifier(&x);
	if (qualifier < 0 || cod_interval_read(literal.p, cod_span_length(literal),
				     qualifiers[qualifier].type, &interval) < 0) {
		bad_literal(t, "22007", "interval", text);
		return;
	}
	interval.is_negative ^= is_negative;
	put_interval(t, &interval, qualifier);
}
