/* SPDX-License-Identifier: BSD-2-Clause */
/* How many sessions and waiting clients a user, an address and a pool may have. */
#include "with_pool.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- clients ---- */

static cenote_conn *
handle_of(const char *user)
{
	cenote_conn *conn = wp_handle(NULL);

	assert_ok(cenote_conn_set(conn, "user", user));
	return conn;
}

/* A client with this name. The pool has auth = trust. */
static cenote_conn *
attach_as(const char *user)
{
	cenote_conn *conn = handle_of(user);

	assert_ok(cenote_connect(conn));
	return conn;
}

static void
expect_refused(cenote_conn *conn, const char *text)
{
	assert_int_equal(cenote_connect(conn), CENOTE_ERR_CONN);
	assert_string_equal(wp_sqlstate(conn), "53300");
	if (strstr(wp_message(conn), text) == NULL)
		fail_msg("%s", wp_message(conn));
	cenote_conn_destroy(conn);
}

static int
come_and_go(void *arg)
{
	cenote_conn *conn = wp_attach(NULL);

	(void)arg;
	cenote_conn_destroy(conn);
	return 0;
}

/* Start a client that has to wait, the only one of its pool. Returns when it waits. */
static pid_t
begin_waiting(int (*client)(void *arg))
{
	pid_t pid = wp_fork(client, NULL, -1);

	wp_await("main", "waiting", 1);
	return pid;
}

/* ---- sessions of a user ---- */

/* Only the login shows who the client is, so the client cannot wait in the door. */
static void
a_user_gets_no_more_sessions_than_its_limit(void **state)
{
	cenote_conn *a, *b, *c;

	wp_start(
		WP_POOL("sessions = 4..4\nauth = trust\nuser_limits = ann sessions=2\n"));
	a = attach_as("ann");
	b = attach_as("ann");
	expect_refused(
		handle_of("ann"), "user ann has 2 sessions, as many as user_limits");
	c = attach_as("joe");
	cenote_conn_destroy(a);
	wp_await("main", "idle", 2);
	a = attach_as("ann");
	expect_refused(handle_of("ann"), "user ann has 2 sessions");
	cenote_conn_destroy(a);
	cenote_conn_destroy(b);
	cenote_conn_destroy(c);
}

static void
any_user_has_the_limit_for_itself(void **state)
{
	cenote_conn *a, *b;

	wp_start(WP_POOL("sessions = 4..4\nauth = trust\nuser_limits = * sessions=1\n"));
	a = attach_as("ann");
	b = attach_as("bob");
	expect_refused(handle_of("ann"), "user ann has 1 sessions");
	expect_refused(handle_of("bob"), "user bob has 1 sessions");
	cenote_conn_destroy(a);
	cenote_conn_destroy(b);
}

/* The kernel says who the client is, so it waits in the door although sessions are free. */
static void
a_unix_user_with_all_its_sessions_waits(void **state)
{
	cenote_conn *a, *b;
	pid_t pid;

	wp_start(WP_POOL("sessions = 4..4\nuser_limits = * sessions=2\n"));
	a = wp_attach(NULL);
	b = wp_attach(NULL);
	wp_expect_none_free(NULL);
	assert_int_equal(wp_pool_number("main", "in_use"), 2);
	pid = begin_waiting(come_and_go);
	cenote_conn_destroy(a);
	assert_int_equal(wp_join(pid), 0);
	cenote_conn_destroy(b);
}

static void
a_worker_that_is_killed_gives_its_clients_session_back(void **state)
{
	cenote_conn *a, *b;

	wp_start(WP_POOL("sessions = 2..2\nuser_limits = * sessions=1\n"));
	for (int i = 0; i < 3; i++) {
		a = wp_attach(NULL);
		assert_int_equal(kill(wp_worker_pid(a), SIGKILL), 0);
		b = wp_attach(NULL);
		assert_string_equal(wp_value(b, "select 1"), "1");
		cenote_conn_destroy(a);
		cenote_conn_destroy(b);
	}
}

/* Two sessions for three clients, although the pool has four: idle clients make room. */
static void
clients_of_a_user_share_its_sessions_in_mode_transaction(void **state)
{
	cenote_conn *conns[3];

	wp_start(WP_POOL("sessions = 4..4\nmode = transaction\nuser_limits = * "
			 "sessions=2\n"));
	for (int i = 0; i < 3; i++)
		conns[i] = wp_attach(NULL);
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 3; i++)
			assert_string_equal(wp_value(conns[i], "select 1"), "1");
		assert_true(wp_pool_number("main", "in_use") <= 2);
	}
	wp_exec(conns[0], "begin");
	wp_exec(conns[1], "begin");
	wp_expect_none_free(NULL);
	for (int i = 0; i < 3; i++)
		cenote_conn_destroy(conns[i]);
}

static void
a_reload_changes_the_limit(void **state)
{
	cenote_conn *a, *b;

	wp_start(WP_POOL("sessions = 4..4\nuser_limits = * sessions=1\n"));
	a = wp_attach(NULL);
	wp_expect_none_free(NULL);
	assert_int_equal(
		cnt_daemon_configure(&wp_daemon,
			WP_POOL("sessions = 4..4\nuser_limits = * sessions=3\n")),
		0);
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log("pool main was changed");
	b = wp_attach(NULL);
	cenote_conn_destroy(a);
	cenote_conn_destroy(b);
}

/* ---- waiting clients ---- */

static void
expect_one_to_wait(const char *lines, const char *text)
{
	char config[1024];
	cenote_conn *a;
	pid_t pid;

	snprintf(config, sizeof(config), WP_POOL("sessions = 1\n%s"), lines);
	wp_start(config);
	a = wp_attach(NULL);
	pid = begin_waiting(come_and_go);
	expect_refused(wp_handle(NULL), text);
	cenote_conn_destroy(a);
	assert_int_equal(wp_join(pid), 0);
	a = wp_attach(NULL);
	cenote_conn_destroy(a);
}

static void
a_pool_has_a_limit_of_waiting_clients(void **state)
{
	expect_one_to_wait("max_waiting = 1\n",
		"1 clients wait for a session, as many as max_waiting allows");
}

static void
a_user_has_a_limit_of_waiting_clients(void **state)
{
	expect_one_to_wait("user_limits = * waiting=1\n",
		"1 clients of the same user wait for a session, as many as user_limits "
		"allows");
}

/* ---- addresses ---- */

static int port;

static cenote_conn *
tcp_handle(void)
{
	cenote_conn *conn;
	char uri[128];

	snprintf(uri, sizeof(uri), "cenote://ann@127.0.0.1:%d/main", port);
	assert_ok(cenote_conn_create(NULL, &conn));
	assert_ok(cenote_conn_set_uri(conn, uri));
	return conn;
}

static int
come_by_tcp(void *arg)
{
	cenote_conn *conn = tcp_handle();
	int r = cenote_connect(conn);

	(void)arg;
	cenote_conn_destroy(conn);
	return r != CENOTE_OK;
}

static void
an_address_has_limits(void **state)
{
	cenote_conn *a, *b, *local;
	char config[1024];
	pid_t pid;

	port = cnt_server_free_port();
	snprintf(config, sizeof(config),
		CNT_DAEMON_GLOBAL "listen = 127.0.0.1:%d\n" CNT_DAEMON_POOL
				  "sessions = 4..4\nauth = trust door=tcp, "
				  "trust\naddress_limits = sessions=2 "
				  "waiting=1\n",
		port);
	wp_start(config);
	a = tcp_handle();
	assert_ok(cenote_connect(a));
	b = tcp_handle();
	assert_ok(cenote_connect(b));
	pid = begin_waiting(come_by_tcp);
	expect_refused(tcp_handle(),
		"1 clients of the same address wait for a session, as many as "
		"address_limits allows");
	/* clients of the unix socket have no address */
	local = attach_as("ann");
	cenote_conn_destroy(a);
	assert_int_equal(wp_join(pid), 0);
	cenote_conn_destroy(b);
	cenote_conn_destroy(local);
}

/* By TCP, nobody knows the user before the login. */
static void
a_user_has_its_limit_by_tcp(void **state)
{
	cenote_conn *a, *b;
	char config[1024];

	port = cnt_server_free_port();
	snprintf(config, sizeof(config),
		CNT_DAEMON_GLOBAL "listen = 127.0.0.1:%d\n" CNT_DAEMON_POOL
				  "sessions = 4..4\nauth = trust door=tcp, trust\n"
				  "user_limits = ann sessions=1 query_timeout=300ms\n",
		port);
	wp_start(config);
	a = tcp_handle();
	assert_ok(cenote_connect(a));
	expect_refused(tcp_handle(), "user ann has 1 sessions, as many as user_limits");
	/* the other door leads to the same limit */
	expect_refused(handle_of("ann"), "user ann has 1 sessions");
	b = attach_as("joe");
	assert_int_equal(wp_status_of(a, "with recursive c(x) as (select 1 union all "
					 "select x + 1 from c) select count(*) from c"),
		CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(a), "57014");
	cenote_conn_destroy(a);
	cenote_conn_destroy(b);
}

/* One session for two clients, although the pool has more. */
static void
clients_of_an_address_share_its_sessions_in_mode_transaction(void **state)
{
	cenote_conn *conns[2];
	char config[1024];

	port = cnt_server_free_port();
	snprintf(config, sizeof(config),
		CNT_DAEMON_GLOBAL
		"listen = 127.0.0.1:%d\n" CNT_DAEMON_POOL
		"sessions = 4..4\nmode = transaction\nauth = trust door=tcp\n"
		"address_limits = sessions=1\n",
		port);
	wp_start(config);
	for (int i = 0; i < 2; i++) {
		conns[i] = tcp_handle();
		assert_ok(cenote_connect(conns[i]));
	}
	for (int i = 0; i < 6; i++)
		assert_string_equal(wp_value(conns[i % 2], "select 1"), "1");
	for (int i = 0; i < 2; i++)
		cenote_conn_destroy(conns[i]);
}

#define TEST(name) cmocka_unit_test_teardown(name, wp_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_user_gets_no_more_sessions_than_its_limit),
		TEST(any_user_has_the_limit_for_itself),
		TEST(a_unix_user_with_all_its_sessions_waits),
		TEST(a_worker_that_is_killed_gives_its_clients_session_back),
		TEST(clients_of_a_user_share_its_sessions_in_mode_transaction),
		TEST(a_reload_changes_the_limit),
		TEST(a_pool_has_a_limit_of_waiting_clients),
		TEST(a_user_has_a_limit_of_waiting_clients),
		TEST(an_address_has_limits),
		TEST(a_user_has_its_limit_by_tcp),
		TEST(clients_of_an_address_share_its_sessions_in_mode_transaction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
