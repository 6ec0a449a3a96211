/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: test_cenoted_hooks postgresql|mariadb|sqlite
 *
 * The SQL that a pool runs when a session begins and ends (session_start, session_end), on a real server.
 */
#include "with_server.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* What differs between the servers. */
static const struct kind {
	/* how the pool changes a setting, and its value then */
	const char *start, *started;
	/* how a client changes it, and its value then */
	const char *change, *changed;
	const char *ask; /* shows the value */
} kinds[] = {
	[WS_POSTGRESQL] = { "set statement_timeout = '77s'", "77s",
		"set statement_timeout = '5s'", "5s", "show statement_timeout" },
	[WS_MARIADB] = { "set time_zone = '+03:00'", "+03:00", "set time_zone = '+05:00'",
		"+05:00", "select @@time_zone" },
	[WS_SQLITE] = { "pragma cache_size = -777", "-777", "pragma cache_size = -555",
		"-555", "pragma cache_size" },
};

static const struct kind *kind;

/* Start cenoted with these lines in the pool, which changes the setting when a session begins. */
static void
start_with_setting(const char *lines)
{
	char all[512];

	snprintf(all, sizeof(all), "%ssession_start = %s\n", lines, kind->start);
	ws_start(all);
}

#define EXPECT(conn, value) assert_string_equal(wp_value(conn, kind->ask), value)

static void
each_client_finds_what_the_start_left(void **state)
{
	cenote_conn *conn;

	start_with_setting("sessions = 1\n");
	for (int i = 0; i < 3; i++) {
		conn = wp_attach(NULL);
		EXPECT(conn, kind->started);
		wp_exec(conn, kind->change);
		EXPECT(conn, kind->changed);
		cenote_conn_destroy(conn);
	}
}

static void
it_runs_again_after_a_reset(void **state)
{
	cenote_conn *conn;

	start_with_setting("sessions = 1\n");
	conn = wp_attach(NULL);
	wp_exec(conn, kind->change);
	assert_ok(cenote_reset(conn));
	EXPECT(conn, kind->started);
	cenote_conn_destroy(conn);
}

static void
it_runs_after_each_login(void **state)
{
	cenote_conn *conn;

	start_with_setting("sessions = 1\nreset = reconnect\n");
	for (int i = 0; i < 2; i++) {
		conn = wp_attach(NULL);
		EXPECT(conn, kind->started);
		cenote_conn_destroy(conn);
	}
}

/* Two clients take turns on one session. The setting that a client made moves with that client. */
static void
clients_that_share_a_session_keep_their_own_settings(void **state)
{
	cenote_conn *one, *two;

	start_with_setting("sessions = 1\nmode = transaction\n");
	one = wp_attach(NULL);
	wp_exec(one, kind->change);
	two = wp_attach(NULL);
	EXPECT(two, kind->started);
	EXPECT(one, kind->changed);
	EXPECT(two, kind->started);
	cenote_conn_destroy(one);
	cenote_conn_destroy(two);
}

static void
the_lines_run_in_their_order(void **state)
{
	cenote_conn *conn;

	ws_start("sessions = 1\n"
		 "session_start = drop table if exists t_order\n"
		 "session_start = create table t_order (a int)\n"
		 "session_start = insert into t_order values (1)\n"
		 "session_start = select a from t_order\n"
		 "session_start = insert into t_order select a + 1 from t_order\n");
	conn = wp_attach(NULL);
	assert_string_equal(wp_value(conn, "select sum(a) from t_order"), "3");
	cenote_conn_destroy(conn);
}

#define MAKE_ENDS "session_start = create table if not exists ends (what varchar(9))\n"

static void
the_end_runs_after_a_rollback(void **state)
{
	cenote_conn *conn;

	ws_start("sessions = 1\n" MAKE_ENDS
		 "session_end = insert into ends values ('end')\n");
	conn = wp_attach(NULL);
	wp_exec(conn, "delete from ends");
	wp_exec(conn, "begin");
	wp_exec(conn, "insert into ends values ('lost')");
	cenote_conn_destroy(conn);
	conn = wp_attach(NULL);
	assert_string_equal(wp_value(conn, "select count(*) from ends"), "1");
	assert_string_equal(wp_value(conn, "select what from ends"), "end");
	/* a reset does not end the session */
	assert_ok(cenote_reset(conn));
	assert_string_equal(wp_value(conn, "select count(*) from ends"), "1");
	cenote_conn_destroy(conn);
}

static void
a_session_whose_end_fails_is_closed(void **state)
{
	cenote_conn *conn;

	ws_start("sessions = 1\nsession_end = insert into nowhere values (1)\n");
	conn = wp_attach(NULL);
	wp_exec(conn, "select 1");
	cenote_conn_destroy(conn);
	wp_await_log("its end failed: session_end (line ");
	conn = wp_attach(NULL);
	assert_string_equal(wp_value(conn, "select 2"), "2");
	cenote_conn_destroy(conn);
}

static int
sleep_long(void *arg)
{
	(void)wp_status_of(wp_attach(NULL), "select pg_sleep(60)");
	return 0;
}

static void
await_value(cenote_conn *conn, const char *sql, const char *wanted)
{
	int64_t until = wp_now_ms() + 20000;

	while (strcmp(wp_value(conn, sql), wanted) != 0) {
		assert_true(wp_now_ms() < until);
		wp_pause_ms(5);
	}
}

/* Only with PostgreSQL. */
static void
the_end_runs_after_a_client_that_died_in_a_request(void **state)
{
	cenote_conn *conn;
	pid_t child;

	ws_start("sessions = 2\n" MAKE_ENDS
		 "session_end = insert into ends values ('end')\n");
	conn = wp_attach(NULL);
	wp_exec(conn, "delete from ends");
	child = wp_fork(sleep_long, NULL, -1);
	await_value(conn,
		"select count(*) from pg_stat_activity where wait_event = 'PgSleep'",
		"1");
	assert_int_equal(kill(child, SIGKILL), 0);
	(void)wp_join(child);
	await_value(conn, "select count(*) from ends", "1");
	cenote_conn_destroy(conn);
}

static void
expect_nobody_gets_in(const char *message)
{
	cenote_conn *conn;

	assert_true(wp_try(NULL, &conn) < 0);
	assert_string_equal(wp_sqlstate(conn), "08001");
	if (strstr(wp_message(conn), message) == NULL)
		fail_msg("%s", wp_message(conn));
	cenote_conn_destroy(conn);
	wp_await_log(message);
}

static void
a_start_that_fails_lets_nobody_in(void **state)
{
	ws_start("sessions = 1\nsession_start = insert into nowhere values (1)\n");
	expect_nobody_gets_in("session_start (line ");
}

static void
a_start_must_not_leave_a_transaction_open(void **state)
{
	ws_start("sessions = 1\nsession_start = begin\n");
	expect_nobody_gets_in("it has left a transaction open");
}

static void
a_reload_runs_the_new_start(void **state)
{
	char config[8192], lines[256];
	int64_t until;
	bool is_new = false;
	cenote_conn *conn;

	ws_start("sessions = 1\n");
	conn = wp_attach(NULL);
	assert_string_not_equal(wp_value(conn, kind->ask), kind->started);
	cenote_conn_destroy(conn);
	snprintf(lines, sizeof(lines), "sessions = 1\nsession_start = %s\n", kind->start);
	assert_int_equal(cnt_daemon_configure(
				 &wp_daemon, ws_config(lines, config, sizeof(config))),
		0);
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log("reloaded");
	for (until = wp_now_ms() + 20000; !is_new && wp_now_ms() < until;) {
		conn = wp_attach(NULL);
		is_new = strcmp(wp_value(conn, kind->ask), kind->started) == 0;
		cenote_conn_destroy(conn);
		wp_pause_ms(20);
	}
	assert_true(is_new);
}

#define TEST(f) cmocka_unit_test_teardown(f, wp_teardown)
#define OF_ALL                                                                           \
	TEST(each_client_finds_what_the_start_left), TEST(it_runs_again_after_a_reset),  \
		TEST(it_runs_after_each_login), TEST(the_lines_run_in_their_order),      \
		TEST(the_end_runs_after_a_rollback),                                     \
		TEST(a_session_whose_end_fails_is_closed),                               \
		TEST(a_start_that_fails_lets_nobody_in),                                 \
		TEST(a_start_must_not_leave_a_transaction_open),                         \
		TEST(a_reload_runs_the_new_start)

int
main(int argc, char **argv)
{
	static const struct CMUnitTest of_sqlite[] = { OF_ALL };
	static const struct CMUnitTest of_postgresql[] = {
		OF_ALL,
		TEST(clients_that_share_a_session_keep_their_own_settings),
		TEST(the_end_runs_after_a_client_that_died_in_a_request),
	};
	/* with SQLite, a setting holds the session, so clients cannot take turns */
	static const struct CMUnitTest of_mariadb[] = {
		OF_ALL,
		TEST(clients_that_share_a_session_keep_their_own_settings),
	};

	if (!ws_choose(argc, argv, "postgresql|mariadb|sqlite"))
		return 2;
	kind = &kinds[ws_kind];
	if (ws_kind == WS_SQLITE)
		return cmocka_run_group_tests(of_sqlite, ws_setup, ws_teardown);
	return ws_kind == WS_MARIADB
		       ? cmocka_run_group_tests(of_mariadb, ws_setup, ws_teardown)
		       : cmocka_run_group_tests(of_postgresql, ws_setup, ws_teardown);
}
