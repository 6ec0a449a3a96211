/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <stdlib.h>
#include <string.h>

/* What the server says of its own accord: notifications and notices. */

/*
 * While a request runs PostgreSQL keeps them back to its end, so libpq comes to them when it has come to the last
 * result. One that came before the request was carried out is before all of them.
 */
static int
is_behind_results(const PGconn *conn)
{
	if (conn->pipeline != PQ_PIPELINE_OFF ||
		(conn->first == NULL && conn->async == CPQ_IDLE))
		return 0;
	return conn->async != CPQ_BUSY || conn->stream != NULL ||
	       !cenote_is_busy(conn->session);
}

static int
is_last_result(PGconn *conn)
{
	return conn->async == CPQ_READY &&
	       (conn->first == NULL || cpq_request_is_told(conn));
}

void
cpq_on_notification(uint32_t pid, const char *channel, const char *payload, void *user)
{
	PGconn *conn = user;
	size_t name = strlen(channel) + 1;
	size_t extra = strlen(payload) + 1;
	/* one piece of memory, so that PQfreemem() frees all of it */
	PGnotify *n = malloc(sizeof(*n) + name + extra);

	cpq_trace_notification(conn, pid, channel, payload);
	if (n == NULL)
		return;
	n->relname = (char *)(n + 1);
	n->extra = n->relname + name;
	memcpy(n->relname, channel, name);
	memcpy(n->extra, payload, extra);
	n->be_pid = (int)pid;
	n->next = NULL;
	if (conn->notifies_behind == NULL && is_behind_results(conn))
		conn->notifies_behind = n;
	if (conn->notifies_last != NULL)
		conn->notifies_last->next = n;
	else
		conn->notifies = n;
	conn->notifies_last = n;
}

static PGnotify *
take_notify(PGconn *conn)
{
	PGnotify *n = conn->notifies;

	if (n == NULL || n == conn->notifies_behind)
		return NULL;
	conn->notifies = n->next;
	if (conn->notifies == NULL)
		conn->notifies_last = NULL;
	n->next = NULL;
	return n;
}

PGnotify *
cpq_PQnotifies(PGconn *conn)
{
	if (conn == NULL)
		return NULL;
	cpq_look(conn);
	if (conn->notifies_behind != NULL && is_last_result(conn))
		conn->notifies_behind = NULL;
	return take_notify(conn);
}

void
cpq_notifies_drop(PGconn *conn)
{
	PGnotify *n;

	conn->notifies_behind = NULL;
	while ((n = take_notify(conn)) != NULL)
		free(n);
}

/* ---- notices ---- */

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

/* Its text is as the program wants it by now, and so is who gets it. */
static void
tell(PGconn *conn, PGresult *notice)
{
	notice->habits = conn->habits;
	if (conn->habits.receiver != NULL && cpq_result_set_message(notice) == 0)
		conn->habits.receiver(conn->habits.receiver_arg, notice);
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
 * libpq comes to it when it has come to the answer of its request: the results before that are taken first. Those,
 * PostgreSQL has sent with it, whether they were asked for or not.
 */
static int
is_before_its_time(const PGconn *conn, const struct cpq_request *req)
{
	return req != NULL &&
	       (req != conn->first || conn->async != CPQ_BUSY || conn->is_only_reading);
}

/* The columns of its rows come with it, and they are as they are then. */
static void
begin_rows(PGconn *conn)
{
	struct cpq_request *req = conn->first;

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

/* libpq only reads in PQconsumeInput(): what came is looked at, and told, by the next call that asks. */
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
	if (conn->habits.receiver == NULL)
		return;
	notice = notice_new(conn, diag, conn->first);
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

	if (conn->first == NULL || conn->first->notices == NULL)
		return;
	begin_rows(conn);
	for (notice = conn->first->notices; notice != NULL; notice = notice->next)
		cpq_trace_kept_notice(conn, notice);
	cpq_notices_tell(conn, &conn->first->notices);
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

/* A wrong use that libpq tells in this way. */
void
cpq_notice_own(const struct cpq_habits *habits, const char *format, ...)
{
	PQExpBufferData text;
	PGresult *res;
	va_list args;

	if (habits->receiver == NULL)
		return;
	res = cpq_result_new(NULL, PGRES_NONFATAL_ERROR);
	if (res == NULL)
		return;
	res->habits = *habits;
	initPQExpBuffer(&text);
	va_start(args, format);
	(void)appendPQExpBufferVA(&text, format, args);
	va_end(args);
	/* the end of the line is not part of it, but of the text */
	if (text.len > 0 && text.data[text.len - 1] == '\n')
		text.data[--text.len] = '\0';
	(void)cpq_result_set_field(res, PG_DIAG_MESSAGE_PRIMARY, text.data);
	(void)cpq_result_set_field(res, PG_DIAG_SEVERITY, "NOTICE");
	(void)cpq_result_set_field(res, PG_DIAG_SEVERITY_NONLOCALIZED, "NOTICE");
	appendPQExpBufferChar(&text, '\n');
	res->message = cpq_result_text(res, text.data);
	termPQExpBuffer(&text);
	if (res->message != NULL)
		habits->receiver(habits->receiver_arg, res);
	cpq_PQclear(res);
}

PQnoticeReceiver
cpq_PQsetNoticeReceiver(PGconn *conn, PQnoticeReceiver proc, void *arg)
{
	PQnoticeReceiver old;

	if (conn == NULL)
		return NULL;
	old = conn->habits.receiver;
	if (proc != NULL) {
		conn->habits.receiver = proc;
		conn->habits.receiver_arg = arg;
	}
	return old;
}

PQnoticeProcessor
cpq_PQsetNoticeProcessor(PGconn *conn, PQnoticeProcessor proc, void *arg)
{
	PQnoticeProcessor old;

	if (conn == NULL)
		return NULL;
	old = conn->habits.processor;
	if (proc != NULL) {
		conn->habits.processor = proc;
		conn->habits.processor_arg = arg;
	}
	return old;
}
