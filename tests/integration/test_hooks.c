/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: test_cenoted_hooks postgresql|mariadb|sqlite
 *
 * The SQL that a pool runs when a session begins and ends (session_start, session_end), on a real server.
 */
#include "with_pool.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

static struct cnt_server server;

/* What differs between the servers. */
static const struct kind {
	const char *name;
	const char *start, *change; /* set the setting, as the pool and as a client */
	const char *ask;
	const char *started, *changed; /* its values */
} kinds[] = {
	{ "postgresql", "set statement_timeout = '77s'", "set statement_timeout = '5s'",
		"show statement_timeout", "77s", "5s" },
	{ "mariadb", "set time_zone = '+03:00'", "set time_zone = '+05:00'",
		"select @@time_zone", "+03:00", "+05:00" },
	{ "sqlite", "pragma cache_size = -777", "pragma cache_size = -555",
		"pragma cache_size", "-777", "-555" },
};

static const struct kind *kind;

/* Start cenoted with these lines in the pool, and with `hooks`. */
static void
start(const char *lines, const char *hooks)
{
	char config[8192], all[2048];

	snprintf(all, sizeof(all), "%s%s", lines, hooks);
	if (strcmp(kind->name, "sqlite") == 0)
		snprintf(config, sizeof(config), WP_POOL("%s"), all);
	else
		cnt_server_config(&server, all, config, sizeof(config));
	wp_start(config);
}

static void
start_with_setting(const char *lines)
{
	char hooks[256];

	snprintf(hooks, sizeof(hooks), "session_start = %s\n", kind->start);
	start(lines, hooks);
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

/* Two clients take turns on one session. What a client has set itself moves with it. */
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

	start("sessions = 1\n",
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

	start("sessions = 1\n",
		MAKE_ENDS "session_end = insert into ends values ('end')\n");
	conn = wp_attach(NULL);
	wp_exec(conn, "delete from ends");
	wp_exec(conn, "begin");
	wp_exec(conn, "insert into ends values ('lost')");
	cenote_conn_destroy(conn);
	conn = wp_attach(NULL);
	assert_string_equal(wp_value(conn, "select count(*) from ends"), "1");
	assert_string_equal(wp_value(conn, "select what from ends"), "end");
	/* a reset is no end */
	assert_ok(cenote_reset(conn));
	assert_string_equal(wp_value(conn, "select count(*) from ends"), "1");
	cenote_conn_destroy(conn);
}

static void
a_session_whose_end_fails_is_closed(void **state)
{
	cenote_conn *conn;

	start("sessions = 1\n", "session_end = insert into nowhere values (1)\n");
	conn = wp_attach(NULL);
	wp_exec(conn, "select 1");
	cenote_conn_destroy(conn);
	wp_await_log("its end failed: session_end (line ");
	conn = wp_attach(NULL);
	assert_string_equal(wp_value(conn, "select 2"), "2");
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
	start("sessions = 1\n", "session_start = insert into nowhere values (1)\n");
	expect_nobody_gets_in("session_start (line ");
}

static void
a_start_must_not_leave_a_transaction_open(void **state)
{
	start("sessions = 1\n", "session_start = begin\n");
	expect_nobody_gets_in("it has left a transaction open");
}

static void
a_reload_runs_the_new_start(void **state)
{
	char config[8192], hooks[256];
	cenote_conn *conn;

	start("sessions = 1\n", "");
	conn = wp_attach(NULL);
	assert_string_not_equal(wp_value(conn, kind->ask), kind->started);
	cenote_conn_destroy(conn);
	snprintf(hooks, sizeof(hooks), "sessions = 1\nsession_start = %s\n", kind->start);
	if (strcmp(kind->name, "sqlite") == 0)
		snprintf(config, sizeof(config), WP_POOL("%s"), hooks);
	else
		cnt_server_config(&server, hooks, config, sizeof(config));
	assert_int_equal(cnt_daemon_configure(&wp_daemon, config), 0);
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log("reloaded");
	for (int i = 0; i < 100; i++) {
		int is_new;

		conn = wp_attach(NULL);
		is_new = strcmp(wp_value(conn, kind->ask), kind->started) == 0;
		cenote_conn_destroy(conn);
		if (is_new)
			return;
		wp_pause_ms(20);
	}
	fail_msg("the new start never ran");
}

static int
setup(void **state)
{
	if (strcmp(kind->name, "sqlite") == 0)
		return 0;
	return cnt_server_start(&server,
		strcmp(kind->name, "mariadb") == 0 ? CNT_MARIADB : CNT_POSTGRESQL, 0);
}

static int
teardown(void **state)
{
	if (strcmp(kind->name, "sqlite") != 0)
		cnt_server_stop(&server);
	return 0;
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
	/* SQLite's settings hold the session */
	static const struct CMUnitTest of_servers[] = {
		OF_ALL,
		TEST(clients_that_share_a_session_keep_their_own_settings),
	};

	for (size_t i = 0; i < N_ITEMS(kinds); i++) {
		if (argc == 2 && strcmp(kinds[i].name, argv[1]) == 0)
			kind = &kinds[i];
	}
	if (kind == NULL) {
		fprintf(stderr, "usage: %s postgresql|mariadb|sqlite\n", argv[0]);
		return 2;
	}
	return strcmp(kind->name, "sqlite") == 0
		       ? cmocka_run_group_tests(of_sqlite, setup, teardown)
		       : cmocka_run_group_tests(of_servers, setup, teardown);
}
