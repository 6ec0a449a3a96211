/* SPDX-License-Identifier: BSD-2-Clause */
#include "stmt.h"

#include "convert.h"

#include <stdlib.h>

/*
 * Reading the result of a statement. Rows are not copied: they stay in libcenote's batches. A
 * MYSQL_ROW_OFFSET is not an address but the number of a row. execute.c begins a result; face.c
 * calls the other functions.
 */

static MYSQL_ROWS *
place(const struct cmy_stmt *st, uint64_t row)
{
	return row < st->n_stored ? (MYSQL_ROWS *)(uintptr_t)(row + 1) : NULL;
}

static uint64_t
row_of(const MYSQL_ROWS *cursor)
{
	return (uint64_t)(uintptr_t)cursor - 1;
}

static struct cmy_session *
session_of(const struct cmy_stmt *st)
{
	return cmy_session(st->pub.mysql);
}

/* ---- the end of a result ---- */

static void
forget_rows(struct cmy_stmt *st)
{
	cenote_result_destroy(st->res);
	st->res = NULL;
	cmy_kept_free(st->kept);
	st->kept = NULL;
	st->reading = CMY_READ_NO_MORE;
	st->pub.CMY_STMT_CURSOR = NULL;
	st->pub.result.data = NULL;
	st->n_stored = st->first_stored = 0;
}

/* All rows were read from the connection: take the status at the result's end. */
static void
end_stream(struct cmy_stmt *st)
{
	cmy_head_over(st->pub.mysql->extension, st->res);
	cenote_result_destroy(st->res);
	st->res = NULL;
	st->reading = CMY_READ_NO_MORE;
}

static int
fail(struct cmy_stmt *st, int status)
{
	struct cmy_session *s = session_of(st);
	cenote_result *res = st->res;
	int is_free = st->reading == CMY_READ_BATCHES;

	st->res = NULL;
	st->reading = CMY_READ_NOTHING;
	if (s && !is_free) {
		(void)cmy_fail_head(s, res, status);
		return 1;
	}
	if (s && status == CENOTE_ERR_SERVER)
		cmy_error_diag(s->my, cenote_result_diag(res));
	else if (s)
		(void)cmy_check(s, status);
	cenote_result_destroy(res);
	return 1;
}

/* sic: if fetching an unbuffered row fails, Connector/C sets only the connection's error. */
static int
fail_fetch(struct cmy_stmt *st, int status)
{
	int is_told = CMY_ORACLE || st->reading == CMY_READ_BATCHES;
	int r = fail(st, status);

	if (is_told)
		cmy_stmt_take_error(&st->pub);
	return r;
}

/* ---- the next row ---- */

static int
next_batch(struct cmy_stmt *st)
{
	struct cmy_session *s = session_of(st);
	int r;

	while ((r = cenote_result_next(st->res)) == CENOTE_AGAIN) {
		if (!s || cmy_wait(s) < 0)
			return CENOTE_ERR_CONN;
	}
	st->next = 0;
	return r;
}

/*
 * The originals fetch a cursor's rows in portions, with one command each. A portion with fewer rows
 * is the last. At the beginning of a portion, set the members that such a command sets. 0, or 1 and
 * the error is set.
 */
static int
begin_portion(struct cmy_stmt *st)
{
	struct cmy_session *s = session_of(st);

	if (st->reading != CMY_READ_BATCHES || st->next % st->portion != 0 || !s)
		return 0;
	if (CMY_ORACLE)
		st->pub.result.rows = 0;
	if (s->state != CMY_IDLE) {
		cmy_stmt_error_both(&st->pub, CR_COMMANDS_OUT_OF_SYNC);
		return 1;
	}
	cmy_begin_command(s->my);
	cmy_take_known_status(s);
	/* such a command clears the previous warnings */
	cmy_stmt_warnings(st, s->my, 0);
	return 0;
}

static int
next_streamed(struct cmy_stmt *st)
{
	const struct cmy_session *s = session_of(st);
	int r;

	if (begin_portion(st) != 0)
		return 1;
	if (st->next < cenote_result_n_rows(st->res)) {
		st->at = st->next++;
		return 0;
	}
	r = st->is_whole ? CENOTE_DONE : next_batch(st);
	if (r < 0)
		return fail_fetch(st, r);
	if (st->reading == CMY_READ_BATCHES && s)
		cmy_stmt_warnings(st, s->my, cenote_result_warnings(st->res));
	if (r == CENOTE_ROW) {
		st->at = st->next++;
		return 0;
	}
	if (st->reading == CMY_READ_STREAM)
		end_stream(st);
	else
		st->reading = CMY_READ_NO_MORE;
	return MYSQL_NO_DATA;
}

static int
next_stored(struct cmy_stmt *st)
{
	if (!st->pub.CMY_STMT_CURSOR)
		return MYSQL_NO_DATA;
	st->at = row_of(st->pub.CMY_STMT_CURSOR);
	st->pub.CMY_STMT_CURSOR = place(st, st->at + 1);
	return 0;
}

static int
next_row(struct cmy_stmt *st)
{
	switch (st->reading) {
	case CMY_READ_STORED:
		return next_stored(st);
	case CMY_READ_STREAM:
	case CMY_READ_BATCHES:
		return next_streamed(st);
	case CMY_READ_NO_MORE:
		return MYSQL_NO_DATA;
	case CMY_READ_LOST:
		cmy_stmt_error(&st->pub, CR_SERVER_LOST);
		return 1;
	case CMY_READ_CANCELLED:
		cmy_stmt_error(
			&st->pub, st->pub.mysql ? CR_FETCH_CANCELED : CR_SERVER_LOST);
		return 1;
	case CMY_READ_FAILED:
		cmy_stmt_error(&st->pub, CR_COMMANDS_OUT_OF_SYNC);
		return 1;
	default:
		cmy_stmt_error(&st->pub,
			CMY_ORACLE ? CR_NO_RESULT_SET : CR_COMMANDS_OUT_OF_SYNC);
		return 1;
	}
}

/* ---- the beginning ---- */

/* Begin a result with a cursor: rows come in batches of the program's size, and between batches the
 * connection is free. */
static int
begin_batches(struct cmy_stmt *st, struct cmy_session *s)
{
	int r = next_batch(st);

	if (r < 0)
		return fail(st, r);
	cmy_head_over(s, st->res);
	st->is_whole = r != CENOTE_ROW;
	st->reading = CMY_READ_BATCHES;
	return 0;
}

static int
buffer(struct cmy_stmt *st, struct cmy_session *s)
{
	int r;

	while ((r = cenote_result_buffer(st->res)) == CENOTE_AGAIN) {
		if (cmy_wait(s) < 0)
			return CENOTE_ERR_CONN;
	}
	return r;
}

/* Begin one of several results: read all of it now, because the program may ask for the status at
 * its end. */
static int
begin_several(struct cmy_stmt *st, struct cmy_session *s)
{
	int r = buffer(st, s);

	if (r < 0)
		return fail(st, r);
	st->is_whole = 1;
	if (!CMY_ORACLE)
		cmy_take_status(s->my, st->res);
	if (cenote_result_flags(st->res) & CENOTE_RESULT_FLAG_OUTPUT)
		s->my->server_status |= SERVER_PS_OUT_PARAMS;
	st->pub.CMY_STMT_STATUS = s->my->server_status;
	return 0;
}

int
cmy_rows_begin(struct cmy_stmt *st, struct cmy_session *s)
{
	st->res = s->head;
	st->is_whole = 0;
	st->next = 0;
	st->at = CMY_NO_ROW;
	st->reading = CMY_READ_STREAM;
	s->head = NULL;
	s->using = st;
	s->state = CMY_USING;
	s->my->status = CMY_STATUS_STMT_ROWS;
	if (st->pub.flags & CURSOR_TYPE_READ_ONLY && !st->has_no_cursor)
		return begin_batches(st, s);
	return st->may_give_several ? begin_several(st, s) : 0;
}

/* Read to the end of the rows without keeping them, to get the status there. A failure sets the
 * connection's error. */
static void
skip_rows(struct cmy_stmt *st)
{
	int r;

	while (st->reading == CMY_READ_STREAM) {
		r = st->is_whole ? CENOTE_DONE : next_batch(st);
		if (r < 0)
			(void)fail(st, r);
		else if (r != CENOTE_ROW)
			end_stream(st);
	}
}

void
cmy_rows_drop(struct cmy_stmt *st)
{
	struct cmy_session *s = session_of(st);

	if (st->reading != CMY_READ_STREAM) {
		forget_rows(st);
		return;
	}
	skip_rows(st);
	if (s && s->using == st)
		s->using = NULL;
	forget_rows(st);
}

void
cmy_rows_flush(struct cmy_session *s)
{
	struct cmy_stmt *st = s->using;

	if (st && st->reading == CMY_READ_STREAM) {
		cmy_rows_drop(st);
		st->reading = CMY_ORACLE ? CMY_READ_CANCELLED : st->reading;
	}
	cmy_result_skip(s);
	if (s->state == CMY_HAS_ROWS)
		cmy_drain(s);
}

void
cmy_rows_cancel(struct cmy_stmt *st)
{
	if (CMY_ORACLE && st->pub.mysql && st->pub.mysql->status != MYSQL_STATUS_READY &&
		st->pub.field_count > 0 && st->pub.state > CMY_STMT_PREPARED)
		cmy_rows_flush(st->pub.mysql->extension);
}

static void
drop_more(struct cmy_stmt *st, struct cmy_session *s)
{
	cmy_drain(s);
	if (CMY_ORACLE)
		cmy_track_forget(s);
	else
		cmy_track_skip(s);
	cmy_forget_query(s->my);
	st->pub.result.rows = 0;
}

void
cmy_rows_drop_all(struct cmy_stmt *st)
{
	struct cmy_session *s = session_of(st);
	int is_mine = s && s->using == st;

	cmy_rows_drop(st);
	if (is_mine && s->state == CMY_MORE)
		drop_more(st, s);
}

/* ---- fetching ---- */

int
cmy_rows_is_end_known(const struct cmy_stmt *st)
{
	return st->pub.result.rows > 0 && st->pub.result.rows < st->portion;
}

/* The number of rows in the portion that contains that row, as the originals fetch portions. */
static uint64_t
rows_fetched_with(const struct cmy_stmt *st, uint64_t row)
{
	uint64_t left = cenote_result_n_rows(st->res) - row / st->portion * st->portion;

	return left < st->portion ? left : st->portion;
}

int
cmy_rows_fetch(struct cmy_stmt *st)
{
	int r = next_row(st);

	if (r == 0)
		r = cmy_bind_row(st);
	if ((r == 0 || r == MYSQL_DATA_TRUNCATED) && st->reading == CMY_READ_BATCHES)
		st->pub.result.rows = rows_fetched_with(st, st->at);
	return r;
}

/* ---- storing ---- */

static void
find_max_length(struct cmy_stmt *st, unsigned column)
{
	MYSQL_FIELD *field = &st->pub.fields[column];
	uint64_t i;

	for (i = st->first_stored; i < st->n_stored; i++) {
		struct cmy_row row = cmy_rows_at(st, i);
		size_t n;

		if (cmy_row_value(&row, column, &n))
			cmy_take_max_length(field, n);
	}
}

static void
take_stored(struct cmy_stmt *st, uint64_t n_rows)
{
	MYSQL_STMT *stmt = &st->pub;
	unsigned i;

	st->reading = CMY_READ_STORED;
	st->n_stored = n_rows;
	/* sic: rows that were fetched before count, too */
	stmt->result.rows += n_rows - st->first_stored;
	stmt->result.data = place(st, st->first_stored);
	stmt->CMY_STMT_CURSOR = stmt->result.data;
	for (i = 0; stmt->update_max_length && i < stmt->field_count; i++)
		find_max_length(st, i);
	/* sic: both originals do this */
	stmt->CMY_STMT_AFFECTED = stmt->mysql->affected_rows = stmt->result.rows;
}

static int
out_of_sync(MYSQL_STMT *stmt)
{
	if (CMY_ORACLE)
		cmy_stmt_error(stmt, CR_COMMANDS_OUT_OF_SYNC);
	else
		cmy_stmt_error_both(stmt, CR_COMMANDS_OUT_OF_SYNC);
	return 1;
}

/* sic: Oracle's library still has the portion that was fetched last. If it was one row,
 * that row is stored, too. */
static void
keep_last(struct cmy_stmt *st)
{
	if (st->pub.result.rows == 0)
		return;
	st->next--;
	st->at = st->at == CMY_NO_ROW ? CMY_NO_ROW : 0;
	if (st->pub.result.rows == 1)
		st->pub.result.rows = 0;
	else
		st->first_stored = 1;
}

/* Copy the rest of a result that was partly read, or that comes in batches. */
static int
keep_rest(struct cmy_stmt *st)
{
	int r;

	if (CMY_ORACLE && st->reading == CMY_READ_BATCHES)
		keep_last(st);
	else
		st->at = CMY_NO_ROW;
	for (;;) {
		for (; st->next < cenote_result_n_rows(st->res); st->next++) {
			if (cmy_kept_add(&st->kept, st->res, st->next) < 0)
				return CENOTE_ERR_NOMEM;
		}
		r = st->is_whole ? CENOTE_DONE : next_batch(st);
		if (r != CENOTE_ROW)
			return r;
	}
}

static int
store(struct cmy_stmt *st, struct cmy_session *s)
{
	int is_stream = st->reading == CMY_READ_STREAM;
	int r = st->next == 0 && st->is_whole ? CENOTE_OK : CENOTE_ERR_STATE;
	int is_rest;

	if (is_stream && r != CENOTE_OK)
		r = buffer(st, s);
	is_rest = r == CENOTE_ERR_STATE;
	if (is_rest)
		r = keep_rest(st);
	if (r < 0) {
		r = fail(st, r);
		cmy_stmt_take_error(&st->pub);
		if (CMY_ORACLE)
			st->reading = CMY_READ_FAILED;
		return r;
	}
	if (is_stream)
		cmy_head_over(s, st->res);
	take_stored(
		st, is_rest ? cmy_kept_rows(st->kept) : cenote_result_n_rows(st->res));
	return 0;
}

/* sic: after the last portion Oracle's library considers the cursor closed, even if some rows were
 * not fetched. */
static int
is_cursor_over(const struct cmy_stmt *st)
{
	return CMY_ORACLE && st->reading == CMY_READ_BATCHES && cmy_rows_is_end_known(st);
}

/* Is there a result that can be stored now? */
static int
may_store(const struct cmy_stmt *st, const struct cmy_session *s)
{
	if (st->reading == CMY_READ_STREAM)
		return 1;
	return st->reading == CMY_READ_BATCHES && s->state == CMY_IDLE &&
	       !is_cursor_over(st);
}

/* The originals ask the server for a cursor's rows again; report the server's error. */
static int
refuse_cursor(struct cmy_stmt *st, struct cmy_session *s)
{
	cmy_begin_command(s->my);
	cmy_error_text(s->my, ER_STMT_HAS_NO_OPEN_CURSOR, NULL,
		"The statement (%lu) has no open cursor", st->pub.stmt_id);
	cmy_stmt_take_error(&st->pub);
	forget_rows(st);
	st->pub.result.rows = 0;
	return 1;
}

int
cmy_mysql_stmt_store_result(MYSQL_STMT *stmt)
{
	struct cmy_stmt *st = cmy_stmt(stmt);
	struct cmy_session *s = cmy_session(cmy_stmt_connection(stmt));

	if (!s)
		return 1;
	if (stmt->field_count == 0)
		return 0;
	if (!CMY_ORACLE && stmt->last_errno != 0)
		return 1;
	if (stmt->state < CMY_STMT_EXECUTED)
		return out_of_sync(stmt);
	if (stmt->last_errno != 0)
		return 1;
	if (!may_store(st, s) && st->had_cursor && s->state == CMY_IDLE &&
		!is_cursor_over(st))
		return refuse_cursor(st, s);
	if (!may_store(st, s))
		return out_of_sync(stmt);
	if (st->reading == CMY_READ_BATCHES)
		cmy_begin_command(s->my);
	if (store(st, s) != 0)
		return 1;
#if !CMY_ORACLE
	stmt->state = stmt->result.rows > 0 ? MYSQL_STMT_USE_OR_STORE_CALLED
					    : MYSQL_STMT_FETCH_DONE;
#endif
	return 0;
}

/* ---- positions ---- */

void
cmy_mysql_stmt_data_seek(MYSQL_STMT *stmt, uint64_t offset)
{
	struct cmy_stmt *st = cmy_stmt(stmt);

	stmt->CMY_STMT_CURSOR = place(st, st->first_stored + offset);
#if CMY_ORACLE
	if (stmt->CMY_STMT_CURSOR) {
		stmt->state = MYSQL_STMT_EXECUTE_DONE;
		st->reading = CMY_READ_STORED; /* also after mysql_stmt_reset() */
	}
#else
	stmt->state = MYSQL_STMT_USER_FETCHING;
#endif
}

MYSQL_ROW_OFFSET
cmy_mysql_stmt_row_tell(MYSQL_STMT *stmt)
{
	return stmt->CMY_STMT_CURSOR;
}

MYSQL_ROW_OFFSET
cmy_mysql_stmt_row_seek(MYSQL_STMT *stmt, MYSQL_ROW_OFFSET offset)
{
	MYSQL_ROW_OFFSET before = stmt->CMY_STMT_CURSOR;

	stmt->CMY_STMT_CURSOR = offset;
	return before;
}
