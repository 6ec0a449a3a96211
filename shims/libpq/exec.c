/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

/* The calls that wait for their result, such as PQexec(): drop the results of the previous request,
 * send, and take results until there are no more. */

/* Take and drop the remaining results of the previous request. */
static int
discard(PGconn *conn)
{
	PGresult *res;

	while ((res = cpq_PQgetResult(conn)) != NULL) {
		ExecStatusType status = res->status;

		cpq_PQclear(res);
		/* If the program did not take the result that began the copy, the copy may be over
		 * already. Ending it again is then an error. */
		if (status == PGRES_COPY_IN &&
			cpq_PQputCopyEnd(conn, "COPY terminated by new PQexec") < 0)
			return 0;
		if (status == PGRES_COPY_OUT)
			cpq_copy_over(conn);
		if (conn->status == CONNECTION_BAD)
			return 0;
	}
	return 1;
}

int
cpq_exec_begin(PGconn *conn)
{
	if (conn == NULL)
		return 0;
	if (conn->queue.first == NULL)
		resetPQExpBuffer(&conn->error);
	if (conn->pipeline != PQ_PIPELINE_OFF) {
		cpq_say(conn,
			"synchronous command execution functions are not allowed in "
			"pipeline mode");
		return 0;
	}
	return discard(conn);
}

/* Every call that waits for its result ends with this. It returns the last result, or the result
 * that begins a copy, which the program then carries out. */
static PGresult *
end_exec(PGconn *conn)
{
	PGresult *last = NULL;
	PGresult *res;

	while ((res = cpq_PQgetResult(conn)) != NULL) {
		cpq_PQclear(last);
		last = res;
		if (res->status == PGRES_COPY_IN || res->status == PGRES_COPY_OUT ||
			conn->status == CONNECTION_BAD)
			break;
	}
	return last;
}

PGresult *
cpq_PQexec(PGconn *conn, const char *query)
{
	if (!cpq_exec_begin(conn) || !cpq_PQsendQuery(conn, query))
		return NULL;
	return end_exec(conn);
}

PGresult *
cpq_PQexecParams(PGconn *conn, const char *command, int nParams, const Oid *paramTypes,
	const char *const *paramValues, const int *paramLengths, const int *paramFormats,
	int resultFormat)
{
	if (!cpq_exec_begin(conn) ||
		!cpq_PQsendQueryParams(conn, command, nParams, paramTypes, paramValues,
			paramLengths, paramFormats, resultFormat))
		return NULL;
	return end_exec(conn);
}

PGresult *
cpq_PQprepare(PGconn *conn, const char *stmtName, const char *query, int nParams,
	const Oid *paramTypes)
{
	if (!cpq_exec_begin(conn) ||
		!cpq_PQsendPrepare(conn, stmtName, query, nParams, paramTypes))
		return NULL;
	return end_exec(conn);
}

PGresult *
cpq_PQexecPrepared(PGconn *conn, const char *stmtName, int nParams,
	const char *const *paramValues, const int *paramLengths, const int *paramFormats,
	int resultFormat)
{
	if (!cpq_exec_begin(conn) ||
		!cpq_PQsendQueryPrepared(conn, stmtName, nParams, paramValues,
			paramLengths, paramFormats, resultFormat))
		return NULL;
	return end_exec(conn);
}

#define NAMED(function, send)                                                            \
	PGresult *cpq_##function(PGconn *conn, const char *name)                         \
	{                                                                                \
		if (!cpq_exec_begin(conn) || !send(conn, name))                          \
			return NULL;                                                     \
		return end_exec(conn);                                                   \
	}

NAMED(PQdescribePrepared, cpq_PQsendDescribePrepared)
NAMED(PQdescribePortal, cpq_PQsendDescribePortal)
NAMED(PQclosePrepared, cpq_PQsendClosePrepared)
NAMED(PQclosePortal, cpq_PQsendClosePortal)
