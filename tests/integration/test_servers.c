/* SPDX-License-Identifier: BSD-2-Clause */
/* A worker and its session: which server it chooses, how it resets the session, what the session
 * holds, and how much memory it keeps. */
#include "with_pool.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TWO_FILES                                                                        \
	CNT_DAEMON_GLOBAL "\n[pool main]\n"                                              \
			  "backend = sqlite\n"                                           \
			  "server = path=@DIR@/a.db\n"                                   \
			  "server = path=@DIR@/b.db\n"

static void
path_of(char path[160], const char *name)
{
	snprintf(path, 160, "%s/%s", wp_daemon.dir, name);
}

static void
write_file(const char *name, const char *content)
{
	char path[160];
	FILE *f;

	path_of(path, name);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(content, f);
	assert_int_equal(fclose(f), 0);
}

/* Make a file that no SQLite opens. */
static void
break_file(const char *name)
{
	write_file(name,
		"this is not a database, whatever its name says, and long enough "
		"that nobody takes it for an empty one.....................\n");
}

/* How many workers have this text in this column of the status. */
static int
count_workers(const char *column, const char *text)
{
	cenote_conn *conn = wp_handle(NULL);
	cenote_result *res;
	int64_t col;
	int n = 0;

	assert_ok(cenote_status(conn, "workers", &res));
	col = cenote_result_find_column(res, column);
	assert_true(col >= 0);
	for (uint64_t i = 0; i < cenote_result_n_rows(res); i++)
		n += strstr(cenote_result_text(res, i, (uint32_t)col, NULL), text) !=
		     NULL;
	cenote_result_destroy(res);
	cenote_conn_destroy(conn);
	return n;
}

static void
await_workers(const char *column, const char *text, int n)
{
	int64_t until = wp_now_ms() + 20000;
	int seen;

	while ((seen = count_workers(column, text)) != n) {
		if (wp_now_ms() > until)
			fail_msg("%d workers have %s in %s, and not %d", seen, text,
				column, n);
		wp_pause_ms(10);
	}
}

static void
sessions_are_shared_out_among_the_servers(void **state)
{
	wp_start(TWO_FILES "sessions = 6..6\n");
	wp_await("main", "idle", 6);
	await_workers("server", "/a.db", 3);
	await_workers("server", "/b.db", 3);
}

static void
a_server_that_fails_is_passed_over_and_gets_its_share_again(void **state)
{
	char path[160];
	cenote_conn *a;

	assert_int_equal(cnt_daemon_create(&wp_daemon, TWO_FILES "sessions = 4..4\n"
								 "rebalance = 300ms\n"),
		0);
	break_file("a.db");
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
	wp_await("main", "idle", 4);
	await_workers("server", "/b.db", 4);
	a = wp_attach(NULL);
	assert_string_equal(wp_value(a, "select 1"), "1");
	/* the server is back: idle workers find out, and the worker in use when its client goes */
	path_of(path, "a.db");
	assert_int_equal(unlink(path), 0);
	await_workers("server", "/a.db", 2);
	cenote_conn_destroy(a);
	await_workers("server", "/a.db", 2);
	await_workers("server", "/b.db", 2);
	/* once the shares are even, they stay so */
	wp_pause_ms(700);
	await_workers("server", "/a.db", 2);
}

static void
when_all_servers_fail_the_client_is_told_of_each(void **state)
{
	cenote_conn *a;

	assert_int_equal(cnt_daemon_create(&wp_daemon, TWO_FILES "sessions = 1..2\n"), 0);
	break_file("a.db");
	break_file("b.db");
	assert_int_equal(cnt_daemon_run(&wp_daemon), 0);
	assert_int_equal(wp_try(NULL, &a), CENOTE_ERR_CONN);
	assert_string_equal(wp_sqlstate(a), "08001");
	assert_non_null(strstr(wp_message(a), "/a.db: "));
	assert_non_null(strstr(wp_message(a), "; path="));
	assert_non_null(strstr(wp_message(a), "/b.db: "));
	assert_non_null(strstr(wp_message(a), "not a database"));
	cenote_conn_destroy(a);
}

static int
count_in_log(const char *text)
{
	char line[2048];
	FILE *f = fopen(wp_daemon.log, "re");
	int n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f) != NULL)
		n += strstr(line, text) != NULL;
	fclose(f);
	return n;
}

static void
reset_reconnect_logs_in_for_each_client(void **state)
{
	wp_start(CNT_DAEMON_GLOBAL "log_level = debug\n" CNT_DAEMON_POOL
				   "sessions = 1\nreset = reconnect\n");
	for (int i = 0; i < 3; i++) {
		cenote_conn *a = wp_attach(NULL);

		wp_exec(a, "create temp table t (a)");
		cenote_conn_destroy(a);
	}
	wp_await("main", "idle", 1);
	assert_int_equal(count_in_log("logged in to"), 4);
}

static void
what_holds_a_session_is_shown(void **state)
{
	cenote_conn *a;

	wp_start(WP_POOL("sessions = 1\n"));
	a = wp_attach(NULL);
	await_workers("pins", "t", 0);
	wp_exec(a, "create temp table t (a)");
	await_workers("pins", "temp", 1);
	wp_exec(a, "begin");
	await_workers("pins", "transaction,temp", 1);
	wp_exec(a, "rollback");
	await_workers("pins", "transaction", 0);
	cenote_conn_destroy(a);
	wp_await("main", "idle", 1);
	await_workers("pins", "temp", 0);
}

/* The memory that only this process has, in kB. */
static long
memory_of(pid_t pid)
{
	char path[64], line[256];
	long kb = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	assert_non_null(f);
	while (kb < 0 && fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, "RssAnon:", 8) == 0)
			kb = strtol(line + 8, NULL, 10);
	}
	fclose(f);
	assert_true(kb > 0);
	return kb;
}

/* Valgrind and the address sanitizer hold freed memory back. */
#define HELD_BACK_KB (1024 * 1024)
#if defined(__SANITIZE_ADDRESS__)
#define GROWTH_KB HELD_BACK_KB
#else
#define GROWTH_KB 8192
#endif

static int
is_in_valgrind(pid_t pid)
{
	char path[64], exe[256];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = '\0';
	return strstr(exe, "valgrind") != NULL;
}

static void
one_long_row_costs_no_memory_for_long(void **state)
{
	long above_max = GROWTH_KB;
	cenote_conn *a;
	long before;
	pid_t pid;

	wp_start(WP_POOL("sessions = 1\n"));
	a = wp_attach(NULL);
	pid = wp_worker_pid(a);
	if (is_in_valgrind(pid))
		above_max = HELD_BACK_KB;
	assert_string_equal(wp_value(a, "select 1"), "1");
	before = memory_of(pid);
	/* 100 MB in many rows, and then in one */
	assert_string_equal(
		wp_value(a,
			"with recursive c(x) as (select 1 union all select x + 1 from c "
			"limit 1000) select zeroblob(100000), x from c"),
		"");
	assert_in_range(memory_of(pid), 0, before + above_max);
	for (int i = 0; i < 3; i++) {
		wp_exec(a, i == 0 ? "select zeroblob(100000000)"
				  : "select zeroblob(30000000)");
		assert_string_equal(wp_value(a, "select 1"), "1");
		assert_in_range(memory_of(pid), 0, before + above_max);
	}
	assert_int_equal(wp_worker_pid(a), pid);
	cenote_conn_destroy(a);
}

int
main(void)
{
#define T(f) cmocka_unit_test_teardown(f, wp_teardown)
	const struct CMUnitTest tests[] = {
		T(sessions_are_shared_out_among_the_servers),
		T(a_server_that_fails_is_passed_over_and_gets_its_share_again),
		T(when_all_servers_fail_the_client_is_told_of_each),
		T(reset_reconnect_logs_in_for_each_client),
		T(what_holds_a_session_is_shown),
		T(one_long_row_costs_no_memory_for_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
