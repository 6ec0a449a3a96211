/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_NUMBER_H
#define COD_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#include <sql.h>
#include <sqlext.h>

/* Numbers as exact texts, independent of the locale. */

enum cod_number_kind {
	COD_NUMBER_FINITE,
	COD_NUMBER_INFINITE,
	COD_NUMBER_NAN
};

struct cod_number {
	enum cod_number_kind kind;
	int is_negative;
	/* the digits from the first that is not 0; may contain a point; borrowed */
	const char *digits;
	size_t n; /* 0: the number is zero */
	int64_t top; /* the power of ten of the first digit */
};

/* Read [-+]digits[.digits][e[-+]digits] with blanks around, or Infinity, -Infinity or NaN. 0, or
 * -1: not a number. */
int cod_number_read(const char *text, size_t n, struct cod_number *ret_number);

/* Get the whole part without its sign. *ret_has_fraction says whether digits after the point were
 * lost. 0, or -1: too large. */
int cod_number_magnitude(
	const struct cod_number *number, uint64_t *ret_magnitude, int *ret_has_fraction);
/* The nearest double; infinite if the number is too large. */
double cod_number_real(const struct cod_number *number);
/* Write a structure with `scale` digits after the point. *ret_is_cut: there were more. A precision
 * of 0 means 38. 0, or -1: too large. */
int cod_number_struct(const struct cod_number *number, SQLCHAR precision, SQLSCHAR scale,
	SQL_NUMERIC_STRUCT *ret_struct, int *ret_is_cut);

/* Room for each of these texts, with a zero. */
#define COD_NUMBER_TEXT_MAX 192

/* Each returns the length and writes a zero after the text. */
size_t cod_integer_text(uint64_t magnitude, int is_negative, char *out);
/* The shortest text of 15 to 17 digits (6 to 9 for a float) that reads back as the same number. */
size_t cod_real_text(double value, int is_float, char *out);
size_t cod_struct_text(const SQL_NUMERIC_STRUCT *value, char *out);

#endif
