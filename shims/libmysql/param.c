/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parameters on their way to the server: mysql_stmt_bind_param(), and the conversion of each bound
 * value into libcenote's parameters. MySQL servers get the types that the original would send;
 * other servers get the value's meaning. execute.c and bulk.c call this file.
 */
#include "stmt.h"

#include "convert.h"

#include <stdlib.h>
#include <string.h>

/* A bit in the type of a value of MySQL's binary protocol: the number is unsigned. */
#define UNSIGNED 0x8000u

static my_bool never_null = 0;
static my_bool always_null = 1;

/* ---- mysql_stmt_bind_param() ---- */

/* The size that the originals write to buffer_length; 0: the program's value stays; -1: parameters
 * cannot have this type. */
static int
sent_size(enum enum_field_types type)
{
	switch (type) {
	case MYSQL_TYPE_TINY:
		return 1;
	case MYSQL_TYPE_YEAR:
		return CMY_ORACLE ? -1 : 2;
	case MYSQL_TYPE_SHORT:
		return 2;
	case MYSQL_TYPE_LONG:
	case MYSQL_TYPE_FLOAT:
		return 4;
	case MYSQL_TYPE_LONGLONG:
	case MYSQL_TYPE_DOUBLE:
		return 8;
	case MYSQL_TYPE_DATE:
		return 5;
	case MYSQL_TYPE_TIME:
		return 13;
	case MYSQL_TYPE_DATETIME:
	case MYSQL_TYPE_TIMESTAMP:
		return CMY_ORACLE ? 14 : 12;
	case MYSQL_TYPE_VARCHAR:
		return CMY_ORACLE ? 0 : -1;
	case MYSQL_TYPE_NULL:
	case MYSQL_TYPE_STRING:
	case MYSQL_TYPE_VAR_STRING:
	case MYSQL_TYPE_JSON:
	case MYSQL_TYPE_DECIMAL:
	case MYSQL_TYPE_NEWDECIMAL:
	case MYSQL_TYPE_TINY_BLOB:
	case MYSQL_TYPE_MEDIUM_BLOB:
	case MYSQL_TYPE_LONG_BLOB:
	case MYSQL_TYPE_BLOB:
		return 0;
	default:
		return -1;
	}
}

static int
ready_param(MYSQL_STMT *stmt, unsigned number)
{
	MYSQL_BIND *b = &stmt->params[number];
	int size = sent_size(b->buffer_type);

#if CMY_ORACLE
	b->flags = number;
#endif
	b->long_data_used = 0;
	if (!b->is_null)
		b->is_null = &never_null;
	if (!b->length && !CMY_ORACLE)
		b->length = &b->buffer_length;
	if (size < 0) {
		/* only Oracle's message takes these arguments */
		cmy_stmt_error_with(stmt, CR_UNSUPPORTED_PARAM_TYPE, (int)b->buffer_type,
			(int)number + 1);
		return 1;
	}
	if (b->buffer_type == MYSQL_TYPE_NULL)
		b->is_null = &always_null;
	if (size > 0)
		b->buffer_length = (unsigned long)size;
	if (!b->length || (CMY_ORACLE && size > 0 && !cmy_is_time(b->buffer_type)))
		b->length = &b->buffer_length;
	return 0;
}

#if !CMY_ORACLE
/* mariadb_stmt_execute_direct(): before the preparation only the program knows the
 * number of parameters. */
static int
ready_prebind(MYSQL_STMT *stmt)
{
	if (!stmt->params)
		stmt->params = calloc(stmt->prebind_params, sizeof(*stmt->params));
	if (!stmt->params) {
		cmy_stmt_error(stmt, CR_OUT_OF_MEMORY);
		return 1;
	}
	stmt->param_count = stmt->prebind_params;
	return 0;
}

static int
may_bind(MYSQL_STMT *stmt)
{
	if (!cmy_stmt_connection(stmt))
		return 0;
	if (stmt->prebind_params > 0 &&
		(stmt->state < MYSQL_STMT_PREPARED || stmt->state >= MYSQL_STMT_EXECUTED))
		return ready_prebind(stmt) == 0;
	if (stmt->state >= MYSQL_STMT_PREPARED)
		return 1;
	cmy_stmt_error(stmt, CR_NO_PREPARE_STMT);
	return 0;
}
#else
static int
may_bind(MYSQL_STMT *stmt)
{
	if (stmt->param_count > 0 || stmt->state >= MYSQL_STMT_PREPARE_DONE)
		return 1;
	cmy_stmt_error(stmt, CR_NO_PREPARE_STMT);
	return 0;
}
#endif

my_bool
cmy_mysql_stmt_bind_param(MYSQL_STMT *stmt, MYSQL_BIND *bnd)
{
	unsigned i, n;

	if (!may_bind(stmt))
		return 1;
	n = bnd ? stmt->param_count : 0;
	if (n > 0) {
		memcpy(stmt->params, bnd, n * sizeof(*bnd));
		stmt->send_types_to_server = !CMY_ORACLE;
	}
	for (i = 0; i < n; i++) {
		if (ready_param(stmt, i) != 0)
			return 1;
	}
	stmt->send_types_to_server = 1;
	stmt->bind_param_done = 1;
#if !CMY_ORACLE
	cmy_stmt_clear(stmt);
#endif
	return 0;
}

/* ---- dates and times ---- */

/* A time has at most 838 hours; the server takes more for this value. */
#define DAYS_MAX 400u

static void
put_u16(unsigned char *p, unsigned v)
{
	p[0] = (unsigned char)v;
	p[1] = (unsigned char)(v >> 8);
}

static void
put_u32(unsigned char *p, unsigned long v)
{
	put_u16(p, (unsigned)(v & 0xffff));
	put_u16(p + 2, (unsigned)(v >> 16));
}

static size_t
pack_time(const MYSQL_TIME *t, unsigned char *out)
{
	unsigned hour = t->hour & 0xff, day = t->day;

	day = day > DAYS_MAX ? DAYS_MAX : day + hour / 24;
	out[0] = t->neg != 0;
	put_u32(out + 1, day);
	out[5] = (unsigned char)(hour % 24);
	out[6] = (unsigned char)t->minute;
	out[7] = (unsigned char)t->second;
	put_u32(out + 8, t->second_part);
	if (t->second_part)
		return 12;
	return day || hour || t->minute || t->second ? 8 : 0;
}

static size_t
pack_datetime(const MYSQL_TIME *t, unsigned char *out)
{
	put_u16(out, t->year);
	out[2] = (unsigned char)t->month;
	out[3] = (unsigned char)t->day;
	out[4] = (unsigned char)t->hour;
	out[5] = (unsigned char)t->minute;
	out[6] = (unsigned char)t->second;
	put_u32(out + 7, t->second_part);
	if (t->second_part)
		return 11;
	if (t->hour || t->minute || t->second)
		return 7;
	return t->year || t->month || t->day ? 4 : 0;
}

size_t
cmy_time_pack(enum enum_field_types type, const MYSQL_TIME *time, unsigned char *out)
{
	MYSQL_TIME t = *time;

	if (type == MYSQL_TYPE_TIME)
		return pack_time(&t, out);
	/* sic: Connector/C also sends the time of a DATE value, which the server ignores */
	if (type == MYSQL_TYPE_DATE)
		t.hour = t.minute = t.second = 0, t.second_part = 0;
	return pack_datetime(&t, out);
}

/* Limit a part to one byte. Without the limit, a larger value would become another valid value. */
static uint8_t
part(unsigned v)
{
	return (uint8_t)(v < UINT8_MAX ? v : UINT8_MAX);
}

/* Is this a time of day? Other servers have no other times. */
static int
is_time_of_day(const MYSQL_TIME *t)
{
	return !t->neg && t->day == 0;
}

static int
add_time(cenote_params *params, const MYSQL_BIND *b)
{
	const MYSQL_TIME *t = b->buffer;
	cenote_timestamp ts = { { INT32_MAX, part(t->month), part(t->day), 0 }, { 0 } };

	if (t->year < INT32_MAX)
		ts.date.year = (int32_t)t->year;
	ts.time.hour = part(t->hour);
	ts.time.minute = part(t->minute);
	ts.time.second = part(t->second);
	ts.time.nanosecond = UINT32_MAX;
	if (t->second_part < 1000000)
		ts.time.nanosecond = (uint32_t)t->second_part * 1000;
	ts.time.utc_offset_s = CENOTE_NO_OFFSET;
	if (b->buffer_type == MYSQL_TYPE_DATE)
		return cenote_params_add_date(params, &ts.date);
	if (b->buffer_type == MYSQL_TYPE_TIME)
		return is_time_of_day(t) ? cenote_params_add_time(params, &ts.time)
					 : CENOTE_ERR_ARG;
	return cenote_params_add_timestamp(params, &ts);
}

/* ---- one value ---- */

static int64_t
load_integer(const MYSQL_BIND *b)
{
	int64_t v64 = 0;
	int32_t v32;
	int16_t v16;

	switch (b->buffer_type) {
	case MYSQL_TYPE_TINY:
		return b->is_unsigned ? *(const uint8_t *)b->buffer
				      : *(const int8_t *)b->buffer;
	case MYSQL_TYPE_SHORT:
	case MYSQL_TYPE_YEAR:
		memcpy(&v16, b->buffer, sizeof(v16));
		return b->is_unsigned ? (int64_t)(uint16_t)v16 : v16;
	case MYSQL_TYPE_LONG:
		memcpy(&v32, b->buffer, sizeof(v32));
		return b->is_unsigned ? (int64_t)(uint32_t)v32 : v32;
	default:
		memcpy(&v64, b->buffer, sizeof(v64));
		return v64;
	}
}

/* Convert a number of the machine to little-endian. */
static int
add_number(cenote_params *params, const MYSQL_BIND *b, uint32_t type, size_t size)
{
	unsigned char bytes[8];
	uint64_t bits = 0;
	uint32_t bits32;
	size_t i;

	if (b->buffer_type == MYSQL_TYPE_FLOAT) {
		memcpy(&bits32, b->buffer, sizeof(bits32));
		bits = bits32;
	} else if (b->buffer_type == MYSQL_TYPE_DOUBLE) {
		memcpy(&bits, b->buffer, sizeof(bits));
	} else {
		bits = (uint64_t)load_integer(b);
	}
	for (i = 0; i < size; i++)
		bytes[i] = (unsigned char)(bits >> (8 * i));
	return cenote_params_add_native(params, type, CENOTE_FORMAT_BINARY, bytes, size);
}

static int
is_number(enum enum_field_types type)
{
	return sent_size(type) > 0 && !cmy_is_time(type);
}

static int
is_blob(enum enum_field_types type)
{
	return type >= MYSQL_TYPE_TINY_BLOB && type <= MYSQL_TYPE_BLOB;
}

/* The type that libcenote sends to a MySQL server. DECIMAL's old number is not a type for libcenote. */
static uint32_t
native_type(const MYSQL_BIND *b)
{
	uint32_t type = b->buffer_type == MYSQL_TYPE_DECIMAL ? MYSQL_TYPE_NEWDECIMAL
							     : b->buffer_type;

	return b->is_unsigned ? type | UNSIGNED : type;
}

/* Add the value for a MySQL server, with the type that the original would send. */
static int
add_native(cenote_params *params, const MYSQL_BIND *b, size_t length)
{
	uint32_t type = native_type(b);
	unsigned char bytes[CMY_TIME_SIZE];

	if (is_number(b->buffer_type))
		return add_number(params, b, type, (size_t)sent_size(b->buffer_type));
	if (cmy_is_time(b->buffer_type))
		return cenote_params_add_native(params, type, CENOTE_FORMAT_BINARY, bytes,
			cmy_time_pack(b->buffer_type, b->buffer, bytes));
	return cenote_params_add_native(
		params, type, CENOTE_FORMAT_BINARY, b->buffer, length);
}

static int
add_real(cenote_params *params, const MYSQL_BIND *b)
{
	double wide;
	float narrow;

	if (b->buffer_type == MYSQL_TYPE_FLOAT) {
		memcpy(&narrow, b->buffer, sizeof(narrow));
		return cenote_params_add_double(params, (double)narrow);
	}
	memcpy(&wide, b->buffer, sizeof(wide));
	return cenote_params_add_double(params, wide);
}

/* Add the value for another server, by its meaning. */
static int
add_logical(cenote_params *params, const MYSQL_BIND *b, size_t length)
{
	if (b->buffer_type == MYSQL_TYPE_FLOAT || b->buffer_type == MYSQL_TYPE_DOUBLE)
		return add_real(params, b);
	if (is_number(b->buffer_type) && b->is_unsigned)
		return cenote_params_add_uint64(params, (uint64_t)load_integer(b));
	if (is_number(b->buffer_type))
		return cenote_params_add_int64(params, load_integer(b));
	if (cmy_is_time(b->buffer_type))
		return add_time(params, b);
	if (is_blob(b->buffer_type))
		return cenote_params_add_bytes(params, b->buffer, length);
	if (b->buffer_type == MYSQL_TYPE_DECIMAL ||
		b->buffer_type == MYSQL_TYPE_NEWDECIMAL)
		return cenote_params_add_decimal(params, b->buffer, length);
	return cenote_params_add_text(params, b->buffer, length);
}

static int
add_null(cenote_params *params, const struct cmy_session *s, const MYSQL_BIND *b)
{
	int is_plain = b->buffer_type == MYSQL_TYPE_NULL && !b->is_unsigned;

	if (!cmy_is_binary(s) || is_plain)
		return cenote_params_add_null(params);
	return cenote_params_add_native(
		params, native_type(b), CENOTE_FORMAT_BINARY, NULL, 0);
}

int
cmy_params_add(struct cmy_stmt *st, const struct cmy_session *s, const MYSQL_BIND *b)
{
	size_t length = b->length ? *b->length : b->buffer_length;

	if ((b->is_null && *b->is_null) || b->buffer_type == MYSQL_TYPE_NULL ||
		(!CMY_ORACLE && !b->buffer))
		return add_null(st->params, s, b);
	if (!CMY_ORACLE && length == (size_t)-1)
		length = strlen(b->buffer);
	return cmy_is_binary(s) ? add_native(st->params, b, length)
				: add_logical(st->params, b, length);
}

int
cmy_params_fill(struct cmy_stmt *st, struct cmy_session *s)
{
	unsigned i;
	int r;

	if (cmy_long_refuse(st, s) < 0)
		return -1;
	cenote_params_clear(st->params);
	for (i = 0; i < st->pub.param_count; i++) {
		r = cmy_long_add(st, s, i);
		if (r == 0)
			r = cmy_params_add(st, s, &st->pub.params[i]);
		if (r < 0)
			return cmy_check(s, r);
	}
	return 0;
}
