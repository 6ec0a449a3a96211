/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "shims/libmysql/convert.h"

/*
 * A value of a result on its way into the program's buffer: any value for any column and any
 * buffer. Seven bytes choose the types of column and buffer, the rest is the value. Nothing may be
 * written after the buffer.
 */
#define HEAD  7u
#define GUARD 64u

static const enum enum_field_types types[] = { MYSQL_TYPE_DECIMAL, MYSQL_TYPE_TINY,
	MYSQL_TYPE_SHORT, MYSQL_TYPE_LONG, MYSQL_TYPE_FLOAT, MYSQL_TYPE_DOUBLE,
	MYSQL_TYPE_NULL, MYSQL_TYPE_TIMESTAMP, MYSQL_TYPE_LONGLONG, MYSQL_TYPE_INT24,
	MYSQL_TYPE_DATE, MYSQL_TYPE_TIME, MYSQL_TYPE_DATETIME, MYSQL_TYPE_YEAR,
	MYSQL_TYPE_BIT, MYSQL_TYPE_JSON, MYSQL_TYPE_NEWDECIMAL, MYSQL_TYPE_ENUM,
	MYSQL_TYPE_TINY_BLOB, MYSQL_TYPE_BLOB, MYSQL_TYPE_VAR_STRING, MYSQL_TYPE_STRING,
	MYSQL_TYPE_GEOMETRY };

static enum enum_field_types
type_at(uint8_t i)
{
	return types[i % (sizeof(types) / sizeof(types[0]))];
}

/* The size of a buffer whose type has a fixed size; 0: buffer_length counts. */
static size_t
fixed_size(enum enum_field_types type)
{
	switch (type) {
	case MYSQL_TYPE_YEAR:
		return 2;
	case MYSQL_TYPE_INT24:
	case MYSQL_TYPE_FLOAT:
		return 4;
	case MYSQL_TYPE_DOUBLE:
		return 8;
	default:
		return cmy_is_time(type) ? sizeof(MYSQL_TIME) : cmy_integer_size(type);
	}
}

/* Whether the original libraries also write as many bytes as buffer_length says. */
static int
is_length_trusted(const MYSQL_BIND *b, const MYSQL_FIELD *field)
{
	return b->buffer_type == MYSQL_TYPE_INT24 || b->buffer_type == MYSQL_TYPE_YEAR ||
	       (!CMY_ORACLE && field->charsetnr == 63);
}

static void
read_head(const uint8_t *data, MYSQL_FIELD *field, MYSQL_BIND *b)
{
	size_t size;

	field->type = type_at(data[0]);
	field->flags =
		(data[1] & 1 ? UNSIGNED_FLAG : 0) | (data[1] & 2 ? ZEROFILL_FLAG : 0);
	field->charsetnr = data[1] & 4 ? 63 : 45;
	field->decimals = data[2] & 63;
	field->length = data[3] * 3u;
	b->buffer_type = type_at(data[4]);
	b->is_unsigned = (data[1] & 8) != 0;
	b->buffer_length = data[5] * 4u;
	b->offset = data[6];
	b->length = &b->length_value;
	b->error = &b->error_value;
	b->is_null = &b->is_null_value;
	size = fixed_size(b->buffer_type);
	if (size > 0 && b->buffer_length > size && is_length_trusted(b, field))
		b->buffer_length = size;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	MYSQL_FIELD field = { .type = MYSQL_TYPE_NULL };
	MYSQL_BIND b = { .buffer = NULL };
	struct cmy_cell cell;
	size_t room, n;
	char *value;

	if (size < HEAD)
		return 0;
	read_head(data, &field, &b);
	n = size - HEAD;
	/* each value ends with a zero byte */
	value = malloc(n + 1);
	room = fixed_size(b.buffer_type);
	room = room > 0 ? room : b.buffer_length;
	b.buffer = malloc(room + GUARD);
	FUZZ_CHECK(value && b.buffer);
	memcpy(value, data + HEAD, n);
	value[n] = '\0';
	memset(b.buffer, 0xa5, room + GUARD);
	/* a member that the shim forgets to set must not look like a value */
	memset(&cell, 0xff, sizeof(cell));
	cmy_cell_read(&field, (data[1] & 16) != 0, value, n, &cell);
	if (data[1] & 32)
		cmy_convert_column(&b, &field, &cell);
	else
		cmy_convert(&b, &field, &cell);
	for (size_t i = room; i < room + GUARD; i++)
		FUZZ_CHECK(((unsigned char *)b.buffer)[i] == 0xa5);
	free(b.buffer);
	free(value);
	return 0;
}
