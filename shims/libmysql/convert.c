/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversions that are the same in both flavours, and functions that write numbers, dates and times
 * as text. convert_mariadb.c and convert_oracle.c call this file. It owns no state.
 */
#include "convert.h"

#include "number.h"

#include <math.h>
#include <string.h>

/* MYSQL_FIELD.decimals of a real without a fixed number of decimals */
#define NOT_FIXED 31u

/* ---- numbers ---- */

size_t
cmy_integer_size(enum enum_field_types type)
{
	switch (type) {
	case MYSQL_TYPE_TINY:
		return 1;
	case MYSQL_TYPE_YEAR:
		return CMY_ORACLE ? 0 : 2;
	case MYSQL_TYPE_SHORT:
		return 2;
	case MYSQL_TYPE_LONG:
		return 4;
	case MYSQL_TYPE_LONGLONG:
		return 8;
	default:
		return 0;
	}
}

/* Connector/C stores the size that it wrote in the program's structure
 * (mysql_stmt_fetch_column()). */
static void
note_size(MYSQL_BIND *b, size_t size)
{
#if CMY_ORACLE
	(void)b;
	(void)size;
#else
	b->buffer_length = size;
#endif
}

void
cmy_put_integer(MYSQL_BIND *b, size_t size, int64_t v)
{
	int8_t v8 = (int8_t)v;
	int16_t v16 = (int16_t)v;
	int32_t v32 = (int32_t)v;

	if (size == 1)
		memcpy(b->buffer, &v8, 1);
	else if (size == 2)
		memcpy(b->buffer, &v16, 2);
	else if (size == 4)
		memcpy(b->buffer, &v32, 4);
	else
		memcpy(b->buffer, &v, 8);
	note_size(b, size);
}

void
cmy_put_float(MYSQL_BIND *b, float v)
{
	memcpy(b->buffer, &v, sizeof(v));
	note_size(b, sizeof(v));
}

void
cmy_put_double(MYSQL_BIND *b, double v)
{
	memcpy(b->buffer, &v, sizeof(v));
	note_size(b, sizeof(v));
}

int
cmy_is_outside(const MYSQL_BIND *b, size_t size, int64_t v)
{
	int64_t half = (int64_t)1 << (8 * size - 1);

	if (b->is_unsigned)
		return v < 0 || v >= 2 * half;
	return v < -half || v >= half;
}

/* Does a real that was made from an integer still have the same value? */
static int
is_same(double real, int64_t v, int is_unsigned)
{
	if (is_unsigned)
		return real < 18446744073709551616.0 && (uint64_t)real == (uint64_t)v;
	return real < 9223372036854775808.0 && (int64_t)real == v;
}

void
cmy_integer_to_real(MYSQL_BIND *b, int64_t v, int is_unsigned)
{
	double wide = is_unsigned ? (double)(uint64_t)v : (double)v;
	float narrow = is_unsigned ? (float)(uint64_t)v : (float)v;

	if (b->buffer_type == MYSQL_TYPE_DOUBLE) {
		cmy_put_double(b, wide);
		*b->error = cmy_bool(!is_same(wide, v, is_unsigned));
		return;
	}
	cmy_put_float(b, narrow);
	*b->error = cmy_bool(!is_same((double)narrow, v, is_unsigned));
}

/* Convert as x86-64 does, even where C leaves the result undefined: programs get these values from
 * the originals. */
static int64_t
cut(const MYSQL_BIND *b, size_t size, double v)
{
	if (size == 8)
		return b->is_unsigned ? (int64_t)cmy_to_uint64(v) : cmy_to_int64(v);
	if (size == 4 && b->is_unsigned)
		return (int64_t)(uint32_t)cmy_to_int64(v);
	if (size == 4)
		return cmy_to_int32(v);
	if (size == 2)
		return b->is_unsigned ? (int64_t)(uint16_t)cmy_to_int32(v)
				      : (int16_t)cmy_to_int32(v);
	return b->is_unsigned ? (int64_t)(uint8_t)cmy_to_int32(v)
			      : (int8_t)cmy_to_int32(v);
}

int
cmy_real_to_integer(MYSQL_BIND *b, size_t size, double v)
{
	int64_t stored = cut(b, size, v);

	cmy_put_integer(b, size, stored);
	if (size == 8 && b->is_unsigned)
		return trunc(v) != (double)(uint64_t)stored;
	return trunc(v) != (double)stored;
}

size_t
cmy_real_field_text(const MYSQL_BIND *b, const MYSQL_FIELD *field,
	const struct cmy_cell *cell, char *out)
{
	size_t most = CMY_ORACLE ? 341 : 299;

	if (field->decimals < NOT_FIXED)
		return cmy_real_text_fixed(cell->as.real, field->decimals, out);
	return cmy_real_text(cell->as.real, cell->kind == CMY_KIND_FLOAT,
		b->buffer_length < most ? b->buffer_length : most, out);
}

size_t
cmy_fill_zeros(char *text, size_t n, size_t width)
{
	memmove(text + width - n, text, n);
	memset(text, '0', width - n);
	return width;
}

/* ---- texts ---- */

void
cmy_put_text(MYSQL_BIND *b, const char *p, size_t n)
{
	size_t left = n > b->offset ? n - b->offset : 0;
	size_t copied = left < b->buffer_length ? left : b->buffer_length;

	*b->length = n;
	/* sic: Connector/C writes nothing if the offset is after the end */
	if (!CMY_ORACLE && n < b->offset)
		return;
	if (copied > 0)
		memcpy(b->buffer, p + b->offset, copied);
	if (left < b->buffer_length)
		((char *)b->buffer)[left] = '\0';
	*b->error = cmy_bool(left > b->buffer_length);
}

/* ---- dates and times ---- */

/* Write at least n digits. */
static char *
put_digits(char *p, size_t n, unsigned long v)
{
	size_t size = 1, i;
	unsigned long left;

	for (left = v; left >= 10; left /= 10)
		size++;
	if (size < n)
		size = n;
	for (i = size; i > 0; i--) {
		p[i - 1] = (char)('0' + v % 10);
		v /= 10;
	}
	return p + size;
}

size_t
cmy_date_text(const MYSQL_TIME *t, char *out)
{
	char *p = put_digits(out, 4, t->year);

	*p++ = '-';
	p = put_digits(p, 2, t->month);
	*p++ = '-';
	return (size_t)(put_digits(p, 2, t->day) - out);
}

size_t
cmy_clock_text(const MYSQL_TIME *t, unsigned decimals, char *out)
{
	char *p = put_digits(out, 2, t->hour);

	*p++ = ':';
	p = put_digits(p, 2, t->minute);
	*p++ = ':';
	p = put_digits(p, 2, t->second);
	if (decimals == 0)
		return (size_t)(p - out);
	*p++ = '.';
	(void)put_digits(p, 6, t->second_part);
	return (size_t)(p - out) + decimals;
}

unsigned
cmy_read_u16(const unsigned char *p)
{
	return p[0] | (unsigned)p[1] << 8;
}

unsigned long
cmy_read_u32(const unsigned char *p)
{
	return cmy_read_u16(p) | (unsigned long)cmy_read_u16(p + 2) << 16;
}

void
cmy_unpack_clock(const unsigned char *p, size_t n, MYSQL_TIME *t)
{
	t->hour += p[0];
	t->minute = p[1];
	t->second = p[2];
	if (n >= 7)
		t->second_part = cmy_read_u32(p + 3);
}
