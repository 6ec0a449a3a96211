/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMY_NUMBER_H
#define CMY_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/*
 * Numbers as the MySQL client libraries write and read them: of both flavours, and whatever the
 * host's locale is.
 */

/* Room for any of the texts below, without a zero byte at the end. */
#define CMY_NUMBER_TEXT_MAX 400u

/* In at most `width` characters, if that can be: with fewer digits, or with an exponent. The length. */
size_t cmy_real_text(double v, int is_float, size_t width, char *out);
/* With so many digits (at most 30) behind the point. */
size_t cmy_real_text_fixed(double v, unsigned decimals, char *out);
size_t cmy_integer_text(int64_t v, int is_unsigned, char *out);

/* An integer at the start of a text. */
struct cmy_read {
	uint64_t magnitude; /* of the digits that fit */
	size_t used; /* bytes, blanks in front included */
	int has_sign;
	int is_negative;
	int has_digits;
	int is_too_large; /* there are more digits than fit */
};
/* What isspace() says in every locale. */
int cmy_is_blank(char c);
void cmy_read_integer(const char *p, size_t n, struct cmy_read *ret_read);
/* 0, and *ret_value; 1: it is too large for a double. What is no number is 0. */
int cmy_read_real(const char *p, size_t n, double *ret_value);

/* What is cut off at the point; the least number there is where it does not fit. */
int32_t cmy_to_int32(double v);
int64_t cmy_to_int64(double v);
uint64_t cmy_to_uint64(double v);

#endif
