/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_MY_VALUES_H
#define CND_MY_VALUES_H

#include "core/batch.h"
#include "protocol/columns.h"

#include "compat.h"

/*
 * Values of both protocols of MySQL, without a session. Of a column that cnd_my_column() made these
 * decide: native_type, native_flags, modifier (the decimals), length, type, and in which form
 * the value goes out: format.
 */

/* Not in every client library's header. */
#define CND_MY_TYPE_VECTOR 242
#define CND_MY_TYPE_JSON   245

/* In the type id of a bound value: the number is unsigned, as in the server's own protocol. */
#define CND_MY_UNSIGNED 0x8000u

/* Type ids of bound values that are none. Behind all: they are so many rows (a number of 4 bytes); in the
 * place of one, what MariaDB can be told instead. */
#define CND_MY_NATIVE_ROWS    0x10001u
#define CND_MY_NATIVE_DEFAULT 0x10002u
#define CND_MY_NATIVE_IGNORE  0x10003u

/* A value of the text protocol. CENOTE_OK, CENOTE_ERR_LIMIT, CENOTE_ERR_NOMEM. */
int cnd_my_text_put(
	struct cnc_batch *w, const struct cnp_column *c, const char *p, size_t n);
/* A value of the binary protocol, without the length that may stand before it; also
 * CENOTE_ERR_PROTOCOL: it is not of its type. */
int cnd_my_binary_put(
	struct cnc_batch *w, const struct cnp_column *c, const uint8_t *p, size_t n);

/* All values of a row, of which cnc_batch_row() was called, from the packet in which the server sends
 * it (packet.c); also CENOTE_ERR_PROTOCOL. */
int cnd_my_text_row(struct cnc_batch *w, const struct cnp_column *columns, uint32_t n,
	const uint8_t *packet, size_t len);
/* The same of values that all go out as they come. */
int cnd_my_plain_row(struct cnc_batch *w, uint32_t n, const uint8_t *packet, size_t len);
int cnd_my_binary_row(struct cnc_batch *w, const struct cnp_column *columns, uint32_t n,
	const uint8_t *packet, size_t len);

/* Whether a value of text or bytes goes out as it came, in the column's format. */
int cnd_my_is_plain(const struct cnp_column *c);
/* The same of all values of the text protocol. */
int cnd_my_are_plain(const struct cnp_column *columns, uint32_t n);
/* Bytes of a value in binary form; -1 where they vary. */
int cnd_my_binary_size(uint32_t native_type);

/* Dates and times in binary form: year, month, day, hour … of up to 12 bytes; their number. */
#define CND_MY_TIME_MAX 12u
size_t cnd_my_time_pack(
	uint32_t native_type, const MYSQL_TIME *t, uint8_t out[CND_MY_TIME_MAX]);
/* CENOTE_OK or CENOTE_ERR_PROTOCOL. The hours of a time may be more than 24; its days are 0. */
int cnd_my_time_unpack(
	uint32_t native_type, const uint8_t *p, size_t n, MYSQL_TIME *ret_time);
/* The same of any numbers in that form, whether or not they are a date or time. */
int cnd_my_time_load(
	uint32_t native_type, const uint8_t *p, size_t n, MYSQL_TIME *ret_time);

/* As the server writes it: of a column with `decimals` digits behind the point; 31 or more: as
 * many as it has. The length. */
#define CND_MY_DOUBLE_TEXT_MAX 400u
size_t cnd_my_double_text(double v, uint32_t decimals, char out[CND_MY_DOUBLE_TEXT_MAX]);
size_t cnd_my_float_text(float v, uint32_t decimals, char out[CND_MY_DOUBLE_TEXT_MAX]);
/* Shortest text that reads back as the same float. */
size_t cnd_my_float_canonical(float v, char out[CNC_VALUE_TEXT_MAX]);

#endif
