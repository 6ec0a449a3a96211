/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_server_kill postgresql|mariadb
 *
 * The database server dies under a request: a statement, a statement in a transaction, COMMIT. What
 * clients are told is true, to the last commit. test_server_loss.c tests what happens to the pool's
 * sessions.
 */
#include "support/cnt_client.h"
#include "support/cnt_cmocka.h"
#include "support/cnt_daemon.h"
#include "support/cnt_server.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BACK_MS 20000

static enum cnt_server_kind kind;
static struct cnt_server server;
static struct cnt_daemon daemon_;

static int
start_daemon(void)
{
	char conf[2048];

	return cnt_daemon_start(&daemon_,
		cnt_server_config(&server, "sessions = 5..5\n", conf, sizeof(conf)));
}

static int
setup(void **state)
{
	/* An acknowledged commit has to outlive the server's processes. */
	const char *durable = kind == CNT_POSTGRESQL
				      ? "synchronous_commit = on\n"
				      : "innodb_flush_log_at_trx_commit = 1\n";

	if (cnt_server_create(&server, kind, 0) < 0 ||
		cnt_server_configure(&server, durable) < 0 || cnt_server_run(&server) < 0)
		return -1;
	if (cnt_server_sql(
		    &server, "create table work (n bigint primary key, who int);") < 0 ||
		cnt_server_sql(&server,
			kind == CNT_POSTGRESQL ? "grant all on work to public" : "do 0") <
			0)
		return -1;
	return start_daemon();
}

static int
teardown(void **state)
{
	int r;

	r = cnt_daemon_stop(&daemon_);
	cnt_server_stop(&server);
	return r;
}

static int64_t
count_on_server(const char *where)
{
	char sql[128], text[64];

	snprintf(sql, sizeof(sql), "select count(*) from work %s", where);
	assert_int_equal(cnt_server_ask(&server, sql, text, sizeof(text)), 0);
	return strtoll(text, NULL, 10);
}

static cenote_conn *
open_pool(void)
{
	cenote_conn *conn = cnt_client_open(daemon_.uri, NULL);

	assert_non_null(conn);
	return conn;
}

/* Wait until the pool lends sessions that work. */
static void
await_pool(void)
{
	const char *const options[] = { "connect_timeout", "20s", NULL };
	int64_t until = cnt_now_ms() + BACK_MS;
	cenote_conn *conn;
	int works = 0;

	while (!works && cnt_now_ms() < until) {
		conn = cnt_client_open(daemon_.uri, options);
		works = conn != NULL && cnt_client_try(conn, "select 1") == CENOTE_OK;
		cenote_conn_destroy(conn);
		if (!works)
			cnt_pause_ms(50);
	}
	assert_true(works);
}

static void
restart_server(void)
{
	assert_int_equal(cnt_server_run(&server), 0);
	await_pool();
}

static char told[1024];

static void
remember(const cenote_diag *diag, char *ret_state)
{
	snprintf(ret_state, 6, "%s", cenote_diag_sqlstate(diag));
	snprintf(told, sizeof(told), "%s", cenote_diag_message(diag));
}

/* Stop the server, and wait a little: its threads stop one after the other. */
static void
stop_server(void)
{
	cnt_server_signal(&server, SIGSTOP);
	cnt_pause_ms(300);
}

/* Bring the server and the pool back, however the last test ended. */
static int
make_ready(void **state)
{
	if (cnt_server_is_alive(&server))
		cnt_server_signal(&server, SIGCONT);
	else if (cnt_server_run(&server) < 0)
		return -1;
	await_pool();
	return 0;
}

/* ----------------------------------------------------------------- in a request ----- */

static const char *
slow_read(void)
{
	return kind == CNT_POSTGRESQL ? "select pg_sleep(30)" : "select sleep(30)";
}

/* Begin a request, and give the server time to begin it. */
static void
begin_request(cenote_conn *conn, const char *sql)
{
	assert_ok(cenote_send_query(conn, sql, CENOTE_NTS, NULL, NULL));
	assert_true(cenote_process(conn) >= 0);
	cnt_pause_ms(200);
}

/* Check the SQLSTATE that the request ends with, and keep the message in `told`. */
static void
assert_ends_with(cenote_conn *conn, const char *wanted)
{
	char state[6] = "";
	cenote_result *res;
	int r;

	while ((r = cenote_get_result(conn, &res)) == CENOTE_OK) {
		if (cenote_result_kind(res) == CENOTE_RESULT_ERROR)
			remember(cenote_result_diag(res), state);
		cenote_result_destroy(res);
	}
	if (r < 0)
		remember(cenote_conn_diag(conn), state);
	if (strcmp(state, wanted) != 0)
		fail_msg("\"%s\" instead of %s: %s", state, wanted, told);
}

static void
lose_in(const char *before, const char *sql, const char *wanted)
{
	cenote_conn *conn = open_pool();

	if (before != NULL)
		assert_ok(cnt_client_try(conn, before));
	begin_request(conn, sql);
	cnt_server_kill(&server);
	assert_ends_with(conn, wanted);
	cenote_conn_destroy(conn);
	restart_server();
}

/* Outside a transaction, a lost statement may have had an effect, even a SELECT with a function. In
 * a transaction, it has none without COMMIT. */
static void
a_loss_in_a_statement_is_told_for_what_it_may_have_done(void **state)
{
	const char *write = kind == CNT_POSTGRESQL
				    ? "insert into work select 1, 0 from pg_sleep(30)"
				    : "insert into work select 1, sleep(30)";

	lose_in(NULL, slow_read(), "08007");
	lose_in(NULL, write, "08007");
	lose_in("begin", write, "08006");
}

static void
the_servers_words_are_told(void **state)
{
	cenote_conn *conn = open_pool();

	begin_request(conn, slow_read());
	assert_int_equal(
		cnt_server_sql(&server, kind == CNT_POSTGRESQL
						? "select pg_terminate_backend(pid) from "
						  "pg_stat_activity where usename = 'app'"
						: "kill user app@localhost"),
		0);
	assert_ends_with(conn, "08007");
	if (kind == CNT_POSTGRESQL &&
		!strstr(told, "terminating connection due to administrator command"))
		fail_msg("the server's words are not in: %s", told);
	cenote_conn_destroy(conn);
	await_pool();
}

/* ------------------------------------------------------------- in a transaction ----- */

static void
begin_work(cenote_conn *conn, const char *insert)
{
	assert_ok(cenote_begin(conn, 0, 0));
	assert_ok(cnt_client_try(conn, insert));
}

static void
a_loss_in_a_transaction_is_told(void **state)
{
	cenote_conn *conn = open_pool();

	begin_work(conn, "insert into work values (1, 0)");
	cnt_server_kill(&server);
	assert_ok(cenote_send_query(
		conn, "insert into work values (2, 0)", CENOTE_NTS, NULL, NULL));
	assert_ends_with(conn, "08006");
	/* The handle works again once the server does. */
	restart_server();
	cenote_close(conn);
	assert_ok(cenote_connect(conn));
	assert_int_equal(cnt_client_int(conn, "select count(*) from work", 0, 0, 0), 0);
	cenote_conn_destroy(conn);
}

/* The server may have got the COMMIT, but dies before it can answer. */
static void
a_loss_in_commit_is_unknown(void **state)
{
	cenote_conn *conn = open_pool();

	begin_work(conn, "insert into work values (3, 0)");
	stop_server();
	assert_ok(cenote_send_commit(conn));
	assert_true(cenote_process(conn) >= 0);
	cnt_pause_ms(200);
	cnt_server_kill(&server);
	assert_ends_with(conn, "08007");
	cenote_conn_destroy(conn);
	restart_server();
	assert_int_equal(cnt_server_sql(&server, "delete from work"), 0);
}

/* ------------------------------------------------------------------ a hanging server ----- */

static void
a_server_that_hangs_is_waited_for(void **state)
{
	const char *const options[] = { "query_timeout", "1s", NULL };
	cenote_conn *conn = cnt_client_open(daemon_.uri, options);

	assert_non_null(conn);
	stop_server();
	assert_int_equal(cnt_client_try(conn, "select 1"), CENOTE_ERR_TIMEOUT);
	cnt_server_signal(&server, SIGCONT);
	cenote_conn_destroy(conn);
	await_pool();
}

/* ------------------------------------------------------------------ counting commits ----- */

#define N_WRITERS 3
#define N_LOSSES  3

/* What a writer knows about one insert. The writer puts it into a file that the parent reads. */
enum outcome {
	OUTCOME_NONE,
	OUTCOME_DONE,
	OUTCOME_FAILED,
	OUTCOME_UNKNOWN
};

struct writer {
	int number;
	int out; /* file of outcomes, one byte for each insert */
	const char *stop; /* path of a file whose existence ends the writers */
};

static enum outcome
write_one(cenote_conn *conn, int who, int n)
{
	char sql[96];
	int r;

	snprintf(sql, sizeof(sql), "insert into work values (%d, %d)", who * 1000000 + n,
		who);
	r = cenote_begin(conn, 0, 0);
	if (r == CENOTE_OK)
		r = cnt_client_try(conn, sql);
	if (r != CENOTE_OK)
		/* Without a COMMIT nothing is stored, whatever happened. */
		return OUTCOME_FAILED;
	r = cenote_commit(conn);
	if (r == CENOTE_OK)
		return OUTCOME_DONE;
	return strcmp(cnt_client_state(conn), "08007") == 0 ? OUTCOME_UNKNOWN
							    : OUTCOME_FAILED;
}

static int
be_writer(void *arg)
{
	const struct writer *w = arg;
	const char *const options[] = { "connect_timeout", "20s", NULL };
	cenote_conn *conn;
	int n;

	/* on a busy machine, the server may be gone before the writer connects */
	while ((conn = cnt_client_open(daemon_.uri, options)) == NULL &&
		access(w->stop, F_OK) != 0)
		cnt_pause_ms(20);
	for (n = 0; conn != NULL && n < 100000 && access(w->stop, F_OK) != 0; n++) {
		char outcome = (char)write_one(conn, w->number, n);

		if (write(w->out, &outcome, 1) != 1)
			return 1;
		if (outcome == OUTCOME_DONE)
			continue;
		cenote_close(conn);
		while (cenote_connect(conn) != CENOTE_OK && access(w->stop, F_OK) != 0)
			cnt_pause_ms(20);
	}
	cenote_conn_destroy(conn);
	return 0;
}

static void
check_writer(const struct writer *w, int64_t *n_done)
{
	char outcome, where[64];
	int n;

	assert_int_equal(lseek(w->out, 0, SEEK_SET), 0);
	for (n = 0; read(w->out, &outcome, 1) == 1; n++) {
		int64_t is_there;

		/* Do not ask for each of these, since each question starts the command line client.
		 * The caller compares the total. */
		if (outcome == OUTCOME_DONE) {
			(*n_done)++;
			continue;
		}
		snprintf(where, sizeof(where), "where n = %d", w->number * 1000000 + n);
		is_there = count_on_server(where);
		if (outcome == OUTCOME_FAILED)
			assert_int_equal(is_there, 0);
		*n_done += is_there;
	}
}

/* The server has every commit that was acknowledged, and none that was reported as failed. */
static void
no_acknowledged_commit_is_lost(void **state)
{
	struct writer writers[N_WRITERS];
	char stop[CNT_PATH_MAX + 16];
	pid_t pids[N_WRITERS];
	int64_t n_done = 0;
	int i;

	assert_int_equal(cnt_server_sql(&server, "delete from work"), 0);
	snprintf(stop, sizeof(stop), "%s/stop", daemon_.dir);
	for (i = 0; i < N_WRITERS; i++) {
		FILE *f = tmpfile();

		assert_non_null(f);
		writers[i] = (struct writer){ i + 1, fileno(f), stop };
		pids[i] = cnt_fork(be_writer, &writers[i]);
	}
	for (i = 0; i < N_LOSSES; i++) {
		cnt_pause_ms(700);
		cnt_server_kill(&server);
		cnt_pause_ms(500);
		assert_int_equal(cnt_server_run(&server), 0);
	}
	await_pool();
	cnt_pause_ms(500);
	fclose(fopen(stop, "we"));
	for (i = 0; i < N_WRITERS; i++)
		assert_int_equal(cnt_wait(pids[i]), 0);
	unlink(stop);
	for (i = 0; i < N_WRITERS; i++)
		check_writer(&writers[i], &n_done);
	assert_true(n_done > 0);
	assert_int_equal(count_on_server(""), n_done);
	print_message("# %lld commits\n", (long long)n_done);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
			a_loss_in_a_statement_is_told_for_what_it_may_have_done,
			make_ready),
		cmocka_unit_test_setup(the_servers_words_are_told, make_ready),
		cmocka_unit_test_setup(a_loss_in_a_transaction_is_told, make_ready),
		cmocka_unit_test_setup(a_loss_in_commit_is_unknown, make_ready),
		cmocka_unit_test_setup(a_server_that_hangs_is_waited_for, make_ready),
		cmocka_unit_test_setup(no_acknowledged_commit_is_lost, make_ready),
	};

	kind = argc > 1 && strcmp(argv[1], "mariadb") == 0 ? CNT_MARIADB : CNT_POSTGRESQL;
	cnt_server_need(kind);
	return cmocka_run_group_tests(tests, setup, teardown);
}
