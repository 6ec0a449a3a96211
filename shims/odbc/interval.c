/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Intervals as text, as number and as a structure. convert_get.c, convert_put.c and the escapes
 * call it. It has no state.
 */
#include "interval.h"

#include <stdio.h>
#include <string.h>

#define COUNT(a)   (sizeof(a) / sizeof((a)[0]))
/* Sums of amounts up to here cannot overflow. */
#define AMOUNT_MAX ((uint64_t)1 << 40)

enum field {
	YEAR,
	MONTH,
	DAY,
	HOUR,
	MINUTE,
	SECOND
};

static const struct {
	uint64_t unit; /* in months or seconds */
	/* the field must be less than this if another field precedes it */
	unsigned limit;
	char before; /* character between it and the previous field */
	const char *word; /* the server's word for the unit begins with it */
	const char *unit_name;
} fields[] = {
	[YEAR] = { 12, 0, 0, "year", "years" },
	[MONTH] = { 1, 12, '-', "mon", "months" },
	[DAY] = { 86400, 0, 0, "day", "days" },
	[HOUR] = { 3600, 24, ' ', "hour", "hours" },
	[MINUTE] = { 60, 60, ':', "min", "minutes" },
	[SECOND] = { 1, 60, ':', "sec", "seconds" },
};

static const struct type {
	enum field first, last;
} types[] = {
	[SQL_INTERVAL_YEAR - SQL_INTERVAL_YEAR] = { YEAR, YEAR },
	[SQL_INTERVAL_MONTH - SQL_INTERVAL_YEAR] = { MONTH, MONTH },
	[SQL_INTERVAL_DAY - SQL_INTERVAL_YEAR] = { DAY, DAY },
	[SQL_INTERVAL_HOUR - SQL_INTERVAL_YEAR] = { HOUR, HOUR },
	[SQL_INTERVAL_MINUTE - SQL_INTERVAL_YEAR] = { MINUTE, MINUTE },
	[SQL_INTERVAL_SECOND - SQL_INTERVAL_YEAR] = { SECOND, SECOND },
	[SQL_INTERVAL_YEAR_TO_MONTH - SQL_INTERVAL_YEAR] = { YEAR, MONTH },
	[SQL_INTERVAL_DAY_TO_HOUR - SQL_INTERVAL_YEAR] = { DAY, HOUR },
	[SQL_INTERVAL_DAY_TO_MINUTE - SQL_INTERVAL_YEAR] = { DAY, MINUTE },
	[SQL_INTERVAL_DAY_TO_SECOND - SQL_INTERVAL_YEAR] = { DAY, SECOND },
	[SQL_INTERVAL_HOUR_TO_MINUTE - SQL_INTERVAL_YEAR] = { HOUR, MINUTE },
	[SQL_INTERVAL_HOUR_TO_SECOND - SQL_INTERVAL_YEAR] = { HOUR, SECOND },
	[SQL_INTERVAL_MINUTE_TO_SECOND - SQL_INTERVAL_YEAR] = { MINUTE, SECOND },
};

static const struct type *
find(SQLSMALLINT type)
{
	return &types[type - SQL_INTERVAL_YEAR];
}

int
cod_is_interval(SQLSMALLINT type)
{
	return type >= SQL_INTERVAL_YEAR && type <= SQL_INTERVAL_MINUTE_TO_SECOND;
}

int
cod_interval_is_months(SQLSMALLINT type)
{
	return find(type)->last <= MONTH;
}

int
cod_interval_is_single(SQLSMALLINT type)
{
	return find(type)->first == find(type)->last;
}

/* ---- reading ---- */

struct text {
	const char *p, *end;
};

static int
is_at(const struct text *t, const char *set)
{
	return t->p < t->end && *t->p && strchr(set, *t->p) != NULL;
}

static void
trim(struct text *t)
{
	while (is_at(t, " \t"))
		t->p++;
	while (t->p < t->end && t->end[-1] == ' ')
		t->end--;
}

static int
skip(struct text *t, char c)
{
	if (t->p == t->end || *t->p != c)
		return 0;
	t->p++;
	return 1;
}

/* The word must be in lower case. */
static int
skip_word(struct text *t, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(t->end - t->p) < n)
		return 0;
	for (size_t i = 0; i < n; i++) {
		if ((t->p[i] | 0x20) != word[i])
			return 0;
	}
	t->p += n;
	return 1;
}

static int
take(struct text *t, uint64_t *ret_value)
{
	uint64_t value = 0;
	const char *begin = t->p;

	for (; is_at(t, "0123456789"); t->p++) {
		if (value >= AMOUNT_MAX / 10)
			return -1;
		value = value * 10 + (uint64_t)(*t->p - '0');
	}
	*ret_value = value;
	return t->p > begin ? 0 : -1;
}

static uint32_t
take_fraction(struct text *t)
{
	uint32_t value = 0;
	int n = 0;

	if (!skip(t, '.'))
		return 0;
	for (; is_at(t, "0123456789"); t->p++) {
		if (n++ < 9)
			value = value * 10 + (uint32_t)(*t->p - '0');
	}
	for (; n < 9; n++)
		value *= 10;
	return value;
}

/* Reduce INTERVAL [-]'...' ... to the text between the quotes, and take the sign. Leave any other
 * text as it is. */
static void
take_quoted(struct text *t, int *ret_is_negative)
{
	struct text inner = *t;
	int is_negative;

	if (skip(&inner, '{'))
		trim(&inner);
	if (skip_word(&inner, "interval"))
		trim(&inner);
	is_negative = skip(&inner, '-');
	if (!skip(&inner, '\''))
		return;
	*ret_is_negative = is_negative;
	for (t->p = inner.p; inner.p < t->end && *inner.p != '\'';)
		inner.p++;
	t->end = inner.p;
	trim(t);
}

static int
read_field(struct text *t, enum field field, int is_first, struct cod_interval *interval)
{
	uint64_t value;

	if (!is_first && !skip(t, fields[field].before))
		return -1;
	if (take(t, &value) < 0 || (!is_first && value >= fields[field].limit))
		return -1;
	if (value > AMOUNT_MAX / fields[field].unit)
		return -1;
	interval->amount += value * fields[field].unit;
	if (field == SECOND)
		interval->nanosecond = take_fraction(t);
	return 0;
}

static int
read_fields(struct text t, const struct type *type, struct cod_interval *ret_interval)
{
	struct cod_interval interval = *ret_interval;

	if (is_at(&t, "+-"))
		interval.is_negative = *t.p++ == '-';
	for (enum field f = type->first; f <= type->last; f++) {
		if (read_field(&t, f, f == type->first, &interval) < 0)
			return -1;
	}
	if (t.p != t.end)
		return -1;
	*ret_interval = interval;
	return 0;
}

/* The sum of parts, each of which has a sign. */
struct sum {
	int64_t months, seconds, nanoseconds;
};

/* Read HH:MM[:SS[.f]] from after the first colon. */
static int
read_clock(struct text *t, uint64_t hours, int64_t sign, struct sum *sum)
{
	uint64_t minutes, seconds = 0;

	if (take(t, &minutes) < 0 || minutes > 59)
		return -1;
	if (skip(t, ':') && (take(t, &seconds) < 0 || seconds > 60))
		return -1;
	if (hours > AMOUNT_MAX / 3600)
		return -1;
	sum->nanoseconds += sign * take_fraction(t);
	sum->seconds += sign * (int64_t)(hours * 3600 + minutes * 60 + seconds);
	return 0;
}

static int
read_unit(struct text *t, uint64_t value, int64_t sign, struct sum *sum)
{
	int64_t fraction = sign * take_fraction(t);

	trim(t);
	for (size_t f = 0; f < COUNT(fields); f++) {
		if (!skip_word(t, fields[f].word))
			continue;
		while (t->p < t->end && !is_at(t, " 0123456789+-"))
			t->p++;
		if (value > AMOUNT_MAX / fields[f].unit || (fraction && f != SECOND))
			return -1;
		value *= fields[f].unit;
		*(f <= MONTH ? &sum->months : &sum->seconds) += sign * (int64_t)value;
		sum->nanoseconds += fraction;
		return 0;
	}
	return -1;
}

static int
read_units(struct text *t, int is_months, struct cod_interval *interval)
{
	struct sum sum = { 0, 0, 0 };
	int64_t total;

	for (int n = 0; t->p < t->end; n++) {
		int64_t sign = is_at(t, "-") ? -1 : 1;
		uint64_t value;
		int r;

		if (is_at(t, "+-"))
			t->p++;
		if (n > 16 || take(t, &value) < 0)
			return -1;
		r = skip(t, ':') ? read_clock(t, value, sign, &sum)
				 : read_unit(t, value, sign, &sum);
		if (r < 0)
			return -1;
		trim(t);
	}
	if (is_months ? sum.seconds || sum.nanoseconds : sum.months)
		return -1;
	total = is_months ? sum.months : sum.seconds;
	if (sum.nanoseconds < 0 && total > 0) {
		total--;
		sum.nanoseconds += 1000000000;
	} else if (sum.nanoseconds > 0 && total < 0) {
		total++;
		sum.nanoseconds -= 1000000000;
	}
	interval->is_negative = total < 0 || sum.nanoseconds < 0;
	interval->amount = (uint64_t)(total < 0 ? -total : total);
	interval->nanosecond =
		(uint32_t)(sum.nanoseconds < 0 ? -sum.nanoseconds : sum.nanoseconds);
	return 0;
}

static int
has_letters(const struct text *t)
{
	for (const char *p = t->p; p < t->end; p++) {
		if ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z')
			return 1;
	}
	return 0;
}

int
cod_interval_read(
	const char *text, size_t n, SQLSMALLINT type, struct cod_interval *ret_interval)
{
	struct cod_interval interval = { .is_months = cod_interval_is_months(type) };
	struct text t = { text, text + n };
	int is_negative = 0, r;

	trim(&t);
	take_quoted(&t, &is_negative);
	r = has_letters(&t) ? -1 : read_fields(t, find(type), &interval);
	/* PostgreSQL writes 26:30:00 with units, not as a field of hours. */
	if (r < 0)
		r = read_units(&t, interval.is_months, &interval);
	if (r < 0)
		return -1;
	interval.is_negative ^= is_negative;
	*ret_interval = interval;
	return 0;
}

int
cod_interval_of_struct(const SQL_INTERVAL_STRUCT *from, struct cod_interval *ret_interval)
{
	const SQL_DAY_SECOND_STRUCT *d = &from->intval.day_second;
	SQLSMALLINT type = (SQLSMALLINT)(from->interval_type + 100);

	if (!cod_is_interval(type))
		return -1;
	*ret_interval =
		(struct cod_interval){ .is_negative = from->interval_sign == SQL_TRUE,
			.is_months = cod_interval_is_months(type) };
	if (ret_interval->is_months) {
		ret_interval->amount = (uint64_t)from->intval.year_month.year * 12 +
				       from->intval.year_month.month;
		return 0;
	}
	ret_interval->amount = (uint64_t)d->day * 86400 + (uint64_t)d->hour * 3600 +
			       (uint64_t)d->minute * 60 + d->second;
	ret_interval->nanosecond = d->fraction;
	return d->fraction <= 999999999 ? 0 : -1;
}

int
cod_interval_of_number(uint64_t value, int is_negative, SQLSMALLINT type,
	struct cod_interval *ret_interval)
{
	uint64_t unit = fields[find(type)->first].unit;

	if (value > AMOUNT_MAX / unit)
		return -1;
	*ret_interval = (struct cod_interval){ .is_negative = is_negative && value > 0,
		.is_months = cod_interval_is_months(type),
		.amount = value * unit };
	return 0;
}

/* ---- writing ---- */

/* Divide the amount among the fields, largest first. Returns the rest. */
static uint64_t
divide(const struct cod_interval *interval, const struct type *type, uint64_t values[6])
{
	uint64_t left = interval->amount;

	for (enum field f = type->first; f <= type->last; f++) {
		values[f] = left / fields[f].unit;
		left %= fields[f].unit;
	}
	return left;
}

static uint64_t
power_of_ten(SQLINTEGER n)
{
	uint64_t power = 1;

	while (n-- > 0 && power < AMOUNT_MAX)
		power *= 10;
	return power;
}

const char *
cod_interval_struct(const struct cod_interval *interval, SQLSMALLINT type,
	SQLINTEGER leading, SQLSMALLINT precision, SQL_INTERVAL_STRUCT *ret_struct)
{
	const struct type *t = find(type);
	uint64_t values[6] = { 0 }, left = divide(interval, t, values);
	uint32_t unit = (uint32_t)power_of_ten(precision < 9 ? 9 - precision : 0);
	SQL_INTERVAL_STRUCT s = { .interval_type = (SQLINTERVAL)(type - 100),
		.interval_sign = interval->is_negative ? SQL_TRUE : SQL_FALSE };
	int is_cut = left > 0;

	if (values[t->first] >= power_of_ten(leading > 0 ? leading : 2) ||
		values[t->first] > UINT32_MAX)
		return "22015";
	if (interval->is_months) {
		s.intval.year_month.year = (SQLUINTEGER)values[YEAR];
		s.intval.year_month.month = (SQLUINTEGER)values[MONTH];
	} else {
		s.intval.day_second.day = (SQLUINTEGER)values[DAY];
		s.intval.day_second.hour = (SQLUINTEGER)values[HOUR];
		s.intval.day_second.minute = (SQLUINTEGER)values[MINUTE];
		s.intval.day_second.second = (SQLUINTEGER)values[SECOND];
		if (t->last == SECOND)
			s.intval.day_second.fraction =
				interval->nanosecond - interval->nanosecond % unit;
		is_cut |= s.intval.day_second.fraction != interval->nanosecond;
	}
	*ret_struct = s;
	return is_cut ? "01S07" : NULL;
}

uint64_t
cod_interval_number(
	const struct cod_interval *interval, SQLSMALLINT type, int *ret_is_cut)
{
	uint64_t unit = fields[find(type)->first].unit;

	*ret_is_cut = interval->amount % unit > 0 || interval->nanosecond > 0;
	return interval->amount / unit;
}

static size_t
put_fraction(uint32_t nanosecond, char *out)
{
	size_t n = 0;

	if (nanosecond == 0)
		return 0;
	n = (size_t)snprintf(out, 16, ".%09lu", (unsigned long)nanosecond);
	while (out[n - 1] == '0')
		out[--n] = 0;
	return n;
}

size_t
cod_interval_text(const struct cod_interval *interval, SQLSMALLINT type, char *out)
{
	const struct type *t = find(type);
	uint64_t values[6] = { 0 };
	size_t n = 0;

	(void)divide(interval, t, values);
	if (interval->is_negative)
		out[n++] = '-';
	for (enum field f = t->first; f <= t->last; f++) {
		if (f > t->first)
			out[n++] = fields[f].before;
		n += (size_t)snprintf(out + n, COD_INTERVAL_TEXT_MAX - n,
			f > t->first && f > MONTH ? "%02llu" : "%llu",
			(unsigned long long)values[f]);
	}
	if (t->last == SECOND)
		n += put_fraction(interval->nanosecond, out + n);
	return n;
}

size_t
cod_interval_units(const struct cod_interval *interval, char *out)
{
	static const struct type months = { YEAR, MONTH }, seconds = { DAY, SECOND };
	const struct type *t = interval->is_months ? &months : &seconds;
	const char *sign = interval->is_negative ? "-" : "";
	uint64_t values[6] = { 0 };
	size_t n = 0;

	(void)divide(interval, t, values);
	for (enum field f = t->first; f <= t->last; f++) {
		int has_fraction = f == SECOND && interval->nanosecond > 0;

		if (values[f] == 0 && !has_fraction && (f < t->last || n > 0))
			continue;
		n += (size_t)snprintf(out + n, COD_INTERVAL_TEXT_MAX - n, "%s%s%llu",
			n > 0 ? " " : "", sign, (unsigned long long)values[f]);
		if (has_fraction)
			n += put_fraction(interval->nanosecond, out + n);
		n += (size_t)snprintf(
			out + n, COD_INTERVAL_TEXT_MAX - n, " %s", fields[f].unit_name);
	}
	return n;
}
