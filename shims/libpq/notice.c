/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <stdio.h>

/*
 * Notices of the server, and libpq's default handling of notices. A notice belongs to a request:
 * the program gets it when it has come to that request's answer.
 */

void
cpq_default_processor(void *arg, const char *message)
{
	(void)arg;
	/* libpq prints notices if the program has set no handler. */
	fprintf(stderr, "%s", message);
}

void
cpq_default_receiver(void *arg, const PGresult *res)
{
	(void)arg;
	if (res->inherited.processor != NULL)
		res->inherited.processor(
			res->inherited.processor_arg, cpq_PQresultErrorMessage(res));
}

static PGresult *
notice_new(PGconn *conn, const cenote_diag *diag, const struct cpq_request *req)
{
	PGresult *notice = cpq_result_new(conn, PGRES_NONFATAL_ERROR);
	const char *query = req != NULL ? req->query : NULL;

	if (notice != NULL && cpq_result_set_fields(notice, diag, query) == 0)
		return notice;
	cpq_PQclear(notice);
	return NULL;
}

/* Give the program a notice, in the verbosity and to the receiver that it has set by now. */
static void
tell(PGconn *conn, PGresult *notice)
{
	notice->inherited = conn->inherited;
	if (conn->inherited.receiver != NULL && cpq_result_set_message(notice) == 0)
		conn->inherited.receiver(conn->inherited.receiver_arg, notice);
	cpq_PQclear(notice);
}

static void
keep(PGresult **list, PGresult *notice)
{
	while (*list != NULL)
		list = &(*list)->next;
	*list = notice;
}

/*
 * In libpq the program takes all earlier results before it gets a notice. PostgreSQL has sent these
 * results with the notice, even if the program did not ask for them.
 */
static int
is_before_its_time(const PGconn *conn, const struct cpq_request *req)
{
	return req != NULL && (req != conn->queue.first || conn->async != CPQ_BUSY ||
				      conn->is_only_reading);
}

/* PostgreSQL sends the columns before the notice, so take the columns now. */
static void
begin_rows(PGconn *conn)
{
	struct cpq_request *req = conn->queue.first;

	if (req != NULL && !req->is_asked_for && req->begun == NULL &&
		req->held != NULL && cenote_result_kind(req->held) == CENOTE_RESULT_ROWS)
		req->begun = cpq_result_rows(conn, req->held, PGRES_TUPLES_OK);
}

static void
keep_for(PGconn *conn, struct cpq_request *req, const cenote_diag *diag)
{
	PGresult *notice = notice_new(conn, diag, req);

	cpq_pipeline_ask_before(conn, req);
	if (notice != NULL)
		keep(&req->notices, notice);
}

/* In PQconsumeInput() libpq only reads. The next call that looks for an answer gives the notice to
 * the program. */
void
cpq_on_notice(const cenote_diag *diag, void *user)
{
	PGconn *conn = user;
	struct cpq_request *req = cpq_pipeline_current(conn);
	PGresult *notice;

	if (is_before_its_time(conn, req)) {
		keep_for(conn, req, diag);
		return;
	}
	begin_rows(conn);
	cpq_trace_notice(conn, diag);
	if (conn->inherited.receiver == NULL)
		return;
	notice = notice_new(conn, diag, conn->queue.first);
	if (notice == NULL)
		return;
	if (conn->is_only_reading)
		keep(&conn->notices, notice);
	else
		tell(conn, notice);
}

void
cpq_notices_tell(PGconn *conn, PGresult **list)
{
	PGresult *notice;

	while ((notice = *list) != NULL) {
		*list = notice->next;
		tell(conn, notice);
	}
}

void
cpq_notices_catch_up(PGconn *conn)
{
	const PGresult *notice;

	if (conn->queue.first == NULL || conn->queue.first->notices == NULL)
		return;
	begin_rows(conn);
	for (notice = conn->queue.first->notices; notice != NULL; notice = notice->next)
		cpq_trace_kept_notice(conn, notice);
	cpq_notices_tell(conn, &conn->queue.first->notices);
}

void
cpq_notices_drop(PGresult **list)
{
	PGresult *notice;

	while ((notice = *list) != NULL) {
		*list = notice->next;
		cpq_PQclear(notice);
	}
}

PQnoticeReceiver
cpq_PQsetNoticeReceiver(PGconn *conn, PQnoticeReceiver proc, void *arg)
{
	PQnoticeReceiver old;

	if (conn == NULL)
		return NULL;
	old = conn->inherited.receiver;
	if (proc != NULL) {
		conn->inherited.receiver = proc;
		conn->inherited.receiver_arg = arg;
	}
	return old;
}

PQnoticeProcessor
cpq_PQsetNoticeProcessor(PGconn *conn, PQnoticeProcessor proc, void *arg)
{
	PQnoticeProcessor old;

	if (conn == NULL)
		return NULL;
	old = conn->inherited.processor;
	if (proc != NULL) {
		conn->inherited.processor = proc;
		conn->inherited.processor_arg = arg;
	}
	return old;
}
