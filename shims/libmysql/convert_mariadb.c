/* SPDX-License-Identifier: BSD-2-Clause */
#include "convert.h"
#include "number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Convert values for the program's buffers as Connector/C does. Odd results are the original's, and
 * tests of programs expect them. bind.c calls this file. It owns no state. */

#define REAL_TEXT_MAX 299u
/* The most bytes of a text that are read as a number. */
#define NUMBER_MAX    1077u
#define BINARY        63u
/* MYSQL_FIELD.decimals of a time whose value decides the number of decimals */
#define DECIMALS_AUTO 39u

/* ---- texts as numbers ---- */

struct parsed {
	int64_t value;
	int is_wrong;
};

/* Does something other than blanks follow the number? */
static int
has_more(const char *p, size_t n, size_t used)
{
	while (used < n && cmy_is_blank(p[used]))
		used++;
	return used < n;
}

static struct parsed
parse_signed(const char *p, size_t n)
{
	struct parsed v = { 0, 1 };
	struct cmy_read r;

	cmy_read_integer(p, n, &r);
	if (!r.has_digits || (r.has_sign && !r.is_negative))
		return v;
	v.value = (int64_t)r.magnitude;
	if (r.is_too_large)
		return v;
	if (r.magnitude > (uint64_t)INT64_MAX) {
		v.is_wrong = !r.is_negative || r.magnitude > (uint64_t)INT64_MAX + 1;
		v.value = r.is_negative ? INT64_MIN : INT64_MAX;
	} else {
		v.is_wrong = 0;
		v.value = r.is_negative ? -v.value : v.value;
	}
	v.is_wrong |= has_more(p, n, r.used);
	return v;
}

static struct parsed
parse_unsigned(const char *p, size_t n)
{
	struct parsed v = { 0, 1 };
	struct cmy_read r;

	cmy_read_integer(p, n, &r);
	if (!r.has_digits || r.has_sign)
		return v;
	v.value = (int64_t)r.magnitude;
	v.is_wrong = r.is_too_large || has_more(p, n, r.used);
	return v;
}

static void
text_to_integer(MYSQL_BIND *b, size_t size, const char *p, size_t n)
{
	struct parsed v =
		size == 8 && b->is_unsigned ? parse_unsigned(p, n) : parse_signed(p, n);

	cmy_put_integer(b, size, v.value);
	*b->error =
		cmy_bool(v.is_wrong || (size < 8 && cmy_is_outside(b, size, v.value)));
}

static double
parse_real(MYSQL_BIND *b, const char *p, size_t n)
{
	char text[NUMBER_MAX + 1];
	int saved = errno, is_wrong = n > NUMBER_MAX;
	double v;

	if (is_wrong)
		n = NUMBER_MAX;
	if (n > 0)
		memcpy(text, p, n);
	text[n] = '\0';
	errno = 0;
	v = strtod(text, NULL);
	*b->error = cmy_bool(is_wrong || errno != 0);
	errno = saved;
	return v;
}

/* ---- texts as dates and times ---- */

struct scanner {
	const char *p, *end;
	int is_wrong;
};

static unsigned
scan_number(struct scanner *s, unsigned most, char behind)
{
	unsigned long v = 0;
	const char *begin = s->p;

	for (; s->p < s->end && *s->p >= '0' && *s->p <= '9'; s->p++) {
		v = v * 10 + (unsigned long)(*s->p - '0');
		if (v > 1000000)
			s->is_wrong = 1;
	}
	s->is_wrong |= s->p == begin || v > most;
	if (behind == '\0' || s->is_wrong)
		return (unsigned)v;
	s->is_wrong = s->p == s->end || *s->p != behind;
	s->p++;
	return (unsigned)v;
}

/* Read at most six digits. sic: bytes after the last digit count as digits for the
 * scale. */
static unsigned long
scan_fraction(struct scanner *s)
{
	size_t left = (size_t)(s->end - ++s->p), most = left < 6 ? left : 6, i;
	unsigned long v = 0;

	for (i = 0; i < most && s->p < s->end && *s->p >= '0' && *s->p <= '9'; i++)
		v = v * 10 + (unsigned long)(*s->p++ - '0');
	for (i = most; i > 0 && i < 6; i++)
		v *= 10;
	return v;
}

static void
scan_clock(struct scanner *s, MYSQL_TIME *t)
{
	t->hour = scan_number(s, 838, ':');
	if (!s->is_wrong)
		t->minute = scan_number(s, 59, ':');
	if (!s->is_wrong)
		t->second = scan_number(s, 59, '\0');
	if (!s->is_wrong && s->p < s->end && *s->p == '.')
		t->second_part = scan_fraction(s);
}

static void
scan_date(struct scanner *s, MYSQL_TIME *t)
{
	const char *begin = s->p;

	t->year = scan_number(s, 9999, '-');
	if (s->p - begin == 3)
		t->year += t->year >= 70 ? 1900 : 2000;
	if (!s->is_wrong)
		t->month = scan_number(s, 12, '-');
	if (!s->is_wrong)
		t->day = scan_number(s, 31, '\0');
}

/* Does the text begin with a time of day? Then a ':' comes before a '-'. */
static int
is_clock(const struct scanner *s)
{
	const char *p;

	for (p = s->p + 1; p < s->end; p++) {
		if (*p == '-' || *p == ':')
			return *p == ':';
	}
	return 0;
}

static void
scan_time(struct scanner *s, MYSQL_TIME *t)
{
	t->neg = cmy_bool(*s->p == '-');
	s->p += t->neg;
	if (t->neg || is_clock(s)) {
		scan_clock(s, t);
		t->time_type = MYSQL_TIMESTAMP_TIME;
		return;
	}
	scan_date(s, t);
	t->time_type = MYSQL_TIMESTAMP_DATE;
	if (s->is_wrong || s->p >= s->end || *s->p != ' ')
		return;
	s->p++;
	scan_clock(s, t);
	s->is_wrong |= t->hour > 23;
	t->time_type = MYSQL_TIMESTAMP_DATETIME;
}

int
cmy_time_parse(enum enum_field_types type, const char *p, size_t n, MYSQL_TIME *ret_time)
{
	struct scanner s = { p, p + n, 0 };

	(void)type;
	memset(ret_time, 0, sizeof(*ret_time));
	while (s.p < s.end && cmy_is_blank(*s.p))
		s.p++;
	while (s.p < s.end && cmy_is_blank(s.end[-1]))
		s.end--;
	s.is_wrong = s.end - s.p < 5;
	if (!s.is_wrong)
		scan_time(&s, ret_time);
	if (!s.is_wrong)
		return 1;
	memset(ret_time, 0, sizeof(*ret_time));
	ret_time->time_type = MYSQL_TIMESTAMP_ERROR;
	return 0;
}

/* ---- texts ---- */

static void
put_from_text(MYSQL_BIND *b, const char *p, size_t n)
{
	size_t size = cmy_integer_size(b->buffer_type);

	if (size > 0)
		text_to_integer(b, size, p, n);
	else if (b->buffer_type == MYSQL_TYPE_DOUBLE)
		cmy_put_double(b, parse_real(b, p, n));
	else if (b->buffer_type == MYSQL_TYPE_FLOAT)
		cmy_put_float(b, (float)parse_real(b, p, n));
	else if (cmy_is_time(b->buffer_type))
		(void)cmy_time_parse(b->buffer_type, p, n, b->buffer);
	else
		cmy_put_text(b, p, n);
}

static int
is_binary(const MYSQL_FIELD *field)
{
	return field->charsetnr == BINARY &&
	       (field->type == MYSQL_TYPE_BIT || (field->type >= MYSQL_TYPE_TINY_BLOB &&
							 field->type <= MYSQL_TYPE_BLOB));
}

/* Copy bytes into the buffer unchanged, whatever its type is. */
static void
put_raw(MYSQL_BIND *b, const char *p, size_t n)
{
	size_t left = n > b->offset ? n - b->offset : 0;
	size_t copied = left < b->buffer_length ? left : b->buffer_length;

	*b->length = n;
	if (copied > 0)
		memcpy(b->buffer, p + b->offset, copied);
	if (left < b->buffer_length && (b->buffer_type == MYSQL_TYPE_STRING ||
					       b->buffer_type == MYSQL_TYPE_JSON))
		((char *)b->buffer)[left] = '\0';
	*b->error = cmy_bool(left > b->buffer_length);
}

/* ---- integers ---- */

/* Are field and buffer integers of the same size? Their signs may differ. */
static int
is_same_size(const MYSQL_BIND *b, const MYSQL_FIELD *field)
{
	switch (field->type) {
	case MYSQL_TYPE_TINY:
	case MYSQL_TYPE_LONGLONG:
		return b->buffer_type == field->type;
	case MYSQL_TYPE_SHORT:
	case MYSQL_TYPE_YEAR:
		return b->buffer_type == MYSQL_TYPE_SHORT ||
		       b->buffer_type == MYSQL_TYPE_YEAR;
	default:
		return b->buffer_type == MYSQL_TYPE_LONG ||
		       b->buffer_type == MYSQL_TYPE_INT24;
	}
}

static void
put_integer(MYSQL_BIND *b, const MYSQL_FIELD *field, int64_t v)
{
	int is_unsigned = (field->flags & UNSIGNED_FLAG) != 0;
	size_t size =
		b->buffer_type == MYSQL_TYPE_INT24 ? 4 : cmy_integer_size(b->buffer_type);
	uint64_t half = (uint64_t)1 << (8 * size - 1);

	cmy_put_integer(b, size, v);
	if (is_same_size(b, field))
		*b->error = cmy_bool(is_unsigned != (b->is_unsigned != 0) &&
				     ((uint64_t)v & half) != 0);
	else if (size < 8)
		*b->error = cmy_bool(cmy_is_outside(b, size, v));
	else
		*b->error = cmy_bool(v < 0 && b->is_unsigned);
}

static void
integer_to_text(MYSQL_BIND *b, const MYSQL_FIELD *field, int64_t v)
{
	char text[256 + 32];
	size_t n = cmy_integer_text(v, (field->flags & UNSIGNED_FLAG) != 0, text);
	size_t width = field->length > n ? field->length : n;
	int has_no_room = width >= b->buffer_length || width > sizeof(text);

	if (!(field->flags & ZEROFILL_FLAG)) {
		put_from_text(b, text, n);
		return;
	}
	if (!has_no_room)
		n = cmy_fill_zeros(text, n, width);
	put_from_text(b, text, n);
	*b->error = (my_bool)(*b->error + has_no_room);
}

static void
convert_integer(MYSQL_BIND *b, const MYSQL_FIELD *field, int64_t v)
{
	if (is_same_size(b, field) || cmy_integer_size(b->buffer_type) > 0)
		put_integer(b, field, v);
	else if (b->buffer_type == MYSQL_TYPE_DOUBLE ||
		 b->buffer_type == MYSQL_TYPE_FLOAT)
		cmy_integer_to_real(b, v, (field->flags & UNSIGNED_FLAG) != 0);
	else
		integer_to_text(b, field, v);
}

/* ---- reals ---- */

static void
real_to_text(MYSQL_BIND *b, const MYSQL_FIELD *field, const struct cmy_cell *cell)
{
	char text[CMY_NUMBER_TEXT_MAX];
	size_t n = cmy_real_field_text(b, field, cell, text);

	if (field->flags & ZEROFILL_FLAG) {
		if (field->length < n || field->length > REAL_TEXT_MAX)
			return;
		n = cmy_fill_zeros(text, n, field->length);
	}
	put_from_text(b, text, n);
}

static void
convert_real(MYSQL_BIND *b, const MYSQL_FIELD *field, const struct cmy_cell *cell)
{
	size_t size = cmy_integer_size(b->buffer_type);

	if (size > 0) {
		*b->error = (my_bool)cmy_real_to_integer(b, size, cell->as.real);
	} else if (b->buffer_type == MYSQL_TYPE_DOUBLE) {
		cmy_put_double(b, cell->as.real);
	} else if (b->buffer_type == MYSQL_TYPE_FLOAT) {
		cmy_put_float(b, (float)cell->as.real);
		*b->error = 0;
	} else {
		real_to_text(b, field, cell);
	}
}

/* ---- dates and times ---- */

void
cmy_time_unpack(enum enum_field_types type, const unsigned char *p, size_t n,
	MYSQL_TIME *ret_time)
{
	MYSQL_TIME *t = ret_time;

	memset(t, 0, sizeof(*t));
	if (type == MYSQL_TYPE_TIME && n >= 8) {
		t->time_type = MYSQL_TIMESTAMP_TIME;
		t->neg = (my_bool)p[0];
		t->day = (unsigned)cmy_read_u32(p + 1);
		t->hour = t->day * 24;
		cmy_unpack_clock(p + 5, n - 5, t);
	}
	if (type == MYSQL_TYPE_TIME || n < 4)
		return;
	t->time_type = MYSQL_TIMESTAMP_DATE;
	t->year = cmy_read_u16(p);
	t->month = p[2];
	t->day = p[3];
	if (type == MYSQL_TYPE_DATE || n < 7)
		return;
	t->time_type = MYSQL_TIMESTAMP_DATETIME;
	cmy_unpack_clock(p + 4, n - 4, t);
}

/* A time without a fixed number of decimals has six, or none if its fraction is zero. */
static unsigned
clock_decimals(const MYSQL_FIELD *field, const MYSQL_TIME *t)
{
	if (field->decimals == DECIMALS_AUTO)
		return t->second_part ? 6 : 0;
	return field->decimals <= 6 ? field->decimals : 0;
}

static void
time_to_text(MYSQL_BIND *b, const MYSQL_FIELD *field, const MYSQL_TIME *t)
{
	unsigned decimals = clock_decimals(field, t);
	char text[CMY_TIME_TEXT_MAX];
	size_t n = 0;

	if (field->type == MYSQL_TYPE_TIME && t->neg)
		text[n++] = '-';
	if (field->type != MYSQL_TYPE_TIME)
		n += cmy_date_text(t, text);
	if (field->type == MYSQL_TYPE_DATETIME || field->type == MYSQL_TYPE_TIMESTAMP)
		text[n++] = ' ';
	if (field->type != MYSQL_TYPE_DATE)
		n += cmy_clock_text(t, decimals, text + n);
	put_from_text(b, text, n);
}

static void
convert_time(MYSQL_BIND *b, const MYSQL_FIELD *field, const MYSQL_TIME *t)
{
	MYSQL_TIME *to = b->buffer;
	int16_t year = (int16_t)t->year;

	if (b->buffer_type == MYSQL_TYPE_YEAR) {
		memcpy(b->buffer, &year, sizeof(year));
	} else if (cmy_is_time(b->buffer_type)) {
		*to = *t;
		if (b->buffer_type == MYSQL_TYPE_TIME)
			to->year = to->month = to->day = 0;
	} else {
		time_to_text(b, field, t);
	}
}

/* ---- any type ---- */

void
cmy_convert(MYSQL_BIND *b, const MYSQL_FIELD *field, const struct cmy_cell *cell)
{
	switch (cell->kind) {
	case CMY_KIND_INTEGER:
		convert_integer(b, field, cell->as.integer);
		break;
	case CMY_KIND_FLOAT:
	case CMY_KIND_DOUBLE:
		convert_real(b, field, cell);
		break;
	case CMY_KIND_TIME:
		convert_time(b, field, &cell->as.time);
		break;
	case CMY_KIND_BYTES:
		if (is_binary(field))
			put_raw(b, cell->as.bytes.p, cell->as.bytes.n);
		else
			put_from_text(b, cell->as.bytes.p, cell->as.bytes.n);
		break;
	}
}

void
cmy_convert_column(MYSQL_BIND *b, const MYSQL_FIELD *field, const struct cmy_cell *cell)
{
	cmy_convert(b, field, cell);
}

int
cmy_is_result_type(enum enum_field_types type)
{
	return (type <= MYSQL_TYPE_NEWDATE) || type == MYSQL_TYPE_BIT ||
	       type == MYSQL_TYPE_JSON || type == MYSQL_TYPE_NEWDECIMAL ||
	       (type >= MYSQL_TYPE_TINY_BLOB && type <= MYSQL_TYPE_GEOMETRY);
}

/* ---- max_length ---- */

/* The longest text that a type can have; 0: measure the values. */
static unsigned long
most_of(enum enum_field_types type)
{
	switch (type) {
	case MYSQL_TYPE_TINY:
	case MYSQL_TYPE_YEAR:
		return 4;
	case MYSQL_TYPE_SHORT:
		return 6;
	case MYSQL_TYPE_INT24:
		return 8;
	case MYSQL_TYPE_LONG:
		return 11;
	case MYSQL_TYPE_LONGLONG:
		return 20;
	case MYSQL_TYPE_FLOAT:
	case MYSQL_TYPE_DOUBLE:
		return REAL_TEXT_MAX + 1;
	case MYSQL_TYPE_TIME:
		return 17;
	case MYSQL_TYPE_DATE:
		return 10;
	case MYSQL_TYPE_DATETIME:
	case MYSQL_TYPE_TIMESTAMP:
		return 30;
	default:
		return 0;
	}
}

void
cmy_take_max_length(MYSQL_FIELD *field, size_t n)
{
	unsigned long most = most_of(field->type);

	if (most == 0 || cmy_is_time(field->type)) {
		most = most > 0 ? most : n;
	} else if (field->flags & ZEROFILL_FLAG) {
		most = field->length > most - 1 ? field->length : most - 1;
	} else if (field->max_length > 0) {
		return;
	} else if (field->flags & UNSIGNED_FLAG && field->type != MYSQL_TYPE_INT24 &&
		   field->type != MYSQL_TYPE_LONGLONG) {
		most--;
	}
	if (most > field->max_length)
		field->max_length = most;
}
