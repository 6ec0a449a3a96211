/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <string.h>

#include "pair.h"
#include "rig.h"

/*
 * PQprepare() in a pool that gives its sessions to others between transactions: each connection has exactly its own
 * statements, as with libpq. tests/integration/test_named.c has more cases, through the C API.
 */

#define N_CONNS 12

static struct cnt_pq pq;
static struct cnt_rig rig = {
	.lines = "sessions = 2\nmode = transaction\nqueue_timeout = 60s\n",
};
static PGconn *conns[N_CONNS];

static int
group_setup(void **state)
{
	cnt_ours_open(&pq);
	return cnt_rig_start(&rig);
}

static int
group_teardown(void **state)
{
	return cnt_rig_stop(&rig);
}

static int
setup(void **state)
{
	for (int i = 0; i < N_CONNS; i++) {
		conns[i] = pq.f.PQconnectdb(rig.server.server_line);
		if (pq.f.PQstatus(conns[i]) != CONNECTION_OK)
			return -1;
	}
	return 0;
}

static int
teardown(void **state)
{
	for (int i = 0; i < N_CONNS; i++)
		pq.f.PQfinish(conns[i]);
	return 0;
}

/* Check a result, and free it. `wanted`: its first value, or its SQLSTATE; NULL: it is a command that succeeded. */
static void
expect(PGconn *conn, PGresult *res, const char *wanted)
{
	ExecStatusType status = pq.f.PQresultStatus(res);
	const char *sqlstate = pq.f.PQresultErrorField(res, PG_DIAG_SQLSTATE);

	if (wanted == NULL && status != PGRES_COMMAND_OK)
		fail_msg("%s", pq.f.PQerrorMessage(conn));
	if (wanted != NULL && status == PGRES_TUPLES_OK)
		assert_string_equal(pq.f.PQgetvalue(res, 0, 0), wanted);
	else if (wanted != NULL && (sqlstate == NULL || strcmp(sqlstate, wanted) != 0))
		fail_msg("not %s: %s", wanted, pq.f.PQerrorMessage(conn));
	pq.f.PQclear(res);
}

static void
prepare(PGconn *conn, const char *name, const char *sql)
{
	expect(conn, pq.f.PQprepare(conn, name, sql, 0, NULL), NULL);
}

static void
run(PGconn *conn, const char *name, const char *wanted)
{
	expect(conn, pq.f.PQexecPrepared(conn, name, 0, NULL, NULL, NULL, 0), wanted);
}

static void
ask(PGconn *conn, const char *sql, const char *wanted)
{
	expect(conn, pq.f.PQexec(conn, sql), wanted);
}

static const char list[] = "select string_agg(name, ' ' order by name) from "
			   "pg_prepared_statements";

/* Two others hold both sessions at a time. So this connection has lost its own. */
static void
move(int i)
{
	PGconn *one = conns[(i + 1) % N_CONNS], *two = conns[(i + 2) % N_CONNS];

	ask(one, "begin", NULL);
	ask(two, "begin", NULL);
	ask(one, "commit", NULL);
	ask(two, "commit", NULL);
}

static void
prepare_own(int i)
{
	char sql[64];

	snprintf(sql, sizeof(sql), "select 'same %d'", i);
	prepare(conns[i], "same", sql);
	snprintf(sql, sizeof(sql), "select %d", i);
	prepare(conns[i], "n", sql);
}

static void
run_own(int i)
{
	char wanted[64];

	snprintf(wanted, sizeof(wanted), "same %d", i);
	run(conns[i], "same", wanted);
	snprintf(wanted, sizeof(wanted), "%d", i);
	run(conns[i], "n", wanted);
	ask(conns[i], "execute n", wanted);
}

static void
connections_with_the_same_names_have_their_own_statements(void **state)
{
	for (int i = 0; i < N_CONNS; i++)
		prepare_own(i);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < N_CONNS; i++) {
			run_own(i);
			ask(conns[i], list, "n same");
		}
	}
	ask(conns[0], "deallocate same", NULL);
	ask(conns[1], "deallocate all", NULL);
	ask(conns[2], "discard all", NULL);
	for (int i = 3; i < N_CONNS; i++)
		run_own(i);
	ask(conns[0], list, "n");
	run(conns[0], "same", "26000");
	run(conns[1], "n", "26000");
	run(conns[2], "n", "26000");
	prepare_own(1);
	move(1);
	run_own(1);
}

static void
a_statement_is_described_and_closed_on_another_session(void **state)
{
	static const Oid types[] = { 20 };
	PGresult *res;

	expect(conns[0],
		pq.f.PQprepare(conns[0], "d", "select $1 as a, 1 as b", 1, types), NULL);
	move(0);
	res = pq.f.PQdescribePrepared(conns[0], "d");
	assert_int_equal(pq.f.PQnparams(res), 1);
	assert_int_equal(pq.f.PQparamtype(res, 0), 20);
	assert_string_equal(pq.f.PQfname(res, 1), "b");
	pq.f.PQclear(res);
	move(0);
	expect(conns[0], pq.f.PQclosePrepared(conns[0], "d"), NULL);
	move(0);
	expect(conns[0], pq.f.PQdescribePrepared(conns[0], "d"), "26000");
}

static void
a_name_in_use_is_refused_on_another_session(void **state)
{
	prepare(conns[0], "x", "select 1");
	move(0);
	expect(conns[0], pq.f.PQprepare(conns[0], "x", "select 2", 0, NULL), "42P05");
	move(0);
	run(conns[0], "x", "1");
}

static void
send_run(PGconn *conn, const char *name)
{
	assert_int_equal(pq.f.PQsendQueryPrepared(conn, name, 0, NULL, NULL, NULL, 0), 1);
}

static void
take(PGconn *conn, const char *wanted)
{
	expect(conn, pq.f.PQgetResult(conn), wanted);
	assert_null(pq.f.PQgetResult(conn));
}

static void
take_status(PGconn *conn, ExecStatusType wanted)
{
	PGresult *res = pq.f.PQgetResult(conn);

	assert_int_equal(pq.f.PQresultStatus(res), wanted);
	pq.f.PQclear(res);
	if (wanted != PGRES_PIPELINE_SYNC)
		assert_null(pq.f.PQgetResult(conn));
}

static void
a_pipeline_brings_back_what_it_uses(void **state)
{
	PGconn *conn = conns[0];

	prepare(conn, "a", "select 'a'");
	prepare(conn, "b", "select 'b'");
	move(0);
	assert_int_equal(pq.f.PQenterPipelineMode(conn), 1);
	send_run(conn, "a");
	assert_int_equal(pq.f.PQsendPrepare(conn, "c", "select 'c'", 0, NULL), 1);
	send_run(conn, "c");
	send_run(conn, "none");
	send_run(conn, "b");
	assert_int_equal(pq.f.PQpipelineSync(conn), 1);
	send_run(conn, "b");
	assert_int_equal(pq.f.PQpipelineSync(conn), 1);
	take(conn, "a");
	take(conn, NULL);
	take(conn, "c");
	take(conn, "26000");
	take_status(conn, PGRES_PIPELINE_ABORTED);
	take_status(conn, PGRES_PIPELINE_SYNC);
	take(conn, "b");
	take_status(conn, PGRES_PIPELINE_SYNC);
	assert_int_equal(pq.f.PQexitPipelineMode(conn), 1);
	move(0);
	run(conn, "c", "c");
}

static void
a_new_connection_of_the_handle_has_none(void **state)
{
	prepare(conns[0], "a", "select 'a'");
	pq.f.PQreset(conns[0]);
	run(conns[0], "a", "26000");
	prepare(conns[0], "a", "select 'new'");
	move(0);
	run(conns[0], "a", "new");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(connections_with_the_same_names_have_their_own_statements),
		TEST(a_statement_is_described_and_closed_on_another_session),
		TEST(a_name_in_use_is_refused_on_another_session),
		TEST(a_pipeline_brings_back_what_it_uses),
		TEST(a_new_connection_of_the_handle_has_none),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
