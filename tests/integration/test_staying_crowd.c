/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many clients that stay connected without a session (docs/protocol.md, "Staying"), at work while the
 * configuration, the processes and the daemon change, while others cancel, and beside clients that send
 * what they must not.
 */
#include "turns.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/cnt_client.h"
#include "support/cnt_raw.h"

/* ---- many clients at work ---- */

/* Processes that work until they are told to stop. */
struct crew {
	pid_t pids[16];
	size_t n;
	int stop;
};

static void
begin_crew(struct crew *c, size_t n, int (*work)(void *arg))
{
	int ends[2];

	assert_true(n <= CNT_COUNT(c->pids));
	assert_int_equal(pipe(ends), 0);
	for (c->n = 0; c->n < n; c->n++)
		c->pids[c->n] = wp_fork(work, NULL, ends[0]);
	close(ends[0]);
	c->stop = ends[1];
}

static void
end_crew(struct crew *c)
{
	close(c->stop);
	for (size_t i = 0; i < c->n; i++)
		assert_int_equal(wp_join(c->pids[i]), 0);
}

/* In such a process: whether to stop. */
static int
is_over(void)
{
	struct pollfd stop = { .fd = WP_KEPT, .events = POLLIN };

	return poll(&stop, 1, 0) > 0;
}

/* Each request must be answered, and carried out exactly once: the table has a primary key. */
static int
ask_and_write(void *arg)
{
	cenote_conn *conn = cnt_client_open(wp_daemon.uri, NULL);
	int r = conn != NULL ? 0 : 1;

	(void)arg;
	for (int64_t i = 0; r == 0 && !is_over(); i++) {
		if (cnt_client_int(conn, "select $1::int8", 1, i, 0) != i)
			r = 2;
		else if (cnt_client_exec(conn, "insert into canary values ($1, $2)", 2,
				 getpid(), i) < 0)
			r = 3;
	}
	cenote_conn_destroy(conn);
	return r;
}

static void
make_canary(void)
{
	assert_int_equal(
		cnt_server_sql(&turns_server,
			"create table canary (who int8, n int8, primary key (who, n));"
			"grant all on canary to app"),
		0);
}

/* Nothing that was acknowledged is missing. */
static void
drop_canary(size_t n_clients)
{
	char text[64], wanted[64];

	assert_int_equal(cnt_server_ask(&turns_server,
				 "select count(*), bool_and(n = m + 1) from (select "
				 "count(*) as n, max(n) as m from canary group by who) x",
				 text, sizeof(text)),
		0);
	snprintf(wanted, sizeof(wanted), "%zu|t", n_clients);
	assert_string_equal(text, wanted);
	assert_int_equal(cnt_server_sql(&turns_server, "drop table canary"), 0);
}

/* Clients get sessions of another process now. */
static pid_t
await_other_worker(pid_t old)
{
	int64_t until = wp_now_ms() + 60000;
	pid_t pid;

	while ((pid = wp_worker_of(NULL)) == old && wp_now_ms() < until)
		wp_pause_ms(20);
	assert_int_not_equal(pid, old);
	return pid;
}

static void
nobody_notices_a_reload_or_the_end_of_a_process(void **state)
{
	enum {
		N_CREW = 6,
		N_IDLE = 4
	};
	cenote_conn *idle[N_IDLE];
	char lines[128];
	struct crew crew;
	pid_t pid;

	make_canary();
	turns_start("sessions = 2\n" TURNS_POOL);
	turns_attach(idle, N_IDLE);
	begin_crew(&crew, N_CREW, ask_and_write);
	pid = wp_worker_of(NULL);
	for (int i = 0; i < 6; i++) {
		turns_take(idle, N_IDLE, 1);
		if (i % 2 == 0) {
			snprintf(lines, sizeof(lines),
				"sessions = 2\nquery_timeout = %ds\n" TURNS_POOL,
				300 + i);
			assert_int_equal(
				cnt_daemon_configure(&wp_daemon, turns_config(lines)), 0);
			assert_int_equal(kill(wp_daemon.pid, SIGHUP), 0);
		} else {
			assert_int_equal(kill(pid, SIGTERM), 0);
		}
		pid = await_other_worker(pid);
		turns_take(idle, N_IDLE, 1);
	}
	end_crew(&crew);
	turns_destroy(idle, N_IDLE);
	drop_canary(N_CREW);
}

/* A client holds a session of each process in turn, and others stay there. */
static void
clients_work_on_in_several_processes(void **state)
{
	enum {
		N_CREW = 6,
		N_IDLE = 4
	};
	cenote_conn *idle[N_IDLE];
	struct crew crew;

	make_canary();
	turns_start("sessions = 4\nworkers = 2\n" TURNS_POOL);
	turns_attach(idle, N_IDLE);
	begin_crew(&crew, N_CREW, ask_and_write);
	for (int i = 0; i < 12; i++) {
		wp_exec(idle[i % N_IDLE], "begin");
		wp_pause_ms(100);
		turns_take(idle, N_IDLE, 2);
		wp_exec(idle[i % N_IDLE], "commit");
	}
	assert_int_equal(wp_pool_number("main", "timeouts"), 0);
	end_crew(&crew);
	turns_destroy(idle, N_IDLE);
	drop_canary(N_CREW);
}

/* One row. 1: acknowledged; 0: nobody knows, or it was not; negative: an error that must not be. */
static int
try_to_write(cenote_conn *conn, int64_t number)
{
	char sql[96];
	int r;

	snprintf(sql, sizeof(sql), "insert into canary values (%d, %lld)", (int)getpid(),
		(long long)number);
	r = cnt_client_try(conn, sql);
	if (r == CENOTE_OK)
		return 1;
	if (strncmp(cnt_client_state(conn), "08", 2) == 0 &&
		cenote_connect(conn) == CENOTE_OK)
		return 0;
	cnt_client_complain(conn, sql, r);
	return -1;
}

/* What was acknowledged is there, and nothing is there twice: the table has a primary key. */
static int
write_on_after_losses(void *arg)
{
	cenote_conn *conn = cnt_client_open(wp_daemon.uri, NULL);
	int64_t n_done = 0, n_unknown = 0, n;
	int r = conn != NULL ? 0 : -1;

	(void)arg;
	for (int64_t i = 0; r >= 0 && !is_over(); i++) {
		r = try_to_write(conn, i);
		n_done += r == 1;
		n_unknown += r == 0;
	}
	n = r >= 0 ? cnt_client_int(conn, "select count(*) from canary where who = $1", 1,
			     getpid(), 0)
		   : -1;
	cenote_conn_destroy(conn);
	return n >= n_done && n <= n_done + n_unknown && n_done > 0 ? 0 : 1;
}

static void
kills_lose_nothing_that_was_acknowledged(void **state)
{
	struct crew crew;
	pid_t pid = 0;

	make_canary();
	turns_start("sessions = 2\n" TURNS_POOL);
	begin_crew(&crew, 8, write_on_after_losses);
	for (int i = 0; i < 5; i++) {
		pid = await_other_worker(pid);
		wp_pause_ms(200);
		assert_int_equal(kill(pid, SIGKILL), 0);
	}
	(void)await_other_worker(pid);
	wp_pause_ms(200);
	end_crew(&crew);
	assert_int_equal(cnt_server_sql(&turns_server, "drop table canary"), 0);
}

static void
nobody_notices_that_another_cenoted_takes_over(void **state)
{
	enum {
		N_CREW = 4,
		N_IDLE = 4
	};
	cenote_conn *idle[N_IDLE];
	struct cnt_daemon next;
	struct crew crew;
	int status;

	make_canary();
	turns_start("sessions = 2\n" TURNS_POOL);
	turns_attach(idle, N_IDLE);
	turns_take(idle, N_IDLE, 1);
	begin_crew(&crew, N_CREW, ask_and_write);
	wp_pause_ms(300);
	next = wp_daemon;
	assert_int_equal(kill(wp_daemon.pid, SIGTERM), 0);
	assert_int_equal(cnt_daemon_run(&next), 0);
	assert_int_equal(waitpid(wp_daemon.pid, &status, 0), wp_daemon.pid);
	assert_int_equal(status, 0);
	wp_daemon = next;
	turns_take(idle, N_IDLE, 2);
	wp_pause_ms(300);
	end_crew(&crew);
	turns_destroy(idle, N_IDLE);
	drop_canary(N_CREW);
}

/* ---- cancelling ---- */

static int
ask(void *arg)
{
	cenote_conn *conn = cnt_client_open(wp_daemon.uri, NULL);
	int r = conn != NULL ? 0 : 1;

	(void)arg;
	for (int64_t i = 0; r == 0 && !is_over(); i++)
		r = cnt_client_int(
			    conn, "select $1::int8 from pg_sleep(0.002)", 1, i, 0) != i;
	cenote_conn_destroy(conn);
	return r;
}

/* A query that is cancelled. `former` is the cancel of an earlier one. */
static int
cancel_one(cenote_conn *conn, cenote_cancel *cancel, cenote_cancel *former)
{
	cenote_result *res;
	int r, kind;

	if (cenote_send_query(conn, "select pg_sleep(600)", CENOTE_NTS, NULL, NULL) !=
		CENOTE_OK)
		return 2;
	cenote_cancel_follow(cancel, conn);
	if (former != NULL && cenote_cancel_send(former) != CENOTE_DONE)
		return 3;
	/* it may not run yet */
	while ((r = cenote_cancel_send(cancel)) == CENOTE_DONE)
		wp_pause_ms(1);
	if (r != CENOTE_OK || cenote_get_result(conn, &res) != CENOTE_OK)
		return 4;
	kind = cenote_result_kind(res);
	r = kind == CENOTE_RESULT_ERROR &&
	    strcmp(cenote_diag_sqlstate(cenote_result_diag(res)), "57014") == 0;
	cenote_result_destroy(res);
	if (!r || cenote_get_result(conn, &res) != CENOTE_DONE)
		return 5;
	/* the same session, or another one: nothing of this client runs there */
	return cenote_cancel_send(cancel) == CENOTE_DONE ? 0 : 6;
}

static int
cancel_own(void *arg)
{
	cenote_conn *conn = cnt_client_open(wp_daemon.uri, NULL);
	int r = conn != NULL ? 0 : 1;

	(void)arg;
	while (r == 0 && !is_over()) {
		cenote_cancel *former, *cancel;

		r = cnt_client_int(conn, "select 7", 0, 0, 0) != 7;
		if (r != 0 || cenote_cancel_create(conn, &former) != CENOTE_OK)
			break;
		if (cenote_cancel_create(conn, &cancel) != CENOTE_OK)
			break;
		r = cancel_one(conn, cancel, former);
		cenote_cancel_destroy(former);
		cenote_cancel_destroy(cancel);
	}
	if (r != 0)
		cnt_client_complain(conn, "cancelling", r);
	cenote_conn_destroy(conn);
	return r;
}

static void
a_cancel_never_hits_another_client(void **state)
{
	struct crew asking, cancelling;

	turns_start("sessions = 2\n" TURNS_POOL);
	begin_crew(&asking, 4, ask);
	begin_crew(&cancelling, 3, cancel_own);
	wp_pause_ms(3000);
	end_crew(&cancelling);
	end_crew(&asking);
}

/* ---- hostile bytes ---- */

/* What a client sends while it stays, and what it gets. */
struct trick {
	const char *what;
	const char *answer;
	uint8_t bytes[32];
	size_t n;
	size_t n_more; /* then so many zeros */
};

/* The head of a frame: its length, code, flags, and number. */
#define LEN(n)                                                                           \
	(uint8_t)((n)&255), (uint8_t)((n) >> 8 & 255), (uint8_t)((n) >> 16 & 255),       \
		(uint8_t)((n) >> 24 & 255)
#define HEAD(n, code, number) LEN(n), code, 0, 0, 0, LEN(number)

static const struct trick tricks[] = {
	{ "garbage", "ERROR/0 END", { 255, 255, 255, 255, 255, 255, 255, 255 }, 8, 64 },
	{ "a huge frame", "ERROR/0 END", { HEAD(0xfffffff0u, CNP_MSG_QUERY, 2) }, 12, 0 },
	{ "half a head", "YIELD/0 END", { 100, 0, 0, 0, CNP_MSG_QUERY }, 5, 0 },
	{ "half an ATTACH", "YIELD/0 END", { HEAD(63, CNP_MSG_ATTACH, 0) }, 12, 30 },
	{ "a long ATTACH", "ERROR/0 END", { HEAD(100000, CNP_MSG_ATTACH, 0) }, 12, 0 },
	{ "an ATTACH with a number", "ERROR/0 END", { HEAD(63, CNP_MSG_ATTACH, 5) }, 12,
		63 },
	{ "an ATTACH without flags", "ERROR/0 END", { HEAD(63, CNP_MSG_ATTACH, 0) }, 12,
		63 },
	{ "a message of the pool", "ERROR/0 END", { HEAD(16, CNP_MSG_READY, 0) }, 12,
		16 },
	{ "AUTH", "ERROR/0 END", { HEAD(16, CNP_MSG_AUTH, 0) }, 12, 16 },
};

/* The pool may close the connection after the first of them. */
static void
send_bytes(struct cnt_raw *c, const void *bytes, size_t n)
{
	if (n > 0)
		(void)send(c->fd, bytes, n, MSG_NOSIGNAL);
}

/* A client by hand that stays: its session went to the others. On a busy machine its first query may come too late, after the
 * session was taken back already. Then it begins anew. */
static void
open_staying(struct cnt_raw *c, cenote_conn **others, size_t n)
{
	int64_t until = wp_now_ms() + 20000;
	int r;

	do {
		assert_int_equal(cnt_raw_open_staying(c, wp_daemon.run_dir, "main"), 0);
		cnt_raw_query(c, 1, CNP_FRAME_SYNC, "select 1");
		r = cnt_raw_expect(c, "COLUMNS/1");
		if (r < 0 && c->msg.code == CNP_MSG_YIELD)
			cnt_raw_close(c);
	} while (r < 0 && c->msg.code == CNP_MSG_YIELD && wp_now_ms() < until);
	assert_int_equal(r, 0);
	assert_int_equal(cnt_raw_expect(c, "ROWS/1 DONE/1 READY/1"), 0);
	turns_take(others, n, 1);
	assert_int_equal(cnt_raw_expect(c, "YIELD/0"), 0);
	assert_int_equal(c->msg.as.yield.reason, CNP_YIELD_STAY);
	assert_int_equal(c->msg.as.yield.last, 1);
}

static void
hostile_bytes_end_their_own_connection_only(void **state)
{
	static const uint8_t zeros[100000];
	cenote_conn *others[2];
	struct cnt_raw c;
	pid_t pid;

	turns_start("sessions = 1\n" TURNS_POOL);
	turns_attach(others, 2);
	pid = wp_worker_pid(others[0]);
	for (size_t i = 0; i < CNT_COUNT(tricks); i++) {
		const struct trick *t = &tricks[i];

		open_staying(&c, others, 2);
		send_bytes(&c, t->bytes, t->n);
		send_bytes(&c, zeros, t->n_more);
		turns_take(others, 2, 3);
		if (cnt_raw_expect(&c, t->answer) < 0)
			fail_msg("after %s", t->what);
		turns_take(others, 2, 1);
		cnt_raw_close(&c);
	}
	assert_int_equal(wp_worker_pid(others[0]), pid);
	turns_destroy(others, 2);
}

static void
frames_behind_the_attach_are_answered_and_those_before_are_not(void **state)
{
	static const uint8_t half[] = { HEAD(5000, CNP_MSG_QUERY, 4), 0, 0 };
	static const uint8_t zeros[4998];
	struct cnp_msg attach = { .code = CNP_MSG_ATTACH };
	cenote_conn *others[2];
	struct cnt_raw c;

	turns_start("sessions = 1\n" TURNS_POOL);
	turns_attach(others, 2);
	attach.as.attach.flags = CNP_ATTACH_AGAIN | CNP_ATTACH_STAYS;
	for (int i = 0; i < 3; i++) {
		open_staying(&c, others, 2);
		cnt_raw_query(&c, 2, CNP_FRAME_SYNC, "select 'not now'");
		cnt_raw_query(&c, 3, CNP_FRAME_SYNC, "select 'not now'");
		send_bytes(&c, half, sizeof(half));
		/* no session waits for what it does next */
		turns_take(others, 2, 1);
		wp_pause_ms(i * 200);
		turns_take(others, 2, 1);
		send_bytes(&c, zeros, sizeof(zeros));
		cnt_raw_send(&c, 0, 0, &attach);
		cnt_raw_query(&c, 2, CNP_FRAME_SYNC, "select 'now'");
		assert_int_equal(cnt_raw_expect(&c, "ATTACHED/0 READY/0 COLUMNS/2 ROWS/2 "
						    "DONE/2 READY/2"),
			0);
		turns_take(others, 2, 2);
		assert_int_equal(cnt_raw_expect(&c, "YIELD/0"), 0);
		/* it goes without a word, or half-way */
		if (i == 1)
			shutdown(c.fd, SHUT_WR);
		cnt_raw_close(&c);
	}
	turns_take(others, 2, 2);
	turns_destroy(others, 2);
}

#define TEST(name) cmocka_unit_test_teardown(name, wp_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nobody_notices_a_reload_or_the_end_of_a_process),
		TEST(clients_work_on_in_several_processes),
		TEST(kills_lose_nothing_that_was_acknowledged),
		TEST(nobody_notices_that_another_cenoted_takes_over),
		TEST(a_cancel_never_hits_another_client),
		TEST(hostile_bytes_end_their_own_connection_only),
		TEST(frames_behind_the_attach_are_answered_and_those_before_are_not),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, turns_setup, turns_teardown);
}
