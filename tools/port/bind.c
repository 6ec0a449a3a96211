/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of a file as parameters of statements. The importer binds rows, and the exporter binds the key from which it
 * continues. It has no state.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "link.h"

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* \x and hexadecimal digits are bytes; anything else is bytes as it is. */
static int
bind_bytes(cenote_params *params, const struct cell *cell)
{
	struct text bytes = { 0 };
	size_t i;
	int r;

	if (cell->len < 2 || cell->len % 2 != 0 || memcmp(cell->text, "\\x", 2) != 0)
		return cenote_params_add_bytes(params, cell->text, cell->len);
	for (i = 2; i < cell->len; i += 2) {
		int high = hex_digit(cell->text[i]), low = hex_digit(cell->text[i + 1]);

		if (high < 0 || low < 0)
			break;
		text_add_char(&bytes, (char)(high << 4 | low));
	}
	if (i < cell->len)
		r = cenote_params_add_bytes(params, cell->text, cell->len);
	else
		r = cenote_params_add_bytes(params, text_str(&bytes), bytes.len);
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
	double n = strtod(cell->text, &end);

	if (cell->len == 0 || end != cell->text + cell->len)
		return cenote_params_add_text(params, cell->text, cell->len);
	return cenote_params_add_double(params, n);
}

/* The offset at the end of a timestamp, "+HH:MM", in seconds. False: there is none. */
static bool
find_offset(const struct cell *cell, long *ret_seconds)
{
	const char *s = cell->text + cell->len - 6;
	int hours, minutes, n = 0;

	if (cell->len < 25 || (*s != '+' && *s != '-') ||
		sscanf(s + 1, "%2d:%2d%n", &hours, &minutes, &n) != 2 || n != 5)
		return false;
	*ret_seconds = (*s == '-' ? -1 : 1) * (hours * 3600L + minutes * 60L);
	return true;
}

/* For a server whose timestamps have no offset: the same time in UTC. */
static int
bind_utc(cenote_params *params, const struct cell *cell)
{
	struct tm tm = { 0 };
	char utc[64];
	long offset;
	time_t t;
	int n = 0;

	if (!find_offset(cell, &offset) ||
		sscanf(cell->text, "%4d-%2d-%2d %2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon,
			&tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &n) != 6)
		return cenote_params_add_text(params, cell->text, cell->len);
	tm.tm_year -= 1900;
	tm.tm_mon--;
	t = timegm(&tm) - offset;
	if (!gmtime_r(&t, &tm))
		return cenote_params_add_text(params, cell->text, cell->len);
	/* Seconds and their fraction are the same in every time zone. */
	n = snprintf(utc, sizeof(utc), "%04d-%02d-%02d %02d:%02d:%.*s", tm.tm_year + 1900,
		tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
		(int)(cell->len - 6 - (size_t)(n - 2)), cell->text + n - 2);
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
