/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statements of PQprepare() in a pool with `replay`: a program of libpq does not notice that its transaction ran twice.
 * tests/integration/test_replay.c has the rules, through the C API.
 */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <string.h>

#include "pair.h"
#include "rig.h"

static struct cnt_pq pq;
static struct cnt_rig rig = { .lines = "sessions = 3\nreplay = 3\n" };
static PGconn *one, *two;

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

/* Check a result, and free it. `wanted`: how many rows it changed, its value, or its SQLSTATE; NULL: any command. */
static void
expect(PGconn *conn, PGresult *res, const char *wanted)
{
	const char *sqlstate = pq.f.PQresultErrorField(res, PG_DIAG_SQLSTATE);
	const char *is = pq.f.PQcmdTuples(res);

	if (sqlstate != NULL)
		is = sqlstate;
	else if (pq.f.PQresultStatus(res) == PGRES_TUPLES_OK)
		is = pq.f.PQgetvalue(res, 0, 0);
	if ((wanted == NULL && sqlstate != NULL) ||
		(wanted != NULL && strcmp(is, wanted) != 0))
		fail_msg("%s: %s", is, pq.f.PQerrorMessage(conn));
	pq.f.PQclear(res);
}

static void
run(PGconn *conn, const char *sql, const char *wanted)
{
	expect(conn, pq.f.PQexec(conn, sql), wanted);
}

static void
prepare(PGconn *conn, const char *name)
{
	const Oid types[] = { 23, 23 };

	expect(conn,
		pq.f.PQprepare(
			conn, name, "update t set v = v + $1 where id = $2", 2, types),
		NULL);
}

static void
change(PGconn *conn, const char *name, const char *by, const char *id, const char *wanted)
{
	const char *const values[] = { by, id };

	expect(conn, pq.f.PQexecPrepared(conn, name, 2, values, NULL, NULL, 0), wanted);
}

static int
setup(void **state)
{
	one = pq.f.PQconnectdb(rig.server.server_line);
	two = pq.f.PQconnectdb(rig.server.server_line);
	if (pq.f.PQstatus(one) != CONNECTION_OK || pq.f.PQstatus(two) != CONNECTION_OK)
		return -1;
	run(one, "create table t (id int primary key, v int)", NULL);
	run(one, "insert into t values (1, 0), (2, 0)", "2");
	return 0;
}

static int
teardown(void **state)
{
	pq.f.PQfinish(one);
	run(two, "drop table t", NULL);
	pq.f.PQfinish(two);
	return 0;
}

static void
begin(void)
{
	run(one, "begin isolation level repeatable read", NULL);
}

static void
expect_rows(const char *first, const char *second)
{
	run(two, "select v from t where id = 1", first);
	run(two, "select v from t where id = 2", second);
}

static void
a_statement_of_before_runs_again(void **state)
{
	prepare(one, "a");
	begin();
	change(one, "a", "10", "2", "1");
	run(two, "update t set v = 5 where id = 1", "1");
	change(one, "a", "10", "1", "1");
	run(one, "commit", NULL);
	expect_rows("15", "10");
}

static void
a_statement_of_the_transaction_runs_again(void **state)
{
	begin();
	prepare(one, "a");
	change(one, "a", "10", "2", "1");
	prepare(one, "");
	run(two, "update t set v = 5 where id = 1", "1");
	change(one, "", "10", "1", "1");
	run(one, "commit", NULL);
	expect_rows("15", "10");
}

/* psycopg 3 sends a statement that it prepares and its execution by these functions. */
static void
statements_that_are_only_sent_run_again(void **state)
{
	const char *const values[] = { "10", "1" };
	PGresult *res;

	begin();
	assert_int_equal(pq.f.PQsendPrepare(one, "a",
				 "update t set v = v + $1::int where id = $2", 0, NULL),
		1);
	while ((res = pq.f.PQgetResult(one)) != NULL)
		expect(one, res, NULL);
	change(one, "a", "10", "2", "1");
	run(two, "update t set v = 5 where id = 1", "1");
	assert_int_equal(pq.f.PQsendQueryPrepared(one, "a", 2, values, NULL, NULL, 1), 1);
	while ((res = pq.f.PQgetResult(one)) != NULL)
		expect(one, res, "1");
	run(one, "commit", NULL);
	expect_rows("15", "10");
}

static void
after_deallocate_the_client_gets_the_error(void **state)
{
	prepare(one, "a");
	begin();
	change(one, "a", "10", "2", "1");
	run(one, "deallocate a", NULL);
	run(two, "update t set v = 5 where id = 1", "1");
	run(one, "update t set v = v + 10 where id = 1", "40001");
	run(one, "select 1", "25P02");
	run(one, "rollback", NULL);
	expect_rows("5", "0");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		TEST(a_statement_of_before_runs_again),
		TEST(a_statement_of_the_transaction_runs_again),
		TEST(statements_that_are_only_sent_run_again),
		TEST(after_deallocate_the_client_gets_the_error),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
