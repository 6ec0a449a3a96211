/* SPDX-License-Identifier: BSD-2-Clause */
#include "table.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/*
 * Arrays of parameters.
 *
 * usage: test_odbc_arrays sqlite | postgresql | mariadb
 */

struct set {
	SQLINTEGER id;
	SQLLEN id_length;
	char name[12];
	SQLLEN name_length;
};

static void
check_sets(const SQLUSMALLINT *status, SQLULEN n_processed)
{
	static const SQLUSMALLINT wanted[] = { SQL_PARAM_SUCCESS, SQL_PARAM_UNUSED,
		SQL_PARAM_ERROR, SQL_PARAM_SUCCESS };
	char text[32];
	SQLLEN row, n;

	assert_int_equal(n_processed, 4);
	for (size_t i = 0; i < CNT_COUNT(wanted); i++)
		assert_int_equal(status[i], wanted[i]);
	ok(the.stmt, SQLGetDiagField(SQL_HANDLE_STMT, the.stmt, 1, SQL_DIAG_ROW_NUMBER,
			     &row, 0, NULL));
	assert_int_equal(row, 3);
	ok(the.stmt, SQLRowCount(the.stmt, &n));
	assert_int_equal(n, 2);
	ok(the.stmt, SQLSetStmtAttr(the.stmt, SQL_ATTR_PARAMSET_SIZE, NUMBER(1), 0));
	ok(the.stmt, SQLFreeStmt(the.stmt, SQL_RESET_PARAMS));
	assert_string_equal(
		cnt_odbc_ask(the.stmt, "select count(*) from t where name is null", text,
			sizeof(text)),
		"1");
}

static void
set_array(SQLUSMALLINT *status, SQLUSMALLINT *operation, SQLULEN *n_processed)
{
	SQLHSTMT stmt = the.stmt;

	ok(stmt, SQLSetStmtAttr(stmt, SQL_ATTR_PARAMSET_SIZE, NUMBER(4), 0));
	ok(stmt, SQLSetStmtAttr(stmt, SQL_ATTR_PARAM_STATUS_PTR, status, 0));
	ok(stmt, SQLSetStmtAttr(stmt, SQL_ATTR_PARAM_OPERATION_PTR, operation, 0));
	ok(stmt, SQLSetStmtAttr(stmt, SQL_ATTR_PARAMS_PROCESSED_PTR, n_processed, 0));
}

static const char array_sql[] = "insert into t (id, name) values (?, ?)";

static void
an_array_of_columns_has_a_status_for_each_set(void **state)
{
	SQLINTEGER ids[] = { 1, 2, 1, 4 };
	char names[4][8] = { "one", "two", "again", "" };
	SQLLEN lengths[] = { SQL_NTS, SQL_NTS, 5, SQL_NULL_DATA };
	SQLUSMALLINT status[4], operation[] = { SQL_PARAM_PROCEED, SQL_PARAM_IGNORE,
		SQL_PARAM_PROCEED, SQL_PARAM_PROCEED };
	SQLULEN n_processed = 0;

	(void)state;
	set_array(status, operation, &n_processed);
	cnt_odbc_bind_int(the.stmt, 1, ids, NULL);
	cnt_odbc_bind_text(the.stmt, 2, names[0], sizeof(names[0]), lengths);
	assert_int_equal(
		SQLExecDirect(the.stmt, TEXT(array_sql), SQL_NTS), SQL_SUCCESS_WITH_INFO);
	check_sets(status, n_processed);
}

static void
an_array_of_rows_has_a_status_for_each_set(void **state)
{
	/* the first set is bound; the offset leads to the second half */
	struct set sets[] = { { 0 }, { 0 }, { 0 }, { 0 }, { 1, 0, "one", SQL_NTS },
		{ 2, 0, "two", SQL_NTS }, { 1, 0, "again", 5 },
		{ 4, 0, "", SQL_NULL_DATA } };
	SQLLEN offset = 4 * sizeof(sets[0]);
	SQLUSMALLINT status[4], operation[] = { SQL_PARAM_PROCEED, SQL_PARAM_IGNORE,
		SQL_PARAM_PROCEED, SQL_PARAM_PROCEED };
	SQLULEN n_processed = 0;

	(void)state;
	set_array(status, operation, &n_processed);
	ok(the.stmt, SQLSetStmtAttr(the.stmt, SQL_ATTR_PARAM_BIND_TYPE,
			     NUMBER(sizeof(sets[0])), 0));
	ok(the.stmt,
		SQLSetStmtAttr(the.stmt, SQL_ATTR_PARAM_BIND_OFFSET_PTR, &offset, 0));
	cnt_odbc_bind_int(the.stmt, 1, &sets[0].id, &sets[0].id_length);
	cnt_odbc_bind_text(
		the.stmt, 2, sets[0].name, sizeof(sets[0].name), &sets[0].name_length);
	assert_int_equal(
		SQLExecDirect(the.stmt, TEXT(array_sql), SQL_NTS), SQL_SUCCESS_WITH_INFO);
	check_sets(status, n_processed);
}

/* Give data to the second, fourth and last of five sets. The fourth is ignored. */
static void
sets_of_an_array_are_given_data(void **state)
{
	SQLINTEGER ids[] = { 1, 2, 3, 4, 5 };
	char names[5][8] = { "one", "", "three", "", "" };
	SQLLEN lengths[] = { SQL_NTS, SQL_DATA_AT_EXEC, SQL_NTS, SQL_DATA_AT_EXEC,
		SQL_DATA_AT_EXEC };
	SQLUSMALLINT status[5], operation[] = { SQL_PARAM_PROCEED, SQL_PARAM_PROCEED,
		SQL_PARAM_PROCEED, SQL_PARAM_IGNORE, SQL_PARAM_PROCEED };
	SQLULEN n_processed = 0;
	SQLPOINTER which;
	SQLHSTMT stmt = the.stmt;
	char text[32];

	(void)state;
	set_array(status, operation, &n_processed);
	ok(stmt, SQLSetStmtAttr(stmt, SQL_ATTR_PARAMSET_SIZE, NUMBER(5), 0));
	cnt_odbc_bind_int(stmt, 1, ids, NULL);
	cnt_odbc_bind_text(stmt, 2, names[0], sizeof(names[0]), lengths);
	gives(stmt, SQL_NEED_DATA, SQLExecDirect(stmt, TEXT(array_sql), SQL_NTS));
	gives(stmt, SQL_NEED_DATA, SQLParamData(stmt, &which));
	assert_ptr_equal(which, names[1]);
	ok(stmt, SQLPutData(stmt, TEXT("given"), SQL_NTS));
	gives(stmt, SQL_NEED_DATA, SQLParamData(stmt, &which));
	assert_ptr_equal(which, names[4]);
	ok(stmt, SQLPutData(stmt, TEXT("five"), SQL_NTS));
	ok(stmt, SQLParamData(stmt, &which));
	assert_int_equal(n_processed, 5);
	assert_int_equal(status[1], SQL_PARAM_SUCCESS);
	assert_int_equal(status[3], SQL_PARAM_UNUSED);
	ok(stmt, SQLSetStmtAttr(stmt, SQL_ATTR_PARAMSET_SIZE, NUMBER(1), 0));
	ok(stmt, SQLFreeStmt(stmt, SQL_RESET_PARAMS));
	assert_string_equal(
		cnt_odbc_ask(stmt, "select name from t where id = 2", text, sizeof(text)),
		"given");
	assert_string_equal(
		cnt_odbc_ask(stmt, "select name from t where id = 5", text, sizeof(text)),
		"five");
	assert_string_equal(
		cnt_odbc_ask(stmt, "select count(*) from t", text, sizeof(text)), "4");
}

/* --------------------------------------------------------------------------- many sets ----- */

#define N_SETS 1000

/* The buffers of an execution with many sets. */
static struct many {
	SQLINTEGER ids[N_SETS];
	SQLUSMALLINT status[N_SETS];
	SQLULEN n_processed;
} many;

static void
prepare_many(const char *sql, SQLULEN n)
{
	memset(&many, 0, sizeof(many));
	for (int i = 0; i < N_SETS; i++)
		many.ids[i] = i + 1;
	ok(the.stmt, SQLPrepare(the.stmt, TEXT(sql), SQL_NTS));
	ok(the.stmt, SQLSetStmtAttr(the.stmt, SQL_ATTR_PARAMSET_SIZE, NUMBER(n), 0));
	ok(the.stmt, SQLSetStmtAttr(the.stmt, SQL_ATTR_PARAM_STATUS_PTR, many.status, 0));
	ok(the.stmt, SQLSetStmtAttr(the.stmt, SQL_ATTR_PARAMS_PROCESSED_PTR,
			     &many.n_processed, 0));
	cnt_odbc_bind_int(the.stmt, 1, many.ids, NULL);
}

static int
count_status(SQLUSMALLINT status, int n)
{
	int found = 0;

	for (int i = 0; i < n; i++)
		found += many.status[i] == status;
	return found;
}

static const char *
count_rows(void)
{
	static char text[16];
	SQLHSTMT stmt = cnt_odbc_new_stmt(&the);

	(void)cnt_odbc_ask(stmt, "select count(*) from t", text, sizeof(text));
	cnt_odbc_free_stmt(stmt);
	return text;
}

static const char id_sql[] = "insert into t (id) values (?)";

static void
errors_are_of_their_own_sets_only(void **state)
{
	SQLINTEGER n_records;
	SQLLEN row, n;

	(void)state;
	prepare_many(id_sql, N_SETS);
	/* every hundredth set, up to the last one, has the key of the first set */
	for (int i = 99; i < N_SETS; i += 100)
		many.ids[i] = 1;
	assert_int_equal(SQLExecute(the.stmt), SQL_SUCCESS_WITH_INFO);
	assert_int_equal(many.n_processed, N_SETS);
	assert_int_equal(count_status(SQL_PARAM_ERROR, N_SETS), 10);
	assert_int_equal(count_status(SQL_PARAM_SUCCESS, N_SETS), 990);
	assert_int_equal(many.status[99], SQL_PARAM_ERROR);
	ok(the.stmt, SQLGetDiagField(SQL_HANDLE_STMT, the.stmt, 0, SQL_DIAG_NUMBER,
			     &n_records, 0, NULL));
	assert_int_equal(n_records, 10);
	ok(the.stmt, SQLGetDiagField(SQL_HANDLE_STMT, the.stmt, 2, SQL_DIAG_ROW_NUMBER,
			     &row, 0, NULL));
	assert_int_equal(row, 200);
	assert_memory_equal(cnt_odbc_state(SQL_HANDLE_STMT, the.stmt, 2), "23", 2);
	ok(the.stmt, SQLRowCount(the.stmt, &n));
	assert_int_equal(n, 990);
	assert_string_equal(count_rows(), "990");
}

static void
all_sets_may_fail(void **state)
{
	(void)state;
	prepare_many(id_sql, 5);
	ok(the.stmt, SQLExecute(the.stmt));
	assert_int_equal(SQLExecute(the.stmt), SQL_ERROR);
	assert_int_equal(count_status(SQL_PARAM_ERROR, 5), 5);
	assert_int_equal(many.n_processed, 5);
}

static void
values_that_are_none_are_not_sent(void **state)
{
	char texts[4][8] = { "1", "two", "3", "4.5" };

	(void)state;
	prepare_many(id_sql, 4);
	ok(the.stmt, SQLBindParameter(the.stmt, 1, SQL_PARAM_INPUT, SQL_C_CHAR,
			     SQL_INTEGER, 0, 0, texts, sizeof(texts[0]), NULL));
	assert_int_equal(SQLExecute(the.stmt), SQL_SUCCESS_WITH_INFO);
	assert_int_equal(many.status[0], SQL_PARAM_SUCCESS);
	assert_int_equal(many.status[1], SQL_PARAM_ERROR);
	assert_int_equal(many.status[2], SQL_PARAM_SUCCESS);
	assert_int_equal(many.status[3], SQL_PARAM_ERROR);
	assert_string_equal(cnt_odbc_state(SQL_HANDLE_STMT, the.stmt, 1), "22018");
	assert_string_equal(cnt_odbc_state(SQL_HANDLE_STMT, the.stmt, 2), "22001");
	assert_string_equal(count_rows(), "2");
}

static void
what_the_server_does_not_understand_fails_once(void **state)
{
	(void)state;
	prepare_many("insert into nosuch values (?)", 50);
	says(the.stmt, "42S02", SQLExecute(the.stmt));
	assert_int_equal(many.n_processed, 1);
	assert_int_equal(many.status[0], SQL_PARAM_ERROR);
	assert_int_equal(count_status(SQL_PARAM_UNUSED, 50), 49);
	gives(the.stmt, SQL_NO_DATA,
		SQLGetDiagRec(SQL_HANDLE_STMT, the.stmt, 2, NULL, NULL, NULL, 0, NULL));
}

static void
a_transaction_holds_all_sets(void **state)
{
	(void)state;
	ok_dbc(the.dbc, SQLSetConnectAttr(the.dbc, SQL_ATTR_AUTOCOMMIT,
				NUMBER(SQL_AUTOCOMMIT_OFF), 0));
	prepare_many(id_sql, N_SETS);
	ok(the.stmt, SQLExecute(the.stmt));
	assert_string_equal(count_rows(), "1000");
	ok_dbc(the.dbc, SQLEndTran(SQL_HANDLE_DBC, the.dbc, SQL_ROLLBACK));
	assert_string_equal(count_rows(), "0");
	/* PostgreSQL stops at the first error, and later sets report this */
	many.ids[10] = 1;
	assert_int_equal(SQLExecute(the.stmt), SQL_SUCCESS_WITH_INFO);
	assert_int_equal(count_status(SQL_PARAM_ERROR, N_SETS),
		strcmp(the.kind->name, "postgresql") == 0 ? N_SETS - 10 : 1);
	ok_dbc(the.dbc, SQLEndTran(SQL_HANDLE_DBC, the.dbc, SQL_ROLLBACK));
	assert_string_equal(count_rows(), "0");
}

#define VALUE_BYTES 100000
#define N_VALUES    200

static long
peak_kb(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss;
}

/* 20 MB of values. The driver must hold only a few of them in memory at a time. */
static void
large_values_take_little_memory(void **state)
{
	char *values = malloc((size_t)VALUE_BYTES * N_VALUES), text[32];
	long before;

	(void)state;
	assert_non_null(values);
	memset(values, 'x', (size_t)VALUE_BYTES * N_VALUES);
	for (int i = 0; i < N_VALUES; i++)
		values[(size_t)(i + 1) * VALUE_BYTES - 1] = '\0';
	prepare_many("insert into t (id, body) values (?, ?)", N_VALUES);
	ok(the.stmt, SQLBindParameter(the.stmt, 2, SQL_PARAM_INPUT, SQL_C_CHAR,
			     SQL_LONGVARCHAR, VALUE_BYTES, 0, values, VALUE_BYTES, NULL));
	before = peak_kb();
	ok(the.stmt, SQLExecute(the.stmt));
	assert_true(peak_kb() - before < 12000);
	assert_int_equal(count_status(SQL_PARAM_SUCCESS, N_VALUES), N_VALUES);
	ok(the.stmt, SQLSetStmtAttr(the.stmt, SQL_ATTR_PARAMSET_SIZE, NUMBER(1), 0));
	assert_string_equal(cnt_odbc_ask(the.stmt, "select sum(length(body)) from t",
				    text, sizeof(text)),
		"19999800");
	free(values);
}

/* -------------------------------------------------------------------- stopped in between ----- */

/* Each set takes a fifth of a second. SQLite cannot sleep, so it computes: nothing for the first
 * set, and longer for each later set. So some sets are done within a second, even on a busy
 * machine. */
static const char *
slow_sql(void)
{
	if (strcmp(the.kind->name, "postgresql") == 0)
		return "insert into t (id) select ? from pg_sleep(0.2)";
	if (strcmp(the.kind->name, "mariadb") == 0)
		return "insert into t (id) select ? + sleep(0.2)";
	return "insert into t (id) with recursive v(id) as (select ?), n(i) as (select 1 "
	       "union all select i + 1 from n where i < 100000 * (select id - 1 from v)) "
	       "select id + (select count(*) * 0 from n) from v";
}

#define N_SLOW 100

/* The table must contain exactly the sets that were carried out. */
static void
assert_stopped(const char *sqlstate)
{
	char text[16];

	assert_string_equal(cnt_odbc_state(SQL_HANDLE_STMT, the.stmt, 1), sqlstate);
	(void)snprintf(text, sizeof(text), "%d", count_status(SQL_PARAM_SUCCESS, N_SLOW));
	assert_string_equal(count_rows(), text);
	assert_int_equal(many.status[0], SQL_PARAM_SUCCESS);
	assert_true(count_status(SQL_PARAM_SUCCESS, N_SLOW) < N_SLOW / 2);
	assert_int_equal(count_status(SQL_PARAM_SUCCESS, N_SLOW) +
				 count_status(SQL_PARAM_ERROR, N_SLOW) +
				 count_status(SQL_PARAM_UNUSED, N_SLOW),
		N_SLOW);
}

static void
a_time_limit_is_of_all_sets(void **state)
{
	int64_t start = cnt_now_ms();

	(void)state;
	prepare_many(slow_sql(), N_SLOW);
	ok(the.stmt, SQLSetStmtAttr(the.stmt, SQL_ATTR_QUERY_TIMEOUT, NUMBER(1), 0));
	assert_int_equal(SQLExecute(the.stmt), SQL_SUCCESS_WITH_INFO);
	assert_true(cnt_now_ms() - start < 15000);
	assert_stopped("HYT00");
}

static void *
cancel_soon(void *stmt)
{
	cnt_pause_ms(900);
	(void)SQLCancel(stmt);
	return NULL;
}

static void
a_cancel_is_of_all_sets(void **state)
{
	int64_t start = cnt_now_ms();
	pthread_t thread;

	(void)state;
	prepare_many(slow_sql(), N_SLOW);
	assert_int_equal(pthread_create(&thread, NULL, cancel_soon, the.stmt), 0);
	assert_int_equal(SQLExecute(the.stmt), SQL_SUCCESS_WITH_INFO);
	(void)pthread_join(thread, NULL);
	assert_true(cnt_now_ms() - start < 15000);
	assert_stopped("HY008");
}

static void *
kill_soon(void *unused)
{
	(void)unused;
	cnt_pause_ms(900);
	assert_int_equal(kill(-the.daemon.pid, SIGKILL), 0);
	return NULL;
}

static void
a_lost_session_ends_an_array(void **state)
{
	pthread_t thread;
	SQLRETURN ret;
	int n_done, n_rows;

	prepare_many(slow_sql(), N_SETS);
	assert_int_equal(pthread_create(&thread, NULL, kill_soon, NULL), 0);
	ret = SQLExecute(the.stmt);
	(void)pthread_join(thread, NULL);
	assert_true(ret == SQL_ERROR || ret == SQL_SUCCESS_WITH_INFO);
	assert_memory_equal(cnt_odbc_state(SQL_HANDLE_STMT, the.stmt, 1), "08", 2);
	(void)cnt_daemon_end(&the.daemon);
	assert_int_equal(cnt_daemon_run(&the.daemon), 0);
	assert_int_equal(cnt_odbc_disconnect(*state), 0);
	assert_int_equal(cnt_odbc_connect(*state), 0);
	/* the result of sets in flight is unknown; later sets were never sent */
	n_done = count_status(SQL_PARAM_SUCCESS, N_SETS);
	n_rows = (int)strtol(count_rows(), NULL, 10);
	assert_true(n_rows > 0 && n_rows >= n_done);
	assert_true(n_rows <= n_done + count_status(SQL_PARAM_ERROR, N_SETS));
	assert_int_equal(many.status[N_SETS - 1], SQL_PARAM_UNUSED);
}

int
main(int argc, char **argv)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, cnt_odbc_begin_bodies, cnt_odbc_end)
	const struct CMUnitTest tests[] = {
		TEST(an_array_of_columns_has_a_status_for_each_set),
		TEST(an_array_of_rows_has_a_status_for_each_set),
		TEST(sets_of_an_array_are_given_data),
		TEST(errors_are_of_their_own_sets_only),
		TEST(all_sets_may_fail),
		TEST(values_that_are_none_are_not_sent),
		TEST(what_the_server_does_not_understand_fails_once),
		TEST(a_transaction_holds_all_sets),
		TEST(large_values_take_little_memory),
		TEST(a_time_limit_is_of_all_sets),
		TEST(a_cancel_is_of_all_sets),
		TEST(a_lost_session_ends_an_array),
	};

	the.kind = cnt_odbc_kind(argc, argv);
	return cmocka_run_group_tests_name(
		the.kind->name, tests, cnt_odbc_setup, cnt_odbc_teardown);
}
