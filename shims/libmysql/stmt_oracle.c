/* SPDX-License-Identifier: BSD-2-Clause */
#include "stmt.h"

/*
 * The functions of prepared statements in which Oracle's library differs from Connector/C: giving
 * up results, the next result, and reset.
 */

/* ---- giving up rows ---- */

void
cmy_stmt_give_up(struct cmy_stmt *st)
{
	cmy_rows_cancel(st);
}

my_bool
cmy_mysql_stmt_free_result(MYSQL_STMT *stmt)
{
	if (stmt->state == MYSQL_STMT_INIT_DONE)
		return 0;
	cmy_rows_cancel(cmy_stmt(stmt));
	cmy_rows_drop(cmy_stmt(stmt));
	stmt->result.rows = 0;
	cmy_stmt(stmt)->reading = CMY_READ_NOTHING;
	cmy_long_unmark(cmy_stmt(stmt));
	cmy_stmt_clear(stmt);
	stmt->state = MYSQL_STMT_PREPARE_DONE;
	return 0;
}

/* Must another statement's rows be dropped? A statement that was not executed, or has no rows, does
 * not drop them. */
static int
is_others_turn(const MYSQL_STMT *stmt)
{
	int has_rows = stmt->state > CMY_STMT_PREPARED && stmt->field_count > 0;

	return !has_rows && cmy_is_busy(stmt->mysql);
}

/* After a failed fetch Oracle's library considers the statement prepared, and the server refuses
 * its reset. */
static int
refuse_reset(MYSQL_STMT *stmt)
{
	struct cmy_session *s = cmy_enter(stmt->mysql);

	if (s)
		cmy_error_text(s->my, ER_UNKNOWN_STMT_HANDLER, NULL,
			"Unknown prepared statement handler (%lu) given to "
			"mysqld_stmt_reset",
			stmt->stmt_id);
	cmy_stmt_take_error(stmt);
	stmt->state = MYSQL_STMT_INIT_DONE;
	return 1;
}

my_bool
cmy_mysql_stmt_reset(MYSQL_STMT *stmt)
{
	struct cmy_stmt *st = cmy_stmt(stmt);

	if (!cmy_stmt_connection(stmt))
		return 1;
	if (stmt->state == CMY_STMT_NEW)
		return 0;
	if (!st->prepared || is_others_turn(stmt))
		return cmy_bool(refuse_reset(stmt));
	cmy_stmt_clear_both(stmt);
	cmy_rows_cancel(st);
	if (st->reading != CMY_READ_STORED)
		cmy_rows_drop_all(st);
	st->reading = CMY_READ_NOTHING;
	stmt->state = CMY_STMT_PREPARED;
	/* ignore errors of the dropped rows, unless the connection was lost */
	if (stmt->mysql->net.CMY_VIO)
		cmy_stmt_clear_both(stmt);
	stmt->mysql->info = NULL;
	cmy_tell_done(stmt->mysql);
	return (my_bool)cmy_long_forget(st);
}

/* ---- fetching ---- */

/* Fetching ended without a row, because of `r`. */
static int
end_fetching(struct cmy_stmt *st, int r)
{
	st->pub.state = MYSQL_STMT_PREPARE_DONE;
	if (r != MYSQL_NO_DATA)
		st->reading = CMY_READ_NOTHING;
	else if (st->reading != CMY_READ_STORED && !cmy_rows_is_end_known(st))
		st->pub.result.rows = 0; /* as in the original's cursor */
	return r;
}

int
cmy_mysql_stmt_fetch(MYSQL_STMT *stmt)
{
	struct cmy_stmt *st = cmy_stmt(stmt);
	int r = cmy_rows_fetch(st);

	if (r == 1 || r == MYSQL_NO_DATA)
		return end_fetching(st, r);
	/* sic: mysql_stmt_fetch_column() needs a bound row */
	if (!stmt->bind_result_done)
		st->at = CMY_NO_ROW;
	stmt->state = MYSQL_STMT_FETCH_DONE;
	return r;
}

/* ---- further results ---- */

/*
 * sic: if the previous result announced another one, drop the rest of the rows, even
 * another statement's.
 */
static void
drop_before_next(struct cmy_stmt *st)
{
	if (st->pub.state == CMY_STMT_NEW)
		return;
	cmy_rows_cancel(st);
	cmy_rows_drop(st);
	st->reading = CMY_READ_NOTHING;
	st->pub.result.rows = 0;
	st->pub.state = CMY_STMT_PREPARED;
}

/* Take the connection's new result for the statement. */
static int
take_next(struct cmy_stmt *st, struct cmy_session *s)
{
	st->pub.result.rows = 0;
	st->pub.bind_result_done = 0;
	if (s->my->field_count > 0)
		return cmy_execute_next_rows(st, s);
	st->pub.field_count = 0;
	return 0;
}

int
cmy_mysql_stmt_next_result(MYSQL_STMT *stmt)
{
	struct cmy_stmt *st = cmy_stmt(stmt);
	struct cmy_session *s = cmy_session(stmt->mysql);

	if (!s)
		return 1;
	if (stmt->last_errno != 0)
		return (int)stmt->last_errno;
	if (s->my->server_status & SERVER_MORE_RESULTS_EXISTS)
		drop_before_next(st);
	if (s->my->status != MYSQL_STATUS_READY) {
		cmy_stmt_error_both(stmt, CR_COMMANDS_OUT_OF_SYNC);
		return 1;
	}
	cmy_clear(s->my);
	s->my->affected_rows = MYSQL_COUNT_ERROR;
	if (s->state != CMY_MORE) {
		cmy_stmt_take_error(stmt);
		return -1;
	}
	if (cmy_next_head(s) < 0) {
		cmy_stmt_take_error(stmt);
		return 1;
	}
	stmt->state = MYSQL_STMT_EXECUTE_DONE;
	return take_next(st, s);
}

/* ---- attributes: it has no more than both have ---- */

int
cmy_stmt_set_more(struct cmy_stmt *st, enum enum_stmt_attr_type type, const void *value)
{
	(void)st;
	(void)type;
	(void)value;
	return 1;
}

int
cmy_stmt_get_more(const MYSQL_STMT *stmt, enum enum_stmt_attr_type type, void *ret_value)
{
	(void)stmt;
	(void)type;
	(void)ret_value;
	return 1;
}

/* ---- the end ---- */

int
cmy_stmt_leave(struct cmy_stmt *st)
{
	cmy_clear(st->pub.mysql);
	return st->pub.state == CMY_STMT_NEW ? 0 : cmy_stmt_close_at_server(st);
}
