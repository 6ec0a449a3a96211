/* SPDX-License-Identifier: BSD-2-Clause */
#include "rig.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/*
 * Load: large results in little memory, and statements of one connection in many threads.
 *
 * usage: test_odbc_load sqlite | postgresql | mariadb
 */

static long
peak_kb(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss;
}

/* --------------------------------------------------------------------- large results ----- */

#define N_ROWS  1000000
#define MOST_KB 8192 /* the rows have about 40 MB */

static void
read_all(SQLHSTMT stmt)
{
	const char *sql = cnt_odbc_sql(the.kind->words, N_ROWS);
	SQLINTEGER value = 0;
	long before = peak_kb();
	int n = 0;

	ok(stmt, SQLBindCol(stmt, 1, SQL_C_SLONG, &value, 0, NULL));
	ok(stmt, SQLExecDirect(stmt, TEXT(sql), SQL_NTS));
	while (SQLFetch(stmt) == SQL_SUCCESS) {
		n++;
		if (value != n)
			fail_msg("row %d is %d", n, (int)value);
	}
	assert_int_equal(n, N_ROWS);
	ok(stmt, SQLFreeStmt(stmt, SQL_CLOSE));
	if (peak_kb() - before > MOST_KB)
		fail_msg("took %ld kB more", peak_kb() - before);
}

static void
a_large_result_is_streamed(void **state)
{
	read_all(the.stmt);
	/* prepared by the server, in a transaction */
	ok_dbc(the.dbc, SQLSetConnectAttr(the.dbc, SQL_ATTR_AUTOCOMMIT,
				NUMBER(SQL_AUTOCOMMIT_OFF), 0));
	read_all(the.stmt);
}

static void
a_large_result_comes_as_it_is_asked_for(void **state)
{
	SQLHDBC dbc = cnt_odbc_new_dbc(*state);
	SQLHSTMT stmt;

	ok_dbc(dbc, SQLDriverConnect(dbc, NULL, TEXT("DSN=rig;FetchSize=1000"), SQL_NTS,
			    NULL, 0, NULL, SQL_DRIVER_NOPROMPT));
	ok_dbc(dbc, SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt));
	read_all(stmt);
	ok_dbc(dbc, SQLDisconnect(dbc));
	ok_dbc(dbc, SQLFreeHandle(SQL_HANDLE_DBC, dbc));
}

static void
a_large_result_is_given_up_quickly(void **state)
{
	/* PostgreSQL materializes a function in FROM before it returns the first row */
	const char *sql = strcmp(the.kind->name, "postgresql") == 0
				  ? "select generate_series(1, 50000000)"
				  : cnt_odbc_sql(the.kind->words, 50000000);
	int64_t start = cnt_now_ms();
	char text[16];

	ok(the.stmt, SQLExecDirect(the.stmt, TEXT(sql), SQL_NTS));
	ok(the.stmt, SQLFetch(the.stmt));
	ok(the.stmt, SQLFreeStmt(the.stmt, SQL_CLOSE));
	assert_true(cnt_now_ms() - start < 15000);
	assert_string_equal(cnt_odbc_ask(the.stmt, "select 1", text, sizeof(text)), "1");
}

/* ------------------------------------------------------------------------------ threads ----- */

#define N_THREADS 4
#define N_TIMES   150

struct worker {
	SQLHSTMT stmt;
	int number;
	int n_wrong;
};

/* Send a value and check that it comes back. */
static int
is_echoed(SQLHSTMT stmt, SQLINTEGER value)
{
	SQLINTEGER got = -1;

	return SQLBindParameter(stmt, 1, SQL_PARAM_INPUT, SQL_C_SLONG, SQL_INTEGER, 0, 0,
		       &value, 0, NULL) == SQL_SUCCESS &&
	       SQLExecDirect(stmt, TEXT("select cast(? as decimal(10))"), SQL_NTS) ==
		       SQL_SUCCESS &&
	       SQLFetch(stmt) == SQL_SUCCESS &&
	       SQLGetData(stmt, 1, SQL_C_SLONG, &got, sizeof(got), NULL) == SQL_SUCCESS &&
	       got == value && SQLFreeStmt(stmt, SQL_CLOSE) == SQL_SUCCESS &&
	       SQLFreeStmt(stmt, SQL_RESET_PARAMS) == SQL_SUCCESS;
}

static int
is_counted(SQLHSTMT stmt, const char *sql, int wanted)
{
	int n = 0;

	if (SQLExecDirect(stmt, TEXT(sql), SQL_NTS) != SQL_SUCCESS)
		return 0;
	while (SQLFetch(stmt) == SQL_SUCCESS)
		n++;
	return SQLFreeStmt(stmt, SQL_CLOSE) == SQL_SUCCESS && n == wanted;
}

/* Cause an error, and check that the diagnostics belong to this statement. */
static int
is_refused(SQLHSTMT stmt)
{
	SQLCHAR state[6] = "";

	return SQLExecDirect(stmt, TEXT("select x from nosuch"), SQL_NTS) == SQL_ERROR &&
	       SQLGetDiagRec(SQL_HANDLE_STMT, stmt, 1, state, NULL, NULL, 0, NULL) !=
		       SQL_ERROR &&
	       strcmp((char *)state, "42S02") == 0;
}

static char many_sql[512];

static void *
work(void *data)
{
	struct worker *w = data;

	for (int i = 0; i < N_TIMES; i++) {
		w->n_wrong += !is_echoed(w->stmt, w->number * 1000000 + i);
		if (i % 25 == 0)
			w->n_wrong += !is_counted(w->stmt, many_sql, 10000);
		if (i % 10 == 0)
			w->n_wrong += !is_refused(w->stmt);
	}
	return NULL;
}

static void
statements_of_a_connection_run_in_threads(void **state)
{
	struct worker workers[N_THREADS];
	pthread_t threads[N_THREADS];

	(void)snprintf(
		many_sql, sizeof(many_sql), "%s", cnt_odbc_sql(the.kind->words, 10000));
	for (int i = 0; i < N_THREADS; i++) {
		workers[i] =
			(struct worker){ .stmt = cnt_odbc_new_stmt(&the), .number = i };
		assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
	}
	for (int i = 0; i < N_THREADS; i++) {
		(void)pthread_join(threads[i], NULL);
		assert_int_equal(workers[i].n_wrong, 0);
		cnt_odbc_free_stmt(workers[i].stmt);
	}
}

static void *
connect_and_ask(void *unused)
{
	SQLHDBC dbc;
	SQLHSTMT stmt;
	SQLINTEGER value = 0;
	intptr_t n_wrong = 0;

	(void)unused;
	for (int i = 0; i < 20; i++) {
		if (SQLAllocHandle(SQL_HANDLE_DBC, the.env, &dbc) != SQL_SUCCESS)
			return NUMBER(1);
		n_wrong +=
			SQLConnect(dbc, TEXT("rig"), SQL_NTS, NULL, 0, NULL, 0) !=
				SQL_SUCCESS ||
			SQLAllocHandle(SQL_HANDLE_STMT, dbc, &stmt) != SQL_SUCCESS ||
			SQLExecDirect(stmt, TEXT("select 11"), SQL_NTS) != SQL_SUCCESS ||
			SQLFetch(stmt) != SQL_SUCCESS ||
			SQLGetData(stmt, 1, SQL_C_SLONG, &value, sizeof(value), NULL) !=
				SQL_SUCCESS ||
			value != 11;
		(void)SQLDisconnect(dbc);
		(void)SQLFreeHandle(SQL_HANDLE_DBC, dbc);
	}
	return NUMBER(n_wrong);
}

static void
connections_are_made_in_threads(void **state)
{
	pthread_t threads[N_THREADS];
	void *n_wrong;

	for (int i = 0; i < N_THREADS; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, connect_and_ask, NULL), 0);
	for (int i = 0; i < N_THREADS; i++) {
		(void)pthread_join(threads[i], &n_wrong);
		assert_null(n_wrong);
	}
}

/* A thread that copies a descriptor. Two threads copy in opposite directions at once, and neither
 * may wait for the other. */
struct copier {
	SQLHDESC from, to;
	int n_wrong;
};

static void *
copy_often(void *data)
{
	struct copier *c = data;

	for (int i = 0; i < 20000; i++)
		c->n_wrong += SQLCopyDesc(c->from, c->to) != SQL_SUCCESS;
	return NULL;
}

static void
descriptors_are_copied_to_and_fro_in_threads(void **state)
{
	SQLHDBC other = cnt_odbc_new_dbc(*state);
	SQLHDESC ours, theirs;
	SQLSMALLINT type = 0;
	pthread_t thread;

	ok_dbc(other, SQLConnect(other, TEXT("rig"), SQL_NTS, NULL, 0, NULL, 0));
	ok_dbc(other, SQLAllocHandle(SQL_HANDLE_DESC, other, &theirs));
	ok_dbc(the.dbc, SQLAllocHandle(SQL_HANDLE_DESC, the.dbc, &ours));
	for (SQLSMALLINT i = 1; i <= 3; i++) {
		ok_desc(ours, SQLSetDescField(ours, i, SQL_DESC_CONCISE_TYPE,
				      NUMBER(SQL_C_DOUBLE), 0));
		ok_desc(theirs, SQLSetDescField(theirs, i, SQL_DESC_CONCISE_TYPE,
					NUMBER(SQL_C_DOUBLE), 0));
	}
	struct copier forth = { .from = ours, .to = theirs };
	struct copier back = { .from = theirs, .to = ours };

	assert_int_equal(pthread_create(&thread, NULL, copy_often, &forth), 0);
	(void)copy_often(&back);
	(void)pthread_join(thread, NULL);
	assert_int_equal(forth.n_wrong + back.n_wrong, 0);
	ok_desc(ours, SQLGetDescField(ours, 3, SQL_DESC_TYPE, &type, 0, NULL));
	assert_int_equal(type, SQL_C_DOUBLE);
	ok_dbc(other, SQLDisconnect(other));
	ok_dbc(other, SQLFreeHandle(SQL_HANDLE_DBC, other));
}

int
main(int argc, char **argv)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, cnt_odbc_begin, cnt_odbc_end)
	const struct CMUnitTest tests[] = {
		TEST(a_large_result_is_streamed),
		TEST(a_large_result_comes_as_it_is_asked_for),
		TEST(a_large_result_is_given_up_quickly),
		TEST(statements_of_a_connection_run_in_threads),
		TEST(connections_are_made_in_threads),
		TEST(descriptors_are_copied_to_and_fro_in_threads),
	};

	the.kind = cnt_odbc_kind(argc, argv);
	return cmocka_run_group_tests_name(
		the.kind->name, tests, cnt_odbc_setup, cnt_odbc_teardown);
}
