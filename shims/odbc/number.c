/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers as exact decimal texts, and as the types of C and ODBC. It does not depend on the locale.
 * convert_get.c and convert_put.c call it. It has no state.
 */
#include "number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A larger exponent means infinity, or zero. */
#define EXPONENT_MAX 100000
/* Digits beyond these cannot change the nearest double, except that it matters whether all of them
 * are zero. */
#define REAL_DIGITS  800

static int
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static const char *
skip_sign(const char *p, const char *end, int *ret_is_negative)
{
	*ret_is_negative = p < end && *p == '-';
	return p < end && (*p == '-' || *p == '+') ? p + 1 : p;
}

static int
is_word(const char *p, const char *end, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(end - p) != n)
		return 0;
	for (size_t i = 0; i < n; i++) {
		if ((p[i] | 0x20) != word[i])
			return 0;
	}
	return 1;
}

static int
read_word(const char *p, const char *end, struct cod_number *number)
{
	if (is_word(p, end, "nan"))
		number->kind = COD_NUMBER_NAN;
	else if (is_word(p, end, "infinity") || is_word(p, end, "inf"))
		number->kind = COD_NUMBER_INFINITE;
	else
		return -1;
	return 0;
}

/* Returns the end of the exponent; NULL: it has no digits. */
static const char *
read_exponent(const char *p, const char *end, int64_t *ret_exponent)
{
	int is_negative;
	int64_t value = 0;

	p = skip_sign(p, end, &is_negative);
	if (p == end || !is_digit(*p))
		return NULL;
	for (; p < end && is_digit(*p); p++) {
		if (value < EXPONENT_MAX)
			value = value * 10 + (*p - '0');
	}
	*ret_exponent = is_negative ? -value : value;
	return p;
}

/* Returns the end of the digits and the point; NULL: there are no digits. */
static const char *
read_digits(const char *p, const char *end, struct cod_number *number)
{
	const char *point = NULL, *first = NULL, *begin = p;
	size_t n = 0;

	for (; p < end && (is_digit(*p) || (*p == '.' && !point)); p++) {
		if (*p == '.') {
			point = p;
			continue;
		}
		n++;
		if (*p != '0' && !first)
			first = p;
	}
	if (n == 0)
		return NULL;
	number->digits = first ? first : begin;
	number->n = first ? (size_t)(p - first) : 0;
	if (!point)
		point = p;
	if (first)
		number->top = first < point ? point - first - 1 : point - first;
	return p;
}

int
cod_number_read(const char *text, size_t n, struct cod_number *ret_number)
{
	struct cod_number number = { .kind = COD_NUMBER_FINITE };
	const char *p = text, *end = text + n;
	int64_t exponent = 0;

	while (p < end && is_blank(*p))
		p++;
	while (p < end && is_blank(end[-1]))
		end--;
	p = skip_sign(p, end, &number.is_negative);
	if (p < end && !is_digit(*p) && *p != '.') {
		if (read_word(p, end, &number) < 0)
			return -1;
		*ret_number = number;
		return 0;
	}
	p = read_digits(p, end, &number);
	if (p && p < end && (*p | 0x20) == 'e')
		p = read_exponent(p + 1, end, &exponent);
	if (p != end || !p)
		return -1;
	if (number.n > 0)
		number.top += exponent;
	*ret_number = number;
	return 0;
}

int
cod_number_magnitude(
	const struct cod_number *number, uint64_t *ret_magnitude, int *ret_has_fraction)
{
	int64_t power = number->top;
	uint64_t value = 0;
	int has_fraction = 0;

	for (size_t i = 0; i < number->n || (number->n > 0 && power >= 0); i++) {
		uint64_t digit = 0;

		if (i < number->n && number->digits[i] == '.')
			continue;
		if (i < number->n)
			digit = (uint64_t)(number->digits[i] - '0');
		if (power-- < 0) {
			has_fraction |= digit != 0;
			continue;
		}
		if (value > (UINT64_MAX - digit) / 10)
			return -1;
		value = value * 10 + digit;
	}
	*ret_magnitude = value;
	*ret_has_fraction = has_fraction;
	return 0;
}

/* Without a point, strtod() reads the text the same in every locale. */
double
cod_number_real(const struct cod_number *number)
{
	char text[REAL_DIGITS + 32];
	int64_t power = number->top;
	size_t n = 0;
	int is_more = 0;
	double value;

	for (size_t i = 0; i < number->n; i++) {
		if (number->digits[i] == '.')
			continue;
		if (n < REAL_DIGITS)
			text[n++] = number->digits[i];
		else
			is_more |= number->digits[i] != '0';
	}
	if (is_more)
		text[REAL_DIGITS - 1] = '1';
	if (n == 0)
		text[n++] = '0';
	power -= (int64_t)n - 1;
	snprintf(text + n, sizeof(text) - n, "e%ld", (long)power);
	value = strtod(text, NULL);
	if (number->kind != COD_NUMBER_FINITE)
		value = number->kind == COD_NUMBER_NAN ? NAN : INFINITY;
	return number->is_negative ? -value : value;
}

/* val = val * 10 + digit. 0, or -1: it does not fit. */
static int
push_digit(SQLCHAR val[SQL_MAX_NUMERIC_LEN], unsigned digit)
{
	for (size_t i = 0; i < SQL_MAX_NUMERIC_LEN; i++) {
		digit += val[i] * 10u;
		val[i] = (SQLCHAR)(digit & 0xff);
		digit >>= 8;
	}
	return digit > 0 ? -1 : 0;
}

int
cod_number_struct(const struct cod_number *number, SQLCHAR precision, SQLSCHAR scale,
	SQL_NUMERIC_STRUCT *ret_struct, int *ret_is_cut)
{
	SQL_NUMERIC_STRUCT s = { .precision = precision ? precision : 38,
		.scale = scale,
		.sign = !number->is_negative };
	int64_t power = number->top;
	int is_cut = 0;

	if (number->kind != COD_NUMBER_FINITE ||
		(number->n > 0 && power + scale >= s.precision))
		return -1;
	for (size_t i = 0; i < number->n || (number->n > 0 && power >= -scale); i++) {
		unsigned digit = 0;

		if (i < number->n && number->digits[i] == '.')
			continue;
		if (i < number->n)
			digit = (unsigned)(number->digits[i] - '0');
		if (power-- < -scale)
			is_cut |= digit != 0;
		else if (push_digit(s.val, digit) < 0)
			return -1;
	}
	*ret_struct = s;
	*ret_is_cut = is_cut;
	return 0;
}

/* ---- as texts ---- */

size_t
cod_integer_text(uint64_t magnitude, int is_negative, char *out)
{
	return (size_t)snprintf(out, COD_NUMBER_TEXT_MAX, "%s%llu",
		is_negative && magnitude ? "-" : "", (unsigned long long)magnitude);
}

size_t
cod_real_text(double value, int is_float, char *out)
{
	int digits = is_float ? 6 : 15, most = is_float ? 9 : 17;

	if (isnan(value) || isinf(value))
		return (size_t)snprintf(out, COD_NUMBER_TEXT_MAX, "%s",
			isnan(value) ? "NaN"
			: value < 0  ? "-Infinity"
				     : "Infinity");
	do {
		double back;

		snprintf(out, COD_NUMBER_TEXT_MAX, "%.*g", digits, value);
		back = strtod(out, NULL);
		if (is_float ? (float)back == (float)value : back == value)
			break;
	} while (digits++ < most);
	/* The locale's decimal point may have several bytes. */
	for (char *p = out; *p; p++) {
		size_t others = strcspn(p, "0123456789-+e");

		if (others == 0)
			continue;
		*p = '.';
		memmove(p + 1, p + others, strlen(p + others) + 1);
	}
	return strlen(out);
}

/* val = val / 10. Returns the remainder. */
static unsigned
pop_digit(SQLCHAR val[SQL_MAX_NUMERIC_LEN])
{
	unsigned left = 0;

	for (size_t i = SQL_MAX_NUMERIC_LEN; i-- > 0;) {
		left = left << 8 | val[i];
		val[i] = (SQLCHAR)(left / 10);
		left %= 10;
	}
	return left;
}

static int
is_zero(const SQLCHAR val[SQL_MAX_NUMERIC_LEN])
{
	for (size_t i = 0; i < SQL_MAX_NUMERIC_LEN; i++) {
		if (val[i])
			return 0;
	}
	return 1;
}

size_t
cod_struct_text(const SQL_NUMERIC_STRUCT *value, char *out)
{
	SQL_NUMERIC_STRUCT s = *value;
	/* The text may have as many zeros before or after the digits as an SQLSCHAR can count. */
	char text[COD_NUMBER_TEXT_MAX], *end = text + sizeof(text), *p = end;
	int is_null = is_zero(s.val), behind = 0, zeros;

	for (zeros = is_null ? 0 : s.scale; zeros < 0; zeros++)
		*--p = '0';
	while (!is_zero(s.val) || behind <= s.scale) {
		if (behind == s.scale && behind > 0)
			*--p = '.';
		*--p = (char)('0' + pop_digit(s.val));
		behind++;
	}
	if (p == end)
		*--p = '0';
	if (s.sign == 0 && !is_null)
		*--p = '-';
	memcpy(out, p, (size_t)(end - p));
	out[end - p] = 0;
	return (size_t)(end - p);
}
