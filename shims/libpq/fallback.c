/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include "../common/route.h"

/*
 * The fallback (CENOTE_FALLBACK): a connection that finds no cenoted goes to the server
 * directly. The original library makes a connection of its own, and face.c forwards all
 * calls to it. connect.c calls this file.
 */

/* Register an event procedure on the original's connection, with its data. If the procedure made
 * new data for that registration, tell it that the old connection is gone. */
static void
hand_over_event(const struct cpq_original *original, PGconn *conn, PGconn *stand_in,
	const struct cpq_event *e)
{
	PGEventConnDestroy tell = { conn };

	if (!original->PQregisterEventProc(stand_in, e->proc, e->name, e->pass_through))
		return;
	if (original->PQinstanceData(stand_in, e->proc) == NULL)
		(void)original->PQsetInstanceData(stand_in, e->proc, e->data);
	else
		(void)e->proc(PGEVT_CONNDESTROY, &tell, e->pass_through);
}

/* Give the original's connection everything that the program has set. */
static void
hand_over(const struct cpq_original *original, PGconn *conn, PGconn *stand_in)
{
	const struct cpq_inherited *inherited = &conn->inherited;

	(void)original->PQsetErrorVerbosity(stand_in, inherited->verbosity);
	(void)original->PQsetErrorContextVisibility(stand_in, inherited->show_context);
	if (inherited->receiver != cpq_default_receiver)
		(void)original->PQsetNoticeReceiver(
			stand_in, inherited->receiver, inherited->receiver_arg);
	if (inherited->processor != cpq_default_processor)
		(void)original->PQsetNoticeProcessor(
			stand_in, inherited->processor, inherited->processor_arg);
	for (int i = 0; i < conn->events.n; i++)
		hand_over_event(original, conn, stand_in, &conn->events.list[i]);
	if (conn->trace.file != NULL) {
		original->PQtrace(stand_in, conn->trace.file);
		original->PQsetTraceFlags(stand_in, conn->trace.flags);
	}
}

/* Connect with the original library. NULL: it failed, and the error text says why. If the caller
 * waits, a failed connection also returns NULL. */
static PGconn *
connect_directly(const struct cpq_original *original, PGconn *conn, int is_waited_for)
{
	const char *keywords[CPQ_N_KEYS + 1], *values[CPQ_N_KEYS + 1];
	PGconn *direct;

	cpq_conninfo_list(&conn->info, keywords, values);
	if (!is_waited_for)
		return original->PQconnectStartParams(keywords, values, 0);
	direct = original->PQconnectdbParams(keywords, values, 0);
	if (original->PQstatus(direct) == CONNECTION_OK)
		return direct;
	appendPQExpBufferStr(&conn->error, original->PQerrorMessage(direct));
	original->PQfinish(direct);
	return NULL;
}

int
cpq_fall_back(PGconn *conn, int is_waited_for)
{
	const struct cpq_original *original;
	PGconn *stand_in;

	if (!conn->attempt.is_unreachable || !csh_may_fall_back())
		return -1;
	/* Fall back at most once for each attempt. */
	conn->attempt.is_unreachable = 0;
	original = cpq_original(NULL);
	stand_in =
		original != NULL ? connect_directly(original, conn, is_waited_for) : NULL;
	if (stand_in == NULL)
		return -1;
	hand_over(original, conn, stand_in);
	cpq_escape_leave();
	conn->stand_in = stand_in;
	return 0;
}
