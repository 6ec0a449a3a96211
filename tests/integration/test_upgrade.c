/* SPDX-License-Identifier: BSD-2-Clause */
/* cenotectl upgrade: a new cenoted takes the sockets of a running one, and clients notice nothing. */
#include "turns.h"
#include "with_tls.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* On a busy machine, a client may take long to move. */
#define PATIENT "drain_timeout = 10min\n"

/* ---- the upgrade ---- */

/* Run cenotectl upgrade. Returns its exit status; `said` gets what it printed. */
static int
upgrade(char *said, size_t size)
{
	char line[512];
	int status;
	size_t n;
	FILE *f;

	snprintf(line, sizeof(line), "%s -r %s upgrade 2>&1", CNT_CENOTECTL_PATH,
		wp_daemon.run_dir);
	f = popen(line, "r");
	assert_non_null(f);
	n = fread(said, 1, size - 1, f);
	said[n] = '\0';
	status = pclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The process id of the new cenoted. The test adopts it once the old one has ended. */
static pid_t
expect_upgrade(void)
{
	char said[1024];
	int r = upgrade(said, sizeof(said));
	int pid = 0;

	if (r != 0)
		fail_msg("status %d: %s", r, said);
	assert_int_equal(sscanf(said, "process %d serves now", &pid), 1);
	assert_true(pid > 0 && pid != wp_daemon.pid);
	return (pid_t)pid;
}

static void
await_end_of_old(pid_t new)
{
	int64_t until = wp_now_ms() + 60000;
	int status = -1;
	pid_t r;

	while ((r = waitpid(wp_daemon.pid, &status, WNOHANG)) == 0 && wp_now_ms() < until)
		wp_pause_ms(5);
	assert_int_equal(r, wp_daemon.pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	wp_daemon.pid = new;
}

/* ---- clients ---- */

/* A client works until it is told to stop. The first failure is kept. */
struct client {
	pthread_t thread;
	cenote_conn *(*make)(void); /* a handle, not connected */
	bool comes_and_goes; /* connects for each transaction */
	_Atomic int n;
	char error[512];
};

static atomic_bool is_over;
static int port;

static cenote_conn *
make_local(void)
{
	return wp_handle(NULL);
}

static cenote_conn *
make_remote(void)
{
	return wt_joe(port, NULL, "disable");
}

static cenote_conn *
make_secure(void)
{
	return wt_joe(port, NULL, "require");
}

static int
run(cenote_conn *conn, const char *sql)
{
	cenote_result *res = NULL;
	int r = cenote_query(conn, sql, CENOTE_NTS, NULL, NULL, &res);

	if (r == CENOTE_OK && cenote_result_kind(res) == CENOTE_RESULT_ERROR)
		r = CENOTE_ERR_SERVER;
	cenote_result_destroy(res);
	return r;
}

static int
transact(struct client *c, cenote_conn *conn)
{
	char sql[96];
	int r = c->comes_and_goes ? cenote_connect(conn) : CENOTE_OK;

	snprintf(sql, sizeof(sql), "insert into ledger values (%d, %d)",
		(int)(c->make == make_local), c->n);
	if (r == CENOTE_OK)
		r = run(conn, "begin");
	if (r == CENOTE_OK)
		r = run(conn, sql);
	if (r == CENOTE_OK)
		r = run(conn, "commit");
	if (r == CENOTE_OK && c->comes_and_goes)
		cenote_close(conn);
	return r;
}

static void *
work(void *arg)
{
	struct client *c = arg;
	cenote_conn *conn = c->make();
	int r = c->comes_and_goes ? CENOTE_OK : cenote_connect(conn);

	while (r == CENOTE_OK && !is_over) {
		r = transact(c, conn);
		c->n += r == CENOTE_OK;
	}
	if (r != CENOTE_OK)
		snprintf(c->error, sizeof(c->error), "%s: %s", cenote_status_name(r),
			wp_message(conn));
	cenote_conn_destroy(conn);
	return NULL;
}

static void
start_clients(struct client *clients, size_t n)
{
	is_over = false;
	for (size_t i = 0; i < n; i++)
		assert_int_equal(
			pthread_create(&clients[i].thread, NULL, work, &clients[i]), 0);
}

/* Wait until each client has committed this many more transactions. */
static void
await_progress(struct client *clients, size_t n, int more)
{
	int64_t until = wp_now_ms() + 60000;

	for (size_t i = 0; i < n; i++) {
		int wanted = clients[i].n + more;

		while (clients[i].n < wanted && clients[i].error[0] == '\0' &&
			wp_now_ms() < until)
			wp_pause_ms(2);
		if (clients[i].n < wanted)
			fail_msg("client %zu: %d of %d: %s", i, clients[i].n, wanted,
				clients[i].error);
	}
}

/* All that they committed is there, and none has failed. */
static void
end_clients(struct client *clients, size_t n)
{
	char wanted[32];
	int sum = 0;

	is_over = true;
	for (size_t i = 0; i < n; i++) {
		pthread_join(clients[i].thread, NULL);
		assert_string_equal(clients[i].error, "");
		sum += clients[i].n;
	}
	snprintf(wanted, sizeof(wanted), "%d", sum);
	turns_await_server("select count(*) from ledger", wanted);
}

static void
start_with_port(const char *lines)
{
	char all[1024], line[64];

	port = cnt_server_free_port();
	snprintf(line, sizeof(line), "listen = 127.0.0.1:%d\n" PATIENT, port);
	snprintf(all, sizeof(all),
		"%sauth = trust door=tcp, trust\ntls_cert = @DIR@/certs/pool.crt\n"
		"tls_key = @DIR@/certs/server.key\n",
		lines);
	setenv("CNT_DAEMON_LINES", line, 1);
	wt_start(turns_config(all), "server.crt");
	unsetenv("CNT_DAEMON_LINES");
	wp_await_log("ready: ");
}

static void
clients_notice_nothing(const char *lines)
{
	struct client clients[] = {
		{ .make = make_local },
		{ .make = make_local },
		{ .make = make_local },
		{ .make = make_local, .comes_and_goes = true },
		{ .make = make_local, .comes_and_goes = true },
		{ .make = make_remote },
		{ .make = make_remote, .comes_and_goes = true },
		{ .make = make_secure },
		{ .make = make_secure, .comes_and_goes = true },
	};
	cenote_conn *conn;

	start_with_port(lines);
	conn = wp_attach(NULL);
	wp_exec(conn, "drop table if exists ledger");
	wp_exec(conn, "create table ledger (a int, b int)");
	cenote_conn_destroy(conn);
	start_clients(clients, CNT_COUNT(clients));
	for (int i = 0; i < 3; i++) {
		pid_t new;

		await_progress(clients, CNT_COUNT(clients), 20);
		new = expect_upgrade();
		await_end_of_old(new);
	}
	await_progress(clients, CNT_COUNT(clients), 20);
	end_clients(clients, CNT_COUNT(clients));
}

static void
clients_of_few_sessions_notice_nothing(void **state)
{
	clients_notice_nothing("sessions = 3\n" TURNS_POOL);
}

static void
clients_in_mode_session_notice_nothing(void **state)
{
	clients_notice_nothing("sessions = 1..12\nqueue_timeout = 60s\n");
}

/* ---- what stays with the old one ---- */

static void
who_holds_something_stays_with_the_old_one(void **state)
{
	cenote_conn *holder, *other;
	pid_t new;

	setenv("CNT_DAEMON_LINES", PATIENT, 1);
	turns_start("sessions = 1\n" TURNS_POOL);
	unsetenv("CNT_DAEMON_LINES");
	wp_await_log("ready: ");
	holder = wp_attach(NULL);
	wp_exec(holder, "begin");
	wp_exec(holder, "create temp table mine (a int) on commit drop");
	new = expect_upgrade();
	other = wp_attach(NULL);
	assert_string_equal(wp_value(other, "select 1"), "1");
	wp_pause_ms(700);
	assert_int_equal(waitpid(wp_daemon.pid, NULL, WNOHANG), 0);
	assert_string_equal(wp_value(holder, "select count(*) from mine"), "0");
	wp_exec(holder, "commit");
	await_end_of_old(new);
	assert_string_equal(wp_value(holder, "select 2"), "2");
	cenote_conn_destroy(holder);
	cenote_conn_destroy(other);
}

/* ---- what fails changes nothing ---- */

static void
expect_failure(const char *why)
{
	char said[1024];

	assert_int_equal(upgrade(said, sizeof(said)), 1);
	if (strstr(said, why) == NULL)
		fail_msg("\"%s\" is not in: %s", why, said);
}

static void
a_new_cenoted_that_does_not_start_changes_nothing(void **state)
{
	char line[512];
	cenote_conn *conn;

	turns_start("sessions = 1\n" TURNS_POOL);
	wp_await_log("ready: ");
	conn = wp_attach(NULL);
	snprintf(line, sizeof(line), "%s -r %s pause main >/dev/null", CNT_CENOTECTL_PATH,
		wp_daemon.run_dir);
	assert_int_equal(system(line), 0);
	expect_failure("a pool is paused: resume it first");
	snprintf(line, sizeof(line), "%s -r %s resume main >/dev/null",
		CNT_CENOTECTL_PATH, wp_daemon.run_dir);
	assert_int_equal(system(line), 0);
	assert_int_equal(
		cnt_daemon_configure(&wp_daemon, turns_config("sessions = nine\n")), 0);
	expect_failure("the new cenoted did not start: see the log; this one goes on");
	assert_string_equal(wp_value(conn, "select 1"), "1");
	cenote_conn_destroy(conn);
	conn = wp_attach(NULL);
	assert_int_equal(cnt_daemon_is_alive(&wp_daemon), 1);
	cenote_conn_destroy(conn);
}

/* The new configuration has another pool, and no longer this one. */
static void
pools_may_change(void **state)
{
	char config[4096];
	cenote_conn *conn;
	pid_t new;

	turns_start("sessions = 1\n" TURNS_POOL);
	wp_await_log("ready: ");
	snprintf(config, sizeof(config), "%s", turns_config("sessions = 2\n" TURNS_POOL));
	memcpy(strstr(config, "[pool main]"), "[pool next]", 11);
	assert_int_equal(cnt_daemon_configure(&wp_daemon, config), 0);
	new = expect_upgrade();
	await_end_of_old(new);
	conn = wp_attach("next");
	assert_string_equal(wp_value(conn, "select 1"), "1");
	cenote_conn_destroy(conn);
	assert_int_not_equal(wp_try("main", &conn), CENOTE_OK);
	cenote_conn_destroy(conn);
	assert_true(wp_log_has("main.sock any more"));
}

static int
setup(void **state)
{
	/* the new cenoted is a child of the old one, which ends */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return -1;
	return wt_make_certs(state) < 0 ? -1 : turns_setup(state);
}

static int
teardown(void **state)
{
	(void)turns_teardown(state);
	return wt_remove_certs(state);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(
			clients_of_few_sessions_notice_nothing, wp_teardown),
		cmocka_unit_test_teardown(
			clients_in_mode_session_notice_nothing, wp_teardown),
		cmocka_unit_test_teardown(
			who_holds_something_stays_with_the_old_one, wp_teardown),
		cmocka_unit_test_teardown(
			a_new_cenoted_that_does_not_start_changes_nothing, wp_teardown),
		cmocka_unit_test_teardown(pools_may_change, wp_teardown),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, setup, teardown);
}
