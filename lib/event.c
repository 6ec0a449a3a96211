/* SPDX-License-Identifier: BSD-2-Clause */
#include "cache.h"

#include <string.h>

/*
 * The handlers for the messages of the pool. io.c calls cn_event(), and attach.c calls this file for
 * messages that come while attaching. The handlers build results in the requests of conn->pipeline.
 *
 * A handler that runs out of memory has changed nothing. io.c keeps the event, and the
 * next call handles it again.
 */

/* Does a streamed result of the request wait for the program? An error does not count: its effect
 * on the transaction comes right after it, and the program gets both together. */
static int
has_untaken_stream(const struct cn_request *req)
{
	return req && req->is_stream && req->first && !req->is_hidden &&
	       !req->is_abandoned && req->first->kind != CENOTE_RESULT_ERROR;
}

/* Have rows or data come that the program has not asked for yet? */
static int
has_unread(cenote_result *res)
{
	if (cn_is_copy(res))
		return res->piece_at < res->n_pieces;
	return res && res->stream == CN_STREAM_RUNNING && res->batch_rows == 0 &&
	       !res->is_buffering && cn_result_incoming(res)->n_rows > 0;
}

/* Does the program want more rows of a portal? They come after all other outstanding answers. */
static int
is_fetching(const cenote_conn *conn)
{
	for (const cenote_result *res = conn->streams; res; res = res->next) {
		if (res->stream == CN_STREAM_FETCHING)
			return 1;
	}
	return 0;
}

int
cn_waits_for_program(const cenote_conn *conn)
{
	const struct cn_request *running = cn_request_running(&conn->pipeline);
	const struct cn_request *before =
		conn->pipeline.n_finished > 0
			? cn_request_at(&conn->pipeline, conn->pipeline.n_finished - 1)
			: NULL;

	if (!has_untaken_stream(before) && !has_untaken_stream(running) &&
		!(running && has_unread(running->building)))
		return 0;
	return !is_fetching(conn);
}

static void
add_ready(struct cn_request *req, cenote_result *res)
{
	res->next = NULL;
	if (req->last)
		req->last->next = res;
	else
		req->first = res;
	req->last = res;
}

static int
is_description(const struct cn_request *req)
{
	return req->code == CNP_MSG_PREPARE || req->code == CNP_MSG_DESCRIBE;
}

/* A result with rows begins. The program gets a streamed result at once. */
static int
begin_rows(cenote_conn *conn, struct cn_request *req, struct cn_columns *columns)
{
	cenote_result *res;
	int r;

	r = cn_result_create(&conn->mem, CENOTE_RESULT_ROWS, columns, &res);
	if (r < 0)
		return r;
	req->building = res;
	cn_keep_begin(req, columns);
	if (req->is_stream) {
		res->stream = CN_STREAM_RUNNING;
		res->request = req->number;
		res->batch_rows = req->batch_rows;
		res->effect = req->effect;
		add_ready(req, res);
	}
	return CENOTE_OK;
}

/* Set the columns of a fetched result, which does not have them after a resume. If it has columns,
 * the program may have counted them: then their number must not change. */
static int
set_columns(cenote_result *res, struct cn_columns *columns)
{
	if (res->columns && res->columns->n != columns->n)
		return CENOTE_ERR_PROTOCOL;
	cn_columns_unref(res->columns);
	res->columns = cn_columns_ref(columns);
	for (int i = 0; i < 2; i++) {
		cnc_rowset_clear(&res->rows[i]);
		res->rows[i].n_columns = columns->n;
	}
	return CENOTE_OK;
}

static int
begin_description(cenote_conn *conn, struct cn_request *req)
{
	if (req->building || req->is_hidden)
		return CENOTE_OK;
	return cn_result_create(
		&conn->mem, CENOTE_RESULT_DESCRIPTION, NULL, &req->building);
}

static int
on_description_columns(
	cenote_conn *conn, struct cn_request *req, struct cn_columns *columns)
{
	int r = begin_description(conn, req);

	if (r < 0)
		return r;
	if (req->building)
		r = set_columns(req->building, columns);
	if (r == CENOTE_OK && req->stmt)
		cn_stmt_described(req->stmt, columns, CENOTE_FORMAT_TEXT);
	return r;
}

static int
on_columns(cenote_conn *conn, struct cn_request *req, const struct cnp_event *ev)
{
	struct cn_columns *columns;
	int r;

	if (req->is_dropping || (req->is_hidden && !req->target && !req->stmt))
		return CENOTE_OK;
	r = cn_columns_create(&conn->mem, ev->payload, ev->payload_len, &columns);
	if (r < 0)
		return r;
	if (is_description(req))
		r = on_description_columns(conn, req, columns);
	else if (req->target)
		r = set_columns(req->target, columns);
	else
		r = begin_rows(conn, req, columns);
	if (r == CENOTE_OK && req->stmt && req->code == CNP_MSG_EXECUTE)
		cn_stmt_described(req->stmt, columns, req->format);
	cn_columns_unref(columns);
	return r;
}

static int
on_rows(cenote_conn *conn, struct cn_request *req, const struct cnp_event *ev)
{
	cenote_result *res;
	int r;

	if (req->is_dropping || (req->is_hidden && !req->target))
		return CENOTE_OK;
	if (!req->building && !req->target) {
		/* No COLUMNS came, so the request must have told the server that we have the columns. */
		if (!req->columns)
			return CENOTE_ERR_PROTOCOL;
		r = begin_rows(conn, req, req->columns);
		if (r < 0)
			return r;
	}
	res = req->target ? req->target : req->building;
	if (!res->columns)
		return CENOTE_ERR_PROTOCOL;
	r = cnc_rowset_add(
		cn_result_incoming(res), ev->payload, ev->payload_len, ev->block);
	if (r == CENOTE_OK)
		cn_keep_rows(req, ev->payload, ev->payload_len);
	return r;
}

/* Why the program will not send the data: it gave up the request, or does not open files for the
 * server. NULL: it will send the data. */
static const char *
why_no_copy(const cenote_conn *conn, const struct cn_request *req,
	const struct cnp_copy_in *m)
{
	if (req->is_hidden)
		return "the program does not take the result";
	if (m->name.n > 0 && !conn->options.number[CN_OPTION_ALLOW_FILES])
		return "the program does not let the server ask for files "
		       "(allow_files=yes would)";
	return NULL;
}

static int
begin_copy(cenote_conn *conn, struct cn_request *req, uint8_t kind,
	const struct cnp_copy_out *m, const struct cnp_str *file)
{
	cenote_result *res;
	int r;

	r = cn_result_create(&conn->mem, kind, NULL, &res);
	if (r < 0)
		return r;
	r = cn_copy_begin(res, m->format, &m->formats, file);
	if (r < 0) {
		cn_result_free(res);
		return r;
	}
	res->request = req->number;
	req->building = res;
	add_ready(req, res);
	return CENOTE_OK;
}

static int
on_copy_in(cenote_conn *conn, struct cn_request *req, const struct cnp_event *ev)
{
	const struct cnp_copy_in *m = &ev->msg.as.copy_in;
	const struct cnp_copy_out how = { .format = m->format, .formats = m->formats };
	const char *why = why_no_copy(conn, req, m);

	if (req->target || req->is_dropping)
		return CENOTE_ERR_PROTOCOL;
	if (!why)
		return begin_copy(conn, req, CENOTE_RESULT_COPY_IN, &how, &m->name);
	cn_copy_give_up(conn, why);
	return CENOTE_OK;
}

static int
on_copy_out(cenote_conn *conn, struct cn_request *req, const struct cnp_event *ev)
{
	if (req->target || req->is_dropping)
		return CENOTE_ERR_PROTOCOL;
	if (req->is_hidden)
		return CENOTE_OK;
	return begin_copy(conn, req, CENOTE_RESULT_COPY_OUT, &ev->msg.as.copy_out, NULL);
}

static int
on_copy_data(cenote_conn *conn, struct cn_request *req, const struct cnp_event *ev)
{
	(void)conn;
	return req->building ? cn_copy_add(req->building, ev) : CENOTE_OK;
}

static int
on_copy_done(cenote_conn *conn, struct cn_request *req, const struct cnp_event *ev)
{
	(void)conn;
	(void)ev;
	if (req->building)
		req->building->stream = CN_STREAM_COPIED;
	return CENOTE_OK;
}

/* The statement of a copy was answered. The answer is a separate result. */
static void
end_copy(struct cn_request *req)
{
	if (!cn_is_copy(req->building))
		return;
	req->building->stream = CN_STREAM_DONE;
	req->building = NULL;
}

static int
close_portal(cenote_conn *conn, uint32_t portal)
{
	struct cnp_msg m = { .code = CNP_MSG_CLOSE_PORTAL };

	m.as.close_portal.portal = portal;
	return cn_setup(conn, &m);
}

/* A result has ended: fill in the values of DONE. */
static int
fill_done(cenote_conn *conn, cenote_result *res, const struct cnp_done *done,
	uint32_t portal)
{
	int r = cn_result_set_tag(res, &done->tag);

	if (r < 0)
		return r;
	res->affected = done->affected;
	res->last_insert_id = done->last_insert_id;
	res->warnings = done->warnings;
	res->server_status = done->server_status;
	res->flags =
		(uint8_t)((done->flags & CNP_DONE_LIMITED ? CENOTE_RESULT_FLAG_LIMITED
							  : 0) |
			  (done->flags & CNP_DONE_EMPTY ? CENOTE_RESULT_FLAG_EMPTY : 0) |
			  (done->flags & CNP_DONE_OUTPUT ? CENOTE_RESULT_FLAG_OUTPUT
							 : 0));
	res->has_more = (done->flags & CNP_DONE_MORE_RESULTS) != 0;
	if (res->stream == CN_STREAM_NO)
		return CENOTE_OK;
	if (done->flags & CNP_DONE_MORE_ROWS) {
		res->stream = CN_STREAM_PORTAL;
		res->portal = portal;
		res->epoch = conn->reattach.epoch;
	} else {
		res->stream = CN_STREAM_DONE;
	}
	return CENOTE_OK;
}

static void
statement_done(struct cn_request *req)
{
	if (req->code == CNP_MSG_PREPARE && req->stmt) {
		req->stmt->is_prepared = 1;
		req->stmt->is_queued = 0;
	}
}

/* A result begins without COLUMNS: it is a command, or its columns are known and it has no rows. */
static int
begin_bare(cenote_conn *conn, struct cn_request *req)
{
	if (is_description(req))
		return begin_description(conn, req);
	if (req->columns)
		return begin_rows(conn, req, req->columns);
	return cn_result_create(&conn->mem, CENOTE_RESULT_COMMAND, NULL, &req->building);
}

static int
finish_dropped(cenote_conn *conn, struct cn_request *req, const struct cnp_done *done)
{
	int r = CENOTE_OK;

	/* The program will not fetch from the portal, and an open portal would pin the session. */
	if (done->flags & CNP_DONE_MORE_ROWS)
		r = close_portal(conn, req->portal);
	if (r == CENOTE_OK)
		req->is_dropping = 0;
	return r;
}

/*
 * Forget the columns of a statement: only those of a statement with exactly one result may be kept.
 * With several results, a command's DONE would be taken for a result without rows.
 */
static void
forget_columns(struct cn_request *req)
{
	cn_columns_unref(req->columns);
	req->columns = NULL;
	if (req->stmt && req->code == CNP_MSG_EXECUTE)
		req->stmt->columns_epoch = 0;
}

static int
finish_result(cenote_conn *conn, struct cn_request *req, const struct cnp_done *done)
{
	cenote_result *res;
	int r;

	end_copy(req);
	if (!req->building) {
		r = begin_bare(conn, req);
		if (r < 0)
			return r;
	}
	res = req->building;
	if (res->kind == CENOTE_RESULT_COMMAND)
		forget_columns(req);
	r = fill_done(conn, res, done, req->portal);
	if (r < 0)
		return r;
	/* The program already has a streamed result with rows, since its beginning. */
	if (res->stream == CN_STREAM_NO) {
		if (req->is_stream)
			res->stream = CN_STREAM_DONE;
		add_ready(req, res);
	}
	cn_keep_end(req, res);
	req->building = NULL;
	return CENOTE_OK;
}

/*
 * A FETCH has ended. The statements that follow the fetched one run in the same request. The
 * program gets their results as results of the request that opened the portal.
 */
static int
finish_fetch(cenote_conn *conn, struct cn_request *req, const struct cnp_done *done)
{
	cenote_result *res = req->target;
	int r = fill_done(conn, res, done, req->portal);

	if (r < 0 || !res->has_more)
		return r;
	req->target = NULL;
	req->is_hidden = 0;
	req->is_stream = 1;
	req->batch_rows = res->batch_rows;
	cn_request_superseded(conn, req->portal);
	return CENOTE_OK;
}

/* After a reset, the session has no carry and no statements. Set its options again. */
static int
session_is_fresh(cenote_conn *conn)
{
	struct cnc_diag gone;
	int r = cn_session_options_restore(conn);

	if (r < 0)
		return r;
	cnc_diag_init(&gone, NULL);
	cnc_diag_set(&gone, CNC_SQLSTATE(NO_CURSOR), "the session was reset");
	cn_streams_fail(conn, CENOTE_ERR_SERVER, &gone);
	cn_named_clear(conn);
	conn->reattach.carry_len = 0;
	conn->reattach.is_autocommit_off = 0;
	conn->reattach.epoch++;
	return CENOTE_OK;
}

static int
on_done(cenote_conn *conn, struct cn_request *req, const struct cnp_event *ev)
{
	const struct cnp_done *done = &ev->msg.as.done;
	int r;

	if (req->is_dropping || req->is_hidden)
		cn_keep_drop(req);
	if (req->is_dropping)
		r = finish_dropped(conn, req, done);
	else if (req->target)
		r = finish_fetch(conn, req, done);
	else if (req->is_hidden)
		r = CENOTE_OK;
	else
		r = finish_result(conn, req, done);
	if (r < 0)
		return r;
	/* Do this even if the program does not take this result. */
	if (done->flags & CNP_DONE_MORE_RESULTS)
		forget_columns(req);
	statement_done(req);
	cn_named_done(conn, req, &done->tag);
	if (req->code == CNP_MSG_RESET || req->code == CNP_MSG_CHANGE_USER)
		r = session_is_fresh(conn);
	/* The history has each CHANGE_USER, so it goes on after that. */
	if (req->code == CNP_MSG_RESET)
		cn_cache_session_begins(conn, 1);
	if (req->code == CNP_MSG_AUTOCOMMIT)
		conn->reattach.is_autocommit_off = !req->wants_autocommit;
	return r;
}

static int
add_plain(cenote_conn *conn, struct cn_request *req, uint8_t kind,
	const struct cnc_diag *diag)
{
	cenote_result *res;
	int r;

	r = cn_result_create(&conn->mem, kind, NULL, &res);
	if (r < 0)
		return r;
	if (diag) {
		r = cn_result_set_diag(res, diag);
		if (r < 0) {
			cn_result_free(res);
			return r;
		}
	}
	if (req->is_stream)
		res->stream = CN_STREAM_DONE;
	add_ready(req, res);
	return CENOTE_OK;
}

static void
statement_failed(struct cn_request *req)
{
	if (req->code == CNP_MSG_PREPARE && req->stmt) {
		/* The next use prepares the statement again, and reports the error. */
		req->stmt->is_queued = 0;
		req->stmt->is_prepared = 0;
		req->stmt->epoch = 0;
	}
}

/* Did the request fail because a hidden request failed before? Then the hidden request's error is
 * the reason. */
static int
is_consequence(const cenote_conn *conn, const char *sqlstate)
{
	return conn->loss.has_setup_error &&
	       (!sqlstate || strcmp(sqlstate, CNC_SQLSTATE(NO_STATEMENT)) == 0 ||
		       strcmp(sqlstate, CNC_SQLSTATE(TX_FAILED)) == 0);
}

static int
fail_request(cenote_conn *conn, struct cn_request *req, const struct cnc_diag *diag)
{
	int follows = is_consequence(conn, diag->sqlstate);
	cenote_result *res;

	end_copy(req);
	res = req->target ? req->target : req->building;
	/* The program did not see that PREPARE failed, so "no such statement" would not help it. */
	if (follows) {
		diag = &conn->loss.setup.d;
		if (req->stmt)
			req->stmt->epoch = 0;
	}
	if (res && res->stream != CN_STREAM_NO) {
		cn_result_fail(res, cn_status_of(diag), diag);
		req->building = NULL;
		req->target = NULL;
	} else if (req->is_hidden) {
		cnc_diag_copy(&conn->loss.setup.d, diag);
		conn->loss.has_setup_error = 1;
		if (req->code == CNP_MSG_SYNC)
			conn->pipeline.has_sync_error = 1;
	} else {
		int r = add_plain(conn, req, CENOTE_RESULT_ERROR, diag);

		if (r < 0)
			return r;
		cn_result_free(req->building);
		req->building = NULL;
		/* as in on_skipped() */
		conn->loss.has_setup_error = conn->loss.has_setup_error && !follows;
	}
	statement_failed(req);
	cn_named_failed(conn, req);
	cn_cache_failed(conn, req);
	return CENOTE_OK;
}

static int
on_error(cenote_conn *conn, struct cn_request *req, const struct cnp_event *ev)
{
	const struct cnp_str *fields = &ev->msg.as.error.fields;
	struct cnc_diag diag;
	int r;

	cnc_diag_init(&diag, &conn->mem);
	r = cnc_diag_set_fields(&diag, (const uint8_t *)fields->p, fields->n);
	if (r == CENOTE_OK && !req) {
		/* The error of a set-up request, or the reason why the session ends. */
		cnc_diag_copy(&conn->loss.setup.d, &diag);
		conn->loss.has_setup_error = 1;
		cn_named_failed(conn, NULL);
	} else if (r == CENOTE_OK) {
		r = fail_request(conn, req, &diag);
		/* The server ended its session, so ours ends with this request. */
		if (r == CENOTE_OK && cn_status_of(&diag) == CENOTE_ERR_CONN) {
			cnc_diag_copy(&conn->loss.setup.d, &diag);
			conn->loss.is_refused = 1;
		}
	}
	cnc_diag_finish(&diag);
	return r;
}

static int
on_skipped(cenote_conn *conn, struct cn_request *req, const struct cnp_event *ev)
{
	int r = CENOTE_OK;

	(void)ev;
	if (req->target) {
		struct cnc_diag diag;

		cnc_diag_init(&diag, NULL);
		cnc_diag_set(&diag, CNC_SQLSTATE(SEQUENCE),
			"skipped: an earlier request of the pipeline failed");
		cn_result_fail(req->target, CENOTE_ERR_SERVER, &diag);
		req->target = NULL;
	} else if (!req->is_hidden && is_consequence(conn, NULL)) {
		r = add_plain(conn, req, CENOTE_RESULT_ERROR, &conn->loss.setup.d);
		/* Report the error once. The requests that follow are skipped because of this one. */
		if (r == CENOTE_OK)
			conn->loss.has_setup_error = 0;
	} else if (!req->is_hidden) {
		r = add_plain(conn, req, CENOTE_RESULT_SKIPPED, NULL);
	}
	if (r < 0)
		return r;
	statement_failed(req);
	cn_named_failed(conn, req);
	cn_cache_failed(conn, req);
	return CENOTE_OK;
}

static int
on_params(cenote_conn *conn, struct cn_request *req, const struct cnp_event *ev)
{
	int r = CENOTE_OK;

	if (req->stmt)
		r = cn_stmt_params(req->stmt, ev->payload, ev->payload_len);
	if (r == CENOTE_OK)
		r = begin_description(conn, req);
	if (r == CENOTE_OK && req->building)
		r = cn_params_decode(&conn->mem, ev->payload, ev->payload_len,
			&req->building->params_arena, &req->building->params,
			&req->building->n_params);
	return r;
}

static int
keep_carry(cenote_conn *conn, const struct cnp_str *carry)
{
	char *copy;

	if (carry->n == 0)
		return CENOTE_OK;
	copy = cnc_realloc(&conn->mem, conn->reattach.carry, carry->n);
	if (!copy)
		return CENOTE_ERR_NOMEM;
	memcpy(copy, carry->p, carry->n);
	conn->reattach.carry = copy;
	conn->reattach.carry_len = carry->n;
	return CENOTE_OK;
}

static int
add_sync(cenote_conn *conn, struct cn_request *req, uint8_t tx)
{
	int r = add_plain(conn, req, CENOTE_RESULT_SYNC, NULL);

	if (r == CENOTE_OK)
		req->last->tx = tx;
	return r;
}

static int
on_ready(cenote_conn *conn, struct cn_request *req, const struct cnp_event *ev)
{
	const struct cnp_ready *ready = &ev->msg.as.ready;
	int r;

	r = keep_carry(conn, &ready->carry);
	if (req && req->code == CNP_MSG_SYNC && req->is_hidden)
		conn->pipeline.is_syncing = 0;
	if (r == CENOTE_OK && req && req->code == CNP_MSG_SYNC && !req->is_hidden)
		r = add_sync(conn, req, ready->tx);
	if (r < 0)
		return r;
	conn->tx = ready->tx;
	conn->pins = ready->pins;
	/* Errors after a synchronisation point cannot be consequences of earlier ones. */
	conn->loss.has_setup_error = 0;
	return CENOTE_OK;
}

static int
on_notice(cenote_conn *conn, struct cn_request *req, const struct cnp_event *ev)
{
	const struct cnp_str *fields = &ev->msg.as.notice.fields;
	cenote_diag notice;
	int r;

	conn->handlers.n_unasked += req == NULL;
	if (!conn->handlers.notice)
		return CENOTE_OK;
	cnc_diag_init(&notice.d, &conn->mem);
	r = cnc_diag_set_fields(&notice.d, (const uint8_t *)fields->p, fields->n);
	if (r == CENOTE_OK)
		conn->handlers.notice(&notice, conn->handlers.notice_user);
	cnc_diag_finish(&notice.d);
	return r;
}

/* The pool says how far its server is with what the program has written. The next attach brings that to another server. */
static int
keep_position(cenote_conn *conn, const char *value)
{
	int r = cn_pairs_set(&conn->mem, &conn->reattach.options, CNP_POSITION, value,
		CN_SESSION_OPTIONS_MAX + CNP_POSITION_MAX);

	return r == CENOTE_ERR_LIMIT ? CENOTE_ERR_PROTOCOL : r < 0 ? r : CENOTE_OK;
}

static int
on_parameter(cenote_conn *conn, struct cn_request *req, const struct cnp_event *ev)
{
	const struct cnp_parameter *p = &ev->msg.as.parameter;

	(void)req;
	if (strcmp(p->name.p, CNP_POSITION) == 0)
		return keep_position(conn, p->value.p);
	conn->handlers.n_unasked++;
	return cn_info_parameter(conn, p);
}

static int
on_notification(cenote_conn *conn, struct cn_request *req, const struct cnp_event *ev)
{
	const struct cnp_notification *n = &ev->msg.as.notification;

	(void)req;
	conn->handlers.n_unasked++;
	if (conn->handlers.notification)
		conn->handlers.notification(n->pid, n->channel.p, n->payload.p,
			conn->handlers.notification_user);
	return CENOTE_OK;
}

static int
may_reattach(const cenote_conn *conn, uint8_t reason)
{
	uint64_t when = conn->options.number[CN_OPTION_REATTACH];

	return when == CN_REATTACH_YES ||
	       (when == CN_REATTACH_PLANNED && reason != CNP_YIELD_LOST);
}

static void
say_yielded(cenote_conn *conn, const struct cnp_yield *y)
{
	struct cnc_diag *d = &conn->diag.d;
	const uint8_t *words = (const uint8_t *)y->words.p;

	if (y->words.n > 0 && cnc_diag_set_fields(d, words, y->words.n) == CENOTE_OK)
		return;
	cnc_diag_set(d, CNC_SQLSTATE(CONNECTION_LOST),
		y->reason == CNP_YIELD_LOST
			? "the server ended the session"
			: "the pool took the session back, and reattach=no");
}

static int
on_yield(cenote_conn *conn, struct cn_request *req, const struct cnp_event *ev)
{
	const struct cnp_yield *y = &ev->msg.as.yield;
	int r = keep_carry(conn, &y->carry);

	(void)req;
	if (r < 0)
		return r;
	if (!may_reattach(conn, y->reason)) {
		say_yielded(conn, y);
		/* The next call reports the loss: earlier answers are valid. */
		(void)cn_session_failed(conn, CENOTE_ERR_CONN);
		return CENOTE_OK;
	}
	/* Wait before the next try if the last try got a session that answered nothing. But if other
	 * clients wait for sessions, the pool itself makes this client wait. */
	conn->reattach.is_fruitless =
		!conn->reattach.has_served && conn->attach.is_again &&
		y->reason != CNP_YIELD_CONTENDED && y->reason != CNP_YIELD_STAY &&
		y->reason != CNP_YIELD_LEND;
	if (y->reason == CNP_YIELD_LEND) {
		r = cn_borrow_begin(conn);
		if (r < 0)
			return r;
	}
	cn_session_over(conn);
	return CENOTE_OK;
}

static int
on_suspended(cenote_conn *conn, struct cn_request *req, const struct cnp_event *ev)
{
	const struct cnp_suspended *s = &ev->msg.as.suspended;

	(void)req;
	conn->suspend.token.session = s->session;
	conn->suspend.token.key = s->key;
	conn->suspend.is_done = 1;
	return CENOTE_OK;
}

struct handler {
	int (*handle)(
		cenote_conn *conn, struct cn_request *req, const struct cnp_event *ev);
	int needs_request;
};

static const struct handler handlers[] = {
	[CNP_MSG_READY] = { on_ready, 0 },
	[CNP_MSG_COLUMNS] = { on_columns, 1 },
	[CNP_MSG_ROWS] = { on_rows, 1 },
	[CNP_MSG_DONE] = { on_done, 1 },
	[CNP_MSG_ERROR] = { on_error, 0 },
	[CNP_MSG_NOTICE] = { on_notice, 0 },
	[CNP_MSG_SKIPPED] = { on_skipped, 1 },
	[CNP_MSG_PARAMS] = { on_params, 1 },
	[CNP_MSG_NOTIFICATION] = { on_notification, 0 },
	[CNP_MSG_COPY_IN] = { on_copy_in, 1 },
	[CNP_MSG_COPY_OUT] = { on_copy_out, 1 },
	[CNP_MSG_COPY_DATA] = { on_copy_data, 1 },
	[CNP_MSG_COPY_DONE] = { on_copy_done, 1 },
	[CNP_MSG_PARAMETER] = { on_parameter, 0 },
	[CNP_MSG_SUSPENDED] = { on_suspended, 1 },
	[CNP_MSG_YIELD] = { on_yield, 0 },
};

int
cn_event(cenote_conn *conn, const struct cnp_event *event)
{
	uint8_t code = event->msg.code;
	const struct handler *h =
		code < sizeof(handlers) / sizeof(handlers[0]) ? &handlers[code] : NULL;
	int is_of_request = event->request != 0 || event->request_code == CNP_MSG_STATUS;
	struct cn_request *req =
		is_of_request ? cn_request_running(&conn->pipeline) : NULL;
	/* The handler may end the session, and then the event is no longer valid. */
	int is_answered = event->is_answered;
	int is_last = event->is_last;
	int r;

	if (!h || !h->handle || (h->needs_request && !req) ||
		(req && req->number != event->request))
		return CENOTE_ERR_PROTOCOL;
	r = h->handle(conn, req, event);
	if (r < 0 || !req)
		return r;
	if (is_answered)
		req->is_answered = 1;
	if (!is_last)
		return r;
	cn_request_finished(conn, req);
	if (conn->loss.is_refused) {
		/* The server's own message is the reason. All other requests are lost. */
		conn->loss.is_refused = 0;
		cnc_diag_copy(&conn->diag.d, &conn->loss.setup.d);
		(void)cn_session_failed(conn, CENOTE_ERR_CONN);
	}
	return CENOTE_OK;
}
