/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

/* Pipeline mode: entering, leaving and synchronising. ahead.c keeps the answers that the program
 * did not ask for yet. */

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

/* After a failure the server skips everything up to a synchronisation point. Only then send one
 * that the program did not ask for. */
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
	if (conn->pipeline == PQ_PIPELINE_OFF && conn->queue.first == NULL &&
		(conn->async == CPQ_IDLE || conn->async == CPQ_BETWEEN))
		return 1;
	if (conn->async == CPQ_BUSY) {
		cpq_say(conn, "cannot exit pipeline mode while busy");
		return 0;
	}
	if (conn->async == CPQ_COPY_IN || conn->async == CPQ_COPY_OUT)
		cpq_say(conn, "cannot exit pipeline mode while in COPY");
	if (conn->queue.first != NULL || conn->async == CPQ_READY ||
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
	/* As in libpq, there is no error text here if the connection is lost. From libpq 17 on, this is no failure at all. */
	if (conn->status == CONNECTION_BAD)
		return cpq_release() >= 17;
	if (cpq_enter(conn) < 0)
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
