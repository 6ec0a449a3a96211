/* SPDX-License-Identifier: BSD-2-Clause */
#include "stmt.h"

#include <stdlib.h>
#include <string.h>

#define ER_WRONG_ARGUMENTS 1210u /* an error of the server */

/*
 * mysql_stmt_send_long_data(). A MySQL server takes the pieces one by one. Other servers have no
 * such command, so the pieces stay here until the execution. A value in pieces counts even if the
 * parameter was bound again later, which resets MYSQL_BIND.long_data_used. param.c takes the
 * values.
 */
static int
is_text(enum enum_field_types type)
{
	return type < MYSQL_TYPE_TINY_BLOB || type > MYSQL_TYPE_BLOB;
}

#if CMY_ORACLE
static int
refuse_type(MYSQL_STMT *stmt, unsigned number)
{
	enum enum_field_types type = stmt->params[number].buffer_type;

	if ((type >= MYSQL_TYPE_TINY_BLOB && type <= MYSQL_TYPE_STRING) ||
		type == MYSQL_TYPE_VARCHAR || type == MYSQL_TYPE_JSON ||
		type == MYSQL_TYPE_VECTOR)
		return 0;
	cmy_stmt_error_with(stmt, CR_INVALID_BUFFER_USE, (int)number);
	return 1;
}
#else
static int
refuse_type(MYSQL_STMT *stmt, unsigned number)
{
	(void)stmt;
	(void)number;
	return 0;
}
#endif

static int
keep_piece(struct cmy_stmt *st, unsigned number, const char *data, size_t length)
{
	struct cmy_long *l = &st->longs[number];
	size_t wanted = l->length + length + 1;
	char *bigger;

	if (wanted > l->room) {
		wanted = wanted > 2 * l->room ? wanted : 2 * l->room;
		bigger = realloc(l->bytes, wanted);
		if (!bigger)
			return CENOTE_ERR_NOMEM;
		l->bytes = bigger;
		l->room = wanted;
	}
	if (length > 0 && l->bytes)
		memcpy(l->bytes + l->length, data, length);
	l->length += length;
	return CENOTE_OK;
}

static int
send_piece(struct cmy_stmt *st, struct cmy_session *s, unsigned number, const char *data,
	size_t length)
{
	if (!st->longs)
		st->longs = calloc(st->pub.param_count, sizeof(*st->longs));
	if (!st->longs)
		return CENOTE_ERR_NOMEM;
	st->longs[number].is_given = 1;
	if (!cmy_is_binary(s))
		return keep_piece(st, number, data, length);
	st->has_sent_longs = 1;
	return cenote_send_long_data(st->prepared, number, data, length);
}

static int
may_send(MYSQL_STMT *stmt, unsigned number)
{
	if (!CMY_ORACLE && (stmt->state < CMY_STMT_PREPARED || !stmt->params)) {
		cmy_stmt_error(stmt, CR_NO_PREPARE_STMT);
		return 0;
	}
	if (number >= stmt->param_count) {
		cmy_stmt_error(stmt, CR_INVALID_PARAMETER_NO);
		return 0;
	}
	return refuse_type(stmt, number) == 0;
}

my_bool
cmy_mysql_stmt_send_long_data(MYSQL_STMT *stmt, unsigned int param_number,
	const char *data, unsigned long length)
{
	const my_bool not_sent = CMY_ORACLE ? 1 : (my_bool)-1;
	struct cmy_stmt *st = cmy_stmt(stmt);
	struct cmy_session *s;
	int r;

	if (!cmy_stmt_connection(stmt))
		return 1;
#if !CMY_ORACLE
	cmy_clear(stmt->mysql);
	cmy_stmt_clear(stmt);
#endif
	if (!may_send(stmt, param_number))
		return 1;
	if (length == 0 && stmt->params[param_number].long_data_used)
		return 0;
	/* set this even if sending fails, as the original does: a later empty piece is then not sent */
	stmt->params[param_number].long_data_used = 1;
	s = cmy_enter(stmt->mysql);
	if (!s) {
		cmy_stmt_take_error(stmt);
		return not_sent;
	}
	/* after a reconnect, the new session does not have the prepared statement */
	if (!st->prepared)
		return 1;
	r = cmy_check(s, send_piece(st, s, param_number, data, length));
	if (r >= 0)
		return 0;
	cmy_stmt_take_error(stmt);
	return not_sent;
}

static int
is_given(const struct cmy_stmt *st, unsigned param)
{
	return st->longs && st->longs[param].is_given;
}

int
cmy_long_add(struct cmy_stmt *st, const struct cmy_session *s, unsigned param)
{
	const MYSQL_BIND *b = &st->pub.params[param];
	int is_a_text = is_text(b->buffer_type), r;

	if (!is_given(st, param))
		return 0;
	if (cmy_is_binary(s))
		r = cenote_params_add_long(
			st->params, is_a_text ? CENOTE_TYPE_TEXT : CENOTE_TYPE_BYTES);
	else if (is_a_text)
		r = cenote_params_add_text(
			st->params, st->longs[param].bytes, st->longs[param].length);
	else
		r = cenote_params_add_bytes(
			st->params, st->longs[param].bytes, st->longs[param].length);
	return r < 0 ? r : 1;
}

int
cmy_long_forget(struct cmy_stmt *st)
{
	MYSQL *my = st->pub.mysql;
	unsigned warnings = my->warning_count;
#if !CMY_ORACLE
	unsigned own_warnings = st->pub.upsert_status.warning_count;
#endif

	cmy_long_clear(st);
	if (!st->has_sent_longs)
		return 0;
	st->has_sent_longs = 0;
	if (cmy_stmt_prepare_again(st, my->extension) < 0) {
		cmy_stmt_take_error(&st->pub);
		return 1;
	}
	/* the original uses a command whose answer has no warnings, so restore the counts */
	my->warning_count = warnings;
#if !CMY_ORACLE
	st->pub.upsert_status.warning_count = own_warnings;
#endif
	return 0;
}

/* Would the server refuse the value? Its type does not allow pieces (Oracle's library refuses that
 * earlier), or every piece was refused, so that no value is sent. */
static int
is_unfit(const struct cmy_stmt *st, unsigned param)
{
	const MYSQL_BIND *b = &st->pub.params[param];

	if (!is_given(st, param))
		return b->long_data_used != 0;
	return b->buffer_type < MYSQL_TYPE_TINY_BLOB ||
	       b->buffer_type > MYSQL_TYPE_STRING;
}

int
cmy_long_refuse(struct cmy_stmt *st, const struct cmy_session *s)
{
	for (unsigned i = 0; cmy_is_binary(s) && i < st->pub.param_count; i++) {
		if (!is_unfit(st, i))
			continue;
		if (cmy_long_forget(st) == 0)
			cmy_error_text(s->my, ER_WRONG_ARGUMENTS, NULL,
				"Incorrect arguments to mysqld_stmt_execute");
		return -1;
	}
	return 0;
}
