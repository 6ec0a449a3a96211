/* SPDX-License-Identifier: BSD-2-Clause */
/* When a client must give its session up, and what the worker asks the server first. */
#include "with_probe.h"

#include <string.h>

static int
attach_in_child(void *arg)
{
	cenote_conn *conn;
	int r;

	(void)arg;
	r = wp_try(NULL, &conn);
	cenote_conn_destroy(conn);
	return r == CENOTE_OK ? 0 : 1;
}

static pid_t
let_another_wait(void)
{
	pid_t pid = wp_fork(attach_in_child, NULL, -1);

	wp_await("main", "waiting", 1);
	return pid;
}

/* The session is reset, the client that waited has it, and it is reset again. */
static void
reset_for(pid_t pid)
{
	for (int i = 0; i < 2; i++) {
		probe_hear("reset\n");
		probe_say("done\n");
	}
	assert_int_equal(wp_join(pid), 0);
}

/* Attach after a pause. If another client had waited a moment ago, this one would have to yield soon. */
static void
begin_alone(void)
{
	probe_start(POOL("mode = transaction\n"));
	probe_accept_login(0);
	wp_await("main", "idle", 1);
	wp_pause_ms(200);
	probe_attach();
}

static void
what_functions_left_is_asked_for_before_a_session_is_kept(void **state)
{
	pid_t pid;

	begin_alone();
	/* settle() will find that pin 64 stays */
	QUERY(1, SYNC, "settle 64");
	EXPECT("DONE/1 READY/1");
	QUERY(2, SYNC, "pin 64");
	EXPECT("DONE/2 READY/2");
	pid = let_another_wait();
	wp_pause_ms(200);
	assert_non_null(strstr(probe_ask(3, "seen"), "settles=1 "));
	/* after the next request, the worker may ask again; then settle() finds nothing */
	QUERY(4, SYNC, "settle 0");
	EXPECT("DONE/4 READY/4 YIELD/0 END");
	reset_for(pid);
}

/* A client whose turn ends: the backend may begin the reset with its last request. */
static void
a_turn_ends_if_others_wait(void **state)
{
	pid_t pid;

	begin_alone();
	QUERY(1, SYNC, "over 0");
	EXPECT("DONE/1 READY/1");
	/* a pin keeps the session, so that the next client waits for it */
	QUERY(2, SYNC, "pin 1");
	EXPECT("DONE/2 READY/2");
	pid = let_another_wait();
	/* no turn ends if the next request has come, or if the unit has no end yet */
	probe_client.collects = 1;
	QUERY(3, SYNC, "over 1");
	probe_client.collects = 0;
	QUERY(4, SYNC, "seen");
	EXPECT("DONE/3");
	assert_string_equal(probe_client.msg.as.done.tag.p, "GO ON");
	EXPECT("READY/3 COLUMNS/4 ROWS/4 DONE/4 READY/4");
	QUERY(5, 0, "over 1");
	EXPECT("DONE/5");
	assert_string_equal(probe_client.msg.as.done.tag.p, "GO ON");
	QUERY(6, SYNC, "over 0");
	EXPECT("DONE/6");
	assert_string_equal(probe_client.msg.as.done.tag.p, "OVER");
	EXPECT("READY/6 YIELD/0 END");
	reset_for(pid);
}

/* It must not happen, but a session that is being reset is not for its client any more. */
static void
who_holds_something_when_the_turn_has_ended_is_turned_out(void **state)
{
	pid_t pid;

	probe_start(POOL("mode = transaction\n"));
	probe_accept_login(0);
	probe_attach();
	QUERY(1, SYNC, "pin 1");
	EXPECT("DONE/1 READY/1");
	pid = let_another_wait();
	QUERY(2, SYNC, "over 1");
	EXPECT("DONE/2 READY/2 ERROR/0");
	assert_string_equal(FIELD('C'), "08006");
	EXPECT("END");
	reset_for(pid);
}

/* Then the pool works on the session before the reset. */
static void
a_turn_does_not_end_with_work_to_do(void **state)
{
	probe_start(POOL("mode = transaction\nsession_end = rows 1\n"));
	probe_accept_login(0);
	probe_attach();
	QUERY(1, SYNC, "pin 1");
	EXPECT("DONE/1 READY/1");
	(void)let_another_wait();
	QUERY(2, SYNC, "over 1");
	EXPECT("DONE/2");
	assert_string_equal(probe_client.msg.as.done.tag.p, "GO ON");
	EXPECT("READY/2");
}

static void
an_idle_client_has_what_functions_left_asked_for(void **state)
{
	probe_begin(POOL(""));
	QUERY(1, SYNC, "pin 64");
	EXPECT("DONE/1 READY/1");
	assert_int_equal(probe_client.msg.as.ready.pins, 64);
	assert_non_null(strstr(probe_ask(2, "seen"), "settles=0 "));
	wp_pause_ms(1500);
	assert_non_null(strstr(probe_ask(3, "seen"), "settles=1 "));
	probe_hang_up();
	EXPECT("YIELD/0 END");
	probe_accept_login(0);
}

int
main(void)
{
#define T(f) cmocka_unit_test_teardown(f, probe_teardown)
	const struct CMUnitTest tests[] = {
		T(what_functions_left_is_asked_for_before_a_session_is_kept),
		T(a_turn_ends_if_others_wait),
		T(who_holds_something_when_the_turn_has_ended_is_turned_out),
		T(a_turn_does_not_end_with_work_to_do),
		T(an_idle_client_has_what_functions_left_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
