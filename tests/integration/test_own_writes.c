/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_own_writes postgresql|mariadb
 *
 * Pools with `read_own_writes`, on a primary and a replica that is held up: what a client has written through one pool, it sees
 * through the other, and the position that the library carries decides that.
 */
#include "with_replica.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Two pools: app has the primary; reads has both servers, and these lines. */
static void
start_pools(const char *lines)
{
	char config[4096];

	wr_start_servers();
	snprintf(config, sizeof(config),
		CNT_DAEMON_GLOBAL
		"\n[pool app]\nbackend = %s\nserver = %s\nserver = %s\n"
		"sessions = 2..2\ntarget = primary\nread_own_writes = 5s\n"
		"\n[pool reads]\nbackend = %s\nserver = %s\nserver = %s\n"
		"sessions = 2..2\nmax_lag = 0\nrebalance = 300ms\n"
		"failover_hold = 300ms\n%s",
		wr_primary.backend, wr_replica.server_line, wr_primary.server_line,
		wr_primary.backend, wr_replica.server_line, wr_primary.server_line,
		lines);
	wp_start(config);
	wp_await("app", "idle", 2);
	wp_await("reads", "idle", 2);
}

static void
stop_replay(void)
{
	assert_int_equal(cnt_server_sql(&wr_replica, WR_SQL->stop_replay), 0);
}

/* The position of the last write, in a buffer of its own. */
static const char *
position_of(const cenote_conn *conn)
{
	static char text[600];
	const char *p = cenote_info(conn, "position");

	assert_non_null(p);
	snprintf(text, sizeof(text), "%s", p);
	return text;
}

static const char *
n_rows(cenote_conn *conn, int n)
{
	char sql[64];

	snprintf(sql, sizeof(sql), "select count(*) from work where n = %d", n);
	return wp_value(conn, sql);
}

static void
a_replica_is_read_once_it_has_the_write(void **state)
{
	cenote_conn *app, *reads, *later;
	int64_t begun;
	pid_t child;

	start_pools("target = replica\nread_own_writes = 15s\n");
	app = wp_attach("app");
	reads = wp_attach("reads");
	stop_replay();
	wp_exec(app, "insert into work values (7)");
	assert_string_equal(n_rows(reads, 7), "0");
	begun = wp_now_ms();
	child = wp_fork(wr_resume_soon, NULL, -1);
	assert_ok(cenote_set_session_option(reads, "position", position_of(app)));
	assert_string_equal(n_rows(reads, 7), "1");
	assert_string_equal(wp_value(reads, WR_SQL->is_replica), "1");
	assert_true(wp_now_ms() - begun >= 500 - WP_CLOCK_MS);
	assert_int_equal(wp_join(child), 0);
	/* a client that brings the position when it attaches */
	stop_replay();
	wp_exec(app, "insert into work values (8)");
	later = wp_handle("reads");
	assert_ok(cenote_set_session_option(later, "position", position_of(app)));
	child = wp_fork(wr_resume_soon, NULL, -1);
	assert_ok(cenote_connect(later));
	assert_string_equal(n_rows(later, 8), "1");
	assert_string_equal(wp_value(later, WR_SQL->is_replica), "1");
	assert_int_equal(wp_join(child), 0);
	cenote_conn_destroy(app);
	cenote_conn_destroy(reads);
	cenote_conn_destroy(later);
}

static void
the_primary_is_read_if_the_replica_takes_too_long(void **state)
{
	cenote_conn *app, *reads, *later;

	start_pools("target = prefer-replica\nread_own_writes = 300ms\n");
	wr_await_sessions(&wr_replica, 2);
	app = wp_attach("app");
	reads = wp_attach("reads");
	assert_string_equal(wp_value(reads, WR_SQL->is_replica), "1");
	stop_replay();
	wp_exec(app, "insert into work values (7)");
	assert_ok(cenote_set_session_option(reads, "position", position_of(app)));
	assert_string_equal(n_rows(reads, 7), "1");
	assert_string_equal(wp_value(reads, WR_SQL->is_replica), "0");
	/* a client that has written nothing reads where it was */
	later = wp_attach("reads");
	assert_string_equal(n_rows(later, 7), "0");
	cenote_conn_destroy(later);
	later = wp_handle("reads");
	assert_ok(cenote_set_session_option(later, "position", position_of(app)));
	assert_ok(cenote_connect(later));
	assert_string_equal(n_rows(later, 7), "1");
	cenote_conn_destroy(app);
	cenote_conn_destroy(reads);
	cenote_conn_destroy(later);
	assert_int_equal(cnt_server_sql(&wr_replica, WR_SQL->resume_replay), 0);
}

static void
a_pool_of_replicas_says_that_none_has_the_write(void **state)
{
	cenote_conn *app, *reads;

	start_pools("target = replica\nread_own_writes = 300ms\n");
	app = wp_attach("app");
	reads = wp_attach("reads");
	stop_replay();
	wp_exec(app, "insert into work values (7)");
	assert_ok(cenote_set_session_option(reads, "position", position_of(app)));
	assert_int_equal(
		wp_status_of(reads, "select count(*) from work"), CENOTE_ERR_CONN);
	assert_string_equal(wp_sqlstate(reads), "57P03");
	assert_non_null(strstr(wp_message(reads), "read_own_writes"));
	cenote_conn_destroy(reads);
	reads = wp_handle("reads");
	assert_ok(cenote_set_session_option(reads, "position", position_of(app)));
	assert_int_equal(cenote_connect(reads), CENOTE_ERR_CONN);
	assert_string_equal(wp_sqlstate(reads), "57P03");
	cenote_conn_destroy(reads);
	/* who holds something there learns it from the call itself */
	reads = wp_attach("reads");
	if (wr_kind == CNT_POSTGRESQL)
		wp_exec(reads, "select pg_advisory_lock(1)");
	else
		wp_exec(reads, "create temporary table mine (a int)");
	assert_int_equal(cenote_set_session_option(reads, "position", position_of(app)),
		CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(reads), "57P03");
	cenote_conn_destroy(reads);
	cenote_conn_destroy(app);
	assert_int_equal(cnt_server_sql(&wr_replica, WR_SQL->resume_replay), 0);
}

/* One pool, whose only session moves from the primary to the replica while the client has none. The program does nothing. */
static void
the_library_carries_the_position_to_the_next_session(void **state)
{
	cenote_conn *a, *b;

	wr_start_servers();
	assert_int_equal(cnt_server_shutdown(&wr_replica), 0);
	wr_start_pool("sessions = 1..1\ntarget = prefer-replica\nmode = transaction\n"
		      "max_lag = 0\nrebalance = 300ms\ncheck_interval = 100ms\n"
		      "read_own_writes = 300ms\n");
	wp_await("main", "idle", 1);
	a = wp_attach(NULL);
	assert_int_equal(cnt_server_run(&wr_replica), 0);
	if (wr_kind == CNT_MARIADB)
		assert_int_equal(
			cnt_server_sql(&wr_replica, "set global read_only = 1"), 0);
	stop_replay();
	wp_exec(a, "insert into work values (7)");
	/* it takes the session */
	b = wp_attach(NULL);
	assert_string_equal(wp_value(b, "select 1"), "1");
	cenote_conn_destroy(b);
	wr_await_sessions(&wr_replica, 1);
	assert_string_equal(n_rows(a, 7), "1");
	assert_string_equal(wp_value(a, WR_SQL->is_replica), "0");
	cenote_conn_destroy(a);
	assert_int_equal(cnt_server_sql(&wr_replica, WR_SQL->resume_replay), 0);
}

static void
only_writes_have_a_position(void **state)
{
	char first[600];
	cenote_conn *a, *b;

	start_pools("target = any\n");
	a = wp_attach("app");
	assert_string_equal(wp_value(a, "select 1"), "1");
	assert_ok(cenote_begin(a, 0, 0));
	assert_string_equal(wp_value(a, "select 1"), "1");
	assert_ok(cenote_commit(a));
	assert_null(cenote_info(a, "position"));
	assert_ok(cenote_begin(a, 0, 0));
	wp_exec(a, "insert into work values (7)");
	assert_null(cenote_info(a, "position"));
	assert_ok(cenote_commit(a));
	snprintf(first, sizeof(first), "%s", position_of(a));
	/* a reset keeps it, and what was written later is later */
	assert_ok(cenote_reset(a));
	assert_string_equal(position_of(a), first);
	wp_exec(a, "insert into work values (8)");
	assert_string_not_equal(position_of(a), first);
	/* a pool without the key gives none and takes none */
	b = wp_attach("reads");
	assert_int_equal(
		cenote_set_session_option(b, "position", first), CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(b), "22023");
	cenote_conn_destroy(a);
	cenote_conn_destroy(b);
}

static void
a_text_that_is_no_position_is_refused(void **state)
{
	static const char *const bad[] = { "0", "'; drop table work; --", "7/1/0/",
		NULL };
	cenote_conn *a, *b;

	start_pools("target = replica\nread_own_writes = 300ms\n");
	a = wp_attach("reads");
	for (size_t i = 0; bad[i] != NULL; i++) {
		assert_int_equal(cenote_set_session_option(a, "position", bad[i]),
			CENOTE_ERR_SERVER);
		assert_string_equal(wp_sqlstate(a), "22023");
		b = wp_handle("reads");
		assert_ok(cenote_set_session_option(b, "position", bad[i]));
		assert_true(cenote_connect(b) < 0);
		assert_string_equal(wp_sqlstate(b), "22023");
		cenote_conn_destroy(b);
	}
	if (wr_kind == CNT_POSTGRESQL) {
		assert_int_equal(cenote_set_session_option(a, "position", "7/1/0/1"),
			CENOTE_ERR_SERVER);
		assert_non_null(strstr(wp_message(a), "another database cluster"));
	}
	assert_ok(cenote_begin(a, 0, 0));
	assert_int_equal(cenote_set_session_option(a, "position", ""), CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(a), "25001");
	assert_ok(cenote_rollback(a));
	assert_string_equal(n_rows(a, 7), "0");
	cenote_conn_destroy(a);
}

/* What the promoted server does not have is lost, so nobody waits for it. What it writes has a position of its own. */
static void
a_promoted_server_takes_the_positions_of_the_former_primary(void **state)
{
	char before[600];
	cenote_conn *app, *reads;

	start_pools("target = any\nread_own_writes = 2s\n");
	app = wp_attach("app");
	wp_exec(app, "insert into work values (7)");
	snprintf(before, sizeof(before), "%s", position_of(app));
	wp_pause_ms(300);
	wr_switch_over();
	wp_exec(app, "insert into work values (8)");
	assert_string_not_equal(position_of(app), before);
	reads = wp_handle("reads");
	assert_ok(cenote_set_session_option(reads, "position", position_of(app)));
	assert_ok(cenote_connect(reads));
	assert_string_equal(n_rows(reads, 8), "1");
	assert_ok(cenote_set_session_option(reads, "position", before));
	assert_string_equal(n_rows(reads, 7), "1");
	cenote_conn_destroy(reads);
	cenote_conn_destroy(app);
}

int
main(int argc, char **argv)
{
#define T(f) cmocka_unit_test_teardown(f, wr_teardown)
	const struct CMUnitTest tests[] = {
		T(a_replica_is_read_once_it_has_the_write),
		T(the_primary_is_read_if_the_replica_takes_too_long),
		T(a_pool_of_replicas_says_that_none_has_the_write),
		T(the_library_carries_the_position_to_the_next_session),
		T(only_writes_have_a_position),
		T(a_text_that_is_no_position_is_refused),
		T(a_promoted_server_takes_the_positions_of_the_former_primary),
	};

	wr_kind = argc > 1 && strcmp(argv[1], "mariadb") == 0 ? CNT_MARIADB
							      : CNT_POSTGRESQL;
	cnt_server_need(wr_kind);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
