/* SPDX-License-Identifier: BSD-2-Clause */
#include "convert.h"
#include "number.h"

#include <math.h>
#include <string.h>

/*
 * Read a value from libcenote's batch. Values of MySQL and MariaDB are in the binary form of their
 * protocol: little-endian, without a length before the value. Values of other servers are canonical
 * text. bind.c calls this file before it converts a value.
 */

static uint64_t
read_bits(const char *p, size_t n)
{
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < n && i < 8; i++)
		v |= (uint64_t)(unsigned char)p[i] << (8 * i);
	return v;
}

static int64_t
read_integer(const char *p, size_t n, int is_unsigned)
{
	uint64_t v = read_bits(p, n);

	if (!is_unsigned && n > 0 && n < 8 && v >> (8 * n - 1))
		v |= UINT64_MAX << (8 * n);
	return (int64_t)v;
}

static double
read_double(const char *p)
{
	uint64_t bits = read_bits(p, 8);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static double
read_float(const char *p)
{
	uint32_t bits = (uint32_t)read_bits(p, 4);
	float v;

	memcpy(&v, &bits, sizeof(v));
	return (double)v;
}

static int
read_binary(const MYSQL_FIELD *field, const char *p, size_t n, struct cmy_cell *cell)
{
	switch (field->type) {
	case MYSQL_TYPE_TINY:
	case MYSQL_TYPE_SHORT:
	case MYSQL_TYPE_YEAR:
	case MYSQL_TYPE_INT24:
	case MYSQL_TYPE_LONG:
	case MYSQL_TYPE_LONGLONG:
		cell->kind = CMY_KIND_INTEGER;
		cell->as.integer =
			read_integer(p, n, (field->flags & UNSIGNED_FLAG) != 0);
		return n <= 8;
	case MYSQL_TYPE_FLOAT:
		cell->kind = CMY_KIND_FLOAT;
		cell->as.real = n == 4 ? read_float(p) : 0;
		return n == 4;
	case MYSQL_TYPE_DOUBLE:
		cell->kind = CMY_KIND_DOUBLE;
		cell->as.real = n == 8 ? read_double(p) : 0;
		return n == 8;
	default:
		break;
	}
	if (!cmy_is_time(field->type))
		return 0;
	cell->kind = CMY_KIND_TIME;
	cmy_time_unpack(field->type, (const unsigned char *)p, n, &cell->as.time);
	return 1;
}

static int
read_integer_text(const char *p, size_t n, struct cmy_cell *cell)
{
	struct cmy_read r;

	cmy_read_integer(p, n, &r);
	cell->kind = CMY_KIND_INTEGER;
	cell->as.integer = (int64_t)(r.is_negative ? 0 - r.magnitude : r.magnitude);
	return r.has_digits && r.used == n && !r.is_too_large;
}

static int
read_real_text(const char *p, size_t n, struct cmy_cell *cell)
{
	int is_negative = n > 0 && *p == '-';

	cell->kind = CMY_KIND_DOUBLE;
	(void)cmy_read_real(p, n, &cell->as.real);
	if (n > 0 && *p == 'N')
		cell->as.real = NAN;
	else if (n > 1 && p[is_negative] == 'I')
		cell->as.real = is_negative ? -INFINITY : INFINITY;
	return 1;
}

static int
read_canonical(const MYSQL_FIELD *field, const char *p, size_t n, struct cmy_cell *cell)
{
	if (field->type == MYSQL_TYPE_LONGLONG || field->type == MYSQL_TYPE_LONG ||
		field->type == MYSQL_TYPE_SHORT || field->type == MYSQL_TYPE_TINY)
		return read_integer_text(p, n, cell);
	if (field->type == MYSQL_TYPE_DOUBLE)
		return read_real_text(p, n, cell);
	if (!cmy_is_time(field->type))
		return 0;
	cell->kind = CMY_KIND_TIME;
	return cmy_time_parse(field->type, p, n, &cell->as.time);
}

void
cmy_cell_read(const MYSQL_FIELD *field, int is_binary, const char *p, size_t n,
	struct cmy_cell *ret_cell)
{
	if (is_binary ? read_binary(field, p, n, ret_cell)
		      : read_canonical(field, p, n, ret_cell))
		return;
	ret_cell->kind = CMY_KIND_BYTES;
	ret_cell->as.bytes.p = p;
	ret_cell->as.bytes.n = n;
}
