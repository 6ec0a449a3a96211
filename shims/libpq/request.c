/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

/*
 * The functions that send a request: PQsendQuery() and similar functions, and single-row mode.
 * queue.c has the list of requests; dialect/send.c sends to pools of other servers.
 */

/*
 * Leave a session that the pool took back or lent before the next request is sent. The program
 * puts the descriptor into an epoll set while it waits for the answer, and epoll forgets
 * a descriptor that is closed, and knows nothing of a number that stands for another socket. If something else came, it is
 * only read a little earlier: the answer wakes the program.
 */
static void
leave_yielded(PGconn *conn)
{
	struct pollfd p = { .fd = cenote_fd(conn->session),
		.events = POLLIN | POLLRDHUP };

	if (conn->is_watched && conn->queue.first == NULL && poll(&p, 1, 0) > 0)
		cpq_read(conn);
}

/* May the program send one more request? 1; 0, and the reason in the error text. */
static int
can_send(PGconn *conn)
{
	if (conn == NULL)
		return 0;
	if (conn->queue.first == NULL)
		resetPQExpBuffer(&conn->error);
	if (cpq_enter(conn) < 0)
		return 0;
	leave_yielded(conn);
	if (conn->pipeline != PQ_PIPELINE_OFF) {
		if (conn->async == CPQ_COPY_IN || conn->async == CPQ_COPY_OUT) {
			cpq_say(conn, "cannot queue commands during COPY");
			return 0;
		}
		return 1;
	}
	if (conn->async != CPQ_IDLE) {
		cpq_say(conn, "another command is already in progress");
		return 0;
	}
	conn->stream.chunk = 0;
	conn->stream.is_single_row = 0;
	return 1;
}

static int
is_given(PGconn *conn, const char *text, const char *what)
{
	if (text != NULL)
		return 1;
	cpq_say(conn, "%s is a null pointer", what);
	return 0;
}

static cenote_exec_options
exec_options(const PGconn *conn, int result_format)
{
	cenote_exec_options o = CENOTE_EXEC_OPTIONS_INIT;

	o.format = result_format != 0 ? CENOTE_FORMAT_BINARY : CENOTE_FORMAT_TEXT;
	o.stream = conn != NULL && cpq_is_streamed(conn);
	return o;
}

int
cpq_PQsendQuery(PGconn *conn, const char *query)
{
	const cenote_exec_options options = exec_options(conn, 0);
	struct cpq_request *req;

	if (!can_send(conn) || !is_given(conn, query, "command string"))
		return 0;
	if (conn->pipeline != PQ_PIPELINE_OFF) {
		cpq_say(conn, "%s not allowed in pipeline mode", "PQsendQuery");
		return 0;
	}
	if (conn->inherited.dialect != NULL)
		return cpq_dialect_send_query(conn, query);
	req = cpq_request_new(conn, CPQ_SIMPLE, query);
	if (req == NULL)
		return 0;
	cpq_trace_query(conn, query);
	return cpq_request_sent(conn, req,
		cenote_send_query(conn->session, query, CENOTE_NTS, NULL, &options));
}

int
cpq_PQsendQueryParams(PGconn *conn, const char *command, int nParams,
	const Oid *paramTypes, const char *const *paramValues, const int *paramLengths,
	const int *paramFormats, int resultFormat)
{
	const struct cpq_values v = { nParams, paramTypes, paramValues, paramLengths,
		paramFormats };
	const cenote_exec_options options = exec_options(conn, resultFormat);
	struct cpq_request *req;
	cenote_params *params;

	if (!can_send(conn) || !is_given(conn, command, "command string"))
		return 0;
	if (conn->inherited.dialect != NULL)
		return cpq_dialect_send_params(conn, command, &v, resultFormat);
	params = cpq_params_of(conn, &v);
	req = params != NULL ? cpq_request_new(conn, CPQ_EXTENDED, command) : NULL;
	if (req == NULL)
		return 0;
	cpq_trace_parse(conn, "", command, nParams, paramTypes);
	cpq_trace_run(conn, "", &v, resultFormat);
	cpq_trace_end_of_unit(conn);
	return cpq_request_sent(conn, req,
		cenote_send_query(conn->session, command, CENOTE_NTS, params, &options));
}

int
cpq_PQsendPrepare(PGconn *conn, const char *stmtName, const char *query, int nParams,
	const Oid *paramTypes)
{
	struct cpq_request *req;
	cenote_stmt *stmt = NULL;
	int r;

	if (!can_send(conn) || !is_given(conn, stmtName, "statement name") ||
		!is_given(conn, query, "command string"))
		return 0;
	if (nParams < 0 || nParams > CPQ_PARAMS_MAX) {
		cpq_say(conn, "number of parameters must be between 0 and %d",
			CPQ_PARAMS_MAX);
		return 0;
	}
	if (conn->inherited.dialect != NULL)
		return cpq_dialect_send_prepare(
			conn, stmtName, query, nParams, paramTypes);
	req = cpq_request_new(conn, CPQ_PREPARE, query);
	if (req == NULL)
		return 0;
	r = cenote_stmt_create(conn->session, query, CENOTE_NTS, &stmt);
	if (r == CENOTE_OK)
		r = cenote_stmt_set_name(stmt, stmtName);
	if (r == CENOTE_OK && paramTypes != NULL)
		r = cenote_stmt_set_param_types(stmt, paramTypes, (uint32_t)nParams);
	if (r == CENOTE_OK)
		r = cenote_send_prepare(stmt);
	req->stmt = stmt;
	cpq_trace_parse(conn, stmtName, query, nParams, paramTypes);
	cpq_trace_end_of_unit(conn);
	return cpq_request_sent(conn, req, r);
}

int
cpq_PQsendQueryPrepared(PGconn *conn, const char *stmtName, int nParams,
	const char *const *paramValues, const int *paramLengths, const int *paramFormats,
	int resultFormat)
{
	const struct cpq_values v = { nParams, NULL, paramValues, paramLengths,
		paramFormats };
	const cenote_exec_options options = exec_options(conn, resultFormat);
	struct cpq_request *req;
	cenote_params *params;
	int r;

	if (!can_send(conn) || !is_given(conn, stmtName, "statement name"))
		return 0;
	if (conn->inherited.dialect != NULL)
		return cpq_dialect_send_prepared(conn, stmtName, &v, resultFormat);
	params = cpq_params_of(conn, &v);
	req = params != NULL ? cpq_request_new(conn, CPQ_EXTENDED, NULL) : NULL;
	if (req == NULL)
		return 0;
	req->is_prepared = 1;
	cpq_trace_run(conn, stmtName, &v, resultFormat);
	cpq_trace_end_of_unit(conn);
	r = cenote_stmt_by_name(conn->session, stmtName, &req->stmt);
	if (r == CENOTE_OK)
		r = cenote_send_execute(req->stmt, params, &options);
	return cpq_request_sent(conn, req, r);
}

/* Describe or close a statement or a portal. NULL means the unnamed one. */
static int
send_named(PGconn *conn, enum cpq_request_kind kind, uint32_t what, const char *name)
{
	struct cpq_request *req;
	int r;

	if (!can_send(conn))
		return 0;
	if (name == NULL)
		name = "";
	if (conn->inherited.dialect != NULL)
		return cpq_dialect_send_named(
			conn, kind, what == CENOTE_NAMED_PORTAL, name);
	req = cpq_request_new(conn, kind, NULL);
	if (req == NULL)
		return 0;
	req->is_portal = what == CENOTE_NAMED_PORTAL;
	cpq_trace_named(conn, kind == CPQ_CLOSE, req->is_portal ? 'P' : 'S', name);
	cpq_trace_end_of_unit(conn);
	r = kind == CPQ_DESCRIBE ? cenote_send_describe_named(conn->session, what, name)
				 : cenote_send_close_named(conn->session, what, name);
	return cpq_request_sent(conn, req, r);
}

int
cpq_PQsendDescribePrepared(PGconn *conn, const char *stmt)
{
	return send_named(conn, CPQ_DESCRIBE, CENOTE_NAMED_STATEMENT, stmt);
}

int
cpq_PQsendDescribePortal(PGconn *conn, const char *portal)
{
	return send_named(conn, CPQ_DESCRIBE, CENOTE_NAMED_PORTAL, portal);
}

int
cpq_PQsendClosePrepared(PGconn *conn, const char *stmt)
{
	return send_named(conn, CPQ_CLOSE, CENOTE_NAMED_STATEMENT, stmt);
}

int
cpq_PQsendClosePortal(PGconn *conn, const char *portal)
{
	return send_named(conn, CPQ_CLOSE, CENOTE_NAMED_PORTAL, portal);
}

static int
set_chunk(PGconn *conn, int rows, int is_single_row)
{
	/* The mode applies only to the running request, before any part of its answer has come. A
	 * copy that has begun counts as a part, even if the program did not take that result. */
	if (conn == NULL || conn->async != CPQ_BUSY || conn->queue.first == NULL ||
		conn->stream.res != NULL || conn->ready != NULL ||
		conn->queue.first->begun != NULL || rows <= 0)
		return 0;
	if (conn->queue.first->kind != CPQ_SIMPLE &&
		conn->queue.first->kind != CPQ_EXTENDED)
		return 0;
	/* If a part of the rows has come already, libcenote gives the rows as a whole, and the shim
	 * cuts them into chunks. */
	if (conn->pipeline == PQ_PIPELINE_OFF &&
		cenote_set_stream(conn->session) == CENOTE_OK)
		conn->queue.first->is_stream = 1;
	conn->stream.chunk = rows;
	conn->stream.is_single_row = is_single_row;
	return 1;
}

int
cpq_PQsetSingleRowMode(PGconn *conn)
{
	return set_chunk(conn, 1, 1);
}

int
cpq_PQsetChunkedRowsMode(PGconn *conn, int chunk_size)
{
	return set_chunk(conn, chunk_size, 0);
}
