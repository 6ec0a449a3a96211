/* SPDX-License-Identifier: BSD-2-Clause */
#include "with_pool.h"

#include <stdio.h>
#include <string.h>

#include "support/cnt_server.h"

/* Requests of a pipeline go to PostgreSQL several at a time. Clients may notice that only by the
 * speed. */

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

/* *state is an attached client; the pool has one session. */
static int
setup(void **state)
{
	char config[4096];

	wp_start(cnt_server_config(&server, "sessions = 1\n", config, sizeof(config)));
	*state = wp_attach(NULL);
	return 0;
}

static int
teardown(void **state)
{
	cenote_conn_destroy(*state);
	return wp_teardown(state);
}

static void
send(cenote_conn *conn, const char *sql)
{
	cenote_params *none;

	assert_ok(cenote_params_create(NULL, &none));
	assert_ok(cenote_send_query(conn, sql, CENOTE_NTS, none, NULL));
	cenote_params_destroy(none);
}

static void
sync_up(cenote_conn *conn)
{
	assert_ok(cenote_send_sync(conn));
}

/* Check one result, and the end of its request. */
static void
expect_text(cenote_conn *conn, int kind, const char *text)
{
	cenote_result *res = wp_next_result(conn, kind);
	const char *got = kind == CENOTE_RESULT_ROWS ? cenote_result_text(res, 0, 0, NULL)
			  : kind == CENOTE_RESULT_COMMAND
				  ? cenote_result_tag(res)
				  : cenote_diag_sqlstate(cenote_result_diag(res));

	assert_string_equal(got, text);
	cenote_result_destroy(res);
	cenote_result_destroy(wp_next_result(conn, 0));
}

static void
expect_kind(cenote_conn *conn, int kind)
{
	cenote_result_destroy(wp_next_result(conn, kind));
	cenote_result_destroy(wp_next_result(conn, 0));
}

static void
begin(cenote_conn *conn)
{
	assert_ok(cenote_pipeline_begin(conn));
}

static void
end(cenote_conn *conn)
{
	assert_ok(cenote_pipeline_end(conn));
}

/* ---- answers ---- */

/* There are more requests than go to the server at once, and some have long answers. */
static void
each_of_many_has_its_own_answer(void **state)
{
	cenote_conn *conn = *state;
	char sql[64], text[16];

	begin(conn);
	for (int i = 0; i < 700; i++) {
		snprintf(sql, sizeof(sql), "select %d, repeat('x', %d)", i,
			i % 50 == 7 ? 200000 : i % 10);
		send(conn, sql);
		if (i % 300 == 299)
			sync_up(conn);
	}
	sync_up(conn);
	for (int i = 0; i < 700; i++) {
		snprintf(text, sizeof(text), "%d", i);
		expect_text(conn, CENOTE_RESULT_ROWS, text);
		if (i % 300 == 299)
			expect_kind(conn, CENOTE_RESULT_SYNC);
	}
	expect_kind(conn, CENOTE_RESULT_SYNC);
	end(conn);
}

static cenote_stmt *
prepared(cenote_conn *conn, const char *sql)
{
	cenote_stmt *stmt;

	assert_ok(cenote_stmt_create(conn, sql, CENOTE_NTS, &stmt));
	assert_ok(cenote_stmt_prepare(stmt));
	return stmt;
}

static void
execute(cenote_stmt *stmt, int64_t value, int format)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	cenote_params *params;

	options.format = (uint32_t)format;
	assert_ok(cenote_params_create(NULL, &params));
	assert_ok(cenote_params_add_int64(params, value));
	assert_ok(cenote_send_execute(stmt, params, &options));
	cenote_params_destroy(params);
}

static void
each_execution_has_the_form_that_it_asked_for(void **state)
{
	static const uint8_t five[8] = { 0, 0, 0, 0, 0, 0, 0, 5 };
	cenote_conn *conn = *state;
	cenote_stmt *stmt = prepared(conn, "select $1::int8");
	cenote_result *res;
	size_t len;

	begin(conn);
	execute(stmt, 4, CENOTE_FORMAT_TEXT);
	execute(stmt, 5, CENOTE_FORMAT_BINARY);
	execute(stmt, 6, CENOTE_FORMAT_TEXT);
	sync_up(conn);
	expect_text(conn, CENOTE_RESULT_ROWS, "4");
	res = wp_next_result(conn, CENOTE_RESULT_ROWS);
	assert_memory_equal(cenote_result_text(res, 0, 0, &len), five, 8);
	assert_int_equal(len, 8);
	cenote_result_destroy(res);
	cenote_result_destroy(wp_next_result(conn, 0));
	expect_text(conn, CENOTE_RESULT_ROWS, "6");
	expect_kind(conn, CENOTE_RESULT_SYNC);
	end(conn);
	cenote_stmt_destroy(stmt);
}

static void
what_takes_the_line_for_itself_stands_between_others(void **state)
{
	cenote_conn *conn = *state;
	cenote_result *copy;

	wp_exec(conn, "create temp table c (a int)");
	begin(conn);
	send(conn, "insert into c values (1)");
	send(conn, "/* rows */ copy c from stdin");
	send(conn, "select sum(a) from c");
	assert_ok(cenote_flush(conn));
	expect_text(conn, CENOTE_RESULT_COMMAND, "INSERT 0 1");
	copy = wp_next_result(conn, CENOTE_RESULT_COPY_IN);
	assert_ok(cenote_copy_put(conn, "7\n", 2));
	assert_ok(cenote_copy_end(conn, NULL));
	expect_text(conn, CENOTE_RESULT_COMMAND, "COPY 1");
	cenote_result_destroy(copy);
	expect_text(conn, CENOTE_RESULT_ROWS, "8");
	sync_up(conn);
	expect_kind(conn, CENOTE_RESULT_SYNC);
	end(conn);
}

/* ---- failures ---- */

static void
behind_an_error_nothing_is_done_and_the_next_unit_is(void **state)
{
	cenote_conn *conn = *state;

	wp_exec(conn, "create temp table p (a int)");
	begin(conn);
	for (int unit = 0; unit < 3; unit++) {
		send(conn, "insert into p values (1)");
		send(conn, unit == 1 ? "select 1 / 0" : "select 1");
		send(conn, "insert into p values (1)");
		sync_up(conn);
	}
	for (int unit = 0; unit < 3; unit++) {
		expect_text(conn, CENOTE_RESULT_COMMAND, "INSERT 0 1");
		if (unit == 1) {
			expect_text(conn, CENOTE_RESULT_ERROR, "22012");
			expect_kind(conn, CENOTE_RESULT_SKIPPED);
		} else {
			expect_text(conn, CENOTE_RESULT_ROWS, "1");
			expect_text(conn, CENOTE_RESULT_COMMAND, "INSERT 0 1");
		}
		expect_kind(conn, CENOTE_RESULT_SYNC);
	}
	end(conn);
	assert_string_equal(wp_value(conn, "select count(*) from p"), "4");
}

/* A request fails in the pool while the server has the requests after it. Nobody knows which of
 * them it has carried out, so the session ends, and the client gets the truth. */
static void
what_fails_in_the_pool_with_others_behind_it_is_a_loss(void **state)
{
	cenote_conn *conn = *state;

	cenote_conn_destroy(conn);
	conn = wp_handle(NULL);
	assert_ok(cenote_conn_set(conn, "max_frame", "64kB"));
	assert_ok(cenote_connect(conn));
	*state = conn;
	/* alone, it is an error, and no more */
	begin(conn);
	send(conn, "select repeat('x', 200000)");
	sync_up(conn);
	expect_text(conn, CENOTE_RESULT_ERROR, "54000");
	expect_kind(conn, CENOTE_RESULT_SYNC);
	send(conn, "select repeat('x', 200000)");
	send(conn, "create table behind (a int)");
	sync_up(conn);
	expect_text(conn, CENOTE_RESULT_ERROR, "08007");
}

static void
lose(cenote_conn *conn, const char *behind, const char *sqlstate)
{
	assert_ok(cenote_begin(conn, 0, 0));
	begin(conn);
	send(conn, "select 1");
	send(conn, "select pg_terminate_backend(pg_backend_pid())");
	send(conn, behind);
	sync_up(conn);
	expect_text(conn, CENOTE_RESULT_ROWS, "1");
	expect_text(conn, CENOTE_RESULT_ERROR, sqlstate);
}

static void
a_loss_knows_of_a_commit_that_was_sent(void **state)
{
	lose(*state, "commit", "08007");
}

static void
a_loss_within_a_transaction_commits_nothing(void **state)
{
	lose(*state, "insert into nowhere values (1)", "08006");
}

/* ---- who goes away ---- */

static void
await_sleep(void)
{
	assert_int_equal(
		cnt_server_sql(&server,
			"do $$ begin while not exists (select from pg_stat_activity"
			" where query like '%1000%pg_sleep%'"
			" and wait_event = 'PgSleep' and pid <> pg_backend_pid()) loop"
			" perform pg_stat_clear_snapshot(); end loop; end $$"),
		0);
}

static void
what_was_sent_for_a_client_that_is_gone_leaves_nothing(void **state)
{
	cenote_conn *conn = *state;

	wp_exec(conn, "create table left_over (a int)");
	begin(conn);
	send(conn, "insert into left_over values (1)");
	send(conn, "set local work_mem = '1MB'");
	send(conn, "select generate_series(1, 100000), pg_sleep(60)");
	send(conn, "insert into left_over values (2)");
	assert_ok(cenote_flush(conn));
	await_sleep();
	cenote_conn_destroy(conn);
	conn = *state = wp_attach(NULL);
	assert_string_equal(wp_value(conn, "select count(*) from left_over"), "0");
	wp_exec(conn, "drop table left_over");
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(each_of_many_has_its_own_answer),
		TEST(each_execution_has_the_form_that_it_asked_for),
		TEST(what_takes_the_line_for_itself_stands_between_others),
		TEST(behind_an_error_nothing_is_done_and_the_next_unit_is),
		TEST(what_fails_in_the_pool_with_others_behind_it_is_a_loss),
		TEST(a_loss_knows_of_a_commit_that_was_sent),
		TEST(a_loss_within_a_transaction_commits_nothing),
		TEST(what_was_sent_for_a_client_that_is_gone_leaves_nothing),
	};

	cnt_server_need(CNT_POSTGRESQL);
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
