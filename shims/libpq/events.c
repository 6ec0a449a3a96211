/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/*
 * Event procedures (libpq-events.h): programs keep their own data on connections and results, and
 * are called when a connection or result begins and ends.
 */

void
cpq_events_finish(struct cpq_events *events)
{
	for (int i = 0; i < events->n; i++)
		free(events->list[i].name);
	free(events->list);
	*events = (struct cpq_events){ NULL, 0, 0 };
}

/* Copy the procedures without their data, which belongs to each connection and result. */
int
cpq_events_copy(struct cpq_events *to, const struct cpq_events *from)
{
	*to = (struct cpq_events){ NULL, 0, 0 };
	if (from->n == 0)
		return 0;
	to->list = calloc((size_t)from->n, sizeof(*to->list));
	if (to->list == NULL)
		return -1;
	to->cap = from->n;
	for (; to->n < from->n; to->n++) {
		const struct cpq_event *e = &from->list[to->n];

		to->list[to->n] = (struct cpq_event){ .proc = e->proc,
			.name = strdup(e->name),
			.pass_through = e->pass_through };
		if (to->list[to->n].name == NULL) {
			cpq_events_finish(to);
			return -1;
		}
	}
	return 0;
}

static struct cpq_event *
find(const struct cpq_events *events, PGEventProc proc)
{
	for (int i = 0; i < events->n; i++) {
		if (events->list[i].proc == proc)
			return &events->list[i];
	}
	return NULL;
}

static struct cpq_event *
add(struct cpq_events *events)
{
	struct cpq_event *grown;
	int cap = events->cap > 0 ? 2 * events->cap : 8;

	if (events->n == events->cap) {
		if (events->cap > INT_MAX / 2)
			return NULL;
		grown = realloc(events->list, (size_t)cap * sizeof(*grown));
		if (grown == NULL)
			return NULL;
		events->list = grown;
		events->cap = cap;
	}
	return &events->list[events->n];
}

int
cpq_PQregisterEventProc(
	PGconn *conn, PGEventProc proc, const char *name, void *passThrough)
{
	PGEventRegister tell = { conn };
	struct cpq_event *e;

	if (proc == NULL || conn == NULL || name == NULL || *name == '\0')
		return 0;
	if (find(&conn->events, proc) != NULL)
		return 0;
	e = add(&conn->events);
	if (e == NULL)
		return 0;
	*e = (struct cpq_event){
		.proc = proc, .name = strdup(name), .pass_through = passThrough
	};
	if (e->name == NULL)
		return 0;
	conn->events.n++;
	if (proc(PGEVT_REGISTER, &tell, passThrough))
		return 1;
	conn->events.n--;
	free(conn->events.list[conn->events.n].name);
	return 0;
}

int
cpq_PQsetInstanceData(PGconn *conn, PGEventProc proc, void *data)
{
	struct cpq_event *e =
		conn != NULL && proc != NULL ? find(&conn->events, proc) : NULL;

	if (e == NULL)
		return 0;
	e->data = data;
	return 1;
}

void *
cpq_PQinstanceData(const PGconn *conn, PGEventProc proc)
{
	const struct cpq_event *e =
		conn != NULL && proc != NULL ? find(&conn->events, proc) : NULL;

	return e != NULL ? e->data : NULL;
}

int
cpq_PQresultSetInstanceData(PGresult *result, PGEventProc proc, void *data)
{
	struct cpq_event *e =
		result != NULL && proc != NULL ? find(&result->events, proc) : NULL;

	if (e == NULL)
		return 0;
	e->data = data;
	return 1;
}

void *
cpq_PQresultInstanceData(const PGresult *result, PGEventProc proc)
{
	const struct cpq_event *e =
		result != NULL && proc != NULL ? find(&result->events, proc) : NULL;

	return e != NULL ? e->data : NULL;
}

int
cpq_PQfireResultCreateEvents(PGconn *conn, PGresult *res)
{
	int is_well = 1;

	if (res == NULL)
		return 0;
	for (int i = 0; i < res->events.n; i++) {
		PGEventResultCreate tell = { conn, res };
		struct cpq_event *e = &res->events.list[i];

		/* Call each procedure once, even if the program calls PQfireResultCreateEvents()
		 * again. */
		if (e->is_initialised)
			continue;
		if (e->proc(PGEVT_RESULTCREATE, &tell, e->pass_through))
			e->is_initialised = 1;
		else
			is_well = 0;
	}
	return is_well;
}

void
cpq_events_tell_reset(PGconn *conn)
{
	for (int i = 0; i < conn->events.n; i++) {
		PGEventConnReset tell = { conn };
		const struct cpq_event *e = &conn->events.list[i];

		/* As in libpq 14 and later, the procedure's return value is ignored. */
		(void)e->proc(PGEVT_CONNRESET, &tell, e->pass_through);
	}
}

void
cpq_events_tell_destruction(PGconn *conn)
{
	for (int i = 0; i < conn->events.n; i++) {
		PGEventConnDestroy tell = { conn };
		const struct cpq_event *e = &conn->events.list[i];

		(void)e->proc(PGEVT_CONNDESTROY, &tell, e->pass_through);
	}
}
