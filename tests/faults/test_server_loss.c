/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_server_loss postgresql|mariadb
 *
 * Servers that end, are killed, hang and come back: what happens to the pool's sessions, and to
 * clients that have a session but no request. test_server_kill.c tests what a client is told about
 * a running request.
 */
#include "with_pool.h"

#include "support/cnt_server.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum cnt_server_kind kind;
static struct cnt_server one, two;

/* Statements with the same effect on both kinds of server. */
struct dialect {
	const char *identity; /* asks which session of the server this is */
	const char *slow; /* takes 300 ms */
	const char *temp;
	const char *end_all; /* ends all sessions of the user app */
};

static const struct dialect dialects[] = {
	[CNT_POSTGRESQL] = { "select pg_backend_pid()", "select 1 from pg_sleep(0.3)",
		"create temporary table kept (a int)",
		"select count(pg_terminate_backend(pid)) from pg_stat_activity where "
		"usename = 'app'" },
	[CNT_MARIADB] = { "select connection_id()", "select sleep(0.3)",
		"create temporary table kept (a int)", "kill hard user app" },
};

#define SQL (&dialects[kind])

static void
start_pool(const char *lines)
{
	char config[2048];

	assert_int_equal(cnt_server_start(&one, kind, 0), 0);
	wp_start(cnt_server_config(&one, lines, config, sizeof(config)));
}

static int
teardown(void **state)
{
	int r = wp_teardown(state);

	if (one.dir[0] != '\0')
		cnt_server_stop(&one);
	if (two.dir[0] != '\0')
		cnt_server_stop(&two);
	memset(&one, 0, sizeof(one));
	memset(&two, 0, sizeof(two));
	return r;
}

/* End the sessions as an administrator does. The server takes a moment for that. */
static void
end_sessions(void)
{
	assert_int_equal(cnt_server_sql(&one, SQL->end_all), 0);
	wp_pause_ms(200);
}

static void
who_holds_nothing_does_not_notice_a_restart(void **state)
{
	cenote_conn *a;

	start_pool("sessions = 2..2\n");
	a = wp_attach(NULL);
	assert_string_equal(wp_value(a, "select 7"), "7");
	assert_int_equal(cnt_server_restart(&one), 0);
	/* wait, since a pool whose server is down tells clients so at once */
	wp_await("main", "idle", 2);
	assert_string_equal(wp_value(a, "select 7"), "7");
	cnt_server_kill(&one);
	assert_int_equal(cnt_server_run(&one), 0);
	wp_await("main", "idle", 2);
	assert_string_equal(wp_value(a, "select 7"), "7");
	/* the same when only the sessions end */
	end_sessions();
	assert_string_equal(wp_value(a, "select 7"), "7");
	cenote_conn_destroy(a);
	wp_await("main", "idle", 2);
}

static void
nobody_gets_a_session_that_ended(void **state)
{
	start_pool("sessions = 3..3\n");
	wp_await("main", "idle", 3);
	for (int i = 0; i < 5; i++) {
		cenote_conn *a[3];

		end_sessions();
		for (int j = 0; j < 3; j++) {
			a[j] = wp_attach(NULL);
			wp_exec(a[j], SQL->identity);
			assert_string_equal(cenote_info(a[j], "attaches"), "1");
		}
		for (int j = 0; j < 3; j++)
			cenote_conn_destroy(a[j]);
		wp_await("main", "idle", 3);
	}
	assert_int_equal(wp_pool_number("main", "errors"), 0);
}

static void
who_holds_something_is_told(void **state)
{
	cenote_conn *a;

	start_pool("sessions = 1\n");
	a = wp_attach(NULL);
	wp_exec(a, SQL->temp);
	end_sessions();
	assert_int_equal(wp_status_of(a, "select * from kept"), CENOTE_ERR_CONN);
	cenote_conn_destroy(a);
	a = wp_attach(NULL);
	wp_exec(a, SQL->identity);
	cenote_conn_destroy(a);
}

/* The worker sleeps meanwhile, so it finds the answer and the end of the session together. */
static void
an_answer_counts_although_the_session_ends_behind_it(void **state)
{
	cenote_conn *a;
	pid_t worker;

	start_pool("sessions = 1\n");
	a = wp_attach(NULL);
	worker = wp_worker_pid(a);
	assert_ok(cenote_send_query(a, SQL->slow, CENOTE_NTS, NULL, NULL));
	assert_true(cenote_process(a) >= 0);
	wp_pause_ms(100);
	assert_int_equal(kill(worker, SIGSTOP), 0);
	wp_pause_ms(600);
	end_sessions();
	assert_int_equal(kill(worker, SIGCONT), 0);
	cenote_result_destroy(wp_next_result(a, CENOTE_RESULT_ROWS));
	cenote_result_destroy(wp_next_result(a, 0));
	cenote_conn_destroy(a);
}

static void
a_server_that_hangs_hangs_neither_client_nor_cenoted(void **state)
{
	cenote_conn *a, *b;
	int64_t begun;

	start_pool("sessions = 2..2\nquery_timeout = 2s\nlogin_timeout = 5s\n");
	wp_await("main", "idle", 2);
	a = wp_attach(NULL);
	wp_exec(a, SQL->identity);
	cnt_server_signal(&one, SIGSTOP);
	begun = wp_now_ms();
	assert_true(wp_status_of(a, SQL->identity) < 0);
	assert_in_range(wp_now_ms() - begun, 1900, 20000);
	/* the status is available all the same */
	assert_int_equal(wp_pool_number("main", "live"), 2);
	cnt_server_signal(&one, SIGCONT);
	cenote_conn_destroy(a);
	b = wp_attach(NULL);
	wp_exec(b, SQL->identity);
	cenote_conn_destroy(b);
	wp_await("main", "idle", 2);
}

static void
cenoted_ends_under_a_server_that_hangs(void **state)
{
	int64_t begun;
	cenote_conn *a;

	start_pool("sessions = 2..2\n");
	wp_await("main", "idle", 2);
	a = wp_attach(NULL);
	cnt_server_signal(&one, SIGSTOP);
	assert_ok(cenote_send_query(a, SQL->identity, CENOTE_NTS, NULL, NULL));
	wp_pause_ms(100);
	cenote_conn_destroy(a);
	begun = wp_now_ms();
	assert_int_equal(cnt_daemon_end(&wp_daemon), 0);
	assert_in_range(wp_now_ms() - begun, 0, 20000);
	cnt_server_signal(&one, SIGCONT);
}

static void
start_named(struct cnt_server *s, const char *name)
{
	char sql[160];

	assert_int_equal(cnt_server_start(s, kind, 0), 0);
	snprintf(sql, sizeof(sql),
		"create table which (name varchar(9)); insert into which values ('%s'); "
		"grant select on which to app",
		name);
	assert_int_equal(cnt_server_sql(s, sql), 0);
	/* write the table to disk now, since the tests' servers do not wait for their disk */
	if (kind == CNT_POSTGRESQL)
		assert_int_equal(cnt_server_sql(s, "checkpoint"), 0);
}

/* How many of the pool's n sessions are on the server of this name. */
static int
count_on(const char *server, int n)
{
	cenote_conn *a[8];
	int n_on = 0;

	for (int i = 0; i < n; i++) {
		a[i] = wp_attach(NULL);
		n_on += strcmp(wp_value(a[i], "select name from which"), server) == 0;
	}
	for (int i = 0; i < n; i++)
		cenote_conn_destroy(a[i]);
	wp_await("main", "idle", n);
	return n_on;
}

static void
await_share(const char *server, int wanted)
{
	int64_t until = wp_now_ms() + 20000;
	int n;

	while ((n = count_on(server, 4)) != wanted) {
		if (wp_now_ms() > until)
			fail_msg("%d sessions are on %s, and not %d", n, server, wanted);
		wp_pause_ms(50);
	}
}

static void
sessions_go_to_the_server_that_lives_and_come_back(void **state)
{
	char config[4096];
	cenote_conn *a;

	start_named(&one, "one");
	start_named(&two, "two");
	snprintf(config, sizeof(config),
		CNT_DAEMON_GLOBAL
		"\n[pool main]\nbackend = %s\nserver = %s\nserver = %s\n"
		"sessions = 4..4\nrebalance = 300ms\n",
		one.backend, one.server_line, two.server_line);
	wp_start(config);
	wp_await("main", "idle", 4);
	await_share("two", 2);
	a = wp_attach(NULL);
	cnt_server_kill(&one);
	/* The session may be on either server. Rows that "one" has just written may be lost, so
	 * count on "two". */
	wp_exec(a, "select 1");
	cenote_conn_destroy(a);
	wp_await("main", "idle", 4);
	await_share("two", 4);
	assert_int_equal(cnt_server_run(&one), 0);
	await_share("two", 2);
}

int
main(int argc, char **argv)
{
#define T(f) cmocka_unit_test_teardown(f, teardown)
	const struct CMUnitTest tests[] = {
		T(who_holds_nothing_does_not_notice_a_restart),
		T(nobody_gets_a_session_that_ended),
		T(who_holds_something_is_told),
		T(an_answer_counts_although_the_session_ends_behind_it),
		T(a_server_that_hangs_hangs_neither_client_nor_cenoted),
		T(cenoted_ends_under_a_server_that_hangs),
		T(sessions_go_to_the_server_that_lives_and_come_back),
	};

	kind = argc > 1 && strcmp(argv[1], "mariadb") == 0 ? CNT_MARIADB : CNT_POSTGRESQL;
	cnt_server_need(kind);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
