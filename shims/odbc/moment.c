/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dates, times and timestamps as text and as ODBC's structures. convert_get.c, convert_put.c and
 * escape_literal.c call this file. It has no state.
 */
#include "moment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct text {
	const char *p, *end;
};

static int
is_digit(const struct text *t)
{
	return t->p < t->end && *t->p >= '0' && *t->p <= '9';
}

static int
is_at(const struct text *t, char c)
{
	return t->p < t->end && *t->p == c;
}

static int
skip(struct text *t, char c)
{
	if (!is_at(t, c))
		return 0;
	t->p++;
	return 1;
}

/* Take a number of `least` to `most` digits; -1: there is none. */
static int
take(struct text *t, int least, int most)
{
	int value = 0, n = 0;

	for (; n < most && is_digit(t); n++)
		value = value * 10 + (*t->p++ - '0');
	return n >= least ? value : -1;
}

int
cod_is_date(const cenote_date *date)
{
	static const uint8_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int32_t y = date->year;
	int is_leap = y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);

	if (date->month < 1 || date->month > 12 || date->day < 1)
		return 0;
	return date->day <= days[date->month - 1] + (is_leap && date->month == 2);
}

int
cod_is_time(const cenote_time *time)
{
	int is_end =
		time->hour == 24 && !time->minute && !time->second && !time->nanosecond;

	return (time->hour <= 23 || is_end) && time->minute <= 59 && time->second <= 60 &&
	       time->nanosecond <= 999999999;
}

static int
read_date(struct text *t, cenote_date *date)
{
	int is_negative = skip(t, '-'), year = take(t, 4, 6), month, day;

	if (year < 0 || !skip(t, '-'))
		return -1;
	month = take(t, 1, 2);
	if (month < 0 || !skip(t, '-'))
		return -1;
	day = take(t, 1, 2);
	if (day < 0)
		return -1;
	date->year = is_negative ? -year : year;
	date->month = (uint8_t)month;
	date->day = (uint8_t)day;
	return cod_is_date(date) ? 0 : -1;
}

static uint32_t
read_fraction(struct text *t)
{
	uint32_t value = 0;
	int n = 0;

	for (; is_digit(t); t->p++) {
		if (n++ < 9)
			value = value * 10 + (uint32_t)(*t->p - '0');
	}
	for (; n < 9; n++)
		value *= 10;
	return value;
}

static int
read_offset(struct text *t, int32_t *ret_seconds)
{
	int is_negative = is_at(t, '-'), parts[3] = { 0 };

	if (skip(t, 'Z')) {
		*ret_seconds = 0;
		return 0;
	}
	t->p++;
	for (int i = 0; i < 3; i++) {
		parts[i] = take(t, 2, 2);
		if (parts[i] < 0)
			return -1;
		if (!skip(t, ':') && !(i == 0 && is_digit(t)))
			break;
	}
	*ret_seconds = parts[0] * 3600 + parts[1] * 60 + parts[2];
	if (is_negative)
		*ret_seconds = -*ret_seconds;
	return 0;
}

static int
read_time(struct text *t, cenote_time *time)
{
	int hour = take(t, 1, 2), minute, second = 0;

	if (hour < 0 || !skip(t, ':'))
		return -1;
	minute = take(t, 2, 2);
	if (minute < 0)
		return -1;
	if (skip(t, ':')) {
		second = take(t, 2, 2);
		if (second < 0)
			return -1;
		if (skip(t, '.'))
			time->nanosecond = read_fraction(t);
	}
	time->hour = (uint8_t)hour;
	time->minute = (uint8_t)minute;
	time->second = (uint8_t)second;
	if (is_at(t, '+') || is_at(t, '-') || is_at(t, 'Z')) {
		if (read_offset(t, &time->utc_offset_s) < 0)
			return -1;
	}
	return cod_is_time(time) ? 0 : -1;
}

static void
trim(struct text *t)
{
	while (t->p < t->end && *t->p == ' ')
		t->p++;
	while (t->p < t->end && t->end[-1] == ' ')
		t->end--;
}

/* A colon follows an hour. */
static int
begins_with_time(const struct text *t)
{
	size_t n = (size_t)(t->end - t->p);

	return (n > 1 && t->p[1] == ':') || (n > 2 && t->p[2] == ':');
}

int
cod_moment_read(const char *text, size_t n, struct cod_moment *ret_moment)
{
	struct text t = { text, text + n };
	struct cod_moment m = { .at.time.utc_offset_s = CENOTE_NO_OFFSET };

	trim(&t);
	m.has_date = !begins_with_time(&t);
	m.has_time = !m.has_date;
	if (m.has_date) {
		if (read_date(&t, &m.at.date) < 0)
			return -1;
		m.has_time = skip(&t, ' ') || skip(&t, 'T');
	}
	if (m.has_time && read_time(&t, &m.at.time) < 0)
		return -1;
	if (t.p != t.end)
		return -1;
	*ret_moment = m;
	return 0;
}

int
cod_moment_read_literal(const char *text, size_t n, struct cod_moment *ret_moment)
{
	static const char *const openings[] = { "ts", "d", "t" };
	struct text t = { text, text + n };

	trim(&t);
	if (!is_at(&t, '{') || t.end[-1] != '}')
		return cod_moment_read(text, n, ret_moment);
	t.p++;
	t.end--;
	trim(&t);
	for (size_t i = 0; i < 3; i++) {
		size_t size = strlen(openings[i]);

		if ((size_t)(t.end - t.p) > size && memcmp(t.p, openings[i], size) == 0) {
			t.p += size;
			break;
		}
	}
	trim(&t);
	if (t.end - t.p < 2 || *t.p != '\'' || t.end[-1] != '\'')
		return -1;
	return cod_moment_read(t.p + 1, (size_t)(t.end - t.p) - 2, ret_moment);
}

void
cod_today(cenote_date *ret_date)
{
	time_t now = time(NULL);
	struct tm local = { .tm_mday = 1, .tm_year = 70 };

	(void)localtime_r(&now, &local);
	*ret_date = (cenote_date){ .year = local.tm_year + 1900,
		.month = (uint8_t)(local.tm_mon + 1),
		.day = (uint8_t)local.tm_mday };
}

size_t
cod_date_text(const cenote_date *date, char *out)
{
	return (size_t)snprintf(out, COD_MOMENT_TEXT_MAX, "%s%04ld-%02u-%02u",
		date->year < 0 ? "-" : "", labs(date->year), date->month, date->day);
}

size_t
cod_time_text(const cenote_time *time, char *out)
{
	size_t n = (size_t)snprintf(out, COD_MOMENT_TEXT_MAX, "%02u:%02u:%02u",
		time->hour, time->minute, time->second);

	if (time->nanosecond == 0)
		return n;
	n += (size_t)snprintf(out + n, COD_MOMENT_TEXT_MAX - n, ".%09lu",
		(unsigned long)time->nanosecond);
	while (out[n - 1] == '0')
		out[--n] = 0;
	return n;
}

size_t
cod_timestamp_text(const cenote_timestamp *at, char *out)
{
	char time[COD_MOMENT_TEXT_MAX];
	size_t n = cod_date_text(&at->date, out);

	(void)cod_time_text(&at->time, time);
	return n + (size_t)snprintf(out + n, COD_MOMENT_TEXT_MAX - n, " %s", time);
}
