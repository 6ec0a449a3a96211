/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMY_CONVERT_H
#define CMY_CONVERT_H

#include "libmysql.h"

/*
 * Values of a result on their way into the program's buffers. cell.c reads a value from libcenote's
 * batch; convert_mariadb.c or convert_oracle.c, by flavour, writes it in the form that MYSQL_BIND
 * asks for. The two libraries differ in many places where a value does not fit its buffer, and
 * programs see these differences. So each flavour has a file, and convert.c holds what both share.
 */
enum cmy_kind {
	CMY_KIND_INTEGER,
	CMY_KIND_FLOAT, /* a floating-point number; its text has six digits */
	CMY_KIND_DOUBLE,
	CMY_KIND_TIME,
	CMY_KIND_BYTES
};

struct cmy_cell {
	enum cmy_kind kind;
	union {
		int64_t integer; /* unsigned if the field is unsigned */
		double real;
		MYSQL_TIME time;
		struct {
			const char *p;
			size_t n;
		} bytes;
	} as;
};

/* Read a value that is not NULL. `is_binary`: it has the server's own binary form; else
 * it is canonical text. */
void cmy_cell_read(const MYSQL_FIELD *field, int is_binary, const char *p, size_t n,
	struct cmy_cell *ret_cell);

/* ---- convert_mariadb.c, convert_oracle.c ---- */

/* Write a value to the buffer of `b`; all pointers in `b` are set. The second function serves
 * mysql_stmt_fetch_column(), for which Oracle's library has other rules. */
void cmy_convert(MYSQL_BIND *b, const MYSQL_FIELD *field, const struct cmy_cell *cell);
void cmy_convert_column(
	MYSQL_BIND *b, const MYSQL_FIELD *field, const struct cmy_cell *cell);
/* Read a date or time of the binary protocol, of n bytes without their length. */
void cmy_time_unpack(enum enum_field_types type, const unsigned char *p, size_t n,
	MYSQL_TIME *ret_time);
/* Read a text as a date or time. Returns whether it is one; if not, *ret_time is set as the flavour
 * sets it. */
int cmy_time_parse(
	enum enum_field_types type, const char *p, size_t n, MYSQL_TIME *ret_time);
/* Can a buffer of that type be bound to a column? */
int cmy_is_result_type(enum enum_field_types type);
/* Update MYSQL_FIELD.max_length (STMT_ATTR_UPDATE_MAX_LENGTH) for a value of n bytes. */
void cmy_take_max_length(MYSQL_FIELD *field, size_t n);

/* ---- param.c ---- */

#define CMY_TIME_SIZE 12u
/* Write a date or time in the binary protocol's form, without its length. Returns the
 * number of bytes, at most CMY_TIME_SIZE. */
size_t cmy_time_pack(
	enum enum_field_types type, const MYSQL_TIME *time, unsigned char *out);

/* ---- convert.c ---- */

#define CMY_TIME_TEXT_MAX 60u

static inline int
cmy_is_time(enum enum_field_types type)
{
	return type == MYSQL_TYPE_DATE || type == MYSQL_TYPE_TIME ||
	       type == MYSQL_TYPE_DATETIME || type == MYSQL_TYPE_TIMESTAMP;
}

/* The size of an integer buffer type that takes values of any type; 0: another type. */
size_t cmy_integer_size(enum enum_field_types type);
/* Store the low bytes of an integer. */
void cmy_put_integer(MYSQL_BIND *b, size_t size, int64_t v);
void cmy_put_float(MYSQL_BIND *b, float v);
void cmy_put_double(MYSQL_BIND *b, double v);
/* Is the integer outside the range of the buffer (1 to 4 bytes)? */
int cmy_is_outside(const MYSQL_BIND *b, size_t size, int64_t v);
/* Write an integer to a FLOAT or DOUBLE buffer. */
void cmy_integer_to_real(MYSQL_BIND *b, int64_t v, int is_unsigned);
/* Write a real to an integer buffer. Returns whether it lost more than its fraction. */
int cmy_real_to_integer(MYSQL_BIND *b, size_t size, double v);
/* Copy the text from b->offset on, as much as fits, and a zero byte if there is room. */
void cmy_put_text(MYSQL_BIND *b, const char *p, size_t n);
/* Write a real as text. The field's decimals and the buffer's length decide its form. */
size_t cmy_real_field_text(const MYSQL_BIND *b, const MYSQL_FIELD *field,
	const struct cmy_cell *cell, char *out);
/* Put zeros in front of the text, up to that width. */
size_t cmy_fill_zeros(char *text, size_t n, size_t width);
/* Write "hh:mm:ss" with `decimals` digits of the fraction, at most 6. */
size_t cmy_clock_text(const MYSQL_TIME *t, unsigned decimals, char *out);
size_t cmy_date_text(const MYSQL_TIME *t, char *out);
/* Read a little-endian number of the binary protocol. */
unsigned cmy_read_u16(const unsigned char *p);
unsigned long cmy_read_u32(const unsigned char *p);
/* Read hour, minute and second from n bytes, and microseconds if there are more. The
 * hours are added to t->hour. */
void cmy_unpack_clock(const unsigned char *p, size_t n, MYSQL_TIME *t);

#endif
