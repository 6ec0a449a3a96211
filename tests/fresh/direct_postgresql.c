/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks the probe's questions on a separate login at PostgreSQL, with libpq.
 */
#include "fresh.h"

#include <libpq-fe.h>

static void
put_rows(FILE *to, const char *name, const PGresult *res)
{
	int row, col;

	for (row = 0; row < PQntuples(res); row++) {
		fputs(name, to);
		for (col = 0; col < PQnfields(res); col++)
			fr_put_value(to,
				PQgetisnull(res, row, col) ? NULL
							   : PQgetvalue(res, row, col),
				(size_t)PQgetlength(res, row, col));
		fputc('\n', to);
	}
}

static int
ask(PGconn *conn, const struct fr_probe *probe, FILE *to)
{
	PGresult *res = PQexec(conn, probe->sql);
	ExecStatusType status = PQresultStatus(res);

	if (status == PGRES_TUPLES_OK)
		put_rows(to, probe->name, res);
	else if (status != PGRES_COMMAND_OK)
		fprintf(to, "%s!\n", probe->name);
	PQclear(res);
	return PQstatus(conn) == CONNECTION_OK ? 0 : -1;
}

int
fr_probe_postgresql(const char *conninfo, const struct fr_probe *probes, FILE *to)
{
	PGconn *conn = PQconnectdb(conninfo);
	int r = PQstatus(conn) == CONNECTION_OK ? 0 : -1;

	fprintf(to, "ready|%d|0\n", CENOTE_TX_IDLE);
	for (; r == 0 && probes->sql != NULL; probes++)
		r = ask(conn, probes, to);
	if (r < 0)
		fprintf(stderr, "# %s: %s\n", conninfo, PQerrorMessage(conn));
	PQfinish(conn);
	return r;
}
