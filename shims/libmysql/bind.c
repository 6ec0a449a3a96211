/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Binding a statement's columns, and writing a row into the program's buffers. rows.c
 * calls cmy_bind_row() for each row that the program fetches. cell.c and the flavour's
 * convert file do the conversion.
 */
#include "stmt.h"

#include "convert.h"

#include <string.h>

#define BIND_DUMMY 1u /* Connector/C's MADB_BIND_DUMMY, in MYSQL_BIND.flags */

/* ---- mysql_stmt_bind_result() ---- */

/* The length of a buffer whose type fixes it; 0: the length depends on the value. */
static unsigned long
fixed_length(enum enum_field_types type)
{
	switch (type) {
	case MYSQL_TYPE_TINY:
		return 1;
	case MYSQL_TYPE_SHORT:
	case MYSQL_TYPE_YEAR:
		return 2;
	case MYSQL_TYPE_INT24:
	case MYSQL_TYPE_LONG:
	case MYSQL_TYPE_FLOAT:
		return 4;
	case MYSQL_TYPE_LONGLONG:
	case MYSQL_TYPE_DOUBLE:
		return 8;
	default:
		return cmy_is_time(type) ? sizeof(MYSQL_TIME) : 0;
	}
}

static void
set_pointers(MYSQL_BIND *b)
{
	if (!b->is_null)
		b->is_null = &b->is_null_value;
	if (!b->length)
		b->length = &b->length_value;
	if (!b->error)
		b->error = &b->error_value;
}

static void
set_length(MYSQL_BIND *b)
{
	unsigned long n = fixed_length(b->buffer_type);

	if (n == 0 && b->buffer_type != MYSQL_TYPE_NULL)
		return;
	*b->length = n;
	if (!CMY_ORACLE)
		b->length_value = n;
}

#if CMY_ORACLE
void
cmy_bind_again(struct cmy_stmt *st)
{
	for (unsigned i = 0; st->pub.bind_result_done && i < st->pub.field_count; i++)
		cmy_take_max_length(&st->pub.fields[i], 0);
	st->has_old_lengths = st->pub.bind_result_done != 0;
}
#endif

/* Does the statement have columns that can be bound? */
static int
may_bind(MYSQL_STMT *stmt)
{
	int is_prepared = stmt->state >= CMY_STMT_PREPARED;

	/* sic: Oracle's library also binds to a statement that is not prepared, if it
	 * has columns */
	if (stmt->field_count > 0 && (is_prepared || CMY_ORACLE))
		return 1;
	cmy_stmt_error(stmt, is_prepared ? CR_NO_STMT_METADATA : CR_NO_PREPARE_STMT);
	return 0;
}

/* Oracle's library keeps in a bit whether the program asked for reports of truncation. */
static char
bound(const MYSQL_STMT *stmt)
{
	return CMY_ORACLE && stmt->mysql && stmt->mysql->options.report_data_truncation
		       ? 3
		       : 1;
}

my_bool
cmy_mysql_stmt_bind_result(MYSQL_STMT *stmt, MYSQL_BIND *bnd)
{
	unsigned i;

	if (!may_bind(stmt) || !bnd)
		return 1;
	if (stmt->bind != bnd)
		memcpy(stmt->bind, bnd, stmt->field_count * sizeof(*bnd));
	for (i = 0; i < stmt->field_count; i++) {
		MYSQL_BIND *b = &stmt->bind[i];

		if (!cmy_is_result_type(b->buffer_type)) {
			/* only Oracle's message takes these arguments */
			cmy_stmt_error_with(stmt, CR_UNSUPPORTED_PARAM_TYPE,
				(int)stmt->fields[i].type, (int)i + 1);
			return 1;
		}
		set_pointers(b);
#if CMY_ORACLE
		b->flags = i;
		b->offset = 0;
		cmy_take_max_length(&stmt->fields[i], 0);
#endif
		set_length(b);
	}
	stmt->bind_result_done = bound(stmt);
	cmy_stmt(stmt)->has_old_lengths = 0;
#if !CMY_ORACLE
	cmy_stmt_clear(stmt);
#endif
	return 0;
}

/* ---- a row ---- */

/* For programs that fetch values one by one, store the value's length. With Connector/C also store
 * whether it is NULL. */
static void
note_value(MYSQL_BIND *b, const char *p, size_t n)
{
	if (!CMY_ORACLE && !b->is_null)
		b->is_null = &b->is_null_value;
	if (!CMY_ORACLE)
		*b->is_null = cmy_bool(p == NULL);
	if (!b->length)
		b->length = &b->length_value;
	if (p)
		*b->length = b->length_value = n;
}

static int
is_string(enum enum_field_types type)
{
	return type == MYSQL_TYPE_VAR_STRING || type == MYSQL_TYPE_STRING;
}

static void
put(MYSQL_BIND *b, const MYSQL_FIELD *field, int is_binary, const char *p, size_t n)
{
	struct cmy_cell cell;

	/* the most frequent case; the code below gives the same result, but takes longer */
	if (is_string(field->type) && is_string(b->buffer_type)) {
		cmy_put_text(b, p, n);
		return;
	}
	cmy_cell_read(field, is_binary, p, n, &cell);
	cmy_convert(b, field, &cell);
}

static int
reports_truncation(const MYSQL_STMT *stmt)
{
#if CMY_ORACLE
	return (stmt->bind_result_done & 2) != 0;
#else
	return stmt->mysql && stmt->mysql->options.report_data_truncation;
#endif
}

/* Does the program not want this column's values? */
static int
is_dummy(const MYSQL_BIND *b)
{
	return !CMY_ORACLE && (b->flags & BIND_DUMMY) != 0;
}

/* Write one value. 0; 1: the value was truncated; -1: there is no memory, and the error is set. */
static int
put_column(struct cmy_stmt *st, const struct cmy_row *row, unsigned i, int is_binary)
{
	MYSQL_BIND *b = &st->pub.bind[i];
	size_t n = 0;
	const char *p = cmy_row_value(row, i, &n);

	b->u.row_ptr = (unsigned char *)(uintptr_t)p;
#if !CMY_ORACLE
	if (st->pub.result_callback)
		return cmy_call_back(st, i, p, n);
#endif
	if (!st->pub.bind_result_done || is_dummy(b)) {
		note_value(b, p, n);
		return 0;
	}
	set_pointers(b);
	if (CMY_ORACLE)
		*b->error = 0;
	*b->is_null = cmy_bool(p == NULL);
	if (!p)
		return 0;
	put(b, &st->pub.fields[i], is_binary, p, n);
	return *b->error != 0;
}

int
cmy_bind_row(struct cmy_stmt *st)
{
	const struct cmy_row row = cmy_rows_at(st, st->at);
	int is_cut = 0, r;
	unsigned i;

	/* before a fetch the program may still change these buffers; Oracle's library reads their
	 * lengths when it executes */
	for (i = 0; st->has_old_lengths && i < st->pub.field_count; i++)
		set_length(&st->pub.bind[i]);
	st->has_old_lengths = 0;
	for (i = 0; i < st->pub.field_count; i++) {
		r = put_column(st, &row, i, st->is_binary);
		if (r < 0)
			return 1;
		is_cut |= r;
	}
	return is_cut && reports_truncation(&st->pub) ? MYSQL_DATA_TRUNCATED : 0;
}

/* ---- mysql_stmt_fetch_column() ---- */

static int
may_fetch_column(MYSQL_STMT *stmt, unsigned column)
{
#if CMY_ORACLE
	if (stmt->state < MYSQL_STMT_FETCH_DONE) {
		cmy_stmt_error(stmt, CR_NO_DATA);
		return 0;
	}
	if (column >= stmt->field_count) {
		cmy_stmt_error(stmt, CR_INVALID_PARAMETER_NO);
		return 0;
	}
#else
	if (stmt->state != MYSQL_STMT_USER_FETCHING || column >= stmt->field_count) {
		cmy_stmt_error(stmt, CR_NO_DATA);
		return 0;
	}
#endif
	return 1;
}

/* Set the members that the original sets in the program's structure. */
static void
ready_column(MYSQL_BIND *b, MYSQL_BIND *bound_column, unsigned long offset)
{
	if (b->length && bound_column->length)
		*b->length = *bound_column->length;
	else if (!b->length)
		b->length = &bound_column->length_value;
	if (b->is_null)
		*b->is_null = 0;
	else if (!CMY_ORACLE)
		b->is_null = &b->is_null_value;
	if (!b->error)
		b->error = &b->error_value;
	*b->error = 0;
	b->offset = offset;
}

int
cmy_mysql_stmt_fetch_column(
	MYSQL_STMT *stmt, MYSQL_BIND *bind_arg, unsigned int column, unsigned long offset)
{
	struct cmy_stmt *st = cmy_stmt(stmt);
	struct cmy_cell cell;
	struct cmy_row row;
	const char *p;
	size_t n = 0;

	if (!may_fetch_column(stmt, column))
		return 1;
	if (!st->res && !st->kept)
		return 1;
	row = cmy_rows_at(st, st->at);
	p = cmy_row_value(&row, column, &n);
	if (!p) {
		if (bind_arg->is_null)
			*bind_arg->is_null = 1;
		return 0;
	}
	ready_column(bind_arg, &stmt->bind[column], offset);
	cmy_cell_read(&stmt->fields[column], cmy_stmt(stmt)->is_binary, p, n, &cell);
	cmy_convert_column(bind_arg, &stmt->fields[column], &cell);
	return 0;
}
