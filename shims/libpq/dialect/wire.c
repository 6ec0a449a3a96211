/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * Pack and unpack PostgreSQL's binary forms. binds.c and values.c call this file; it uses no
 * connection.
 */

void
cpq_wire_put(PQExpBuffer out, uint64_t v, unsigned n)
{
	char bytes[8];

	for (unsigned i = n; i > 0; i--) {
		bytes[i - 1] = (char)(unsigned char)v;
		v >>= 8;
	}
	appendBinaryPQExpBuffer(out, bytes, n);
}

uint64_t
cpq_wire_get(const char *bytes, unsigned n)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v = v << 8 | (unsigned char)bytes[i];
	return v;
}

static enum cpq_outcome
outcome(const PQExpBufferData *out)
{
	return out->maxlen > 0 ? CPQ_DONE : CPQ_NO_MEMORY;
}

/* The header of a numeric: number of digits, weight of the first digit, sign, digits to show after
 * the point. */
#define NUMERIC_HEADER 8u
#define GROUP          4 /* decimal digits in one digit of base 10,000 */

enum sign {
	SIGN_PLUS = 0x0000,
	SIGN_MINUS = 0x4000,
	SIGN_NAN = 0xc000,
	SIGN_INFINITY = 0xd000,
	SIGN_MINUS_INFINITY = 0xf000
};

/* The server's limits: decimal digits before and after the point. */
#define WHOLE_MAX 131072
#define SCALE_MAX 16383

/* A decimal number as text. */
struct decimal {
	int is_negative;
	const char *digits; /* the digits, and perhaps a point between them */
	size_t n; /* their length in bytes */
	long point; /* digits before the point, after the exponent was applied */
	long count; /* number of digits */
};

static int
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Read an exponent such as "e-7". 0 or -1. */
static int
read_exponent(const char *p, const char *end, long *ret_exponent)
{
	int is_negative = 0;
	long v = 0;

	*ret_exponent = 0;
	if (p == end)
		return 0;
	if ((*p | 0x20) != 'e')
		return -1;
	p++;
	if (p < end && (*p == '-' || *p == '+'))
		is_negative = *p++ == '-';
	if (p == end)
		return -1;
	for (; p < end && is_digit(*p); p++)
		v = v < 1000000 ? 10 * v + (*p - '0') : v;
	*ret_exponent = is_negative ? -v : v;
	return p == end ? 0 : -1;
}

static int
read_decimal(const char *p, size_t len, struct decimal *ret)
{
	const char *end = p + len;
	int has_point = 0;
	long exponent;

	*ret = (struct decimal){ .digits = NULL };
	if (p < end && (*p == '-' || *p == '+'))
		ret->is_negative = *p++ == '-';
	ret->digits = p;
	for (; p < end && (is_digit(*p) || (*p == '.' && !has_point)); p++) {
		has_point |= *p == '.';
		ret->count += *p != '.';
		ret->point += *p != '.' && !has_point;
	}
	ret->n = (size_t)(p - ret->digits);
	if (ret->count == 0 || read_exponent(p, end, &exponent) < 0)
		return -1;
	ret->point += exponent;
	return 0;
}

/* Groups of four decimal digits, which are digits of base 10,000. Leading zeros are left out. `out`
 * may be NULL, to count only. */
struct groups {
	PQExpBuffer out;
	long weight; /* weight of the group that is being filled */
	long first; /* weight of the first group that is not 0 */
	long last; /* weight of the last group that is not 0 */
	int any;
	unsigned value; /* value of the group that is being filled */
};

static void
end_group(struct groups *g)
{
	if (g->value > 0) {
		/* Groups of zeros in between must be written, too. */
		for (long w = g->last - 1; g->any && w > g->weight && g->out != NULL; w--)
			cpq_wire_put(g->out, 0, 2);
		if (!g->any)
			g->first = g->weight;
		g->any = 1;
		g->last = g->weight;
		if (g->out != NULL)
			cpq_wire_put(g->out, g->value, 2);
	}
	g->value = 0;
	g->weight--;
}

/* The weight of the group that has the digit for 10^power. */
static long
group_of(long power)
{
	return power >= 0 ? power / GROUP : -((GROUP - 1 - power) / GROUP);
}

static void
walk_groups(const struct decimal *d, struct groups *g)
{
	static const unsigned tens[] = { 1, 10, 100, 1000 };
	long power = d->point - 1;

	g->weight = group_of(power);
	for (size_t i = 0; i < d->n; i++) {
		if (d->digits[i] == '.')
			continue;
		if (group_of(power) != g->weight)
			end_group(g);
		g->value += (unsigned)(d->digits[i] - '0') *
			    tens[power - GROUP * group_of(power)];
		power--;
	}
	end_group(g);
}

static void
put_header(PQExpBuffer out, long n, long weight, enum sign sign, long scale)
{
	cpq_wire_put(out, (uint64_t)n, 2);
	cpq_wire_put(out, (uint64_t)weight, 2);
	cpq_wire_put(out, sign, 2);
	cpq_wire_put(out, (uint64_t)scale, 2);
}

static const struct {
	const char *word;
	enum sign sign;
} specials[] = {
	{ "NaN", SIGN_NAN },
	{ "Infinity", SIGN_INFINITY },
	{ "-Infinity", SIGN_MINUS_INFINITY },
};

#define N_SPECIALS (sizeof(specials) / sizeof(specials[0]))

enum cpq_outcome
cpq_numeric_pack(PQExpBuffer out, const char *text, size_t len)
{
	struct groups g = { .out = NULL };
	struct decimal d;
	long scale;

	for (size_t i = 0; i < N_SPECIALS; i++) {
		if (strlen(specials[i].word) == len &&
			memcmp(specials[i].word, text, len) == 0) {
			put_header(out, 0, 0, specials[i].sign, 0);
			return outcome(out);
		}
	}
	if (read_decimal(text, len, &d) < 0)
		return CPQ_NOT_OF_TYPE;
	scale = d.count > d.point ? d.count - d.point : 0;
	if (d.point > WHOLE_MAX || scale > SCALE_MAX)
		return CPQ_OUT_OF_RANGE;
	walk_groups(&d, &g);
	put_header(out, g.any ? g.first - g.last + 1 : 0, g.any ? g.first : 0,
		g.any && d.is_negative ? SIGN_MINUS : SIGN_PLUS, scale);
	g = (struct groups){ .out = out };
	walk_groups(&d, &g);
	return outcome(out);
}

enum cpq_outcome
cpq_float_read(const char *text, size_t len, double *ret_value)
{
	enum cpq_outcome r = CPQ_DONE;
	PQExpBufferData plain;
	struct decimal d;

	for (size_t i = 0; i < N_SPECIALS; i++) {
		if (strlen(specials[i].word) != len ||
			strncasecmp(specials[i].word, text, len) != 0)
			continue;
		*ret_value = strtod(specials[i].word, NULL);
		return CPQ_DONE;
	}
	if (read_decimal(text, len, &d) < 0)
		return CPQ_NOT_OF_TYPE;
	/* Remove the point, because some locales use another character. */
	initPQExpBuffer(&plain);
	appendPQExpBufferStr(&plain, d.is_negative ? "-" : "");
	for (size_t i = 0; i < d.n; i++) {
		if (d.digits[i] != '.')
			appendPQExpBufferChar(&plain, d.digits[i]);
	}
	appendPQExpBuffer(&plain, "e%ld", d.point - d.count);
	if (plain.maxlen == 0)
		r = CPQ_NO_MEMORY;
	else
		*ret_value = strtod(plain.data, NULL);
	if (r == CPQ_DONE && isinf(*ret_value))
		r = CPQ_OUT_OF_RANGE;
	termPQExpBuffer(&plain);
	return r;
}

/* A numeric that is being unpacked. */
struct numeric {
	const char *digits;
	int n;
	int weight;
	int scale;
};

/* The four decimal digits of the group with that weight; 0 outside of the number. */
static unsigned
group_at(const struct numeric *v, int weight)
{
	int i = v->weight - weight;

	return i >= 0 && i < v->n ? (unsigned)cpq_wire_get(v->digits + 2 * i, 2) : 0;
}

static void
put_group(PQExpBuffer out, unsigned value, int n)
{
	char text[5];

	for (int i = GROUP - 1; i >= 0; i--) {
		text[i] = (char)('0' + value % 10);
		value /= 10;
	}
	appendBinaryPQExpBuffer(out, text, (size_t)n);
}

/* The weight of the first group to show before the point, without leading zeros. */
static int
first_shown(const struct numeric *v)
{
	int w = v->n > 0 ? v->weight : 0;

	while (w > 0 && group_at(v, w) == 0)
		w--;
	return w > 0 ? w : 0;
}

static void
put_numeric(PQExpBuffer out, const struct numeric *v)
{
	int w = first_shown(v);

	appendPQExpBuffer(out, "%u", group_at(v, w));
	while (--w >= 0)
		put_group(out, group_at(v, w), GROUP);
	if (v->scale > 0)
		appendPQExpBufferChar(out, '.');
	w = -1;
	for (int done = 0; done < v->scale; done += GROUP, w--)
		put_group(out, group_at(v, w),
			v->scale - done < GROUP ? v->scale - done : GROUP);
}

static int
are_groups(const struct numeric *v)
{
	for (int i = 0; i < v->n; i++) {
		if (cpq_wire_get(v->digits + 2 * i, 2) >= 10000)
			return 0;
	}
	return 1;
}

enum cpq_outcome
cpq_numeric_unpack(PQExpBuffer out, const char *bytes, size_t len)
{
	struct numeric v;
	unsigned sign;

	if (len < NUMERIC_HEADER)
		return CPQ_NOT_OF_TYPE;
	v.digits = bytes + NUMERIC_HEADER;
	v.n = (int)cpq_wire_get(bytes, 2);
	v.weight = (int16_t)cpq_wire_get(bytes + 2, 2);
	v.scale = (int)cpq_wire_get(bytes + 6, 2);
	sign = (unsigned)cpq_wire_get(bytes + 4, 2);
	if (len != NUMERIC_HEADER + 2 * (size_t)v.n || v.scale > SCALE_MAX ||
		!are_groups(&v))
		return CPQ_NOT_OF_TYPE;
	for (size_t i = 0; i < N_SPECIALS; i++) {
		if (specials[i].sign == sign) {
			appendPQExpBufferStr(out, specials[i].word);
			return outcome(out);
		}
	}
	if (sign != SIGN_PLUS && sign != SIGN_MINUS)
		return CPQ_NOT_OF_TYPE;
	if (sign == SIGN_MINUS)
		appendPQExpBufferChar(out, '-');
	put_numeric(out, &v);
	return outcome(out);
}

static int
hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

#define UUID_SIZE 16u

enum cpq_outcome
cpq_uuid_pack(PQExpBuffer out, const char *text, size_t len)
{
	char bytes[UUID_SIZE] = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		int v = hex_value(text[i]);

		if (text[i] == '-' && n % 4 == 0)
			continue;
		if (v < 0 || n == 2 * UUID_SIZE)
			return CPQ_NOT_OF_TYPE;
		bytes[n / 2] =
			(char)(unsigned char)((unsigned char)bytes[n / 2] << 4 | v);
		n++;
	}
	if (n != 2 * UUID_SIZE)
		return CPQ_NOT_OF_TYPE;
	appendBinaryPQExpBuffer(out, bytes, sizeof(bytes));
	return outcome(out);
}

void
cpq_uuid_unpack(PQExpBuffer out, const char bytes[UUID_SIZE])
{
	for (unsigned i = 0; i < UUID_SIZE; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			appendPQExpBufferChar(out, '-');
		appendPQExpBuffer(out, "%02x", (unsigned)(unsigned char)bytes[i]);
	}
}

/* Dates: the proleptic Gregorian calendar, counted in eras of 400 years that begin in March. */

#define ERA_DAYS   146097
/* Days from 0000-03-01 to 2000-01-01. */
#define EPOCH_DAYS 730425
#define ERA_YEARS  400

static int64_t
era_of(int64_t v, int64_t length)
{
	return (v >= 0 ? v : v - (length - 1)) / length;
}

int64_t
cpq_days_of(const cenote_date *date)
{
	int64_t year = date->month > 2 ? date->year : date->year - (int64_t)1;
	int64_t era = era_of(year, ERA_YEARS);
	int64_t y = year - era * ERA_YEARS;
	int64_t month = (date->month + 9) % 12;
	int64_t day = (153 * month + 2) / 5 + date->day - 1;

	return era * ERA_DAYS + 365 * y + y / 4 - y / 100 + day - EPOCH_DAYS;
}

cenote_date
cpq_date_of(int64_t days)
{
	int64_t n = days + EPOCH_DAYS;
	int64_t era = era_of(n, ERA_DAYS);
	int64_t d = n - era * ERA_DAYS;
	int64_t y = (d - d / 1460 + d / 36524 - d / 146096) / 365;
	int64_t rest = d - (365 * y + y / 4 - y / 100);
	int64_t month = (5 * rest + 2) / 153;
	cenote_date date = { .year = 0 };

	date.day = (uint8_t)(rest - (153 * month + 2) / 5 + 1);
	date.month = (uint8_t)(month < 10 ? month + 3 : month - 9);
	date.year = (int32_t)(era * ERA_YEARS + y + (date.month <= 2));
	return date;
}

int64_t
cpq_usecs_of(const cenote_time *time)
{
	int64_t seconds = (int64_t)time->hour * 3600 + time->minute * 60 + time->second;

	return seconds * 1000000 + time->nanosecond / 1000;
}

cenote_time
cpq_time_of(int64_t usecs)
{
	int64_t seconds = usecs / 1000000;

	return (cenote_time){ .hour = (uint8_t)(seconds / 3600),
		.minute = (uint8_t)(seconds / 60 % 60),
		.second = (uint8_t)(seconds % 60),
		.nanosecond = (uint32_t)(usecs % 1000000 * 1000),
		.utc_offset_s = CENOTE_NO_OFFSET };
}
