/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_NUMBER_H
#define COD_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#include <sql.h>
#include <sqlext.h>

/* Numbers as texts, exactly, and whatever the host's locale is. */

enum cod_number_kind {
	COD_NUMBER_FINITE,
	COD_NUMBER_INFINITE,
	COD_NUMBER_NAN
};

struct cod_number {
	enum cod_number_kind kind;
	int is_negative;
	const char *
		digits; /* from the first that is not 0; a point may be among them. Borrowed. */
	size_t n; /* 0: it is zero */
	int64_t top; /* the power of ten that the first one counts */
};

/* [-+]digits[.digits][e[-+]digits], blanks around it; and Infinity, -Infinity, NaN. 0, or -1: it is none. */
int cod_number_read(const char *text, size_t n, struct cod_number *ret_number);

/* Without its sign and what is behind the point, which *ret_has_fraction tells of. 0, or -1: too large. */
int cod_number_magnitude(
	const struct cod_number *number, uint64_t *ret_magnitude, int *ret_has_fraction);
/* The nearest; infinite where it is too large. */
double cod_number_real(const struct cod_number *number);
/*
 * With `scale` digits behind the point, *ret_is_cut: there were more. precision 0 is 38. 0, or -1: too large.
 */
int cod_number_struct(const struct cod_number *number, SQLCHAR precision, SQLSCHAR scale,
	SQL_NUMERIC_STRUCT *ret_struct, int *ret_is_cut);

/* Room for any of these texts, with its zero. */
#define COD_NUMBER_TEXT_MAX 192

/* The length; all with a zero behind. */
size_t cod_integer_text(uint64_t magnitude, int is_negative, char *out);
/* The shortest of 15 to 17 digits (a float's: 6 to 9) that reads back as the same. */
size_t cod_real_text(double value, int is_float, char *out);
size_t cod_struct_text(const SQL_NUMERIC_STRUCT *value, char *out);

#endif
