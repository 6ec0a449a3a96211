/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Binds values of a file as parameters of statements. The importer binds rows, and the exporter binds the key of the last
 * row when it continues a file. This file keeps no state.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "link.h"

/* How an offset from UTC is written. */
#define OFFSET "+HH:MM"

/* Bind bytes. They are \x and hexadecimal digits, or else the bytes themselves. */
static int
bind_bytes(cenote_params *params, const struct cell *cell)
{
	struct text bytes = { 0 };
	int r;

	if (cell->len >= 2 && memcmp(cell->text, "\\x", 2) == 0 &&
		text_add_unhex(&bytes, cell->text + 2, cell->len - 2) == 0)
		r = cenote_params_add_bytes(params, text_str(&bytes), bytes.len);
	else
		r = cenote_params_add_bytes(params, cell->text, cell->len);
	text_finish(&bytes);
	return r;
}

static int
bind_bool(cenote_params *params, const struct cell *cell)
{
	static const char *const words[] = { "0", "1", "f", "t", "false", "true", "no",
		"yes", "off", "on" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasecmp(cell->text, words[i]) == 0)
			return cenote_params_add_bool(params, (int)(i & 1));
	}
	return cenote_params_add_text(params, cell->text, cell->len);
}

static int
bind_int64(cenote_params *params, const struct cell *cell)
{
	char *end;
	long long n;

	errno = 0;
	n = strtoll(cell->text, &end, 10);
	if (errno != 0 || cell->len == 0 || end != cell->text + cell->len)
		return cenote_params_add_text(params, cell->text, cell->len);
	return cenote_params_add_int64(params, n);
}

static int
bind_double(cenote_params *params, const struct cell *cell)
{
	char *end;
	double n;

	errno = 0;
	n = strtod(cell->text, &end);
	if (errno != 0 || cell->len == 0 || end != cell->text + cell->len)
		return cenote_params_add_text(params, cell->text, cell->len);
	return cenote_params_add_double(params, n);
}

/* Read a number of n_digits digits. -1: there are other characters. */
static int
read_digits(const char *s, size_t n_digits)
{
	int n = 0;

	for (; n_digits > 0; n_digits--, s++) {
		if (*s < '0' || *s > '9')
			return -1;
		n = n * 10 + (*s - '0');
	}
	return n;
}

/* Read the offset at the end of a timestamp, "+HH:MM". False: there is none. */
static bool
find_offset(const struct cell *cell, long *ret_seconds)
{
	const char *s = cell->text + cell->len - strlen(OFFSET);
	int hours = read_digits(s + 1, 2), minutes = read_digits(s + 4, 2);

	if ((*s != '+' && *s != '-') || s[3] != ':' || hours < 0 || minutes < 0)
		return false;
	*ret_seconds = (*s == '-' ? -1 : 1) * (hours * 3600L + minutes * 60L);
	return true;
}

/* Read "YYYY-MM-DD HH:MM". */
static bool
read_minutes(const struct cell *cell, struct tm *ret_tm)
{
	const char *s = cell->text;
	int year = read_digits(s, 4), month = read_digits(s + 5, 2);

	*ret_tm = (struct tm){
		.tm_year = year - 1900,
		.tm_mon = month - 1,
		.tm_mday = read_digits(s + 8, 2),
		.tm_hour = read_digits(s + 11, 2),
		.tm_min = read_digits(s + 14, 2),
	};
	return year >= 0 && month > 0 && ret_tm->tm_mday > 0 && ret_tm->tm_hour >= 0 &&
	       ret_tm->tm_min >= 0;
}

/* Bind a timestamp as the same time in UTC, for a server whose timestamps have no offset. */
static int
bind_utc(cenote_params *params, const struct cell *cell)
{
	size_t minutes_len = strlen("YYYY-MM-DD HH:MM");
	char utc[64];
	struct tm tm;
	long offset;
	time_t t;
	int n;

	if (cell->len < minutes_len + strlen(":SS" OFFSET) ||
		!find_offset(cell, &offset) || !read_minutes(cell, &tm))
		return cenote_params_add_text(params, cell->text, cell->len);
	t = timegm(&tm) - offset;
	if (!gmtime_r(&t, &tm))
		return cenote_params_add_text(params, cell->text, cell->len);
	/* Seconds and their fraction are the same in every time zone. */
	n = snprintf(utc, sizeof(utc), "%04d-%02d-%02d %02d:%02d%.*s", tm.tm_year + 1900,
		tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
		(int)(cell->len - minutes_len - strlen(OFFSET)),
		cell->text + minutes_len);
	if (n < 0 || (size_t)n >= sizeof(utc))
		return cenote_params_add_text(params, cell->text, cell->len);
	return cenote_params_add_text(params, utc, (size_t)n);
}

int
link_bind(cenote_params *params, const struct link *l, const struct column *column,
	const struct cell *cell)
{
	if (!cell->text)
		return cenote_params_add_null(params);
	switch (column->type) {
	case CENOTE_TYPE_BOOL:
		return bind_bool(params, cell);
	case CENOTE_TYPE_INT64:
		return bind_int64(params, cell);
	case CENOTE_TYPE_DOUBLE:
		return bind_double(params, cell);
	case CENOTE_TYPE_BYTES:
		return bind_bytes(params, cell);
	case CENOTE_TYPE_TIMESTAMP:
		if (!l->dialect->has_zones)
			return bind_utc(params, cell);
		break;
	default:
		break;
	}
	return cenote_params_add_text(params, cell->text, cell->len);
}
