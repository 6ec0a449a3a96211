/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Write numbers as text, and read them, independent of the locale. Both libraries share these
 * algorithms (MySQL's dtoa), so the results must match them digit by digit. convert.c, cell.c and
 * the flavours' files call this file. It owns no state.
 */
#include "number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 32
/* A number with more digits before the point, or more zeros after it, gets an exponent. */
#define POINT_MAX  15

/* value = 0.DIGITS * 10^point */
struct digits {
	char d[DIGITS_MAX];
	int n; /* number of digits, without trailing zeros */
	int point;
};

static void
trim(struct digits *s)
{
	while (s->n > 1 && s->d[s->n - 1] == '0')
		s->n--;
}

/* Round to n digits, at most 17. The locale may have another decimal point. */
static void
take_digits(double v, int n, struct digits *s)
{
	char text[64];
	const char *p = text;

	snprintf(text, sizeof(text), "%.*e", n - 1, fabs(v));
	s->n = 0;
	for (; *p && *p != 'e'; p++) {
		if (*p >= '0' && *p <= '9' && s->n < DIGITS_MAX)
			s->d[s->n++] = *p;
	}
	s->point = *p == 'e' ? (int)strtol(p + 1, NULL, 10) + 1 : 1;
	if (v == 0)
		s->point = 1;
	trim(s);
}

static double
value_of(const struct digits *s)
{
	char text[DIGITS_MAX + 16];

	snprintf(text, sizeof(text), "%.*se%d", s->n, s->d, s->point - s->n);
	return strtod(text, NULL);
}

/*
 * The gap above a power of two is twice the gap below it. So the nearest number of 16 digits, which
 * is below it, may not read back as the same double, when a number of 16 digits above it does.
 */
static int
try_above(double v, struct digits *s)
{
	int exponent;

	if (frexp(fabs(v), &exponent) != 0.5 || s->n < 16 || s->d[15] == '9')
		return 0;
	s->d[15] = (char)(s->d[15] + 1);
	if (value_of(s) == fabs(v))
		return 1;
	s->d[15] = (char)(s->d[15] - 1);
	return 0;
}

/* Take the fewest digits, at most `most`, that read back as the same number. */
static void
take_shortest(double v, int most, struct digits *s)
{
	int n = fabs(v) < DBL_MIN ? 1 : DBL_DIG;

	if (most < 1)
		most = 1;
	for (; n < most && n < 17; n++) {
		take_digits(v, n, s);
		if (value_of(s) == fabs(v) || (n == 16 && try_above(v, s)))
			return;
	}
	take_digits(v, n < most ? n : most, s);
}

/* Round to `decimals` digits after the point; n is 0 if no digit is left. */
static void
take_fixed(double v, int decimals, struct digits *s)
{
	char text[CMY_NUMBER_TEXT_MAX];
	const char *p = text;
	int is_behind = 0;

	snprintf(text, sizeof(text), "%.*f", decimals, fabs(v));
	s->n = 0;
	s->point = 0;
	for (; *p; p++) {
		if (*p < '0' || *p > '9') {
			is_behind = 1;
			continue;
		}
		if (s->n == 0 && *p == '0') {
			s->point -= is_behind;
			continue;
		}
		s->point += !is_behind;
		if (s->n < DIGITS_MAX)
			s->d[s->n++] = *p;
	}
	if (s->n > 0)
		trim(s);
}

static char *
put_sign(char *p, double v)
{
	if (signbit(v))
		*p++ = '-';
	return p;
}

static char *
put_zeros(char *p, int n)
{
	for (; n > 0; n--)
		*p++ = '0';
	return p;
}

static char *
put_plain(char *p, const struct digits *s, int decimals)
{
	int whole = s->point > 0 ? s->point : 0, i;

	if (whole == 0)
		*p++ = '0';
	for (i = 0; i < whole; i++)
		*p++ = (char)(i < s->n ? s->d[i] : '0');
	if (decimals <= 0)
		return p;
	*p++ = '.';
	for (i = s->point; i < 0 && decimals > 0; i++, decimals--)
		*p++ = '0';
	for (i = whole; i < s->n && decimals > 0; i++, decimals--)
		*p++ = s->d[i];
	return put_zeros(p, decimals);
}

static char *
put_exponent(char *p, const struct digits *s, int exponent)
{
	*p++ = s->d[0];
	if (s->n > 1) {
		*p++ = '.';
		memcpy(p, s->d + 1, (size_t)s->n - 1);
		p += s->n - 1;
	}
	*p++ = 'e';
	return p + snprintf(p, 8, "%d", exponent);
}

static size_t
put_zero(char *out)
{
	*out = '0';
	return 1;
}

/* The number of digits of the exponent. */
static int
exponent_length(const struct digits *s)
{
	return 1 + (s->point >= 101 || s->point <= -99) +
	       (s->point >= 11 || s->point <= -9);
}

/* The length of the number without an exponent. */
static int
plain_length(const struct digits *s)
{
	if (s->point <= 0)
		return s->n - s->point + 2;
	return s->point < s->n ? s->n + 1 : s->point;
}

/* Write the number without an exponent? The form that shows more digits in the width wins. */
static int
is_plain(const struct digits *s, int width)
{
	if (plain_length(s) <= width)
		return s->point >= -POINT_MAX + 1 &&
		       (s->point <= POINT_MAX || s->n > s->point);
	if (s->point > width || s->point < -2)
		return 0;
	/* not if no digit would fit into the width */
	return s->point > 0 || width > 2 - s->point || width < 3 + exponent_length(s);
}

static char *
put_in_exponent_form(char *p, double v, struct digits *s, int width)
{
	int exponent = s->point - 1;

	width -= 1 + exponent_length(s) + (exponent < 0) + (s->n > 1);
	if (width < s->n) {
		take_shortest(v, width, s);
		exponent = s->point - 1;
	}
	return put_exponent(put_sign(p, v), s, exponent);
}

static char *
put_in_plain_form(char *p, double v, struct digits *s, int width)
{
	int room = width - (s->point < s->n) - (s->point <= 0 ? 1 - s->point : 0);

	if (room < s->n) {
		take_fixed(v, room > s->point ? room - s->point : 0, s);
		if (s->n == 0)
			return put_zeros(p, 1);
	}
	return put_plain(put_sign(p, v), s, s->n > s->point ? s->n - s->point : 0);
}

size_t
cmy_real_text(double v, int is_float, size_t width, char *out)
{
	int most = width < 330 ? (int)width : 330, room = most - (v < 0);
	struct digits s = { .n = 0 };
	char *p = out;

	if (isnan(v) || isinf(v))
		return put_zero(out);
	take_shortest(v, is_float && room > FLT_DIG ? FLT_DIG : room, &s);
	p = is_plain(&s, room) ? put_in_plain_form(p, v, &s, room)
			       : put_in_exponent_form(p, v, &s, room);
	if (s.n == 0)
		return 1;
	/* cut off the bytes that do not fit */
	return p - out > most ? (size_t)most : (size_t)(p - out);
}

size_t
cmy_real_text_fixed(double v, unsigned decimals, char *out)
{
	struct digits s = { .n = 0 };
	size_t whole, n;

	if (isnan(v) || isinf(v))
		return put_zero(out);
	take_shortest(v, 17, &s);
	if (s.n - s.point <= (int)decimals)
		return (size_t)(put_plain(put_sign(out, v), &s, (int)decimals) - out);
	n = (size_t)snprintf(out, CMY_NUMBER_TEXT_MAX, "%.*f", (int)decimals, v);
	/* sic: both libraries do this */
	if (decimals == 0 && fabs(v) <= 0.5)
		out[n++] = '.';
	whole = strspn(out, "-0123456789");
	if (decimals == 0 || whole >= n)
		return n;
	out[whole] = '.';
	memmove(out + whole + 1, out + n - decimals, decimals);
	return whole + 1 + decimals;
}

size_t
cmy_integer_text(int64_t v, int is_unsigned, char *out)
{
	uint64_t left = is_unsigned || v >= 0 ? (uint64_t)v : 0 - (uint64_t)v;
	char text[20], *end = text + sizeof(text), *p = end, *to = out;

	do {
		*--p = (char)('0' + left % 10);
		left /= 10;
	} while (left > 0);
	if (!is_unsigned && v < 0)
		*to++ = '-';
	memcpy(to, p, (size_t)(end - p));
	return (size_t)(to - out) + (size_t)(end - p);
}

/* ---- reading ---- */

int
cmy_is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

void
cmy_read_integer(const char *p, size_t n, struct cmy_read *ret_read)
{
	struct cmy_read r = { .magnitude = 0 };
	size_t i = 0;

	while (i < n && cmy_is_blank(p[i]))
		i++;
	if (i < n && (p[i] == '-' || p[i] == '+')) {
		r.has_sign = 1;
		r.is_negative = p[i++] == '-';
	}
	for (; i < n && p[i] >= '0' && p[i] <= '9'; i++) {
		uint64_t digit = (uint64_t)(p[i] - '0');

		r.has_digits = 1;
		r.is_too_large = r.magnitude > (UINT64_MAX - digit) / 10;
		if (r.is_too_large)
			break;
		r.magnitude = r.magnitude * 10 + digit;
	}
	r.used = i;
	*ret_read = r;
}

/* The length that strtod() would read, without hexadecimal numbers, "inf" and "nan", which only C
 * accepts. */
static size_t
real_length(const char *p, size_t n)
{
	size_t i = 0, digits = 0, exponent;

	if (i < n && (p[i] == '-' || p[i] == '+'))
		i++;
	for (; i < n && p[i] >= '0' && p[i] <= '9'; i++)
		digits++;
	if (i < n && p[i] == '.') {
		for (i++; i < n && p[i] >= '0' && p[i] <= '9'; i++)
			digits++;
	}
	if (digits == 0)
		return 0;
	if (i >= n || (p[i] | 0x20) != 'e')
		return i;
	exponent = i + 1;
	if (exponent < n && (p[exponent] == '-' || p[exponent] == '+'))
		exponent++;
	if (exponent >= n || p[exponent] < '0' || p[exponent] > '9')
		return i;
	while (exponent < n && p[exponent] >= '0' && p[exponent] <= '9')
		exponent++;
	return exponent;
}

/*
 * strtod() reads the locale's decimal point, so give it a copy without a point and with a matching
 * exponent. After the 800th digit it matters only whether a digit is not zero.
 */
#define REAL_DIGITS 800

struct plain_real {
	char text[REAL_DIGITS + 32];
	int n;
	int64_t exponent;
};

static int
has_digits(const struct plain_real *r)
{
	return r->n > 1 || (r->n == 1 && r->text[0] != '-');
}

static void
take_digit(struct plain_real *r, char c, int is_behind)
{
	if (r->n < REAL_DIGITS) {
		r->text[r->n++] = c;
		r->exponent -= is_behind;
		return;
	}
	r->exponent += !is_behind;
	if (c != '0')
		r->text[REAL_DIGITS - 1] = '1';
}

int
cmy_read_real(const char *p, size_t n, double *ret_value)
{
	struct plain_real r = { .n = 0, .exponent = 0 };
	struct cmy_read written = { .magnitude = 0 };
	size_t i = 0, end;
	int is_behind = 0;

	while (i < n && cmy_is_blank(p[i]))
		i++;
	end = i + real_length(p + i, n - i);
	*ret_value = 0;
	if (end == i)
		return 0;
	for (; i < end && (p[i] | 0x20) != 'e'; i++) {
		if (p[i] == '.')
			is_behind = 1;
		else if (p[i] == '-')
			r.text[r.n++] = '-';
		else if (p[i] != '+' && (p[i] != '0' || has_digits(&r) || is_behind))
			take_digit(&r, p[i], is_behind);
	}
	if (i < end)
		cmy_read_integer(p + i + 1, end - i - 1, &written);
	if (written.magnitude > 100000)
		written.magnitude = 100000;
	r.exponent += written.is_negative ? -(int64_t)written.magnitude
					  : (int64_t)written.magnitude;
	snprintf(r.text + r.n, 32, "%se%lld", has_digits(&r) ? "" : "0",
		(long long)r.exponent);
	*ret_value = strtod(r.text, NULL);
	return isinf(*ret_value) != 0;
}

/* ---- reals as integers ---- */

int32_t
cmy_to_int32(double v)
{
	return v > -2147483649.0 && v < 2147483648.0 ? (int32_t)v : INT32_MIN;
}

int64_t
cmy_to_int64(double v)
{
	return v >= -9223372036854775808.0 && v < 9223372036854775808.0 ? (int64_t)v
									: INT64_MIN;
}

uint64_t
cmy_to_uint64(double v)
{
	if (v >= 9223372036854775808.0)
		return (uint64_t)cmy_to_int64(v - 9223372036854775808.0) ^
		       (uint64_t)INT64_MIN;
	return (uint64_t)cmy_to_int64(v);
}
