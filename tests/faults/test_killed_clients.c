/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clients die at every point of a session's life, a thousand times. The next client must find a
 * fresh session, and uncommitted work must not stay.
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

/* Each transaction inserts two rows of its client: others may see 0 or 2 of them, never 1. */
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

/* Die after the request was written, without reading its answer. */
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

/* Die in COMMIT: the transaction may be committed or not, but never half. */
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

/* Die with a temporary table, a changed setting and an open transaction. */
static void
die_holding_things(cenote_conn *conn, int64_t number)
{
	cnt_client_exec(
		conn, "create temp table mine as select ? as secret", 1, number, 0);
	cnt_client_exec(conn, "pragma case_sensitive_like = on", 0, 0, 0);
	cnt_client_exec(conn, "insert into mine values (?)", 1, number, 0);
	die_in_a_transaction(conn, number);
}

/* Work until the parent kills the process, at any instruction. */
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

/* Runs in the child. Returns only if the child was not killed. */
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

/* Check that the next client sees what it would see on a new login. */
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
	/* No lock was left. */
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

	/* Two sessions, so that a client often gets the session of the dead client. */
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
	/* No process of cenoted is missing. */
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
