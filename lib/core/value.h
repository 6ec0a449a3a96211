/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_VALUE_H
#define CNC_VALUE_H

#include "core/buf.h"

/* A typed value that is bound to a placeholder. Text and bytes are borrowed. */
struct cnc_value {
	uint8_t type; /* enum cenote_type; CENOTE_TYPE_NULL is NULL unless native_type is set */
	uint8_t is_null;
	uint8_t is_native; /* bytes in the server's own format */
	uint8_t is_long; /* the content came separately (LONG_DATA); `bytes` is NULL */
	uint8_t format; /* native only: CENOTE_FORMAT_TEXT or _BINARY */
	uint32_t native_type; /* the server's type id; native only */
	union {
		int64_t i64; /* BOOL too: 0 or 1 */
		uint64_t u64;
		double f64;
		cenote_date date;
		cenote_time time;
		cenote_timestamp timestamp;
	} as;
	/* DECIMAL, TEXT, BYTES, native: after decoding, a zero byte follows */
	const char *bytes;
	size_t len;
};

/*
 * Wire form of one value (docs/protocol.md, "Parameters"):
 *
 *     u8 type, u8 flags (1 NULL, 2 native, 4 long), then
 *     native:     u8 format (0 or 2), u32 native_type; then, unless NULL or long, str
 *     NULL, long: nothing; a value of type NULL is always NULL; long are only TEXT, BYTES and
 *                 native, and not NULL
 *     BOOL        u8 (0 or 1)
 *     INT64, UINT64   u64 (two's complement)
 *     DOUBLE      u64 (the bits of IEEE 754)
 *     DATE        u32 year (two's complement), u8 month, u8 day
 *     TIME        u8 hour, u8 minute, u8 second, u32 nanosecond, u32 offset in seconds (two's
 *                 complement; 0x80000000: none)
 *     TIMESTAMP   DATE, TIME
 *     all others  str
 *
 * Encoding checks DECIMAL, DATE, TIME and TIMESTAMP: CENOTE_ERR_ARG. On failure the buffer is
 * as before.
 */
int cnc_value_encode(struct cnc_buf *b, const struct cnc_value *v);
/* Sets r->bad if the value is not well formed. */
void cnc_value_decode(struct cnc_reader *r, struct cnc_value *ret_value);

/* Longest text of a value that is not text or bytes, zero byte included. */
#define CNC_VALUE_TEXT_MAX 64u
/*
 * Write a number, date, time or bool as canonical text, and return the length. Doubles have the shortest form
 * that reads back to the same value, or are "Infinity", "-Infinity", "NaN". The decimal point is "." in every
 * locale.
 */
size_t cnc_value_text(const struct cnc_value *v, char out[CNC_VALUE_TEXT_MAX]);
size_t cnc_int64_text(int64_t v, char out[CNC_VALUE_TEXT_MAX]);
size_t cnc_uint64_text(uint64_t v, char out[CNC_VALUE_TEXT_MAX]);
size_t cnc_double_text(double v, char out[CNC_VALUE_TEXT_MAX]);

/*
 * Reading text: CENOTE_OK or CENOTE_ERR_CONVERT. ASCII spaces may surround the value; nothing else
 * may follow it. Integers accept decimal text with a zero fraction ("3.0", "1e3"), and
 * t/f/true/false as 1/0. The locale does not matter.
 */
int cnc_text_int64(const char *text, size_t len, int64_t *ret_value);
int cnc_text_uint64(const char *text, size_t len, uint64_t *ret_value);
int cnc_text_double(const char *text, size_t len, double *ret_value);

#endif
