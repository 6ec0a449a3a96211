/* SPDX-License-Identifier: BSD-2-Clause */
/* Results in files, and the option cache, on a pool that the test plays. */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A directory of the test, and the name of a file there. */
static char dir[64];
static char path[96];

static int
setup_dir(void **state)
{
	strcpy(dir, "/tmp/cenote-test-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/result", dir);
	return setup_connected(state);
}

static int
teardown_dir(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", dir);
	return teardown(state) + system(command);
}

/* Setup: make the directory, and a connection that keeps its results there. */
static int
setup_cache(void **state)
{
	struct fixture *f;

	if (setup_dir(state) < 0)
		return -1;
	f = *state;
	cenote_close(f->conn);
	if (cenote_conn_set(f->conn, "cache", dir) < 0)
		return -1;
	return cenote_connect(f->conn);
}

static size_t
count_files(void)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	size_t n = 0;

	assert_non_null(d);
	while ((e = readdir(d)))
		n += e->d_name[0] != '.';
	(void)closedir(d);
	return n;
}

static cenote_result *
query(struct fixture *f, const char *sql)
{
	cenote_result *res;

	assert_ok(cenote_query(f->conn, sql, CENOTE_NTS, NULL, NULL, &res));
	return res;
}

static int
is_saved(const cenote_result *res)
{
	return (cenote_result_flags(res) & CENOTE_RESULT_FLAG_SAVED) != 0;
}

/* Run a query. Returns whether a file answered it. */
static int
answers_from_file(struct fixture *f, const char *sql)
{
	cenote_result *res = query(f, sql);
	int is = is_saved(res);

	cenote_result_destroy(res);
	return is;
}

static size_t
read_file(uint8_t *bytes, size_t max)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, bytes, max);

	assert_true(fd >= 0 && n >= 0 && (size_t)n < max);
	(void)close(fd);
	return (size_t)n;
}

static void
write_file(const uint8_t *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), n);
	(void)close(fd);
}

/* ---- cenote_result_save(), cenote_result_open() ---- */

static void
expect_same(const cenote_result *a, const cenote_result *b)
{
	assert_int_equal(cenote_result_n_rows(a), cenote_result_n_rows(b));
	assert_int_equal(cenote_result_n_columns(a), cenote_result_n_columns(b));
	assert_string_equal(cenote_result_tag(a), cenote_result_tag(b));
	assert_int_equal(cenote_result_affected_rows(a), cenote_result_affected_rows(b));
	for (uint32_t c = 0; c < cenote_result_n_columns(a); c++) {
		const cenote_column *x = cenote_result_column(a, c);
		const cenote_column *y = cenote_result_column(b, c);

		for (uint32_t i = 0; i < 8; i++)
			assert_string_equal(
				cenote_column_text(x, i), cenote_column_text(y, i));
		for (uint32_t i = 0; i < 32; i++)
			assert_int_equal(
				cenote_column_int(x, i), cenote_column_int(y, i));
	}
	for (uint64_t r = 0; r < cenote_result_n_rows(a); r++) {
		for (uint32_t c = 0; c < cenote_result_n_columns(a); c++) {
			const char *x = cenote_result_text(a, r, c, NULL);
			const char *y = cenote_result_text(b, r, c, NULL);

			assert_int_equal(!x, !y);
			if (x && y)
				assert_string_equal(x, y);
		}
	}
}

static void
a_result_can_be_saved_and_opened(void **state)
{
	/* no row; one; so many that there are several batches */
	static const char *const queries[] = { "rows 0", "rows 1", "rows 20000",
		"big 400000", "values" };
	struct fixture *f = *state;

	for (size_t i = 0; i < CNT_COUNT(queries); i++) {
		cenote_result *res = query(f, queries[i]), *opened;
		struct stat st;

		assert_ok(cenote_result_save(res, path, 0));
		assert_ok(stat(path, &st));
		assert_int_equal(st.st_mode & 07777, 0600);
		assert_ok(cenote_result_open(&f->alloc.mem, path, &opened));
		assert_true(is_saved(opened));
		assert_false(is_saved(res));
		expect_same(res, opened);
		cenote_result_destroy(res);
		cenote_result_destroy(opened);
	}
	assert_int_equal(count_files(), 1);
}

static void
a_streamed_result_is_saved_once_it_is_whole(void **state)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	struct fixture *f = *state;
	cenote_result *res, *opened;

	options.stream = 1;
	assert_ok(cenote_query(f->conn, "rows 3", CENOTE_NTS, NULL, &options, &res));
	assert_int_equal(cenote_result_save(res, path, 0), CENOTE_ERR_STATE);
	assert_ok(cenote_result_buffer(res));
	assert_ok(cenote_result_save(res, path, 0));
	assert_ok(cenote_result_open(NULL, path, &opened));
	expect_same(res, opened);
	cenote_result_destroy(res);
	cenote_result_destroy(opened);
}

static void
only_a_result_with_rows_is_saved(void **state)
{
	struct fixture *f = *state;
	cenote_result *res = query(f, "cmd");

	assert_int_equal(cenote_result_save(res, path, 0), CENOTE_ERR_ARG);
	assert_int_equal(cenote_result_save(NULL, path, 0), CENOTE_ERR_ARG);
	assert_int_equal(cenote_result_save(res, NULL, 0), CENOTE_ERR_ARG);
	cenote_result_destroy(res);
	assert_int_equal(cenote_result_open(NULL, NULL, &res), CENOTE_ERR_ARG);
	assert_int_equal(count_files(), 0);
}

static void
a_file_that_is_missing_or_old_is_done(void **state)
{
	struct fixture *f = *state;
	cenote_result *res, *opened;

	assert_int_equal(cenote_result_open(NULL, path, &res), CENOTE_DONE);
	res = query(f, "rows 1");
	assert_ok(cenote_result_save(res, path, 1));
	cenote_result_destroy(res);
	usleep(2000);
	assert_int_equal(cenote_result_open(NULL, path, &opened), CENOTE_DONE);
}

static void
an_error_of_a_file_has_an_errno(void **state)
{
	struct fixture *f = *state;
	cenote_result *res = query(f, "rows 1"), *opened;

	assert_int_equal(
		cenote_result_save(res, "/nonexistent/result", 0), CENOTE_ERR_FILE);
	assert_int_equal(errno, ENOENT);
	/* the temporary file was written, and cannot get the name of a directory */
	assert_ok(mkdir(path, 0700));
	assert_int_equal(cenote_result_save(res, path, 0), CENOTE_ERR_FILE);
	assert_int_equal(count_files(), 1);
	cenote_result_destroy(res);
	assert_int_equal(cenote_result_open(NULL, path, &opened), CENOTE_ERR_FILE);
	assert_int_equal(errno, EBADMSG);
	assert_ok(rmdir(path));
	/* opening a pipe does not wait */
	assert_ok(mkfifo(path, 0600));
	assert_int_equal(cenote_result_open(NULL, path, &opened), CENOTE_ERR_FILE);
	assert_int_equal(errno, EBADMSG);
}

static void
a_file_that_was_cut_anywhere_is_refused(void **state)
{
	static uint8_t bytes[4096];
	struct fixture *f = *state;
	cenote_result *res = query(f, "rows 2"), *opened;
	size_t n;

	assert_ok(cenote_result_save(res, path, 0));
	cenote_result_destroy(res);
	n = read_file(bytes, sizeof(bytes));
	for (size_t i = 0; i < n; i++) {
		write_file(bytes, i);
		assert_int_equal(cenote_result_open(&f->alloc.mem, path, &opened),
			CENOTE_ERR_FILE);
		assert_int_equal(errno, EBADMSG);
	}
	for (size_t i = 0; i < n; i++) {
		bytes[i] ^= 0x20;
		write_file(bytes, n);
		bytes[i] ^= 0x20;
		assert_int_equal(cenote_result_open(&f->alloc.mem, path, &opened),
			CENOTE_ERR_FILE);
	}
}

static void
saving_and_opening_survive_a_lack_of_memory(void **state)
{
	struct fixture *f = *state;
	cenote_result *res = query(f, "rows 300"), *opened;
	int r = CENOTE_ERR_NOMEM;

	for (size_t n = 1; r == CENOTE_ERR_NOMEM; n++) {
		f->alloc.fail_at = f->alloc.n_calls + n;
		r = cenote_result_save(res, path, 0);
	}
	assert_ok(r);
	r = CENOTE_ERR_NOMEM;
	for (size_t n = 1; r == CENOTE_ERR_NOMEM; n++) {
		f->alloc.fail_at = f->alloc.n_calls + n;
		r = cenote_result_open(&f->alloc.mem, path, &opened);
	}
	f->alloc.fail_at = 0;
	assert_ok(r);
	assert_true(f->alloc.n_failed > 2);
	cenote_result_destroy(res);
	cenote_result_destroy(opened);
}

/* ---- the option cache ---- */

static void
the_directory_is_a_path_that_chdir_does_not_change(void **state)
{
	struct fixture *f = *state;

	cenote_close(f->conn);
	assert_int_equal(cenote_conn_set(f->conn, "cache", "here"), CENOTE_ERR_ARG);
	assert_ok(cenote_conn_set(f->conn, "cache", ""));
	assert_ok(cenote_conn_set(f->conn, "cache", "/tmp"));
	assert_int_equal(cenote_conn_set(f->conn, "cache_ttl", "60"), CENOTE_ERR_ARG);
	assert_ok(cenote_conn_set(f->conn, "cache_ttl", "5min"));
}

/* This peer's requests are not SQL, so their results may not be kept. */
static void
what_is_no_query_is_not_kept(void **state)
{
	struct fixture *f = *state;

	assert_false(answers_from_file(f, "rows 1"));
	assert_false(answers_from_file(f, "rows 1"));
	assert_int_equal(count_files(), 0);
}

/* Begin a new session. */
static void
connect_again(struct fixture *f, const char *application_name)
{
	cenote_close(f->conn);
	assert_ok(cenote_conn_set(f->conn, "application_name", application_name));
	assert_ok(cenote_connect(f->conn));
}

static void
each_application_has_its_own_results(void **state)
{
	struct fixture *f = *state;

	assert_false(answers_from_file(f, "select 1"));
	assert_true(answers_from_file(f, "select 1"));
	connect_again(f, "other");
	assert_false(answers_from_file(f, "select 1"));
	assert_true(answers_from_file(f, "select 1"));
	connect_again(f, NULL);
	assert_true(answers_from_file(f, "select 1"));
}

/* With a position, the program asks for what another connection has written. An older file does not have that. */
static void
a_position_makes_the_files_old(void **state)
{
	struct fixture *f = *state;

	assert_false(answers_from_file(f, "select 1"));
	assert_true(answers_from_file(f, "select 1"));
	cenote_close(f->conn);
	assert_ok(cenote_set_session_option(f->conn, "position", "0/1"));
	assert_ok(cenote_connect(f->conn));
	assert_false(answers_from_file(f, "select 1"));
	assert_true(answers_from_file(f, "select 1"));
	assert_ok(cenote_set_session_option(f->conn, "position", "0/2"));
	assert_false(answers_from_file(f, "select 1"));
	/* The position is no part of the key. */
	assert_true(answers_from_file(f, "select 1"));
	assert_int_equal(count_files(), 1);
}

static void
a_request_that_a_file_answers_can_become_a_stream(void **state)
{
	struct fixture *f = *state;
	cenote_result *res;

	assert_false(answers_from_file(f, "select 1"));
	assert_ok(cenote_send_query(f->conn, "select 1", CENOTE_NTS, NULL, NULL));
	assert_ok(cenote_set_stream(f->conn));
	assert_ok(cenote_get_result(f->conn, &res));
	assert_true(is_saved(res));
	assert_int_equal(cenote_result_next(res), CENOTE_ROW);
	assert_int_equal(cenote_result_next(res), CENOTE_DONE);
	cenote_result_destroy(res);
	assert_int_equal(cenote_get_result(f->conn, &res), CENOTE_DONE);
	assert_int_equal(cenote_set_stream(f->conn), CENOTE_ERR_STATE);
}

static int
executes_from_file(cenote_stmt *stmt)
{
	cenote_result *res;
	int is;

	assert_ok(cenote_stmt_execute(stmt, NULL, NULL, &res));
	is = is_saved(res);
	cenote_result_destroy(res);
	return is;
}

/* A server may read the statement's literals by the settings of the time at which it was prepared. */
static void
a_statement_that_was_prepared_before_a_setting_is_not_kept(void **state)
{
	struct fixture *f = *state;
	cenote_stmt *before, *after;

	assert_ok(cenote_stmt_create(f->conn, "select 1", CENOTE_NTS, &before));
	assert_ok(cenote_stmt_create(f->conn, "select 1", CENOTE_NTS, &after));
	assert_false(executes_from_file(before));
	assert_true(executes_from_file(before));
	cenote_result_destroy(query(f, "set a = 1"));
	assert_false(executes_from_file(before));
	assert_false(executes_from_file(before));
	assert_false(executes_from_file(after));
	assert_true(executes_from_file(after));
	assert_false(executes_from_file(before));
	/* On the next session, it is prepared again. */
	connect_again(f, NULL);
	assert_true(executes_from_file(after));
	cenote_stmt_destroy(before);
	cenote_stmt_destroy(after);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_result_can_be_saved_and_opened, setup_dir, teardown_dir),
		cmocka_unit_test_setup_teardown(
			a_streamed_result_is_saved_once_it_is_whole, setup_dir,
			teardown_dir),
		cmocka_unit_test_setup_teardown(
			only_a_result_with_rows_is_saved, setup_dir, teardown_dir),
		cmocka_unit_test_setup_teardown(
			a_file_that_is_missing_or_old_is_done, setup_dir, teardown_dir),
		cmocka_unit_test_setup_teardown(
			an_error_of_a_file_has_an_errno, setup_dir, teardown_dir),
		cmocka_unit_test_setup_teardown(
			a_file_that_was_cut_anywhere_is_refused, setup_dir, teardown_dir),
		cmocka_unit_test_setup_teardown(
			saving_and_opening_survive_a_lack_of_memory, setup_dir,
			teardown_dir),
		cmocka_unit_test_setup_teardown(
			the_directory_is_a_path_that_chdir_does_not_change, setup_dir,
			teardown_dir),
		cmocka_unit_test_setup_teardown(
			what_is_no_query_is_not_kept, setup_cache, teardown_dir),
		cmocka_unit_test_setup_teardown(
			each_application_has_its_own_results, setup_cache, teardown_dir),
		cmocka_unit_test_setup_teardown(
			a_position_makes_the_files_old, setup_cache, teardown_dir),
		cmocka_unit_test_setup_teardown(
			a_request_that_a_file_answers_can_become_a_stream, setup_cache,
			teardown_dir),
		cmocka_unit_test_setup_teardown(
			a_statement_that_was_prepared_before_a_setting_is_not_kept,
			setup_cache, teardown_dir),
	};

	return cmocka_run_group_tests_name("lib_result_file", tests, NULL, NULL);
}
