/* SPDX-License-Identifier: BSD-2-Clause */
/* The log of a real cenoted: the slow log, JSON, trace contexts, and what happens when the disk is full. */
#include "with_pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRACE       "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN        "00f067aa0ba902b7"
#define TRACEPARENT "00-" TRACE "-" SPAN "-01"
#define IDS         " trace_id=" TRACE " span_id=" SPAN
#define OTHER_TRACE "0af7651916cd43dd8448eb211c80319c"
#define COMMENT     "/*traceparent='00-" OTHER_TRACE "-b7ad6b7169203331-01'*/"

/* A statement that takes some milliseconds, with a literal. */
#define SLOW                                                                             \
	"WITH recursive n(i) as (select 1 union all select i + 1 from n where i < "      \
	"100000) select count(*), 'secret' from n"
#define QUITE_SLOW                                                                       \
	"WITH recursive n(i) as (select 1 union all select i + 1 from n where i < "      \
	"10000) select count(*) from n"
#define SLOW_NORMAL                                                                      \
	"statement=\"with recursive n (i) as (select ? union all select i + ? from n "   \
	"where i < ?) select count (*), ? from n\""

static cenote_conn *
attach(const char *traceparent)
{
	cenote_conn *conn = wp_handle(NULL);

	assert_ok(cenote_conn_set(conn, "application_name", "shop \"1\""));
	assert_ok(cenote_conn_set(conn, "traceparent", traceparent));
	assert_ok(cenote_connect(conn));
	return conn;
}

/* ---- the slow log ---- */

static void
a_slow_request_is_logged_without_its_values(void **state)
{
	cenote_conn *conn;

	wp_start(WP_POOL("log_min_duration = 1ms\n"));
	conn = attach(TRACEPARENT);
	wp_exec(conn, SLOW);
	wp_await_log("slow request: QUERY took ");
	assert_true(wp_log_has_line("slow request: QUERY took ", SLOW_NORMAL));
	assert_true(wp_log_has_line(SLOW_NORMAL, " application=\"shop \\\"1\\\"\" "));
	assert_true(wp_log_has_line(SLOW_NORMAL, " user="));
	assert_true(wp_log_has_line(SLOW_NORMAL, " digest="));
	assert_true(wp_log_has_line(SLOW_NORMAL, IDS));
	assert_true(wp_log_has_line(SLOW_NORMAL, " rows=1 "));
	assert_false(wp_log_has_line(SLOW_NORMAL, "sqlstate="));
	assert_false(wp_log_has("secret"));
	cenote_conn_destroy(conn);
}

static void
the_statement_s_own_trace_is_preferred(void **state)
{
	cenote_conn *conn;

	wp_start(WP_POOL("log_min_duration = 1ms\n"));
	conn = attach(TRACEPARENT);
	wp_exec(conn, SLOW COMMENT);
	wp_await_log(" trace_id=" OTHER_TRACE " span_id=b7ad6b7169203331");
	assert_false(wp_log_has_line("slow request", TRACE));
	cenote_conn_destroy(conn);
}

/* The same statement has the same name in both. */
static void
the_digest_is_that_of_the_statistics(void **state)
{
	cenote_conn *conn, *asker;
	cenote_result *res;
	char digest[32];

	wp_start(WP_POOL("digests = yes\nlog_min_duration = 1ms\n"));
	conn = attach(NULL);
	wp_exec(conn, SLOW);
	asker = wp_handle(NULL);
	assert_ok(cenote_status(asker, "digests", &res));
	cenote_conn_destroy(asker);
	(void)snprintf(digest, sizeof(digest), " digest=%s ",
		cenote_result_text(res, 0,
			(uint32_t)cenote_result_find_column(res, "queryid"), NULL));
	cenote_result_destroy(res);
	wp_await_log(SLOW_NORMAL);
	assert_true(wp_log_has_line(SLOW_NORMAL, digest));
	cenote_conn_destroy(conn);
}

/* A connection that says nothing of a trace must not get that of the last client. */
static void
the_next_client_does_not_get_the_trace_of_the_last_one(void **state)
{
	cenote_conn *conn;

	wp_start(WP_POOL("sessions = 1\nlog_min_duration = 1ms\n"));
	conn = attach(TRACEPARENT);
	wp_exec(conn, "select 1");
	cenote_conn_destroy(conn);
	conn = attach(NULL);
	wp_exec(conn, SLOW);
	wp_await_log(SLOW_NORMAL);
	assert_false(wp_log_has_line(SLOW_NORMAL, "trace_id="));
	cenote_conn_destroy(conn);
}

static void
a_slow_request_that_fails_is_logged_with_its_sqlstate(void **state)
{
	cenote_conn *conn;

	wp_start(WP_POOL("log_min_duration = 1ms\nquery_timeout = 200ms\n"));
	conn = attach(NULL);
	assert_int_equal(
		wp_status_of(conn,
			"with recursive n(i) as (select 1 union all select i + 1 from n) "
			"select count(*) from n"),
		CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(conn), "57014");
	wp_await_log("slow request: QUERY took ");
	assert_true(wp_log_has_line("slow request: QUERY took ", " sqlstate=57014 "));
	/* the next request has not failed */
	wp_exec(conn, SLOW);
	wp_await_log(SLOW_NORMAL);
	assert_false(wp_log_has_line(SLOW_NORMAL, "sqlstate="));
	cenote_conn_destroy(conn);
}

static void
a_prepared_statement_is_logged_with_its_text(void **state)
{
	cenote_conn *conn;
	cenote_stmt *stmt;
	cenote_result *res;

	wp_start(WP_POOL("log_min_duration = 1ms\n"));
	conn = attach(NULL);
	assert_ok(cenote_stmt_create(conn, SLOW, CENOTE_NTS, &stmt));
	assert_ok(cenote_stmt_execute(stmt, NULL, NULL, &res));
	cenote_result_destroy(res);
	wp_await_log("slow request: EXECUTE took ");
	assert_true(wp_log_has_line("slow request: EXECUTE took ", SLOW_NORMAL));
	cenote_stmt_destroy(stmt);
	cenote_conn_destroy(conn);
}

static void
a_fast_request_is_not_logged(void **state)
{
	cenote_conn *conn;

	wp_start(WP_POOL("log_min_duration = 1h\n"));
	conn = attach(NULL);
	wp_exec(conn, SLOW);
	cenote_conn_destroy(conn);
	assert_int_equal(cnt_daemon_end(&wp_daemon), 0);
	assert_false(wp_log_has("slow request"));
}

/* The number of lines with the text; *ret_sum is the sum of the numbers behind `name` in the log. */
static size_t
count_lines(const char *text, const char *name, unsigned long *ret_sum)
{
	FILE *f = fopen(wp_daemon.log, "re");
	char line[8192];
	size_t n = 0;

	*ret_sum = 0;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL) {
		const char *number = strstr(line, name);

		n += strstr(line, text) != NULL;
		if (number != NULL)
			*ret_sum += strtoul(number + strlen(name), NULL, 10);
	}
	fclose(f);
	return n;
}

static void
many_slow_requests_make_few_lines_and_the_rest_is_counted(void **state)
{
	unsigned long left_out;
	cenote_conn *conn;
	size_t n_logged, n;

	wp_start(WP_POOL("sessions = 1\nlog_min_duration = 1ms\n"));
	conn = attach(NULL);
	/* the limit is for one second, and a busy machine takes long to reach it */
	for (n = 0; n % 20 != 0 || (n < 5000 && !wp_log_has(" left_out=")); n++)
		wp_exec(conn, QUITE_SLOW);
	cenote_conn_destroy(conn);
	assert_true(wp_log_has(" left_out="));
	/* requests after the last line with the number may have been left out, too */
	n_logged = count_lines("slow request: QUERY", " left_out=", &left_out) + left_out;
	assert_in_range(n, n_logged, n_logged + 40);
	assert_true(left_out > 0);
}

/* ---- traces of other messages ---- */

static void
a_refused_login_is_logged_with_its_trace(void **state)
{
	cenote_conn *conn;

	wp_start(WP_POOL("auth = reject\n"));
	conn = wp_handle(NULL);
	assert_ok(cenote_conn_set(conn, "traceparent", TRACEPARENT));
	assert_int_equal(cenote_connect(conn), CENOTE_ERR_AUTH);
	cenote_conn_destroy(conn);
	wp_await_log("login refused: ");
	assert_true(wp_log_has_line("login refused: ", "a rule rejects it" IDS));
}

static void
a_client_that_reaches_a_limit_is_logged_with_its_trace(void **state)
{
	cenote_conn *conn;

	wp_start(WP_POOL("idle_transaction_timeout = 200ms\n"));
	conn = attach(TRACEPARENT);
	wp_exec(conn, "begin");
	wp_await_log("idle_transaction_timeout");
	assert_true(wp_log_has_line("client pid ", IDS));
	cenote_conn_destroy(conn);
}

/* ---- JSON ---- */

/* The line with this text; in static memory. */
static const char *
find_line(const char *text)
{
	static char line[8192];
	FILE *f = fopen(wp_daemon.log, "re");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL && strstr(line, text) == NULL)
		continue;
	fclose(f);
	return line;
}

static void
each_line_is_an_object_of_json(void **state)
{
	char line[8192];
	cenote_conn *conn;
	FILE *f;

	wp_start(CNT_DAEMON_GLOBAL "log_format = json\n" CNT_DAEMON_POOL
				   "log_min_duration = 1ms\n");
	conn = attach(TRACEPARENT);
	wp_exec(conn, SLOW);
	wp_await_log("slow request: ");
	cenote_conn_destroy(conn);
	assert_int_equal(cnt_daemon_end(&wp_daemon), 0);
	f = fopen(wp_daemon.log, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, "{\"time\":\"20", 11) != 0 ||
			strcmp(line + strlen(line) - 3, "\"}\n") != 0)
			fail_msg("%s", line);
	}
	fclose(f);
	assert_non_null(strstr(find_line("ready: "), "\"process\":\"master\""));
	assert_non_null(strstr(find_line("slow request"), "\"process\":\"worker\""));
	assert_non_null(strstr(find_line("slow request"), "\"pool\":\"main\""));
	assert_non_null(strstr(find_line("slow request"), "\"duration_ms\":"));
	assert_non_null(strstr(find_line("slow request"), "\"request\":\"QUERY\""));
	assert_non_null(
		strstr(find_line("slow request"), "\"application\":\"shop \\\"1\\\"\""));
	assert_non_null(strstr(find_line("slow request"),
		"\"trace_id\":\"" TRACE "\",\"span_id\":\"" SPAN "\""));
}

/* ---- a full disk ---- */

static void
limit_file(pid_t pid, rlim_t size)
{
	struct rlimit limit;

	assert_int_equal(prlimit(pid, RLIMIT_FSIZE, NULL, &limit), 0);
	limit.rlim_cur = size;
	assert_int_equal(prlimit(pid, RLIMIT_FSIZE, &limit, NULL), 0);
}

static void
a_log_that_is_full_keeps_no_client_waiting(void **state)
{
	cenote_conn *conn;
	struct stat st;

	wp_start(WP_POOL("log_min_duration = 1ms\n"));
	conn = attach(NULL);
	assert_int_equal(stat(wp_daemon.log, &st), 0);
	/* a part of the first line still fits */
	limit_file(wp_worker_pid(conn), (rlim_t)st.st_size + 20);
	for (int i = 0; i < 3; i++)
		wp_exec(conn, SLOW);
	assert_string_equal(wp_value(conn, "select 7"), "7");
	assert_false(wp_log_has(SLOW_NORMAL));
	limit_file(wp_worker_pid(conn), RLIM_INFINITY);
	wp_exec(conn, SLOW);
	wp_await_log(SLOW_NORMAL);
	assert_true(
		wp_log_has_line("worker main: warning: ", " lines of the log were lost"));
	cenote_conn_destroy(conn);
}

static void
cenoted_starts_and_serves_without_a_place_for_its_log(void **state)
{
	cenote_conn *conn;

	assert_int_equal(cnt_daemon_create(&wp_daemon,
				 WP_POOL("log_min_duration = 1ms\nsessions = 1..3\n")),
		0);
	/* it becomes standard error */
	(void)unlink(wp_daemon.log);
	assert_int_equal(symlink("/dev/full", wp_daemon.log), 0);
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
	conn = attach(TRACEPARENT);
	wp_exec(conn, SLOW);
	assert_string_equal(wp_value(conn, "select 7"), "7");
	cenote_conn_destroy(conn);
	assert_int_equal(cnt_daemon_end(&wp_daemon), 0);
	assert_int_equal(unlink(wp_daemon.log), 0);
	assert_int_equal(symlink("/dev/null", wp_daemon.log), 0);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, wp_teardown)
	static const struct CMUnitTest tests[] = {
		TEST(a_slow_request_is_logged_without_its_values),
		TEST(the_statement_s_own_trace_is_preferred),
		TEST(the_digest_is_that_of_the_statistics),
		TEST(the_next_client_does_not_get_the_trace_of_the_last_one),
		TEST(a_slow_request_that_fails_is_logged_with_its_sqlstate),
		TEST(a_prepared_statement_is_logged_with_its_text),
		TEST(a_fast_request_is_not_logged),
		TEST(many_slow_requests_make_few_lines_and_the_rest_is_counted),
		TEST(a_refused_login_is_logged_with_its_trace),
		TEST(a_client_that_reaches_a_limit_is_logged_with_its_trace),
		TEST(each_line_is_an_object_of_json),
		TEST(a_log_that_is_full_keeps_no_client_waiting),
		TEST(cenoted_starts_and_serves_without_a_place_for_its_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
