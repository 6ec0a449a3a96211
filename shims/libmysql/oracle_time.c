/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Read texts and numbers as dates and times, as Oracle's library does: with almost any delimiter,
 * in compact forms, and with an offset from UTC. The algorithm must match the original even for odd
 * texts, so lib/core/dt.c cannot be used. convert_oracle.c and cell.c call this file. It owns no
 * state.
 */
#include "oracle_time.h"

#include "convert.h"
#include "number.h"

#include <string.h>

/* ---- the binary protocol ---- */

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
	(void)(type == MYSQL_TYPE_TIME ? cmy_oracle_time(p, n, ret_time)
				       : cmy_oracle_datetime(p, n, ret_time));
	/* neither parser reports an error for an empty text, and both leave the result
	 * unset */
	return ret_time->time_type >= MYSQL_TIMESTAMP_DATE;
}

/* ---- common parts ---- */

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

/* Is this a valid date? Month and day may be 0. */
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

static int
is_digit_behind(const struct scanner *s)
{
	return s->end - s->p > 1 && s->p[1] >= '0' && s->p[1] <= '9';
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

/* Read at most `most` digits. Returns the number of digits. */
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

/* Scale a fraction of n_digits digits to microseconds. */
static unsigned long
microseconds(unsigned v, size_t n_digits)
{
	for (; n_digits < 6; n_digits++)
		v *= 10;
	return v;
}

static void
skip_digits(struct scanner *s)
{
	while (is_digit(s))
		s->p++;
}

/* ---- dates ---- */

#define PART_DAY      2
#define PART_SECOND   5
#define PART_FRACTION 6
#define N_PARTS       7

#define MAX_PART    999999u
#define MAX_ZONE    (14 * 60) /* in minutes */
#define ZONE_LENGTH 6 /* +hh:mm */

/* The parts of a date and time. */
struct parts {
	unsigned at[N_PARTS]; /* year … second, microseconds */
	size_t year_length, fraction_length;
	int n;
	int has_delimiter, has_blank;
	int has_zone;
	int zone; /* in seconds */
};

/* The length of the year in a text of digits only: the number of digits decides between four and two. */
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

static int
has_sign(const struct scanner *s)
{
	return s->p < s->end && (*s->p == '+' || *s->p == '-');
}

static int
two_digits(const char *p)
{
	int is_number = p[0] >= '0' && p[0] <= '9' && p[1] >= '0' && p[1] <= '9';

	return is_number ? (p[0] - '0') * 10 + p[1] - '0' : -1;
}

/* Read the offset from UTC at the end of a text. 0, or -1: the text is malformed. */
static int
scan_zone(struct scanner *s, struct parts *parts)
{
	const char *p = s->p;
	int hours, minutes;

	if (s->end - p < ZONE_LENGTH || p[3] != ':')
		return -1;
	hours = two_digits(p + 1);
	minutes = two_digits(p + 4);
	if (hours < 0 || minutes < 0 || minutes > 59 || hours * 60 + minutes > MAX_ZONE)
		return -1;
	/* SQL has no -00:00 */
	if (*p == '-' && hours == 0 && minutes == 0)
		return -1;
	for (p += ZONE_LENGTH; p < s->end; p++) {
		if (!cmy_is_blank(*p))
			return -1;
	}
	parts->zone = (hours * 60 + minutes) * 60 * (*s->p == '-' ? -1 : 1);
	parts->has_zone = 1;
	s->p = s->end;
	return 0;
}

/* Skip the delimiters between two parts. 0, or -1: a blank is not allowed here. */
static int
skip_delimiters(struct scanner *s, int part, struct parts *parts)
{
	if (part == PART_DAY && s->p < s->end && *s->p == 'T') {
		s->p += is_digit_behind(s);
		return 0;
	}
	for (; s->p < s->end; s->p++) {
		int is_blank = cmy_is_blank(*s->p);

		if (!is_blank && !is_punctuation(*s->p))
			break;
		if (is_blank && part != PART_DAY && part != PART_FRACTION)
			return -1;
		parts->has_blank |= is_blank;
		parts->has_delimiter = 1;
	}
	return 0;
}

static int
scan_part(struct scanner *s, int i, size_t compact, struct parts *parts)
{
	size_t most = compact == 0 ? SIZE_MAX : i == 0 ? compact : 2;
	size_t n = scan_digits(s, i == PART_FRACTION ? 6 : most, &parts->at[i]);

	if (parts->at[i] > MAX_PART)
		return -1;
	if (i == 0)
		parts->year_length = compact != 0 ? compact : n;
	if (i == PART_FRACTION) {
		parts->at[i] = (unsigned)microseconds(parts->at[i], n);
		parts->fraction_length = n;
	}
	return 0;
}

/* Read the parts of a date. 0, or -1: the text is not a date. */
static int
scan_parts(struct scanner *s, struct parts *parts)
{
	size_t compact = compact_year(*s);
	int i, r = 0;

	for (i = 0; i < N_PARTS && is_digit(s) && r == 0; i++) {
		r = scan_part(s, i, compact, parts);
		if (r < 0)
			break;
		if (i >= PART_SECOND && has_sign(s))
			r = scan_zone(s, parts);
		else if (i == PART_SECOND && s->p < s->end && *s->p == '.')
			s->p++;
		else if (i == PART_SECOND)
			break;
		else
			r = skip_delimiters(s, i, parts);
	}
	parts->n = i;
	/* skip the digits that are too many */
	if (parts->fraction_length == 6)
		skip_digits(s);
	return r;
}

static int
has_any(const struct parts *parts)
{
	unsigned any = 0;

	for (int i = 0; i < N_PARTS; i++)
		any |= parts->at[i];
	return any != 0;
}

static enum enum_mysql_timestamp_type
type_of(const struct parts *parts)
{
	if (parts->n <= PART_DAY + 1)
		return MYSQL_TIMESTAMP_DATE;
	return parts->has_zone ? MYSQL_TIMESTAMP_DATETIME_TZ : MYSQL_TIMESTAMP_DATETIME;
}

static void
fill(MYSQL_TIME *t, const struct parts *parts)
{
	memset(t, 0, sizeof(*t));
	t->year = parts->at[0];
	t->month = parts->at[1];
	t->day = parts->at[PART_DAY];
	t->hour = parts->at[3];
	t->minute = parts->at[4];
	t->second = parts->at[PART_SECOND];
	t->second_part = parts->at[PART_FRACTION];
	t->time_zone_displacement = parts->zone;
	if (parts->year_length == 2 && has_any(parts))
		t->year = full_year(t->year);
	t->time_type = type_of(parts);
}

/* Read a date and time. `is_timestamp`: accept only a text of digits, or with a blank between date
 * and time. */
static int
parse_datetime(struct scanner s, int is_timestamp, MYSQL_TIME *t)
{
	struct parts parts = { .n = 0 };

	/* sic: the other members stay unchanged */
	t->time_type = MYSQL_TIMESTAMP_NONE;
	skip_blanks(&s);
	if (!is_digit(&s) || scan_parts(&s, &parts) < 0)
		return 1;
	if (is_timestamp && parts.has_delimiter && !parts.has_blank)
		return 1;
	fill(t, &parts);
	if (parts.n <= PART_DAY || !is_date(t) || t->hour > 23 || !is_clock(t))
		return fail(t);
	if (has_sign(&s)) {
		int is_none = scan_zone(&s, &parts) < 0;

		t->time_type =
			is_none ? MYSQL_TIMESTAMP_NONE : MYSQL_TIMESTAMP_DATETIME_TZ;
		t->time_zone_displacement = parts.zone;
		return is_none;
	}
	skip_blanks(&s);
	return s.p < s.end;
}

int
cmy_oracle_datetime(const char *p, size_t n, MYSQL_TIME *ret_time)
{
	return parse_datetime((struct scanner){ p, p + n }, 0, ret_time);
}

/* ---- times ---- */

#define MAX_HOUR    838u
#define CLOCK_PARTS 4

/* The shortest text with a date and a time. */
#define TIMESTAMP_LENGTH 12

struct clock {
	int is_negative;
	uint64_t at[CLOCK_PARTS]; /* days, hours, minutes, seconds */
	unsigned long fraction; /* microseconds */
};

/* Read a number. 0, or -1: the number is too large. */
static int
scan_number(struct scanner *s, uint64_t *ret_value)
{
	uint64_t v = 0;

	for (; is_digit(s); s->p++) {
		if (v <= UINT32_MAX)
			v = v * 10 + (uint64_t)(*s->p - '0');
	}
	*ret_value = v;
	return v > UINT32_MAX ? -1 : 0;
}

static int
has_colon(const struct scanner *s)
{
	return s->p < s->end && *s->p == ':' && is_digit_behind(s);
}

/* Read this part and the following ones, with colons between them. 0, or -1: a number is
 * too large. */
static int
scan_clock_parts(struct scanner *s, int i, struct clock *clock)
{
	int r = scan_number(s, &clock->at[i]);

	while (r == 0 && ++i < CLOCK_PARTS && has_colon(s)) {
		s->p++;
		r = scan_number(s, &clock->at[i]);
	}
	return r;
}

/* Read [days] hh:mm:ss, where the last parts may be missing, or the digits without delimiters. 0,
 * or -1: a number is too large. */
static int
scan_clock(struct scanner *s, struct clock *clock)
{
	const char *end_of_number;
	uint64_t v;

	if (scan_number(s, &v) < 0)
		return -1;
	end_of_number = s->p;
	skip_blanks(s);
	if (s->end - s->p > 1 && s->p != end_of_number && is_digit(s)) {
		clock->at[0] = v;
		return scan_clock_parts(s, 1, clock);
	}
	if (has_colon(s)) {
		clock->at[1] = v;
		s->p++;
		return scan_clock_parts(s, 2, clock);
	}
	clock->at[1] = v / 10000;
	clock->at[2] = v / 100 % 100;
	clock->at[3] = v % 100;
	return 0;
}

static void
scan_fraction(struct scanner *s, struct clock *clock)
{
	unsigned v;
	size_t n;

	if (s->p == s->end || *s->p != '.')
		return;
	if (is_digit_behind(s)) {
		s->p++;
		n = scan_digits(s, 6, &v);
		clock->fraction = microseconds(v, n);
		skip_digits(s);
	} else if (s->end - s->p == 1) {
		s->p++;
	}
}

/* Does an exponent follow? Then the text is a number, not a time. */
static int
is_exponent(const struct scanner *s)
{
	const char *p = s->p + 1;

	if (s->end - s->p < 2 || (*s->p | 0x20) != 'e')
		return 0;
	p += *p == '-' || *p == '+';
	return p < s->end && *p >= '0' && *p <= '9';
}

/* Set the time from its parts. 1: the time is larger than the largest TIME. */
static int
fill_clock(MYSQL_TIME *t, const struct clock *clock)
{
	int is_most;

	memset(t, 0, sizeof(*t));
	t->time_type = MYSQL_TIMESTAMP_TIME;
	t->hour = (unsigned)(clock->at[0] * 24 + clock->at[1]);
	t->minute = (unsigned)clock->at[2];
	t->second = (unsigned)clock->at[3];
	t->second_part = clock->fraction;
	if (!is_clock(t))
		return fail(t);
	t->neg = clock->is_negative &&
		 (t->hour || t->minute || t->second || t->second_part);
	is_most = t->hour == MAX_HOUR && t->minute == 59 && t->second == 59;
	if (t->hour < MAX_HOUR || (t->hour == MAX_HOUR && !(is_most && t->second_part)))
		return 0;
	t->hour = MAX_HOUR;
	t->minute = t->second = 59;
	t->second_part = 0;
	return 1;
}

static int
parse_time(struct scanner s, int is_negative, MYSQL_TIME *t)
{
	struct clock clock = { .is_negative = is_negative };
	const char *begin = s.p;
	int is_wrong;

	/* sic: if the text ends early, the other members stay unchanged, and that is not
	 * an error */
	t->time_type = MYSQL_TIMESTAMP_NONE;
	if (scan_clock(&s, &clock) < 0)
		return 0;
	scan_fraction(&s, &clock);
	if (is_exponent(&s))
		return 0;
	is_wrong = fill_clock(t, &clock);
	if (t->time_type == MYSQL_TIMESTAMP_ERROR)
		return 1;
	if (s.p == begin && s.p < s.end && !cmy_is_blank(*s.p))
		t->time_type = MYSQL_TIMESTAMP_NONE;
	skip_blanks(&s);
	return is_wrong || s.p < s.end;
}

int
cmy_oracle_time(const char *p, size_t n, MYSQL_TIME *ret_time)
{
	struct scanner s = { p, p + n };
	int is_negative, r;

	ret_time->time_type = MYSQL_TIMESTAMP_NONE;
	skip_blanks(&s);
	is_negative = s.p < s.end && *s.p == '-';
	s.p += is_negative;
	if (s.p == s.end)
		return 0;
	if (s.end - s.p >= TIMESTAMP_LENGTH) {
		r = parse_datetime(s, 1, ret_time);
		if (ret_time->time_type >= MYSQL_TIMESTAMP_ERROR) {
			/* sic: a negative number is an error, but its parts are kept */
			if (is_negative)
				ret_time->time_type = MYSQL_TIMESTAMP_ERROR;
			return r || is_negative;
		}
	}
	return parse_time(s, is_negative, ret_time);
}

/* ---- numbers ---- */

/* Bring YYMMDD, YYYYMMDD, YYMMDDhhmmss or YYYYMMDDhhmmss into the last form; -1: the number has
 * none of these forms. */
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
