/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <string.h>

/*
 * Make libpq's results from libcenote's. async.c asks for the next result; conn->stream.res is the
 * result that is being read, in chunks or to its end.
 */

/* FATAL and PANIC: the server closes the connection afterwards. */
static int
is_last(const char *severity)
{
	return severity != NULL &&
	       (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0);
}

static int
is_last_word(const PGresult *res)
{
	const char *severity = cpq_result_field(res, PG_DIAG_SEVERITY_NONLOCALIZED);

	/* The pool's own errors are in one language only. */
	return is_last(
		severity != NULL ? severity : cpq_result_field(res, PG_DIAG_SEVERITY));
}

const cenote_diag *
cpq_last_words(const PGconn *conn)
{
	const cenote_diag *diag = cenote_conn_diag(conn->session);

	return is_last(cenote_diag_field(diag, PG_DIAG_SEVERITY_NONLOCALIZED)) ? diag
									       : NULL;
}

static PGresult *
error_result(PGconn *conn, const cenote_diag *diag)
{
	const char *query = conn->queue.first != NULL ? conn->queue.first->query : NULL;
	PGresult *res = cpq_PQmakeEmptyPGresult(conn, PGRES_FATAL_ERROR);

	if (res == NULL || cpq_result_set_diag(res, diag, query) < 0) {
		cpq_PQclear(res);
		return cpq_no_memory(conn);
	}
	appendPQExpBufferStr(&conn->error, res->message);
	conn->is_dying = is_last_word(res);
	cpq_trace_error(conn, diag);
	if (conn->pipeline != PQ_PIPELINE_OFF)
		conn->pipeline = PQ_PIPELINE_ABORTED;
	return res;
}

static int
set_params(PGconn *conn, PGresult *res, const cenote_result *from)
{
	if (conn->queue.first->statement != NULL)
		return cpq_statement_describe(conn->queue.first->statement, res);
	if (res->n_params == 0)
		return 0;
	res->params = cpq_result_alloc(res, (size_t)res->n_params * sizeof(*res->params));
	if (res->params == NULL)
		return -1;
	for (int i = 0; i < res->n_params; i++)
		res->params[i] = cenote_result_param_native_type(from, (uint32_t)i);
	return 0;
}

static void
set_tag(PGconn *conn, PGresult *res, const cenote_result *from, uint64_t n_rows)
{
	if (conn->inherited.dialect != NULL)
		cpq_dialect_tag(conn, res, from, n_rows);
	else
		cpq_result_set_tag(res, cenote_result_tag(from));
}

static PGresult *
description(PGconn *conn, cenote_result *from)
{
	PGresult *res;

	/* The pool describes a statement when it prepares it. libpq returns no description for a
	 * PREPARE. */
	if (conn->queue.first != NULL && conn->queue.first->kind == CPQ_PREPARE) {
		cpq_trace_parsed(conn);
		if (conn->queue.first->statement != NULL)
			cpq_statement_prepared(conn->queue.first->statement);
		return cpq_PQmakeEmptyPGresult(conn, PGRES_COMMAND_OK);
	}
	res = cpq_result_rows(conn, from, PGRES_COMMAND_OK);
	if (res == NULL)
		return NULL;
	res->n_params = (int)cenote_result_n_params(from);
	if (set_params(conn, res, from) < 0) {
		cpq_PQclear(res);
		return NULL;
	}
	cpq_trace_description(conn, res);
	return res;
}

static PGresult *
command(PGconn *conn, cenote_result *from)
{
	ExecStatusType status = cenote_result_flags(from) & CENOTE_RESULT_FLAG_EMPTY
					? PGRES_EMPTY_QUERY
					: PGRES_COMMAND_OK;
	PGresult *res = cpq_PQmakeEmptyPGresult(conn, status);

	cpq_trace_complete(conn, from);
	/* The tags of closing and preparing are for the shim only. */
	if (res != NULL && conn->queue.first != NULL &&
		(conn->queue.first->kind == CPQ_SIMPLE ||
			conn->queue.first->kind == CPQ_EXTENDED))
		set_tag(conn, res, from, 0);
	return res;
}

static void
trace_rows(PGconn *conn, const cenote_result *from)
{
	for (uint64_t i = 0; conn->trace.file != NULL && i < cenote_result_n_rows(from);
		i++)
		cpq_trace_row(conn, from, i);
}

/* A value has no form that the program asked for: the result becomes an error. */
static PGresult *
own_error(PGconn *conn, const char *sqlstate, const char *why)
{
	PGresult *res = cpq_result_refusal(conn, sqlstate, why);

	if (res == NULL)
		return cpq_no_memory(conn);
	appendPQExpBufferStr(&conn->error, res->message);
	return res;
}

/* Copy one row into the result. The result may become an error. */
static PGresult *
add_row(PGconn *conn, PGresult *res, const cenote_result *from, uint64_t at)
{
	PGresult *error = NULL;
	PQExpBufferData room;
	int r;

	if (conn->inherited.dialect == NULL) {
		if (cpq_result_add_row(res, from, at) == 0)
			return res;
		cpq_PQclear(res);
		return NULL;
	}
	initPQExpBuffer(&room);
	r = cpq_dialect_add_row(res, from, at, &room);
	if (r > 0)
		error = own_error(conn, "22018", room.data);
	termPQExpBuffer(&room);
	if (r == 0)
		return res;
	cpq_PQclear(res);
	return error;
}

/* Convert all rows. `from` is not needed afterwards. */
static PGresult *
convert_rows(PGconn *conn, PGresult *res, cenote_result *from)
{
	uint64_t n = cenote_result_n_rows(from);

	for (uint64_t i = 0; i < n && res != NULL && res->status == PGRES_TUPLES_OK; i++)
		res = add_row(conn, res, from, i);
	if (res != NULL)
		cenote_result_destroy(from);
	return res;
}

/* Point to all rows without copying them, where no value must be converted; `res` has the columns
 * already. */
static PGresult *
rows(PGconn *conn, PGresult *res, cenote_result *from)
{
	uint64_t n = cenote_result_n_rows(from);

	if (res == NULL)
		return NULL;
	set_tag(conn, res, from, n);
	trace_rows(conn, from);
	cpq_trace_complete(conn, from);
	if (conn->inherited.dialect != NULL && cpq_values_differ(res))
		return convert_rows(conn, res, from);
	if (cpq_result_take_rows(res, from) == 0)
		return res;
	cpq_PQclear(res);
	return NULL;
}

static PGresult *
copy(PGconn *conn, cenote_result *from, ExecStatusType status, enum cpq_async async)
{
	PGresult *res = cpq_PQmakeEmptyPGresult(conn, status);
	uint32_t n = cenote_copy_n_columns(from);

	if (res == NULL)
		return NULL;
	res->is_binary = cenote_copy_format(from) == CENOTE_FORMAT_BINARY;
	res->columns = n > 0 ? cpq_result_alloc(res, n * sizeof(*res->columns)) : NULL;
	if (n > 0 && res->columns == NULL) {
		cpq_PQclear(res);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++)
		res->columns[i] =
			(PGresAttDesc){ .format = cenote_copy_column_format(from, i) ==
						  CENOTE_FORMAT_BINARY };
	res->n_columns = (int)n;
	if (conn->copy.res == NULL)
		cpq_trace_copy(conn, res, async == CPQ_COPY_IN);
	conn->copy.res = from;
	conn->async = async;
	return res;
}

int
cpq_is_part(const PGresult *res)
{
	return res != NULL && (res->status == PGRES_SINGLE_TUPLE ||
				      (int)res->status == CPQ_TUPLES_CHUNK);
}

static PGresult *
stream_end(PGconn *conn)
{
	PGresult *res = conn->stream.head;

	if (!conn->stream.is_tagged)
		set_tag(conn, res, conn->stream.res, conn->stream.n_rows);
	cpq_trace_complete(conn, conn->stream.res);
	conn->stream.head = NULL;
	cpq_stream_drop(conn);
	return res;
}

static PGresult *
stream_failed(PGconn *conn, int status)
{
	const cenote_diag *words =
		status == CENOTE_ERR_SERVER || status == CENOTE_ERR_UNSUPPORTED
			? cenote_result_diag(conn->stream.res)
			: cpq_last_words(conn);
	PGresult *res;

	if (words != NULL) {
		res = error_result(conn, words);
	} else {
		cpq_say_failure(conn, status);
		res = cpq_result_failure(conn);
	}
	cpq_stream_drop(conn);
	return res;
}

/* Move rows from the current batch into the chunk, until it is full or the batch is empty. 0; -1: it has become an error, or there
 * was no memory. */
static int
fill_part(PGconn *conn)
{
	struct cpq_stream *s = &conn->stream;
	uint64_t n = cenote_result_n_rows(s->res);

	if (s->row < n && s->part == NULL) {
		s->part = cpq_result_part(
			s->head, s->is_single_row ? PGRES_SINGLE_TUPLE
						  : (ExecStatusType)CPQ_TUPLES_CHUNK);
		if (s->part == NULL)
			return -1;
	}
	while (s->row < n && s->part->n_rows < s->chunk) {
		cpq_trace_row(conn, s->res, s->row);
		s->part = add_row(conn, s->part, s->res, s->row++);
		if (s->part == NULL || s->part->status == PGRES_FATAL_ERROR)
			return -1;
		s->n_rows++;
	}
	return 0;
}

/* The rows have ended. As in libpq, the last chunk has their tag if it is not full. */
static PGresult *
stream_last(PGconn *conn)
{
	PGresult *part = conn->stream.part;

	if (part == NULL)
		return stream_end(conn);
	set_tag(conn, part, conn->stream.res, conn->stream.n_rows);
	conn->stream.is_tagged = true;
	return part;
}

/* Get the next chunk, from the current batch and the next ones. CENOTE_AGAIN: the rest of it has not come. */
static int
stream_next(PGconn *conn, PGresult **ret_res)
{
	struct cpq_stream *s = &conn->stream;
	int r = s->is_tagged ? CENOTE_DONE : CENOTE_ROW, failed = 0;

	*ret_res = NULL;
	while (r == CENOTE_ROW) {
		failed = fill_part(conn);
		if (failed < 0 || (s->part != NULL && s->part->n_rows >= s->chunk))
			break;
		r = s->is_whole ? CENOTE_DONE : cenote_result_next(s->res);
		if (r == CENOTE_AGAIN) /* the batch stays empty */
			return r;
		s->row = 0;
	}
	if (r == CENOTE_ROW)
		*ret_res = s->part != NULL ? s->part : cpq_no_memory(conn);
	else if (r == CENOTE_DONE)
		*ret_res = stream_last(conn);
	else
		*ret_res = stream_failed(conn, r);
	s->part = *ret_res == s->part ? NULL : s->part;
	/* The program has an error now, and gets no more rows. */
	if (failed < 0)
		cpq_stream_drop(conn);
	return CENOTE_OK;
}

/* Get all rows of a stream in one result. CENOTE_AGAIN: the end of the stream has not come. */
static int
stream_all(PGconn *conn, PGresult **ret_res)
{
	int r = conn->stream.is_whole ? CENOTE_OK
				      : cenote_result_buffer(conn->stream.res);

	if (r == CENOTE_AGAIN)
		return r;
	if (r != CENOTE_OK) {
		/* The server sent these rows before it failed. */
		while (conn->trace.file != NULL &&
			cenote_result_next(conn->stream.res) == CENOTE_ROW)
			trace_rows(conn, conn->stream.res);
		*ret_res = stream_failed(conn, r);
		return CENOTE_OK;
	}
	*ret_res = rows(conn, conn->stream.head, conn->stream.res);
	conn->stream.head = NULL;
	if (*ret_res != NULL)
		conn->stream.res = NULL;
	else
		*ret_res = cpq_no_memory(conn);
	cpq_stream_drop(conn);
	return CENOTE_OK;
}

static int
stream_on(PGconn *conn, PGresult **ret_res)
{
	return conn->stream.chunk > 0 ? stream_next(conn, ret_res)
				      : stream_all(conn, ret_res);
}

/* Take the result that a notice began early, or make one with the columns. */
static PGresult *
take_head(PGconn *conn, cenote_result *from)
{
	PGresult *begun = conn->queue.first != NULL ? conn->queue.first->begun : NULL;

	if (begun == NULL)
		return cpq_result_rows(conn, from, PGRES_TUPLES_OK);
	conn->queue.first->begun = NULL;
	return begun;
}

/* A streamed result begins: make a result with its columns now. */
static int
stream_begin(PGconn *conn, cenote_result *from, PGresult **ret_res)
{
	conn->stream.res = from;
	conn->stream.row = 0;
	conn->stream.n_rows = 0;
	conn->stream.is_tagged = false;
	conn->stream.is_whole = !conn->queue.first->is_stream;
	conn->stream.head = take_head(conn, from);
	if (conn->stream.head == NULL) {
		cpq_stream_drop(conn);
		*ret_res = cpq_no_memory(conn);
		return CENOTE_OK;
	}
	cpq_trace_columns(conn, conn->stream.head);
	return stream_on(conn, ret_res);
}

/* Make libpq's result from libcenote's. *ret_keep: the result owns `from`, or the copy does. */
static PGresult *
convert(PGconn *conn, cenote_result *from, int *ret_keep)
{
	*ret_keep = 0;
	switch (cenote_result_kind(from)) {
	case CENOTE_RESULT_ROWS:
		*ret_keep = 1;
		return rows(conn, take_head(conn, from), from);
	case CENOTE_RESULT_COMMAND:
		return command(conn, from);
	case CENOTE_RESULT_ERROR:
		return error_result(conn, cenote_result_diag(from));
	case CENOTE_RESULT_SKIPPED:
		return cpq_PQmakeEmptyPGresult(conn, PGRES_PIPELINE_ABORTED);
	case CENOTE_RESULT_SYNC:
		conn->transaction = cenote_result_tx_state(from);
		cpq_trace_ready(conn);
		cpq_parameters_settle(conn);
		conn->pipeline = PQ_PIPELINE_ON;
		return cpq_PQmakeEmptyPGresult(conn, PGRES_PIPELINE_SYNC);
	case CENOTE_RESULT_DESCRIPTION:
		return description(conn, from);
	case CENOTE_RESULT_COPY_IN:
		*ret_keep = 1;
		return copy(conn, from, PGRES_COPY_IN, CPQ_COPY_IN);
	default:
		*ret_keep = 1;
		return copy(conn, from, PGRES_COPY_OUT, CPQ_COPY_OUT);
	}
}

/* The error with which the server ended the session answers all later requests, as if the error had
 * come in between. */
static PGresult *
ended(PGconn *conn, int status)
{
	const cenote_diag *words = cpq_last_words(conn);

	return words != NULL ? error_result(conn, words) : cpq_lost(conn, status);
}

PGresult *
cpq_lost(PGconn *conn, int status)
{
	PGresult *res;

	cpq_say_failure(conn, status);
	/* The rest of the answer can only be taken with memory. So close the session. */
	if (status == CENOTE_ERR_NOMEM) {
		conn->status = CONNECTION_BAD;
		cenote_close(conn->session);
	}
	res = cpq_result_failure(conn);
	cpq_requests_drop(conn);
	return res;
}

int
cpq_take_owed(PGconn *conn)
{
	cenote_result *rest;
	int r;

	while (conn->queue.n_done < conn->queue.n_over) {
		r = cpq_get_result(conn, &rest);
		if (r == CENOTE_OK)
			cenote_result_destroy(rest);
		else if (r != CENOTE_DONE)
			return r;
	}
	return CENOTE_OK;
}

/* After the server's last error libpq finds the connection closed, and reports that in one more
 * result. */
static PGresult *
closed(PGconn *conn)
{
	size_t before = conn->error.len;
	PGresult *res;

	conn->is_dying = 0;
	if (conn->status != CONNECTION_BAD)
		cpq_say_closed(conn);
	else
		cpq_say(conn,
			/* an earlier message already reports the closed connection */
			"invalid socket");
	res = cpq_result_new(conn, PGRES_FATAL_ERROR);
	if (res != NULL && conn->error.len > before)
		res->message = cpq_result_text(res, conn->error.data + before);
	cpq_requests_drop(conn);
	return res != NULL ? res : &cpq_result_of_no_memory;
}

/* Take the shim's own answer, which replaces the server's. */
static PGresult *
take_answer(PGconn *conn)
{
	PGresult *res = conn->queue.first->answer;

	conn->queue.first->answer = NULL;
	if (res->status == PGRES_FATAL_ERROR)
		appendPQExpBufferStr(&conn->error, res->message);
	return res;
}

/* The program has all results of the request. Parameter changes of the request take effect now. */
static void
request_ended(PGconn *conn)
{
	conn->transaction = cenote_tx_state(conn->session);
	cpq_parameters_settle(conn);
	conn->notifies.behind = NULL;
	if (conn->pipeline == PQ_PIPELINE_OFF)
		cpq_trace_ready(conn);
	if (conn->queue.first != NULL)
		cpq_request_pop(conn);
	cpq_cancel_follow(conn);
}

/* Is the result to be read row by row? The program wants a stream or chunks, or there is a trace. */
static int
is_stream(const PGconn *conn, const cenote_result *from)
{
	return cenote_result_kind(from) == CENOTE_RESULT_ROWS &&
	       conn->queue.first != NULL &&
	       (conn->queue.first->is_stream || conn->stream.chunk > 0 ||
		       conn->trace.file != NULL);
}

int
cpq_next_result(PGconn *conn, PGresult **ret_res)
{
	cenote_result *from;
	int keep;
	int r;

	*ret_res = NULL;
	if (conn->is_dying) {
		*ret_res = closed(conn);
		return CENOTE_OK;
	}
	if (conn->stream.res != NULL)
		return stream_on(conn, ret_res);
	r = cpq_take_owed(conn);
	if (r == CENOTE_OK)
		r = cpq_pipeline_get(conn, &from);
	if (r == CENOTE_AGAIN)
		return r;
	if (r == CENOTE_DONE) {
		request_ended(conn);
		return r;
	}
	if (r != CENOTE_OK) {
		*ret_res = ended(conn, r);
		return CENOTE_OK;
	}
	if (conn->queue.first != NULL && conn->queue.first->answer != NULL &&
		cenote_result_kind(from) == CENOTE_RESULT_ROWS) {
		cenote_result_destroy(from);
		*ret_res = take_answer(conn);
		return CENOTE_OK;
	}
	if (is_stream(conn, from))
		return stream_begin(conn, from, ret_res);
	*ret_res = convert(conn, from, &keep);
	if (!keep || *ret_res == NULL)
		cenote_result_destroy(from);
	if (*ret_res == NULL)
		*ret_res = cpq_no_memory(conn);
	return CENOTE_OK;
}
