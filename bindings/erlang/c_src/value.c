/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Convert values from their canonical form (docs/types.md) to Erlang's terms. A value that does not
 * have the form of its type, or has no form in Erlang (an infinite date), stays text.
 */
#include "cer.h"

#include <stdlib.h>
#include <string.h>

ERL_NIF_TERM
cer_binary(ErlNifEnv *env, const char *text, size_t len)
{
	ERL_NIF_TERM term;
	unsigned char *bytes = enif_make_new_binary(env, len, &term);

	memcpy(bytes, text, len);
	return term;
}

ERL_NIF_TERM
cer_binary_of(ErlNifEnv *env, const char *text)
{
	return cer_binary(env, text, strlen(text));
}

ERL_NIF_TERM
cer_type_atom(int type)
{
	int is_known = type >= 0 && type <= CENOTE_TYPE_OTHER;

	return cer_atom.types[is_known ? type : CENOTE_TYPE_OTHER];
}

/* ---------------------------------------------------------------------- decoders ----- */

static int
decode_bytes(ErlNifEnv *env, const char *text, size_t len, ERL_NIF_TERM *ret)
{
	*ret = cer_binary(env, text, len);
	return 1;
}

static int
decode_bool(ErlNifEnv *env, const char *text, size_t len, ERL_NIF_TERM *ret)
{
	(void)env;
	if (len != 1 || (*text != '0' && *text != '1'))
		return 0;
	*ret = *text == '1' ? cer_atom.true_ : cer_atom.false_;
	return 1;
}

/* Read digits up to `end` or another character. Returns the number of digits. */
static size_t
digits(const char *p, const char *end, uint64_t *ret)
{
	uint64_t value = 0;
	size_t n = 0;

	for (; p + n < end && p[n] >= '0' && p[n] <= '9'; n++)
		value = value * 10 + (uint64_t)(p[n] - '0');
	*ret = value;
	return n;
}

/* Every number of 19 digits fits into 64 bits, but not every number of 20. */
static int
has_overflown(const char *p, size_t n)
{
	return n > 20 || (n == 20 && memcmp(p, "18446744073709551615", 20) > 0);
}

static int
decode_integer(ErlNifEnv *env, const char *text, size_t len, ERL_NIF_TERM *ret)
{
	int is_negative = len > 0 && *text == '-';
	size_t sign = is_negative || (len > 0 && *text == '+'), n;
	uint64_t value;

	n = digits(text + sign, text + len, &value);
	if (n == 0 || n + sign != len || has_overflown(text + sign, n))
		return 0;
	if (is_negative && value > (uint64_t)INT64_MAX + 1)
		return 0;
	*ret = is_negative ? enif_make_int64(env, (int64_t)(0 - value))
			   : enif_make_uint64(env, value);
	return 1;
}

static int
decode_special(const char *text, ERL_NIF_TERM *ret)
{
	if (strcmp(text, "NaN") == 0)
		*ret = cer_atom.nan;
	else if (strcmp(text, "Infinity") == 0)
		*ret = cer_atom.infinity;
	else if (strcmp(text, "-Infinity") == 0)
		*ret = cer_atom.minus_infinity;
	else
		return 0;
	return 1;
}

static int
decode_double(ErlNifEnv *env, const char *text, size_t len, ERL_NIF_TERM *ret)
{
	char *end;
	double value;

	/* strtod() accepts more forms than SQL. */
	if (strspn(text, "+-.0123456789eE") != len)
		return decode_special(text, ret);
	value = strtod(text, &end);
	if (len == 0 || end != text + len || value - value != 0)
		return 0;
	*ret = enif_make_double(env, value);
	return 1;
}

/* Read two or more digits at *p, and the separator after them if there must be one. */
static int
field(const char **p, const char *end, size_t n_digits, char separator, int64_t *ret)
{
	uint64_t value;
	size_t n = digits(*p, end, &value);

	if (n < n_digits || n > 6)
		return 0;
	*p += n;
	if (separator && (*p == end || *(*p)++ != separator))
		return 0;
	*ret = (int64_t)value;
	return 1;
}

struct calendar {
	int64_t year, month, day;
	int64_t hour, minute, second;
	double fraction;
	int has_fraction;
	int64_t offset_s;
	int has_offset;
};

static int
parse_date(const char **p, const char *end, struct calendar *t)
{
	int64_t sign = 1;

	if (*p < end && **p == '-') {
		sign = -1;
		(*p)++;
	}
	if (!field(p, end, 4, '-', &t->year) || !field(p, end, 2, '-', &t->month) ||
		!field(p, end, 2, '\0', &t->day))
		return 0;
	t->year *= sign;
	/* MySQL's zero dates are not dates. */
	return t->month >= 1 && t->month <= 12 && t->day >= 1 && t->day <= 31;
}

static void
parse_fraction(const char **p, const char *end, struct calendar *t)
{
	static const double scale[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9 };
	uint64_t value;
	size_t n;

	if (*p == end || **p != '.')
		return;
	n = digits(*p + 1, end, &value);
	if (n < 1 || n > 9)
		return;
	*p += n + 1;
	t->fraction = (double)value / scale[n];
	t->has_fraction = 1;
}

static int
parse_offset(const char **p, const char *end, struct calendar *t)
{
	int64_t hours, minutes, seconds = 0, sign;

	if (*p == end)
		return 1;
	if (**p != '+' && **p != '-')
		return 0;
	sign = *(*p)++ == '-' ? -1 : 1;
	if (!field(p, end, 2, ':', &hours) || !field(p, end, 2, '\0', &minutes))
		return 0;
	if (*p < end && *(*p)++ == ':' && !field(p, end, 2, '\0', &seconds))
		return 0;
	t->offset_s = sign * (hours * 3600 + minutes * 60 + seconds);
	t->has_offset = 1;
	return *p == end;
}

static int
parse_clock(const char **p, const char *end, struct calendar *t)
{
	if (!field(p, end, 2, ':', &t->hour) || !field(p, end, 2, ':', &t->minute) ||
		!field(p, end, 2, '\0', &t->second))
		return 0;
	parse_fraction(p, end, t);
	return parse_offset(p, end, t);
}

static ERL_NIF_TERM
date_term(ErlNifEnv *env, const struct calendar *t)
{
	return enif_make_tuple3(env, enif_make_int64(env, t->year),
		enif_make_int64(env, t->month), enif_make_int64(env, t->day));
}

static ERL_NIF_TERM
clock_term(ErlNifEnv *env, const struct calendar *t)
{
	ERL_NIF_TERM second =
		t->has_fraction ? enif_make_double(env, (double)t->second + t->fraction)
				: enif_make_int64(env, t->second);

	return enif_make_tuple3(env, enif_make_int64(env, t->hour),
		enif_make_int64(env, t->minute), second);
}

static int
decode_date(ErlNifEnv *env, const char *text, size_t len, ERL_NIF_TERM *ret)
{
	const char *p = text;
	struct calendar t = { 0 };

	if (!parse_date(&p, text + len, &t) || p != text + len)
		return 0;
	*ret = date_term(env, &t);
	return 1;
}

/* MySQL's times are durations. Durations longer than a day or below zero stay text. */
static int
decode_time(ErlNifEnv *env, const char *text, size_t len, ERL_NIF_TERM *ret)
{
	const char *p = text;
	struct calendar t = { 0 };

	if (!parse_clock(&p, text + len, &t) || t.hour > 24)
		return 0;
	*ret = clock_term(env, &t);
	if (t.has_offset)
		*ret = enif_make_tuple2(env, *ret, enif_make_int64(env, t.offset_s));
	return 1;
}

/* Convert a date to days since 0000-03-01, and back. */
static int64_t
days_of(const struct calendar *t)
{
	int64_t y = t->year - (t->month <= 2), era = (y >= 0 ? y : y - 399) / 400;
	int64_t year_of_era = y - era * 400, month = (t->month + 9) % 12;

	return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 +
	       (153 * month + 2) / 5 + t->day - 1;
}

static void
set_days(struct calendar *t, int64_t days)
{
	int64_t era = (days >= 0 ? days : days - 146096) / 146097;
	int64_t day = days - era * 146097;
	int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	int64_t month;

	day -= 365 * year + year / 4 - year / 100;
	month = (5 * day + 2) / 153;
	t->day = day - (153 * month + 2) / 5 + 1;
	t->month = month < 10 ? month + 3 : month - 9;
	t->year = year + era * 400 + (t->month <= 2);
}

static void
make_utc(struct calendar *t)
{
	int64_t s = t->hour * 3600 + t->minute * 60 + t->second - t->offset_s;
	int64_t days = (s >= 0 ? s : s - 86399) / 86400;

	s -= days * 86400;
	set_days(t, days_of(t) + days);
	t->hour = s / 3600;
	t->minute = s / 60 % 60;
	t->second = s % 60;
}

static int
decode_timestamp(ErlNifEnv *env, const char *text, size_t len, ERL_NIF_TERM *ret)
{
	const char *p = text, *end = text + len;
	struct calendar t = { 0 };

	if (!parse_date(&p, end, &t) || p == end || *p++ != ' ' ||
		!parse_clock(&p, end, &t))
		return 0;
	if (t.has_offset)
		make_utc(&t);
	*ret = enif_make_tuple2(env, date_term(env, &t), clock_term(env, &t));
	return 1;
}

cer_decode *
cer_decoder(int type)
{
	static cer_decode *const decoders[] = {
		[CENOTE_TYPE_BOOL] = decode_bool,
		[CENOTE_TYPE_INT64] = decode_integer,
		[CENOTE_TYPE_UINT64] = decode_integer,
		[CENOTE_TYPE_DOUBLE] = decode_double,
		[CENOTE_TYPE_DATE] = decode_date,
		[CENOTE_TYPE_TIME] = decode_time,
		[CENOTE_TYPE_TIMESTAMP] = decode_timestamp,
	};
	size_t n = sizeof(decoders) / sizeof(decoders[0]);

	if (type < 0 || (size_t)type >= n || !decoders[type])
		return decode_bytes;
	return decoders[type];
}

/* ----------------------------------------------------------------------- columns ----- */

/* Make a #column{} of include/cenote.hrl. */
static ERL_NIF_TERM
column_term(ErlNifEnv *env, const cenote_column *column)
{
	static const uint32_t texts[] = { CENOTE_COLUMN_TYPE_NAME, CENOTE_COLUMN_TABLE };
	static const uint32_t numbers[] = { CENOTE_COLUMN_NATIVE_TYPE,
		CENOTE_COLUMN_LENGTH, CENOTE_COLUMN_PRECISION, CENOTE_COLUMN_SCALE,
		CENOTE_COLUMN_NULLABLE };
	ERL_NIF_TERM fields[10];
	size_t n = 0;

	fields[n++] = enif_make_atom(env, "column");
	fields[n++] = cer_binary_of(env, cenote_column_text(column, CENOTE_COLUMN_NAME));
	fields[n++] = cer_type_atom((int)cenote_column_int(column, CENOTE_COLUMN_TYPE));
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		fields[n++] = cer_binary_of(env, cenote_column_text(column, texts[i]));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		fields[n++] = enif_make_int64(env, cenote_column_int(column, numbers[i]));
	return enif_make_tuple_from_array(env, fields, (unsigned)n);
}

ERL_NIF_TERM
cer_columns(ErlNifEnv *env, uint32_t n,
	const cenote_column *(*get)(const void *of, uint32_t col), const void *of)
{
	ERL_NIF_TERM list = enif_make_list(env, 0);

	while (n-- > 0)
		list = enif_make_list_cell(env, column_term(env, get(of, n)), list);
	return list;
}
