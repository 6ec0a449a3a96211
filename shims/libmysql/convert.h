/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMY_CONVERT_H
#define CMY_CONVERT_H

#include "libmysql.h"

/*
 * Values of a result on their way into the program's buffers: cell.c takes them out of what
 * libcenote gave, and convert_mariadb.c or convert_oracle.c, by flavour, puts them where MYSQL_BIND says. What
 * the two libraries make of a value that does not fit its buffer differs in many places, and
 * programs see all of it: so each has a file of its own, and convert.c what both do in the same way.
 */
enum cmy_kind {
	CMY_KIND_INTEGER,
	CMY_KIND_FLOAT, /* a real, of six digits as text */
	CMY_KIND_DOUBLE,
	CMY_KIND_TIME,
	CMY_KIND_BYTES
};

struct cmy_cell {
	enum cmy_kind kind;
	union {
		int64_t integer; /* unsigned if the field is */
		double real;
		MYSQL_TIME time;
		struct {
			const char *p;
			size_t n;
		} bytes;
	} as;
};

/* Take out a value that is not NULL. `is_binary`: in the server's own binary form, else canonical. */
void cmy_cell_read(const MYSQL_FIELD *field, int is_binary, const char *p, size_t n,
	struct cmy_cell *ret_cell);

/* ---- convert_mariadb.c, convert_oracle.c ---- */

/* Put a value where `b` says; all its pointers are set. mysql_stmt_fetch() and mysql_stmt_fetch_column()
 * are not the same to Oracle's. */
void cmy_convert(MYSQL_BIND *b, const MYSQL_FIELD *field, const struct cmy_cell *cell);
void cmy_convert_column(
	MYSQL_BIND *b, const MYSQL_FIELD *field, const struct cmy_cell *cell);
/* A date or time of the binary protocol: n bytes without their length. */
void cmy_time_unpack(enum enum_field_types type, const unsigned char *p, size_t n,
	MYSQL_TIME *ret_time);
/* Text that is a date or time; what is none, too, as the flavour does it. Whether it is one. */
int cmy_time_parse(
	enum enum_field_types type, const char *p, size_t n, MYSQL_TIME *ret_time);
/* Whether a buffer of that type can be bound to a column. */
int cmy_is_result_type(enum enum_field_types type);
/* MYSQL_FIELD.max_length (STMT_ATTR_UPDATE_MAX_LENGTH), with a value of n bytes seen. */
void cmy_take_max_length(MYSQL_FIELD *field, size_t n);

/* ---- param.c ---- */

#define CMY_TIME_SIZE 12u
/* A date or time as the binary protocol has it, without the length. How many bytes there are, of CMY_TIME_SIZE. */
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

/* Bytes of a buffer for integers that values of any type are converted to; 0: it is none. */
size_t cmy_integer_size(enum enum_field_types type);
/* Store the low bytes of an integer. */
void cmy_put_integer(MYSQL_BIND *b, size_t size, int64_t v);
void cmy_put_float(MYSQL_BIND *b, float v);
void cmy_put_double(MYSQL_BIND *b, double v);
/* Whether an integer is outside of what the buffer (1 to 4 bytes) holds. */
int cmy_is_outside(const MYSQL_BIND *b, size_t size, int64_t v);
/* Integers to FLOAT and DOUBLE buffers. */
void cmy_integer_to_real(MYSQL_BIND *b, int64_t v, int is_unsigned);
/* A real to an integer buffer, and whether it lost something but its fraction. */
int cmy_real_to_integer(MYSQL_BIND *b, size_t size, double v);
/* From b->offset on as much as there is room for, and a zero byte if there is more. */
void cmy_put_text(MYSQL_BIND *b, const char *p, size_t n);
/* A real as text, as the field's decimals and the buffer's length say. */
size_t cmy_real_field_text(const MYSQL_BIND *b, const MYSQL_FIELD *field,
	const struct cmy_cell *cell, char *out);
/* Zeros in front, up to the width. */
size_t cmy_fill_zeros(char *text, size_t n, size_t width);
/* "hh:mm:ss", with so many digits (at most 6) of the fraction. */
size_t cmy_clock_text(const MYSQL_TIME *t, unsigned decimals, char *out);
size_t cmy_date_text(const MYSQL_TIME *t, char *out);
/* Of the binary protocol, which is little-endian. */
unsigned cmy_read_u16(const unsigned char *p);
unsigned long cmy_read_u32(const unsigned char *p);
/* Hour, minute and second, of n bytes, and microseconds if there are more; the hours are added. */
void cmy_unpack_clock(const unsigned char *p, size_t n, MYSQL_TIME *t);

#endif
