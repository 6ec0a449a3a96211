/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts one value of the text or the binary protocol to the format that the client asked for. rows.c and
 * packet.c call it. It has no state.
 */
#include <string.h>

#include "core/dt.h"
#include "core/value.h"

#include "../common/answer.h"
#include "values.h"

/* The longest date or time of the server: "-9999:59:59.999999", or a date with a time. */
#define TIME_TEXT_MAX 40u
#define HOURS_MAX     9999u

/* ---- dates and times ---- */

int
cnd_my_binary_size(uint32_t native_type)
{
	switch (native_type) {
	case MYSQL_TYPE_NULL:
		return 0;
	case MYSQL_TYPE_TINY:
		return 1;
	case MYSQL_TYPE_SHORT:
	case MYSQL_TYPE_YEAR:
		return 2;
	case MYSQL_TYPE_INT24:
	case MYSQL_TYPE_LONG:
	case MYSQL_TYPE_FLOAT:
		return 4;
	case MYSQL_TYPE_LONGLONG:
	case MYSQL_TYPE_DOUBLE:
		return 8;
	default:
		return -1;
	}
}

static size_t
pack_time(const MYSQL_TIME *t, uint8_t *out)
{
	uint32_t hours = (uint32_t)t->hour + (uint32_t)t->day * 24u;

	out[0] = t->neg != 0;
	cnc_put_u32(out + 1, hours / 24);
	out[5] = (uint8_t)(hours % 24);
	out[6] = (uint8_t)t->minute;
	out[7] = (uint8_t)t->second;
	cnc_put_u32(out + 8, (uint32_t)t->second_part);
	if (t->second_part)
		return 12;
	return hours || t->minute || t->second ? 8 : 0;
}

size_t
cnd_my_time_pack(uint32_t native_type, const MYSQL_TIME *t, uint8_t out[CND_MY_TIME_MAX])
{
	int has_date = t->year || t->month || t->day;

	if (native_type == MYSQL_TYPE_TIME)
		return pack_time(t, out);
	cnc_put_u16(out, (uint16_t)t->year);
	out[2] = (uint8_t)t->month;
	out[3] = (uint8_t)t->day;
	if (native_type == MYSQL_TYPE_DATE)
		return has_date ? 4 : 0;
	out[4] = (uint8_t)t->hour;
	out[5] = (uint8_t)t->minute;
	out[6] = (uint8_t)t->second;
	cnc_put_u32(out + 7, (uint32_t)t->second_part);
	if (t->second_part)
		return 11;
	if (t->hour || t->minute || t->second)
		return 7;
	return has_date ? 4 : 0;
}

static int
load_time(const uint8_t *p, size_t n, MYSQL_TIME *t)
{
	t->time_type = MYSQL_TIMESTAMP_TIME;
	if (n == 0)
		return CENOTE_OK;
	if (n != 8 && n != 12)
		return CENOTE_ERR_PROTOCOL;
	t->neg = (cnd_my_bool)(p[0] != 0);
	t->day = cnc_get_u32(p + 1);
	t->hour = p[5];
	t->minute = p[6];
	t->second = p[7];
	if (n == 12)
		t->second_part = cnc_get_u32(p + 8);
	return CENOTE_OK;
}

static int
load_date(const uint8_t *p, size_t n, MYSQL_TIME *t)
{
	t->time_type = MYSQL_TIMESTAMP_DATETIME;
	if (n == 0)
		return CENOTE_OK;
	if (n != 4 && n != 7 && n != 11)
		return CENOTE_ERR_PROTOCOL;
	t->year = cnc_get_u16(p);
	t->month = p[2];
	t->day = p[3];
	if (n >= 7) {
		t->hour = p[4];
		t->minute = p[5];
		t->second = p[6];
	}
	if (n == 11)
		t->second_part = cnc_get_u32(p + 7);
	return CENOTE_OK;
}

int
cnd_my_time_load(uint32_t native_type, const uint8_t *p, size_t n, MYSQL_TIME *ret_time)
{
	memset(ret_time, 0, sizeof(*ret_time));
	return native_type == MYSQL_TYPE_TIME ? load_time(p, n, ret_time)
					      : load_date(p, n, ret_time);
}

/* Zeros are allowed: 2024-00-00 is a valid date in MySQL. */
static int
is_time_value(uint32_t native_type, const MYSQL_TIME *t)
{
	if (t->hour > 23 || t->minute > 59 || t->second > 59 || t->second_part > 999999)
		return 0;
	if (native_type == MYSQL_TYPE_TIME)
		return t->day <= HOURS_MAX / 24;
	return t->year <= 9999 && t->month <= 12 && t->day <= 31;
}

int
cnd_my_time_unpack(uint32_t native_type, const uint8_t *p, size_t n, MYSQL_TIME *ret_time)
{
	MYSQL_TIME t;
	int r = cnd_my_time_load(native_type, p, n, &t);

	if (r < 0)
		return r;
	/* the byte for the sign is 0 or 1 */
	if (!is_time_value(native_type, &t) ||
		(native_type == MYSQL_TYPE_TIME && n > 0 && p[0] > 1))
		return CENOTE_ERR_PROTOCOL;
	if (native_type == MYSQL_TYPE_TIME) {
		t.hour += t.day * 24;
		t.day = 0;
	}
	*ret_time = t;
	return CENOTE_OK;
}

static char *
put_digits(char *p, unsigned n, unsigned long value)
{
	unsigned i;

	for (i = n; i > 0; i--) {
		p[i - 1] = (char)('0' + value % 10);
		value /= 10;
	}
	return p + n;
}

static char *
put_date(char *p, const MYSQL_TIME *t)
{
	p = put_digits(p, 4, t->year);
	*p++ = '-';
	p = put_digits(p, 2, t->month);
	*p++ = '-';
	return put_digits(p, 2, t->day);
}

/* Write the time of day. If the number of decimals is unknown (more than 6), write six decimals, or
 * none if they are zero. */
static char *
put_clock(char *p, const MYSQL_TIME *t, uint32_t decimals)
{
	char fraction[6];

	p = put_digits(p, t->hour > 999 ? 4 : t->hour > 99 ? 3 : 2, t->hour);
	*p++ = ':';
	p = put_digits(p, 2, t->minute);
	*p++ = ':';
	p = put_digits(p, 2, t->second);
	if (decimals > 6)
		decimals = t->second_part ? 6 : 0;
	if (decimals == 0)
		return p;
	*p++ = '.';
	put_digits(fraction, 6, t->second_part);
	memcpy(p, fraction, decimals);
	return p + decimals;
}

/* Write the date or time as the server does. Returns the length. */
static size_t
time_text(const struct cnp_column *c, const MYSQL_TIME *t, char *out)
{
	char *p = out;

	if (c->native_type == MYSQL_TYPE_TIME) {
		if (t->neg)
			*p++ = '-';
		p = put_clock(p, t, (uint32_t)c->modifier);
	} else {
		p = put_date(p, t);
		if (c->native_type != MYSQL_TYPE_DATE) {
			*p++ = ' ';
			p = put_clock(p, t, (uint32_t)c->modifier);
		}
	}
	return (size_t)(p - out);
}

/*
 * Write dates and times that every client understands in canonical form. Keep the server's text of
 * the others: dates with zeros (0000-00-00, 2024-02-00), negative times, and times of a day and more.
 */
static int
put_canonical_text(struct cnc_batch *w, uint8_t type, const char *p, size_t n)
{
	int r = cnd_put_canonical(w, type, p, n);

	return r == CENOTE_DONE ? cnc_batch_put(w, p, n) : r;
}

static int
put_binary_time(
	struct cnc_batch *w, const struct cnp_column *c, const uint8_t *p, size_t n)
{
	char text[TIME_TEXT_MAX];
	MYSQL_TIME t;
	int r = cnd_my_time_unpack(c->native_type, p, n, &t);

	if (r < 0)
		return r;
	if (c->format == CENOTE_FORMAT_BINARY)
		return cnc_batch_put(w, p, n);
	n = time_text(c, &t, text);
	return c->format == CENOTE_FORMAT_CANONICAL
		       ? put_canonical_text(w, c->type, text, n)
		       : cnc_batch_put(w, text, n);
}

/* ---- numbers ---- */

/* Write a number, with leading zeros up to the column's width if the column is ZEROFILL. */
static int
put_padded(struct cnc_batch *w, const struct cnp_column *c, const char *text, size_t n)
{
	size_t width = c->length > 0 && c->length <= 255 ? (size_t)c->length : 0;
	char *room;
	int r;

	if (!(c->native_flags & ZEROFILL_FLAG) || n >= width)
		return cnc_batch_put(w, text, n);
	r = cnc_batch_room(w, width, &room);
	if (r < 0)
		return r;
	memset(room, '0', width - n);
	memcpy(room + width - n, text, n);
	cnc_batch_room_done(w, width);
	return CENOTE_OK;
}

/* Read an integer of 1 to 8 bytes, in two's complement. */
static uint64_t
read_integer(const uint8_t *p, size_t n, int is_unsigned)
{
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < n; i++)
		v |= (uint64_t)p[i] << (8 * i);
	if (!is_unsigned && n < 8 && p[n - 1] & 0x80)
		v |= UINT64_MAX << (8 * n);
	return v;
}

static int
put_binary_integer(
	struct cnc_batch *w, const struct cnp_column *c, const uint8_t *p, size_t n)
{
	int is_unsigned = (c->native_flags & UNSIGNED_FLAG) != 0;
	uint64_t v = read_integer(p, n, is_unsigned);
	char text[CNC_VALUE_TEXT_MAX];
	size_t len =
		is_unsigned ? cnc_uint64_text(v, text) : cnc_int64_text((int64_t)v, text);

	if (c->format == CENOTE_FORMAT_CANONICAL)
		return cnc_batch_put(w, text, len);
	return put_padded(w, c, text, len);
}

static int
put_binary_double(struct cnc_batch *w, const struct cnp_column *c, const uint8_t *p)
{
	char text[CND_MY_DOUBLE_TEXT_MAX];
	uint64_t bits = cnc_get_u64(p);
	double v;

	memcpy(&v, &bits, sizeof(v));
	if (c->format == CENOTE_FORMAT_CANONICAL)
		return cnc_batch_put(w, text, cnc_double_text(v, text));
	return put_padded(w, c, text, cnd_my_double_text(v, (uint32_t)c->modifier, text));
}

static int
put_binary_float(struct cnc_batch *w, const struct cnp_column *c, const uint8_t *p)
{
	char text[CND_MY_DOUBLE_TEXT_MAX];
	uint32_t bits = cnc_get_u32(p);
	float v;

	memcpy(&v, &bits, sizeof(v));
	if (c->format == CENOTE_FORMAT_CANONICAL)
		return cnc_batch_put(w, text, cnd_my_float_canonical(v, text));
	return put_padded(w, c, text, cnd_my_float_text(v, (uint32_t)c->modifier, text));
}

/* Skip the leading zeros of ZEROFILL. */
static int
put_unpadded(struct cnc_batch *w, const char *p, size_t n)
{
	while (n > 1 && p[0] == '0' && p[1] >= '0' && p[1] <= '9') {
		p++;
		n--;
	}
	return cnc_batch_put(w, p, n);
}

/* ---- one value ---- */

static int
put_bool(struct cnc_batch *w, const char *p, size_t n)
{
	size_t i;

	for (i = 0; i < n && p[i] == '\0'; i++)
		continue;
	return cnc_batch_put(w, i < n ? "1" : "0", 1);
}

/* Write a value that both protocols send in the same form. */
static int
put_canonical(struct cnc_batch *w, const struct cnp_column *c, const char *p, size_t n)
{
	switch (c->type) {
	case CENOTE_TYPE_BOOL:
		return put_bool(w, p, n);
	case CENOTE_TYPE_INT64:
	case CENOTE_TYPE_UINT64:
	case CENOTE_TYPE_DECIMAL:
		return put_unpadded(w, p, n);
	case CENOTE_TYPE_DOUBLE:
	case CENOTE_TYPE_DATE:
	case CENOTE_TYPE_TIME:
	case CENOTE_TYPE_TIMESTAMP:
		return put_canonical_text(w, c->type, p, n);
	default:
		return cnc_batch_put(w, p, n);
	}
}

int
cnd_my_is_plain(const struct cnp_column *c)
{
	if (c->format != CENOTE_FORMAT_CANONICAL)
		return 1;
	return c->type == CENOTE_TYPE_TEXT || c->type == CENOTE_TYPE_BYTES ||
	       c->type >= CENOTE_TYPE_INTERVAL;
}

/* Digits are in canonical form, unless ZEROFILL padded them. */
static int
is_plain_text(const struct cnp_column *c)
{
	if (cnd_my_is_plain(c))
		return 1;
	return (c->type == CENOTE_TYPE_INT64 || c->type == CENOTE_TYPE_UINT64 ||
		       c->type == CENOTE_TYPE_DECIMAL) &&
	       c->native_type != MYSQL_TYPE_YEAR && !(c->native_flags & ZEROFILL_FLAG);
}

int
cnd_my_are_plain(const struct cnp_column *columns, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (!is_plain_text(&columns[i]))
			return 0;
	}
	return 1;
}

int
cnd_my_text_put(struct cnc_batch *w, const struct cnp_column *c, const char *p, size_t n)
{
	if (c->format == CENOTE_FORMAT_CANONICAL)
		return put_canonical(w, c, p, n);
	return cnc_batch_put(w, p, n);
}

int
cnd_my_binary_put(
	struct cnc_batch *w, const struct cnp_column *c, const uint8_t *p, size_t n)
{
	int size = cnd_my_binary_size(c->native_type);

	if (size >= 0 && n != (size_t)size)
		return CENOTE_ERR_PROTOCOL;
	if (size >= 0 && c->format == CENOTE_FORMAT_BINARY)
		return cnc_batch_put(w, p, n);
	switch (c->native_type) {
	case MYSQL_TYPE_TINY:
	case MYSQL_TYPE_SHORT:
	case MYSQL_TYPE_YEAR:
	case MYSQL_TYPE_INT24:
	case MYSQL_TYPE_LONG:
	case MYSQL_TYPE_LONGLONG:
		return put_binary_integer(w, c, p, n);
	case MYSQL_TYPE_FLOAT:
		return put_binary_float(w, c, p);
	case MYSQL_TYPE_DOUBLE:
		return put_binary_double(w, c, p);
	case MYSQL_TYPE_DATE:
	case MYSQL_TYPE_TIME:
	case MYSQL_TYPE_DATETIME:
	case MYSQL_TYPE_TIMESTAMP:
		return put_binary_time(w, c, p, n);
	default:
		return cnd_my_text_put(w, c, (const char *)p, n);
	}
}
