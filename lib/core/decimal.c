/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/decimal.h"

/*
 * Exact numbers as text, for conversions without rounding.
 */

#define EXPONENT_MAX 99999

static int
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Parse the exponent: the number after the 'e', up to the end. */
static int
parse_exponent(const char *p, const char *end, int64_t *ret_value)
{
	int is_negative = 0;
	int64_t value = 0;

	if (p < end && (*p == '-' || *p == '+'))
		is_negative = *p++ == '-';
	if (p == end)
		return CENOTE_ERR_CONVERT;
	for (; p < end; p++) {
		if (!is_digit(*p))
			return CENOTE_ERR_CONVERT;
		value = value * 10 + (*p - '0');
		if (value > EXPONENT_MAX)
			return CENOTE_ERR_CONVERT;
	}
	*ret_value = is_negative ? -value : value;
	return CENOTE_OK;
}

int
cnc_decimal_parse(const char *text, size_t len, struct cnc_decimal *ret_value)
{
	struct cnc_decimal d = { 0 };
	const char *p = text;
	const char *end = text + len;
	size_t n_written = 0; /* all digits, leading zeros too */
	int has_point = 0;
	int64_t exponent = 0;
	int r;

	if (len == 0)
		return CENOTE_ERR_CONVERT;
	if (*p == '-' || *p == '+')
		d.is_negative = *p++ == '-';
	d.digits = p;
	for (; p < end && (is_digit(*p) || (*p == '.' && !has_point)); p++) {
		if (*p == '.') {
			has_point = 1;
			continue;
		}
		n_written++;
		d.scale += (size_t)has_point;
		if (d.n_digits == 0 && *p == '0')
			continue;
		if (d.n_digits++ == 0)
			d.digits = p;
	}
	if (n_written == 0)
		return CENOTE_ERR_CONVERT;
	if (p < end) {
		if (*p != 'e' && *p != 'E')
			return CENOTE_ERR_CONVERT;
		r = parse_exponent(p + 1, end, &exponent);
		if (r < 0)
			return r;
	}
	/* The form is 0.DIGITS, so the point is n_digits - scale places after the first digit. */
	if (d.n_digits > 0)
		d.exponent = (int64_t)d.n_digits - (int64_t)d.scale + exponent;
	*ret_value = d;
	return CENOTE_OK;
}

/* The magnitude, if the number is whole and fits. */
static int
magnitude(const struct cnc_decimal *d, uint64_t *ret_value)
{
	const char *p = d->digits;
	uint64_t value = 0;
	int64_t i = 0;

	if (d->n_digits == 0) {
		*ret_value = 0;
		return CENOTE_OK;
	}
	/* UINT64_MAX has 20 digits, and the first digit is not 0. */
	if (d->exponent < 1 || d->exponent > 20)
		return CENOTE_ERR_CONVERT;
	for (; i < (int64_t)d->n_digits || i < d->exponent; i++) {
		unsigned int digit = 0;

		if (i < (int64_t)d->n_digits) {
			if (*p == '.')
				p++;
			digit = (unsigned int)(*p++ - '0');
		}
		if (i >= d->exponent) {
			if (digit != 0)
				return CENOTE_ERR_CONVERT;
			continue;
		}
		if (value > (UINT64_MAX - digit) / 10)
			return CENOTE_ERR_CONVERT;
		value = value * 10 + digit;
	}
	*ret_value = value;
	return CENOTE_OK;
}

int
cnc_decimal_int64(const struct cnc_decimal *d, int64_t *ret_value)
{
	uint64_t value;
	int r = magnitude(d, &value);

	if (r < 0)
		return r;
	if (value > (uint64_t)INT64_MAX + (d->is_negative ? 1u : 0u))
		return CENOTE_ERR_CONVERT;
	if (value > (uint64_t)INT64_MAX)
		*ret_value = INT64_MIN;
	else
		*ret_value = d->is_negative ? -(int64_t)value : (int64_t)value;
	return CENOTE_OK;
}

int
cnc_decimal_uint64(const struct cnc_decimal *d, uint64_t *ret_value)
{
	uint64_t value;
	int r = magnitude(d, &value);

	if (r < 0)
		return r;
	if (d->is_negative && value != 0)
		return CENOTE_ERR_CONVERT;
	*ret_value = value;
	return CENOTE_OK;
}
