/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clients die at every point of a session's life, a thousand times. The next one must find a fresh
 * session, and nothing may stay of what was not committed.
 */
#include "support/cnt_client.h"
#include "support/cnt_cmocka.h"
#include "support/cnt_daemon.h"
#include "support/cnt_random.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_DEATHS 1000

/* Each transaction inserts two rows of its client: 0 or 2 of them may be seen, never 1. */
#define INSERT_ONE "insert into work (client, part) values (?, ?)"
#define COUNT_OF   "select count(*) from work where client = ?"
#define MANY_ROWS                                                                        \
	"with recursive n(i) as (values (1) union all select i + 1 from n) "             \
	"select i, hex(zeroblob(500)) from n limit 200000"

struct victim {
	const char *uri;
	int64_t number;
	uint64_t seed;
	void (*die)(cenote_conn *conn, int64_t number);
};

static void
die_now(void)
{
	kill(getpid(), SIGKILL);
	pause();
}

static void
die_before_a_request(cenote_conn *conn, int64_t number)
{
	(void)conn;
	(void)number;
	die_now();
}

/* The request was written, its answer never read. */
static void
die_inside_a_request(cenote_conn *conn, int64_t number)
{
	(void)number;
	if (cenote_set_nonblocking(conn, 1) == CENOTE_OK &&
		cenote_send_query(conn, MANY_ROWS, CENOTE_NTS, NULL, NULL) == CENOTE_OK &&
		cenote_process(conn) >= 0)
		die_now();
}

static void
die_after_a_request(cenote_conn *conn, int64_t number)
{
	cnt_client_exec(conn, "select ?", 1, number, 0);
	die_now();
}

static void
die_in_a_transaction(cenote_conn *conn, int64_t number)
{
	if (cenote_begin(conn, 0, 0) == CENOTE_OK &&
		cnt_client_exec(conn, INSERT_ONE, 2, number, 1) == 0)
		die_now();
}

static void
die_with_unread_rows(cenote_conn *conn, int64_t number)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	cenote_result *res;

	(void)number;
	options.stream = 1;
	if (cenote_query(conn, MANY_ROWS, CENOTE_NTS, NULL, &options, &res) ==
			CENOTE_OK &&
		cenote_result_next(res) == CENOTE_ROW)
		die_now();
}

static void
die_with_a_portal(cenote_conn *conn, int64_t number)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	cenote_result *res;

	(void)number;
	options.stream = 1;
	options.batch_rows = 10;
	if (cenote_query(conn, MANY_ROWS, CENOTE_NTS, NULL, &options, &res) ==
			CENOTE_OK &&
		cenote_result_next(res) == CENOTE_ROW)
		die_now();
}

/* Committed or not: it may be either, but whole. */
static void
die_in_commit(cenote_conn *conn, int64_t number)
{
	if (cenote_begin(conn, 0, 0) != CENOTE_OK ||
		cnt_client_exec(conn, INSERT_ONE, 2, number, 1) < 0 ||
		cnt_client_exec(conn, INSERT_ONE, 2, number, 2) < 0)
		return;
	if (cenote_set_nonblocking(conn, 1) == CENOTE_OK &&
		cenote_send_commit(conn) == CENOTE_OK && cenote_process(conn) >= 0)
		die_now();
}

/* Everything that a session can hold, and a changed setting. */
static void
die_holding_things(cenote_conn *conn, int64_t number)
{
	cnt_client_exec(
		conn, "create temp table mine as select ? as secret", 1, number, 0);
	cnt_client_exec(conn, "pragma case_sensitive_like = on", 0, 0, 0);
	cnt_client_exec(conn, "insert into mine values (?)", 1, number, 0);
	die_in_a_transaction(conn, number);
}

/* Goes on until the parent ends it, at whatever instruction it then is. */
static void
work_until_killed(cenote_conn *conn, int64_t number)
{
	for (;;) {
		if (cenote_begin(conn, 0, CENOTE_BEGIN_IMMEDIATE) != CENOTE_OK ||
			cnt_client_exec(conn, "create temp table mine (a)", 0, 0, 0) <
				0 ||
			cnt_client_exec(conn, INSERT_ONE, 2, number, 1) < 0 ||
			cnt_client_exec(conn, INSERT_ONE, 2, number, 2) < 0 ||
			cnt_client_exec(conn, "select * from work limit 50", 0, 0, 0) < 0)
			return;
		if (cenote_rollback(conn) != CENOTE_OK)
			return;
	}
}

/* In the child. An exit status means that it did not come to its death. */
static int
be_victim(void *arg)
{
	const struct victim *v = arg;
	cenote_conn *conn = cnt_client_open(v->uri, NULL);

	if (!conn)
		return 1;
	v->die(conn, v->number);
	cnt_client_complain(conn, "the victim lives", 0);
	return 1;
}

static const struct death {
	const char *name;
	void (*die)(cenote_conn *conn, int64_t number);
	int is_by_parent;
	int may_commit;
} deaths[] = {
	{ "before a request", die_before_a_request, 0, 0 },
	{ "inside a request", die_inside_a_request, 0, 0 },
	{ "after a request", die_after_a_request, 0, 0 },
	{ "in a transaction", die_in_a_transaction, 0, 0 },
	{ "with unread rows", die_with_unread_rows, 0, 0 },
	{ "with a portal", die_with_a_portal, 0, 0 },
	{ "in commit", die_in_commit, 0, 1 },
	{ "holding things", die_holding_things, 0, 0 },
	{ "anywhere", work_until_killed, 1, 0 },
};
#define N_KINDS (sizeof(deaths) / sizeof(deaths[0]))

static void
kill_one(const char *uri, const struct death *death, int64_t number,
	struct cnt_random *rnd)
{
	struct victim v = { uri, number, 0, death->die };
	pid_t pid = cnt_fork(be_victim, &v);

	assert_true(pid > 0);
	if (death->is_by_parent) {
		cnt_pause_us((long)cnt_random_below(rnd, 6000));
		kill(pid, SIGKILL);
	}
	assert_int_equal(cnt_wait(pid), 256 + SIGKILL);
}

/* What the next client sees, which must be what a new login would. */
static void
check_fresh(const char *uri, const struct death *death, int64_t number)
{
	cenote_conn *conn = cnt_client_open(uri, NULL);
	int64_t n;

	assert_non_null(conn);
	assert_int_equal(cenote_tx_state(conn), CENOTE_TX_IDLE);
	assert_int_equal(cenote_pins(conn), 0);
	n = cnt_client_int(conn, COUNT_OF, 1, number, 0);
	if (n != 0 && !(n == 2 && death->may_commit))
		fail_msg("a client that died %s left %d rows", death->name, (int)n);
	assert_int_equal(
		cnt_client_int(conn, "select count(*) from temp.sqlite_master", 0, 0, 0),
		0);
	assert_int_equal(cnt_client_int(conn, "select 'A' like 'a'", 0, 0, 0), 1);
	assert_int_equal(cnt_client_int(conn,
				 "select changes() + last_insert_rowid() + "
				 "total_changes()",
				 0, 0, 0),
		0);
	/* No lock was left either. */
	assert_ok(cenote_begin(conn, 0, CENOTE_BEGIN_IMMEDIATE));
	assert_ok(cenote_rollback(conn));
	cenote_conn_destroy(conn);
}

static int
start(void **state)
{
	static struct cnt_daemon d;
	cenote_conn *conn;
	int r;

	/* Two sessions, so that a client often gets the one of the dead. */
	if (cnt_daemon_start(&d, CNT_DAEMON_GLOBAL CNT_DAEMON_POOL "sessions = 2..2\n") <
		0)
		return -1;
	*state = &d;
	conn = cnt_client_open(d.uri, NULL);
	r = conn ? cnt_client_exec(conn, "create table work (client, part)", 0, 0, 0)
		 : -1;
	cenote_conn_destroy(conn);
	return r;
}

static int
stop(void **state)
{
	return cnt_daemon_stop(*state);
}

static void
a_thousand_deaths_leave_nothing_behind(void **state)
{
	struct cnt_daemon *d = *state;
	size_t counts[N_KINDS] = { 0 }, k;
	pid_t before[64], after[64];
	size_t n_before = cnt_daemon_children(d, before, 64);
	struct cnt_random rnd;
	int64_t i;

	cnt_random_init_printed(&rnd);
	for (i = 0; i < N_DEATHS; i++) {
		k = i < (int64_t)N_KINDS ? (size_t)i : cnt_random_below(&rnd, N_KINDS);
		counts[k]++;
		kill_one(d->uri, &deaths[k], i, &rnd);
		check_fresh(d->uri, &deaths[k], i);
	}
	for (k = 0; k < N_KINDS; k++)
		printf("# died %s: %zu\n", deaths[k].name, counts[k]);
	/* The workers themselves noticed nothing. */
	assert_int_equal(cnt_daemon_children(d, after, 64), n_before);
	assert_true(cnt_daemon_is_alive(d));
}

static void
what_was_half_done_is_nowhere(void **state)
{
	struct cnt_daemon *d = *state;
	cenote_conn *conn = cnt_client_open(d->uri, NULL);

	assert_non_null(conn);
	assert_int_equal(cnt_client_int(conn,
				 "select count(*) from (select client from work "
				 "group by client having count(*) <> 2)",
				 0, 0, 0),
		0);
	assert_int_equal(
		cnt_client_int(conn, "select count(*) > 0 from work", 0, 0, 0), 1);
	cenote_conn_destroy(conn);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thousand_deaths_leave_nothing_behind),
		cmocka_unit_test(what_was_half_done_is_nowhere),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
