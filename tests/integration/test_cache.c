/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_cache postgresql|mariadb|sqlite: the option cache on a real server. A second connection without the option changes the
 * table, so an old value proves that a file answered.
 */
#include "with_server.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where the results are kept. */
static char dir[CNT_PATH_MAX + 16];
/* A connection without the option. */
static cenote_conn *other;

/* ---- clients ---- */

/* A handle whose results are kept. `user` and `ttl` may be NULL. */
static cenote_conn *
connect_with(const char *user, const char *ttl)
{
	cenote_conn *conn = wp_handle(NULL);

	assert_ok(cenote_conn_set(conn, "cache", dir));
	assert_ok(cenote_conn_set(conn, "cache_ttl", ttl));
	if (user)
		assert_ok(cenote_conn_set(conn, "user", user));
	assert_ok(cenote_connect(conn));
	return conn;
}

static cenote_conn *
connect_cached(void)
{
	return connect_with(NULL, NULL);
}

/* The value of a query, as "12" from the server, and as "12 saved" from a file. */
static const char *
take(cenote_result *res)
{
	static char text[64];
	const char *value = cenote_result_text(res, 0, 0, NULL);

	snprintf(text, sizeof(text), "%s%s", value ? value : "NULL",
		cenote_result_flags(res) & CENOTE_RESULT_FLAG_SAVED ? " saved" : "");
	cenote_result_destroy(res);
	return text;
}

static const char *
ask(cenote_conn *conn, const char *sql)
{
	cenote_result *res;
	int r = cenote_query(conn, sql, CENOTE_NTS, NULL, NULL, &res);

	if (r < 0)
		print_error("%s: %s\n", sql, wp_message(conn));
	assert_ok(r);
	return take(res);
}

static const char *
ask_page(cenote_conn *conn)
{
	return ask(conn, "select v from page where id = 1");
}

static void
set_value(cenote_conn *conn, int v)
{
	char sql[64];

	snprintf(sql, sizeof(sql), "update page set v = %d where id = 1", v);
	wp_exec(conn, sql);
}

/* ---- tests ---- */

static void
a_file_answers_the_second_time(void **state)
{
	cenote_conn *conn = connect_cached();

	assert_string_equal(cenote_info(conn, "cache"), "");
	assert_string_equal(ask_page(conn), "1");
	assert_string_equal(cenote_info(conn, "cache"), "used");
	set_value(other, 2);
	assert_string_equal(ask_page(conn), "1 saved");
	assert_string_equal(ask_page(other), "2");
	cenote_conn_destroy(conn);
}

static int
ask_in_child(void *arg)
{
	cenote_conn *conn = connect_cached();
	int r = strcmp(ask_page(conn), arg);

	cenote_conn_destroy(conn);
	return r != 0;
}

static void
a_process_reads_what_another_has_written(void **state)
{
	char is_one[] = "1", is_one_saved[] = "1 saved";
	cenote_conn *conn;

	assert_int_equal(wp_join(wp_fork(ask_in_child, is_one, -1)), 0);
	set_value(other, 2);
	assert_int_equal(wp_join(wp_fork(ask_in_child, is_one_saved, -1)), 0);
	conn = connect_cached();
	assert_string_equal(ask_page(conn), "1 saved");
	cenote_conn_destroy(conn);
}

static void
a_result_is_used_for_its_time_only(void **state)
{
	cenote_conn *conn = connect_with(NULL, "1s"), *patient = connect_cached();

	assert_string_equal(ask_page(conn), "1");
	set_value(other, 2);
	wp_pause_ms(1010);
	assert_string_equal(ask_page(conn), "2");
	/* The writer's limit counts also for a reader with a longer one. */
	assert_string_equal(ask_page(patient), "2 saved");
	wp_pause_ms(1010);
	set_value(other, 3);
	assert_string_equal(ask_page(patient), "3");
	cenote_conn_destroy(conn);
	cenote_conn_destroy(patient);
}

static void
a_connection_sees_its_own_writes(void **state)
{
	cenote_conn *conn = connect_cached(), *reader = connect_cached();

	assert_string_equal(ask_page(conn), "1");
	set_value(conn, 2);
	assert_string_equal(ask_page(reader), "1 saved");
	assert_string_equal(ask_page(conn), "2");
	/* every connection gets the new file */
	assert_string_equal(ask_page(conn), "2 saved");
	assert_string_equal(ask_page(reader), "2 saved");
	cenote_conn_destroy(conn);
	cenote_conn_destroy(reader);
}

static void
a_transaction_asks_the_server(void **state)
{
	cenote_conn *conn = connect_cached();

	assert_string_equal(ask_page(conn), "1");
	assert_ok(cenote_begin(conn, CENOTE_ISOLATION_DEFAULT, 0));
	assert_string_equal(ask_page(conn), "1");
	assert_ok(cenote_rollback(conn));
	wp_exec(conn, "begin");
	set_value(conn, 7);
	assert_string_equal(ask_page(conn), "7");
	wp_exec(conn, "rollback");
	/* The value of the transaction went into no file. */
	assert_string_equal(ask_page(conn), "1");
	assert_string_equal(ask_page(conn), "1 saved");
	assert_ok(cenote_set_autocommit(conn, 0));
	assert_string_equal(ask_page(conn), "1");
	cenote_conn_destroy(conn);
}

static const char *
execute(cenote_stmt *stmt, int64_t id, int is_streamed)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	cenote_params *params = wp_params();
	cenote_result *res;
	const char *text;

	options.stream = is_streamed != 0;
	assert_ok(cenote_params_add_int64(params, id));
	assert_ok(cenote_stmt_execute(stmt, params, &options, &res));
	if (is_streamed)
		assert_ok(cenote_result_buffer(res));
	text = take(res);
	cenote_params_destroy(params);
	return text;
}

static cenote_stmt *
create_stmt(cenote_conn *conn)
{
	cenote_stmt *stmt;

	assert_ok(cenote_stmt_create(conn,
		ws_kind == WS_POSTGRESQL ? "select v from page where id = $1"
					 : "select v from page where id = ?",
		CENOTE_NTS, &stmt));
	return stmt;
}

/* Programs often begin with statements that write nothing. After those, the files must still answer. */
static void
a_read_or_a_transaction_makes_no_file_old(void **state)
{
	cenote_conn *conn = connect_cached();

	assert_string_equal(ask_page(conn), "1");
	set_value(other, 2);
	wp_exec(conn, "select current_timestamp");
	assert_string_equal(ask_page(conn), "1 saved");
	assert_ok(cenote_begin(conn, CENOTE_ISOLATION_DEFAULT, 0));
	assert_string_equal(ask_page(conn), "2");
	assert_ok(cenote_commit(conn));
	wp_exec(conn, "begin");
	wp_exec(conn, "commit");
	assert_string_equal(ask_page(conn), "1 saved");
	/* After a transaction that has written, the server answers. */
	assert_ok(cenote_begin(conn, CENOTE_ISOLATION_DEFAULT, 0));
	set_value(conn, 3);
	assert_ok(cenote_commit(conn));
	assert_string_equal(ask_page(conn), "3");
	cenote_conn_destroy(conn);
}

static void
each_parameter_has_its_own_result(void **state)
{
	cenote_conn *conn = connect_cached();
	cenote_stmt *stmt = create_stmt(conn);

	assert_string_equal(execute(stmt, 1, 0), "1");
	assert_string_equal(execute(stmt, 2, 0), "20");
	assert_string_equal(execute(stmt, 1, 0), "1 saved");
	assert_string_equal(execute(stmt, 2, 0), "20 saved");
	cenote_stmt_destroy(stmt);
	cenote_conn_destroy(conn);
	/* also for a statement that was never prepared there, and as a stream */
	conn = connect_cached();
	stmt = create_stmt(conn);
	assert_string_equal(execute(stmt, 2, 1), "20 saved");
	assert_string_equal(execute(stmt, 3, 1), "30");
	assert_string_equal(execute(stmt, 3, 1), "30 saved");
	assert_string_equal(execute(stmt, 3, 0), "30 saved");
	cenote_stmt_destroy(stmt);
	cenote_conn_destroy(conn);
}

static void
a_stream_ends_behind_its_rows(void **state)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	cenote_conn *conn = connect_cached();
	cenote_result *res;

	options.stream = 1;
	for (int i = 0; i < 2; i++) {
		assert_ok(cenote_query(conn, "select v from page order by id", CENOTE_NTS,
			NULL, &options, &res));
		assert_int_equal(cenote_result_next(res), CENOTE_ROW);
		assert_int_equal(cenote_result_n_rows(res), 3);
		assert_int_equal(cenote_result_next(res), CENOTE_DONE);
		assert_int_equal(cenote_result_n_rows(res), 0);
		cenote_result_destroy(res);
	}
	assert_ok(cenote_query(conn, "select v from page order by id", CENOTE_NTS, NULL,
		&options, &res));
	assert_ok(cenote_result_buffer(res));
	assert_int_equal(cenote_result_n_rows(res), 3);
	assert_string_equal(take(res), "1 saved");
	cenote_conn_destroy(conn);
}

static void
each_user_has_own_results(void **state)
{
	cenote_conn *a = connect_with("anna", NULL), *b = connect_with("bert", NULL);

	assert_string_equal(ask_page(a), "1");
	assert_string_equal(ask_page(b), "1");
	assert_string_equal(ask_page(a), "1 saved");
	assert_string_equal(ask_page(b), "1 saved");
	cenote_conn_destroy(a);
	cenote_conn_destroy(b);
}

/* A statement that changes the meaning of other statements. */
static const char *
setting(void)
{
	static const char *const settings[] = {
		[WS_POSTGRESQL] = "set datestyle = 'German'",
		[WS_MARIADB] = "set sql_mode = 'ANSI_QUOTES'",
		[WS_SQLITE] = "pragma case_sensitive_like = 1",
	};

	return settings[ws_kind];
}

static void
each_setting_has_its_own_results(void **state)
{
	cenote_conn *a = connect_cached(), *b = connect_cached();

	assert_string_equal(ask_page(a), "1");
	wp_exec(a, setting());
	/* SQLite's setting holds the session, and then no file is used. */
	assert_string_equal(ask_page(a), "1");
	assert_string_equal(ask_page(a), ws_kind == WS_SQLITE ? "1" : "1 saved");
	assert_string_equal(ask_page(b), "1 saved");
	/* b makes the same setting, in a transaction that is rolled back. */
	wp_exec(b, "begin");
	wp_exec(b, setting());
	wp_exec(b, "rollback");
	assert_string_equal(ask_page(b), "1");
	/* The reset removes the setting, and the files answer again. SQLite's setting also counts as a write, so the server answers first. */
	assert_ok(cenote_reset(a));
	assert_string_equal(ask_page(a), ws_kind == WS_SQLITE ? "1" : "1 saved");
	assert_string_equal(ask_page(a), "1 saved");
	cenote_conn_destroy(a);
	cenote_conn_destroy(b);
}

/* A request of the pipeline fails, so PostgreSQL undoes the setting at the synchronisation point. */
static void
a_setting_that_a_pipeline_undoes_is_no_setting(void **state)
{
	cenote_conn *a = connect_cached(), *b = connect_cached();
	cenote_result *res;
	int n_results = 0;

	wp_exec(a, setting());
	assert_string_equal(ask_page(a), "1");
	assert_ok(cenote_pipeline_begin(b));
	assert_ok(cenote_send_query(b, setting(), CENOTE_NTS, NULL, NULL));
	assert_ok(cenote_flush(b));
	assert_ok(cenote_get_result(b, &res));
	cenote_result_destroy(res);
	assert_int_equal(cenote_get_result(b, &res), CENOTE_DONE);
	assert_ok(cenote_send_query(b, "select v from nowhere", CENOTE_NTS, NULL, NULL));
	/* The server skips this one, so no file may answer it. */
	assert_ok(cenote_send_query(
		b, "select v from page where id = 1", CENOTE_NTS, NULL, NULL));
	assert_ok(cenote_send_sync(b));
	for (int i = 0; i < 3; i++) {
		while (cenote_get_result(b, &res) == CENOTE_OK) {
			n_results++;
			assert_int_not_equal(cenote_result_kind(res), CENOTE_RESULT_ROWS);
			cenote_result_destroy(res);
		}
	}
	assert_int_equal(n_results, 3);
	assert_ok(cenote_pipeline_end(b));
	assert_string_equal(ask_page(b), "1");
	cenote_conn_destroy(a);
	cenote_conn_destroy(b);
}

static void
a_temporary_table_hides_no_other(void **state)
{
	cenote_conn *a = connect_cached(), *b = connect_cached();

	wp_exec(a, "create temporary table page2 (v int)");
	wp_exec(a, "insert into page2 values (5)");
	assert_string_equal(ask(a, "select v from page2"), "5");
	assert_string_equal(ask(a, "select v from page2"), "5");
	wp_exec(b, "create temporary table page2 (v int)");
	wp_exec(b, "insert into page2 values (6)");
	assert_string_equal(ask(b, "select v from page2"), "6");
	cenote_conn_destroy(a);
	cenote_conn_destroy(b);
}

static void
what_may_differ_each_time_is_not_kept(void **state)
{
	cenote_conn *conn = connect_cached();

	for (int i = 0; i < 2; i++) {
		assert_null(strstr(
			ask(conn, "select v, current_timestamp from page"), "saved"));
		assert_null(strstr(ask(conn, "select 1; select 2"), "saved"));
		while (cenote_is_busy(conn) == 0) {
			cenote_result *res;

			if (cenote_get_result(conn, &res) != CENOTE_OK)
				break;
			cenote_result_destroy(res);
		}
	}
	cenote_conn_destroy(conn);
}

/* ---- files and directories ---- */

#define PATH_SIZE 512

/* The path of the only file. Returns the number of files. */
static int
find_file(char ret_path[PATH_SIZE])
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	int n = 0;

	assert_non_null(d);
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(ret_path, PATH_SIZE, "%s/%s", dir, e->d_name);
		n++;
	}
	(void)closedir(d);
	return n;
}

static void
damage(const char *path, off_t at)
{
	int fd = open(path, O_RDWR);
	char c;

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &c, 1, at), 1);
	c ^= 1;
	assert_int_equal(pwrite(fd, &c, 1, at), 1);
	(void)close(fd);
}

static void
a_damaged_file_is_replaced(void **state)
{
	cenote_conn *conn = connect_cached();
	char path[PATH_SIZE];
	struct stat st;

	assert_string_equal(ask_page(conn), "1");
	assert_int_equal(find_file(path), 1);
	assert_ok(stat(path, &st));
	assert_int_equal(st.st_mode & 07777, 0600);
	damage(path, st.st_size - 30);
	assert_string_equal(ask_page(conn), "1");
	assert_string_equal(ask_page(conn), "1 saved");
	assert_ok(truncate(path, st.st_size / 2));
	assert_string_equal(ask_page(conn), "1");
	assert_string_equal(ask_page(conn), "1 saved");
	/* a file that other users may read is not used */
	assert_ok(chmod(path, 0644));
	assert_string_equal(ask_page(conn), "1");
	assert_string_equal(ask_page(conn), "1 saved");
	cenote_conn_destroy(conn);
}

static void
without_a_directory_the_server_answers(void **state)
{
	cenote_conn *conn = connect_cached();
	char moved[PATH_SIZE];

	snprintf(moved, sizeof(moved), "%s-moved", dir);
	assert_string_equal(ask_page(conn), "1");
	assert_ok(chmod(dir, 0770));
	assert_string_equal(ask_page(conn), "1");
	assert_string_equal(
		cenote_info(conn, "cache"), "others may write to the directory");
	assert_ok(chmod(dir, 0755));
	assert_string_equal(ask_page(conn), "1 saved");
	if (geteuid() == 0) {
		assert_ok(chown(dir, 65534, 65534));
		assert_string_equal(ask_page(conn), "1");
		assert_string_equal(cenote_info(conn, "cache"),
			"the directory belongs to another user");
		assert_ok(chown(dir, 0, 0));
	}
	assert_ok(rename(dir, moved));
	assert_string_equal(ask_page(conn), "1");
	assert_string_equal(cenote_info(conn, "cache"), "the directory does not exist");
	assert_ok(symlink(moved, dir));
	assert_string_equal(ask_page(conn), "1");
	assert_ok(unlink(dir));
	assert_ok(rename(moved, dir));
	assert_string_equal(ask_page(conn), "1 saved");
	cenote_conn_destroy(conn);
}

/* A limit of the process for the size of its files takes the place of a full disk. */
static void
when_the_disk_is_full_the_server_answers(void **state)
{
	struct rlimit limit, before;
	cenote_conn *conn = connect_cached();
	char path[PATH_SIZE];

	assert_ok(getrlimit(RLIMIT_FSIZE, &before));
	limit = before;
	limit.rlim_cur = 10;
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_ok(setrlimit(RLIMIT_FSIZE, &limit));
	assert_string_equal(ask_page(conn), "1");
	assert_string_equal(ask_page(conn), "1");
	assert_ok(setrlimit(RLIMIT_FSIZE, &before));
	assert_string_equal(cenote_info(conn, "cache"), "a file cannot be written");
	assert_int_equal(find_file(path), 0);
	cenote_conn_destroy(conn);
}

static void
a_long_result_is_not_kept(void **state)
{
	static char sql[512];
	cenote_conn *conn = connect_cached();
	char path[PATH_SIZE];
	size_t n = 0;

	/* 3 to the power of 14 rows of at least 6 bytes are more than 8 MB */
	n += (size_t)snprintf(sql, sizeof(sql), "select 1 from page a1");
	for (int i = 2; i <= 14; i++)
		n += (size_t)snprintf(sql + n, sizeof(sql) - n, ", page a%d", i);
	assert_string_equal(ask(conn, sql), "1");
	assert_int_equal(find_file(path), 0);
	cenote_conn_destroy(conn);
}

/* ---- set-up ---- */

static int
setup(void **state)
{
	if (!wp_daemon.pid)
		ws_start("sessions = 4\nauth = trust\n");
	snprintf(dir, sizeof(dir), "%s/cache", wp_daemon.dir);
	if (mkdir(dir, 0700) < 0)
		return -1;
	other = wp_attach(NULL);
	wp_exec(other, "create table page (id int primary key, v int)");
	wp_exec(other, "insert into page values (1, 1), (2, 20), (3, 30)");
	return 0;
}

static int
teardown(void **state)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -r %s", dir);
	wp_exec(other, "drop table page");
	cenote_conn_destroy(other);
	return system(command);
}

static int
stop_all(void **state)
{
	int r = wp_teardown(state);

	(void)ws_teardown(state);
	return r;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_answers_the_second_time),
		TEST(a_process_reads_what_another_has_written),
		TEST(a_result_is_used_for_its_time_only),
		TEST(a_connection_sees_its_own_writes),
		TEST(a_transaction_asks_the_server),
		TEST(a_read_or_a_transaction_makes_no_file_old),
		TEST(each_parameter_has_its_own_result),
		TEST(a_stream_ends_behind_its_rows),
		TEST(each_user_has_own_results),
		TEST(each_setting_has_its_own_results),
		TEST(a_setting_that_a_pipeline_undoes_is_no_setting),
		TEST(a_temporary_table_hides_no_other),
		TEST(what_may_differ_each_time_is_not_kept),
		TEST(a_damaged_file_is_replaced),
		TEST(without_a_directory_the_server_answers),
		TEST(when_the_disk_is_full_the_server_answers),
		TEST(a_long_result_is_not_kept),
	};

	if (!ws_choose(argc, argv, "postgresql|mariadb|sqlite"))
		return 2;
	return cmocka_run_group_tests(tests, ws_setup, stop_all);
}
