/* SPDX-License-Identifier: BSD-2-Clause */
/* Time limits, cancelling, suspending, and readers that do not read. */
#include "with_pool.h"

#include "support/cnt_raw.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Runs until it is stopped. */
#define ENDLESS                                                                          \
	"with recursive c(x) as (select 1 union all select x + 1 from c) "               \
	"select count(*) from c"
#define MANY_ROWS                                                                        \
	"with recursive c(x) as (select 1 union all select x + 1 from c limit 3000000) " \
	"select x, 'row ' || x || ' with some text to make it longer' from c"

static void
a_query_past_its_time_is_stopped_and_the_session_lives(void **state)
{
	cenote_conn *a;
	int64_t begun;

	wp_start(WP_POOL("sessions = 1\nquery_timeout = 1s\n"));
	a = wp_attach(NULL);
	begun = wp_now_ms();
	assert_int_equal(wp_status_of(a, ENDLESS), CENOTE_ERR_SERVER);
	assert_in_range(wp_now_ms() - begun, 1000 - WP_CLOCK_MS, 15000);
	assert_string_equal(wp_sqlstate(a), "57014");
	assert_non_null(strstr(wp_message(a), "query_timeout"));
	assert_string_equal(wp_value(a, "select 1"), "1");
	assert_string_equal(cenote_info(a, "attaches"), "1");
	cenote_conn_destroy(a);
}

static void
an_idle_client_that_holds_nothing_notices_nothing(void **state)
{
	cenote_conn *a;

	wp_start(WP_POOL("sessions = 1\nidle_client_timeout = 2s\n"));
	a = wp_attach(NULL);
	assert_string_equal(wp_value(a, "select 1"), "1");
	wp_await("main", "yields", 1);
	wp_await("main", "idle", 1);
	assert_string_equal(wp_value(a, "select 2"), "2");
	assert_string_equal(cenote_info(a, "attaches"), "2");
	cenote_conn_destroy(a);
}

static void
an_idle_client_that_holds_something_is_cut_off(void **state)
{
	cenote_conn *a;
	cenote_conn *b;

	wp_start(WP_POOL("sessions = 1\nidle_client_timeout = 2s\n"));
	a = wp_attach(NULL);
	wp_exec(a, "create table t(a)");
	wp_exec(a, "begin");
	wp_exec(a, "insert into t values (1)");
	wp_await("main", "idle", 1);
	assert_int_equal(wp_status_of(a, "commit"), CENOTE_ERR_CONN);
	b = wp_attach(NULL);
	assert_string_equal(wp_value(b, "select count(*) from t"), "0");
	cenote_conn_destroy(a);
	cenote_conn_destroy(b);
}

/* Another client has no transaction open. It sends nothing for as long, and keeps its session. */
static void
who_idles_in_a_transaction_is_cut_off(void **state)
{
	cenote_conn *a;
	cenote_conn *b;

	wp_start(WP_POOL("sessions = 2\nidle_transaction_timeout = 2s\n"));
	a = wp_attach(NULL);
	b = wp_attach(NULL);
	wp_exec(a, "create table t(a)");
	/* together longer than the limit, which counts from the last statement */
	wp_exec(a, "begin");
	for (int i = 0; i < 5; i++) {
		wp_exec(a, "insert into t values (1)");
		wp_pause_ms(500);
	}
	wp_exec(a, "rollback");
	wp_exec(a, "begin");
	wp_exec(a, "insert into t values (1)");
	wp_await("main", "idle", 1);
	assert_int_equal(wp_status_of(a, "commit"), CENOTE_ERR_CONN);
	assert_string_equal(wp_sqlstate(a), "25P03");
	assert_non_null(strstr(wp_message(a), "idle_transaction_timeout"));
	assert_string_equal(wp_value(b, "select count(*) from t"), "0");
	assert_string_equal(cenote_info(b, "attaches"), "1");
	cenote_conn_destroy(a);
	cenote_conn_destroy(b);
}

/* A client with this name. The pool has auth = trust. */
static cenote_conn *
attach_as(const char *user)
{
	cenote_conn *conn = wp_handle(NULL);

	assert_ok(cenote_conn_set(conn, "user", user));
	assert_ok(cenote_connect(conn));
	return conn;
}

static void
expect_query_timeout(const char *user, int64_t ms)
{
	cenote_conn *conn = attach_as(user);
	int64_t begun = wp_now_ms();

	assert_int_equal(wp_status_of(conn, ENDLESS), CENOTE_ERR_SERVER);
	assert_in_range(wp_now_ms() - begun, ms - WP_CLOCK_MS, 15000);
	assert_string_equal(wp_sqlstate(conn), "57014");
	cenote_conn_destroy(conn);
}

static void
a_user_has_a_query_timeout_of_its_own(void **state)
{
	wp_start(WP_POOL("sessions = 1\nauth = trust\nquery_timeout = 60s\n"
			 "user_limits = ann query_timeout=1500ms\n"
			 "user_limits = * query_timeout=500ms\n"));
	expect_query_timeout("joe", 500);
	expect_query_timeout("ann", 1500);
	/* the pool has only one session, so the limit must change with its user */
	expect_query_timeout("joe", 500);
}

/* The first four logins happen at once, and the other eight take two seconds. */
static void
logins_keep_to_their_rate(void **state)
{
	int64_t begun;

	begun = wp_now_ms();
	wp_start(WP_POOL("sessions = 12..12\nlogin_rate = 4/s\n"));
	wp_await("main", "idle", 12);
	assert_in_range(wp_now_ms() - begun, 2000 - WP_CLOCK_MS, 15000);
}

/* The session of the first client ends when the client parts, and the next login has to wait for a minute. */
static void
a_login_that_waits_for_its_turn_is_no_failure(void **state)
{
	cenote_conn *a;

	wp_start(WP_POOL("sessions = 1\nlogin_rate = 1/min\nreset = reconnect\n"
			 "queue_timeout = 1s\n"));
	a = wp_attach(NULL);
	cenote_conn_destroy(a);
	assert_int_equal(wp_try(NULL, &a), CENOTE_ERR_CONN);
	assert_string_equal(wp_sqlstate(a), "57P03");
	assert_non_null(strstr(wp_message(a), "no free session in 1s"));
	assert_int_equal(wp_pool_number("main", "failed_logins"), 0);
	cenote_conn_destroy(a);
}

static void
a_long_session_is_ended_but_not_a_clean_one(void **state)
{
	cenote_conn *a;
	cenote_conn *b;
	int64_t begun;

	wp_start(WP_POOL("sessions = 2\nsession_timeout = 200ms\n"));
	a = wp_attach(NULL);
	b = wp_attach(NULL);
	wp_exec(a, "create temp table t(a)");
	for (begun = wp_now_ms(); wp_now_ms() - begun < 400;)
		assert_string_equal(wp_value(b, "select 1"), "1");
	assert_string_not_equal(cenote_info(b, "attaches"), "1");
	assert_int_equal(wp_status_of(a, "select 1"), CENOTE_ERR_CONN);
	cenote_conn_destroy(a);
	cenote_conn_destroy(b);
}

static void *
cancel_soon(void *arg)
{
	static int status;

	wp_pause_ms(150);
	status = cenote_cancel_send(arg);
	return &status;
}

static void
a_cancel_hits_the_running_query_of_its_session_only(void **state)
{
	cenote_conn *a;
	cenote_cancel *cancel;
	cenote_result *res;
	pthread_t thread;
	void *status;

	wp_start(WP_POOL("sessions = 1\n"));
	a = wp_attach(NULL);
	assert_ok(cenote_send_query(a, ENDLESS, CENOTE_NTS, NULL, NULL));
	assert_ok(cenote_cancel_create(a, &cancel));
	assert_int_equal(pthread_create(&thread, NULL, cancel_soon, cancel), 0);
	assert_ok(cenote_get_result(a, &res));
	assert_int_equal(cenote_result_kind(res), CENOTE_RESULT_ERROR);
	assert_string_equal(cenote_diag_sqlstate(cenote_result_diag(res)), "57014");
	cenote_result_destroy(res);
	assert_int_equal(pthread_join(thread, &status), 0);
	assert_ok(*(int *)status);
	assert_int_equal(cenote_get_result(a, &res), CENOTE_DONE);
	/* the same cancel once more: that request is over, the next one is not touched */
	assert_string_equal(wp_value(a, "select 1"), "1");
	assert_int_equal(cenote_cancel_send(cancel), CENOTE_DONE);
	assert_string_equal(wp_value(a, "select 2"), "2");
	cenote_conn_destroy(a);
	/* the cancel does not touch the next client of the same session either */
	wp_await("main", "idle", 1);
	a = wp_attach(NULL);
	assert_int_equal(cenote_cancel_send(cancel), CENOTE_DONE);
	assert_string_equal(wp_value(a, "select 3"), "3");
	cenote_cancel_destroy(cancel);
	cenote_conn_destroy(a);
}

static int
resume_and_commit_on(cenote_conn *conn, const char *token)
{
	cenote_result *res = NULL;

	if (cenote_resume(conn, token, &res) != CENOTE_OK || res != NULL)
		return 1;
	if (cenote_tx_state(conn) != CENOTE_TX_OPEN)
		return 2;
	if (wp_status_of(conn, "insert into t values (2)") != CENOTE_OK ||
		wp_status_of(conn, "commit") != CENOTE_OK)
		return 3;
	return 0;
}

static int
resume_and_commit(void *arg)
{
	cenote_conn *conn = wp_handle(NULL);
	int r = resume_and_commit_on(conn, arg);

	cenote_conn_destroy(conn);
	return r;
}

static void
a_suspended_session_is_resumed_by_another_process(void **state)
{
	char token[CENOTE_TOKEN_SIZE];
	cenote_conn *a;
	cenote_conn *b;

	wp_start(WP_POOL("sessions = 2\n"));
	a = wp_attach(NULL);
	wp_exec(a, "create table t(a)");
	wp_exec(a, "begin");
	wp_exec(a, "insert into t values (1)");
	assert_ok(cenote_suspend(a, NULL, 0, token));
	assert_int_equal(wp_pool_number("main", "suspended"), 1);
	b = wp_attach(NULL);
	assert_string_equal(wp_value(b, "select count(*) from t"), "0");
	assert_int_equal(wp_join(wp_fork(resume_and_commit, token, -1)), 0);
	assert_string_equal(wp_value(b, "select count(*) from t"), "2");
	/* a token works only once */
	assert_int_equal(wp_join(wp_fork(resume_and_commit, token, -1)), 1);
	cenote_conn_destroy(a);
	cenote_conn_destroy(b);
}

static void
a_row_beyond_max_row_is_refused(void **state)
{
	cenote_conn *a;

	wp_start(WP_POOL("sessions = 1\nmax_row = 64kB\n"));
	a = wp_attach(NULL);
	wp_exec(a, "begin");
	assert_int_equal(wp_status_of(a, "select zeroblob(100000)"), CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(a), "54000");
	assert_string_equal(
		wp_message(a), "a row is longer than pool main allows: max_row = 64kB");
	/* also after shorter rows */
	assert_int_equal(
		wp_status_of(
			a, "select zeroblob(60000) union all select zeroblob(100000)"),
		CENOTE_ERR_SERVER);
	wp_exec(a, "select zeroblob(60000) union all select zeroblob(60001) union all "
		   "select zeroblob(65000)");
	wp_exec(a, "commit");
	cenote_conn_destroy(a);
}

#define N_RESUMING 6

/* Wait until the other end of the pipe is closed, then resume. */
static int
resume_at_once(void *token)
{
	cenote_conn *conn = wp_handle(NULL);
	cenote_result *res;
	char byte;
	int status;

	if (read(WP_KEPT, &byte, 1) < 0)
		return 3;
	status = cenote_resume(conn, token, &res);
	/* the other clients come while this one has the session */
	if (status == CENOTE_OK)
		wp_pause_ms(20);
	if (status != CENOTE_OK && status != CENOTE_ERR_AUTH)
		fprintf(stderr, "# %s: %s\n", cenote_status_name(status),
			wp_message(conn));
	cenote_conn_destroy(conn);
	return status == CENOTE_OK ? 0 : status == CENOTE_ERR_AUTH ? 1 : 2;
}

/* One client resumes the session, and each of the others gets an error that says so. */
static void
who_resumes_too_late_is_refused_and_not_hung_up_on(void **state)
{
	char token[CENOTE_TOKEN_SIZE];
	pid_t pids[N_RESUMING];
	cenote_conn *a;
	int fds[2];

	wp_start(WP_POOL("sessions = 1\n"));
	for (int round = 0; round < 10; round++) {
		int n[3] = { 0 };

		a = wp_attach(NULL);
		assert_ok(cenote_suspend(a, NULL, 0, token));
		assert_int_equal(pipe(fds), 0);
		for (int i = 0; i < N_RESUMING; i++)
			pids[i] = wp_fork(resume_at_once, token, fds[0]);
		close(fds[0]);
		close(fds[1]);
		for (int i = 0; i < N_RESUMING; i++) {
			int status = wp_join(pids[i]);

			assert_in_range(status, 0, 1);
			n[status]++;
		}
		assert_int_equal(n[0], 1);
		cenote_conn_destroy(a);
	}
}

static void
a_session_is_resumed_while_all_others_are_taken(void **state)
{
	char token[CENOTE_TOKEN_SIZE];
	cenote_conn *a;
	cenote_conn *held;

	wp_start(WP_POOL("sessions = 2\n"));
	a = wp_attach(NULL);
	held = wp_attach(NULL);
	wp_exec(a, "create table t(a)");
	wp_exec(a, "begin");
	assert_ok(cenote_suspend(a, NULL, 0, token));
	/* only the door can let the client in */
	assert_int_equal(wp_join(wp_fork(resume_and_commit, token, -1)), 0);
	cenote_conn_destroy(a);
	cenote_conn_destroy(held);
}

static void
a_suspended_session_has_a_time_limit(void **state)
{
	char token[CENOTE_TOKEN_SIZE];
	cenote_conn *a;
	cenote_result *res;

	wp_start(WP_POOL("sessions = 1\nsuspend_timeout = 150ms\n"));
	a = wp_attach(NULL);
	wp_exec(a, "create table t(a)");
	wp_exec(a, "begin");
	wp_exec(a, "insert into t values (1)");
	assert_ok(cenote_suspend(a, NULL, 60000, token));
	wp_await("main", "idle", 1);
	assert_int_equal(cenote_resume(a, token, &res), CENOTE_ERR_AUTH);
	assert_string_equal(wp_sqlstate(a), "28000");
	cenote_conn_destroy(a);
	a = wp_attach(NULL);
	assert_string_equal(wp_value(a, "select count(*) from t"), "0");
	cenote_conn_destroy(a);
}

static void
a_pool_may_refuse_to_suspend(void **state)
{
	char token[CENOTE_TOKEN_SIZE];
	cenote_conn *a;

	wp_start(WP_POOL("sessions = 1\nsuspend_timeout = 0\n"));
	a = wp_attach(NULL);
	assert_true(cenote_suspend(a, NULL, 0, token) < 0);
	assert_string_equal(wp_sqlstate(a), "0A000");
	assert_string_equal(wp_value(a, "select 1"), "1");
	cenote_conn_destroy(a);
}

static long
resident_kb(pid_t pid)
{
	char path[64];
	char line[128];
	long kb = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, "VmRSS:", 6) == 0)
			kb = strtol(line + 6, NULL, 10);
	}
	fclose(f);
	return kb;
}

static void
a_client_that_does_not_read_costs_no_memory(void **state)
{
	cenote_conn *a;
	pid_t worker;
	long before;

	wp_start(WP_POOL("sessions = 1\n"));
	a = wp_attach(NULL);
	worker = wp_worker_pid(a);
	before = resident_kb(worker);
	assert_ok(cenote_send_query(a, MANY_ROWS, CENOTE_NTS, NULL, NULL));
	assert_true(cenote_process(a) >= 0);
	wp_pause_ms(300);
	assert_in_range(resident_kb(worker) - before, 0, 8192);
	/* the worker notices at once that the client has gone, in the middle of the result */
	cenote_conn_destroy(a);
	wp_await("main", "idle", 1);
	a = wp_attach(NULL);
	assert_string_equal(wp_value(a, "select 1"), "1");
	cenote_conn_destroy(a);
}

static void
a_client_that_goes_stops_its_query(void **state)
{
	cenote_conn *a;
	int64_t begun;

	wp_start(WP_POOL("sessions = 1\n"));
	a = wp_attach(NULL);
	assert_ok(cenote_send_query(a, ENDLESS, CENOTE_NTS, NULL, NULL));
	assert_true(cenote_process(a) >= 0);
	wp_pause_ms(100);
	begun = wp_now_ms();
	cenote_conn_destroy(a);
	a = wp_attach(NULL);
	assert_in_range(wp_now_ms() - begun, 0, 15000);
	cenote_conn_destroy(a);
}

static void
a_slow_reader_gets_every_row(void **state)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	cenote_result *res;
	cenote_conn *a;
	uint64_t n = 0;
	int r;

	wp_start(WP_POOL("sessions = 1\n"));
	a = wp_attach(NULL);
	options.stream = 1;
	assert_ok(cenote_query(a,
		"with recursive c(x) as (select 1 union all select x + 1 "
		"from c limit 100000) select x, 'some text' from c",
		CENOTE_NTS, NULL, &options, &res));
	while ((r = cenote_result_next(res)) == CENOTE_ROW) {
		for (uint64_t i = 0; i < cenote_result_n_rows(res); i++) {
			int64_t x = 0;

			assert_ok(cenote_result_int64(res, i, 0, &x));
			assert_int_equal(x, n + i + 1);
		}
		n += cenote_result_n_rows(res);
		if (n < 20000)
			wp_pause_ms(5);
	}
	assert_int_equal(r, CENOTE_DONE);
	assert_int_equal(n, 100000);
	cenote_result_destroy(res);
	cenote_conn_destroy(a);
}

/* Start a daemon with small socket buffers, and a status that does not fit in them. */
static void
start_with_long_status(const char *lines)
{
	const char *had = getenv("ASAN_OPTIONS");
	char options[1024], config[16384];
	size_t n = (size_t)snprintf(
		config, sizeof(config), CNT_DAEMON_GLOBAL CNT_DAEMON_POOL "%s", lines);

	for (int i = 0; i < 100; i++)
		n += (size_t)snprintf(config + n, sizeof(config) - n,
			"[pool not-a-short-name-%d]\nbackend = sqlite\n"
			"server = path=@DIR@/main.db\nsessions = 0..1\n",
			i);
	assert_true(n < sizeof(config));
	snprintf(options, sizeof(options), "%s:verify_asan_link_order=0", had ? had : "");
	setenv("LD_PRELOAD", CNT_SMALL_BUFFERS, 1);
	setenv("ASAN_OPTIONS", options, 1);
	wp_start(config);
	unsetenv("LD_PRELOAD");
}

/* Connect and ask for the status. Returns the socket. */
static int
ask_for_status(void)
{
	struct cnp_opening o = { .version_min = 1,
		.version_max = 1,
		.kind = CNP_OPEN_STATUS,
		.pool = "main" };
	struct cnp_msg m = { .code = CNP_MSG_STATUS };
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct cnc_buf out;

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%.80s/main.sock", wp_daemon.run_dir);
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	m.as.status.what = cnp_str("pools");
	cnc_buf_init(&out, &cnc_mem_default, 4096);
	assert_int_equal(cnp_opening_encode(&out, &o), 0);
	assert_int_equal(cnp_frame_put(&out, 0, 0, &m), 0);
	assert_int_equal(send(fd, cnc_buf_head(&out), cnc_buf_len(&out), MSG_NOSIGNAL),
		cnc_buf_len(&out));
	cnc_buf_finish(&out);
	return fd;
}

static void
one_who_does_not_read_the_status_keeps_no_worker(void **state)
{
	cenote_conn *a;
	int fd;

	start_with_long_status("sessions = 1\nauth_timeout = 2s\nqueue_timeout = 15s\n");
	wp_await("main", "idle", 1);
	fd = ask_for_status();
	/* once its answer begins to come, this client has the worker */
	assert_int_equal(recv(fd, (char[1]){ 0 }, 1, MSG_PEEK), 1);
	a = wp_attach(NULL);
	assert_string_equal(wp_value(a, "select 1"), "1");
	cenote_conn_destroy(a);
	close(fd);
}

static void
one_who_does_not_read_its_last_words_keeps_no_worker(void **state)
{
	struct cnp_msg m = { .code = CNP_MSG_QUERY };
	struct cnt_raw c;
	cenote_conn *a;

	start_with_long_status("sessions = 1\nauth_timeout = 2s\nqueue_timeout = 15s\n");
	assert_int_equal(cnt_raw_open(&c, wp_daemon.run_dir, "main", NULL), 0);
	/* an answer that does not fit in the socket's buffer, and a request with the same number,
	 * which ends the conversation */
	m.as.query.sql = cnp_str("select hex(zeroblob(5000))");
	assert_int_equal(cnp_frame_put(&c.out, CNP_FRAME_SYNC, 1, &m), 0);
	cnt_raw_query(&c, 1, CNP_FRAME_SYNC, "the same number again");
	a = wp_attach(NULL);
	assert_string_equal(wp_value(a, "select 1"), "1");
	cenote_conn_destroy(a);
	cnt_raw_close(&c);
}

#define TEST(name) cmocka_unit_test_teardown(name, wp_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_query_past_its_time_is_stopped_and_the_session_lives),
		TEST(an_idle_client_that_holds_nothing_notices_nothing),
		TEST(an_idle_client_that_holds_something_is_cut_off),
		TEST(who_idles_in_a_transaction_is_cut_off),
		TEST(a_user_has_a_query_timeout_of_its_own),
		TEST(logins_keep_to_their_rate),
		TEST(a_login_that_waits_for_its_turn_is_no_failure),
		TEST(a_long_session_is_ended_but_not_a_clean_one),
		TEST(a_cancel_hits_the_running_query_of_its_session_only),
		TEST(a_suspended_session_is_resumed_by_another_process),
		TEST(a_row_beyond_max_row_is_refused),
		TEST(who_resumes_too_late_is_refused_and_not_hung_up_on),
		TEST(a_session_is_resumed_while_all_others_are_taken),
		TEST(a_suspended_session_has_a_time_limit),
		TEST(a_pool_may_refuse_to_suspend),
		TEST(a_client_that_does_not_read_costs_no_memory),
		TEST(a_client_that_goes_stops_its_query),
		TEST(a_slow_reader_gets_every_row),
		TEST(one_who_does_not_read_the_status_keeps_no_worker),
		TEST(one_who_does_not_read_its_last_words_keeps_no_worker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
