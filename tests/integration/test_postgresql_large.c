/* SPDX-License-Identifier: BSD-2-Clause */
#include "with_pool.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/cnt_server.h"

/* Values at PostgreSQL's own limits, and large results with little memory. */

static struct cnt_server server;

static int
group_setup(void **state)
{
	return cnt_server_start(&server, CNT_POSTGRESQL, 0);
}

static int
group_teardown(void **state)
{
	cnt_server_stop(&server);
	return 0;
}

static int
setup(void **state)
{
	char config[4096];

	wp_start(cnt_server_config(
		&server, "sessions = 1\nmax_frame = 256MB\n", config, sizeof(config)));
	*state = wp_attach(NULL);
	return 0;
}

static int
teardown(void **state)
{
	cenote_conn_destroy(*state);
	return wp_teardown(state);
}

static cenote_result *
query(cenote_conn *conn, const char *sql, const cenote_params *params,
	const cenote_exec_options *options)
{
	cenote_result *res;
	int r = cenote_query(conn, sql, CENOTE_NTS, params, options, &res);

	if (r != CENOTE_OK)
		fail_msg("%.80s: %s: %s", sql, cenote_status_name(r), wp_message(conn));
	return res;
}

/* `first`, then the numbers from 1 to n, each between the two texts, separated by commas. */
static char *
repeated(const char *first, const char *before, const char *behind, int n)
{
	size_t max = strlen(first) + (size_t)n * 16 + 1, len = strlen(first);
	char *text = malloc(max);

	assert_non_null(text);
	memcpy(text, first, len + 1);
	for (int i = 1; i <= n; i++)
		len += (size_t)snprintf(text + len, max - len, "%s%s%d%s",
			i > 1 ? "," : "", before, i, behind);
	return text;
}

static void
rows_of_1600_columns(void **state)
{
	cenote_conn *conn = *state;
	char *create = repeated("create temp table wide (", "c", " int", 1600);
	char *insert = repeated("insert into wide values (", "", "", 1600);
	size_t n = strlen(create), k = strlen(insert);
	cenote_result *res;

	memcpy(create + n, ")", 2);
	memcpy(insert + k, ")", 2);
	wp_exec(conn, create);
	wp_exec(conn, insert);
	res = query(conn, "select * from wide", NULL, NULL);
	assert_int_equal(cenote_result_n_columns(res), 1600);
	assert_string_equal(cenote_result_text(res, 0, 1599, NULL), "1600");
	assert_string_equal(
		cenote_column_text(cenote_result_column(res, 1599), CENOTE_COLUMN_NAME),
		"c1600");
	assert_int_equal(
		cenote_column_int(cenote_result_column(res, 1599), CENOTE_COLUMN_ATTNUM),
		1600);
	cenote_result_destroy(res);
	/* A list of results may have 1,664 columns, and no more. */
	free(create);
	create = repeated("select ", "", "", 1664);
	res = query(conn, create, NULL, NULL);
	assert_int_equal(cenote_result_n_columns(res), 1664);
	cenote_result_destroy(res);
	free(create);
	create = repeated("select ", "", "", 1665);
	assert_int_equal(wp_status_of(conn, create), CENOTE_ERR_SERVER);
	assert_string_equal(wp_sqlstate(conn), "54011");
	free(create);
	free(insert);
}

static void
a_statement_of_65535_parameters(void **state)
{
	cenote_conn *conn = *state;
	char *sql = repeated(
		"select count(*), sum(v) from unnest(array[", "$", "::int", 65535);
	cenote_params *params = wp_params();
	size_t n = strlen(sql);
	cenote_result *res;

	sql = realloc(sql, n + 16);
	assert_non_null(sql);
	memcpy(sql + n, "]) v", 5);
	for (int i = 1; i <= 65535; i++)
		assert_ok(cenote_params_add_int64(params, i));
	assert_int_equal(cenote_params_add_int64(params, 1), CENOTE_ERR_LIMIT);
	res = query(conn, sql, params, NULL);
	assert_string_equal(cenote_result_text(res, 0, 0, NULL), "65535");
	assert_string_equal(cenote_result_text(res, 0, 1, NULL), "2147450880");
	cenote_result_destroy(res);
	cenote_params_destroy(params);
	free(sql);
}

static void
values_of_64_mb(void **state)
{
	cenote_conn *conn = *state;
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	size_t size = (size_t)64 << 20, len;
	char *bytes = malloc(size);
	cenote_params *params = wp_params();
	cenote_result *res;
	const char *value;

	assert_non_null(bytes);
	for (size_t i = 0; i < size; i++)
		bytes[i] = (char)(i ^ i >> 11);
	assert_ok(cenote_params_add_bytes(params, bytes, size));
	for (options.format = CENOTE_FORMAT_CANONICAL;
		options.format <= CENOTE_FORMAT_BINARY; options.format++) {
		res = query(conn, "select $1 as v, length($1) as n", params, &options);
		value = cenote_result_text(res, 0, 0, &len);
		assert_int_equal(len, size);
		assert_memory_equal(value, bytes, size);
		cenote_result_destroy(res);
	}
	cenote_params_destroy(params);
	free(bytes);
}

/* Rows without columns have no bytes, so bytes cannot tell when a batch is full. */
static void
many_rows_without_columns(void **state)
{
	static const char sql[] = "select from generate_series(1, 200000)";
	cenote_params *none = wp_params();
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;

	/* by simple and extended queries; the whole result, row by row, and in batches */
	for (int i = 0; i < 6; i++) {
		cenote_result *res;
		uint64_t n = 0;
		int r = CENOTE_DONE;

		options.stream = i > 1;
		options.batch_rows = i > 3 ? 150000 : 0;
		res = query(*state, sql, i % 2 ? none : NULL, &options);
		assert_int_equal(cenote_result_n_columns(res), 0);
		if (!options.stream)
			n = cenote_result_n_rows(res);
		while (options.stream && (r = cenote_result_next(res)) == CENOTE_ROW)
			n += cenote_result_n_rows(res);
		assert_int_equal(r, CENOTE_DONE);
		assert_int_equal(n, 200000);
		cenote_result_destroy(res);
	}
	cenote_params_destroy(none);
}

/* ---- memory ---- */

#define ROWS  100000
#define WIDTH 1000

static const char hundred_mb[] =
	"select repeat('x', 1000), i from generate_series(1, 100000) i";

static void
take_all(cenote_result *res)
{
	uint64_t n = 0;
	int r;

	while ((r = cenote_result_next(res)) == CENOTE_ROW) {
		size_t len;

		assert_non_null(cenote_result_text(res, 0, 0, &len));
		assert_int_equal(len, WIDTH);
		n += cenote_result_n_rows(res);
	}
	assert_int_equal(r, CENOTE_DONE);
	assert_int_equal(n, ROWS);
	cenote_result_destroy(res);
}

static void
results_of_100_mb_take_little_memory(void **state)
{
	static const char *const names[] = { "simple", "extended", "batches of 1000",
		"simple in batches of 1000" };
	cenote_conn *conn = *state;
	cenote_params *none = wp_params();

	for (int i = 0; i < 4; i++) {
		cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
		struct wp_memory w;

		options.stream = 1;
		options.batch_rows = i >= 2 ? 1000 : 0;
		wp_memory_watch(&w, conn);
		take_all(query(
			conn, hundred_mb, i == 1 || i == 2 ? none : NULL, &options));
		wp_memory_expect_little(&w, names[i]);
	}
	cenote_params_destroy(none);
}

/* While other requests run, the rest of the result is not kept in memory. */
static void
a_result_that_is_left_behind_takes_little_memory(void **state)
{
	cenote_conn *conn = *state;
	cenote_params *none = wp_params();

	for (int i = 0; i < 2; i++) {
		cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
		cenote_result *res;
		struct wp_memory w;

		options.stream = 1;
		options.batch_rows = 1000;
		wp_memory_watch(&w, conn);
		res = query(conn, hundred_mb, i == 1 ? none : NULL, &options);
		assert_int_equal(cenote_result_next(res), CENOTE_ROW);
		assert_string_equal(wp_value(conn, "select 'between'"), "between");
		cenote_result_destroy(res);
		assert_string_equal(wp_value(conn, "select 'behind'"), "behind");
		wp_memory_expect_little(&w, i == 1 ? "left, extended" : "left, simple");
	}
	cenote_params_destroy(none);
}

static void
copies_of_100_mb_take_little_memory(void **state)
{
	cenote_conn *conn = *state;
	char line[WIDTH + 1];
	cenote_result *copy, *done;
	const char *data;
	struct wp_memory w;
	size_t len, total = 0;
	int r;

	memset(line, 'x', WIDTH);
	line[WIDTH] = '\n';
	wp_exec(conn, "create temp table big (t text)");
	wp_memory_watch(&w, conn);
	copy = query(conn, "copy big from stdin", NULL, NULL);
	for (int i = 0; i < ROWS; i++)
		assert_ok(cenote_copy_put(conn, line, sizeof(line)));
	assert_ok(cenote_copy_end(conn, NULL));
	assert_ok(cenote_get_result(conn, &done));
	assert_string_equal(cenote_result_tag(done), "COPY 100000");
	cenote_result_destroy(done);
	cenote_result_destroy(copy);
	assert_int_equal(cenote_get_result(conn, &done), CENOTE_DONE);
	wp_memory_expect_little(&w, "copy in");
	wp_memory_watch(&w, conn);
	copy = query(conn, "copy big to stdout", NULL, NULL);
	while ((r = cenote_copy_get(conn, &data, &len)) == CENOTE_OK)
		total += len;
	assert_int_equal(r, CENOTE_DONE);
	assert_int_equal(total, ROWS * sizeof(line));
	assert_ok(cenote_get_result(conn, &done));
	cenote_result_destroy(done);
	assert_int_equal(cenote_get_result(conn, &done), CENOTE_DONE);
	cenote_result_destroy(copy);
	wp_memory_expect_little(&w, "copy out");
}

/* A client that does not read makes the worker wait, and costs it no memory. */
static void
a_client_that_does_not_read_takes_little_memory(void **state)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	cenote_conn *conn = *state;
	cenote_result *res;
	struct wp_memory w;

	options.stream = 1;
	wp_memory_watch(&w, conn);
	res = query(conn, hundred_mb, NULL, &options);
	assert_int_equal(cenote_result_next(res), CENOTE_ROW);
	wp_pause_ms(1500);
	wp_memory_expect_little(&w, "waiting");
	cenote_result_destroy(res);
	assert_string_equal(wp_value(conn, "select 'behind'"), "behind");
}

static void
assert_policy(cenote_conn *conn, int policy)
{
	pid_t worker = wp_worker_pid(conn);

	for (int i = 0; i < 500 && sched_getscheduler(worker) != policy; i++)
		wp_pause_ms(10);
	assert_int_equal(sched_getscheduler(worker), policy);
}

/* A worker has the policy SCHED_BATCH from the first part of a long result to the end of the
 * request. */
static void
a_worker_lets_the_server_go_ahead_in_a_long_result(void **state)
{
	cenote_conn *conn = *state;
	cenote_result *res;

	assert_policy(conn, SCHED_OTHER);
	assert_ok(cenote_send_query(conn,
		"select repeat('x', 20000) || case when n = 5 then "
		"pg_sleep(2)::text else '' end from generate_series(1, 6) n",
		CENOTE_NTS, NULL, NULL));
	assert_policy(conn, SCHED_BATCH);
	assert_ok(cenote_get_result(conn, &res));
	assert_int_equal(cenote_result_n_rows(res), 6);
	cenote_result_destroy(res);
	assert_int_equal(cenote_get_result(conn, &res), CENOTE_DONE);
	assert_policy(conn, SCHED_OTHER);
}

static void
expect_x(const char *text, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		if (text[i] != 'x')
			fail_msg("byte %zu is 0x%02x", i, (unsigned char)text[i]);
	}
}

/* The worker reads a long row from the server's socket directly into the batch that it sends to the client. */
static void
a_long_row_is_in_memory_once(void **state)
{
	cenote_conn *conn = *state;
	pid_t worker = wp_worker_pid(conn);
	const size_t size = (size_t)100 << 20;
	cenote_result *res;
	const char *text;
	long before;
	size_t len;

	wp_exec(conn, "select 1");
	before = wp_peak_kb(worker);
	res = query(conn,
		"select 7 as a, repeat('x', 104857600) as b, null as c, now() as d, "
		"repeat('y', 5) as e union all select 8, 'z', null, now(), 'w'",
		NULL, NULL);
	if (before >= 0)
		assert_true(wp_peak_kb(worker) - before < (long)(size >> 10) + 16384);
	assert_string_equal(cenote_result_text(res, 0, 0, NULL), "7");
	text = cenote_result_text(res, 0, 1, &len);
	assert_int_equal(len, size);
	expect_x(text, 0, size);
	assert_null(cenote_result_text(res, 0, 2, NULL));
	assert_string_equal(cenote_result_text(res, 0, 4, NULL), "yyyyy");
	assert_string_equal(cenote_result_text(res, 1, 1, NULL), "z");
	cenote_result_destroy(res);
}

/* A refused row takes no memory either. Its session lives, and other rows arrive. */
static void
a_row_beyond_max_row_is_refused(void **state)
{
	char config[4096];
	cenote_conn *conn;
	cenote_result *res;
	pid_t worker;
	long before;
	size_t len;

	cenote_conn_destroy(*state);
	assert_int_equal(cnt_daemon_stop(&wp_daemon), 0);
	wp_start(cnt_server_config(
		&server, "sessions = 1\nmax_row = 2MB\n", config, sizeof(config)));
	*state = conn = wp_attach(NULL);
	worker = wp_worker_pid(conn);
	wp_exec(conn, "begin");
	wp_exec(conn, "create temp table t(a int)");
	wp_exec(conn, "savepoint s");
	before = wp_peak_kb(worker);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			wp_status_of(conn, i == 0 ? "select repeat('x', 104857600)"
						  : "select repeat('x', 2200000)"),
			CENOTE_ERR_SERVER);
		assert_string_equal(wp_sqlstate(conn), "54000");
		assert_string_equal(wp_message(conn),
			"a row is longer than pool main allows: max_row = 2MB");
		wp_exec(conn, "rollback to s");
	}
	if (before >= 0)
		assert_in_range(wp_peak_kb(worker), 0, before + 16384);
	/* many shorter rows are allowed */
	res = query(conn, "select repeat('x', 1900000) from generate_series(1, 10)", NULL,
		NULL);
	assert_int_equal(cenote_result_n_rows(res), 10);
	expect_x(cenote_result_text(res, 9, 0, &len), 0, 1900000);
	assert_int_equal(len, 1900000);
	cenote_result_destroy(res);
	assert_string_equal(wp_value(conn, "select count(*) from t"), "0");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	/* Memory tests first: memory that other tests have used and freed would hide it. */
	const struct CMUnitTest tests[] = {
		TEST(results_of_100_mb_take_little_memory),
		TEST(a_result_that_is_left_behind_takes_little_memory),
		TEST(copies_of_100_mb_take_little_memory),
		TEST(a_client_that_does_not_read_takes_little_memory),
		TEST(a_long_row_is_in_memory_once),
		TEST(a_row_beyond_max_row_is_refused),
		TEST(many_rows_without_columns),
		TEST(rows_of_1600_columns),
		TEST(a_statement_of_65535_parameters),
		TEST(values_of_64_mb),
		TEST(a_worker_lets_the_server_go_ahead_in_a_long_result),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
