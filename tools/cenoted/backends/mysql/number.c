/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers as servers write them in the text protocol. The form differs from printf()'s. It has the fewest digits
 * that read back the same. It has an 'e', without sign and padding, only if the point would be more than 15 digits
 * away.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/value.h"

#include "values.h"

#define NOT_FIXED  31u
#define DIGITS_MAX 17

struct digits {
	char d[DIGITS_MAX + 1]; /* no trailing zeros; "0" is zero */
	int n;
	int point; /* value = 0.DIGITS * 10^point */
	int is_negative;
};

/* Parse the output of "%.*e", whatever the locale's decimal point is. */
static void
take_digits(const char *text, struct digits *ret_digits)
{
	struct digits s = { .is_negative = *text == '-' };
	const char *p = text + s.is_negative;

	for (; *p && *p != 'e'; p++) {
		if (*p >= '0' && *p <= '9' && s.n < DIGITS_MAX)
			s.d[s.n++] = *p;
	}
	if (*p == 'e')
		s.point = (int)strtol(p + 1, NULL, 10) + 1;
	while (s.n > 1 && s.d[s.n - 1] == '0')
		s.n--;
	*ret_digits = s;
}

static int
try_digits(double v, int n, struct digits *ret_digits)
{
	char text[40];

	snprintf(text, sizeof(text), "%.*e", n - 1, v);
	if (strtod(text, NULL) != v)
		return 0;
	take_digits(text, ret_digits);
	return 1;
}

/*
 * The gap above a power of two is twice the gap below. So the nearest number of 16 digits, which is
 * below, may not read back as this power, while one above does.
 */
static int
try_above(double v, struct digits *ret_digits)
{
	char text[40], *p;
	int exponent;

	if (fabs(frexp(v, &exponent)) != 0.5)
		return 0;
	snprintf(text, sizeof(text), "%.15e", v);
	p = strchr(text, 'e') - 1;
	if (*p == '9')
		return 0;
	*p = (char)(*p + 1);
	if (strtod(text, NULL) != v)
		return 0;
	take_digits(text, ret_digits);
	return 1;
}

static void
shortest(double v, struct digits *ret_digits)
{
	int n = fabs(v) < DBL_MIN ? 1 : 15;

	for (; n < DIGITS_MAX; n++) {
		if (try_digits(v, n, ret_digits))
			return;
		if (n == 16 && try_above(v, ret_digits))
			return;
	}
	(void)try_digits(v, DIGITS_MAX, ret_digits);
}

static char *
put_zeros(char *p, int n)
{
	for (; n > 0; n--)
		*p++ = '0';
	return p;
}

/* Write `decimals` digits after the point; if negative, as many as there are. */
static char *
put_plain(char *p, const struct digits *s, int decimals)
{
	int whole = s->point > 0 ? s->point : 0, behind, i;

	if (whole == 0)
		*p++ = '0';
	for (i = 0; i < whole; i++)
		*p++ = (char)(i < s->n ? s->d[i] : '0');
	behind = s->n - s->point;
	if (behind < 0)
		behind = 0;
	if (decimals < 0)
		decimals = behind;
	if (decimals == 0)
		return p;
	*p++ = '.';
	if (behind > 0) {
		p = put_zeros(p, s->point < 0 ? -s->point : 0);
		for (i = whole; i < s->n; i++)
			*p++ = s->d[i];
	}
	return put_zeros(p, decimals - behind);
}

static char *
put_exponent(char *p, const struct digits *s)
{
	*p++ = s->d[0];
	if (s->n > 1) {
		*p++ = '.';
		memcpy(p, s->d + 1, (size_t)s->n - 1);
		p += s->n - 1;
	}
	*p++ = 'e';
	return p + cnc_int64_text(s->point - 1, p);
}

static size_t
layout(const struct digits *s, char *out)
{
	int is_plain = s->point >= -14 && (s->point <= 15 || s->n > s->point);
	char *p = out;

	if (s->is_negative)
		*p++ = '-';
	p = is_plain ? put_plain(p, s, -1) : put_exponent(p, s);
	*p = '\0';
	return (size_t)(p - out);
}

/* printf() rounds if there are more digits than requested. It writes the locale's decimal point. */
static size_t
layout_rounded(double v, int decimals, char *out)
{
	int n = snprintf(out, CND_MY_DOUBLE_TEXT_MAX, "%.*f", decimals, v);
	size_t len = (size_t)n, whole = strspn(out, "-0123456789");

	if (decimals == 0 || whole >= len)
		return len;
	out[whole] = '.';
	memmove(out + whole + 1, out + len - (size_t)decimals, (size_t)decimals + 1);
	return whole + 1 + (size_t)decimals;
}

static size_t
put_zero(char *out)
{
	memcpy(out, "0", 2);
	return 1;
}

size_t
cnd_my_double_text(double v, uint32_t decimals, char out[CND_MY_DOUBLE_TEXT_MAX])
{
	struct digits s = { 0 };
	char *p = out;

	/* No column can hold an infinity or NaN; servers write 0 for an expression with such a value. */
	if (isnan(v) || isinf(v))
		return put_zero(out);
	shortest(v, &s);
	if (decimals >= NOT_FIXED)
		return layout(&s, out);
	if (s.n - s.point > (int)decimals)
		return layout_rounded(v, (int)decimals, out);
	if (s.is_negative)
		*p++ = '-';
	p = put_plain(p, &s, (int)decimals);
	*p = '\0';
	return (size_t)(p - out);
}

size_t
cnd_my_float_text(float v, uint32_t decimals, char out[CND_MY_DOUBLE_TEXT_MAX])
{
	struct digits s = { 0 };
	char text[40];

	if (decimals < NOT_FIXED || isnan(v) || isinf(v))
		return cnd_my_double_text((double)v, decimals, out);
	snprintf(text, sizeof(text), "%.*e", FLT_DIG - 1, (double)v);
	take_digits(text, &s);
	return layout(&s, out);
}

size_t
cnd_my_float_canonical(float v, char out[CNC_VALUE_TEXT_MAX])
{
	char text[40];
	int n = FLT_DIG;

	if (isnan(v) || isinf(v) || (fabsf(v) < 1e15f && v == (float)(int64_t)v))
		return cnc_double_text((double)v, out);
	for (; n <= FLT_DECIMAL_DIG; n++) {
		snprintf(text, sizeof(text), "%.*e", n - 1, (double)v);
		if (strtof(text, NULL) == v)
			break;
	}
	return cnc_double_text(strtod(text, NULL), out);
}
