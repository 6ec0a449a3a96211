/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

/*
 * Requests: the list of those that are not finished, and the ways to send one. Sending never waits but
 * where PQsendQuery() does.
 */

/* ---- the list of requests ---- */

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

/* One is kept, so that a query needs no memory of its own. */
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
	if (conn->spare != NULL || req->query_size > QUERY_KEPT)
		request_free(req);
	else
		conn->spare = req;
}

/* In a pipeline it is not known when sending how the rows will be read; and a trace has all that
 * was said in its order. */
int
cpq_is_streamed(const PGconn *conn)
{
	return conn->pipeline != PQ_PIPELINE_OFF || conn->trace != NULL;
}

struct cpq_request *
cpq_request_new(PGconn *conn, enum cpq_request_kind kind, const char *query)
{
	struct cpq_request *req = conn->spare;

	conn->spare = NULL;
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
	req->sql.at = NULL;
	req->is_ended = 0;
	req->is_asked_for = conn->pipeline == PQ_PIPELINE_OFF || kind == CPQ_SYNC;
	return req;
}

void
cpq_request_pop(PGconn *conn)
{
	struct cpq_request *req = conn->first;

	conn->first = req->next;
	if (conn->first == NULL)
		conn->last = NULL;
	request_done(conn, req);
}

/* That rows come one by one is forgotten by the next request only, in a pipeline by the next but one. As in libpq. */
void
cpq_requests_drop(PGconn *conn)
{
	while (conn->first != NULL)
		cpq_request_pop(conn);
	request_free(conn->spare);
	conn->spare = NULL;
	cpq_PQclear(conn->ready);
	conn->ready = NULL;
	conn->is_dying = 0;
	conn->is_end_read = 0;
	conn->line_at = conn->line.len;
	conn->n_owed = 0;
	cpq_stream_drop(conn);
	cenote_result_destroy(conn->copy);
	conn->copy = NULL;
	conn->notifies_behind = NULL;
	conn->async = CPQ_IDLE;
}

void
cpq_pipeline_advance(PGconn *conn)
{
	conn->chunk = 0;
	conn->is_single_row = 0;
	if (conn->first == NULL) {
		conn->async = CPQ_IDLE;
		return;
	}
	resetPQExpBuffer(&conn->error);
	conn->async = CPQ_BUSY;
	if (conn->pipeline != PQ_PIPELINE_ABORTED || conn->first->kind == CPQ_SYNC)
		return;
	/* no server is asked for what follows a failure */
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

int
cpq_is_between_tries(const PGconn *conn)
{
	return cenote_wants(conn->session) == 0 && cenote_wait_ms(conn->session) >= 0;
}

int
cpq_push(PGconn *conn)
{
	int r;

	do
		r = cenote_flush(conn->session);
	while (r == CENOTE_OK && cpq_is_between_tries(conn) && cpq_wait(conn, 0) > 0);
	return r;
}

/* libcenote sends what it can as soon as it is asked to. */
static int
is_all_sent(const PGconn *conn)
{
	return cenote_wants(conn->session) == CENOTE_WANTS_READ;
}

int
cpq_request_sent(PGconn *conn, struct cpq_request *req, int status)
{
	/* a lost session is told with the result */
	if (status < 0 && !cenote_status_is_fatal(status)) {
		if (req->statement != NULL)
			cpq_statement_over(conn, req);
		request_free(req);
		cpq_say_failure(conn, status);
		return 0;
	}
	if (conn->last != NULL)
		conn->last->next = req;
	else
		conn->first = req;
	conn->last = req;
	if (conn->pipeline == PQ_PIPELINE_ABORTED)
		append_to_aborted(conn);
	else if (conn->async == CPQ_IDLE)
		conn->async = CPQ_BUSY;
	cpq_cancel_follow(conn);
	cpq_trace_flush(conn);
	/* a blocking connection has sent it all before it goes on; a pipeline is sent when it is flushed */
	if (!conn->is_nonblocking && conn->pipeline == PQ_PIPELINE_OFF)
		return is_all_sent(conn) || cpq_PQflush(conn) >= 0;
	if (conn->pipeline != PQ_PIPELINE_OFF)
		return 1;
	/* what cannot be sent is told with the result */
	return cpq_push(conn) == CENOTE_ERR_NOMEM ? 0 : 1;
}

/* ---- sending ---- */

/*
 * A session that the pool took back is left before the next request is sent: who waits for the answer has put the
 * descriptor into an epoll set by the time that it is read, and epoll forgets one that is closed.
 */
static void
leave_yielded(PGconn *conn)
{
	struct pollfd p = { .fd = cenote_fd(conn->session), .events = POLLRDHUP };

	if (conn->is_watched && conn->first == NULL && poll(&p, 1, 0) > 0)
		cpq_read(conn);
}

int
cpq_can_send(PGconn *conn)
{
	if (conn == NULL)
		return 0;
	if (conn->first == NULL)
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
	conn->chunk = 0;
	conn->is_single_row = 0;
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

	if (!cpq_can_send(conn) || !is_given(conn, query, "command string"))
		return 0;
	if (conn->pipeline != PQ_PIPELINE_OFF) {
		cpq_say(conn, "%s not allowed in pipeline mode", "PQsendQuery");
		return 0;
	}
	if (conn->habits.dialect != NULL)
		return cpq_dialect_send_query(conn, query);
	req = cpq_request_new(conn, CPQ_SIMPLE, query);
	if (req == NULL)
		return 0;
	cpq_trace_query(conn, query);
	return cpq_request_sent(conn, req,
		cenote_send_query(conn->session, query, CENOTE_NTS, NULL, &options));
}

#define PARAMS_MAX 65535

/* The server finds out this type as it does 0, which would not be passed on where all are 0: then a parameter too
 * many is another error. */
#define OID_UNKNOWN 705u

static Oid
type_of(const struct cpq_values *v, int i)
{
	if (v->types == NULL)
		return 0;
	return v->types[i] != 0 ? v->types[i] : OID_UNKNOWN;
}

static int
params_fill(cenote_params *params, const struct cpq_values *v)
{
	int r = CENOTE_OK;

	for (int i = 0; i < v->n && r == CENOTE_OK; i++) {
		const char *bytes = v->values != NULL ? v->values[i] : NULL;
		int is_binary = v->formats != NULL && v->formats[i] != 0;
		size_t len = 0;

		if (bytes != NULL)
			len = is_binary ? (size_t)v->lengths[i] : strlen(bytes);
		r = cenote_params_add_native(params, type_of(v, i),
			is_binary ? CENOTE_FORMAT_BINARY : CENOTE_FORMAT_TEXT, bytes,
			len);
	}
	return r;
}

static int
are_values(PGconn *conn, const struct cpq_values *v)
{
	if (v->n < 0 || v->n > PARAMS_MAX) {
		cpq_say(conn, "number of parameters must be between 0 and %d",
			PARAMS_MAX);
		return 0;
	}
	for (int i = 0; i < v->n; i++) {
		if (v->formats == NULL || v->formats[i] == 0 || v->values == NULL ||
			v->values[i] == NULL)
			continue;
		if (v->lengths == NULL || v->lengths[i] < 0) {
			cpq_say(conn, "length must be given for binary parameter");
			return 0;
		}
	}
	return 1;
}

int
cpq_values_begin(PGconn *conn, const struct cpq_values *v)
{
	if (!are_values(conn, v))
		return 0;
	if (conn->params == NULL && cenote_params_create(NULL, &conn->params) < 0) {
		conn->params = NULL;
		cpq_say(conn, "out of memory");
		return 0;
	}
	cenote_params_clear(conn->params);
	return 1;
}

cenote_params *
cpq_params_of(PGconn *conn, const struct cpq_values *v)
{
	if (!cpq_values_begin(conn, v))
		return NULL;
	if (params_fill(conn->params, v) == CENOTE_OK)
		return conn->params;
	cpq_say(conn, "out of memory");
	return NULL;
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

	if (!cpq_can_send(conn) || !is_given(conn, command, "command string"))
		return 0;
	if (conn->habits.dialect != NULL)
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

	if (!cpq_can_send(conn) || !is_given(conn, stmtName, "statement name") ||
		!is_given(conn, query, "command string"))
		return 0;
	if (nParams < 0 || nParams > PARAMS_MAX) {
		cpq_say(conn, "number of parameters must be between 0 and %d",
			PARAMS_MAX);
		return 0;
	}
	if (conn->habits.dialect != NULL)
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

	if (!cpq_can_send(conn) || !is_given(conn, stmtName, "statement name"))
		return 0;
	if (conn->habits.dialect != NULL)
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

/* Describe and close, of statements and portals: NULL is the unnamed one. */
static int
send_named(PGconn *conn, enum cpq_request_kind kind, uint32_t what, const char *name)
{
	struct cpq_request *req;
	int r;

	if (!cpq_can_send(conn))
		return 0;
	if (name == NULL)
		name = "";
	if (conn->habits.dialect != NULL)
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
	/* only for the request that runs, while nothing of its answer came; a copy's beginning
	 * that the program did not take is something */
	if (conn == NULL || conn->async != CPQ_BUSY || conn->first == NULL ||
		conn->stream != NULL || conn->ready != NULL ||
		conn->first->begun != NULL || rows <= 0)
		return 0;
	if (conn->first->kind != CPQ_SIMPLE && conn->first->kind != CPQ_EXTENDED)
		return 0;
	/* of what has been answered in part the rest comes as a whole, and is given in parts */
	if (conn->pipeline == PQ_PIPELINE_OFF &&
		cenote_set_stream(conn->session) == CENOTE_OK)
		conn->first->is_stream = 1;
	conn->chunk = rows;
	conn->is_single_row = is_single_row;
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

int
cpq_PQflush(PGconn *conn)
{
	if (conn == NULL || conn->status == CONNECTION_BAD)
		return -1;
	if (conn->session == NULL)
		return 0;
	cpq_trace_flush(conn);
	/* Nothing is read here: who polls reads the socket's readiness as news. */
	while (cpq_push(conn) == CENOTE_OK &&
		(cenote_wants(conn->session) & CENOTE_WANTS_WRITE)) {
		if (conn->is_nonblocking)
			return 1;
		if (cpq_wait(conn, 0) < 0)
			return -1;
	}
	/* a lost connection is told with the result */
	return 0;
}
