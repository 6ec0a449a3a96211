/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Executing a statement: send its parameters, wait for the answer, and set the members of
 * MYSQL_STMT that programs look at. face.c calls this file; bulk.c calls this file for arrays, and the
 * flavour's stmt file for further results.
 */
#include "stmt.h"

#include <string.h>

#define ER_SP_BAD_CURSOR_SELECT 1323u /* of MariaDB's server */

/* ---- facts from an answer ---- */

/* Update the program's fields: a column's type may change after the preparation (SELECT
 * ?). */
static void
update_fields(MYSQL_FIELD *to, const MYSQL_FIELD *from, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		to[i].type = from[i].type;
		to[i].length = from[i].length;
		to[i].flags = from[i].flags;
		to[i].decimals = from[i].decimals;
		to[i].charsetnr = from[i].charsetnr;
		if (!CMY_ORACLE)
			to[i].max_length = from[i].max_length;
	}
}

/* Take the fields of the result. 0; 1: an error is set. The rows can still be read, as in the
 * original. */
static int
take_fields(struct cmy_stmt *st, struct cmy_session *s, int is_new)
{
	MYSQL *my = s->my;
	unsigned n = my->field_count;

	if (st->pub.field_count == 0 || is_new) {
		MYSQL_FIELD *fields = cmy_fields_of_result(s, st->res);

		return cmy_stmt_set_fields(st, fields, n) < 0;
	}
	if (st->pub.field_count != n) {
		cmy_stmt_error(&st->pub, CR_NEW_STMT_METADATA);
		return 1;
	}
	update_fields(st->pub.fields, my->fields, n);
#if CMY_ORACLE
	cmy_bind_again(st);
#endif
	return 0;
}

static int
fail(struct cmy_stmt *st)
{
	cmy_stmt_take_error(&st->pub);
#if !CMY_ORACLE
	if (st->pub.mysql)
		st->pub.upsert_status.affected_rows = st->pub.mysql->affected_rows;
	if (st->pub.prebind_params > 0)
		st->pub.param_count = st->pub.prebind_params;
	if (st->pub.state != MYSQL_STMT_INITTED)
		st->pub.state = MYSQL_STMT_PREPARED;
#endif
	return 1;
}

/* Must all rows be fetched now? Oracle's library does so if the program asked for a cursor and the
 * server has none for this statement. */
static int
store_instead(struct cmy_stmt *st)
{
	int is_wanted = CMY_ORACLE && st->pub.flags & CURSOR_TYPE_READ_ONLY &&
			st->reading == CMY_READ_STREAM;

	return is_wanted ? cmy_mysql_stmt_store_result(&st->pub) : 0;
}

static int
take_rows(struct cmy_stmt *st, struct cmy_session *s, int is_new)
{
	int r = take_fields(st, s, is_new);

	return r != 0 ? r : store_instead(st);
}

int
cmy_execute_answer(struct cmy_stmt *st, struct cmy_session *s)
{
	MYSQL *my = s->my;

	s->state = CMY_SENT;
	cmy_note_text(s, st->sql, st->sql_length);
	if (cmy_next_head(s) < 0)
		return fail(st);
	st->pub.state = CMY_STMT_EXECUTED;
	st->pub.send_types_to_server = 0;
	cmy_stmt_clear(&st->pub);
	if (my->field_count > 0 && cmy_rows_begin(st, s) != 0)
		return fail(st);
	cmy_stmt_take_status(st);
	st->had_cursor = my->field_count > 0 && st->reading == CMY_READ_BATCHES;
#if !CMY_ORACLE
	st->pub.execute_count++;
	st->pub.cursor_exists = cmy_bool(st->had_cursor);
	if (my->field_count > 0)
		st->pub.state = MYSQL_STMT_WAITING_USE_OR_STORE;
#endif
	return my->field_count > 0 ? take_rows(st, s, st->may_give_several) : 0;
}

/* ---- mysql_stmt_execute() ---- */

/* Ask for a cursor if the program wants one. A CALL cannot have one. */
static void
set_options(
	struct cmy_stmt *st, const struct cmy_session *s, cenote_exec_options *options)
{
	unsigned long rows = st->pub.prefetch_rows ? st->pub.prefetch_rows : 1;

	st->portion = rows < UINT32_MAX ? (uint32_t)rows : UINT32_MAX;
	options->stream = 1;
	options->format =
		cmy_is_binary(s) ? CENOTE_FORMAT_BINARY : CENOTE_FORMAT_CANONICAL;
	if (st->pub.flags & CURSOR_TYPE_READ_ONLY && !st->has_no_cursor)
		options->batch_rows = st->portion;
}

/* Report the error of MariaDB's server for a cursor on SELECT … INTO. The pool opens cursors only
 * for statements with columns, so the server does not get this request. */
static int
refuse_cursor(const struct cmy_stmt *st)
{
	MYSQL *my = st->pub.mysql;

	if (!(st->pub.flags & CURSOR_TYPE_READ_ONLY) || !st->is_select ||
		st->pub.field_count > 0 || !strstr(my->server_version, "MariaDB"))
		return 0;
	cmy_error_text(
		my, ER_SP_BAD_CURSOR_SELECT, "42000", "Cursor SELECT must not have INTO");
	return -1;
}

static int
take_params(struct cmy_stmt *st, struct cmy_session *s)
{
#if !CMY_ORACLE
	if (st->request) {
		(void)cmy_request_next(st);
		cmy_request_drop(st);
		return 0;
	}
#endif
	return cmy_params_fill(st, s);
}

static int
run(struct cmy_stmt *st, struct cmy_session *s)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	int r;

	if (take_params(st, s) < 0 || refuse_cursor(st) < 0)
		return fail(st);
	s->my->info = NULL;
	set_options(st, s, &options);
	r = cmy_check(s, cenote_send_execute(st->prepared, st->params, &options));
	cmy_long_clear(st);
	st->has_sent_longs = 0;
	return r < 0 ? fail(st) : cmy_execute_answer(st, s);
}

static int
may_execute(struct cmy_stmt *st)
{
	MYSQL_STMT *stmt = &st->pub;

	/* Oracle's library leaves the error that it set when the connection was lost */
	if (CMY_ORACLE && !stmt->mysql)
		return 0;
	cmy_rows_cancel(st);
	if (CMY_ORACLE && stmt->state > CMY_STMT_PREPARED)
		stmt->state = CMY_STMT_PREPARED;
	if (!cmy_stmt_connection(stmt))
		return 0;
	if (!CMY_ORACLE && (stmt->state < CMY_STMT_PREPARED || !st->prepared)) {
		cmy_stmt_error_both(stmt, CR_COMMANDS_OUT_OF_SYNC);
		return 0;
	}
	if (stmt->param_count > 0 && !stmt->bind_param_done) {
		cmy_stmt_error(stmt, CR_PARAMS_NOT_BOUND);
		return 0;
	}
	return 1;
}

/*
 * Report an unknown statement number: a few programs change the number to one that the server does
 * not know. Oracle's library also executes a statement that is not prepared, with the same error.
 */
static int
refuse_number(struct cmy_stmt *st)
{
	cmy_error_text(st->pub.mysql, ER_UNKNOWN_STMT_HANDLER, NULL,
		"Unknown prepared statement handler (%lu) given to mysqld_stmt_execute",
		st->pub.stmt_id);
	return fail(st);
}

/* Drop the previous execution's results. They must not change the insert id. */
static void
drop_before(struct cmy_stmt *st)
{
	uint64_t id = st->pub.mysql->insert_id;

	cmy_rows_drop_all(st);
	st->pub.mysql->insert_id = id;
}

int
cmy_mysql_stmt_execute(MYSQL_STMT *stmt)
{
	struct cmy_stmt *st = cmy_stmt(stmt);
	int was_prepared = st->prepared != NULL;
	struct cmy_session *s;

	if (!may_execute(st))
		return 1;
	/* drop the rows of the previous execution; Oracle's library does not drop the results after
	 * these rows */
	if (CMY_ORACLE) {
		cmy_stmt_clear(stmt);
		cmy_rows_drop(st);
		st->reading = CMY_READ_NOTHING;
	} else {
		drop_before(st);
	}
	stmt->result.rows = 0;
	/* sic: for a statement with parameters only the statement gets the error, not the connection */
	if (CMY_ORACLE && stmt->param_count > 0 && cmy_is_busy(stmt->mysql)) {
		cmy_stmt_error(stmt, CR_COMMANDS_OUT_OF_SYNC);
		return 1;
	}
	/* Connector/C clears this when it has built the packet, even if sending fails */
	stmt->send_types_to_server = CMY_ORACLE ? stmt->send_types_to_server : 0;
	s = cmy_enter(stmt->mysql);
	if (!s) {
		cmy_stmt_take_error(stmt);
		return 1;
	}
	/* after a reconnect, the new session does not have the prepared statement */
	if (!stmt->mysql || (was_prepared && !st->prepared))
		return 1;
	if (!st->prepared || stmt->stmt_id != st->id)
		return refuse_number(st);
#if !CMY_ORACLE
	if (stmt->array_size > 0)
		return cmy_bulk_execute(st, s);
#endif
	return run(st, s);
}

/* ---- further results ---- */

int
cmy_execute_next_rows(struct cmy_stmt *st, struct cmy_session *s)
{
	int has_no_cursor = st->has_no_cursor, r;

	st->has_no_cursor = 1;
	r = cmy_rows_begin(st, s) != 0 ? 1 : take_rows(st, s, 1);
	st->has_no_cursor = has_no_cursor;
	return r;
}
