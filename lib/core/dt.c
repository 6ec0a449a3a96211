/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/dt.h"

#include <assert.h>
#include <string.h>

/*
 * Dates and times as text.
 */

#define YEAR_MAX   9999
#define OFFSET_MAX (24 * 3600 - 1)

static int
is_leap(int32_t year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int
cnc_date_is_valid(const cenote_date *d)
{
	static const uint8_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int last;

	if (d->year < -YEAR_MAX || d->year > YEAR_MAX || d->month < 1 || d->month > 12)
		return 0;
	last = days[d->month - 1] + (d->month == 2 && is_leap(d->year));
	return d->day >= 1 && d->day <= last;
}

int
cnc_time_is_valid(const cenote_time *t)
{
	int is_end = t->minute == 0 && t->second == 0 && t->nanosecond == 0;

	if (t->hour > 24 || (t->hour == 24 && !is_end))
		return 0;
	if (t->minute > 59 || t->second > 60 || t->nanosecond > 999999999)
		return 0;
	return t->utc_offset_s == CENOTE_NO_OFFSET ||
	       (t->utc_offset_s >= -OFFSET_MAX && t->utc_offset_s <= OFFSET_MAX);
}

/* The rest of the text that is parsed. */
struct scan {
	const char *p;
	const char *end;
};

static int
scan_char(struct scan *s, char c)
{
	if (s->p == s->end || *s->p != c)
		return 0;
	s->p++;
	return 1;
}

/* Read exactly n digits. */
static int
scan_digits(struct scan *s, int n, int32_t *ret_value)
{
	int32_t value = 0;

	if (s->end - s->p < n)
		return 0;
	for (int i = 0; i < n; i++) {
		char c = s->p[i];

		if (c < '0' || c > '9')
			return 0;
		value = value * 10 + (c - '0');
	}
	s->p += n;
	*ret_value = value;
	return 1;
}

static int
scan_date(struct scan *s, cenote_date *ret_value)
{
	int is_negative = scan_char(s, '-');
	int32_t year, month, day;

	if (!scan_digits(s, 4, &year) || !scan_char(s, '-') ||
		!scan_digits(s, 2, &month) || !scan_char(s, '-') ||
		!scan_digits(s, 2, &day))
		return 0;
	*ret_value = (cenote_date){
		.year = is_negative ? -year : year,
		.month = (uint8_t)month,
		.day = (uint8_t)day,
	};
	return cnc_date_is_valid(ret_value);
}

/* Read one to nine digits. */
static int
scan_fraction(struct scan *s, uint32_t *ret_value)
{
	uint32_t value = 0;
	uint32_t unit = 100000000;
	int32_t digit;

	if (!scan_digits(s, 1, &digit))
		return 0;
	do {
		value += (uint32_t)digit * unit;
		unit /= 10;
	} while (unit > 0 && scan_digits(s, 1, &digit));
	*ret_value = value;
	return 1;
}

/* Read an offset: nothing, Z, +HH, +HHMM, +HH:MM or +HH:MM:SS. */
static int
scan_offset(struct scan *s, int32_t *ret_value)
{
	int32_t hour, minute = 0, second = 0, offset;
	int is_negative;

	if (s->p == s->end) {
		*ret_value = CENOTE_NO_OFFSET;
		return 1;
	}
	if (scan_char(s, 'Z')) {
		*ret_value = 0;
		return 1;
	}
	is_negative = *s->p == '-';
	if ((!is_negative && *s->p != '+') || !(s->p++, scan_digits(s, 2, &hour)))
		return 0;
	if (scan_char(s, ':')) {
		if (!scan_digits(s, 2, &minute))
			return 0;
		if (scan_char(s, ':') && !scan_digits(s, 2, &second))
			return 0;
	} else if (s->p < s->end && !scan_digits(s, 2, &minute)) {
		return 0;
	}
	if (minute > 59 || second > 59)
		return 0;
	offset = hour * 3600 + minute * 60 + second;
	*ret_value = is_negative ? -offset : offset;
	return 1;
}

static int
scan_time(struct scan *s, cenote_time *ret_value)
{
	int32_t hour, minute, second = 0, offset;
	uint32_t nanosecond = 0;

	if (!scan_digits(s, 2, &hour) || !scan_char(s, ':') ||
		!scan_digits(s, 2, &minute))
		return 0;
	if (scan_char(s, ':')) {
		if (!scan_digits(s, 2, &second))
			return 0;
		if (scan_char(s, '.') && !scan_fraction(s, &nanosecond))
			return 0;
	}
	if (!scan_offset(s, &offset))
		return 0;
	*ret_value = (cenote_time){
		.hour = (uint8_t)hour,
		.minute = (uint8_t)minute,
		.second = (uint8_t)second,
		.nanosecond = nanosecond,
		.utc_offset_s = offset,
	};
	return cnc_time_is_valid(ret_value);
}

int
cnc_date_parse(const char *text, size_t len, cenote_date *ret_value)
{
	struct scan s = { text, text + len };
	cenote_date value;

	if (!scan_date(&s, &value) || s.p != s.end)
		return CENOTE_ERR_CONVERT;
	*ret_value = value;
	return CENOTE_OK;
}

int
cnc_time_parse(const char *text, size_t len, cenote_time *ret_value)
{
	struct scan s = { text, text + len };
	cenote_time value;

	if (!scan_time(&s, &value) || s.p != s.end)
		return CENOTE_ERR_CONVERT;
	*ret_value = value;
	return CENOTE_OK;
}

int
cnc_timestamp_parse(const char *text, size_t len, cenote_timestamp *ret_value)
{
	struct scan s = { text, text + len };
	cenote_timestamp value = { .time = { .utc_offset_s = CENOTE_NO_OFFSET } };

	if (!scan_date(&s, &value.date))
		return CENOTE_ERR_CONVERT;
	if (s.p != s.end) {
		if (!scan_char(&s, ' ') && !scan_char(&s, 'T'))
			return CENOTE_ERR_CONVERT;
		if (!scan_time(&s, &value.time) || s.p != s.end)
			return CENOTE_ERR_CONVERT;
	}
	*ret_value = value;
	return CENOTE_OK;
}

/* Write n digits; returns the place after them. */
static char *
put_digits(char *p, int n, uint32_t value)
{
	for (int i = n - 1; i >= 0; i--) {
		p[i] = (char)('0' + value % 10);
		value /= 10;
	}
	return p + n;
}

static char *
put_date(char *p, const cenote_date *d)
{
	assert(cnc_date_is_valid(d));
	if (d->year < 0)
		*p++ = '-';
	p = put_digits(p, 4, (uint32_t)(d->year < 0 ? -d->year : d->year));
	*p++ = '-';
	p = put_digits(p, 2, d->month);
	*p++ = '-';
	return put_digits(p, 2, d->day);
}

static char *
put_offset(char *p, int32_t offset)
{
	uint32_t s = (uint32_t)(offset < 0 ? -offset : offset);

	*p++ = offset < 0 ? '-' : '+';
	p = put_digits(p, 2, s / 3600);
	*p++ = ':';
	p = put_digits(p, 2, s / 60 % 60);
	if (s % 60) {
		*p++ = ':';
		p = put_digits(p, 2, s % 60);
	}
	return p;
}

static char *
put_time(char *p, const cenote_time *t)
{
	assert(cnc_time_is_valid(t));
	p = put_digits(p, 2, t->hour);
	*p++ = ':';
	p = put_digits(p, 2, t->minute);
	*p++ = ':';
	p = put_digits(p, 2, t->second);
	if (t->nanosecond) {
		*p++ = '.';
		p = put_digits(p, 9, t->nanosecond);
		while (p[-1] == '0')
			p--;
	}
	return t->utc_offset_s == CENOTE_NO_OFFSET ? p : put_offset(p, t->utc_offset_s);
}

size_t
cnc_date_text(const cenote_date *d, char out[CNC_DT_TEXT_MAX])
{
	char *end = put_date(out, d);

	*end = '\0';
	return (size_t)(end - out);
}

size_t
cnc_time_text(const cenote_time *t, char out[CNC_DT_TEXT_MAX])
{
	char *end = put_time(out, t);

	*end = '\0';
	return (size_t)(end - out);
}

size_t
cnc_timestamp_text(const cenote_timestamp *ts, char out[CNC_DT_TEXT_MAX])
{
	char *end = put_date(out, &ts->date);

	*end++ = ' ';
	end = put_time(end, &ts->time);
	*end = '\0';
	return (size_t)(end - out);
}
