/* SPDX-License-Identifier: BSD-2-Clause */
#include "stmt.h"

#include "convert.h"

#include <stdlib.h>
#include <string.h>

/*
 * STMT_ATTR_CB_RESULT: a function of the program gets each value in the form of a binary protocol
 * row. A number is little-endian and has the size of its column's type. Any other value comes after
 * its length.
 */

#define LENGTH_MAX 9u /* the most bytes of an encoded length */

/* The size of a type's values; 0: the length precedes the value. */
static size_t
number_size(enum enum_field_types type)
{
	if (type == MYSQL_TYPE_FLOAT || type == MYSQL_TYPE_INT24)
		return 4;
	return type == MYSQL_TYPE_DOUBLE ? 8 : cmy_integer_size(type);
}

static unsigned char *
room(struct cmy_stmt *st, size_t n)
{
	unsigned char *bigger;

	if (n <= st->raw_room)
		return st->raw;
	bigger = realloc(st->raw, n);
	if (!bigger)
		return NULL;
	st->raw = bigger;
	st->raw_room = n;
	return bigger;
}

static unsigned char *
put_number(unsigned char *to, uint64_t bits, size_t size)
{
	for (size_t i = 0; i < size; i++)
		*to++ = (unsigned char)(bits >> (8 * i));
	return to;
}

static unsigned char *
put_length(unsigned char *to, size_t n)
{
	size_t size = n <= 0xffff ? 2 : n <= 0xffffff ? 3 : 8;

	if (n < 251)
		return put_number(to, n, 1);
	*to++ = (unsigned char)(size < 8 ? 250 + size : 254);
	return put_number(to, n, size);
}

static unsigned char *
with_length(struct cmy_stmt *st, const void *p, size_t n)
{
	unsigned char *raw = room(st, n + LENGTH_MAX);

	if (raw && n > 0)
		memcpy(put_length(raw, n), p, n);
	else if (raw)
		(void)put_length(raw, n);
	return raw;
}

static uint64_t
bits_of(const struct cmy_cell *cell, size_t size)
{
	uint64_t wide = 0;
	uint32_t narrow;
	float real;

	if (cell->kind == CMY_KIND_INTEGER)
		return (uint64_t)cell->as.integer;
	if (cell->kind != CMY_KIND_DOUBLE)
		return 0;
	memcpy(&wide, &cell->as.real, sizeof(wide));
	if (size == 8)
		return wide;
	real = (float)cell->as.real;
	memcpy(&narrow, &real, sizeof(narrow));
	return narrow;
}

/* Write a value of a server other than MySQL or MariaDB in that form. */
static unsigned char *
from_text(struct cmy_stmt *st, const MYSQL_FIELD *field, const char *p, size_t n)
{
	size_t size = number_size(field->type);
	unsigned char bytes[CMY_TIME_SIZE], *raw;
	struct cmy_cell cell;

	cmy_cell_read(field, 0, p, n, &cell);
	if (size > 0) {
		raw = room(st, size);
		if (raw)
			(void)put_number(raw, bits_of(&cell, size), size);
		return raw;
	}
	if (cell.kind != CMY_KIND_TIME)
		return with_length(st, p, n);
	n = cmy_time_pack(field->type, &cell.as.time, bytes);
	return with_length(st, bytes, n);
}

int
cmy_call_back(struct cmy_stmt *st, unsigned column, const char *p, size_t n)
{
	const MYSQL_FIELD *field = &st->pub.fields[column];
	unsigned char *raw = (unsigned char *)(uintptr_t)p;

	if (p && !st->is_binary)
		raw = from_text(st, field, p, n);
	else if (p && number_size(field->type) == 0)
		raw = with_length(st, p, n);
	if (p && !raw) {
		cmy_stmt_error_both(&st->pub, CR_OUT_OF_MEMORY);
		return -1;
	}
	st->pub.result_callback(st->pub.user_data, column, p ? &raw : NULL);
	return 0;
}
