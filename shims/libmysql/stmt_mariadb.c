/* SPDX-License-Identifier: BSD-2-Clause */
#include "stmt.h"

#include <stdlib.h>
#include <string.h>

/*
 * The functions of prepared statements in which Connector/C differs from Oracle's library: giving
 * up results, the next result, reset, and the attributes that only Connector/C has.
 */

/* ---- giving up rows ---- */

static void
give_up_rows(struct cmy_stmt *st)
{
	MYSQL_STMT *stmt = &st->pub;
	MYSQL *my = stmt->mysql;

	if (stmt->state == MYSQL_STMT_WAITING_USE_OR_STORE) {
		stmt->state = MYSQL_STMT_USER_FETCHING;
		if (my->status != (stmt->cursor_exists ? MYSQL_STATUS_READY
						       : MYSQL_STATUS_STMT_RESULT))
			cmy_error(my, CR_COMMANDS_OUT_OF_SYNC, NULL);
	}
	if (my->status == MYSQL_STATUS_READY || stmt->field_count == 0)
		return;
	cmy_rows_flush(my->extension);
	stmt->state = MYSQL_STMT_FETCH_DONE;
}

void
cmy_stmt_give_up(struct cmy_stmt *st)
{
	const struct cmy_session *s = st->pub.mysql->extension;

	give_up_rows(st);
	while (st->pub.field_count > 0 && s->state == CMY_MORE &&
		cmy_mysql_stmt_next_result(&st->pub) == 0)
		give_up_rows(st);
	cmy_stmt_take_status(st);
}

/* The end of the cursor's portion that the original has fetched, if some of its rows are left; 0:
 * no rows are left. */
static uint64_t
end_of_portion(const struct cmy_stmt *st)
{
	uint64_t end, n;

	if (st->reading != CMY_READ_BATCHES || st->next % st->portion == 0)
		return 0;
	end = (st->next / st->portion + 1) * st->portion;
	n = cenote_result_n_rows(st->res);
	if (st->next >= n)
		return 0;
	return end < n ? end : n;
}

my_bool
cmy_mysql_stmt_free_result(MYSQL_STMT *stmt)
{
	struct cmy_stmt *st = cmy_stmt(stmt);
	uint64_t end = end_of_portion(st);

	if (!cmy_stmt_connection(stmt))
		return 1;
	cmy_stmt_clear_both(stmt);
	if (stmt->result_cursor || end > 0) {
		stmt->state = MYSQL_STMT_FETCH_DONE;
		stmt->result.rows = 0;
	}
	/* the cursor goes on after this portion */
	if (end > 0)
		st->next = end;
	else if (stmt->result_cursor)
		cmy_rows_drop(st);
	give_up_rows(st);
	cmy_long_unmark(st);
	return 0;
}

/* COM_STMT_RESET. The pool sends it only if the server has something to forget. */
static int
reset_at_server(struct cmy_stmt *st)
{
	MYSQL *my = st->pub.mysql;

	if (!my->net.CMY_VIO)
		return 0;
	if (cmy_session(my)->state != CMY_IDLE) {
		cmy_stmt_error_both(&st->pub, CR_COMMANDS_OUT_OF_SYNC);
		return 1;
	}
	/* ignore errors of the dropped rows */
	cmy_begin_command(my);
	return cmy_long_forget(st);
}

my_bool
cmy_mysql_stmt_reset(MYSQL_STMT *stmt)
{
	struct cmy_stmt *st = cmy_stmt(stmt);
	int r;

	if (stmt->stmt_id == 0 || stmt->stmt_id == (unsigned long)-1)
		return 0;
	if (!cmy_stmt_connection(stmt))
		return 1;
	cmy_stmt_clear_both(stmt);
	cmy_stmt_give_up(st);
	if (st->reading != CMY_READ_STORED)
		cmy_rows_drop(st);
	r = reset_at_server(st);
	stmt->state = MYSQL_STMT_PREPARED;
	cmy_stmt_take_status(st);
	return cmy_bool(r);
}

/* ---- fetching ---- */

/* May the program fetch a row now? */
static int
may_fetch(MYSQL_STMT *stmt)
{
	if (stmt->state <= MYSQL_STMT_EXECUTED || stmt->field_count == 0) {
		cmy_stmt_error(stmt, CR_COMMANDS_OUT_OF_SYNC);
		return 0;
	}
	if (stmt->state == MYSQL_STMT_WAITING_USE_OR_STORE) {
		cmy_stmt_clear(stmt);
		stmt->state = MYSQL_STMT_USE_OR_STORE_CALLED;
	}
	return 1;
}

/* Fetching ended without a row, because of `r`. */
static int
end_fetching(struct cmy_stmt *st, int r)
{
	st->pub.state = MYSQL_STMT_FETCH_DONE;
	/* in the original, asking for the next portion resets this */
	if (st->pub.cursor_exists && r == MYSQL_NO_DATA &&
		st->reading != CMY_READ_STORED && !cmy_rows_is_end_known(st)) {
		if (st->pub.mysql)
			cmy_clear(st->pub.mysql);
		st->pub.result.rows = 0;
	}
	return r;
}

int
cmy_mysql_stmt_fetch(MYSQL_STMT *stmt)
{
	struct cmy_stmt *st = cmy_stmt(stmt);
	int r;

	if (!may_fetch(stmt))
		return 1;
	if (stmt->state == MYSQL_STMT_FETCH_DONE)
		return MYSQL_NO_DATA;
	r = cmy_rows_fetch(st);
	if (r == 1 || r == MYSQL_NO_DATA)
		return end_fetching(st, r);
	stmt->state = MYSQL_STMT_USER_FETCHING;
	if (st->reading != CMY_READ_BATCHES && st->reading != CMY_READ_STORED)
		stmt->result.rows++;
	if (stmt->mysql)
		cmy_clear(stmt->mysql);
	cmy_stmt_clear(stmt);
	return r;
}

/* ---- further results ---- */

my_bool
cmy_mysql_stmt_more_results(MYSQL_STMT *stmt)
{
	unsigned more = SERVER_MORE_RESULTS_EXISTS | SERVER_PS_OUT_PARAMS;

	return cmy_bool(stmt && stmt->mysql && (stmt->mysql->server_status & more) != 0);
}

/* Take the connection's new result for the statement. */
static int
take_next(struct cmy_stmt *st, struct cmy_session *s)
{
	cmy_rows_drop(st); /* drop the rows that were stored */
	st->pub.result.rows = 0;
	if (s->my->field_count > 0) {
		st->pub.bind_result_done = 0;
		return cmy_execute_next_rows(st, s);
	}
	st->pub.field_count = 0;
	cmy_stmt_take_status(st);
	if (!cmy_mysql_stmt_more_results(&st->pub))
		st->pub.state = MYSQL_STMT_FETCH_DONE;
	return 0;
}

int
cmy_mysql_stmt_next_result(MYSQL_STMT *stmt)
{
	struct cmy_stmt *st = cmy_stmt(stmt);
	struct cmy_session *s = cmy_session(cmy_stmt_connection(stmt));

	if (!s)
		return 1;
	if (stmt->state < MYSQL_STMT_EXECUTED) {
		cmy_stmt_error_both(stmt, CR_COMMANDS_OUT_OF_SYNC);
		return 1;
	}
	if (!cmy_mysql_stmt_more_results(stmt))
		return -1;
	if (stmt->state > MYSQL_STMT_EXECUTED && stmt->state < MYSQL_STMT_FETCH_DONE) {
		cmy_clear(s->my);
		cmy_stmt_clear(stmt);
		give_up_rows(st);
		cmy_long_unmark(st);
	}
	stmt->state = MYSQL_STMT_WAITING_USE_OR_STORE;
	if (cmy_mysql_next_result(s->my) != 0) {
		stmt->state = MYSQL_STMT_FETCH_DONE;
		cmy_stmt_take_error(stmt);
		return 1;
	}
	return take_next(st, s);
}

/* ---- reports ---- */

MYSQL_FIELD *
cmy_mariadb_stmt_fetch_fields(MYSQL_STMT *stmt)
{
	return stmt ? stmt->fields : NULL;
}

int
cmy_mysql_stmt_warning_count(MYSQL_STMT *stmt)
{
	return (int)stmt->upsert_status.warning_count;
}

/* ---- attributes ---- */

static void
set_prebind_params(struct cmy_stmt *st, unsigned n)
{
	if (st->pub.state != CMY_STMT_NEW) {
		cmy_stmt_give_up(st);
		cmy_rows_drop(st);
		(void)cmy_stmt_close_at_server(st);
		cmy_stmt_unprepare(st);
	}
	/* free the parameters of a text that could not be prepared */
	if (n > st->pub.param_count) {
		free(st->pub.params);
		st->pub.params = NULL;
	}
	st->pub.prebind_params = st->pub.param_count = n;
}

/* Attributes that only Connector/C has. 0; 1: there is no such attribute. */
int
cmy_stmt_set_more(struct cmy_stmt *st, enum enum_stmt_attr_type type, const void *value)
{
	switch (type) {
	case STMT_ATTR_PREBIND_PARAMS:
		set_prebind_params(st, *(const unsigned *)value);
		return 0;
	case STMT_ATTR_ARRAY_SIZE:
		st->pub.array_size = *(const unsigned *)value;
		cmy_request_drop(st);
		return 0;
	case STMT_ATTR_ROW_SIZE:
		st->pub.row_size = *(const size_t *)value;
		return 0;
	case STMT_ATTR_CB_RESULT:
		memcpy(&st->pub.result_callback, &value, sizeof(value));
		return 0;
	case STMT_ATTR_CB_PARAM:
		memcpy(&st->pub.param_callback, &value, sizeof(value));
		return 0;
	case STMT_ATTR_CB_USER_DATA:
		st->pub.user_data = (void *)(uintptr_t)value;
		return 0;
	default:
		return 1;
	}
}

int
cmy_stmt_get_more(const MYSQL_STMT *stmt, enum enum_stmt_attr_type type, void *ret_value)
{
	switch (type) {
	case STMT_ATTR_STATE:
		*(enum enum_mysql_stmt_state *)ret_value = stmt->state;
		return 0;
	case STMT_ATTR_PREBIND_PARAMS:
		*(unsigned *)ret_value = stmt->prebind_params;
		return 0;
	case STMT_ATTR_ARRAY_SIZE:
		*(unsigned *)ret_value = stmt->array_size;
		return 0;
	case STMT_ATTR_ROW_SIZE:
		*(size_t *)ret_value = stmt->row_size;
		return 0;
	case STMT_ATTR_CB_USER_DATA:
		*(void **)ret_value = stmt->user_data;
		return 0;
	default:
		return 1;
	}
}

/* ---- preparing and executing at once ---- */

int
cmy_mariadb_stmt_execute_direct(MYSQL_STMT *stmt, const char *stmt_str, size_t length)
{
	int r;

	if (!stmt)
		return 1;
	/* sic: the original sets this number for a statement that cannot be prepared */
	if (stmt->mysql)
		stmt->stmt_id = (unsigned long)-1;
	r = cmy_mysql_stmt_prepare(stmt, stmt_str, (unsigned long)length);
	stmt->result.rows = 0;
	return r != 0 ? r : cmy_mysql_stmt_execute(stmt);
}

/* ---- the end ---- */

int
cmy_stmt_leave(struct cmy_stmt *st)
{
	if (st->pub.mysql->net.CMY_VIO)
		cmy_stmt_give_up(st);
	return cmy_stmt_close_at_server(st);
}
