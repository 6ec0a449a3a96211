/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <stdlib.h>
#include <string.h>

/* Notifications (LISTEN and NOTIFY). libcenote calls this file when a notification comes;
 * PQnotifies() returns it. */

/*
 * PostgreSQL keeps notifications back while a request runs, so libpq finds them after the last
 * result. A notification that came before the request began precedes all results.
 */
static int
is_behind_results(const PGconn *conn)
{
	if (conn->pipeline != PQ_PIPELINE_OFF ||
		(conn->queue.first == NULL && conn->async == CPQ_IDLE))
		return 0;
	return conn->async != CPQ_BUSY || conn->stream.res != NULL ||
	       !cenote_is_busy(conn->session);
}

static int
is_last_result(PGconn *conn)
{
	return conn->async == CPQ_READY &&
	       (conn->queue.first == NULL || cpq_request_is_told(conn));
}

void
cpq_on_notification(uint32_t pid, const char *channel, const char *payload, void *user)
{
	PGconn *conn = user;
	size_t name = strlen(channel) + 1;
	size_t extra = strlen(payload) + 1;
	/* One allocation, so that PQfreemem() frees all of it. */
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
	if (conn->notifies.behind == NULL && is_behind_results(conn))
		conn->notifies.behind = n;
	if (conn->notifies.last != NULL)
		conn->notifies.last->next = n;
	else
		conn->notifies.first = n;
	conn->notifies.last = n;
}

static PGnotify *
take_notify(PGconn *conn)
{
	PGnotify *n = conn->notifies.first;

	if (n == NULL || n == conn->notifies.behind)
		return NULL;
	conn->notifies.first = n->next;
	if (conn->notifies.first == NULL)
		conn->notifies.last = NULL;
	n->next = NULL;
	return n;
}

PGnotify *
cpq_PQnotifies(PGconn *conn)
{
	if (conn == NULL)
		return NULL;
	cpq_look(conn);
	if (conn->notifies.behind != NULL && is_last_result(conn))
		conn->notifies.behind = NULL;
	return take_notify(conn);
}

void
cpq_notifies_drop(PGconn *conn)
{
	PGnotify *n;

	conn->notifies.behind = NULL;
	while ((n = take_notify(conn)) != NULL)
		free(n);
}
