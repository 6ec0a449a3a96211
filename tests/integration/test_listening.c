/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LISTEN in transaction mode: a client that listens keeps no session, and still gets every notification once and in order,
 * while others use the sessions. If notifications may be missing, it gets an error.
 */
#include "turns.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAYLOAD_MAX 16

/* The notifications that a client got. The payloads of each channel are numbers from 0 on. */
struct ear {
	int n;
	int n_others; /* on another channel than the first one */
	char channel[64];
	uint32_t pid; /* of the last sender */
};

static void
hear(uint32_t pid, const char *channel, const char *payload, void *user)
{
	struct ear *ear = user;

	ear->pid = pid;
	if (ear->channel[0] == '\0')
		snprintf(ear->channel, sizeof(ear->channel), "%s", channel);
	if (strcmp(channel, ear->channel) != 0) {
		ear->n_others++;
		return;
	}
	assert_int_equal(atoi(payload), ear->n);
	ear->n++;
}

static cenote_conn *
attach_listener(struct ear *ear, const char *listen)
{
	cenote_conn *conn = wp_attach(NULL);

	memset(ear, 0, sizeof(*ear));
	cenote_set_notification_handler(conn, hear, ear);
	wp_exec(conn, listen);
	return conn;
}

static void
notify(cenote_conn *conn, const char *channel, int number)
{
	char sql[96];

	snprintf(sql, sizeof(sql), "notify %s, '%d'", channel, number);
	wp_exec(conn, sql);
}

static void
await_heard(cenote_conn *conn, const struct ear *ear, int n)
{
	int64_t until = wp_now_ms() + 20000;

	while (ear->n < n && wp_now_ms() < until) {
		int r = cenote_wait(conn, 100);

		if (r != CENOTE_DONE)
			assert_ok(r);
	}
	assert_int_equal(ear->n, n);
}

/* Two other clients use the sessions until the client that listens has no session. */
static void
crowd_out(cenote_conn **others)
{
	int64_t until = wp_now_ms() + 20000;

	while (!wp_log_has("listens for clients that have no session") &&
		wp_now_ms() < until)
		turns_take(others, 2, 1);
	assert_true(wp_log_has("listens for clients that have no session"));
}

/* The pool has two sessions. One listens; the two other clients take turns on the other session. */
#define TWO "sessions = 2\nworkers = 1\n" TURNS_POOL

static void
idle_clients_hear_all_and_keep_no_session(void **state)
{
	struct ear ears[4];
	cenote_conn *listeners[4], *others[2];

	turns_start(TWO);
	for (size_t i = 0; i < CNT_COUNT(listeners); i++)
		listeners[i] = attach_listener(&ears[i], "listen news");
	turns_attach(others, 2);
	for (int i = 0; i < 50; i++) {
		notify(others[i % 2], "news", i);
		notify(others[i % 2], "nobody", i);
	}
	for (size_t i = 0; i < CNT_COUNT(listeners); i++)
		await_heard(listeners[i], &ears[i], 50);
	wp_await("main", "in_use", 1);
	turns_destroy(others, 2);
	turns_destroy(listeners, CNT_COUNT(listeners));
	/* nobody listens any more, so the session is free for others */
	wp_await("main", "in_use", 0);
}

/* ---- while a client comes and goes ---- */

enum {
	N_STREAM = 1000
};

static void *
send_stream(void *arg)
{
	cenote_conn *conn = arg;

	for (int i = 0; i < N_STREAM; i++)
		notify(conn, "news", i);
	return NULL;
}

static void
nothing_is_lost_or_doubled_while_sessions_change(void **state)
{
	struct ear ears[2];
	cenote_conn *listeners[2], *sender, *other;
	pthread_t thread;
	int64_t yields;
	int i;

	turns_start(TWO);
	listeners[0] = attach_listener(&ears[0], "listen news");
	listeners[1] =
		attach_listener(&ears[1], "listen \"Mixed \"\"case\"; listen news");
	sender = wp_attach(NULL);
	other = wp_attach(NULL);
	yields = wp_pool_number("main", "yields");
	assert_int_equal(pthread_create(&thread, NULL, send_stream, sender), 0);
	for (i = 0; ears[0].n < N_STREAM && i < 100000; i++) {
		char sql[64], wanted[16];

		snprintf(wanted, sizeof(wanted), "%d", i);
		snprintf(sql, sizeof(sql), "select %d", i);
		assert_string_equal(wp_value(listeners[0], sql), wanted);
		assert_string_equal(wp_value(other, sql), wanted);
		assert_ok(cenote_process(listeners[1]));
	}
	pthread_join(thread, NULL);
	await_heard(listeners[0], &ears[0], N_STREAM);
	await_heard(listeners[1], &ears[1], N_STREAM);
	/* the first listener has moved again and again */
	assert_true(wp_pool_number("main", "yields") - yields > 20);
	turns_destroy(listeners, 2);
	cenote_conn_destroy(sender);
	cenote_conn_destroy(other);
}

static void
on_its_session_all_is_as_without_a_pool(void **state)
{
	struct ear ear;
	cenote_conn *conn, *others[2];

	turns_start(TWO);
	conn = attach_listener(&ear, "listen news");
	wp_exec(conn, "listen \"a, b\"");
	turns_attach(others, 2);
	crowd_out(others);
	assert_string_equal(
		wp_value(others[0], "select count(*) from pg_listening_channels()"), "0");
	/* its own notification comes with the answer */
	for (int i = 0; i < 5; i++) {
		notify(conn, "news", i);
		assert_int_equal(ear.n, i + 1);
		turns_take(others, 2, 2);
	}
	assert_string_equal(wp_value(conn, "select string_agg(c, '|' order by c) from "
					   "pg_listening_channels() c"),
		"a, b|news");
	turns_take(others, 2, 5);
	wp_exec(conn, "unlisten news");
	turns_take(others, 2, 5);
	notify(others[0], "news", 99);
	notify(others[1], "\"a, b\"", 0);
	assert_string_equal(wp_value(conn, "select pg_listening_channels()"), "a, b");
	assert_int_equal(ear.n, 5);
	assert_int_equal(ear.n_others, 1);
	wp_exec(conn, "unlisten *");
	turns_take(others, 2, 5);
	assert_string_equal(
		wp_value(conn, "select count(*) from pg_listening_channels()"), "0");
	turns_destroy(others, 2);
	cenote_conn_destroy(conn);
	wp_await("main", "in_use", 0);
}

/* ---- what ends ---- */

/* The client's descriptor becomes readable, and its next call reports the loss. */
static void
expect_lost(cenote_conn *conn)
{
	struct pollfd p = { .fd = cenote_fd(conn), .events = POLLIN };
	int r;

	do {
		assert_int_equal(poll(&p, 1, 20000), 1);
		r = cenote_process(conn);
	} while (r == CENOTE_OK);
	assert_int_equal(r, CENOTE_ERR_CONN);
	assert_string_equal(wp_sqlstate(conn), "08006");
	assert_non_null(strstr(wp_message(conn), "notifications may be missing"));
}

static void
a_lost_listening_session_is_an_error(void **state)
{
	struct ear ears[2];
	cenote_conn *conns[2], *others[2];

	turns_start(TWO);
	conns[0] = attach_listener(&ears[0], "listen news");
	turns_attach(others, 2);
	crowd_out(others);
	conns[1] = attach_listener(&ears[1], "listen news");
	turns_take(others, 2, 5);
	notify(others[0], "news", 0);
	await_heard(conns[0], &ears[0], 1);
	await_heard(conns[1], &ears[1], 1);
	turns_await_server(
		"select count(pg_terminate_backend(pid)) from pg_stat_activity "
		"where query like '%LISTEN%' and pid <> pg_backend_pid() and "
		"query not like '%NOTIFY%'",
		"1");
	expect_lost(conns[0]);
	expect_lost(conns[1]);
	/* other clients go on, and new clients can connect */
	turns_take(others, 2, 5);
	turns_destroy(conns, 2);
	conns[0] = attach_listener(&ears[0], "listen news");
	turns_take(others, 2, 5);
	notify(others[0], "news", 0);
	await_heard(conns[0], &ears[0], 1);
	turns_destroy(others, 2);
	cenote_conn_destroy(conns[0]);
}

static void
the_end_of_cenoted_is_an_error(void **state)
{
	struct ear ear;
	cenote_conn *conn, *others[2];

	turns_start(TWO);
	conn = attach_listener(&ear, "listen news");
	turns_attach(others, 2);
	crowd_out(others);
	turns_destroy(others, 2);
	assert_int_equal(cnt_daemon_stop(&wp_daemon), 0);
	expect_lost(conn);
	cenote_conn_destroy(conn);
}

static void
what_another_session_would_hear_differently_holds(void **state)
{
	struct ear ear;
	cenote_conn *conn, *others[2];

	turns_start(TWO);
	conn = attach_listener(&ear, "listen \"n\xc3\xa4ws\"");
	turns_attach(others, 2);
	turns_take(others, 2, 50);
	assert_false(wp_log_has("listens for clients that have no session"));
	cenote_conn_destroy(conn);
	turns_destroy(others, 2);
}

static void
a_strict_pool_refuses_only_what_cannot_move(void **state)
{
	struct ear ear;
	cenote_conn *conn;

	turns_start(TWO "strict = yes\n");
	conn = attach_listener(&ear, "listen news");
	cenote_conn_destroy(conn);
	assert_int_equal(wp_teardown(state), 0);
	turns_start("sessions = 1\n" TURNS_POOL "strict = yes\n");
	conn = wp_attach(NULL);
	assert_int_equal(wp_status_of(conn, "listen news"), CENOTE_ERR_UNSUPPORTED);
	assert_string_equal(wp_sqlstate(conn), "0A000");
	cenote_conn_destroy(conn);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(
			idle_clients_hear_all_and_keep_no_session, wp_teardown),
		cmocka_unit_test_teardown(
			nothing_is_lost_or_doubled_while_sessions_change, wp_teardown),
		cmocka_unit_test_teardown(
			on_its_session_all_is_as_without_a_pool, wp_teardown),
		cmocka_unit_test_teardown(
			a_lost_listening_session_is_an_error, wp_teardown),
		cmocka_unit_test_teardown(the_end_of_cenoted_is_an_error, wp_teardown),
		cmocka_unit_test_teardown(
			what_another_session_would_hear_differently_holds, wp_teardown),
		cmocka_unit_test_teardown(
			a_strict_pool_refuses_only_what_cannot_move, wp_teardown),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, turns_setup, turns_teardown);
}
