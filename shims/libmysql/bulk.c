/* SPDX-License-Identifier: BSD-2-Clause */
#include "stmt.h"

#include "convert.h"

#include <string.h>

/*
 * Arrays of parameters (STMT_ATTR_ARRAY_SIZE). All rows go to a MariaDB server as one execution; if
 * one row fails, the server undoes all of them. Other servers get the rows one by one. execute.c
 * calls this file, and methods.c calls this file to read the values before the execution.
 */

/* The most values in one execution: 65535, less one for the number of rows. */
#define VALUES_MAX 65534u

/* Types of MySQL's binary protocol that are not values: the number of rows, and two of
 * MariaDB's indicators. */
#define NATIVE_ROWS    0x10001u
#define NATIVE_DEFAULT 0x10002u
#define NATIVE_IGNORE  0x10003u

struct bulk {
	struct cmy_stmt *st;
	struct cmy_session *s;
	unsigned row; /* number of the next row to add */
	unsigned n_rows; /* rows that are in st->params */
	uint64_t affected;
	int is_taken; /* the request already has the values */
};

static int
indicator_of(const MYSQL_STMT *stmt, const MYSQL_BIND *b, unsigned row)
{
	if (!b->u.indicator)
		return STMT_INDICATOR_NONE;
	if (stmt->param_callback)
		return *b->u.indicator;
	if (stmt->row_size > 0)
		return b->u.indicator[row * stmt->row_size];
	return b->u.indicator[row];
}

/* The size of one element of an array of numbers; 0: the array holds pointers. */
static size_t
element_size(enum enum_field_types type)
{
	return type == MYSQL_TYPE_FLOAT    ? 4
	       : type == MYSQL_TYPE_DOUBLE ? 8
					   : cmy_integer_size(type);
}

/* The length of a value; only texts and bytes have one. -1: up to the zero byte. */
static unsigned long
length_of(const MYSQL_STMT *stmt, unsigned param, unsigned row)
{
	const MYSQL_BIND *b = &stmt->params[param];
	unsigned long length;

	if (element_size(b->buffer_type) > 0 || cmy_is_time(b->buffer_type))
		return 0;
	/* the program gave no array of lengths */
	if (stmt->param_callback || b->length == &b->buffer_length)
		return *b->length;
	if (stmt->row_size == 0)
		return b->length[row];
	memcpy(&length, (const char *)b->length + row * stmt->row_size, sizeof(length));
	return length;
}

static void *
buffer_of(const MYSQL_STMT *stmt, const MYSQL_BIND *b, unsigned row)
{
	size_t size = element_size(b->buffer_type);

	if (stmt->param_callback || !b->buffer)
		return b->buffer;
	if (stmt->row_size > 0)
		return (char *)b->buffer + row * stmt->row_size;
	if (size > 0)
		return (char *)b->buffer + row * size;
	return ((void **)b->buffer)[row];
}

/* Add DEFAULT or IGNORE. Only MariaDB's server knows these; another server would take the word for
 * a value. */
static int
add_word(struct bulk *k, unsigned native_type)
{
	if (!cmy_is_binary(k->s))
		return CENOTE_ERR_UNSUPPORTED;
	return cenote_params_add_native(
		k->st->params, native_type, CENOTE_FORMAT_BINARY, "", 0);
}

/* Add one element of the array as if the program had bound it alone. */
static int
add_value(struct bulk *k, unsigned param)
{
	const MYSQL_STMT *stmt = &k->st->pub;
	MYSQL_BIND one = stmt->params[param];
	int indicator = indicator_of(stmt, &one, k->row);
	my_bool is_null = cmy_bool(indicator == STMT_INDICATOR_NULL);
	unsigned long length = indicator == STMT_INDICATOR_NTS
				       ? (unsigned long)-1
				       : length_of(stmt, param, k->row);

	if (indicator == STMT_INDICATOR_DEFAULT)
		return add_word(k, NATIVE_DEFAULT);
	if (indicator == STMT_INDICATOR_IGNORE)
		return add_word(k, NATIVE_IGNORE);
	one.buffer = buffer_of(stmt, &one, k->row);
	one.is_null = &is_null;
	one.length = &length;
	return cmy_params_add(k->st, k->s, &one);
}

static int
is_skipped(const struct bulk *k)
{
	const MYSQL_STMT *stmt = &k->st->pub;
	unsigned i;

	for (i = 0; i < stmt->param_count; i++) {
		if (indicator_of(stmt, &stmt->params[i], k->row) ==
			STMT_INDICATOR_IGNORE_ROW)
			return 1;
	}
	return 0;
}

/* Add one row. 0, or -1 and the statement's error is set. When the program's function fails, the
 * connection gets no error, as in the original. */
static int
add_row(struct bulk *k)
{
	MYSQL_STMT *stmt = &k->st->pub;
	unsigned i;
	int r = 0;

	if (stmt->param_callback &&
		stmt->param_callback(stmt->user_data, stmt->params, k->row)) {
		cmy_stmt_error(stmt, CR_ERR_STMT_PARAM_CALLBACK);
		return -1;
	}
	if (is_skipped(k))
		return 0;
	for (i = 0; r >= 0 && i < stmt->param_count; i++)
		r = add_value(k, i);
	k->n_rows++;
	if (r >= 0)
		return 0;
	if (r == CENOTE_ERR_UNSUPPORTED)
		cmy_error_text(stmt->mysql, ER_NOT_SUPPORTED_YET, "0A000",
			"the pool's server takes no DEFAULT or IGNORE in place of a "
			"parameter's value");
	else
		(void)cmy_check(k->s, r);
	cmy_stmt_take_error(stmt);
	return -1;
}

static int
add_count(const struct bulk *k)
{
	unsigned char bytes[4];
	size_t i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(k->n_rows >> (8 * i));
	return cenote_params_add_native(
		k->st->params, NATIVE_ROWS, CENOTE_FORMAT_BINARY, bytes, sizeof(bytes));
}

/* Does the execution include the number of rows? A row with the largest number of parameters goes
 * without it: a second row would not fit. */
static int
has_count(const struct bulk *k)
{
	return cmy_is_binary(k->s) && k->st->pub.param_count <= VALUES_MAX;
}

/* Add as many rows as fit into one execution. */
static int
add_rows(struct bulk *k, unsigned most)
{
	cenote_params_clear(k->st->params);
	k->n_rows = 0;
	for (; k->row < k->st->pub.array_size && k->n_rows < most; k->row++) {
		if (add_row(k) < 0)
			return -1;
	}
	if (!has_count(k) || cmy_check(k->s, add_count(k)) == 0)
		return 0;
	cmy_stmt_take_error(&k->st->pub);
	return -1;
}

/* Put the next execution's values into st->params. 1; 0: there are no more rows; -1: the
 * statement's error is set. */
static int
next_rows(struct bulk *k, unsigned most)
{
	if (k->is_taken)
		return cmy_request_next(k->st);
	if (k->row == k->st->pub.array_size)
		return 0;
	return add_rows(k, most) < 0 ? -1 : k->n_rows > 0;
}

static int
run_rows(struct bulk *k)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;

	options.stream = 1;
	options.format =
		cmy_is_binary(k->s) ? CENOTE_FORMAT_BINARY : CENOTE_FORMAT_CANONICAL;
	k->s->my->info = NULL;
	if (cmy_check(k->s,
		    cenote_send_execute(k->st->prepared, k->st->params, &options)) < 0)
		return -1;
	return cmy_execute_answer(k->st, k->s) == 0 ? 0 : -1;
}

static int
refuse(struct cmy_stmt *st)
{
	cmy_stmt_error_text(&st->pub, CR_BULK_WITHOUT_PARAMETERS, "IM001",
		cmy_error_words(CR_BULK_WITHOUT_PARAMETERS));
	return 1;
}

/* Run all executions, which count as one for the program: their affected rows are added up. */
static int
run_all(struct bulk *k, unsigned most)
{
	MYSQL *my = k->s->my;
	unsigned executed = k->st->pub.execute_count + 1;
	int r;

	while ((r = next_rows(k, most)) > 0) {
		if (run_rows(k) < 0)
			return 1;
		k->st->pub.execute_count = executed;
		if (k->st->reading == CMY_READ_STREAM)
			return 0;
		k->affected += my->affected_rows;
		my->affected_rows = k->affected;
		k->st->pub.upsert_status.affected_rows = k->affected;
	}
	return r < 0;
}

static unsigned
rows_at_once(const struct bulk *k)
{
	return has_count(k) ? VALUES_MAX / k->st->pub.param_count : 1;
}

int
cmy_bulk_execute(struct cmy_stmt *st, struct cmy_session *s)
{
	struct bulk k = { .st = st, .s = s, .is_taken = st->request != NULL };
	int r;

	if (st->pub.param_count == 0)
		return refuse(st);
	r = run_all(&k, rows_at_once(&k));
	cmy_request_drop(st);
	return r;
}

/* ---- values that are taken before the execution ---- */

static int
take_rows(struct cmy_stmt *st, struct cmy_session *s)
{
	struct bulk k = { .st = st, .s = s };
	int r;

	if (st->pub.param_count == 0) {
		(void)refuse(st);
		return -1;
	}
	while ((r = next_rows(&k, rows_at_once(&k))) > 0 && cmy_request_add(st) == 0)
		;
	return r == 0 ? 0 : -1;
}

static int
take(struct cmy_stmt *st, struct cmy_session *s)
{
	if (cmy_request_begin(st) < 0)
		return -1;
	if (st->pub.array_size > 0)
		return take_rows(st, s);
	if (cmy_params_fill(st, s) == 0)
		return cmy_request_add(st);
	cmy_stmt_take_error(&st->pub);
	return -1;
}

int
cmy_request_take(struct cmy_stmt *st)
{
	MYSQL_STMT *stmt = &st->pub;
	struct cmy_session *s = cmy_session(cmy_stmt_connection(stmt));

	if (!s)
		return -1;
	cmy_request_drop(st);
	if (stmt->param_count > 0 && !stmt->bind_param_done) {
		cmy_stmt_error_both(stmt, CR_PARAMS_NOT_BOUND);
		return -1;
	}
	if (take(st, s) < 0) {
		cmy_request_drop(st);
		return -1;
	}
	stmt->send_types_to_server = 0;
	for (unsigned i = 0; i < sizeof(st->request_head); i++)
		st->request_head[i] = (unsigned char)(stmt->stmt_id >> (8 * i));
	return 0;
}
