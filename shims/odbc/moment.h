/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_MOMENT_H
#define COD_MOMENT_H

#include <stddef.h>

#include <sql.h>
#include <sqlext.h>

#include <cenote/cenote.h>

/* Dates and times, as texts and as ODBC's structures. */

struct cod_moment {
	int has_date, has_time;
	cenote_timestamp at; /* parts that are missing are zero */
};

/*
 * Read [-]YYYY-MM-DD, HH:MM[:SS[.f...]][offset], or both with a blank or T between, and blanks
 * around. It reads and keeps an offset (Z, +HH, +HHMM, +HH:MM, +HH:MM:SS). It cuts digits after
 * nanoseconds. 0, or -1: another form, or no such day or time.
 */
int cod_moment_read(const char *text, size_t n, struct cod_moment *ret_moment);
/* Like cod_moment_read(), also for ODBC's literals {d '...'}, {t '...'} and {ts '...'}. */
int cod_moment_read_literal(const char *text, size_t n, struct cod_moment *ret_moment);

/* Whether the date, or the time, exists. */
int cod_is_date(const cenote_date *date);
int cod_is_time(const cenote_time *time);

/* Today, in the process's time zone. A time that becomes a timestamp gets this date. */
void cod_today(cenote_date *ret_date);

/* Room for the texts, with a zero. The texts have no offset. */
#define COD_MOMENT_TEXT_MAX 48
size_t cod_date_text(const cenote_date *date, char *out);
size_t cod_time_text(const cenote_time *time, char *out);
size_t cod_timestamp_text(const cenote_timestamp *at, char *out);

#endif
