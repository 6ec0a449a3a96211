/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_MY_VALUES_H
#define CND_MY_VALUES_H

#include "core/batch.h"
#include "protocol/columns.h"

#include "compat.h"

/*
 * Values of both protocols of MySQL, without a session. The result depends on these members of a column from
 * cnd_my_column(): native_type, native_flags, modifier (the decimals), length, type, and format (the form in which
 * the value is sent).
 */

/* Not in every client library's header. */
#define CND_MY_TYPE_VECTOR 242
#define CND_MY_TYPE_JSON   245

/* Flag in the type id of a bound value: the number is unsigned, as in the server's own protocol. */
#define CND_MY_UNSIGNED 0x8000u

/* Type ids that are not types of values. The first, after all values, gives the number of rows (4 bytes). The
 * others stand in place of a value, for MariaDB. */
#define CND_MY_NATIVE_ROWS    0x10001u
#define CND_MY_NATIVE_DEFAULT 0x10002u
#define CND_MY_NATIVE_IGNORE  0x10003u

/* A value of the text protocol. CENOTE_OK, CENOTE_ERR_LIMIT, CENOTE_ERR_NOMEM. */
int cnd_my_text_put(
	struct cnc_batch *w, const struct cnp_column *c, const char *p, size_t n);
/* A value of the binary protocol, without the length that may precede it. Also CENOTE_ERR_PROTOCOL: the bytes do
 * not fit the type. */
int cnd_my_binary_put(
	struct cnc_batch *w, const struct cnp_column *c, const uint8_t *p, size_t n);

/* Write all values of a row, from the packet in which the server sent it (packet.c). Call cnc_batch_row() first.
 * Also CENOTE_ERR_PROTOCOL. */
int cnd_my_text_row(struct cnc_batch *w, const struct cnp_column *columns, uint32_t n,
	const uint8_t *packet, size_t len);
/* Like cnd_my_text_row(), for a row whose values are all sent unchanged. */
int cnd_my_plain_row(struct cnc_batch *w, uint32_t n, const uint8_t *packet, size_t len);
int cnd_my_binary_row(struct cnc_batch *w, const struct cnp_column *columns, uint32_t n,
	const uint8_t *packet, size_t len);

/* Whether a value of text or bytes is sent unchanged in the column's format. */
int cnd_my_is_plain(const struct cnp_column *c);
/* Whether all columns are sent unchanged in the text protocol. */
int cnd_my_are_plain(const struct cnp_column *columns, uint32_t n);
/* The size of a value in binary form; -1 if it varies. */
int cnd_my_binary_size(uint32_t native_type);

/* Dates and times in binary form: year, month, day, hour …, at most 12 bytes. Returns the length. */
#define CND_MY_TIME_MAX 12u
size_t cnd_my_time_pack(
	uint32_t native_type, const MYSQL_TIME *t, uint8_t out[CND_MY_TIME_MAX]);
/* CENOTE_OK or CENOTE_ERR_PROTOCOL. The hours of a time may be more than 24; its days are 0. */
int cnd_my_time_unpack(
	uint32_t native_type, const uint8_t *p, size_t n, MYSQL_TIME *ret_time);
/* Like cnd_my_time_unpack(), but accept numbers that are not a valid date or time. */
int cnd_my_time_load(
	uint32_t native_type, const uint8_t *p, size_t n, MYSQL_TIME *ret_time);

/* Write the number as the server writes it in a column with `decimals` digits after the point. 31 or
 * more: as many digits as the number has. Returns the length. */
#define CND_MY_DOUBLE_TEXT_MAX 400u
size_t cnd_my_double_text(double v, uint32_t decimals, char out[CND_MY_DOUBLE_TEXT_MAX]);
size_t cnd_my_float_text(float v, uint32_t decimals, char out[CND_MY_DOUBLE_TEXT_MAX]);
/* The shortest text that reads back as the same float. */
size_t cnd_my_float_canonical(float v, char out[CNC_VALUE_TEXT_MAX]);

#endif
