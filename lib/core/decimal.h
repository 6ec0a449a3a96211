/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_DECIMAL_H
#define CNC_DECIMAL_H

#include <cenote/types.h>

/*
 * Exact numbers as text: [-+]digits[.digits][(e|E)[-+]digits], at least one digit before or
 * after the point.
 */
struct cnc_decimal {
	int is_negative;
	/* Borrowed: begins at the first digit that is not 0, may hold a '.'. */
	const char *digits;
	size_t n_digits; /* digits as written from there on, without the point; 0 for zero */
	int64_t exponent; /* value = 0.DIGITS * 10^exponent */
	size_t scale; /* digits written after the point, exponent not applied */
};

/* CENOTE_OK, or CENOTE_ERR_CONVERT if the text has another form or the exponent is beyond ±99999. */
int cnc_decimal_parse(const char *text, size_t len, struct cnc_decimal *ret_value);
/* Exact integer value: CENOTE_OK; CENOTE_ERR_CONVERT if it has a fraction or does not fit. */
int cnc_decimal_int64(const struct cnc_decimal *d, int64_t *ret_value);
int cnc_decimal_uint64(const struct cnc_decimal *d, uint64_t *ret_value);

#endif
