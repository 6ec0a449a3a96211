/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

/*
 * PQgetResult(), and the states of a connection between sending a request and its last result. It
 * owns conn->async and conn->ready; answer.c makes the results.
 *
 * The states and their changes are the same as in libpq, because nearly every call shows them to
 * the program. CPQ_BUSY becomes CPQ_READY when an answer is there. The shim reads no further answer
 * until the program has taken that one.
 */

/* If the program did not take the result with which the copy began, report the end of the copy in
 * that result. */
static PGresult *
with_copy(PGconn *conn, PGresult *res)
{
	PGresult *copy = conn->ready;

	conn->ready = NULL;
	if (copy == NULL || res->status != PGRES_COMMAND_OK) {
		cpq_PQclear(copy);
		return res;
	}
	cpq_result_set_tag(copy, res->command);
	cpq_PQclear(res);
	return copy;
}

/* Look for the next answer: CENOTE_OK, CENOTE_AGAIN. Only for a connection that is
 * CPQ_BUSY. */
static int
step(PGconn *conn)
{
	PGresult *res;
	int r;

	cpq_notices_catch_up(conn);
	if (conn->queue.first != NULL)
		cpq_parameters_catch_up(conn, conn->queue.first);
	r = cpq_next_result(conn, &res);
	if (r == CENOTE_AGAIN)
		return r;
	if (r == CENOTE_DONE) {
		conn->async = conn->pipeline == PQ_PIPELINE_OFF ? CPQ_IDLE : CPQ_BETWEEN;
		return CENOTE_OK;
	}
	res = with_copy(conn, res);
	conn->ready = res;
	if (conn->async != CPQ_COPY_IN && conn->async != CPQ_COPY_OUT)
		conn->async = cpq_is_part(res) ? CPQ_READY_MORE : CPQ_READY;
	return CENOTE_OK;
}

void
cpq_look(PGconn *conn)
{
	cpq_notices_tell(conn, &conn->notices);
	/* Only a call that reads finds out that the connection is closed. */
	if (conn->async == CPQ_BUSY && conn->status != CONNECTION_BAD && !conn->is_dying)
		(void)step(conn);
}

int
cpq_request_is_told(PGconn *conn)
{
	struct cpq_request *req = conn->queue.first;

	/* Only PQsendQuery() sends a text with several statements. Any other request has one result. */
	if (req->kind != CPQ_SIMPLE)
		return 1;
	if (req->held == NULL && !req->is_ended)
		req->is_ended = cpq_get_result(conn, &req->held) == CENOTE_DONE;
	return req->is_ended;
}

/* Wait for an answer. Libcenote does the waiting, mostly in the call that reads. 0;
 * -1: this process must not use the connection. */
static int
await(PGconn *conn)
{
	int r;

	while (conn->async == CPQ_BUSY) {
		if (conn->status != CONNECTION_BAD && cpq_enter(conn) < 0)
			return -1;
		/* If the program has not asked for the answer, libpq would wait for ever here. */
		cpq_pipeline_ask(conn);
		(void)cenote_set_nonblocking(conn->session, CENOTE_BLOCKING);
		r = step(conn);
		(void)cenote_set_nonblocking(conn->session, CENOTE_PASSIVE);
		if (r == CENOTE_AGAIN) {
			conn->ready = cpq_lost(conn, CENOTE_ERR_CONN);
			conn->async = CPQ_READY;
		}
	}
	return 0;
}

static PGresult *
take_ready(PGconn *conn)
{
	PGresult *res = conn->ready;

	conn->ready = NULL;
	return res;
}

/* The program has finished the oldest request. Libcenote may not have given the end of the request
 * yet. */
static void
advance_queue(PGconn *conn, int is_sync)
{
	if (conn->queue.first == NULL)
		return;
	if (conn->pipeline == PQ_PIPELINE_OFF) {
		/* A text may have several statements, so the request ends when the server is ready
		 * for the next one. */
		if (conn->queue.first->kind == CPQ_SIMPLE ||
			conn->queue.first->kind == CPQ_FUNCTION ||
			conn->queue.first->is_many)
			return;
	} else {
		/* If a synchronisation point fails, an error comes first, and PGRES_PIPELINE_SYNC
		 * follows. */
		if (conn->queue.first->kind == CPQ_SYNC && !is_sync)
			return;
		conn->queue.n_over = conn->queue.first->number;
	}
	cpq_request_pop(conn);
	cpq_cancel_follow(conn);
}

/* In a pipeline NULL follows each answer, but not a synchronisation point. */
static PGresult *
take_answer(PGconn *conn)
{
	PGresult *res = take_ready(conn);
	int is_sync = res->status == PGRES_PIPELINE_SYNC;

	/* The server may have closed the connection before the program took this
	 * answer. Then more of the answer may come. */
	if (conn->status == CONNECTION_BAD && conn->queue.first == NULL) {
		conn->async = CPQ_IDLE;
		return res;
	}
	advance_queue(conn, is_sync);
	conn->async = conn->pipeline == PQ_PIPELINE_OFF ? CPQ_BUSY : CPQ_BETWEEN;
	if (is_sync)
		cpq_pipeline_advance(conn);
	return res;
}

/* During a copy, each call returns a result that reports the copy. */
static PGresult *
take_copy(PGconn *conn)
{
	PGresult *res = take_ready(conn);

	if (conn->status != CONNECTION_OK) {
		cpq_PQclear(res);
		return cpq_lost(conn, CENOTE_ERR_CONN);
	}
	if (res != NULL)
		return res;
	/* Return NULL without memory, as libpq does: a program that calls this until there are no
	 * more results must stop. */
	return cpq_PQmakeEmptyPGresult(
		conn, conn->async == CPQ_COPY_IN ? PGRES_COPY_IN : PGRES_COPY_OUT);
}

static PGresult *
take(PGconn *conn)
{
	switch (conn->async) {
	case CPQ_BETWEEN:
		cpq_pipeline_advance(conn);
		return NULL;
	case CPQ_READY:
		return take_answer(conn);
	case CPQ_READY_MORE:
		conn->async = CPQ_BUSY;
		return take_ready(conn);
	case CPQ_COPY_IN:
	case CPQ_COPY_OUT:
		return take_copy(conn);
	default:
		return NULL;
	}
}

PGresult *
cpq_take_result(PGconn *conn)
{
	cpq_notices_tell(conn, &conn->notices);
	return await(conn) < 0 ? NULL : take(conn);
}

PGresult *
cpq_PQgetResult(PGconn *conn)
{
	PGresult *res = conn != NULL ? cpq_take_result(conn) : NULL;

	if (res != NULL)
		(void)cpq_PQfireResultCreateEvents(conn, res);
	return res;
}

int
cpq_PQisBusy(PGconn *conn)
{
	if (conn == NULL)
		return 0;
	cpq_look(conn);
	return conn->async == CPQ_BUSY && conn->status != CONNECTION_BAD;
}

/* No request is outstanding, so the program gets the server's last error as a notice. libpq finds
 * the closed connection only in the next call, but libcenote has found it already. */
static void
lose_idle(PGconn *conn, int status)
{
	const cenote_diag *words = cpq_last_words(conn);

	if (words == NULL) {
		cpq_say_failure(conn, status);
		return;
	}
	conn->is_only_reading = 1;
	cpq_on_notice(words, conn);
	conn->is_only_reading = 0;
	cpq_say_closed(conn);
}

int
cpq_PQconsumeInput(PGconn *conn)
{
	int r;

	if (conn == NULL)
		return 0;
	if (conn->status == CONNECTION_BAD) {
		cpq_say(conn, "connection not open");
		return 0;
	}
	if (cpq_enter(conn) < 0)
		return 0;
	/* After the server's last error the program finds the connection closed. */
	if (conn->is_dying && conn->async == CPQ_BUSY) {
		(void)step(conn);
		return 0;
	}
	if (conn->is_dying || conn->is_end_read) {
		cpq_say_closed(conn);
		return 0;
	}
	r = cpq_read(conn);
	if (r == CENOTE_AGAIN && conn->queue.first != NULL)
		r = cpq_push(conn);
	if (r >= 0 || r == CENOTE_AGAIN || cenote_is_connected(conn->session))
		return 1;
	/* As in libpq, answers that came before the loss can still be taken. The next
	 * call reports the loss. */
	if (conn->queue.first != NULL) {
		conn->is_end_read = 1;
		return 1;
	}
	lose_idle(conn, r);
	return 0;
}
