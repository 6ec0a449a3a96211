/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A worker lends the server's socket to a client on this machine, and takes it back: at the client's end, at its death,
 * for a reload, and at time limits. The unit test postgresql_loan has what a borrower can leave on the socket.
 */
#include "turns.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LENDS "sessions = 1\nlend = auto\nqueue_timeout = 60s\n"

static int
is_lent(const cenote_conn *conn)
{
	return strcmp(cenote_info(conn, "data_path"), "lent") == 0;
}

/* Send requests until the worker has lent the session. */
static void
ask_until_lent(cenote_conn *conn)
{
	char sql[32], wanted[16];

	for (int i = 0; i < 100 && !is_lent(conn); i++) {
		snprintf(wanted, sizeof(wanted), "%d", i);
		snprintf(sql, sizeof(sql), "select %d", i);
		assert_string_equal(wp_value(conn, sql), wanted);
	}
	assert_true(is_lent(conn));
	assert_string_equal(wp_value(conn, "select 'lent'"), "lent");
}

static cenote_conn *
borrow(void)
{
	cenote_conn *conn = wp_attach(NULL);

	ask_until_lent(conn);
	return conn;
}

static void
backend_pid(cenote_conn *conn, char to[16])
{
	snprintf(to, 16, "%s", wp_value(conn, "select pg_catalog.pg_backend_pid()"));
}

/* ---- an ordinary loan ---- */

static void
a_client_that_goes_on_gets_the_session_lent(void **state)
{
	cenote_conn *conn;
	char before[16], during[16], after[16];

	turns_start(LENDS);
	conn = wp_attach(NULL);
	assert_false(is_lent(conn));
	backend_pid(conn, before);
	ask_until_lent(conn);
	backend_pid(conn, during);
	assert_string_equal(during, before);
	/* all kinds of requests */
	wp_exec(conn, "begin");
	wp_exec(conn, "create table mine (a int)");
	wp_exec(conn, "insert into mine select generate_series(1, 1000)");
	assert_string_equal(wp_value(conn, "select sum(a) from mine"), "500500");
	wp_exec(conn, "rollback");
	assert_true(wp_status_of(conn, "select * from mine") < 0);
	assert_string_equal(wp_sqlstate(conn), "42P01");
	assert_string_equal(
		wp_value(conn, "select length(repeat('x', 3000000))"), "3000000");
	wp_exec(conn, "set datestyle = 'german'");
	cenote_conn_destroy(conn);
	/* the next client has the same session, as fresh as a new login */
	conn = wp_attach(NULL);
	backend_pid(conn, after);
	assert_string_equal(after, before);
	assert_string_equal(wp_value(conn, "show datestyle"), "ISO, MDY");
	assert_string_equal(
		wp_value(conn, "select current_setting('datestyle')"), "ISO, MDY");
	cenote_conn_destroy(conn);
}

/* The borrower prepares its statements again, under the names that the session has for them already. */
static void
prepared_statements_go_along(void **state)
{
	cenote_conn *conn;
	cenote_stmt *stmt;
	cenote_result *res;

	turns_start(LENDS);
	conn = wp_attach(NULL);
	assert_int_equal(
		cenote_stmt_create(conn, "select 'p'", CENOTE_NTS, &stmt), CENOTE_OK);
	for (int i = 0; i < 40; i++) {
		assert_int_equal(cenote_stmt_execute(stmt, NULL, NULL, &res), CENOTE_OK);
		assert_string_equal(cenote_result_text(res, 0, 0, NULL), "p");
		cenote_result_destroy(res);
	}
	assert_true(is_lent(conn));
	cenote_stmt_destroy(stmt);
	cenote_conn_destroy(conn);
}

/* Wait as the shims do. With CENOTE_PASSIVE, libcenote leaves it to the program to wait and to read. */
static int
poll_once(cenote_conn *conn)
{
	struct pollfd p = { .fd = cenote_fd(conn), .events = POLLIN };

	if (poll(&p, 1, cenote_wait_ms(conn)) > 0)
		return cenote_process(conn);
	return CENOTE_OK;
}

static void
a_program_that_polls_gets_all_of_a_copy(void **state)
{
	cenote_conn *conn;
	cenote_result *res;
	const char *piece;
	size_t len, n = 0;
	int r, n_polls = 0;

	turns_start(LENDS);
	conn = borrow();
	assert_ok(cenote_query(conn,
		"copy (select repeat('x', 9000) from generate_series(1, 40)) to stdout",
		CENOTE_NTS, NULL, NULL, &res));
	assert_ok(cenote_set_nonblocking(conn, CENOTE_PASSIVE));
	while ((r = cenote_copy_get(conn, &piece, &len)) != CENOTE_DONE) {
		if (r == CENOTE_OK)
			n += len;
		else
			assert_int_equal(r, CENOTE_AGAIN);
		if (r == CENOTE_AGAIN)
			assert_ok(poll_once(conn));
		assert_true(n_polls++ < 10000);
	}
	assert_int_equal(n, 40 * 9001);
	cenote_result_destroy(res);
	cenote_conn_destroy(conn);
}

/* Autocommit was switched off and on again: the borrower must know the last value, not the first. */
static void
autocommit_goes_along(void **state)
{
	cenote_conn *conn;

	turns_start(LENDS);
	conn = wp_attach(NULL);
	wp_exec(conn, "create table moved (a int)");
	assert_int_equal(cenote_set_autocommit(conn, 0), CENOTE_OK);
	wp_exec(conn, "insert into moved values (1)");
	assert_int_equal(cenote_commit(conn), CENOTE_OK);
	assert_int_equal(cenote_set_autocommit(conn, 1), CENOTE_OK);
	ask_until_lent(conn);
	wp_exec(conn, "insert into moved values (2)");
	assert_int_equal(cenote_tx_state(conn), CENOTE_TX_IDLE);
	wp_exec(conn, "drop table moved");
	cenote_conn_destroy(conn);
}

static void
without_the_key_nothing_is_lent(void **state)
{
	cenote_conn *conn;

	turns_start("sessions = 1\nlend = off\n");
	conn = wp_attach(NULL);
	for (int i = 0; i < 30; i++)
		assert_string_equal(wp_value(conn, "select 1"), "1");
	assert_false(is_lent(conn));
	cenote_conn_destroy(conn);
}

static void
a_client_that_does_not_want_it_is_not_lent_to(void **state)
{
	cenote_conn *conn;

	turns_start(LENDS);
	conn = wp_handle(NULL);
	assert_int_equal(cenote_conn_set(conn, "borrow", "no"), CENOTE_OK);
	assert_int_equal(cenote_connect(conn), CENOTE_OK);
	for (int i = 0; i < 30; i++)
		assert_string_equal(wp_value(conn, "select 1"), "1");
	assert_false(is_lent(conn));
	cenote_conn_destroy(conn);
}

/* A client that holds something keeps its way; it gets the session lent once it holds nothing. */
static void
nothing_is_lent_while_the_client_holds_something(void **state)
{
	cenote_conn *conn;

	turns_start(LENDS);
	conn = wp_attach(NULL);
	wp_exec(conn, "begin");
	for (int i = 0; i < 20; i++)
		assert_string_equal(wp_value(conn, "select 1"), "1");
	assert_false(is_lent(conn));
	wp_exec(conn, "commit");
	ask_until_lent(conn);
	cenote_conn_destroy(conn);
}

/* Whether the status shows a worker in this state. */
static int
a_worker_is(const char *wanted)
{
	cenote_conn *conn = wp_handle(NULL);
	cenote_result *res;
	int is_there = 0;

	assert_int_equal(cenote_status(conn, "workers", &res), CENOTE_OK);
	for (uint64_t i = 0; i < cenote_result_n_rows(res); i++) {
		for (uint32_t j = 0; j < cenote_result_n_columns(res); j++) {
			const char *text = cenote_result_text(res, i, j, NULL);

			is_there |= text != NULL && strcmp(text, wanted) == 0;
		}
	}
	cenote_result_destroy(res);
	cenote_conn_destroy(conn);
	return is_there;
}

static void
the_status_shows_what_a_borrower_does(void **state)
{
	int64_t until = wp_now_ms() + 20000;
	cenote_conn *conn;
	int64_t before;

	turns_start(LENDS);
	conn = borrow();
	/* the worker says so after the borrower has the session */
	while (!a_worker_is("lent") && wp_now_ms() < until)
		wp_pause_ms(5);
	assert_true(a_worker_is("lent"));
	before = wp_pool_number("main", "requests");
	for (int i = 0; i < 50; i++)
		assert_string_equal(wp_value(conn, "select 1"), "1");
	wp_pause_ms(1500);
	assert_true(wp_pool_number("main", "requests") >= before + 50);
	cenote_conn_destroy(conn);
	wp_await("main", "idle", 1);
	assert_false(a_worker_is("lent"));
}

/* ---- the end of a loan ---- */

/* Borrow, begin something, and wait to be killed. */
static int
work_until_killed(void *arg)
{
	cenote_conn *conn = borrow();

	(void)!write(WP_KEPT, "x", 1);
	wp_exec(conn, "begin");
	(void)wp_status_of(conn, arg);
	pause();
	return 0;
}

static void
kill_in_the_middle_of(const char *sql)
{
	int ready[2];
	char byte;
	pid_t pid;
	cenote_conn *conn;

	assert_int_equal(pipe(ready), 0);
	pid = wp_fork(work_until_killed, (void *)(uintptr_t)sql, ready[1]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	wp_pause_ms(300);
	assert_int_equal(kill(pid, SIGKILL), 0);
	(void)wp_join(pid);
	conn = wp_attach(NULL);
	assert_string_equal(
		wp_value(conn,
			"select count(*) from pg_class where relname = 'left_behind'"),
		"0");
	assert_string_equal(wp_value(conn, "select 1"), "1");
	cenote_conn_destroy(conn);
}

static void
a_killed_borrower_leaves_nothing(void **state)
{
	turns_start(LENDS);
	kill_in_the_middle_of("create table left_behind (a int)");
	kill_in_the_middle_of("select pg_sleep(600)");
	kill_in_the_middle_of("select repeat('x', 1000) from generate_series(1, 100000)");
	/* the server has stopped what nobody waits for */
	turns_await_server("select count(*) from pg_stat_activity where query like "
			   "'%pg_sleep(60' || '0)%' and state = 'active'",
		"0");
}

static void
a_session_that_the_server_ends_is_a_loss_as_ever(void **state)
{
	cenote_conn *conn;
	char sql[64], pid[16], answer[16];

	turns_start(LENDS);
	conn = borrow();
	wp_exec(conn, "begin");
	backend_pid(conn, pid);
	snprintf(sql, sizeof(sql), "select pg_terminate_backend(%s)", pid);
	assert_int_equal(cnt_server_ask(&turns_server, sql, answer, sizeof(answer)), 0);
	assert_true(wp_status_of(conn, "select 1") < 0);
	cenote_conn_destroy(conn);
	conn = wp_attach(NULL);
	assert_string_equal(wp_value(conn, "select 1"), "1");
	cenote_conn_destroy(conn);
}

/* Between two requests, and holding nothing, the client does not notice that. */
static void
an_idle_loan_moves_to_another_session(void **state)
{
	cenote_conn *conn;
	char sql[64], pid[16], answer[16];

	turns_start(LENDS);
	conn = borrow();
	backend_pid(conn, pid);
	snprintf(sql, sizeof(sql), "select pg_terminate_backend(%s)", pid);
	assert_int_equal(cnt_server_ask(&turns_server, sql, answer, sizeof(answer)), 0);
	wp_pause_ms(200);
	assert_string_equal(wp_value(conn, "select 'here'"), "here");
	cenote_conn_destroy(conn);
}

/* ---- reload, end, limits ---- */

static void
a_reload_takes_an_idle_loan_back(void **state)
{
	cenote_conn *conn;
	pid_t old;

	turns_start(LENDS);
	conn = borrow();
	old = wp_worker_pid(conn);
	assert_int_equal(cnt_daemon_configure(
				 &wp_daemon, turns_config("sessions = 1\nlend = off\n")),
		0);
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log("pool main was changed");
	wp_await("main", "idle", 1);
	assert_string_equal(wp_value(conn, "select 'here'"), "here");
	assert_false(is_lent(conn));
	assert_true(wp_worker_pid(conn) != old);
	cenote_conn_destroy(conn);
}

/* The pool's new workers lend nothing. The old one takes its session back when it looks at the page next, which is once a
 * second. */
static void
end_lending(void)
{
	assert_int_equal(cnt_daemon_configure(
				 &wp_daemon, turns_config("sessions = 1\nlend = off\n")),
		0);
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log("pool main was changed");
	wp_pause_ms(2500);
}

/* Which parameters differ, only the borrower and the server know. */
static void
a_reload_leaves_a_borrower_its_parameters(void **state)
{
	cenote_conn *conn;

	turns_start(LENDS);
	conn = borrow();
	wp_exec(conn, "set application_name to 'mine'");
	assert_true(is_lent(conn));
	end_lending();
	assert_string_equal(wp_value(conn, "show application_name"), "mine");
	cenote_conn_destroy(conn);
}

/* The lent session gets what the client had before the loan. The session after the loan also gets what the client made meanwhile. */
static void
what_moves_goes_along_and_comes_back(void **state)
{
	cenote_conn *conn;

	turns_start(LENDS);
	conn = wp_attach(NULL);
	wp_exec(conn, "set work_mem = '7MB'");
	wp_exec(conn, "prepare a as select 'a'");
	ask_until_lent(conn);
	assert_string_equal(wp_value(conn, "execute a"), "a");
	wp_exec(conn, "prepare b as select 'b'");
	wp_exec(conn, "deallocate a");
	assert_true(is_lent(conn));
	end_lending();
	/* the borrower asks the server after the first request, and the worker looks again within a second */
	for (int i = 0; i < 10 && is_lent(conn); i++) {
		if (i > 0)
			wp_pause_ms(1500);
		assert_string_equal(wp_value(conn, "show work_mem"), "7MB");
	}
	assert_false(is_lent(conn));
	assert_string_equal(wp_value(conn, "execute b"), "b");
	assert_int_equal(wp_status_of(conn, "execute a"), CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(conn), "26000");
	cenote_conn_destroy(conn);
}

/* The worker asks the server what the client's functions have left. The client learns of it with its next request. */
static void
a_reload_takes_a_loan_back_that_may_hold_something(void **state)
{
	cenote_conn *conn;

	turns_start(LENDS);
	conn = borrow();
	wp_exec(conn, "create table lending (n int)");
	wp_exec(conn, "drop table lending");
	assert_true(is_lent(conn));
	end_lending();
	assert_string_equal(wp_value(conn, "select 'here'"), "here");
	assert_false(is_lent(conn));
	cenote_conn_destroy(conn);
}

static void
the_end_waits_for_a_borrower_that_holds_something(void **state)
{
	cenote_conn *conn;

	turns_start(LENDS);
	conn = borrow();
	wp_exec(conn, "begin");
	assert_int_equal(kill(wp_daemon.pid, SIGTERM), 0);
	wp_await_log("draining");
	wp_pause_ms(300);
	assert_true(cnt_daemon_is_alive(&wp_daemon));
	assert_string_equal(wp_value(conn, "select 1"), "1");
	wp_exec(conn, "commit");
	wp_await_log("ended");
	cenote_conn_destroy(conn);
	assert_int_equal(cnt_daemon_end(&wp_daemon), 0);
}

static void
a_second_sigterm_ends_a_loan(void **state)
{
	cenote_conn *conn;

	turns_start(LENDS);
	conn = borrow();
	wp_exec(conn, "begin");
	assert_int_equal(kill(wp_daemon.pid, SIGTERM), 0);
	wp_await_log("draining");
	assert_int_equal(kill(wp_daemon.pid, SIGTERM), 0);
	assert_int_equal(cnt_daemon_end(&wp_daemon), 0);
	assert_true(wp_status_of(conn, "select 1") < 0);
	assert_string_equal(wp_sqlstate(conn), "57P01");
	cenote_conn_destroy(conn);
}

static void
an_idle_borrower_gives_way_unnoticed(void **state)
{
	cenote_conn *conn;

	turns_start(LENDS "idle_client_timeout = 300ms\n");
	conn = borrow();
	wp_await("main", "idle", 1);
	assert_string_equal(wp_value(conn, "select 'here'"), "here");
	cenote_conn_destroy(conn);
}

/* The client's transaction is idle until the limit ends the loan, and the transaction with it. */
static void
expect_end_of_transaction(cenote_conn *conn, const char *limit)
{
	wp_exec(conn, "begin");
	wp_await("main", "idle", 1);
	assert_true(wp_status_of(conn, "select 1") < 0);
	assert_non_null(strstr(wp_message(conn), limit));
	turns_await_server("select count(*) from pg_stat_activity where state = 'idle in "
			   "transaction'",
		"0");
}

static void
session_timeout_ends_a_loan_that_holds_something(void **state)
{
	cenote_conn *conn;

	turns_start(LENDS "session_timeout = 1500ms\n");
	conn = borrow();
	expect_end_of_transaction(conn, "session_timeout");
	cenote_conn_destroy(conn);
}

/* Borrow from a pool with these lines. A limit stops the client's request, and the loan goes on. */
static cenote_conn *
borrow_and_be_stopped(const char *lines)
{
	cenote_conn *conn;

	turns_start(lines);
	conn = borrow();
	assert_true(wp_status_of(conn, "select pg_sleep(600)") < 0);
	assert_string_equal(wp_sqlstate(conn), "57014");
	assert_true(is_lent(conn));
	return conn;
}

static void
query_timeout_stops_a_request_of_a_loan(void **state)
{
	cenote_conn *conn = borrow_and_be_stopped(LENDS "query_timeout = 500ms\n");

	assert_non_null(strstr(wp_message(conn), "query_timeout"));
	assert_string_equal(wp_value(conn, "select 1"), "1");
	cenote_conn_destroy(conn);
}

static void
a_transaction_that_idles_ends_the_loan(void **state)
{
	cenote_conn *conn;

	turns_start(LENDS "idle_transaction_timeout = 500ms\n");
	conn = borrow();
	wp_pause_ms(700);
	assert_string_equal(wp_value(conn, "select 1"), "1");
	expect_end_of_transaction(conn, "idle_transaction_timeout");
	assert_string_equal(wp_sqlstate(conn), "25P03");
	cenote_conn_destroy(conn);
}

static void
a_users_query_timeout_stops_a_request_of_a_loan(void **state)
{
	cenote_conn_destroy(
		borrow_and_be_stopped(LENDS "user_limits = * query_timeout=500ms\n"));
}

static void
a_cancel_hits_the_request_of_a_loan(void **state)
{
	cenote_conn *conn;
	cenote_cancel *cancel;

	turns_start(LENDS);
	conn = borrow();
	assert_int_equal(
		cenote_send_query(conn, "select pg_sleep(600)", CENOTE_NTS, NULL, NULL),
		CENOTE_OK);
	wp_pause_ms(300);
	assert_int_equal(cenote_cancel_create(conn, &cancel), CENOTE_OK);
	assert_int_equal(cenote_cancel_send(cancel), CENOTE_OK);
	cenote_result_destroy(wp_next_result(conn, CENOTE_RESULT_ERROR));
	assert_null(wp_next_result(conn, 0));
	/* the request is over, so another cancel of it hits no other request */
	assert_true(cenote_cancel_send(cancel) >= 0);
	cenote_cancel_destroy(cancel);
	assert_true(is_lent(conn));
	assert_string_equal(wp_value(conn, "select 'x' from pg_sleep(0.3)"), "x");
	cenote_conn_destroy(conn);
}

/* ---- another unix user ---- */

static int
ask_as_nobody(void *arg)
{
	cenote_conn *conn;

	(void)arg;
	if (setgid(65534) < 0 || setuid(65534) < 0)
		return 2;
	conn = wp_attach(NULL);
	snprintf((char *)arg, 16, "%s", wp_value(conn, "select pg_backend_pid()"));
	(void)!write(WP_KEPT, arg, 16);
	cenote_conn_destroy(conn);
	return 0;
}

/* The former borrower may have kept the socket. */
static void
another_user_never_gets_a_session_that_was_lent(void **state)
{
	cenote_conn *conn;
	char pid[16], same[16], other[16] = "";
	int answer[2];

	if (geteuid() != 0)
		skip();
	setenv("CNT_DAEMON_LINES", "socket_mode = 0777\n", 1);
	turns_start(LENDS "allow_users = *\n");
	unsetenv("CNT_DAEMON_LINES");
	assert_int_equal(chmod(wp_daemon.dir, 0755), 0);
	conn = borrow();
	backend_pid(conn, pid);
	cenote_conn_destroy(conn);
	conn = wp_attach(NULL);
	backend_pid(conn, same);
	assert_string_equal(same, pid);
	cenote_conn_destroy(conn);
	assert_int_equal(pipe(answer), 0);
	assert_int_equal(wp_join(wp_fork(ask_as_nobody, other, answer[1])), 0);
	close(answer[1]);
	assert_int_equal(read(answer[0], other, sizeof(other)), sizeof(other));
	close(answer[0]);
	assert_string_not_equal(other, "");
	assert_string_not_equal(other, pid);
}

#define TEST(name) cmocka_unit_test_teardown(name, wp_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_client_that_goes_on_gets_the_session_lent),
		TEST(prepared_statements_go_along),
		TEST(a_program_that_polls_gets_all_of_a_copy),
		TEST(autocommit_goes_along),
		TEST(without_the_key_nothing_is_lent),
		TEST(a_client_that_does_not_want_it_is_not_lent_to),
		TEST(nothing_is_lent_while_the_client_holds_something),
		TEST(the_status_shows_what_a_borrower_does),
		TEST(a_killed_borrower_leaves_nothing),
		TEST(a_session_that_the_server_ends_is_a_loss_as_ever),
		TEST(an_idle_loan_moves_to_another_session),
		TEST(a_reload_takes_an_idle_loan_back),
		TEST(a_reload_leaves_a_borrower_its_parameters),
		TEST(what_moves_goes_along_and_comes_back),
		TEST(a_reload_takes_a_loan_back_that_may_hold_something),
		TEST(the_end_waits_for_a_borrower_that_holds_something),
		TEST(a_second_sigterm_ends_a_loan),
		TEST(an_idle_borrower_gives_way_unnoticed),
		TEST(session_timeout_ends_a_loan_that_holds_something),
		TEST(query_timeout_stops_a_request_of_a_loan),
		TEST(a_transaction_that_idles_ends_the_loan),
		TEST(a_users_query_timeout_stops_a_request_of_a_loan),
		TEST(a_cancel_hits_the_request_of_a_loan),
		TEST(another_user_never_gets_a_session_that_was_lent),
	};

	return cmocka_run_group_tests(tests, turns_setup, turns_teardown);
}
