/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statements with parameters. ct-library cannot bind Unicode, datetime2, or a NULL that fits
 * everywhere. So the values go as literals, with their types, to the procedure that the protocol's
 * own parameters go to. The server compiles such a statement once for all its values.
 *
 *     exec sp_executesql N'select @P1', N'@P1 int', 5
 *
 * A NULL is written into the statement in place of its parameter, so it has no type. A call that
 * gives something back does not go through that procedure. It is made directly, and its output
 * values are selected after it:
 *
 *     declare @P1 int = 5, @P2 nvarchar(4000) = NULL exec p @P1, @P2 output select @P2 as [2]
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/decimal.h"
#include "core/dt.h"

#include "core/sql.h"
#include "tds.h"

/* A text of at most this many UTF-16 units, or bytes, is not a long one. */
#define SHORT_UNITS 4000u
#define SHORT_BYTES 8000u
#define DIGITS_MAX  38u

struct writer {
	struct cnd_session *s;
	struct cnc_buf *b;
	int r; /* the first failure */
};

static void
add(struct writer *w, const char *text, size_t n)
{
	if (w->r == CENOTE_OK)
		w->r = cnc_buf_append(w->b, text, n);
}

static void
add_text(struct writer *w, const char *text)
{
	add(w, text, strlen(text));
}

static void
add_number(struct writer *w, uint64_t number)
{
	char text[CNC_VALUE_TEXT_MAX];

	add(w, text, cnc_uint64_text(number, text));
}

int
cnd_tds_quote(struct cnc_buf *b, const char *text, size_t len)
{
	const char *end = text + len, *quote;
	struct writer w = { NULL, b, CENOTE_OK };

	add_text(&w, "N'");
	while (text < end && (quote = memchr(text, '\'', (size_t)(end - text)))) {
		add(&w, text, (size_t)(quote + 1 - text));
		add(&w, "'", 1);
		text = quote + 1;
	}
	add(&w, text, (size_t)(end - text));
	add_text(&w, "'");
	return w.r;
}

static void
add_quoted(struct writer *w, const char *text, size_t len)
{
	if (w->r == CENOTE_OK)
		w->r = cnd_tds_quote(w->b, text, len);
}

/* ---- types ---- */

/* Count the UTF-16 units of a UTF-8 text. */
static size_t
count_units(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		uint8_t c = (uint8_t)text[i];

		n += (c & 0xc0u) != 0x80u;
		n += c >= 0xf0u;
	}
	return n;
}

struct decimal_size {
	unsigned precision;
	unsigned scale;
};

/* Returns 0, or -1 if the number has an exponent or more digits than this server's decimals, which
 * have 38 at most. */
static int
size_of_decimal(const char *text, size_t len, struct decimal_size *ret_size)
{
	const char *point = memchr(text, '.', len);
	unsigned digits = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == 'e' || text[i] == 'E')
			return -1;
		digits += text[i] >= '0' && text[i] <= '9';
	}
	*ret_size = (struct decimal_size){ digits > 0 ? digits : 1,
		point ? (unsigned)(text + len - point - 1) : 0 };
	return digits <= DIGITS_MAX ? 0 : -1;
}

static const char *
type_of_integer(const struct cnc_value *v)
{
	if (v->type == CENOTE_TYPE_UINT64)
		return v->as.u64 > INT64_MAX   ? "decimal(20, 0)"
		       : v->as.u64 > INT32_MAX ? "bigint"
					       : "int";
	return v->as.i64 > INT32_MAX || v->as.i64 < INT32_MIN ? "bigint" : "int";
}

static void
add_decimal_type(struct writer *w, const struct cnc_value *v)
{
	struct decimal_size size = { 38, 10 };

	/* an exponent makes a literal a float */
	if (!v->is_null && size_of_decimal(v->bytes, v->len, &size) < 0) {
		add_text(w, "float");
		return;
	}
	add_text(w, "decimal(");
	add_number(w, size.precision);
	add_text(w, ", ");
	add_number(w, size.scale);
	add_text(w, ")");
}

static int
is_bytes(const struct cnc_value *v)
{
	return v->is_native ? v->format == CENOTE_FORMAT_BINARY
			    : v->type == CENOTE_TYPE_BYTES;
}

static void
add_type(struct writer *w, const struct cnc_value *v)
{
	int has_offset = v->type == CENOTE_TYPE_TIMESTAMP && !v->is_null &&
			 v->as.timestamp.time.utc_offset_s != CENOTE_NO_OFFSET;

	if (is_bytes(v)) {
		add_text(w, v->len > SHORT_BYTES || v->is_null ? "varbinary(max)"
							       : "varbinary(8000)");
		return;
	}
	switch (v->is_native ? CENOTE_TYPE_TEXT : v->type) {
	case CENOTE_TYPE_BOOL:
		add_text(w, "bit");
		break;
	case CENOTE_TYPE_INT64:
	case CENOTE_TYPE_UINT64:
		add_text(w, v->is_null ? "bigint" : type_of_integer(v));
		break;
	case CENOTE_TYPE_DOUBLE:
		add_text(w, "float");
		break;
	case CENOTE_TYPE_DECIMAL:
		add_decimal_type(w, v);
		break;
	case CENOTE_TYPE_DATE:
		add_text(w, "date");
		break;
	case CENOTE_TYPE_TIME:
		add_text(w, "time(7)");
		break;
	case CENOTE_TYPE_TIMESTAMP:
		add_text(w, has_offset ? "datetimeoffset(7)" : "datetime2(7)");
		break;
	case CENOTE_TYPE_UUID:
		add_text(w, "uniqueidentifier");
		break;
	default:
		add_text(w, !v->is_null && count_units(v->bytes, v->len) > SHORT_UNITS
				    ? "nvarchar(max)"
				    : "nvarchar(4000)");
		break;
	}
}

/* ---- literals ---- */

static void
refuse(struct writer *w, const char *sqlstate, const char *why)
{
	if (w->r == CENOTE_OK)
		w->r = cnd_refuse(w->s->diag, sqlstate, NULL, "%s", why);
}

static void
add_bytes(struct writer *w, const uint8_t *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	uint8_t *room = NULL;

	add_text(w, "0x");
	if (w->r == CENOTE_OK)
		w->r = cnc_buf_reserve(w->b, 2 * n, &room);
	if (w->r < 0 || !room)
		return;
	for (size_t i = 0; i < n; i++) {
		room[2 * i] = (uint8_t)digits[bytes[i] >> 4];
		room[2 * i + 1] = (uint8_t)digits[bytes[i] & 15];
	}
	cnc_buf_commit(w->b, 2 * n);
}

static void
add_string(struct writer *w, const struct cnc_value *v)
{
	if (memchr(v->bytes, 0, v->len))
		refuse(w, "22021", "a text for this server cannot hold a zero byte");
	else
		add_quoted(w, v->bytes, v->len);
}

static void
add_double(struct writer *w, double v)
{
	char text[CNC_VALUE_TEXT_MAX];

	if (!isfinite(v)) {
		refuse(w, CNC_SQLSTATE(OUT_OF_RANGE),
			"this server has neither infinities nor NaN");
		return;
	}
	(void)snprintf(text, sizeof(text), "%.17e", v);
	add_text(w, text);
}

/* Whether the server has such a date and time: it has no year 0 or earlier, no 60th second, and no
 * hour 24. */
static int
is_served(const cenote_date *d, const cenote_time *t)
{
	return (!d || (d->year >= 1 && d->year <= 9999)) &&
	       (!t || (t->second < 60 && t->hour < 24));
}

static void
add_dt(struct writer *w, const struct cnc_value *v)
{
	const cenote_date *d = v->type == CENOTE_TYPE_DATE        ? &v->as.date
			       : v->type == CENOTE_TYPE_TIMESTAMP ? &v->as.timestamp.date
								  : NULL;
	const cenote_time *t = v->type == CENOTE_TYPE_TIME        ? &v->as.time
			       : v->type == CENOTE_TYPE_TIMESTAMP ? &v->as.timestamp.time
								  : NULL;
	struct cnc_value rounded = *v;
	char text[CNC_VALUE_TEXT_MAX];

	if (!is_served(d, t) ||
		(v->type == CENOTE_TYPE_TIME && t->utc_offset_s != CENOTE_NO_OFFSET)) {
		refuse(w, CNC_SQLSTATE(BAD_DATETIME),
			"this server has years 1 to 9999, hours to 23, seconds to 59, "
			"and "
			"no time with an offset");
		return;
	}
	/* cut off what the server could not hold, so that it reads the rest */
	if (v->type == CENOTE_TYPE_TIME)
		rounded.as.time.nanosecond -= rounded.as.time.nanosecond % 100;
	else if (v->type == CENOTE_TYPE_TIMESTAMP)
		rounded.as.timestamp.time.nanosecond -=
			rounded.as.timestamp.time.nanosecond % 100;
	add_quoted(w, text, cnc_value_text(&rounded, text));
}

static void
add_literal(struct writer *w, const struct cnc_value *v)
{
	char text[CNC_VALUE_TEXT_MAX];

	if (v->is_null) {
		add_text(w, "NULL");
		return;
	}
	if (is_bytes(v)) {
		add_bytes(w, (const uint8_t *)v->bytes, v->len);
		return;
	}
	switch (v->is_native ? CENOTE_TYPE_TEXT : v->type) {
	case CENOTE_TYPE_BOOL:
	case CENOTE_TYPE_INT64:
	case CENOTE_TYPE_UINT64:
		add(w, text, cnc_value_text(v, text));
		break;
	case CENOTE_TYPE_DOUBLE:
		add_double(w, v->as.f64);
		break;
	case CENOTE_TYPE_DECIMAL:
		add(w, v->bytes, v->len);
		break;
	case CENOTE_TYPE_DATE:
	case CENOTE_TYPE_TIME:
	case CENOTE_TYPE_TIMESTAMP:
		add_dt(w, v);
		break;
	default:
		add_string(w, v);
		break;
	}
}

/* ---- statements ---- */

static void
add_name(struct writer *w, uint32_t i)
{
	add_text(w, "@P");
	add_number(w, (uint64_t)i + 1);
}

/* Write the statement with a name for each placeholder. A NULL is written as NULL, unless
 * `keeps_null`. */
static void
add_statement(struct writer *w, const char *sql, size_t len,
	const struct cnc_value *params, int keeps_null)
{
	struct cnc_sql x = cnc_sql_begin(sql, len, CNC_SQL_TDS);
	const char *from = sql;
	struct cnc_sql_token t;
	uint32_t i = 0;

	for (;;) {
		t = cnc_sql_next(&x);
		if (t.kind == CNC_SQL_END || t.kind == CNC_SQL_BAD)
			break;
		if (t.kind != CNC_SQL_PLACEHOLDER)
			continue;
		add(w, from, (size_t)(t.p - from));
		from = t.p + t.n;
		if (!params || (params[i].is_null && !keeps_null))
			add_text(w, "NULL");
		else
			add_name(w, i);
		i++;
	}
	add(w, from, (size_t)(sql + len - from));
}

int
cnd_tds_unbound(struct cnc_buf *b, const char *sql, size_t len)
{
	struct writer w = { NULL, b, CENOTE_OK };

	add_statement(&w, sql, len, NULL, 0);
	return w.r;
}

static uint32_t
count_values(const struct cnc_value *params, uint32_t n)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < n; i++)
		count += !params[i].is_null;
	return count;
}

/* exec sp_executesql N'…', N'@P1 int, …', 5, … */
static void
add_execution(struct writer *w, const char *sql, size_t len,
	const struct cnc_value *params, uint32_t n)
{
	struct cnc_buf text;
	struct writer inner = { w->s, &text, CENOTE_OK };
	const char *before = "N'";

	cnc_buf_init(&text, w->s->mem, CND_TDS_SQL_MAX);
	add_statement(&inner, sql, len, params, 0);
	if (w->r == CENOTE_OK)
		w->r = inner.r;
	add_text(w, "exec sp_executesql ");
	add_quoted(w, (const char *)cnc_buf_head(&text), cnc_buf_len(&text));
	cnc_buf_finish(&text);
	add_text(w, ", ");
	for (uint32_t i = 0; i < n; i++) {
		if (params[i].is_null)
			continue;
		add_text(w, before);
		add_name(w, i);
		add_text(w, " ");
		add_type(w, &params[i]);
		before = ", ";
	}
	add_text(w, "'");
	for (uint32_t i = 0; i < n; i++) {
		if (params[i].is_null)
			continue;
		add_text(w, ", ");
		add_literal(w, &params[i]);
	}
}

/* ---- calls ---- */

/* Which parameters a call gives back: those before OUTPUT, OUT, or '='. */
static void
find_outputs(const char *sql, size_t len, uint8_t *is_output, uint32_t n)
{
	struct cnc_sql x = cnc_sql_begin(sql, len, CNC_SQL_TDS);
	struct cnc_sql_token t;
	uint32_t i = 0;
	int was_parameter = 0;

	do {
		t = cnc_sql_next(&x);
		if (was_parameter && i <= n)
			is_output[i - 1] = cnc_sql_is(&t, "output") ||
					   cnc_sql_is(&t, "out") ||
					   cnc_sql_is_char(&t, '=');
		was_parameter = t.kind == CNC_SQL_PLACEHOLDER;
		i += (uint32_t)was_parameter;
	} while (t.kind != CNC_SQL_END && t.kind != CNC_SQL_BAD);
}

static void
add_call(struct writer *w, const char *sql, size_t len, const struct cnc_value *params,
	uint32_t n)
{
	uint8_t *is_output = cnc_arena_alloc(&w->s->arena, n + 1u);
	const char *before = "declare ";

	if (!is_output) {
		w->r = CENOTE_ERR_NOMEM;
		return;
	}
	find_outputs(sql, len, is_output, n);
	for (uint32_t i = 0; i < n; i++) {
		add_text(w, before);
		add_name(w, i);
		add_text(w, " ");
		add_type(w, &params[i]);
		add_text(w, " = ");
		add_literal(w, &params[i]);
		before = ", ";
	}
	add_text(w, " ");
	add_statement(w, sql, len, params, 1);
	before = " select ";
	for (uint32_t i = 0; i < n; i++) {
		if (!is_output[i])
			continue;
		add_text(w, before);
		add_name(w, i);
		add_text(w, " as [");
		add_number(w, (uint64_t)i + 1);
		add_text(w, "]");
		before = ", ";
	}
}

int
cnd_tds_bound(struct cnd_session *s, struct cnc_buf *b, const char *sql, size_t len,
	const struct cnd_tds_scan *scan, const struct cnc_value *params, uint32_t n)
{
	struct writer w = { s, b, CENOTE_OK };

	if (scan->n_params != n)
		return cnd_refuse(s->diag, CNC_SQLSTATE(WRONG_PARAM_COUNT), NULL,
			"the statement takes %u parameters, %u were given",
			(unsigned)scan->n_params, (unsigned)n);
	if (n > 0 && s->is_sybase)
		return cnd_refuse(s->diag, CNC_SQLSTATE(UNSUPPORTED), NULL,
			"parameters are written for SQL Server; this is a Sybase");
	if (n > 0 && scan->notes & CND_TDS_NOTE_OUTPUT)
		add_call(&w, sql, len, params, n);
	else if (count_values(params, n) > 0)
		add_execution(&w, sql, len, params, n);
	else
		add_statement(&w, sql, len, params, 0);
	return w.r == CENOTE_ERR_LIMIT
		       ? cnd_refuse(s->diag, CNC_SQLSTATE(LIMIT), NULL,
				 "the statement and its values are longer "
				 "than 1 GB")
		       : w.r;
}
