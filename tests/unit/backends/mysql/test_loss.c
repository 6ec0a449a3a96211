/* SPDX-License-Identifier: BSD-2-Clause */
#include "harness.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/cnt_alloc.h"

/* Statements that are stopped, servers that go away, memory that runs out. */

static int64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void
a_statement_is_stopped_and_the_session_lives(void **state)
{
	static const char *const slow[] = { "select sleep(30)",
		"set @a = (select seq from seq_1_to_2 where sleep(30))",
		"select count(*) from seq_1_to_100000000 a, seq_1_to_1000 b",
		"select 1; select sleep(30); select 2" };
	struct my *t = *state;
	int64_t began;
	size_t i;

	for (i = 0; i < CNT_COUNT(slow); i++) {
		began = now_ms();
		t->stop_after_ms = 50;
		(void)my_query(t, slow[i]);
		assert_int_equal(t->base.last, CENOTE_ERR_SERVER);
		assert_contains(
			t->base.seen.log, "error 57014 1317 canceled by the test\n");
		assert_in_range(now_ms() - began, 40, 5000);
		t->stop_after_ms = 0;
		assert_string_equal(my_value(t, "select 5"), "5");
		/* the same as a prepared statement */
		if (i == 3)
			continue;
		t->stop_after_ms = 50;
		t->base.is_extended = 1;
		(void)my_query(t, slow[i]);
		assert_int_equal(t->base.last, CENOTE_ERR_SERVER);
		t->stop_after_ms = 0;
		t->base.is_extended = 0;
		assert_string_equal(my_value(t, "select 5"), "5");
	}
}

static void
rows_are_stopped_while_they_stream(void **state)
{
	struct my *t = *state;
	int extended;

	t->base.count_only = 1;
	for (extended = 0; extended < 2; extended++) {
		t->base.is_extended = (uint8_t)extended;
		t->stop_after_ms = 30;
		(void)my_query(t, "select seq, repeat('x', 500) from seq_1_to_100000000");
		assert_int_equal(t->base.last, CENOTE_ERR_SERVER);
		assert_contains(t->base.seen.log, "error 57014 ");
		assert_true(t->base.seen.n_rows > 0);
		t->stop_after_ms = 0;
	}
	t->base.is_extended = 0;
	t->base.count_only = 0;
	assert_string_equal(my_value(t, "select 5"), "5");
}

static void
a_client_that_goes_away_stops_its_statement(void **state)
{
	struct my *t = *state;
	int64_t began = now_ms();
	char sql[100], count[16];

	t->stop_after_ms = 50;
	t->stop_status = CENOTE_ERR_CONN;
	(void)my_query(t, "select sleep(30)");
	assert_int_equal(t->base.last, CENOTE_ERR_CONN);
	assert_in_range(now_ms() - began, 40, 5000);
	t->stop_after_ms = 0;
	snprintf(sql, sizeof(sql),
		"select count(*) from information_schema.processlist where info like "
		"'select%%sleep(30)'");
	assert_int_equal(cnt_server_ask(&my_server, sql, count, sizeof(count)), 0);
	assert_prefix(count, "0");
}

/* DO ignores errors, so a DO that is stopped succeeds, only sooner. */
static void
what_ends_well_in_spite_of_a_stop_is_told_so(void **state)
{
	struct my *t = *state;
	int64_t began = now_ms();

	t->stop_after_ms = 50;
	assert_contains(my_query(t, "do sleep(30)"), "done");
	assert_in_range(now_ms() - began, 40, 5000);
	t->stop_after_ms = 0;
	assert_string_equal(my_value(t, "select 5"), "5");
}

static int
is_cancelled(const struct cnd_host *host)
{
	const struct my *t = host->user;

	return t->stopped < 0;
}

static int
cancel_at_once(const struct cnd_host *host, int fd, short events, int timeout_ms,
	struct cnc_diag *ret_diag)
{
	struct my *t = host->user;

	cnc_diag_set(ret_diag, "57014", "canceled by the test");
	t->stopped = t->stop_status;
	return t->stopped;
}

/* The cancel may also come first. */
static void
what_fails_by_itself_in_spite_of_a_cancel_says_why(void **state)
{
	struct my *t = *state;
	struct cnd_host usual = t->base.host;
	int n_failed = 0;

	for (int i = 0; i < 200 && n_failed < 5; i++) {
		const char *seen;

		t->base.host.wait = cancel_at_once;
		t->base.host.is_cancelled = is_cancelled;
		seen = my_query(t, "select nothing()");
		assert_int_equal(t->stopped, CENOTE_ERR_SERVER);
		if (strstr(seen, "error 42000 1305 ") != NULL)
			n_failed++;
		else
			assert_contains(seen, "error 57014 1317 ");
		t->base.host = usual;
		assert_string_equal(my_value(t, "select 5"), "5");
	}
	assert_true(n_failed > 0);
}

/* A stop that comes just after the end of a statement must not hit the next statement. */
static void
a_late_stop_hits_nothing(void **state)
{
	struct my *t = *state;
	int i;

	for (i = 0; i < 60; i++) {
		t->stop_after_ms = 1 + i % 4;
		(void)my_query(t, "select sleep(0.002)");
		t->stop_after_ms = 0;
		assert_contains(my_query(t, "select sleep(0.001)"), "row 0\ndone");
		assert_contains(my_query(t, "select 5 as a"), "row 5\ndone");
	}
}

static void
a_file_that_is_not_sent_to_its_end_loads_nothing(void **state)
{
	struct my *t = *state;

	(void)my_query(t, "create or replace table k1 (a int) engine=innodb");
	t->file = NULL;
	assert_prefix(my_query(t, "load data local infile 'x' into table k1"),
		"file x\nerror 57014 ");
	assert_string_equal(my_value(t, "select count(*) from k1"), "0");
	(void)my_query(t, "drop table k1");
}

/* ---- the server goes away ---- */

static void
kill_session(struct my *t)
{
	char sql[64];

	snprintf(sql, sizeof(sql), "kill %s", my_value(t, "select connection_id()"));
	assert_int_equal(cnt_server_sql(&my_server, sql), 0);
	/* wait until the server has closed the connection */
	struct pollfd p = { .fd = t->base.b->fd(t->base.s), .events = POLLIN };
	assert_int_equal(poll(&p, 1, 5000), 1);
}

static void
login_again(struct my *t)
{
	my_logout(t);
	assert_ok(my_login(t));
}

static const char *
do_step(struct my *t, int step)
{
	struct cnc_value v = cnt_int(1);

	switch (step) {
	case 0:
		return my_query(t, "select 1");
	case 1:
		return my_query_with(t, "select ?", &v, 1);
	case 2:
		return my_prepare(t, 7, "select 1");
	case 3:
		return my_execute(t, 1, 0, &v, 1);
	case 4:
		return my_begin(t, CENOTE_ISOLATION_SERIALIZABLE, 0);
	case 5:
		return my_commit(t);
	case 6:
		return my_rollback(t);
	case 7:
		return my_savepoint(t, 0, "s");
	case 8:
		return my_autocommit(t, 0);
	case 9:
		return my_select_database(t, "app2");
	case 10:
		return my_change_user(t, "locked", CNT_SERVER_PASSWORD, "app");
	case 11:
		/* send twice: the first write may still succeed */
		(void)my_long_data(t, 1, 0, "x", 1);
		return my_execute(t, 1, 0, &v, 1);
	case 12:
		return my_query(t, "load data local infile 'x' into table t");
	case 13:
		t->base.last = t->base.b->ping(t->base.s, &t->base.diag);
		return "";
	case 14:
		t->base.last = my_reset(t);
		return "";
	case 15:
		return my_fetch(t, 1, 1000, 0);
	case 16:
		t->base.last = t->base.b->idle(t->base.s, NULL);
		return "";
	default:
		t->base.last = t->base.b->idle(t->base.s, &t->base.seen.sink);
		return "";
	}
}

static void
a_killed_session_is_lost_at_every_step(void **state)
{
	struct my *t = *state;
	int step;

	for (step = 0; step <= 17; step++) {
		login_again(t);
		t->base.portal = 0;
		t->base.batch_rows = 1;
		(void)my_query(t, "select seq from seq_1_to_5000");
		t->base.batch_rows = 0;
		(void)my_prepare(t, 1, "select ?");
		kill_session(t);
		cnc_diag_clear(&t->base.diag);
		(void)do_step(t, step);
		if (t->base.last != CENOTE_ERR_CONN)
			fail_msg("step %d: %d", step, t->base.last);
		if (step != 16 && strncmp(t->base.diag.sqlstate, "08", 2) != 0)
			fail_msg("step %d: %s %s", step, t->base.diag.sqlstate,
				t->base.diag.message);
		/* a lost session stays lost */
		assert_int_equal(
			t->base.b->ping(t->base.s, &t->base.diag), CENOTE_ERR_CONN);
		assert_int_equal(my_reset(t), CENOTE_ERR_CONN);
	}
}

static void
a_server_that_dies_in_a_statement_is_a_lost_session(void **state)
{
	struct my *t = *state;
	pid_t killer;
	int extended;

	for (extended = 0; extended < 2; extended++) {
		login_again(t);
		t->base.is_extended = (uint8_t)extended;
		killer = fork();
		if (killer == 0) {
			struct timespec wait = { 0, 200000000 };

			nanosleep(&wait, NULL);
			kill(my_server.pid, SIGKILL);
			_exit(0);
		}
		(void)my_query(t, "select sleep(20)");
		assert_int_equal(t->base.last, CENOTE_ERR_CONN);
		assert_prefix(t->base.diag.sqlstate, "08");
		my_logout(t);
		assert_int_equal(my_login(t), CENOTE_ERR_CONN);
		cnt_server_kill(&my_server);
		assert_int_equal(cnt_server_run(&my_server), 0);
	}
	t->base.is_extended = 0;
	login_again(t);
	assert_string_equal(my_value(t, "select 5"), "5");
}

static void
a_server_that_shuts_down_says_so(void **state)
{
	struct my *t = *state;
	struct pollfd p = { .events = POLLIN };

	assert_int_equal(cnt_server_shutdown(&my_server), 0);
	p.fd = t->base.b->fd(t->base.s);
	assert_int_equal(poll(&p, 1, 5000), 1);
	assert_int_equal(t->base.b->idle(t->base.s, &t->base.seen.sink), CENOTE_ERR_CONN);
	assert_prefix(t->base.diag.sqlstate, "08");
	my_logout(t);
	assert_int_equal(my_login(t), CENOTE_ERR_CONN);
	assert_contains(t->base.diag.message, my_server.socket);
	assert_int_equal(cnt_server_run(&my_server), 0);
	login_again(t);
}

static void
a_server_that_hangs_does_not_keep_the_client(void **state)
{
	struct my *t = *state;
	int64_t began = now_ms();

	cnt_server_signal(&my_server, SIGSTOP);
	t->stop_after_ms = 100;
	(void)my_query(t, "select 1");
	cnt_server_signal(&my_server, SIGCONT);
	assert_int_equal(t->base.last, CENOTE_ERR_CONN);
	assert_in_range(now_ms() - began, 100, 15000);
	t->stop_after_ms = 0;
	login_again(t);
	assert_string_equal(my_value(t, "select 5"), "5");
}

/* ---- memory ---- */

static int
use_memory(struct my *t)
{
	struct cnc_value v[2] = { cnt_int(1), cnt_text("xyz") };
	int r = my_login(t);

	if (r < 0)
		return r;
	t->base.batch_rows = 1;
	(void)my_query(t, "select 1 as a, 'x' as b union select 2, 'y'");
	r = t->base.last;
	t->base.batch_rows = 0;
	if (r == CENOTE_OK) {
		(void)my_fetch(t, t->base.portal, 0, 1);
		r = t->base.last;
	}
	if (r == CENOTE_OK) {
		(void)my_prepare(t, 1, "select ?, ?");
		r = t->base.last;
	}
	if (r == CENOTE_OK) {
		(void)my_execute(t, 1, 0, v, 2);
		r = t->base.last;
	}
	if (r == CENOTE_OK) {
		(void)my_long_data(t, 1, 1, "x", 1);
		v[1].is_long = 1;
		v[1].bytes = NULL;
		(void)my_execute(t, 1, 0, v, 2);
		r = t->base.last;
	}
	if (r == CENOTE_OK) {
		(void)my_query(t, "set time_zone = '+02:00'");
		r = t->base.last;
	}
	return r == CENOTE_OK ? my_reset(t) : r;
}

static void
every_lack_of_memory_is_told_and_leaves_nothing(void **state)
{
	struct cnt_alloc alloc;
	struct my t;
	size_t i;
	int r, failed;

	for (i = 1;; i++) {
		cnt_alloc_init(&alloc, i);
		my_init(&t);
		my_app(&t);
		t.base.mem = &alloc.mem;
		r = use_memory(&t);
		failed = cnt_alloc_has_failed(&alloc);
		if (!failed)
			assert_ok(r);
		/* the failed allocation did not break the session */
		if (failed && t.base.s && r != CENOTE_ERR_CONN)
			assert_string_equal(my_value(&t, "select 5"), "5");
		my_finish(&t);
		assert_int_equal(cnt_alloc_leaks(&alloc), 0);
		if (!failed)
			break;
		assert_true(r < 0);
	}
	assert_true(i > 10);
}

#define T(name) cmocka_unit_test_setup_teardown(name, my_setup, my_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_statement_is_stopped_and_the_session_lives),
		T(rows_are_stopped_while_they_stream),
		T(a_client_that_goes_away_stops_its_statement),
		T(what_ends_well_in_spite_of_a_stop_is_told_so),
		T(what_fails_by_itself_in_spite_of_a_cancel_says_why),
		T(a_late_stop_hits_nothing),
		T(a_file_that_is_not_sent_to_its_end_loads_nothing),
		T(a_killed_session_is_lost_at_every_step),
		T(a_server_that_hangs_does_not_keep_the_client),
		T(a_server_that_dies_in_a_statement_is_a_lost_session),
		T(a_server_that_shuts_down_says_so),
		cmocka_unit_test(every_lack_of_memory_is_told_and_leaves_nothing),
	};

	return my_main(tests, CNT_COUNT(tests), "mysql_loss", 0);
}
