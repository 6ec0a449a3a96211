/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/value.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/decimal.h"
#include "core/dt.h"

/*
 * Bound values in the form of the protocol, and the text of numbers in any locale.
 */

enum {
	FLAG_NULL = 1,
	FLAG_NATIVE = 2,
	FLAG_LONG = 4,
};

/* The wire form and the text form of each type that is not sent as text. */
struct kind {
	int (*is_valid)(const struct cnc_value *v);
	/* Write the little-endian form into WIRE_MAX bytes of room; returns the number of bytes. */
	size_t (*put)(uint8_t *out, const struct cnc_value *v);
	void (*get)(struct cnc_reader *r, struct cnc_value *v);
	size_t (*text)(const struct cnc_value *v, char out[CNC_VALUE_TEXT_MAX]);
};

#define WIRE_MAX 24u

static size_t
put_bool(uint8_t *out, const struct cnc_value *v)
{
	out[0] = v->as.i64 != 0;
	return 1;
}

static void
get_bool(struct cnc_reader *r, struct cnc_value *v)
{
	uint8_t value = cnc_read_u8(r);

	if (value > 1)
		r->bad = 1;
	v->as.i64 = value;
}

static size_t
text_bool(const struct cnc_value *v, char out[CNC_VALUE_TEXT_MAX])
{
	return cnc_int64_text(v->as.i64 != 0, out);
}

static size_t
put_int64(uint8_t *out, const struct cnc_value *v)
{
	cnc_put_u64(out, (uint64_t)v->as.i64);
	return 8;
}

static void
get_int64(struct cnc_reader *r, struct cnc_value *v)
{
	v->as.i64 = (int64_t)cnc_read_u64(r);
}

static size_t
text_int64(const struct cnc_value *v, char out[CNC_VALUE_TEXT_MAX])
{
	return cnc_int64_text(v->as.i64, out);
}

static size_t
put_uint64(uint8_t *out, const struct cnc_value *v)
{
	cnc_put_u64(out, v->as.u64);
	return 8;
}

static void
get_uint64(struct cnc_reader *r, struct cnc_value *v)
{
	v->as.u64 = cnc_read_u64(r);
}

static size_t
text_uint64(const struct cnc_value *v, char out[CNC_VALUE_TEXT_MAX])
{
	return cnc_uint64_text(v->as.u64, out);
}

static size_t
put_double(uint8_t *out, const struct cnc_value *v)
{
	uint64_t bits;

	memcpy(&bits, &v->as.f64, sizeof(bits));
	cnc_put_u64(out, bits);
	return 8;
}

static void
get_double(struct cnc_reader *r, struct cnc_value *v)
{
	uint64_t bits = cnc_read_u64(r);

	memcpy(&v->as.f64, &bits, sizeof(bits));
}

static size_t
text_double(const struct cnc_value *v, char out[CNC_VALUE_TEXT_MAX])
{
	return cnc_double_text(v->as.f64, out);
}

static size_t
put_date(uint8_t *out, const cenote_date *d)
{
	cnc_put_u32(out, (uint32_t)d->year);
	out[4] = d->month;
	out[5] = d->day;
	return 6;
}

static cenote_date
get_date(struct cnc_reader *r)
{
	cenote_date d = { .year = (int32_t)cnc_read_u32(r) };

	d.month = cnc_read_u8(r);
	d.day = cnc_read_u8(r);
	if (!cnc_date_is_valid(&d))
		r->bad = 1;
	return d;
}

static size_t
put_time(uint8_t *out, const cenote_time *t)
{
	out[0] = t->hour;
	out[1] = t->minute;
	out[2] = t->second;
	cnc_put_u32(out + 3, t->nanosecond);
	cnc_put_u32(out + 7, (uint32_t)t->utc_offset_s);
	return 11;
}

static cenote_time
get_time(struct cnc_reader *r)
{
	cenote_time t = { .hour = cnc_read_u8(r) };

	t.minute = cnc_read_u8(r);
	t.second = cnc_read_u8(r);
	t.nanosecond = cnc_read_u32(r);
	t.utc_offset_s = (int32_t)cnc_read_u32(r);
	if (!cnc_time_is_valid(&t))
		r->bad = 1;
	return t;
}

static int
is_valid_date(const struct cnc_value *v)
{
	return cnc_date_is_valid(&v->as.date);
}

static size_t
put_date_value(uint8_t *out, const struct cnc_value *v)
{
	return put_date(out, &v->as.date);
}

static void
get_date_value(struct cnc_reader *r, struct cnc_value *v)
{
	v->as.date = get_date(r);
}

static size_t
text_date(const struct cnc_value *v, char out[CNC_VALUE_TEXT_MAX])
{
	return cnc_date_text(&v->as.date, out);
}

static int
is_valid_time(const struct cnc_value *v)
{
	return cnc_time_is_valid(&v->as.time);
}

static size_t
put_time_value(uint8_t *out, const struct cnc_value *v)
{
	return put_time(out, &v->as.time);
}

static void
get_time_value(struct cnc_reader *r, struct cnc_value *v)
{
	v->as.time = get_time(r);
}

static size_t
text_time(const struct cnc_value *v, char out[CNC_VALUE_TEXT_MAX])
{
	return cnc_time_text(&v->as.time, out);
}

static int
is_valid_timestamp(const struct cnc_value *v)
{
	return cnc_date_is_valid(&v->as.timestamp.date) &&
	       cnc_time_is_valid(&v->as.timestamp.time);
}

static size_t
put_timestamp(uint8_t *out, const struct cnc_value *v)
{
	size_t n = put_date(out, &v->as.timestamp.date);

	return n + put_time(out + n, &v->as.timestamp.time);
}

static void
get_timestamp(struct cnc_reader *r, struct cnc_value *v)
{
	v->as.timestamp.date = get_date(r);
	v->as.timestamp.time = get_time(r);
}

static size_t
text_timestamp(const struct cnc_value *v, char out[CNC_VALUE_TEXT_MAX])
{
	return cnc_timestamp_text(&v->as.timestamp, out);
}

_Static_assert(CNC_VALUE_TEXT_MAX >= CNC_DT_TEXT_MAX, "a timestamp is a value");

static const struct kind kinds[CENOTE_TYPE_OTHER + 1] = {
	[CENOTE_TYPE_BOOL] = { NULL, put_bool, get_bool, text_bool },
	[CENOTE_TYPE_INT64] = { NULL, put_int64, get_int64, text_int64 },
	[CENOTE_TYPE_UINT64] = { NULL, put_uint64, get_uint64, text_uint64 },
	[CENOTE_TYPE_DOUBLE] = { NULL, put_double, get_double, text_double },
	[CENOTE_TYPE_DATE] = { is_valid_date, put_date_value, get_date_value, text_date },
	[CENOTE_TYPE_TIME] = { is_valid_time, put_time_value, get_time_value, text_time },
	[CENOTE_TYPE_TIMESTAMP] = { is_valid_timestamp, put_timestamp, get_timestamp,
		text_timestamp },
};

static int
is_decimal(const char *text, size_t len)
{
	struct cnc_decimal d;

	return cnc_decimal_parse(text, len, &d) == CENOTE_OK;
}

/* Append the content of a value that is not NULL, after its type and flags. */
static int
encode_content(struct cnc_buf *b, const struct cnc_value *v)
{
	const struct kind *kind = &kinds[v->type];
	uint8_t bytes[WIRE_MAX];

	if (v->is_native || !kind->put) {
		if (v->len && !v->bytes)
			return CENOTE_ERR_ARG;
		if (!v->is_native && v->type == CENOTE_TYPE_DECIMAL &&
			!is_decimal(v->bytes, v->len))
			return CENOTE_ERR_ARG;
		return cnc_buf_str(b, v->bytes, v->len);
	}
	if (kind->is_valid && !kind->is_valid(v))
		return CENOTE_ERR_ARG;
	return cnc_buf_append(b, bytes, kind->put(bytes, v));
}

/* Can the content come in pieces? */
static int
can_be_long(const struct cnc_value *v)
{
	return v->is_native || v->type == CENOTE_TYPE_TEXT ||
	       v->type == CENOTE_TYPE_BYTES;
}

int
cnc_value_encode(struct cnc_buf *b, const struct cnc_value *v)
{
	int is_null = v->is_null || (v->type == CENOTE_TYPE_NULL && !v->is_native);
	uint8_t head[7] = { v->type, 0 };
	size_t before = cnc_buf_len(b);
	int r;

	if (v->type > CENOTE_TYPE_OTHER)
		return CENOTE_ERR_ARG;
	if (v->is_native && v->format != CENOTE_FORMAT_TEXT &&
		v->format != CENOTE_FORMAT_BINARY)
		return CENOTE_ERR_ARG;
	if (v->is_long && (is_null || !can_be_long(v)))
		return CENOTE_ERR_ARG;
	head[1] = (uint8_t)((is_null ? FLAG_NULL : 0) | (v->is_native ? FLAG_NATIVE : 0) |
			    (v->is_long ? FLAG_LONG : 0));
	head[2] = v->format;
	cnc_put_u32(head + 3, v->native_type);
	r = cnc_buf_append(b, head, v->is_native ? 7 : 2);
	if (r < 0)
		return r;
	if (is_null || v->is_long)
		return CENOTE_OK;
	r = encode_content(b, v);
	if (r < 0)
		cnc_buf_truncate(b, before);
	return r;
}

void
cnc_value_decode(struct cnc_reader *r, struct cnc_value *ret_value)
{
	struct cnc_value v = { .type = cnc_read_u8(r) };
	uint8_t flags = cnc_read_u8(r);

	*ret_value = (struct cnc_value){ .is_null = 1 };
	if (r->bad || v.type > CENOTE_TYPE_OTHER ||
		flags > (FLAG_NULL | FLAG_NATIVE | FLAG_LONG))
		goto bad;
	v.is_null = (flags & FLAG_NULL) != 0;
	v.is_native = (flags & FLAG_NATIVE) != 0;
	v.is_long = (flags & FLAG_LONG) != 0;
	if (v.is_long && (v.is_null || !can_be_long(&v)))
		goto bad;
	if (v.is_native) {
		v.format = cnc_read_u8(r);
		v.native_type = cnc_read_u32(r);
		if (v.format != CENOTE_FORMAT_TEXT && v.format != CENOTE_FORMAT_BINARY)
			goto bad;
	} else if (v.type == CENOTE_TYPE_NULL && !v.is_null) {
		goto bad;
	}
	if (!v.is_null && !v.is_long) {
		if (v.is_native || !kinds[v.type].get)
			v.bytes = cnc_read_str(r, &v.len);
		else
			kinds[v.type].get(r, &v);
		if (!v.is_native && v.type == CENOTE_TYPE_DECIMAL &&
			!is_decimal(v.bytes, v.len))
			goto bad;
	}
	if (r->bad)
		return;
	*ret_value = v;
	return;
bad:
	r->bad = 1;
}

size_t
cnc_value_text(const struct cnc_value *v, char out[CNC_VALUE_TEXT_MAX])
{
	out[0] = '\0';
	if (v->is_null || v->is_native || v->type > CENOTE_TYPE_OTHER)
		return 0;
	return kinds[v->type].text ? kinds[v->type].text(v, out) : 0;
}

static size_t
put_integer(uint64_t magnitude, int is_negative, char *out)
{
	char digits[20];
	size_t n = 0, len = 0;

	do {
		digits[n++] = (char)('0' + magnitude % 10);
		magnitude /= 10;
	} while (magnitude);
	if (is_negative)
		out[len++] = '-';
	while (n > 0)
		out[len++] = digits[--n];
	out[len] = '\0';
	return len;
}

size_t
cnc_int64_text(int64_t v, char out[CNC_VALUE_TEXT_MAX])
{
	return put_integer(v < 0 ? 0 - (uint64_t)v : (uint64_t)v, v < 0, out);
}

size_t
cnc_uint64_text(uint64_t v, char out[CNC_VALUE_TEXT_MAX])
{
	return put_integer(v, 0, out);
}

static size_t
put_word(const char *word, char *out)
{
	size_t len = strlen(word);

	memcpy(out, word, len + 1);
	return len;
}

/*
 * printf() writes the locale's decimal point, which may have several bytes. %g writes only known
 * characters besides, so all others are the point.
 */
static size_t
set_point(char *text)
{
	char *from = text + strspn(text, "-0123456789");
	char *to = from;

	if (*from != '\0' && *from != 'e') {
		*to++ = '.';
		from++;
		from += strcspn(from, "0123456789");
	}
	memmove(to, from, strlen(from) + 1);
	return strlen(text);
}

size_t
cnc_double_text(double v, char out[CNC_VALUE_TEXT_MAX])
{
	/*
	 * If 15 digits are enough, then %.15g, which drops trailing zeros, is the shortest. Below
	 * DBL_MIN this is not true, because such numbers have fewer bits.
	 */
	int precision = fabs(v) < DBL_MIN ? 1 : 15;

	if (isnan(v))
		return put_word("NaN", out);
	if (isinf(v))
		return put_word(v < 0 ? "-Infinity" : "Infinity", out);
	if (fabs(v) < 1e15 && v == (double)(int64_t)v && !(v == 0 && signbit(v)))
		return cnc_int64_text((int64_t)v, out);
	for (; precision <= 17; precision++) {
		snprintf(out, CNC_VALUE_TEXT_MAX, "%.*g", precision, v);
		if (strtod(out, NULL) == v)
			break;
	}
	return set_point(out);
}

static int
is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static void
trim(const char **text, size_t *len)
{
	while (*len > 0 && is_space(**text)) {
		(*text)++;
		(*len)--;
	}
	while (*len > 0 && is_space((*text)[*len - 1]))
		(*len)--;
}

/* Is the text this word? `word` is in lower case; ASCII case is ignored. */
static int
is_word(const char *text, size_t len, const char *word)
{
	if (len != strlen(word))
		return 0;
	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (c != word[i])
			return 0;
	}
	return 1;
}

/* Read a boolean word. 1 or 0; -1: the text is not such a word. */
static int
read_bool(const char *text, size_t len)
{
	if (is_word(text, len, "t") || is_word(text, len, "true"))
		return 1;
	if (is_word(text, len, "f") || is_word(text, len, "false"))
		return 0;
	return -1;
}

/* Read a short plain number, of up to 18 digits. Nearly all numbers are like this. */
static int
read_short(const char *text, size_t len, int64_t *ret_value)
{
	int is_negative = len > 0 && text[0] == '-';
	size_t i = (size_t)is_negative;
	int64_t value = 0;

	if (len == i || len - i > 18)
		return 0;
	for (; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return 0;
		value = value * 10 + (text[i] - '0');
	}
	*ret_value = is_negative ? -value : value;
	return 1;
}

int
cnc_text_int64(const char *text, size_t len, int64_t *ret_value)
{
	struct cnc_decimal d;
	int r;

	if (read_short(text, len, ret_value))
		return CENOTE_OK;
	trim(&text, &len);
	r = read_bool(text, len);
	if (r >= 0) {
		*ret_value = r;
		return CENOTE_OK;
	}
	r = cnc_decimal_parse(text, len, &d);
	return r < 0 ? r : cnc_decimal_int64(&d, ret_value);
}

int
cnc_text_uint64(const char *text, size_t len, uint64_t *ret_value)
{
	struct cnc_decimal d;
	int r;

	trim(&text, &len);
	r = read_bool(text, len);
	if (r >= 0) {
		*ret_value = (uint64_t)r;
		return CENOTE_OK;
	}
	r = cnc_decimal_parse(text, len, &d);
	return r < 0 ? r : cnc_decimal_uint64(&d, ret_value);
}

/* Read "inf", "infinity" or "nan", with or without a sign. */
static int
read_special(const char *text, size_t len, double *ret_value)
{
	int is_negative = len > 0 && text[0] == '-';

	if (len > 0 && (text[0] == '-' || text[0] == '+')) {
		text++;
		len--;
	}
	if (is_word(text, len, "inf") || is_word(text, len, "infinity"))
		*ret_value = is_negative ? -HUGE_VAL : HUGE_VAL;
	else if (is_word(text, len, "nan"))
		*ret_value = NAN;
	else
		return 0;
	return 1;
}

/* The number of digits that decide how a double is rounded (767), and a few to spare. */
#define DOUBLE_DIGITS 800u

/* Is one of the next n digits not 0? There may be a point between the digits. */
static int
has_nonzero(const char *p, size_t n)
{
	for (; n > 0; p++) {
		if (*p == '.')
			continue;
		if (*p != '0')
			return 1;
		n--;
	}
	return 0;
}

/*
 * Write the number as a whole number with an exponent, which strtod() reads alike in every locale.
 * Digits beyond DOUBLE_DIGITS become a single digit, if they are not all zero.
 */
static double
decimal_double(const struct cnc_decimal *d)
{
	char text[DOUBLE_DIGITS + 32];
	const char *p = d->digits;
	char *out = text;
	size_t n = 0;

	if (d->is_negative)
		*out++ = '-';
	for (; n < d->n_digits && n < DOUBLE_DIGITS; p++) {
		if (*p == '.')
			continue;
		*out++ = *p;
		n++;
	}
	if (has_nonzero(p, d->n_digits - n)) {
		*out++ = '1';
		n++;
	}
	if (n == 0)
		*out++ = '0';
	*out++ = 'e';
	cnc_int64_text(d->exponent - (int64_t)n, out);
	return strtod(text, NULL);
}

int
cnc_text_double(const char *text, size_t len, double *ret_value)
{
	struct cnc_decimal d;
	double value;
	int r;

	trim(&text, &len);
	if (read_special(text, len, ret_value))
		return CENOTE_OK;
	r = cnc_decimal_parse(text, len, &d);
	if (r < 0)
		return r;
	value = decimal_double(&d);
	if (isinf(value))
		return CENOTE_ERR_CONVERT;
	*ret_value = value;
	return CENOTE_OK;
}
