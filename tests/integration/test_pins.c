/* SPDX-License-Identifier: BSD-2-Clause */
/* What keeps a session with its client in mode = transaction: who sees it, and how long it may last. */
#include "turns.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TEMP    "create temp table mine (a int)"
#define CURSOR  "declare rows cursor with hold for select 1"
#define PATIENT "mode = transaction\nqueue_timeout = 60s\n"
#define HASTY   "mode = transaction\nqueue_timeout = 1s\n"

/* ---- the queue's error ---- */

static void
expect_late(const char *wanted)
{
	cenote_conn *conn;

	assert_int_equal(wp_try(NULL, &conn), CENOTE_ERR_CONN);
	assert_string_equal(wp_sqlstate(conn), "57P03");
	assert_string_equal(wp_message(conn), wanted);
	cenote_conn_destroy(conn);
}

static void
the_error_of_the_queue_says_what_pins_the_sessions(void **state)
{
	cenote_conn *conns[3];

	turns_start("sessions = 3\n" HASTY);
	wp_await("main", "idle", 3);
	turns_attach(conns, 3);
	wp_exec(conns[0], TEMP);
	wp_exec(conns[1], CURSOR);
	wp_exec(conns[1], TEMP);
	wp_exec(conns[2], "begin");
	expect_late("pool main: no free session in 1s (3 of 3 in use, 1 waiting, 2 "
		    "pinned: 2 by temporary objects, 1 by open cursors; see \\pins in "
		    "sqlsh)");
	turns_destroy(conns, 3);
}

/* A client that stayed connected gets the same text from its worker. */
static void
the_error_of_who_stays_says_what_pins_the_sessions(void **state)
{
	cenote_conn *conns[2];

	turns_start("sessions = 1\n" HASTY);
	wp_await("main", "idle", 1);
	turns_attach(conns, 2);
	turns_take(conns, 2, 2);
	wp_exec(conns[0], TEMP);
	assert_int_equal(wp_status_of(conns[1], "select 1"), CENOTE_ERR_CONN);
	assert_non_null(strstr(wp_message(conns[1]),
		"1 pinned: 1 by temporary objects; see \\pins in sqlsh)"));
	turns_destroy(conns, 2);
}

static void
the_error_is_short_if_no_session_is_pinned(void **state)
{
	cenote_conn *conn;

	turns_start("sessions = 1\n" HASTY);
	wp_await("main", "idle", 1);
	conn = wp_attach(NULL);
	/* these pins end with the transaction */
	wp_exec(conn, "begin");
	wp_exec(conn, "create temp table mine (a int) on commit drop");
	wp_exec(conn, "declare rows cursor for select 1");
	expect_late("pool main: no free session in 1s (1 of 1 in use, 1 waiting)");
	wp_exec(conn, "commit");
	cenote_conn_destroy(conn);
}

static void
in_mode_session_the_error_does_not_speak_of_pins(void **state)
{
	cenote_conn *conn;

	turns_start("sessions = 1\nqueue_timeout = 1s\n");
	wp_await("main", "idle", 1);
	conn = wp_attach(NULL);
	wp_exec(conn, TEMP);
	expect_late("pool main: no free session in 1s (1 of 1 in use, 1 waiting)");
	cenote_conn_destroy(conn);
}

/* ---- the status ---- */

static cenote_result *
status(const char *what)
{
	cenote_conn *conn = wp_handle(NULL);
	cenote_result *res;

	assert_ok(cenote_status(conn, what, &res));
	cenote_conn_destroy(conn);
	return res;
}

static const char *
text_of(const cenote_result *res, uint64_t row, const char *column)
{
	return cenote_result_text(
		res, row, (uint32_t)cenote_result_find_column(res, column), NULL);
}

/* Check how many sessions are pinned, and the pins and the client of the first one. */
static void
expect_pinned(uint64_t n, const char *pins)
{
	cenote_result *res = status("pins");
	char pid[16];

	assert_int_equal(cenote_result_n_rows(res), n);
	if (n > 0) {
		snprintf(pid, sizeof(pid), "%d", (int)getpid());
		assert_string_equal(text_of(res, 0, "pool"), "main");
		assert_string_equal(text_of(res, 0, "state"), "attached");
		assert_string_equal(text_of(res, 0, "client_pid"), pid);
		assert_string_equal(text_of(res, 0, "pins"), pins);
	}
	cenote_result_destroy(res);
}

static void
the_status_names_pinned_sessions_and_their_clients(void **state)
{
	cenote_conn *conn;

	turns_start("sessions = 2\n" PATIENT);
	conn = wp_attach(NULL);
	expect_pinned(0, NULL);
	wp_exec(conn, TEMP);
	wp_exec(conn, CURSOR);
	expect_pinned(1, "temp,cursor");
	assert_ok(cenote_reset(conn));
	expect_pinned(0, NULL);
	wp_exec(conn, TEMP);
	expect_pinned(1, "temp");
	cenote_conn_destroy(conn);
	wp_await("main", "idle", 2);
	expect_pinned(0, NULL);
}

/* Check a row of pin_counts: "pool pin pinned begun". */
static void
expect_count(const cenote_result *res, uint64_t row, const char *wanted)
{
	char got[128];

	snprintf(got, sizeof(got), "%s %s %s %s", text_of(res, row, "pool"),
		text_of(res, row, "pin"), text_of(res, row, "pinned"),
		text_of(res, row, "begun"));
	assert_string_equal(got, wanted);
}

static void
the_status_counts_how_often_each_pin_began(void **state)
{
	cenote_conn *conns[2];
	cenote_result *res;

	turns_start("sessions = 2\n" PATIENT);
	turns_attach(conns, 2);
	for (int i = 0; i < 3; i++) {
		wp_exec(conns[0], TEMP);
		wp_exec(conns[0], "insert into mine values (1)");
		assert_ok(cenote_reset(conns[0]));
	}
	wp_exec(conns[1], CURSOR);
	/* this pin ends with its transaction */
	wp_exec(conns[0], "begin");
	wp_exec(conns[0], "declare rows cursor for select 1");
	wp_exec(conns[0], "commit");
	res = status("pin_counts");
	assert_int_equal(cenote_result_n_rows(res), 2);
	expect_count(res, 0, "main temp 0 3");
	expect_count(res, 1, "main cursor 1 1");
	cenote_result_destroy(res);
	turns_destroy(conns, 2);
}

/* ---- the limits ---- */

static void
a_client_that_pins_its_session_for_long_is_logged_once(void **state)
{
	cenote_conn *conns[2];
	char client[64];

	turns_start("sessions = 2\n" PATIENT "pin_warning = 200ms\n");
	turns_attach(conns, 2);
	wp_exec(conns[0], "begin");
	wp_exec(conns[0],
		"create /* to */ temp table mine as select 'secret' as a, 31415926");
	wp_exec(conns[0], "commit");
	snprintf(client, sizeof(client), "client pid %d, uid %d: user ", (int)getpid(),
		(int)getuid());
	wp_await_log("ms by temporary objects, since \"create temp table mine\"; ");
	assert_true(wp_log_has_line("temporary objects", client));
	assert_true(wp_log_has_line("temporary objects", "worker main: warning: "));
	assert_false(wp_log_has("secret") || wp_log_has("31415926"));
	/* the next line is about the other client */
	wp_exec(conns[0], "select pg_advisory_lock(31415926)");
	wp_exec(conns[1], "select pg_advisory_lock(31415927)");
	wp_await_log("ms by locks, since \"select pg_advisory_lock\"; ");
	assert_false(wp_log_has("objects, locks"));
	assert_false(wp_log_has("3141592"));
	assert_string_equal(wp_value(conns[0], "select a from mine"), "secret");
	turns_destroy(conns, 2);
}

/* A setting may be set to a word without quotes. */
static void
the_log_never_has_a_value(void **state)
{
	static const struct {
		const char *sql;
		const char *said;
	} cases[] = {
		{ "do $$ begin perform 'hunter2'; end $$",
			"changed settings, since \"do\"" },
		{ "set client_encoding to 'latin1' /* hunter2 */",
			"changed settings, since \"set client_encoding\"" },
		{ "create temp table t as select 1 as a, $$hunter2$$",
			"temporary objects, since \"create temp table t\"" },
	};
	cenote_conn *conns[CNT_COUNT(cases)];

	turns_start("sessions = 3\n" PATIENT "pin_warning = 100ms\n");
	turns_attach(conns, CNT_COUNT(cases));
	for (size_t i = 0; i < CNT_COUNT(cases); i++) {
		wp_exec(conns[i], cases[i].sql);
		wp_await_log(cases[i].said);
	}
	assert_false(wp_log_has("hunter2"));
	turns_destroy(conns, CNT_COUNT(cases));
}

static void
a_new_pin_after_the_first_has_ended_is_logged_again(void **state)
{
	cenote_conn *conn;

	turns_start("sessions = 1\n" PATIENT "pin_warning = 200ms\n");
	conn = wp_attach(NULL);
	wp_exec(conn, TEMP);
	wp_await_log("by temporary objects");
	assert_ok(cenote_reset(conn));
	wp_exec(conn, CURSOR);
	wp_await_log("by open cursors, since \"declare rows cursor with\"");
	cenote_conn_destroy(conn);
}

static void
a_client_that_pins_its_session_for_too_long_loses_it(void **state)
{
	cenote_conn *conns[2];

	turns_start("sessions = 1\n" PATIENT "pin_timeout = 500ms\n");
	turns_attach(conns, 2);
	wp_exec(conns[0], TEMP);
	/* waits for the session */
	assert_string_equal(wp_value(conns[1], "select 1"), "1");
	assert_int_equal(wp_status_of(conns[0], "select 1"), CENOTE_ERR_CONN);
	assert_string_equal(wp_sqlstate(conns[0]), "57P05");
	assert_string_equal(wp_message(conns[0]),
		"pool main: kept by temporary objects for longer than "
		"pin_timeout allows");
	assert_ok(cenote_connect(conns[0]));
	turns_take(conns, 2, 2);
	turns_destroy(conns, 2);
}

/* The time runs on in a transaction, but ends the session only after it. */
static void
a_transaction_is_not_ended_by_its_pins(void **state)
{
	cenote_conn *conn;

	turns_start("sessions = 1\n" PATIENT "pin_timeout = 200ms\n");
	conn = wp_attach(NULL);
	wp_exec(conn, "begin");
	wp_exec(conn, TEMP);
	wp_pause_ms(600);
	assert_string_equal(wp_value(conn, "select count(*) from mine"), "0");
	wp_exec(conn, "commit");
	wp_await("main", "idle", 1);
	assert_int_equal(wp_status_of(conn, "select 1"), CENOTE_ERR_CONN);
	assert_string_equal(wp_sqlstate(conn), "57P05");
	cenote_conn_destroy(conn);
}

static void
in_mode_session_pins_have_no_limits(void **state)
{
	cenote_conn *conn;

	turns_start("sessions = 1\npin_warning = 100ms\npin_timeout = 200ms\n");
	conn = wp_attach(NULL);
	wp_exec(conn, TEMP);
	wp_pause_ms(600);
	assert_string_equal(wp_value(conn, "select count(*) from mine"), "0");
	assert_false(wp_log_has("temporary objects"));
	cenote_conn_destroy(conn);
}

/* ---- strict ---- */

static void
is_refused(cenote_conn *conn, const char *sql)
{
	assert_int_equal(wp_status_of(conn, sql), CENOTE_ERR_UNSUPPORTED);
	assert_string_equal(wp_sqlstate(conn), "0A000");
	if (strstr(wp_message(conn), "strict = yes") == NULL)
		fail_msg("%s: %s", sql, wp_message(conn));
}

/* The other client gets the session after each of them. */
static void
a_strict_pool_refuses_what_would_keep_a_session(void **state)
{
	static const char *const refused[] = { TEMP, CURSOR, "listen news",
		"select pg_advisory_lock(42)", "prepare q as select 1; select 2",
		"do $$ begin end $$", "select setseed(0.5)" };
	cenote_conn *conns[2];
	cenote_stmt *stmt;
	char text[4096];

	turns_start("sessions = 1\n" PATIENT "strict = yes\n");
	turns_attach(conns, 2);
	for (size_t i = 0; i < CNT_COUNT(refused); i++) {
		is_refused(conns[0], refused[i]);
		assert_string_equal(wp_value(conns[1], "select 1"), "1");
	}
	snprintf(text, sizeof(text), "prepare q as select '%04000d'", 0);
	is_refused(conns[0], text);
	assert_ok(cenote_stmt_create(conns[0], "listen news", CENOTE_NTS, &stmt));
	assert_int_equal(cenote_stmt_prepare(stmt), CENOTE_ERR_UNSUPPORTED);
	assert_string_equal(wp_sqlstate(conns[0]), "0A000");
	cenote_stmt_destroy(stmt);
	turns_destroy(conns, 2);
}

static void
a_strict_pool_lets_through_what_ends_or_moves(void **state)
{
	static const char *const allowed[] = { "set work_mem = '5MB'",
		"select set_config('app.tenant', '5', false)", "prepare q as select 1",
		"execute q", "begin", "create temp table mine (a int) on commit drop",
		"declare rows cursor for select 1", "select pg_advisory_xact_lock(42)",
		"commit", "create table plain (a int)", "drop table plain" };
	cenote_conn *conns[2];

	turns_start("sessions = 1\n" PATIENT "strict = yes\n");
	turns_attach(conns, 2);
	for (size_t i = 0; i < CNT_COUNT(allowed); i++)
		wp_exec(conns[0], allowed[i]);
	assert_string_equal(wp_value(conns[1], "select 1"), "1");
	assert_string_equal(wp_value(conns[0], "show work_mem"), "5MB");
	turns_destroy(conns, 2);
}

/* A request in a pipeline is refused, too. */
static void
a_strict_pool_refuses_it_in_a_pipeline(void **state)
{
	static const char *const requests[] = { "select 1", "listen news", "select 2" };
	cenote_params *none = wp_params();
	cenote_conn *conn;

	turns_start("sessions = 1\n" PATIENT "strict = yes\n");
	conn = wp_attach(NULL);
	assert_ok(cenote_pipeline_begin(conn));
	for (size_t i = 0; i < CNT_COUNT(requests); i++) {
		assert_ok(cenote_send_query(conn, requests[i], CENOTE_NTS, none, NULL));
		assert_ok(cenote_send_sync(conn));
	}
	for (size_t i = 0; i < CNT_COUNT(requests); i++) {
		cenote_result_destroy(wp_next_result(
			conn, i == 1 ? CENOTE_RESULT_ERROR : CENOTE_RESULT_ROWS));
		assert_null(wp_next_result(conn, 0));
		cenote_result_destroy(wp_next_result(conn, CENOTE_RESULT_SYNC));
		assert_null(wp_next_result(conn, 0));
	}
	cenote_params_destroy(none);
	cenote_conn_destroy(conn);
}

#define TEST(name) cmocka_unit_test_teardown(name, wp_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_error_of_the_queue_says_what_pins_the_sessions),
		TEST(the_error_of_who_stays_says_what_pins_the_sessions),
		TEST(the_error_is_short_if_no_session_is_pinned),
		TEST(in_mode_session_the_error_does_not_speak_of_pins),
		TEST(the_status_names_pinned_sessions_and_their_clients),
		TEST(the_status_counts_how_often_each_pin_began),
		TEST(a_client_that_pins_its_session_for_long_is_logged_once),
		TEST(the_log_never_has_a_value),
		TEST(a_new_pin_after_the_first_has_ended_is_logged_again),
		TEST(a_client_that_pins_its_session_for_too_long_loses_it),
		TEST(a_transaction_is_not_ended_by_its_pins),
		TEST(in_mode_session_pins_have_no_limits),
		TEST(a_strict_pool_refuses_what_would_keep_a_session),
		TEST(a_strict_pool_lets_through_what_ends_or_moves),
		TEST(a_strict_pool_refuses_it_in_a_pipeline),
	};

	return cmocka_run_group_tests(tests, turns_setup, turns_teardown);
}
