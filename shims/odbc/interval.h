/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_INTERVAL_H
#define COD_INTERVAL_H

#include <stddef.h>
#include <stdint.h>

#include <sql.h>
#include <sqlext.h>

/* Intervals of years and months, or of days and seconds. A type is SQL_INTERVAL_YEAR... or
 * SQL_C_INTERVAL_YEAR..., whose numbers are equal. */

struct cod_interval {
	int is_negative;
	int is_months; /* else the amount is in seconds */
	uint64_t amount; /* in months, or in seconds */
	uint32_t nanosecond;
};

int cod_is_interval(SQLSMALLINT type);
/* Whether the type is YEAR, MONTH or YEAR TO MONTH. All others count days and seconds. */
int cod_interval_is_months(SQLSMALLINT type);
/* Whether the type has only one field, so that a number can stand for it. */
int cod_interval_is_single(SQLSMALLINT type);

/*
 * Read a text in the type's form ('3-2', '10 12:30:45.5'), alone or in INTERVAL '...' or {INTERVAL
 * ...}, or a text with units, as PostgreSQL writes it ('1 day 02:03:04', '2 mons'). 0, or -1: not
 * an interval of that type.
 */
int cod_interval_read(
	const char *text, size_t n, SQLSMALLINT type, struct cod_interval *ret_interval);
/* Read a structure. 0, or -1: its members are not those of an interval. */
int cod_interval_of_struct(
	const SQL_INTERVAL_STRUCT *from, struct cod_interval *ret_interval);
/* Make an interval from a number in units of the type's only field. 0, or -1: too large. */
int cod_interval_of_number(uint64_t value, int is_negative, SQLSMALLINT type,
	struct cod_interval *ret_interval);

/*
 * Write a structure. `leading` is how many digits the first field may have (0 means 2), `precision`
 * how many the fraction has. NULL; "01S07" fields after the last one were cut; "22015" the first
 * field is too long.
 */
const char *cod_interval_struct(const struct cod_interval *interval, SQLSMALLINT type,
	SQLINTEGER leading, SQLSMALLINT precision, SQL_INTERVAL_STRUCT *ret_struct);
/* The interval in units of the type's only field. *ret_is_cut: there was more. */
uint64_t cod_interval_number(
	const struct cod_interval *interval, SQLSMALLINT type, int *ret_is_cut);

#define COD_INTERVAL_TEXT_MAX 128
/* Write the text between the quotes of the type's literal. Returns the length. */
size_t cod_interval_text(
	const struct cod_interval *interval, SQLSMALLINT type, char *out);
/* Write the interval with units: '-1 day -2 hours'. */
size_t cod_interval_units(const struct cod_interval *interval, char *out);

#endif
