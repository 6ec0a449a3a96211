/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

/*
 * Results whose rows come while the program reads them, and the end of every result.
 *
 * A streamed result has two sets of rows: the program reads one, and the other takes the rows that
 * come. cenote_result_next() exchanges them. While the second one is filled, or another stream
 * waits to be taken, nothing is read from the socket (cn_waits_for_program()). So a slow reader
 * stops only its own worker, and costs no memory.
 *
 * There are two exceptions. A peer that does not read until it has written is read from
 * in any case. So is everything that comes before the rows that the program asks for.
 */

/* The program destroys a stream before its end. Drop the rest of the rows that are on their way.
 * The server does not compute the rest of a portal. */
static void
stream_abandon(cenote_result *res)
{
	cenote_conn *conn = res->conn;

	for (size_t i = 0; i < conn->pipeline.n; i++) {
		struct cn_request *req = cn_request_at(&conn->pipeline, i);

		if (req->building == res) {
			/* After a fork the session belongs to the parent: send nothing. */
			if (res->kind == CENOTE_RESULT_COPY_IN &&
				conn->pid == cn_pid(conn))
				cn_copy_give_up(conn, "the program gave the copy up");
			req->building = NULL;
			req->is_dropping = !cn_is_copy(res);
			req->is_abandoned = 1;
		}
		if (req->target == res) {
			req->target = NULL;
			req->is_dropping = 1;
		}
	}
	/* After a fork the session belongs to the parent: send nothing. */
	if (res->stream == CN_STREAM_PORTAL && res->epoch == conn->reattach.epoch &&
		conn->pid == cn_pid(conn)) {
		struct cnp_msg m = { .code = CNP_MSG_CLOSE_PORTAL };

		m.as.close_portal.portal = res->portal;
		/* Without memory the portal stays until the session is given back. */
		if (cn_setup(conn, &m) == CENOTE_OK)
			(void)cn_flush(conn);
	}
	if (conn->copy == res)
		conn->copy = NULL;
}

void
cenote_result_destroy(cenote_result *res)
{
	if (res && res->conn)
		stream_abandon(res);
	cn_result_free(res);
}

static int
fetch_more(cenote_result *res)
{
	struct cnp_msg m = { .code = CNP_MSG_FETCH };
	const struct cn_send send = {
		.msg = &m,
		.effect = res->effect,
		.is_hidden = 1,
		.sync = res->conn->pipeline.needs_sync ? 0 : CNP_FRAME_SYNC,
		.target = res,
	};
	int r;

	m.as.fetch.portal = res->portal;
	m.as.fetch.batch_rows = res->batch_rows;
	r = cn_request(res->conn, &send);
	if (r < 0)
		return r;
	res->request =
		cn_request_at(&res->conn->pipeline, res->conn->pipeline.n - 1)->number;
	res->stream = CN_STREAM_FETCHING;
	return cn_push(res->conn);
}

/* Is there a batch for the program? A portal's batch is given as a whole. Rows without a limit are
 * given as soon as some have come. */
static int
batch_is_there(const cenote_result *res)
{
	if (res->rows[1 - res->at].n_rows == 0)
		return 0;
	return res->batch_rows == 0 ||
	       (res->stream != CN_STREAM_RUNNING && res->stream != CN_STREAM_FETCHING);
}

static int
stream_failed(const cenote_result *res)
{
	if (res->conn && res->diag)
		cnc_diag_copy(&res->conn->diag.d, &res->diag->d);
	return res->status;
}

/* The unfinished request of the stream; NULL: the request is finished. */
static const struct cn_request *
request_of(const cenote_conn *conn, const cenote_result *res)
{
	for (size_t i = 0; i < conn->pipeline.n; i++) {
		const struct cn_request *req = cn_request_at(&conn->pipeline, i);

		if (req->number == res->request && !req->is_finished)
			return req;
	}
	return NULL;
}

/* Does the result wait behind a copy in? Its rows come only after the program has ended the copy. */
static int
is_behind_copy_in(const cenote_conn *conn)
{
	const struct cn_request *running = cn_request_running(&conn->pipeline);
	const cenote_result *res = running ? running->building : NULL;

	return res && res->kind == CENOTE_RESULT_COPY_IN && res->stream == CN_STREAM_COPY;
}

/* Make one step towards the next batch. CENOTE_ROW, CENOTE_DONE: the step is the last one;
 * CENOTE_OK: go on. */
static int
stream_step(cenote_result *res)
{
	int r;

	if (batch_is_there(res)) {
		cnc_rowset_clear(&res->rows[res->at]);
		res->at = 1 - res->at;
		return CENOTE_ROW;
	}
	if (res->stream == CN_STREAM_FAILED)
		return stream_failed(res);
	if (!res->conn && res->stream != CN_STREAM_DONE)
		return CENOTE_ERR_STATE;
	switch (res->stream) {
	case CN_STREAM_PORTAL:
		return fetch_more(res);
	case CN_STREAM_DONE:
		/* READY follows at once. Wait for it, to know the transaction state. */
		if (res->conn && !res->has_more && request_of(res->conn, res))
			break;
		cnc_rowset_clear(&res->rows[res->at]);
		return CENOTE_DONE;
	default:
		break;
	}
	if (is_behind_copy_in(res->conn))
		return cn_fail(res->conn, CENOTE_ERR_STATE, CNC_SQLSTATE(SEQUENCE),
			"the rows come behind a copy in: take its result, and call "
			"cenote_copy_end()");
	r = cn_progress(res->conn);
	/* If the session was lost, its streams have failed and report the error. */
	return r < 0 && res->stream == CN_STREAM_FAILED ? CENOTE_OK : r;
}

int
cenote_result_buffer(cenote_result *res)
{
	int r;

	if (!res)
		return CENOTE_ERR_ARG;
	if (res->stream == CN_STREAM_NO || res->batch_rows > 0 || cn_is_copy(res) ||
		res->is_begun)
		return CENOTE_ERR_STATE;
	if (res->conn) {
		r = cn_enter(res->conn);
		if (r < 0)
			return r;
	}
	res->is_buffering = 1;
	while (res->stream == CN_STREAM_RUNNING ||
		(res->conn && res->stream == CN_STREAM_DONE && !res->has_more &&
			request_of(res->conn, res))) {
		if (!res->conn)
			return CENOTE_ERR_STATE;
		r = cn_progress(res->conn);
		if (r == CENOTE_AGAIN || (r < 0 && res->stream != CN_STREAM_FAILED))
			return r;
	}
	if (res->stream == CN_STREAM_FAILED)
		return stream_failed(res);
	if (res->conn)
		cn_stream_unlink(res);
	res->at = 1 - res->at;
	res->stream = CN_STREAM_NO;
	return CENOTE_OK;
}

int
cenote_result_next(cenote_result *res)
{
	int r = CENOTE_OK;

	if (!res)
		return CENOTE_ERR_ARG;
	if (res->stream == CN_STREAM_NO || cn_is_copy(res))
		return CENOTE_ERR_STATE;
	if (res->conn) {
		r = cn_enter(res->conn);
		if (r < 0)
			return r;
	}
	res->is_begun = 1;
	while (r == CENOTE_OK)
		r = stream_step(res);
	return r;
}
