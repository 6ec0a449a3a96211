/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <stdlib.h>
#include <string.h>

/*
 * conn->queue: the requests whose results the program has not all taken, oldest first. request.c, the dialects and
 * fastpath.c put requests into it; async.c, answer.c and ahead.c take them out.
 *
 * Each request has a number. Libcenote gives results in the order of the requests, so two numbers
 * tell which results libcenote has given, and which the program has taken (struct cpq_queue).
 */

#define QUERY_KEPT 4096u

static int
set_query(struct cpq_request *req, const char *query)
{
	size_t size = strlen(query) + 1;

	if (size > req->query_size) {
		char *room = malloc(size);

		if (room == NULL)
			return -1;
		free(req->query);
		req->query = room;
		req->query_size = size;
	}
	memcpy(req->query, query, size);
	return 0;
}

static void
request_free(struct cpq_request *req)
{
	if (req == NULL)
		return;
	cenote_stmt_destroy(req->stmt);
	cpq_PQclear(req->answer);
	cpq_PQclear(req->begun);
	cpq_notices_drop(&req->notices);
	free(req->query);
	free(req);
}

/* Keep one request, so that a query needs no allocation. */
static void
request_done(PGconn *conn, struct cpq_request *req)
{
	cenote_stmt_destroy(req->stmt);
	cenote_result_destroy(req->held);
	req->stmt = NULL;
	req->held = NULL;
	cpq_PQclear(req->answer);
	req->answer = NULL;
	cpq_PQclear(req->begun);
	req->begun = NULL;
	cpq_notices_drop(&req->notices);
	cpq_parameters_catch_up(conn, req);
	if (req->statement != NULL)
		cpq_statement_over(conn, req);
	if (conn->queue.spare != NULL || req->query_size > QUERY_KEPT)
		request_free(req);
	else
		conn->queue.spare = req;
}

/* In a pipeline, nobody knows at the time of sending how the program will read the rows. A trace
 * needs all messages in the order in which they came. */
int
cpq_is_streamed(const PGconn *conn)
{
	return conn->pipeline != PQ_PIPELINE_OFF || conn->trace.file != NULL;
}

struct cpq_request *
cpq_request_new(PGconn *conn, enum cpq_request_kind kind, const char *query)
{
	struct cpq_request *req = conn->queue.spare;

	conn->queue.spare = NULL;
	if (req == NULL)
		req = calloc(1, sizeof(*req));
	if (req == NULL || set_query(req, query != NULL ? query : "") < 0) {
		request_free(req);
		cpq_say(conn, "out of memory");
		return NULL;
	}
	req->next = NULL;
	req->stmt = NULL;
	req->kind = kind;
	req->is_prepared = 0;
	req->is_portal = 0;
	req->is_answered = 0;
	req->is_stream = cpq_is_streamed(conn);
	req->is_binary = 0;
	req->is_many = 0;
	req->has_head = 0;
	req->sql.p = NULL;
	req->is_ended = 0;
	req->is_asked_for = conn->pipeline == PQ_PIPELINE_OFF || kind == CPQ_SYNC;
	return req;
}

void
cpq_request_pop(PGconn *conn)
{
	struct cpq_request *req = conn->queue.first;

	conn->queue.first = req->next;
	if (conn->queue.first == NULL)
		conn->queue.last = NULL;
	request_done(conn, req);
}

void
cpq_stream_drop(PGconn *conn)
{
	cenote_result_destroy(conn->stream.res);
	conn->stream.res = NULL;
	cpq_PQclear(conn->stream.head);
	conn->stream.head = NULL;
	cpq_PQclear(conn->stream.part);
	conn->stream.part = NULL;
}

/* As in libpq, single-row mode ends with the next request, not here. */
void
cpq_requests_drop(PGconn *conn)
{
	while (conn->queue.first != NULL)
		cpq_request_pop(conn);
	request_free(conn->queue.spare);
	conn->queue.spare = NULL;
	cpq_PQclear(conn->ready);
	conn->ready = NULL;
	conn->is_dying = 0;
	conn->is_end_read = 0;
	conn->copy.line_at = conn->copy.line.len;
	conn->queue.n_done = conn->queue.n_over = conn->queue.n_sent;
	cpq_stream_drop(conn);
	cenote_result_destroy(conn->copy.res);
	conn->copy.res = NULL;
	conn->notifies.behind = NULL;
	conn->async = CPQ_IDLE;
}

void
cpq_pipeline_advance(PGconn *conn)
{
	conn->stream.chunk = 0;
	conn->stream.is_single_row = 0;
	if (conn->queue.first == NULL) {
		conn->async = CPQ_IDLE;
		return;
	}
	resetPQExpBuffer(&conn->error);
	conn->async = CPQ_BUSY;
	if (conn->pipeline != PQ_PIPELINE_ABORTED || conn->queue.first->kind == CPQ_SYNC)
		return;
	/* After a failure the server skips the requests that follow, so do not ask it for their
	 * answers. */
	conn->async = CPQ_READY;
	conn->ready = cpq_PQmakeEmptyPGresult(conn, PGRES_PIPELINE_ABORTED);
	if (conn->ready == NULL)
		conn->ready = cpq_no_memory(conn);
}

static void
append_to_aborted(PGconn *conn)
{
	if (conn->async == CPQ_IDLE || conn->async == CPQ_BETWEEN)
		cpq_pipeline_advance(conn);
}

/* Is everything sent? Libcenote sends as much as it can at once. */
static int
is_all_sent(const PGconn *conn)
{
	return cenote_wants(conn->session) == CENOTE_WANTS_READ;
}

int
cpq_request_sent(PGconn *conn, struct cpq_request *req, int status)
{
	/* A lost session is reported with the result. */
	if (status < 0 && !cenote_status_is_fatal(status)) {
		if (req->statement != NULL)
			cpq_statement_over(conn, req);
		request_free(req);
		cpq_say_failure(conn, status);
		return 0;
	}
	req->number = ++conn->queue.n_sent;
	if (conn->queue.last != NULL)
		conn->queue.last->next = req;
	else
		conn->queue.first = req;
	conn->queue.last = req;
	if (conn->pipeline == PQ_PIPELINE_ABORTED)
		append_to_aborted(conn);
	else if (conn->async == CPQ_IDLE)
		conn->async = CPQ_BUSY;
	cpq_cancel_follow(conn);
	cpq_trace_flush(conn);
	/* A blocking connection sends everything before it goes on. In a pipeline, PQflush() sends. */
	if (!conn->is_nonblocking && conn->pipeline == PQ_PIPELINE_OFF)
		return is_all_sent(conn) || cpq_PQflush(conn) >= 0;
	if (conn->pipeline != PQ_PIPELINE_OFF)
		return 1;
	/* If sending fails, the result reports that. */
	return cpq_push(conn) == CENOTE_ERR_NOMEM ? 0 : 1;
}
