/* SPDX-License-Identifier: BSD-2-Clause */
#include "rig.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * Calls that end early or return before they are done: time limits of queries and logins, cancels, polling.
 *
 * usage: test_odbc_limits sqlite | postgresql | mariadb
 */

static void
assert_usable(void)
{
	char text[16];

	assert_string_equal(cnt_odbc_ask(the.stmt, "select 1", text, sizeof(text)), "1");
}

/* A query that takes about n seconds. SQLite cannot sleep, so there the query computes. */
static const char *
takes_seconds(int n)
{
	return the.kind->has_server ? cnt_odbc_sql(the.kind->sleep, n)
				    : cnt_odbc_sql(the.kind->many, n * 3000000);
}

/* ---------------------------------------------------------------------------- limits ----- */

static void
a_time_limit_stops_a_query(void **state)
{
	const char *sql = cnt_odbc_sql(the.kind->sleep, 20);
	int64_t start = cnt_now_ms();

	ok(the.stmt, SQLSetStmtAttr(the.stmt, SQL_ATTR_QUERY_TIMEOUT, NUMBER(1), 0));
	says(the.stmt, "HYT00", SQLExecDirect(the.stmt, TEXT(sql), SQL_NTS));
	assert_true(cnt_now_ms() - start < 15000);
	assert_usable();
}

/* A socket that accepts connections and never answers. */
static int
listen_silently(int *ret_port)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t n = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 4), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
	*ret_port = ntohs(at.sin_port);
	return fd;
}

static void
a_login_takes_no_longer_than_its_limit(void **state)
{
	SQLHDBC dbc = cnt_odbc_new_dbc(*state);
	int64_t start = cnt_now_ms();
	char string[512];
	int port, fd = listen_silently(&port);

	(void)snprintf(string, sizeof(string),
		"Driver={%s};Pool=main;Server=tcp://127.0.0.1:%d;TLS=disable",
		CNT_ODBC_DRIVER, port);
	ok_dbc(dbc, SQLSetConnectAttr(dbc, SQL_ATTR_LOGIN_TIMEOUT, NUMBER(1), 0));
	says_dbc(dbc, "HYT00",
		SQLDriverConnect(dbc, NULL, TEXT(string), SQL_NTS, NULL, 0, NULL,
			SQL_DRIVER_NOPROMPT));
	assert_true(cnt_now_ms() - start >= 900 && cnt_now_ms() - start < 10000);
	/* the data source's own limit applies if the program sets none */
	(void)strncat(string, ";Timeout=700ms", sizeof(string) - strlen(string) - 1);
	ok_dbc(dbc, SQLSetConnectAttr(dbc, SQL_ATTR_LOGIN_TIMEOUT, NUMBER(0), 0));
	says_dbc(dbc, "HYT00",
		SQLDriverConnect(dbc, NULL, TEXT(string), SQL_NTS, NULL, 0, NULL,
			SQL_DRIVER_NOPROMPT));
	ok_dbc(dbc, SQLSetConnectAttr(dbc, SQL_ATTR_LOGIN_TIMEOUT, NUMBER(20), 0));
	ok_dbc(dbc, SQLConnect(dbc, TEXT("rig"), SQL_NTS, NULL, 0, NULL, 0));
	ok_dbc(dbc, SQLDisconnect(dbc));
	ok_dbc(dbc, SQLFreeHandle(SQL_HANDLE_DBC, dbc));
	assert_int_equal(close(fd), 0);
}

/* --------------------------------------------------------------------------- cancelling ----- */

struct asked {
	const char *sql;
	SQLRETURN ret;
};

static void *
execute(void *data)
{
	struct asked *asked = data;

	asked->ret = SQLExecDirect(the.stmt, TEXT(asked->sql), SQL_NTS);
	return NULL;
}

static pthread_t
execute_in_a_thread(struct asked *asked)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, execute, asked), 0);
	cnt_pause_ms(500);
	return thread;
}

static void
another_thread_cancels_a_query(void **state)
{
	struct asked asked = { .sql = cnt_odbc_sql(the.kind->sleep, 20) };
	pthread_t thread = execute_in_a_thread(&asked);

	ok(the.stmt, SQLCancel(the.stmt));
	(void)pthread_join(thread, NULL);
	says(the.stmt, "HY008", asked.ret);
	assert_usable();
}

static void
a_connection_cancels_what_runs_on_it(void **state)
{
	struct asked asked = { .sql = cnt_odbc_sql(the.kind->sleep, 20) };
	pthread_t thread = execute_in_a_thread(&asked);

	ok_dbc(the.dbc, SQLCancelHandle(SQL_HANDLE_DBC, the.dbc));
	(void)pthread_join(thread, NULL);
	says(the.stmt, "HY008", asked.ret);
	assert_usable();
}

/* The pool's socket has moved, so a cancel cannot be sent. */
static void
a_cancel_that_cannot_be_sent_says_so(void **state)
{
	struct asked asked = { .sql = takes_seconds(2) };
	char socket[CNT_PATH_MAX + 16], hidden[CNT_PATH_MAX + 16];
	pthread_t thread;
	SQLRETURN ret;

	(void)snprintf(socket, sizeof(socket), "%s/main.sock", the.daemon.run_dir);
	(void)snprintf(hidden, sizeof(hidden), "%s/hidden", the.daemon.run_dir);
	thread = execute_in_a_thread(&asked);
	assert_int_equal(rename(socket, hidden), 0);
	ret = SQLCancel(the.stmt);
	assert_int_equal(rename(hidden, socket), 0);
	says(the.stmt, "HY018", ret);
	(void)pthread_join(thread, NULL);
	assert_int_equal(asked.ret, SQL_SUCCESS);
	ok(the.stmt, SQLFreeStmt(the.stmt, SQL_CLOSE));
	assert_usable();
}

/* ---------------------------------------------------------------------------- polling ----- */

static void
set_async(SQLULEN value)
{
	ok(the.stmt, SQLSetStmtAttr(the.stmt, SQL_ATTR_ASYNC_ENABLE, NUMBER(value), 0));
}

static SQLRETURN
poll_execution(const char *sql, int *n)
{
	SQLRETURN ret;

	while ((ret = SQLExecDirect(the.stmt, TEXT(sql), SQL_NTS)) == SQL_STILL_EXECUTING)
		++*n;
	return ret;
}

static void
an_execution_can_be_polled(void **state)
{
	const char *sql = takes_seconds(1);
	int n = 0;

	set_async(SQL_ASYNC_ENABLE_ON);
	ok(the.stmt, poll_execution(sql, &n));
	assert_true(n > 0);
	set_async(SQL_ASYNC_ENABLE_OFF);
	ok(the.stmt, SQLFetch(the.stmt));
}

static void
what_is_polled_can_be_cancelled(void **state)
{
	const char *sql = cnt_odbc_sql(the.kind->sleep, 20);
	int n = 0;

	set_async(SQL_ASYNC_ENABLE_ON);
	gives(the.stmt, SQL_STILL_EXECUTING, SQLExecDirect(the.stmt, TEXT(sql), SQL_NTS));
	/* no other call is allowed in the meantime */
	says(the.stmt, "HY010", SQLFetch(the.stmt));
	cnt_pause_ms(200);
	ok(the.stmt, SQLCancel(the.stmt));
	says(the.stmt, "HY008", poll_execution(sql, &n));
	set_async(SQL_ASYNC_ENABLE_OFF);
	assert_usable();
}

static void
what_is_polled_has_a_time_limit(void **state)
{
	const char *sql = cnt_odbc_sql(the.kind->sleep, 20);
	int n = 0;

	set_async(SQL_ASYNC_ENABLE_ON);
	ok(the.stmt, SQLSetStmtAttr(the.stmt, SQL_ATTR_QUERY_TIMEOUT, NUMBER(1), 0));
	says(the.stmt, "HYT00", poll_execution(sql, &n));
	ok(the.stmt, SQLSetStmtAttr(the.stmt, SQL_ATTR_QUERY_TIMEOUT, NUMBER(0), 0));
	set_async(SQL_ASYNC_ENABLE_OFF);
	assert_usable();
}

static void
an_execution_that_wanted_data_can_be_polled(void **state)
{
	SQLLEN at_execution = SQL_DATA_AT_EXEC;
	SQLPOINTER which;
	SQLRETURN ret;
	int n = 0;
	char sql[600];

	(void)snprintf(sql, sizeof(sql), "%s where '1' = ?", takes_seconds(1));
	ok(the.stmt, SQLBindParameter(the.stmt, 1, SQL_PARAM_INPUT, SQL_C_CHAR,
			     SQL_VARCHAR, 10, 0, &n, 0, &at_execution));
	set_async(SQL_ASYNC_ENABLE_ON);
	gives(the.stmt, SQL_NEED_DATA, SQLExecDirect(the.stmt, TEXT(sql), SQL_NTS));
	gives(the.stmt, SQL_NEED_DATA, SQLParamData(the.stmt, &which));
	ok(the.stmt, SQLPutData(the.stmt, TEXT("1"), 1));
	while ((ret = SQLParamData(the.stmt, &which)) == SQL_STILL_EXECUTING)
		n++;
	ok(the.stmt, ret);
	assert_true(n > 0);
	set_async(SQL_ASYNC_ENABLE_OFF);
	ok(the.stmt, SQLFetch(the.stmt));
}

/* unixODBC does not allow polling this call. */
static void
further_results_are_waited_for(void **state)
{
	char sql[600];
	int n = 0;

	(void)snprintf(sql, sizeof(sql), "select 1; %s", takes_seconds(1));
	set_async(SQL_ASYNC_ENABLE_ON);
	ok(the.stmt, poll_execution(sql, &n));
	ok(the.stmt, SQLMoreResults(the.stmt));
	set_async(SQL_ASYNC_ENABLE_OFF);
	ok(the.stmt, SQLFetch(the.stmt));
}

int
main(int argc, char **argv)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, cnt_odbc_begin, cnt_odbc_end)
	const struct CMUnitTest tests[] = {
		TEST(a_time_limit_stops_a_query),
		TEST(a_login_takes_no_longer_than_its_limit),
		TEST(another_thread_cancels_a_query),
		TEST(a_connection_cancels_what_runs_on_it),
		TEST(a_cancel_that_cannot_be_sent_says_so),
		TEST(an_execution_can_be_polled),
		TEST(an_execution_that_wanted_data_can_be_polled),
		TEST(what_is_polled_can_be_cancelled),
		TEST(what_is_polled_has_a_time_limit),
		TEST(further_results_are_waited_for),
	};

	the.kind = cnt_odbc_kind(argc, argv);
	return cmocka_run_group_tests_name(
		the.kind->name, tests, cnt_odbc_setup, cnt_odbc_teardown);
}
