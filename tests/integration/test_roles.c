/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_roles postgresql|mariadb
 *
 * Pools with `target`, on a real primary and its replica. The tests check which server the sessions are on, and which errors
 * clients get when the servers change their roles.
 */
#include "with_replica.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A value of the status of the pool's lines. The replica is the first line. */
static const char *
status_of(uint64_t line, const char *column)
{
	static char text[64];
	cenote_conn *conn = wp_handle(NULL);
	cenote_result *res;
	int64_t col;

	assert_ok(cenote_status(conn, "servers", &res));
	assert_int_equal(cenote_result_n_rows(res), 2);
	col = cenote_result_find_column(res, column);
	assert_true(col >= 0);
	snprintf(text, sizeof(text), "%s",
		cenote_result_text(res, line, (uint32_t)col, NULL));
	cenote_result_destroy(res);
	cenote_conn_destroy(conn);
	return text;
}

static void
a_pool_with_target_primary_never_uses_the_replica(void **state)
{
	cenote_conn *a;

	wr_start_servers();
	wr_start_pool("sessions = 4..4\ntarget = primary\nrebalance = 200ms\n");
	wp_await("main", "idle", 4);
	wr_await_sessions(&wr_primary, 4);
	for (int i = 0; i < 8; i++) {
		a = wp_attach(NULL);
		assert_string_equal(wp_value(a, WR_SQL->is_replica), "0");
		wp_exec(a, "insert into work values (1)");
		cenote_conn_destroy(a);
	}
	assert_string_equal(status_of(0, "role"), "replica");
	assert_string_equal(status_of(0, "use"), "unsuitable");
	assert_string_equal(status_of(0, "sessions"), "0");
	assert_true(atoi(status_of(0, "lag_ms")) >= 0);
	assert_string_equal(status_of(1, "role"), "primary");
	assert_string_equal(status_of(1, "use"), "ok");
	assert_string_equal(status_of(1, "sessions"), "4");
	/* a worker that tries the replica later must log out there again */
	wp_pause_ms(700);
	wr_await_sessions(&wr_replica, 0);
	wp_await("main", "idle", 4);
	assert_int_equal(wr_sessions_on(&wr_primary), 4);
}

static void
a_pool_with_target_replica_never_uses_the_primary(void **state)
{
	cenote_conn *a;

	wr_start_servers();
	wr_start_pool("sessions = 4..4\ntarget = replica\nrebalance = 200ms\n"
		      "failover_hold = 500ms\ncheck_interval = 200ms\n");
	wp_await("main", "idle", 4);
	wr_await_sessions(&wr_replica, 4);
	for (int i = 0; i < 8; i++) {
		a = wp_attach(NULL);
		assert_string_equal(wp_value(a, WR_SQL->is_replica), "1");
		cenote_conn_destroy(a);
	}
	/* without the replica there is no session, and the client is told why */
	cnt_server_kill(&wr_replica);
	wp_await("main", "failing", 4);
	wp_pause_ms(700);
	assert_int_equal(wp_try(NULL, &a), CENOTE_ERR_CONN);
	assert_string_equal(wp_sqlstate(a), "08001");
	assert_non_null(strstr(
		wp_message(a), "the server is a primary, and the pool wants a replica"));
	cenote_conn_destroy(a);
	/* a worker logs in there to ask, and leaves at once */
	wr_await_sessions(&wr_primary, 0);
}

static void
a_pool_that_prefers_the_replica_uses_the_primary_meanwhile(void **state)
{
	cenote_conn *a;

	wr_start_servers();
	wr_start_pool("sessions = 4..4\ntarget = prefer-replica\nrebalance = 300ms\n"
		      "check_interval = 100ms\n");
	wp_await("main", "idle", 4);
	wr_await_sessions(&wr_replica, 4);
	/* not killed: MariaDB would lose the position of its replication */
	assert_int_equal(cnt_server_shutdown(&wr_replica), 0);
	wr_await_sessions(&wr_primary, 4);
	a = wp_attach(NULL);
	assert_string_equal(wp_value(a, WR_SQL->is_replica), "0");
	cenote_conn_destroy(a);
	assert_int_equal(cnt_server_run(&wr_replica), 0);
	if (wr_kind == CNT_MARIADB)
		assert_int_equal(
			cnt_server_sql(&wr_replica, "set global read_only = 1"), 0);
	wr_await_sessions(&wr_primary, 0);
	wr_await_sessions(&wr_replica, 4);
}

static void
a_replica_that_is_far_behind_is_given_up(void **state)
{
	wr_start_servers();
	wr_start_pool("sessions = 4..4\ntarget = prefer-replica\nrebalance = 300ms\n"
		      "check_interval = 100ms\nmax_lag = 300ms\n");
	wp_await("main", "idle", 4);
	wr_await_sessions(&wr_replica, 4);
	assert_int_equal(cnt_server_sql(&wr_replica, WR_SQL->stop_replay), 0);
	assert_int_equal(cnt_server_sql(&wr_primary, "insert into work values (2)"), 0);
	wr_await_sessions(&wr_replica, 0);
	wr_await_sessions(&wr_primary, 4);
}

/* How long the replica takes from its second session to its last one. */
static int64_t
time_of_start(int last)
{
	int64_t until = wp_now_ms() + 30000, begun = 0;
	int n = 0;

	while (n < last) {
		if (wp_now_ms() > until)
			fail_msg("the replica has %d sessions", n);
		n = atoi(status_of(0, "sessions"));
		if (n > 1 && begun == 0)
			begun = wp_now_ms();
		wp_pause_ms(10);
	}
	return wp_now_ms() - begun;
}

/* A server that is back has cold caches. */
static void
a_server_that_is_back_gets_its_sessions_one_after_the_other(void **state)
{
	wr_start_servers();
	wr_start_pool("sessions = 8..8\ntarget = prefer-replica\nrebalance = 4s\n"
		      "check_interval = 100ms\nmax_lag = 300ms\n");
	wp_await("main", "idle", 8);
	wr_await_sessions(&wr_replica, 8);
	assert_int_equal(cnt_server_sql(&wr_replica, WR_SQL->stop_replay), 0);
	assert_int_equal(cnt_server_sql(&wr_primary, "insert into work values (2)"), 0);
	wr_await_sessions(&wr_replica, 0);
	assert_int_equal(cnt_server_sql(&wr_replica, WR_SQL->resume_replay), 0);
	assert_true(time_of_start(8) > 1000);
}

static void
sessions_go_where_their_weights_say(void **state)
{
	char config[4096];

	wr_start_servers();
	snprintf(config, sizeof(config),
		CNT_DAEMON_GLOBAL "\n[pool main]\nbackend = %s\nserver = %s weight=3\n"
				  "server = %s\nsessions = 8..8\n",
		wr_primary.backend, wr_replica.server_line, wr_primary.server_line);
	wp_start(config);
	wp_await("main", "idle", 8);
	wr_await_sessions(&wr_replica, 6);
	wr_await_sessions(&wr_primary, 2);
}

static void
a_client_between_transactions_does_not_notice_a_switch_over(void **state)
{
	cenote_conn *a, *b;

	wr_start_servers();
	wr_start_pool("sessions = 4..4\ntarget = primary\n");
	wp_await("main", "idle", 4);
	a = wp_attach(NULL);
	b = wp_attach(NULL);
	wp_exec(a, "insert into work values (1)");
	wp_exec(b, "insert into work values (1)");
	/* meanwhile the worker asks what the sessions hold */
	wp_pause_ms(300);
	wr_switch_over();
	/* a write, a transaction, and a client that comes now */
	wp_exec(a, "insert into work values (2)");
	assert_string_equal(wp_value(a, WR_SQL->is_replica), "0");
	assert_ok(cenote_begin(b, 0, 0));
	wp_exec(b, "insert into work values (2)");
	assert_ok(cenote_commit(b));
	cenote_conn_destroy(a);
	cenote_conn_destroy(b);
	a = wp_attach(NULL);
	assert_string_equal(wp_value(a, "select count(*) from work where n = 2"), "2");
	cenote_conn_destroy(a);
	wr_await_sessions(&wr_replica, 4);
	if (wr_kind == CNT_MARIADB)
		wr_await_sessions(&wr_primary, 0);
}

/* Only what surely had no effect runs again. A procedure may have committed something before its write was refused. */
static void
a_procedure_that_is_refused_is_not_repeated(void **state)
{
	cenote_conn *a;

	if (wr_kind != CNT_MARIADB)
		return;
	wr_start_servers();
	wr_start_pool("sessions = 1\ntarget = primary\ncheck_interval = 60s\n");
	assert_int_equal(
		cnt_server_sql(&wr_primary, "create procedure add_one() sql security "
					    "invoker insert into work values (6)"),
		0);
	a = wp_attach(NULL);
	wp_exec(a, "insert into work values (1)");
	wr_switch_over();
	assert_int_equal(wp_status_of(a, "call add_one()"), CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(a), "25006");
	cenote_conn_destroy(a);
	/* meanwhile the server has said that it is no longer a primary */
	a = wp_attach(NULL);
	assert_string_equal(wp_value(a, WR_SQL->is_replica), "0");
	assert_string_equal(wp_value(a, "select count(*) from work where n = 6"), "0");
	cenote_conn_destroy(a);
}

static void
an_open_transaction_learns_that_its_session_is_lost(void **state)
{
	cenote_conn *a;

	wr_start_servers();
	wr_start_pool("sessions = 2..2\ntarget = primary\n");
	wp_await("main", "idle", 2);
	a = wp_attach(NULL);
	assert_ok(cenote_begin(a, 0, 0));
	assert_string_equal(wp_value(a, "select count(*) from work"), "0");
	wr_switch_over();
	assert_int_equal(wp_status_of(a, "insert into work values (3)"), CENOTE_ERR_CONN);
	/* PostgreSQL has said why it ended the session */
	assert_string_equal(
		wp_sqlstate(a), wr_kind == CNT_POSTGRESQL ? "57P01" : "08006");
	cenote_conn_destroy(a);
	a = wp_attach(NULL);
	assert_string_equal(wp_value(a, "select count(*) from work"), "0");
	wp_exec(a, "insert into work values (4)");
	cenote_conn_destroy(a);
}

/* Such a refusal does not mean that the server has another role. */
static void
who_asks_for_a_read_only_transaction_gets_that_error(void **state)
{
	cenote_conn *a;
	char before[32];

	wr_start_servers();
	wr_start_pool("sessions = 1\ntarget = primary\n");
	a = wp_attach(NULL);
	snprintf(before, sizeof(before), "%s", cenote_info(a, "attaches"));
	assert_ok(cenote_begin(a, 0, CENOTE_BEGIN_READ_ONLY));
	assert_int_equal(
		wp_status_of(a, "insert into work values (5)"), CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(a), "25006");
	assert_ok(cenote_rollback(a));
	if (wr_kind == CNT_POSTGRESQL) {
		wp_exec(a, "set default_transaction_read_only = on");
		assert_int_equal(wp_status_of(a, "insert into work values (5)"),
			CENOTE_ERR_SERVER);
		assert_string_equal(wp_sqlstate(a), "25006");
	}
	assert_string_equal(cenote_info(a, "attaches"), before);
	cenote_conn_destroy(a);
}

static void
clients_wait_for_a_primary_up_to_failover_hold(void **state)
{
	int64_t begun;
	cenote_conn *a;

	wr_start_servers();
	wr_start_pool("sessions = 2..2\ntarget = primary\nfailover_hold = 2s\n");
	wp_await("main", "idle", 2);
	/* the sessions end after this, and failover_hold counts from their end */
	begun = wp_now_ms();
	cnt_server_kill(&wr_primary);
	assert_int_equal(wp_try(NULL, &a), CENOTE_ERR_CONN);
	assert_in_range(wp_now_ms() - begun, 2000 - WP_CLOCK_MS, 8000);
	assert_string_equal(wp_sqlstate(a), "08001");
	assert_non_null(strstr(
		wp_message(a), "the server is a replica, and the pool wants a primary"));
	cenote_conn_destroy(a);
	/* from now on, until a server suits, clients are told at once */
	wp_await("main", "failing", 2);
	begun = wp_now_ms();
	assert_int_equal(wp_try(NULL, &a), CENOTE_ERR_CONN);
	assert_in_range(wp_now_ms() - begun, 0, 1500);
	cenote_conn_destroy(a);
}

static int
number_of_session(void)
{
	cenote_conn *conn = wp_attach(NULL);
	int number = atoi(wp_value(conn, WR_SQL->session));

	cenote_conn_destroy(conn);
	return number;
}

static void
sessions_end_after_max_lifetime(void **state)
{
	int64_t until;
	int first;

	wr_start_servers();
	wr_start_pool("sessions = 1\nmax_lifetime = 500ms\n");
	first = number_of_session();
	until = wp_now_ms() + 20000;
	while (number_of_session() == first) {
		if (wp_now_ms() > until)
			fail_msg("the session does not end");
		wp_pause_ms(100);
	}
	assert_int_equal(wp_pool_number("main", "failed_logins"), 0);
}

int
main(int argc, char **argv)
{
#define T(f) cmocka_unit_test_teardown(f, wr_teardown)
	const struct CMUnitTest tests[] = {
		T(a_pool_with_target_primary_never_uses_the_replica),
		T(a_pool_with_target_replica_never_uses_the_primary),
		T(a_pool_that_prefers_the_replica_uses_the_primary_meanwhile),
		T(a_replica_that_is_far_behind_is_given_up),
		T(a_server_that_is_back_gets_its_sessions_one_after_the_other),
		T(sessions_go_where_their_weights_say),
		T(a_client_between_transactions_does_not_notice_a_switch_over),
		T(a_procedure_that_is_refused_is_not_repeated),
		T(an_open_transaction_learns_that_its_session_is_lost),
		T(who_asks_for_a_read_only_transaction_gets_that_error),
		T(clients_wait_for_a_primary_up_to_failover_hold),
		T(sessions_end_after_max_lifetime),
	};

	wr_kind = argc > 1 && strcmp(argv[1], "mariadb") == 0 ? CNT_MARIADB
							      : CNT_POSTGRESQL;
	cnt_server_need(wr_kind);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
