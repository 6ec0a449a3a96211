/* SPDX-License-Identifier: BSD-2-Clause */
/* The slow log and trace contexts on PostgreSQL, in workers that several sessions share, and for sessions that are lent. */
#include "turns.h"

#include <string.h>

#define TRACE       "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN        "00f067aa0ba902b7"
#define TRACEPARENT "00-" TRACE "-" SPAN "-01"
#define IDS         " trace_id=" TRACE " span_id=" SPAN

static cenote_conn *
attach(void)
{
	cenote_conn *conn = wp_handle(NULL);

	assert_ok(cenote_conn_set(conn, "traceparent", TRACEPARENT));
	assert_ok(cenote_connect(conn));
	return conn;
}

static void
a_slow_statement_is_logged_without_its_literals(void **state)
{
	static const char line[] =
		"statement=\"select pg_sleep (?), ? :: bytea, \\\"a\\\" from (select ? "
		"as \\\"a\\\") as t\"";
	cenote_conn *conn;

	turns_start("sessions = 1\nlog_min_duration = 50ms\n");
	conn = attach();
	wp_exec(conn, "select 1");
	wp_exec(conn,
		"select pg_sleep(0.06), 'secret', $a$secret$a$, E'\\'secret', "
		"'\\x736563726574'::bytea, \"a\" from (select 'secret' as \"a\") as "
		"t /* secret */");
	wp_await_log("slow request: QUERY took ");
	assert_true(wp_log_has_line(line, IDS));
	assert_false(wp_log_has("secret"));
	cenote_conn_destroy(conn);
}

/* With a quote after the backslash, the end of the text depends on standard_conforming_strings. */
static void
a_statement_that_a_setting_reads_otherwise_has_no_text_in_the_log(void **state)
{
	cenote_conn *conn;

	turns_start("sessions = 1\nlog_min_duration = 50ms\n");
	conn = attach();
	wp_exec(conn, "set standard_conforming_strings = off");
	wp_exec(conn, "select pg_sleep(0.06), 'a\\' , secret , '");
	wp_await_log("slow request: QUERY took ");
	assert_true(wp_log_has_line("slow request: ", " digest="));
	assert_false(wp_log_has("statement="));
	assert_false(wp_log_has("secret"));
	cenote_conn_destroy(conn);
}

static void
a_statement_that_fails_is_logged_with_its_sqlstate(void **state)
{
	cenote_conn *conn;

	turns_start("sessions = 1\nlog_min_duration = 50ms\n");
	conn = attach();
	assert_int_equal(
		wp_status_of(conn, "select 1 / (case when pg_sleep(0.06) is null "
				   "then 1 else 0 end)"),
		CENOTE_ERR_SERVER);
	wp_await_log("slow request: QUERY took ");
	assert_true(wp_log_has_line("slow request: ", " sqlstate=22012 "));
	cenote_conn_destroy(conn);
}

/* Clients that share a session stay connected without one. Each comes back with its own trace. */
static void
a_client_that_stayed_keeps_its_trace(void **state)
{
	cenote_conn *conns[2];

	turns_start("sessions = 1\nlog_min_duration = 50ms\n" TURNS_POOL);
	conns[0] = attach();
	conns[1] = wp_attach(NULL);
	turns_take(conns, 2, 3);
	wp_exec(conns[1], "select pg_sleep(0.06), 'of the other'");
	wp_await_log("slow request: ");
	assert_false(wp_log_has_line("slow request: ", "trace_id="));
	wp_exec(conns[0], "select pg_sleep(0.06)");
	wp_await_log(IDS);
	assert_true(wp_log_has_line("slow request: ", IDS));
	turns_destroy(conns, 2);
}

static void
a_pin_is_logged_with_its_trace(void **state)
{
	cenote_conn *conn;

	turns_start("sessions = 1\npin_warning = 100ms\n" TURNS_POOL);
	conn = attach();
	wp_exec(conn, "create temp table mine (a int)");
	wp_await_log("keeps a session for ");
	assert_true(wp_log_has_line("keeps a session for ", IDS));
	cenote_conn_destroy(conn);
}

static void
a_client_with_a_lent_session_logs_nothing(void **state)
{
	cenote_conn *conn;

	turns_start("sessions = 1\nlend = auto\nlog_min_duration = 50ms\n");
	conn = attach();
	for (int i = 0; i < 100 && strcmp(cenote_info(conn, "data_path"), "lent") != 0;
		i++)
		wp_exec(conn, "select 1");
	assert_string_equal(cenote_info(conn, "data_path"), "lent");
	wp_exec(conn, "select pg_sleep(0.06)");
	cenote_conn_destroy(conn);
	assert_int_equal(cnt_daemon_end(&wp_daemon), 0);
	assert_false(wp_log_has_line("slow request: ", "pg_sleep"));
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, wp_teardown)
	static const struct CMUnitTest tests[] = {
		TEST(a_slow_statement_is_logged_without_its_literals),
		TEST(a_statement_that_a_setting_reads_otherwise_has_no_text_in_the_log),
		TEST(a_statement_that_fails_is_logged_with_its_sqlstate),
		TEST(a_client_that_stayed_keeps_its_trace),
		TEST(a_pin_is_logged_with_its_trace),
		TEST(a_client_with_a_lent_session_logs_nothing),
	};

	return cmocka_run_group_tests(tests, turns_setup, turns_teardown);
}
