/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

void
cpq_PQtrace(PGconn *conn, FILE *debug_port)
{
	if (conn == NULL)
		return;
	PQuntrace(conn);
	conn->trace = debug_port;
}

void
cpq_PQuntrace(PGconn *conn)
{
	if (conn == NULL)
		return;
	if (conn->trace != NULL)
		fflush(conn->trace);
	conn->trace = NULL;
	conn->trace_flags = 0;
}

void
cpq_PQsetTraceFlags(PGconn *conn, int flags)
{
	if (conn != NULL && conn->trace != NULL)
		conn->trace_flags = flags;
}
