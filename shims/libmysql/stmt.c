/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Make, prepare and close a prepared statement; its attributes, and the functions that report about
 * it. face.c calls this file. The flavours' differences are in stmt_mariadb.c and stmt_oracle.c.
 */
#include "stmt.h"

#include <stdlib.h>
#include <string.h>

/* ---- errors ---- */

unsigned int
cmy_mysql_stmt_errno(MYSQL_STMT *stmt)
{
	return stmt->last_errno;
}

const char *
cmy_mysql_stmt_error(MYSQL_STMT *stmt)
{
	return stmt->last_error;
}

const char *
cmy_mysql_stmt_sqlstate(MYSQL_STMT *stmt)
{
	return stmt->sqlstate;
}

/* ---- making ---- */

MYSQL_STMT *
cmy_mysql_stmt_init(MYSQL *mysql)
{
	struct cmy_stmt *st = calloc(1, sizeof(*st));

	if (!st || cenote_params_create(NULL, &st->params) < 0) {
		free(st);
		cmy_error(mysql, CR_OUT_OF_MEMORY, NULL);
		return NULL;
	}
	st->pub.extension = (void *)(uintptr_t)&cmy_tag;
	st->pub.mysql = mysql;
	st->pub.list.data = st;
	cmy_stmt_enlist(mysql, &st->pub.list);
	st->pub.state = CMY_STMT_NEW;
	st->pub.prefetch_rows = 1;
	st->portion = 1;
	memcpy(st->pub.sqlstate, "00000", sizeof(st->pub.sqlstate));
#if !CMY_ORACLE
	cmy_stmt_methods(&st->pub);
#endif
	return &st->pub;
}

void
cmy_stmt_unprepare(struct cmy_stmt *st)
{
	cmy_stmt_free_fields(st);
	cmy_long_clear(st);
	free(st->pub.params);
	st->pub.params = NULL;
	st->pub.param_count = 0;
#if CMY_ORACLE
	st->pub.bind_param_done = 0;
	st->pub.bind_result_done = 0;
	st->pub.result.rows = 0;
	st->reading = CMY_READ_NOTHING;
#endif
	cenote_stmt_destroy(st->prepared);
	st->prepared = NULL;
	free(st->sql);
	st->sql = NULL;
	st->pub.state = CMY_STMT_NEW;
}

/* ---- preparing ---- */

int
cmy_mysql_stmt_prepare(MYSQL_STMT *stmt, const char *query, unsigned long length)
{
	struct cmy_stmt *st = cmy_stmt(stmt);

	if (!cmy_stmt_connection(stmt))
		return 1;
	if (length == (unsigned long)-1)
		length = (unsigned long)strlen(query);
#if CMY_ORACLE
	/* sic: Oracle's library does not clear the SQLSTATE */
	stmt->last_errno = 0;
	stmt->last_error[0] = '\0';
#else
	cmy_stmt_clear(stmt);
	cmy_clear(stmt->mysql);
	stmt->CMY_STMT_AFFECTED = stmt->mysql->affected_rows = MYSQL_COUNT_ERROR;
#endif
	if (stmt->state != CMY_STMT_NEW) {
		cmy_stmt_give_up(st);
		cmy_rows_drop(st);
		cmy_stmt_unprepare(st);
	}
	if (cmy_stmt_prepare_text(st, query, length) < 0) {
		cenote_stmt_destroy(st->prepared);
		st->prepared = NULL;
		stmt->state = CMY_STMT_NEW;
		cmy_stmt_take_error(stmt);
		return 1;
	}
	stmt->state = CMY_STMT_PREPARED;
	return 0;
}

/* ---- reports ---- */

unsigned long
cmy_mysql_stmt_param_count(MYSQL_STMT *stmt)
{
	return stmt->param_count;
}

unsigned int
cmy_mysql_stmt_field_count(MYSQL_STMT *stmt)
{
	return stmt->field_count;
}

uint64_t
cmy_mysql_stmt_affected_rows(MYSQL_STMT *stmt)
{
	return stmt->CMY_STMT_AFFECTED;
}

uint64_t
cmy_mysql_stmt_insert_id(MYSQL_STMT *stmt)
{
	return stmt->CMY_STMT_INSERT_ID;
}

uint64_t
cmy_mysql_stmt_num_rows(MYSQL_STMT *stmt)
{
	return stmt->result.rows;
}

/* The result borrows the statement's fields, so it also shows a max_length that is found later. */
MYSQL_RES *
cmy_mysql_stmt_result_metadata(MYSQL_STMT *stmt)
{
	MYSQL_RES *res;

	if (stmt->field_count == 0)
		return NULL;
	res = cmy_result_borrowing(stmt->fields, stmt->field_count);
	if (!res)
		cmy_stmt_error(stmt, CR_OUT_OF_MEMORY);
	return res;
}

/* Neither original supports this; both return NULL. */
MYSQL_RES *
cmy_mysql_stmt_param_metadata(MYSQL_STMT *stmt)
{
	(void)stmt;
	return NULL;
}

/* COM_STMT_CLOSE: libcenote closes the statement itself. Read the rest of the rows, if this
 * statement is reading. */
int
cmy_stmt_close_at_server(struct cmy_stmt *st)
{
	MYSQL *my = st->pub.mysql;

	cmy_clear(my);
	if (my->status != MYSQL_STATUS_READY) {
		cmy_rows_flush(my->extension);
		cmy_drain(my->extension);
	}
	/* sic: Oracle's library also closes a statement that was never prepared but took another
	 * statement's results */
	if (!CMY_ORACLE && st->pub.stmt_id == 0)
		return 0;
	if (my->server_status & SERVER_MORE_RESULTS_EXISTS) {
		cmy_stmt_error_both(&st->pub, CR_COMMANDS_OUT_OF_SYNC);
		return 1;
	}
	/* ignore errors of the dropped rows */
	cmy_begin_command(my);
	return 0;
}

/* ---- attributes ---- */

/* If the program gives no value, Oracle's library takes 0; Connector/C crashes. */
static unsigned long
number_or_0(const void *value)
{
	return value ? *(const unsigned long *)value : 0;
}

my_bool
cmy_mysql_stmt_attr_set(
	MYSQL_STMT *stmt, enum enum_stmt_attr_type attr_type, const void *attr)
{
	int is_unknown = 0;

	switch (attr_type) {
	case STMT_ATTR_UPDATE_MAX_LENGTH:
		/* any value: mysql_stmt_attr_get() returns it unchanged */
		stmt->update_max_length = 0;
		if (attr)
			stmt->update_max_length = *(const my_bool *)attr;
		break;
	case STMT_ATTR_CURSOR_TYPE:
		is_unknown = number_or_0(attr) > CURSOR_TYPE_READ_ONLY;
		if (!is_unknown)
			stmt->flags = number_or_0(attr);
		break;
	case STMT_ATTR_PREFETCH_ROWS:
		if (!attr)
			return 1;
		if (CMY_ORACLE || number_or_0(attr) > 0)
			stmt->prefetch_rows = number_or_0(attr);
		break;
	default:
		is_unknown = cmy_stmt_set_more(cmy_stmt(stmt), attr_type, attr);
		break;
	}
	if (is_unknown)
		cmy_stmt_error(stmt, CR_NOT_IMPLEMENTED);
	return cmy_bool(is_unknown != 0);
}

my_bool
cmy_mysql_stmt_attr_get(MYSQL_STMT *stmt, enum enum_stmt_attr_type attr_type, void *attr)
{
	switch (attr_type) {
	case STMT_ATTR_UPDATE_MAX_LENGTH:
		*(my_bool *)attr = stmt->update_max_length;
		return 0;
	case STMT_ATTR_CURSOR_TYPE:
		*(unsigned long *)attr = stmt->flags;
		return 0;
	case STMT_ATTR_PREFETCH_ROWS:
		*(unsigned long *)attr = stmt->prefetch_rows;
		return 0;
	default:
		return cmy_bool(cmy_stmt_get_more(stmt, attr_type, attr) != 0);
	}
}

/* ---- the end ---- */

my_bool
cmy_mysql_stmt_close(MYSQL_STMT *stmt)
{
	struct cmy_stmt *st = cmy_stmt(stmt);
	int r = 0;

	if (!stmt)
		return 1;
	if (stmt->mysql) {
		r = cmy_stmt_leave(st);
		cmy_stmt_delist(stmt->mysql, &stmt->list);
	}
	cmy_rows_drop(st);
	cmy_stmt_unprepare(st);
#if !CMY_ORACLE
	cmy_request_drop(st);
	free(st->raw);
#endif
	cenote_params_destroy(st->params);
	free(st);
	return cmy_bool(r);
}
