/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_DT_H
#define CNC_DT_H

#include <cenote/types.h>

/* Dates and times in ISO 8601 text, as enum cenote_type describes it. Years -9999…9999; BC
 * years are written with a minus sign (astronomical). No clock, no time zone data. */

/* Are the fields in range, and does the day exist? */
int cnc_date_is_valid(const cenote_date *d);
int cnc_time_is_valid(const cenote_time *t);

/* CENOTE_OK or CENOTE_ERR_CONVERT. The whole text must match. A timestamp may have a blank or 'T' between its
 * parts; a date alone means midnight. A time may have a fraction of 1…9 digits and may omit ":SS". Its offset is
 * Z, +HH, +HHMM, +HH:MM or +HH:MM:SS, and less than a day. */
int cnc_date_parse(const char *text, size_t len, cenote_date *ret_value);
int cnc_time_parse(const char *text, size_t len, cenote_time *ret_value);
int cnc_timestamp_parse(const char *text, size_t len, cenote_timestamp *ret_value);

/* Write canonical text and return its length without the zero byte. Trailing zeros of a fraction are not
 * written, and an offset's seconds only if they are not 0. The value must be valid. */
#define CNC_DT_TEXT_MAX 64u
size_t cnc_date_text(const cenote_date *d, char out[CNC_DT_TEXT_MAX]);
size_t cnc_time_text(const cenote_time *t, char out[CNC_DT_TEXT_MAX]);
size_t cnc_timestamp_text(const cenote_timestamp *ts, char out[CNC_DT_TEXT_MAX]);

#endif
