/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics of statements (`digests = yes`): what counts, who reads it, and that no value of a client gets into it. */
#include "turns.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LITE(lines) WP_POOL("sessions = 1..2\ndigests = yes\n" lines)

static int64_t
number_at(const cenote_result *res, uint64_t row, const char *column)
{
	int64_t n = -1;

	assert_ok(cenote_result_int64(
		res, row, (uint32_t)cenote_result_find_column(res, column), &n));
	return n;
}

static const char *
text_at(const cenote_result *res, uint64_t row, const char *column)
{
	return cenote_result_text(
		res, row, (uint32_t)cenote_result_find_column(res, column), NULL);
}

static cenote_result *
ask(void)
{
	cenote_conn *conn = wp_handle(NULL);
	cenote_result *res;

	assert_ok(cenote_status(conn, "digests", &res));
	cenote_conn_destroy(conn);
	return res;
}

/* A number of the statement; -1: there is no such row. */
static int64_t
number_of(const char *query, const char *column)
{
	cenote_result *res = ask();
	int64_t n = -1;

	for (uint64_t i = 0; i < cenote_result_n_rows(res); i++) {
		if (strcmp(text_at(res, i, "query"), query) == 0) {
			/* a digest has one row */
			assert_int_equal(n, -1);
			n = number_at(res, i, column);
		}
	}
	cenote_result_destroy(res);
	return n;
}

static void
expect_nowhere(const char *secret)
{
	cenote_result *res = ask();

	for (uint64_t i = 0; i < cenote_result_n_rows(res); i++)
		assert_null(strstr(text_at(res, i, "query"), secret));
	cenote_result_destroy(res);
}

/* ---- what counts ---- */

static void
statements_that_differ_in_values_count_together(void **state)
{
	cenote_conn *a, *b;

	wp_start(LITE(""));
	a = wp_attach(NULL);
	b = wp_attach(NULL);
	wp_exec(a, "create table t (a integer primary key, b text)");
	wp_exec(a, "insert into t values (1, 'hush'), (2, 'hush')");
	wp_exec(b,
		"INSERT  INTO t VALUES (3, 'hush'), (4, 'hush'), (5, 'hush'); -- hush");
	wp_exec(b, "select a, b from t where a < 4");
	wp_exec(a, "select a, b from t where a < 3");
	assert_true(wp_status_of(a, "insert into t values (1, 'hush')") < 0);
	assert_int_equal(number_of("insert into t values (?)", "calls"), 3);
	assert_int_equal(number_of("insert into t values (?)", "errors"), 1);
	assert_int_equal(number_of("insert into t values (?)", "rows"), 5);
	assert_int_equal(number_of("select a, b from t where a < ?", "calls"), 2);
	assert_int_equal(number_of("select a, b from t where a < ?", "rows"), 5);
	assert_int_equal(number_of("select a, b from t where a < ?", "errors"), 0);
	assert_true(number_of("select a, b from t where a < ?", "total_us") >= 0);
	assert_true(number_of("select a, b from t where a < ?", "p99_us") >=
		    number_of("select a, b from t where a < ?", "mean_us"));
	expect_nowhere("hush");
	cenote_conn_destroy(a);
	cenote_conn_destroy(b);
}

static void
what_never_succeeded_has_no_text(void **state)
{
	cenote_conn *conn;

	wp_start(LITE(""));
	conn = wp_attach(NULL);
	assert_true(wp_status_of(conn, "hunter2") < 0);
	assert_true(wp_status_of(conn, "select a from later") < 0);
	assert_int_equal(number_of("(others)", "errors"), 2);
	assert_int_equal(number_of("(others)", "calls"), 2);
	expect_nowhere("hunter2");
	assert_int_equal(number_of("select a from later", "calls"), -1);
	/* from its first success on, failures count too */
	wp_exec(conn, "create table later (a)");
	wp_exec(conn, "select a from later");
	wp_exec(conn, "drop table later");
	assert_true(wp_status_of(conn, "select a from later") < 0);
	assert_int_equal(number_of("select a from later", "calls"), 2);
	assert_int_equal(number_of("select a from later", "errors"), 1);
	cenote_conn_destroy(conn);
}

static void
execute(cenote_stmt *stmt, int64_t value)
{
	cenote_params *params = wp_params();
	cenote_result *res;

	assert_ok(cenote_params_add_int64(params, value));
	assert_ok(cenote_stmt_execute(stmt, params, NULL, &res));
	cenote_result_destroy(res);
	cenote_params_destroy(params);
}

static void
prepared_statements_and_transactions_count(void **state)
{
	cenote_stmt *stmt;
	cenote_conn *conn;

	wp_start(LITE(""));
	conn = wp_attach(NULL);
	assert_ok(cenote_stmt_create(conn, "select ? + 1", CENOTE_NTS, &stmt));
	assert_ok(cenote_begin(conn, 0, 0));
	for (int i = 0; i < 3; i++)
		execute(stmt, i);
	assert_ok(cenote_commit(conn));
	wp_exec(conn, "select 7 + 8");
	assert_int_equal(number_of("select ? + ?", "calls"), 4);
	assert_int_equal(number_of("select ? + ?", "rows"), 4);
	assert_int_equal(number_of("begin", "calls"), 1);
	assert_int_equal(number_of("commit", "calls"), 1);
	cenote_stmt_destroy(stmt);
	cenote_conn_destroy(conn);
}

static void
rows_that_come_in_batches_count_once(void **state)
{
	static const char sql[] = "with recursive n(i) as (select 1 union all "
				  "select i + 1 from n where i < 10) select i from n";
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	cenote_result *res;
	cenote_conn *conn;
	uint64_t n = 0;

	wp_start(LITE(""));
	conn = wp_attach(NULL);
	options.stream = 1;
	options.batch_rows = 4;
	assert_ok(cenote_query(conn, sql, CENOTE_NTS, NULL, &options, &res));
	while (cenote_result_next(res) == CENOTE_ROW)
		n += cenote_result_n_rows(res);
	cenote_result_destroy(res);
	assert_int_equal(n, 10);
	res = ask();
	for (uint64_t i = 0; i < cenote_result_n_rows(res); i++) {
		if (strncmp(text_at(res, i, "query"), "with", 4) != 0)
			continue;
		assert_int_equal(number_at(res, i, "calls"), 1);
		assert_int_equal(number_at(res, i, "rows"), 10);
		n = 0;
	}
	assert_int_equal(n, 0);
	cenote_result_destroy(res);
	cenote_conn_destroy(conn);
}

/* ---- PostgreSQL ---- */

static void
prepare(cenote_conn *conn, const char *name, const char *sql)
{
	cenote_stmt *stmt;

	assert_ok(cenote_stmt_create(conn, sql, CENOTE_NTS, &stmt));
	assert_ok(cenote_stmt_set_name(stmt, name));
	assert_ok(cenote_stmt_prepare(stmt));
	cenote_stmt_destroy(stmt);
}

static void
run_named(cenote_conn *conn, const char *name)
{
	cenote_result *res;
	cenote_stmt *stmt;

	assert_ok(cenote_stmt_by_name(conn, name, &stmt));
	assert_ok(cenote_stmt_execute(stmt, NULL, NULL, &res));
	cenote_result_destroy(res);
	cenote_stmt_destroy(stmt);
}

/* The clients change sessions, and libcenote prepares their statements again there. */
static void
named_statements_count_on_each_session(void **state)
{
	cenote_conn *conns[4];

	turns_start("sessions = 2\ndigests = yes\n" TURNS_POOL);
	turns_attach(conns, 4);
	for (size_t i = 0; i < 4; i++)
		prepare(conns[i], "a",
			i % 2 != 0 ? "select 'odd'::text" : "select 2::int8");
	for (int round = 0; round < 5; round++) {
		for (size_t i = 0; i < 4; i++)
			run_named(conns[i], "a");
	}
	assert_int_equal(number_of("select ? :: text", "calls"), 10);
	assert_int_equal(number_of("select ? :: int8", "calls"), 10);
	assert_int_equal(number_of("(others)", "calls"), -1);
	turns_destroy(conns, 4);
}

/* The same bytes are one text or two, depending on a setting that the server reports. */
static void
texts_are_read_as_the_server_reads_them(void **state)
{
	static const char on[] = "select 'a\\', 'b hush'",
			  off[] = "select 'a\\', hush', 'b'";
	cenote_conn *conn;

	turns_start("sessions = 1\ndigests = yes\n");
	conn = wp_attach(NULL);
	wp_exec(conn, on);
	wp_exec(conn, "set standard_conforming_strings = off");
	wp_exec(conn, off);
	assert_int_equal(number_of("select ?", "calls"), 2);
	expect_nowhere("hush");
	cenote_conn_destroy(conn);
}

/* The server reports the setting only at the end of the pipeline. */
static void
texts_of_a_pipeline_are_read_with_doubt(void **state)
{
	/* 0: the end of a request */
	static const int kinds[] = { CENOTE_RESULT_COMMAND, 0, CENOTE_RESULT_ROWS, 0,
		CENOTE_RESULT_ROWS, 0, CENOTE_RESULT_SYNC, 0 };
	cenote_params *none = wp_params();
	cenote_conn *conn;

	turns_start("sessions = 1\ndigests = yes\n");
	conn = wp_attach(NULL);
	assert_ok(cenote_pipeline_begin(conn));
	assert_ok(cenote_send_query(
		conn, "set standard_conforming_strings = off", CENOTE_NTS, none, NULL));
	assert_ok(cenote_send_query(
		conn, "select 'a\\', hush', 'b'", CENOTE_NTS, none, NULL));
	assert_ok(cenote_send_query(conn, "select 1", CENOTE_NTS, none, NULL));
	assert_ok(cenote_send_sync(conn));
	for (size_t i = 0; i < CNT_COUNT(kinds); i++)
		cenote_result_destroy(wp_next_result(conn, kinds[i]));
	assert_ok(cenote_pipeline_end(conn));
	expect_nowhere("hush");
	assert_int_equal(number_of("(others)", "calls"), 1);
	assert_int_equal(number_of("select ?", "calls"), 1);
	cenote_params_destroy(none);
	cenote_conn_destroy(conn);
}

/* ---- who reads it ---- */

/* In a child. */
static int
see_no_text(void *arg)
{
	cenote_conn *conn = wp_handle(NULL);
	cenote_result *res;

	(void)arg;
	if (setgid(65534) < 0 || setuid(65534) < 0)
		return 2;
	if (cenote_status(conn, "digests", &res) != CENOTE_OK)
		return 3;
	for (uint64_t i = 0; i < cenote_result_n_rows(res); i++) {
		if (strcmp(text_at(res, i, "query"), "") != 0)
			return 4;
	}
	return cenote_result_n_rows(res) == 1 ? 0 : 5;
}

static void
only_who_runs_the_pool_sees_texts(void **state)
{
	cenote_conn *conn;

	if (getuid() != 0)
		skip();
	wp_start(CNT_DAEMON_GLOBAL "socket_mode = 0777\n" CNT_DAEMON_POOL
				   "sessions = 1\ndigests = yes\nallow_users = *\n");
	conn = wp_attach(NULL);
	wp_exec(conn, "select 1");
	assert_int_equal(chmod(wp_daemon.dir, 0755), 0);
	assert_int_equal(wp_join(wp_fork(see_no_text, NULL, -1)), 0);
	cenote_conn_destroy(conn);
}

/* Run cenotectl. Returns its exit status. */
static int
control(const char *words, char *said, size_t size)
{
	char line[512];
	size_t n;
	int status;
	FILE *f;

	snprintf(line, sizeof(line), "%s -r %s %s 2>&1", CNT_CENOTECTL_PATH,
		wp_daemon.run_dir, words);
	f = popen(line, "r");
	assert_non_null(f);
	n = fread(said, 1, size - 1, f);
	said[n] = '\0';
	status = pclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
cenotectl_shows_and_resets_them(void **state)
{
	cenote_conn *conn;
	char said[4096];

	wp_start(LITE(""));
	wp_await_log("ready: ");
	conn = wp_attach(NULL);
	wp_exec(conn, "select 1 as \"one\"");
	assert_int_equal(control("--format csv digests", said, sizeof(said)), 0);
	assert_non_null(strstr(
		said, "pool,queryid,calls,errors,rows,total_us,mean_us,p99_us,query\n"));
	assert_non_null(strstr(said, ",\"select ? as \"\"one\"\"\"\n"));
	assert_int_equal(control("digests --nonsense", said, sizeof(said)), 1);
	assert_non_null(strstr(said, "there is --reset"));
	assert_int_equal(control("digests --reset", said, sizeof(said)), 0);
	assert_int_equal(number_of("select ? as \"one\"", "calls"), -1);
	wp_exec(conn, "select 2 as \"one\"");
	assert_int_equal(number_of("select ? as \"one\"", "calls"), 1);
	cenote_conn_destroy(conn);
}

/* The limits name a user of their own, and all others. */
static void
times_are_kept_for_the_users_with_limits(void **state)
{
	const struct passwd *me = getpwuid(getuid());
	char lines[256], said[4096], row[128];
	cenote_conn *conn;

	assert_non_null(me);
	snprintf(lines, sizeof(lines),
		"sessions = 1..2\ndigests = yes\nuser_limits = * sessions=2\n"
		"user_limits = %s sessions=2\n",
		me->pw_name);
	turns_start(lines);
	wp_await_log("ready: ");
	conn = wp_attach(NULL);
	for (int i = 0; i < 7; i++)
		wp_exec(conn, "select 1");
	assert_int_equal(control("--format csv times", said, sizeof(said)), 0);
	snprintf(row, sizeof(row), "\nmain,request,0,%s,7,", me->pw_name);
	assert_non_null(strstr(said, row));
	assert_non_null(strstr(said, "\nmain,request,0,\"\",7,"));
	assert_null(strstr(said, "\nmain,request,0,*,"));
	cenote_conn_destroy(conn);
}

static void
without_the_key_nothing_is_kept(void **state)
{
	cenote_result *res;
	cenote_conn *conn;

	wp_start(WP_POOL("sessions = 1\n"));
	conn = wp_attach(NULL);
	wp_exec(conn, "select 1");
	res = ask();
	assert_int_equal(cenote_result_n_rows(res), 0);
	cenote_result_destroy(res);
	cenote_conn_destroy(conn);
}

/* An ODBC pool does not know its server. */
static void
a_backend_that_cannot_read_sql_has_none(void **state)
{
	char module[CNT_PATH_MAX + 32];

	assert_int_equal(cnt_daemon_create(&wp_daemon,
				 CNT_DAEMON_GLOBAL "[pool main]\nbackend = odbc\n"
						   "server = dsn=none\nsessions = 0..1\n"
						   "digests = yes\n"),
		0);
	snprintf(module, sizeof(module), "%s/cenoted-odbc.so", wp_daemon.backends);
	if (access(module, R_OK) == 0) {
		assert_int_equal(cnt_daemon_run(&wp_daemon), -1);
		wp_await_log("pool main: digests: backend odbc does not know how its "
			     "server reads SQL");
	}
	(void)cnt_daemon_stop(&wp_daemon);
}

#define T(name) cmocka_unit_test_teardown(name, wp_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(statements_that_differ_in_values_count_together),
		T(what_never_succeeded_has_no_text),
		T(prepared_statements_and_transactions_count),
		T(rows_that_come_in_batches_count_once),
		T(named_statements_count_on_each_session),
		T(texts_are_read_as_the_server_reads_them),
		T(texts_of_a_pipeline_are_read_with_doubt),
		T(only_who_runs_the_pool_sees_texts),
		T(cenotectl_shows_and_resets_them),
		T(times_are_kept_for_the_users_with_limits),
		T(without_the_key_nothing_is_kept),
		cmocka_unit_test(a_backend_that_cannot_read_sql_has_none),
	};

	return cmocka_run_group_tests(tests, turns_setup, turns_teardown);
}
