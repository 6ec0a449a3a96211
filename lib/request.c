/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include <string.h>

/*
 * The common parts of the public calls that use conn->pipeline: check whether a request may be
 * queued, send it, and take its result. query.c, stmt_send.c and suspend.c call this file;
 * pipeline.c owns the ring.
 */

/* In a pipeline, this many bytes of requests are collected before they are written. */
#define COLLECT_MAX 65536u

/*
 * If requests arrive together, the pool passes them on to the server together, and the answers also
 * arrive together. A set-up request ends such a series. So send one that does nothing, to get the
 * answers now.
 */
int
cn_want_answers(cenote_conn *conn)
{
	const struct cnp_msg nothing = { .code = CNP_MSG_CLOSE_PORTAL };
	const uint8_t *bytes;
	int r;

	/* Requests that were written are at the pool, which answers as soon as it can. */
	if (!conn->pipeline.is_collecting || !conn->pipeline.needs_sync ||
		cnp_client_output(&conn->session, &bytes) == 0)
		return CENOTE_OK;
	r = cn_setup(conn, &nothing);
	if (r < 0)
		return r == CENOTE_ERR_NOMEM ? cn_nomem(conn) : r;
	conn->pipeline.is_collecting = 0;
	return CENOTE_OK;
}

int
cn_sent(cenote_conn *conn)
{
	const uint8_t *bytes;
	int r;

	if (conn->pipeline.is_collecting &&
		cnp_client_output(&conn->session, &bytes) < COLLECT_MAX)
		return CENOTE_OK;
	r = cn_push(conn);
	/* The request is queued. A problem that will pass is reported when the program takes the
	 * results. */
	return cenote_status_is_fatal(r) ? r : CENOTE_OK;
}

/* The program gave up the request: drop its results. */
static void
hide(cenote_conn *conn, struct cn_request *req)
{
	req->is_hidden = 1;
	if (!cn_is_copy(req->building))
		return;
	if (req->building->kind == CENOTE_RESULT_COPY_IN)
		cn_copy_give_up(conn, "the program does not take the result");
	/* The result is also among those that wait to be taken, and is freed with
	 * them. */
	req->building = NULL;
	req->is_dropping = 1;
}

int
cn_end_former(cenote_conn *conn)
{
	struct cn_request *req;

	cn_requests_trim(conn);
	while (conn->pipeline.n_finished > 0 &&
		(!cn_request_at(&conn->pipeline, 0)->first ||
			cn_request_at(&conn->pipeline, 0)->is_abandoned)) {
		cn_request_pop(conn);
		cn_requests_trim(conn);
	}
	for (size_t i = 0; i < conn->pipeline.n; i++) {
		req = cn_request_at(&conn->pipeline, i);
		if (req->is_hidden)
			continue;
		if (!req->is_finished && req->is_abandoned) {
			hide(conn, req);
			continue;
		}
		/* Only READY is missing, and it gives no result: hide the end of the request. */
		if (!req->first && !req->is_finished && req->is_answered) {
			req->is_hidden = 1;
			continue;
		}
		return cn_fail(conn, CENOTE_ERR_STATE, CNC_SQLSTATE(SEQUENCE),
			"results of an earlier request were not taken: call "
			"cenote_get_result() until CENOTE_DONE");
	}
	return CENOTE_OK;
}

int
cn_may_send(cenote_conn *conn)
{
	/* The program did not repeat a call that returned CENOTE_AGAIN: forget that
	 * call. */
	conn->pipeline.call = 0;
	return conn->pipeline.is_begun ? CENOTE_OK : cn_end_former(conn);
}

int
cn_send_sync(cenote_conn *conn, int is_hidden)
{
	const struct cnp_msg m = { .code = CNP_MSG_SYNC };
	const struct cn_send send = { .msg = &m, .is_hidden = is_hidden != 0 };

	return cn_request(conn, &send);
}

static int
is_synced(const cenote_conn *conn)
{
	return !conn->pipeline.is_syncing || cn_state(conn) == CN_LOST ||
	       cn_state(conn) == CN_CLOSED;
}

int
cn_sync(cenote_conn *conn)
{
	int r;

	if (conn->pipeline.needs_sync && cn_state(conn) != CN_LOST) {
		r = cn_send_sync(conn, 1);
		if (r < 0)
			return r;
		conn->pipeline.is_syncing = 1;
		conn->pipeline.has_sync_error = 0;
	}
	r = cn_wait_for(conn, is_synced);
	if (r != CENOTE_OK)
		return r;
	if (cn_state(conn) == CN_LOST) {
		cnc_diag_copy(&conn->diag.d, &conn->loss.diag.d);
		return conn->loss.status;
	}
	if (!conn->pipeline.has_sync_error)
		return CENOTE_OK;
	conn->pipeline.has_sync_error = 0;
	cnc_diag_copy(&conn->diag.d, &conn->loss.setup.d);
	return cn_status_of(&conn->diag.d);
}

int
cn_call_goes_on(cenote_conn *conn, uint32_t call)
{
	return conn->pipeline.call == call;
}

int
cn_call_begin(cenote_conn *conn, uint32_t call)
{
	int r;

	if (cn_call_goes_on(conn, call))
		return CENOTE_DONE;
	conn->pipeline.call = 0;
	r = cn_end_former(conn);
	if (r == CENOTE_OK && (conn->pipeline.needs_sync || conn->pipeline.is_syncing))
		r = cn_sync(conn);
	return r;
}

int
cn_call_end(cenote_conn *conn, uint32_t call, int r)
{
	/* Running out of memory has lost nothing: the program may make the same call again. */
	conn->pipeline.call = r == CENOTE_AGAIN || r == CENOTE_ERR_NOMEM ? call : 0;
	return r;
}

/* Must the program read a stream or a copy before the oldest request can continue? */
static int
is_held_up(const cenote_conn *conn)
{
	const struct cn_request *req =
		conn->pipeline.n > 0 ? cn_request_at(&conn->pipeline, 0) : NULL;

	return req && !req->first && !req->is_finished && req->building &&
	       (req->building->stream == CN_STREAM_RUNNING ||
		       req->building->stream == CN_STREAM_COPY);
}

static cenote_result *
take_first(cenote_conn *conn, struct cn_request *req)
{
	cenote_result *res = req->first;

	req->first = res->next;
	if (!req->first)
		req->last = NULL;
	res->next = NULL;
	if (res->stream != CN_STREAM_NO)
		cn_stream_link(conn, res);
	if (cn_is_copy(res))
		conn->copy = res;
	return res;
}

int
cn_take(cenote_conn *conn, cenote_result **ret_res)
{
	struct cn_request *req;
	int r;

	cn_requests_trim(conn);
	if (is_held_up(conn) && cn_is_copy(cn_request_at(&conn->pipeline, 0)->building))
		return cn_fail(conn, CENOTE_ERR_STATE, CNC_SQLSTATE(SEQUENCE),
			"a copy is open: call cenote_copy_end(), or cenote_copy_get() "
			"until CENOTE_DONE, or destroy its result");
	if (is_held_up(conn))
		return cn_fail(conn, CENOTE_ERR_STATE, CNC_SQLSTATE(SEQUENCE),
			"the streamed result was not read to its end: call "
			"cenote_result_next() until CENOTE_DONE, or destroy it");
	r = cn_wait_for(conn, cn_has_answer);
	if (r != CENOTE_OK)
		return r;
	if (conn->pipeline.n == 0) {
		if (cn_state(conn) != CN_LOST)
			return CENOTE_DONE;
		cnc_diag_copy(&conn->diag.d, &conn->loss.diag.d);
		return conn->loss.status;
	}
	req = cn_request_at(&conn->pipeline, 0);
	if (!req->first) {
		cn_request_pop(conn);
		cn_requests_trim(conn);
		return CENOTE_DONE;
	}
	*ret_res = take_first(conn, req);
	return CENOTE_OK;
}

/* Return an error result as the error of the call. */
static int
result_status(cenote_conn *conn, const cenote_result *res)
{
	if (res->kind == CENOTE_RESULT_ERROR) {
		cnc_diag_copy(&conn->diag.d, &res->diag->d);
		return cn_status_of(&res->diag->d);
	}
	if (res->kind == CENOTE_RESULT_SKIPPED)
		return cn_fail(conn, CENOTE_ERR_SERVER, CNC_SQLSTATE(SEQUENCE),
			"skipped: an earlier request failed");
	return CENOTE_OK;
}

/* After a blocking call the program does not ask for CENOTE_DONE: drop the request if
 * it has no more results. */
static void
drop_finished(cenote_conn *conn)
{
	if (conn->pipeline.n_finished > 0 && !cn_request_at(&conn->pipeline, 0)->first)
		cn_request_pop(conn);
	cn_requests_trim(conn);
}

int
cn_take_result(cenote_conn *conn, cenote_result **ret_res)
{
	cenote_result *res = NULL;
	int r;

	r = cn_take(conn, &res);
	if (r != CENOTE_OK)
		return r == CENOTE_DONE ? CENOTE_ERR_PROTOCOL : r;
	if (!res)
		return CENOTE_ERR_PROTOCOL;
	drop_finished(conn);
	r = result_status(conn, res);
	if (r < 0) {
		cenote_result_destroy(res);
		return r;
	}
	*ret_res = res;
	return CENOTE_OK;
}

int
cn_take_command(cenote_conn *conn)
{
	cenote_result *res;
	int r = cn_take_result(conn, &res);

	if (r == CENOTE_OK)
		cenote_result_destroy(res);
	return r;
}
