/* SPDX-License-Identifier: BSD-2-Clause */
#include "rig.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cenote/cenote.h>

/*
 * Tests with the driver manager's own pooling. A connection that the driver manager kept must
 * behave like a new one. The driver manager must not hand out a dead connection.
 *
 * usage: test_odbc_pooling sqlite | postgresql | mariadb
 */

static SQLRETURN
try_connect(void)
{
	the.dbc = cnt_odbc_new_dbc(&the);
	return SQLConnect(the.dbc, TEXT("rig"), SQL_NTS, NULL, 0, NULL, 0);
}

static void
connect_again(void)
{
	ok_dbc(the.dbc, try_connect());
	the.stmt = cnt_odbc_new_stmt(&the);
}

static void
disconnect(void)
{
	ok_dbc(the.dbc, SQLDisconnect(the.dbc));
	ok_dbc(the.dbc, SQLFreeHandle(SQL_HANDLE_DBC, the.dbc));
}

/* The number of sessions that clients have, including connections that the driver manager keeps, and this one. */
static int
count_clients(void)
{
	cenote_conn *conn;
	cenote_result *res;
	int64_t col;
	int n = 0;

	assert_ok(cenote_conn_create(NULL, &conn));
	assert_ok(cenote_conn_set_uri(conn, the.daemon.uri));
	assert_ok(cenote_connect(conn));
	assert_ok(cenote_status(conn, "workers", &res));
	col = cenote_result_find_column(res, "state");
	assert_true(col >= 0);
	for (uint64_t i = 0; i < cenote_result_n_rows(res); i++)
		n += strcmp(cenote_result_text(res, i, (uint32_t)col, NULL),
			     "attached") == 0;
	cenote_result_destroy(res);
	cenote_conn_destroy(conn);
	return n;
}

/* The driver manager keeps one connection, and no others. A worker may learn late that a client has gone: wait for it. */
static void
expect_one_kept(void)
{
	int n = count_clients();

	for (int i = 0; i < 400 && n != 2; i++) {
		(void)usleep(25000);
		n = count_clients();
	}
	assert_int_equal(n, 2);
}

static void
what_one_left_the_next_does_not_find(void **state)
{
	char text[32];
	SQLUINTEGER value;

	connect_again();
	cnt_odbc_run(the.stmt, "create temporary table left_behind (a int)");
	ok_dbc(the.dbc, SQLSetConnectAttr(the.dbc, SQL_ATTR_AUTOCOMMIT,
				NUMBER(SQL_AUTOCOMMIT_OFF), 0));
	disconnect();
	expect_one_kept();
	connect_again();
	expect_one_kept();
	says(the.stmt, "42S02",
		SQLExecDirect(the.stmt, TEXT("select a from left_behind"), SQL_NTS));
	ok_dbc(the.dbc, SQLGetConnectAttr(the.dbc, SQL_ATTR_AUTOCOMMIT, &value, 0, NULL));
	assert_int_equal(value, SQL_AUTOCOMMIT_ON);
	assert_string_equal(cnt_odbc_ask(the.stmt, "select 1", text, sizeof(text)), "1");
	disconnect();
}

static void
a_result_that_was_not_read_does_no_harm(void **state)
{
	char text[32];

	connect_again();
	ok(the.stmt, SQLExecDirect(the.stmt, TEXT(cnt_odbc_sql(the.kind->words, 20000)),
			     SQL_NTS));
	ok(the.stmt, SQLFetch(the.stmt));
	disconnect();
	connect_again();
	assert_string_equal(cnt_odbc_ask(the.stmt, "select 7", text, sizeof(text)), "7");
	disconnect();
}

/* cenoted restarts while the driver manager keeps a connection to the previous cenoted. */
static void
what_is_dead_is_not_handed_out(void **state)
{
	char text[32];

	connect_again();
	disconnect();
	assert_int_equal(kill(-the.daemon.pid, SIGKILL), 0);
	(void)cnt_daemon_end(&the.daemon);
	assert_int_equal(cnt_daemon_run(&the.daemon), 0);
	connect_again();
	assert_string_equal(cnt_odbc_ask(the.stmt, "select 8", text, sizeof(text)), "8");
	disconnect();
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_one_left_the_next_does_not_find),
		cmocka_unit_test(a_result_that_was_not_read_does_no_harm),
		cmocka_unit_test(what_is_dead_is_not_handed_out),
	};

	the.kind = cnt_odbc_kind(argc, argv);
	the.has_pooling = 1;
	return cmocka_run_group_tests_name(
		the.kind->name, tests, cnt_odbc_setup, cnt_odbc_teardown);
}
