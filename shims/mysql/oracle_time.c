/* SPDX-License-Identifier: BSD-2-Clause */
#include "oracle_time.h"

#include "convert.h"
#include "number.h"

#include <string.h>

/* ---- of the binary protocol ---- */

void
cmy_time_unpack(enum enum_field_types type, const unsigned char *p, size_t n,
	MYSQL_TIME *ret_time)
{
	MYSQL_TIME *t = ret_time;

	memset(t, 0, sizeof(*t));
	t->time_type = type == MYSQL_TYPE_TIME   ? MYSQL_TIMESTAMP_TIME
		       : type == MYSQL_TYPE_DATE ? MYSQL_TIMESTAMP_DATE
						 : MYSQL_TIMESTAMP_DATETIME;
	if (type == MYSQL_TYPE_TIME && n >= 8) {
		t->neg = p[0] != 0;
		t->hour = (unsigned)cmy_read_u32(p + 1) * 24;
		cmy_unpack_clock(p + 5, n - 5, t);
	}
	if (type == MYSQL_TYPE_TIME || n < 4)
		return;
	t->year = cmy_read_u16(p);
	t->month = p[2];
	t->day = p[3];
	if (type != MYSQL_TYPE_DATE && n >= 7)
		cmy_unpack_clock(p + 4, n - 4, t);
}

int
cmy_time_parse(enum enum_field_types type, const char *p, size_t n, MYSQL_TIME *ret_time)
{
	int is_wrong = type == MYSQL_TYPE_TIME ? cmy_oracle_time(p, n, ret_time)
					       : cmy_oracle_datetime(p, n, ret_time);

	return !is_wrong || ret_time->time_type >= MYSQL_TIMESTAMP_DATE;
}

/* ---- what all have in common ---- */

static int
fail(MYSQL_TIME *t)
{
	memset(t, 0, sizeof(*t));
	t->time_type = MYSQL_TIMESTAMP_ERROR;
	return 1;
}

static int
is_leap(unsigned year)
{
	return (year % 4 == 0 && year % 100 != 0) || (year % 400 == 0 && year > 0);
}

/* Days and months may be 0. */
static int
is_date(const MYSQL_TIME *t)
{
	static const unsigned char days[] = { 31, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31,
		30, 31 };

	if (t->year > 9999 || t->month > 12 || t->day > 31)
		return 0;
	return t->day <= days[t->month] ||
	       (t->month == 2 && t->day == 29 && is_leap(t->year));
}

static int
is_clock(const MYSQL_TIME *t)
{
	return t->minute <= 59 && t->second <= 59;
}

static unsigned
full_year(unsigned year)
{
	return year + (year < 70 ? 2000 : 1900);
}

/* ---- texts ---- */

struct scanner {
	const char *p, *end;
};

static int
is_digit(const struct scanner *s)
{
	return s->p < s->end && *s->p >= '0' && *s->p <= '9';
}

static void
skip_blanks(struct scanner *s)
{
	while (s->p < s->end && cmy_is_blank(*s->p))
		s->p++;
}

static int
is_punctuation(char c)
{
	return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') ||
	       (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

/* At most so many digits; their number. */
static size_t
scan_digits(struct scanner *s, size_t most, unsigned *ret_value)
{
	const char *begin = s->p;
	uint64_t v = 0;

	while (is_digit(s) && (size_t)(s->p - begin) < most) {
		v = v * 10 + (uint64_t)(*s->p++ - '0');
		if (v > 4294967295u)
			v = 4294967295u;
	}
	*ret_value = (unsigned)v;
	return (size_t)(s->p - begin);
}

/* Microseconds; further digits are left over. */
static unsigned long
scan_fraction(struct scanner *s)
{
	unsigned v;
	size_t n = scan_digits(s, 6, &v);

	for (; n < 6; n++)
		v *= 10;
	while (is_digit(s))
		s->p++;
	return v;
}

#define N_PARTS 6 /* year … second */

/* Digits alone, as long as they are: the year has four of them, or two. */
static size_t
compact_year(struct scanner s)
{
	const char *begin = s.p;
	size_t n;

	while (s.p < s.end && (is_digit(&s) || *s.p == 'T'))
		s.p++;
	n = (size_t)(s.p - begin);
	if (s.p < s.end && *s.p != '.')
		return 0;
	return n == 4 || n == 8 || n >= 14 ? 4 : 2;
}

static void
skip_delimiter(struct scanner *s, int part)
{
	if (part == 2 && s->p < s->end && *s->p == 'T') {
		s->p++;
		return;
	}
	while (s->p < s->end &&
		(is_punctuation(*s->p) || (part == 2 && cmy_is_blank(*s->p))))
		s->p++;
}

/* How many parts there are. */
static int
scan_parts(struct scanner *s, unsigned *parts, size_t *ret_year_length,
	unsigned long *ret_fraction)
{
	size_t compact = compact_year(*s);
	int i;

	*ret_fraction = 0;
	for (i = 0; i < N_PARTS && is_digit(s); i++) {
		size_t most = compact == 0 ? SIZE_MAX : i == 0 ? compact : 2;
		size_t n = scan_digits(s, most, &parts[i]);

		if (i == 0)
			*ret_year_length = compact != 0 ? compact : n;
		if (i == N_PARTS - 1 && s->p < s->end && *s->p == '.') {
			s->p++;
			*ret_fraction = scan_fraction(s);
		} else if (i < N_PARTS - 1) {
			skip_delimiter(s, i);
		}
	}
	return i;
}

static int
has_any(const MYSQL_TIME *t)
{
	return t->year || t->month || t->day || t->hour || t->minute || t->second ||
	       t->second_part;
}

int
cmy_oracle_datetime(const char *p, size_t n, MYSQL_TIME *ret_time)
{
	struct scanner s = { p, p + n };
	unsigned parts[N_PARTS] = { 0 };
	MYSQL_TIME *t = ret_time;
	size_t year_length = 0;
	int n_parts;

	/* sic: the rest is as it was */
	t->time_type = MYSQL_TIMESTAMP_NONE;
	skip_blanks(&s);
	if (!is_digit(&s))
		return 1;
	memset(t, 0, sizeof(*t));
	n_parts = scan_parts(&s, parts, &year_length, &t->second_part);
	t->year = parts[0];
	t->month = parts[1];
	t->day = parts[2];
	t->hour = parts[3];
	t->minute = parts[4];
	t->second = parts[5];
	if (year_length == 2 && has_any(t))
		t->year = full_year(t->year);
	t->time_type = n_parts <= 3 ? MYSQL_TIMESTAMP_DATE : MYSQL_TIMESTAMP_DATETIME;
	if (n_parts < 3 || !is_date(t) || t->hour > 23 || !is_clock(t))
		return fail(t);
	skip_blanks(&s);
	return s.p < s.end;
}

/* hh:mm:ss, or the digits of it alone; days may stand before. */
static void
scan_clock(struct scanner *s, MYSQL_TIME *t)
{
	unsigned v, days = 0;

	(void)scan_digits(s, SIZE_MAX, &v);
	if (s->p < s->end && *s->p == ' ') {
		skip_blanks(s);
		if (is_digit(s)) {
			days = v;
			(void)scan_digits(s, SIZE_MAX, &v);
		}
	}
	t->hour = v;
	if (s->p < s->end && *s->p == ':') {
		s->p++;
		(void)scan_digits(s, SIZE_MAX, &t->minute);
		if (s->p < s->end && *s->p == ':') {
			s->p++;
			(void)scan_digits(s, SIZE_MAX, &t->second);
		}
	} else if (days == 0) {
		t->hour = v / 10000;
		t->minute = v / 100 % 100;
		t->second = v % 100;
	}
	t->hour += days * 24;
}

/* The number goes on with an exponent, and is no time. */
static int
is_exponent(const struct scanner *s)
{
	const char *p = s->p + 1;

	if (s->end - s->p < 2 || (*s->p | 0x20) != 'e')
		return 0;
	p += *p == '-' || *p == '+';
	return p < s->end && *p >= '0' && *p <= '9';
}

static int
end_clock(struct scanner *s, MYSQL_TIME *t)
{
	if (!is_clock(t))
		return fail(t);
	skip_blanks(s);
	if (t->hour <= 838)
		return s->p < s->end;
	/* as much as there can be */
	t->hour = 838;
	t->minute = t->second = 59;
	t->second_part = 0;
	return 1;
}

/* Not a time of day: its parts are not kept apart, or a blank follows the day. */
static int
is_datetime_only(struct scanner s)
{
	size_t compact = compact_year(s);
	int has_delimiter = 0, has_blank = 0, i;

	for (i = 0; i < N_PARTS && is_digit(&s); i++) {
		unsigned v;

		(void)scan_digits(&s, compact == 0 ? SIZE_MAX : i == 0 ? compact : 2, &v);
		if (v > 999999)
			return 0;
		if (i == 2 && s.p < s.end && *s.p == 'T') {
			s.p++;
			continue;
		}
		while (i < N_PARTS - 1 && s.p < s.end &&
			(is_punctuation(*s.p) || cmy_is_blank(*s.p))) {
			if (i != 2 && cmy_is_blank(*s.p))
				return 0;
			has_blank |= cmy_is_blank(*s.p++);
			has_delimiter = 1;
		}
	}
	return i > 0 && (!has_delimiter || has_blank);
}

int
cmy_oracle_time(const char *p, size_t n, MYSQL_TIME *ret_time)
{
	struct scanner s = { p, p + n };
	MYSQL_TIME t = { .time_type = MYSQL_TIMESTAMP_TIME };

	skip_blanks(&s);
	if (s.end - s.p >= 12 && is_datetime_only(s))
		return cmy_oracle_datetime(s.p, (size_t)(s.end - s.p), ret_time);
	/* sic: where nothing is read the rest is as it was */
	ret_time->time_type = MYSQL_TIMESTAMP_NONE;
	t.neg = s.p < s.end && *s.p == '-';
	s.p += t.neg;
	if (s.p == s.end)
		return 0;
	if (!is_digit(&s) && *s.p != '.' && *s.p != ':' && *s.p != ' ') {
		*ret_time = (MYSQL_TIME){ .time_type = MYSQL_TIMESTAMP_NONE };
		return 1;
	}
	scan_clock(&s, &t);
	if (s.p < s.end && *s.p == '.') {
		s.p++;
		t.second_part = scan_fraction(&s);
	}
	if (is_exponent(&s))
		return 0;
	n = (size_t)end_clock(&s, &t);
	*ret_time = t;
	return n != 0;
}

/* ---- numbers ---- */

/* YYMMDD, YYYYMMDD, YYMMDDhhmmss or YYYYMMDDhhmmss as the last of these; -1: it is none. */
static int64_t
full_number(int64_t v)
{
	if (v == 0 || v >= 10000101000000)
		return v > 99999999999999 ? -1 : v;
	if (v < 101)
		return -1;
	if (v <= 691231)
		return (v + 20000000) * 1000000;
	if (v < 700101)
		return -1;
	if (v <= 991231)
		return (v + 19000000) * 1000000;
	if (v <= 99991231)
		return v * 1000000;
	if (v < 101000000)
		return -1;
	if (v <= 691231235959)
		return v + 20000000000000;
	if (v < 700101000000)
		return -1;
	return v <= 991231235959 ? v + 19000000000000 : v;
}

int
cmy_oracle_number_time(int64_t number, MYSQL_TIME *ret_time)
{
	int64_t v = full_number(number);
	unsigned date = (unsigned)(v / 1000000), clock = (unsigned)(v % 1000000);
	MYSQL_TIME *t = ret_time;

	memset(t, 0, sizeof(*t));
	t->time_type = number == 0 || number > 99991231 ? MYSQL_TIMESTAMP_DATETIME
							: MYSQL_TIMESTAMP_DATE;
	if (v < 0)
		return 1;
	t->year = date / 10000;
	t->month = date / 100 % 100;
	t->day = date % 100;
	t->hour = clock / 10000;
	t->minute = clock / 100 % 100;
	t->second = clock % 100;
	return !is_date(t) || t->hour > 23 || !is_clock(t);
}
