/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

/* Pipeline mode: requests are queued and their results come in order. */

PGpipelineStatus
cpq_PQpipelineStatus(const PGconn *conn)
{
	return conn != NULL ? conn->pipeline : PQ_PIPELINE_OFF;
}

int
cpq_PQenterPipelineMode(PGconn *conn)
{
	int r;

	if (conn == NULL)
		return 0;
	if (conn->pipeline != PQ_PIPELINE_OFF)
		return 1;
	if (conn->async != CPQ_IDLE) {
		cpq_say(conn, "cannot enter pipeline mode, connection not idle");
		return 0;
	}
	r = conn->status == CONNECTION_OK ? cenote_pipeline_begin(conn->session)
					  : CENOTE_OK;
	if (r < 0) {
		cpq_say_failure(conn, r);
		return 0;
	}
	conn->pipeline = PQ_PIPELINE_ON;
	return 1;
}

/* ---- what is not asked for ---- */

/*
 * PostgreSQL keeps its answers until the client synchronises or asks for them, or until it has something that
 * it does not keep: an error, a notice, or that it waits for a copy. The pool answers at once, so the answers
 * are kept here.
 */

void
cpq_pipeline_ask(PGconn *conn)
{
	for (struct cpq_request *req = conn->first; req != NULL; req = req->next)
		req->is_asked_for = 1;
}

static void
ask_up_to(PGconn *conn, const struct cpq_request *last)
{
	struct cpq_request *req = conn->first;

	for (; req != last; req = req->next)
		req->is_asked_for = 1;
	req->is_asked_for = 1;
}

void
cpq_pipeline_ask_before(PGconn *conn, const struct cpq_request *req)
{
	struct cpq_request *before = conn->first;

	for (; before != req; before = before->next)
		before->is_asked_for = 1;
}

struct cpq_request *
cpq_pipeline_current(const PGconn *conn)
{
	struct cpq_request *req = conn->pipeline != PQ_PIPELINE_OFF ? conn->first : NULL;
	/* it is less than none owed when some of the list are over in libcenote, but not for the program */
	int n_before = (int)cenote_n_answered(conn->session) - conn->n_owed;

	for (; req != NULL && n_before > 0; n_before--)
		req = req->next;
	return req;
}

/* One that is kept must not stand in the way of the next. */
static int
read_to_end(struct cpq_request *req)
{
	int r = CENOTE_OK;

	if (req->is_stream && cenote_result_kind(req->held) == CENOTE_RESULT_ROWS)
		r = cenote_result_buffer(req->held);
	if (r == CENOTE_OK)
		req->is_stream = 0;
	return r;
}

/* In a pipeline a request has one result: of several the first, but for an error behind it. */
static void
take_more(struct cpq_request *req, cenote_result *more)
{
	cenote_result *less = more;

	if (cenote_result_kind(more) == CENOTE_RESULT_ERROR) {
		less = req->held;
		req->held = more;
	}
	cenote_result_destroy(less);
}

/* What comes behind the one result that each request of a pipeline has. */
static int
take_end(PGconn *conn, struct cpq_request *req)
{
	cenote_result *more;
	int r;

	while ((r = cenote_get_result(conn->session, &more)) == CENOTE_OK && req->is_many)
		take_more(req, more);
	if (r == CENOTE_DONE) {
		req->is_ended = 1;
		conn->n_owed--;
		return CENOTE_OK;
	}
	if (r == CENOTE_OK) {
		cenote_result_destroy(more);
		r = CENOTE_ERR_PROTOCOL;
	}
	return r;
}

/* Take what has come for one request: CENOTE_OK when that is all, and kept; CENOTE_AGAIN; else the
 * program is told of it. */
static int
look_ahead(PGconn *conn, struct cpq_request *req)
{
	int kind;
	int r = CENOTE_OK;

	if (req->held == NULL)
		r = cenote_get_result(conn->session, &req->held);
	if (r == CENOTE_OK)
		r = read_to_end(req);
	if (r != CENOTE_OK)
		return r;
	kind = cenote_result_kind(req->held);
	if (kind == CENOTE_RESULT_ERROR || kind == CENOTE_RESULT_COPY_IN)
		return CENOTE_ERR_SERVER;
	r = take_end(conn, req);
	if (r == CENOTE_OK && cenote_result_kind(req->held) == CENOTE_RESULT_ERROR)
		r = CENOTE_ERR_SERVER;
	return r;
}

static void
look_ahead_of_all(PGconn *conn)
{
	struct cpq_request *req = conn->first;
	int r = CENOTE_OK;

	while (r == CENOTE_OK && req != NULL) {
		if (!req->is_ended)
			r = look_ahead(conn, req);
		if (r < 0)
			ask_up_to(conn, req);
		req = req->next;
	}
}

int
cpq_pipeline_get(PGconn *conn, cenote_result **ret_res)
{
	struct cpq_request *req = conn->first;
	int r;

	if (req == NULL)
		return cenote_get_result(conn->session, ret_res);
	if (!req->is_asked_for)
		look_ahead_of_all(conn);
	if (!req->is_asked_for)
		return CENOTE_AGAIN;
	if (req->is_many && !req->is_ended && conn->pipeline != PQ_PIPELINE_OFF) {
		r = look_ahead(conn, req);
		if (r == CENOTE_AGAIN || req->held == NULL)
			return r;
	}
	if (req->held == NULL && req->is_ended)
		return CENOTE_DONE;
	if (req->held == NULL)
		return cenote_get_result(conn->session, ret_res);
	*ret_res = req->held;
	req->held = NULL;
	return CENOTE_OK;
}

/* ---- in and out ---- */

/* Behind a failure nothing is carried out before a synchronisation point: there, and only there, one is
 * sent that the program did not ask for. */
static int
end_pipeline(PGconn *conn)
{
	return conn->pipeline == PQ_PIPELINE_ABORTED
		       ? cenote_pipeline_end(conn->session)
		       : cenote_pipeline_leave(conn->session);
}

static int
leave(PGconn *conn)
{
	int r;

	while ((r = cpq_take_owed(conn)) == CENOTE_AGAIN ||
		(r == CENOTE_OK && (r = end_pipeline(conn)) == CENOTE_AGAIN)) {
		if (cpq_wait(conn, 0) < 0)
			break;
	}
	if (r < 0) {
		cpq_say_failure(conn, r);
		if (cenote_status_is_fatal(r))
			return 0;
	}
	return 1;
}

int
cpq_PQexitPipelineMode(PGconn *conn)
{
	if (conn == NULL)
		return 0;
	if (conn->pipeline == PQ_PIPELINE_OFF && conn->first == NULL &&
		(conn->async == CPQ_IDLE || conn->async == CPQ_BETWEEN))
		return 1;
	if (conn->async == CPQ_BUSY) {
		cpq_say(conn, "cannot exit pipeline mode while busy");
		return 0;
	}
	if (conn->async == CPQ_COPY_IN || conn->async == CPQ_COPY_OUT)
		cpq_say(conn, "cannot exit pipeline mode while in COPY");
	if (conn->first != NULL || conn->async == CPQ_READY ||
		conn->async == CPQ_READY_MORE) {
		cpq_say(conn, "cannot exit pipeline mode with uncollected results");
		return 0;
	}
	if (conn->status == CONNECTION_OK && !leave(conn))
		return 0;
	conn->pipeline = PQ_PIPELINE_OFF;
	conn->async = CPQ_IDLE;
	return 1;
}

static int
send_sync(PGconn *conn, int is_flushing)
{
	struct cpq_request *req;

	if (conn == NULL)
		return 0;
	if (conn->pipeline == PQ_PIPELINE_OFF) {
		cpq_say(conn, "cannot send pipeline when not in pipeline mode");
		return 0;
	}
	if (conn->async == CPQ_COPY_IN || conn->async == CPQ_COPY_OUT) {
		cpq_say(conn, "internal error: cannot send pipeline while in COPY");
		return 0;
	}
	cpq_trace_word(conn, "Sync");
	/* of a connection that is gone libpq says nothing here */
	if (conn->status == CONNECTION_BAD || cpq_enter(conn) < 0)
		return 0;
	req = cpq_request_new(conn, CPQ_SYNC, NULL);
	cpq_pipeline_ask(conn);
	if (req == NULL || !cpq_request_sent(conn, req, cenote_send_sync(conn->session)))
		return 0;
	return !is_flushing || cpq_PQflush(conn) >= 0;
}

int
cpq_PQpipelineSync(PGconn *conn)
{
	return send_sync(conn, 1);
}

int
cpq_PQsendPipelineSync(PGconn *conn)
{
	return send_sync(conn, 0);
}

int
cpq_PQsendFlushRequest(PGconn *conn)
{
	int r;

	if (conn == NULL || cpq_enter(conn) < 0)
		return 0;
	if (conn->async != CPQ_IDLE && conn->pipeline == PQ_PIPELINE_OFF) {
		cpq_say(conn, "another command is already in progress");
		return 0;
	}
	cpq_trace_word(conn, "Flush");
	cpq_pipeline_ask(conn);
	r = cenote_flush(conn->session);
	if (r == CENOTE_OK || r == CENOTE_AGAIN)
		return 1;
	cpq_say_failure(conn, r);
	return 0;
}
