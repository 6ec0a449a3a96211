/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMY_NUMBER_H
#define CMY_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* Numbers as both MySQL client libraries write and read them, independent of the locale. */

/* Room for any of the texts below, without a zero byte at the end. */
#define CMY_NUMBER_TEXT_MAX 400u

/* Write a real in at most `width` characters if possible, with fewer digits or an exponent. Returns
 * the length. */
size_t cmy_real_text(double v, int is_float, size_t width, char *out);
/* Write a real with `decimals` digits after the point, at most 30. */
size_t cmy_real_text_fixed(double v, unsigned decimals, char *out);
size_t cmy_integer_text(int64_t v, int is_unsigned, char *out);

/* An integer at the start of a text. */
struct cmy_read {
	uint64_t magnitude; /* the value of the digits that fit */
	size_t used; /* the number of bytes, with leading blanks */
	int has_sign;
	int is_negative;
	int has_digits;
	int is_too_large; /* the number is larger than 64 bits */
};
/* As isspace() in the C locale. */
int cmy_is_blank(char c);
void cmy_read_integer(const char *p, size_t n, struct cmy_read *ret_read);
/* Read a real. 0; 1: the number is too large for a double. A text that is not a number gives 0. */
int cmy_read_real(const char *p, size_t n, double *ret_value);

/* Cut off the fraction. A value out of range gives the smallest integer. */
int32_t cmy_to_int32(double v);
int64_t cmy_to_int64(double v);
uint64_t cmy_to_uint64(double v);

#endif
