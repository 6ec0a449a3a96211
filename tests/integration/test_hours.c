/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hours of users (allow_hours). A user who comes at another time is refused. A user who is connected when the hours end may
 * finish the open transaction. tests/unit/cenoted/test_hours.c tests how lines are read, and clocks that change.
 */
#include "with_pool.h"

#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define POOL WP_POOL("sessions = 1..4\n%s")

/* The time in UTC, that many seconds from now. */
static const struct tm *
utc(int seconds)
{
	static struct tm tm;
	time_t t = time(NULL) + seconds;

	assert_non_null(gmtime_r(&t, &tm));
	return &tm;
}

static const char *
closed_today(char *line, size_t size)
{
	char day[8];

	assert_true(strftime(day, sizeof(day), "%a", utc(2 * 86400)) > 0);
	snprintf(line, size, "allow_hours = %s 10:00-11:00 UTC\n", day);
	return line;
}

static void
start(const char *lines)
{
	char config[4096];

	snprintf(config, sizeof(config), POOL, lines);
	wp_start(config);
}

static const char *
my_name(void)
{
	const struct passwd *pw = getpwuid(geteuid());

	assert_non_null(pw);
	return pw->pw_name;
}

static void
expect_refused(const char *message)
{
	cenote_conn *conn;

	assert_true(wp_try(NULL, &conn) < 0);
	assert_string_equal(wp_sqlstate(conn), "08004");
	if (strstr(wp_message(conn), message) == NULL)
		fail_msg("%s", wp_message(conn));
	cenote_conn_destroy(conn);
}

static void
a_user_who_comes_at_another_time_is_told_when_to_come(void **state)
{
	char line[128], when[64];

	start(closed_today(line, sizeof(line)));
	assert_true(strftime(when, sizeof(when), "in before %a %Y-%m-%d 10:00 UTC",
			    utc(2 * 86400)) > 0);
	expect_refused(when);
	wp_await_log("came outside of allow_hours");
}

static void
lines_for_a_user_count_for_that_user(void **state)
{
	char closed[128], lines[512];

	closed_today(closed, sizeof(closed));
	snprintf(lines, sizeof(lines), "%sallow_hours = user=%s 00:00-24:00 UTC\n",
		closed, my_name());
	start(lines);
	cenote_conn_destroy(wp_attach(NULL));
	assert_int_equal(wp_teardown(state), 0);
	snprintf(lines, sizeof(lines), "allow_hours = user=%s %s", my_name(),
		closed + strlen("allow_hours = "));
	start(lines);
	expect_refused(my_name());
}

static void
a_reload_changes_the_hours(void **state)
{
	char line[128], config[4096];
	cenote_conn *conn = NULL;
	int64_t until;
	int r = -1;

	start(closed_today(line, sizeof(line)));
	expect_refused("does not let user");
	snprintf(config, sizeof(config), POOL, "allow_hours = mon-sun\n");
	assert_int_equal(cnt_daemon_configure(&wp_daemon, config), 0);
	assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
	wp_await_log("reloaded");
	for (until = wp_now_ms() + 20000; r < 0 && wp_now_ms() < until;) {
		r = wp_try(NULL, &conn);
		cenote_conn_destroy(conn);
		wp_pause_ms(10);
	}
	assert_ok(r);
}

/* Wait until nobody is let in. */
static void
await_the_end(void)
{
	int64_t until = wp_now_ms() + 20000;
	cenote_conn *conn;

	while (wp_try(NULL, &conn) >= 0) {
		cenote_conn_destroy(conn);
		assert_true(wp_now_ms() < until);
		wp_pause_ms(20);
	}
	cenote_conn_destroy(conn);
	wp_pause_ms(2 * WP_CLOCK_MS);
}

static void
a_user_who_is_connected_may_finish_the_transaction(void **state)
{
	char from[16], to[16], line[128];
	cenote_conn *idle, *open, *pinned;

	assert_true(strftime(from, sizeof(from), "%H:%M:%S", utc(-3600)) > 0);
	assert_true(strftime(to, sizeof(to), "%H:%M:%S", utc(6)) > 0);
	snprintf(line, sizeof(line), "allow_hours = %s-%s UTC\n", from, to);
	start(line);
	idle = wp_attach(NULL);
	open = wp_attach(NULL);
	wp_exec(open, "create table t (a int)");
	wp_exec(open, "begin");
	wp_exec(open, "insert into t values (1)");
	pinned = wp_attach(NULL);
	wp_exec(pinned, "create temp table x (a int)");
	await_the_end();
	assert_string_equal(wp_value(open, "select count(*) from t"), "1");
	wp_exec(open, "commit");
	/* clients that hold nothing are refused when they need a session again */
	assert_true(wp_status_of(open, "select 1") < 0);
	assert_string_equal(wp_sqlstate(open), "08004");
	assert_true(wp_status_of(idle, "select 1") < 0);
	assert_string_equal(wp_sqlstate(idle), "08004");
	/* this client held a temporary table, and has lost its session */
	assert_true(wp_status_of(pinned, "select 1") < 0);
	assert_string_equal(wp_sqlstate(pinned), "57P01");
	assert_non_null(strstr(wp_message(pinned), "has ended (allow_hours)"));
	cenote_conn_destroy(idle);
	cenote_conn_destroy(open);
	cenote_conn_destroy(pinned);
	expect_refused("does not let user");
}

#define TEST(f) cmocka_unit_test_teardown(f, wp_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_user_who_comes_at_another_time_is_told_when_to_come),
		TEST(lines_for_a_user_count_for_that_user),
		TEST(a_reload_changes_the_hours),
		TEST(a_user_who_is_connected_may_finish_the_transaction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
