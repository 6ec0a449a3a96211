/* SPDX-License-Identifier: BSD-2-Clause */
#include "with_pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 20000

struct cnt_daemon wp_daemon;

int64_t
wp_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void
wp_pause_ms(int ms)
{
	struct timespec pause = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&pause, NULL);
}

cenote_conn *
wp_handle(const char *pool)
{
	cenote_conn *conn;

	assert_ok(cenote_conn_create(NULL, &conn));
	assert_ok(cenote_conn_set(conn, "run_dir", wp_daemon.run_dir));
	assert_ok(cenote_conn_set(conn, "pool", pool != NULL ? pool : "main"));
	return conn;
}

int
wp_try(const char *pool, cenote_conn **ret_conn)
{
	*ret_conn = wp_handle(pool);
	return cenote_connect(*ret_conn);
}

void
wp_expect_none_free(const char *pool)
{
	cenote_conn *conn = wp_handle(pool);

	assert_ok(cenote_conn_set(conn, "connect_timeout", "300ms"));
	assert_int_equal(cenote_connect(conn), CENOTE_ERR_TIMEOUT);
	cenote_conn_destroy(conn);
}

cenote_conn *
wp_attach(const char *pool)
{
	cenote_conn *conn;
	int r = wp_try(pool, &conn);

	if (r != CENOTE_OK)
		fail_msg("connect: %s: %s", cenote_status_name(r), wp_message(conn));
	return conn;
}

int
wp_status_of(cenote_conn *conn, const char *sql)
{
	cenote_result *res = NULL;
	int r = cenote_query(conn, sql, CENOTE_NTS, NULL, NULL, &res);

	if (r == CENOTE_OK)
		cenote_result_destroy(res);
	return r;
}

int
wp_run_text(cenote_conn *conn, const char *sql)
{
	cenote_result *res;
	int r = cenote_query(conn, sql, CENOTE_NTS, NULL, NULL, &res);

	while (r == CENOTE_OK) {
		cenote_result_destroy(res);
		r = cenote_get_result(conn, &res);
	}
	return r == CENOTE_DONE ? CENOTE_OK : r;
}

void
wp_exec(cenote_conn *conn, const char *sql)
{
	const char *first, *text = cnt_server_statement(sql, &first);
	int r = first != NULL ? wp_status_of(conn, first) : CENOTE_OK;

	if (r == CENOTE_OK)
		r = wp_status_of(conn, text);
	if (r != CENOTE_OK)
		fail_msg("%s: %s: %s", sql, cenote_status_name(r), wp_message(conn));
}

const char *
wp_value(cenote_conn *conn, const char *sql)
{
	static char value[256];
	cenote_result *res;
	const char *text;
	int r = cenote_query(conn, cnt_server_text(sql), CENOTE_NTS, NULL, NULL, &res);

	if (r != CENOTE_OK)
		fail_msg("%s: %s: %s", sql, cenote_status_name(r), wp_message(conn));
	text = cenote_result_text(res, 0, 0, NULL);
	snprintf(value, sizeof(value), "%s", text != NULL ? text : "NULL");
	cenote_result_destroy(res);
	return value;
}

const char *
wp_sqlstate(const cenote_conn *conn)
{
	return cenote_diag_sqlstate(cenote_conn_diag(conn));
}

const char *
wp_message(const cenote_conn *conn)
{
	return cenote_diag_message(cenote_conn_diag(conn));
}

cenote_params *
wp_params(void)
{
	cenote_params *params;

	assert_ok(cenote_params_create(NULL, &params));
	return params;
}

cenote_result *
wp_next_result(cenote_conn *conn, int kind)
{
	cenote_result *res = NULL;
	int r = cenote_get_result(conn, &res);

	if (kind == 0) {
		assert_int_equal(r, CENOTE_DONE);
		return NULL;
	}
	if (r != CENOTE_OK)
		fail_msg("%s: %s", cenote_status_name(r), wp_message(conn));
	if (cenote_result_kind(res) != kind)
		fail_msg("a result of kind %d: %s", cenote_result_kind(res),
			cenote_diag_message(cenote_result_diag(res)));
	return res;
}

pid_t
wp_worker_pid(cenote_conn *conn)
{
	const char *text = cenote_info(conn, "worker_pid");
	long pid = text != NULL ? strtol(text, NULL, 10) : 0;

	assert_true(pid > 1);
	return (pid_t)pid;
}

pid_t
wp_worker_of(const char *pool)
{
	cenote_conn *conn = wp_attach(pool);
	pid_t pid = wp_worker_pid(conn);

	cenote_conn_destroy(conn);
	return pid;
}

pid_t
wp_await_child(const char *name)
{
	int64_t until = wp_now_ms() + PATIENCE_MS;
	pid_t pid;

	while ((pid = cnt_child_named(wp_daemon.pid, name)) == 0) {
		if (wp_now_ms() > until)
			fail_msg("there is no %s", name);
		wp_pause_ms(5);
	}
	return pid;
}

static int64_t
number_in(const cenote_result *res, const char *pool, const char *column)
{
	int64_t name = cenote_result_find_column(res, "pool");
	int64_t col = cenote_result_find_column(res, column);
	int64_t value = -1;

	assert_true(name >= 0 && col >= 0);
	for (uint64_t i = 0; i < cenote_result_n_rows(res); i++) {
		if (strcmp(cenote_result_text(res, i, (uint32_t)name, NULL), pool) == 0)
			assert_ok(cenote_result_int64(res, i, (uint32_t)col, &value));
	}
	return value;
}

int64_t
wp_pool_number(const char *pool, const char *column)
{
	cenote_conn *conn = wp_handle(pool);
	cenote_result *res;
	int64_t value;
	int r = cenote_status(conn, "pools", &res);

	if (r != CENOTE_OK)
		fail_msg("status: %s: %s", cenote_status_name(r), wp_message(conn));
	value = number_in(res, pool, column);
	cenote_result_destroy(res);
	cenote_conn_destroy(conn);
	return value;
}

void
wp_await(const char *pool, const char *column, int64_t wanted)
{
	int64_t until = wp_now_ms() + PATIENCE_MS;
	int64_t value;

	while ((value = wp_pool_number(pool, column)) != wanted) {
		if (wp_now_ms() > until)
			fail_msg("%s of %s stays %lld instead of %lld", column, pool,
				(long long)value, (long long)wanted);
		wp_pause_ms(5);
	}
}

int
wp_log_has_line(const char *text, const char *other)
{
	char line[2048];
	FILE *f = fopen(wp_daemon.log, "re");
	int has = 0;

	if (f == NULL)
		return 0; /* the daemon never ran */
	while (!has && fgets(line, sizeof(line), f) != NULL)
		has = strstr(line, text) != NULL && strstr(line, other) != NULL;
	fclose(f);
	return has;
}

int
wp_log_has(const char *text)
{
	return wp_log_has_line(text, "");
}

void
wp_await_log(const char *text)
{
	int64_t until = wp_now_ms() + PATIENCE_MS;

	while (!wp_log_has(text)) {
		if (wp_now_ms() > until)
			fail_msg("the log never says \"%s\"", text);
		wp_pause_ms(5);
	}
}

void
wp_await_file(const char *name)
{
	int64_t until = wp_now_ms() + PATIENCE_MS;
	char path[CNT_PATH_MAX + 64];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", wp_daemon.dir, name);
	while (stat(path, &st) < 0 || st.st_size == 0) {
		if (wp_now_ms() > until)
			fail_msg("%s stays empty", path);
		wp_pause_ms(5);
	}
}

void
wp_start(const char *config)
{
	assert_int_equal(cnt_daemon_start(&wp_daemon, config), 0);
}

int
wp_teardown(void **state)
{
	/* Messages of sanitizers, of valgrind and of the kernel. Without its colon, LeakSanitizer's
	 * message says that it may not look at a process; most of our processes forbid that. */
	static const char *const bugs[] = { "Sanitizer:", "runtime error:", "==ERROR",
		"ended with status", "Invalid read", "Invalid write", "definitely lost",
		"uninitialised", "killed by signal 11", "killed by signal 6",
		"killed by signal 7" };
	int r = wp_daemon.pid > 0 ? cnt_daemon_end(&wp_daemon) : 0;

	for (size_t i = 0; i < CNT_COUNT(bugs); i++) {
		if (wp_log_has(bugs[i]))
			r = -1;
	}
	if (r < 0)
		cnt_daemon_show_log(&wp_daemon);
	cnt_remove_tree(wp_daemon.dir);
	return r;
}

pid_t
wp_fork(int (*f)(void *arg), void *arg, int keep)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	if (keep >= 0 && keep != WP_KEPT)
		dup2(keep, WP_KEPT);
	closefrom(keep >= 0 ? WP_KEPT + 1 : WP_KEPT);
	_exit(f(arg));
}

int
wp_join(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- memory ---- */

#define MARGIN_KB 8192

static long
memory_kb(pid_t pid, const char *what)
{
	char path[64], line[128];
	size_t n = strlen(what);
	long kb = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, what, n) == 0 && line[n] == ':')
			kb = strtol(line + n + 1, NULL, 10);
	}
	fclose(f);
	assert_true(kb > 0);
	return kb;
}

/* Sanitizers and valgrind take memory of their own. */
static int
is_measured(pid_t pid)
{
#if defined(__SANITIZE_ADDRESS__)
	(void)pid;
	return 0;
#else
	char path[64], exe[256];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	assert_true(n > 0);
	exe[n] = '\0';
	return strstr(exe, "valgrind") == NULL;
#endif
}

long
wp_peak_kb(pid_t pid)
{
	return is_measured(pid) ? memory_kb(pid, "VmHWM") : -1;
}

void
wp_memory_watch(struct wp_memory *m, cenote_conn *conn)
{
	m->pids[0] = wp_worker_pid(conn);
	m->pids[1] = getpid();
	for (int i = 0; i < 2; i++) {
		char path[64];
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/clear_refs", (int)m->pids[i]);
		f = fopen(path, "w");
		if (f == NULL)
			skip();
		fputs("5", f);
		fclose(f);
		m->before[i] = memory_kb(m->pids[i], "VmRSS");
	}
}

void
wp_memory_expect_little(const struct wp_memory *m, const char *what)
{
	long worker = memory_kb(m->pids[0], "VmHWM") - m->before[0];
	long client = memory_kb(m->pids[1], "VmHWM") - m->before[1];

	print_message(
		"# %s: worker %ld kB, client %ld kB above idle\n", what, worker, client);
	if (is_measured(m->pids[0]))
		assert_true(worker <= MARGIN_KB);
	if (is_measured(m->pids[1]))
		assert_true(client <= MARGIN_KB);
}
