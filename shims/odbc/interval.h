/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_INTERVAL_H
#define COD_INTERVAL_H

#include <stddef.h>
#include <stdint.h>

#include <sql.h>
#include <sqlext.h>

/*
 * Intervals, of years and months or of days and seconds. A type is SQL_INTERVAL_YEAR … or
 * SQL_C_INTERVAL_YEAR …, which are the same numbers.
 */

struct cod_interval {
	int is_negative;
	int is_months; /* else seconds */
	uint64_t amount; /* of months, or seconds */
	uint32_t nanosecond;
};

int cod_is_interval(SQLSMALLINT type);
/* YEAR, MONTH, YEAR TO MONTH; the others are of days and seconds. */
int cod_interval_is_months(SQLSMALLINT type);
/* Has one field, which a number can be. */
int cod_interval_is_single(SQLSMALLINT type);

/*
 * Of a text as the type has it ('3-2', '10 12:30:45.5'), within INTERVAL '…' … or {INTERVAL …} or alone; or with
 * units, as PostgreSQL writes it ('1 day 02:03:04', '2 mons'). 0, or -1: it is none of that type.
 */
int cod_interval_read(
	const char *text, size_t n, SQLSMALLINT type, struct cod_interval *ret_interval);
/* 0, or -1: its members are none. */
int cod_interval_of_struct(
	const SQL_INTERVAL_STRUCT *from, struct cod_interval *ret_interval);
/* Of a number of a single field's units. 0, or -1: too large. */
int cod_interval_of_number(uint64_t value, int is_negative, SQLSMALLINT type,
	struct cod_interval *ret_interval);

/*
 * As a structure. `leading`: the digits that the first field may have, 0 is 2; `precision`: of the fraction.
 * NULL; "01S07" what is behind the last field was cut; "22015" the first field is too long.
 */
const char *cod_interval_struct(const struct cod_interval *interval, SQLSMALLINT type,
	SQLINTEGER leading, SQLSMALLINT precision, SQL_INTERVAL_STRUCT *ret_struct);
/* In a single field's units, and *ret_is_cut: there was more. */
uint64_t cod_interval_number(
	const struct cod_interval *interval, SQLSMALLINT type, int *ret_is_cut);

#define COD_INTERVAL_TEXT_MAX 128
/* As the type's literal has it between its quotes. The length. */
size_t cod_interval_text(
	const struct cod_interval *interval, SQLSMALLINT type, char *out);
/* With units: '-1 day -2 hours'. */
size_t cod_interval_units(const struct cod_interval *interval, char *out);

#endif
