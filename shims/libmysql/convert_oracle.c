/* SPDX-License-Identifier: BSD-2-Clause */
#include "convert.h"
#include "number.h"

#include "oracle_time.h"

#include <float.h>
#include <string.h>

/* Convert values for the program's buffers as Oracle's library does. Odd results are the
 * original's, and tests of programs expect them. bind.c calls this file. It owns no state. */

/* ---- no conversion: field and buffer of the same kind ---- */

static int
is_in(enum enum_field_types type, const enum enum_field_types *kinds)
{
	for (; *kinds != MYSQL_TYPE_NULL; kinds++) {
		if (*kinds == type)
			return 1;
	}
	return 0;
}

static int
is_same_kind(enum enum_field_types buffer, enum enum_field_types field)
{
	static const enum enum_field_types kinds[][11] = {
		{ MYSQL_TYPE_SHORT, MYSQL_TYPE_YEAR, MYSQL_TYPE_NULL },
		{ MYSQL_TYPE_INT24, MYSQL_TYPE_LONG, MYSQL_TYPE_NULL },
		{ MYSQL_TYPE_DATETIME, MYSQL_TYPE_TIMESTAMP, MYSQL_TYPE_NULL },
		{ MYSQL_TYPE_ENUM, MYSQL_TYPE_SET, MYSQL_TYPE_TINY_BLOB,
			MYSQL_TYPE_MEDIUM_BLOB, MYSQL_TYPE_LONG_BLOB, MYSQL_TYPE_BLOB,
			MYSQL_TYPE_VAR_STRING, MYSQL_TYPE_STRING, MYSQL_TYPE_GEOMETRY,
			MYSQL_TYPE_DECIMAL, MYSQL_TYPE_NULL },
	};
	size_t i;

	if (buffer == field)
		return 1;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (is_in(buffer, kinds[i]))
			return is_in(field, kinds[i]);
	}
	return 0;
}

/* The size of an integer type; 0: the type is not an integer. */
static size_t
size_of_integer(enum enum_field_types type)
{
	if (type == MYSQL_TYPE_INT24)
		return 4;
	return type == MYSQL_TYPE_YEAR ? 2 : cmy_integer_size(type);
}

static void
put_same_integer(MYSQL_BIND *b, const MYSQL_FIELD *field, int64_t v)
{
	int is_unsigned = (field->flags & UNSIGNED_FLAG) != 0;
	size_t size = size_of_integer(field->type);
	uint64_t half = (uint64_t)1 << (8 * size - 1);

	cmy_put_integer(b, size, v);
	*b->error = is_unsigned != b->is_unsigned && ((uint64_t)v & half) != 0;
}

static void
put_same_bytes(MYSQL_BIND *b, const char *p, size_t n)
{
	size_t copied = n < b->buffer_length ? n : b->buffer_length;
	int is_text = b->buffer_type == MYSQL_TYPE_BIT ||
				      (b->buffer_type >= MYSQL_TYPE_TINY_BLOB &&
					      b->buffer_type <= MYSQL_TYPE_BLOB)
			      ? 0
			      : 1;

	if (copied > 0)
		memcpy(b->buffer, p, copied);
	if (is_text && copied < b->buffer_length)
		((char *)b->buffer)[copied] = '\0';
	*b->length = n;
	*b->error = copied < n;
}

static void
put_same(MYSQL_BIND *b, const MYSQL_FIELD *field, const struct cmy_cell *cell)
{
	switch (cell->kind) {
	case CMY_KIND_INTEGER:
		put_same_integer(b, field, cell->as.integer);
		break;
	case CMY_KIND_FLOAT:
		cmy_put_float(b, (float)cell->as.real);
		break;
	case CMY_KIND_DOUBLE:
		cmy_put_double(b, cell->as.real);
		break;
	case CMY_KIND_TIME:
		*(MYSQL_TIME *)b->buffer = cell->as.time;
		break;
	case CMY_KIND_BYTES:
		put_same_bytes(b, cell->as.bytes.p, cell->as.bytes.n);
		break;
	}
}

/* ---- texts ---- */

struct parsed {
	int64_t value;
	int is_wrong;
	int is_negative;
};

/* Read an integer. Bytes after its digits are ignored. */
static struct parsed
parse_integer(const char *p, size_t n)
{
	struct parsed v = { 0, 1, 0 };
	struct cmy_read r;

	cmy_read_integer(p, n, &r);
	if (!r.has_digits)
		return v;
	v.is_negative = r.is_negative;
	v.value = (int64_t)r.magnitude;
	v.is_wrong = r.is_too_large;
	if (r.is_too_large)
		v.value = -1;
	if (!r.is_negative)
		return v;
	v.is_wrong |= r.magnitude > (uint64_t)INT64_MAX + 1;
	v.value = v.is_wrong ? INT64_MIN : (int64_t)(0 - r.magnitude);
	return v;
}

static void
text_to_integer(MYSQL_BIND *b, size_t size, const char *p, size_t n)
{
	struct parsed v = parse_integer(p, n);

	cmy_put_integer(b, size, v.value);
	if (size < 8)
		*b->error = v.is_wrong || cmy_is_outside(b, size, v.value);
	else if (b->is_unsigned)
		*b->error = v.is_wrong || v.is_negative;
	else
		*b->error = v.is_wrong || (!v.is_negative && v.value < 0);
}

static void
text_to_real(MYSQL_BIND *b, const char *p, size_t n)
{
	double v;
	int is_wrong = cmy_read_real(p, n, &v);

	if (is_wrong)
		v = v < 0 ? -DBL_MAX : DBL_MAX;
	if (b->buffer_type == MYSQL_TYPE_DOUBLE) {
		cmy_put_double(b, v);
		*b->error = is_wrong != 0;
		return;
	}
	cmy_put_float(b, (float)v);
	*b->error = is_wrong || (double)(float)v != v;
}

static void
text_to_time(MYSQL_BIND *b, const char *p, size_t n)
{
	MYSQL_TIME *t = b->buffer;
	int is_cut;

	if (b->buffer_type == MYSQL_TYPE_TIME) {
		*b->error = cmy_oracle_time(p, n, t) != 0;
		return;
	}
	is_cut = cmy_oracle_datetime(p, n, t);
	*b->error = is_cut && b->buffer_type == MYSQL_TYPE_DATE &&
		    t->time_type != MYSQL_TIMESTAMP_DATE;
}

static void
put_from_text(MYSQL_BIND *b, const char *p, size_t n)
{
	size_t size = cmy_integer_size(b->buffer_type);

	if (b->buffer_type == MYSQL_TYPE_NULL)
		return;
	if (size > 0)
		text_to_integer(b, size, p, n);
	else if (b->buffer_type == MYSQL_TYPE_DOUBLE ||
		 b->buffer_type == MYSQL_TYPE_FLOAT)
		text_to_real(b, p, n);
	else if (cmy_is_time(b->buffer_type))
		text_to_time(b, p, n);
	else
		cmy_put_text(b, p, n);
}

/* ---- numbers ---- */

static void
integer_to_text(MYSQL_BIND *b, const MYSQL_FIELD *field, int64_t v, int is_unsigned)
{
	char text[64];
	size_t n = cmy_integer_text(v, is_unsigned, text);

	if (field->flags & ZEROFILL_FLAG && n < field->length && field->length < 21)
		n = cmy_fill_zeros(text, n, field->length);
	put_from_text(b, text, n);
}

static void
convert_integer(MYSQL_BIND *b, const MYSQL_FIELD *field, int64_t v, int is_unsigned)
{
	size_t size = cmy_integer_size(b->buffer_type);

	if (size == 8) {
		cmy_put_integer(b, size, v);
		*b->error = v < 0 && b->is_unsigned != (is_unsigned != 0);
	} else if (size > 0) {
		cmy_put_integer(b, size, v);
		*b->error = cmy_is_outside(b, size, v) != 0;
	} else if (b->buffer_type == MYSQL_TYPE_DOUBLE ||
		   b->buffer_type == MYSQL_TYPE_FLOAT) {
		cmy_integer_to_real(b, v, is_unsigned);
	} else if (cmy_is_time(b->buffer_type)) {
		*b->error = cmy_oracle_number_time(v, b->buffer) != 0;
	} else {
		integer_to_text(b, field, v, is_unsigned);
	}
}

static void
real_to_text(MYSQL_BIND *b, const MYSQL_FIELD *field, const struct cmy_cell *cell)
{
	char text[CMY_NUMBER_TEXT_MAX];
	size_t n = cmy_real_field_text(b, field, cell, text);

	if (field->flags & ZEROFILL_FLAG && n < field->length && field->length < 330)
		n = cmy_fill_zeros(text, n, field->length);
	put_from_text(b, text, n);
}

static void
convert_real(MYSQL_BIND *b, const MYSQL_FIELD *field, const struct cmy_cell *cell)
{
	size_t size = cmy_integer_size(b->buffer_type);
	double v = cell->as.real;

	if (b->buffer_type == MYSQL_TYPE_NULL)
		return;
	if (size > 0 && b->is_unsigned && v < 0) {
		*b->error = 1;
	} else if (size > 0) {
		*b->error = cmy_real_to_integer(b, size, v) != 0;
	} else if (b->buffer_type == MYSQL_TYPE_DOUBLE) {
		cmy_put_double(b, v);
	} else if (b->buffer_type == MYSQL_TYPE_FLOAT) {
		cmy_put_float(b, (float)v);
		*b->error = (double)(float)v != v;
	} else {
		real_to_text(b, field, cell);
	}
}

/* ---- dates and times ---- */

static void
time_to_text(MYSQL_BIND *b, const MYSQL_FIELD *field, const MYSQL_TIME *t)
{
	unsigned decimals = field->decimals < 6 ? field->decimals : 6;
	char text[CMY_TIME_TEXT_MAX];
	size_t n = 0;

	if (t->time_type == MYSQL_TIMESTAMP_TIME && t->neg)
		text[n++] = '-';
	if (t->time_type != MYSQL_TIMESTAMP_TIME)
		n += cmy_date_text(t, text);
	if (t->time_type == MYSQL_TIMESTAMP_DATETIME)
		text[n++] = ' ';
	if (t->time_type != MYSQL_TIMESTAMP_DATE)
		n += cmy_clock_text(t, decimals, text + n);
	put_from_text(b, text, n);
}

static int64_t
time_number(const MYSQL_TIME *t)
{
	int64_t date = (int64_t)t->year * 10000 + t->month * 100 + t->day;
	int64_t clock = (int64_t)t->hour * 10000 + t->minute * 100 + t->second;

	if (t->time_type == MYSQL_TIMESTAMP_DATE)
		return date;
	return t->time_type == MYSQL_TIMESTAMP_TIME ? clock : date * 1000000 + clock;
}

/* Write a date or time. A DATE or TIME buffer loses a part of a DATETIME, which sets its error. */
static void
put_time(MYSQL_BIND *b, const MYSQL_TIME *t)
{
	*(MYSQL_TIME *)b->buffer = *t;
	if (b->buffer_type == MYSQL_TYPE_DATE)
		*b->error = t->time_type != MYSQL_TIMESTAMP_DATE;
	else if (b->buffer_type == MYSQL_TYPE_TIME)
		*b->error = t->time_type != MYSQL_TIMESTAMP_TIME;
}

static void
convert_time(MYSQL_BIND *b, const MYSQL_FIELD *field, const MYSQL_TIME *t)
{
	struct cmy_cell real = { .kind = CMY_KIND_DOUBLE };
	int16_t year = (int16_t)t->year;

	if (cmy_is_time(b->buffer_type)) {
		put_time(b, t);
	} else if (b->buffer_type == MYSQL_TYPE_YEAR) {
		memcpy(b->buffer, &year, sizeof(year));
		*b->error = 1;
	} else if (b->buffer_type == MYSQL_TYPE_FLOAT ||
		   b->buffer_type == MYSQL_TYPE_DOUBLE) {
		real.as.real = (double)time_number(t);
		convert_real(b, field, &real);
	} else if (cmy_integer_size(b->buffer_type) > 0 ||
		   b->buffer_type == MYSQL_TYPE_INT24) {
		convert_integer(b, field, time_number(t), 1);
	} else if (b->buffer_type != MYSQL_TYPE_NULL) {
		time_to_text(b, field, t);
	}
}

/* ---- any type ---- */

void
cmy_convert_column(MYSQL_BIND *b, const MYSQL_FIELD *field, const struct cmy_cell *cell)
{
	switch (cell->kind) {
	case CMY_KIND_INTEGER:
		if (b->buffer_type != MYSQL_TYPE_NULL)
			convert_integer(b, field, cell->as.integer,
				field->type == MYSQL_TYPE_LONGLONG &&
					(field->flags & UNSIGNED_FLAG) != 0);
		break;
	case CMY_KIND_FLOAT:
	case CMY_KIND_DOUBLE:
		convert_real(b, field, cell);
		break;
	case CMY_KIND_TIME:
		convert_time(b, field, &cell->as.time);
		break;
	case CMY_KIND_BYTES:
		put_from_text(b, cell->as.bytes.p, cell->as.bytes.n);
		break;
	}
}

/*
 * Write a text from a column of numbers or times: on some servers each value has its own type. The
 * buffer has the size of its type; programs need not set buffer_length.
 */
static void
put_misfit(MYSQL_BIND *b, const char *p, size_t n)
{
	size_t size = size_of_integer(b->buffer_type);

	if (size > 0)
		text_to_integer(b, size, p, n);
	else
		put_from_text(b, p, n);
}

static int
is_misfit(const MYSQL_FIELD *field, const struct cmy_cell *cell)
{
	return cell->kind == CMY_KIND_BYTES &&
	       (size_of_integer(field->type) > 0 || cmy_is_time(field->type) ||
		       field->type == MYSQL_TYPE_FLOAT ||
		       field->type == MYSQL_TYPE_DOUBLE);
}

void
cmy_convert(MYSQL_BIND *b, const MYSQL_FIELD *field, const struct cmy_cell *cell)
{
	if (!is_same_kind(b->buffer_type, field->type))
		cmy_convert_column(b, field, cell);
	else if (is_misfit(field, cell))
		put_misfit(b, cell->as.bytes.p, cell->as.bytes.n);
	else
		put_same(b, field, cell);
}

int
cmy_is_result_type(enum enum_field_types type)
{
	return type <= MYSQL_TYPE_NEWDATE || type == MYSQL_TYPE_BIT ||
	       type == MYSQL_TYPE_JSON || type == MYSQL_TYPE_NEWDECIMAL ||
	       (type >= MYSQL_TYPE_TINY_BLOB && type <= MYSQL_TYPE_STRING);
}

void
cmy_take_max_length(MYSQL_FIELD *field, size_t n)
{
	static const unsigned char most[] = { [MYSQL_TYPE_TINY] = 4,
		[MYSQL_TYPE_SHORT] = 6,
		[MYSQL_TYPE_YEAR] = 6,
		[MYSQL_TYPE_INT24] = 9,
		[MYSQL_TYPE_LONG] = 11,
		[MYSQL_TYPE_LONGLONG] = 21,
		[MYSQL_TYPE_TIME] = 17,
		[MYSQL_TYPE_DATE] = 10,
		[MYSQL_TYPE_DATETIME] = 36,
		[MYSQL_TYPE_TIMESTAMP] = 36,
		[MYSQL_TYPE_NEWDATE] = 0 };

	if (field->type == MYSQL_TYPE_FLOAT || field->type == MYSQL_TYPE_DOUBLE)
		field->max_length = 331;
	else if (field->type < sizeof(most) && most[field->type] > 0)
		field->max_length = most[field->type];
	else if (n > field->max_length)
		field->max_length = n;
}
