/* SPDX-License-Identifier: BSD-2-Clause */
/* docs/transaction-mode.md through libpq (support/cnt_holds.h). */
#include "support/cnt_cmocka.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "pair.h"
#include "rig.h"
#include "support/cnt_holds.h"

static struct cnt_pq pq;
static struct cnt_rig rig = {
	.lines = "sessions = 1\nmode = transaction\nqueue_timeout = 60s\n",
};

static void *
connect_to_pool(void)
{
	PGconn *conn = pq.f.PQconnectdb(rig.server.server_line);

	assert_int_equal(pq.f.PQstatus(conn), CONNECTION_OK);
	return conn;
}

static void
disconnect(void *conn)
{
	pq.f.PQfinish(conn);
}

static int
run(void *conn, const char *sql)
{
	PGresult *res = pq.f.PQexec(conn, sql);
	ExecStatusType status = pq.f.PQresultStatus(res);

	pq.f.PQclear(res);
	return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ? 0 : -1;
}

static void
look(void *conn, const char *sql, char value[CNT_HOLDS_VALUE_MAX])
{
	PGresult *res = pq.f.PQexec(conn, sql);
	bool is_there =
		pq.f.PQresultStatus(res) == PGRES_TUPLES_OK && pq.f.PQntuples(res) == 1;

	snprintf(value, CNT_HOLDS_VALUE_MAX, "%s",
		is_there ? pq.f.PQgetvalue(res, 0, 0) : "error");
	pq.f.PQclear(res);
}

static const char *
message(void *conn)
{
	return pq.f.PQerrorMessage(conn);
}

static void
the_page_is_true(void **state)
{
	static const struct cnt_holds_face face = { connect_to_pool, disconnect, run,
		look, message };

	cnt_holds_try(&face, "## PostgreSQL");
}

static int
setup(void **state)
{
	cnt_ours_open(&pq);
	return cnt_rig_start(&rig);
}

static int
teardown(void **state)
{
	return cnt_rig_stop(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_page_is_true) };

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, setup, teardown);
}
