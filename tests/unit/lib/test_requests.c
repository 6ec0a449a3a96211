/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests of the public API against a pool that the test plays (support/cnt_peer.h).
 */
#include "fixture.h"

/* Names, formats, functions, long values, synchronisation points, streams made on demand. */

static void
old_and_new_options_are_taken_and_wrong_ones_are_not(void **state)
{
	static const uint8_t formats[] = { 2, 0, 1 }, wrong[] = { 3 };
	struct fixture *f = *state;
	cenote_exec_options o = CENOTE_EXEC_OPTIONS_INIT;
	cenote_stmt *stmt = create_stmt(f, "rows 2");
	cenote_result *res;

	o.size = offsetof(cenote_exec_options, formats);
	o.formats = wrong; /* beyond the end that `size` gives, so ignored */
	o.n_formats = 99;
	assert_ok(cenote_query(f->conn, "rows 2", 6, NULL, &o, &res));
	cenote_result_destroy(res);
	o.size = sizeof(o);
	assert_int_equal(
		cenote_query(f->conn, "rows 2", 6, NULL, &o, &res), CENOTE_ERR_ARG);
	o.n_formats = 1;
	assert_int_equal(
		cenote_query(f->conn, "rows 2", 6, NULL, &o, &res), CENOTE_ERR_ARG);
	o.formats = NULL;
	assert_int_equal(
		cenote_query(f->conn, "rows 2", 6, NULL, &o, &res), CENOTE_ERR_ARG);
	o.size = sizeof(o) - 1;
	o.n_formats = 0;
	assert_int_equal(
		cenote_query(f->conn, "rows 2", 6, NULL, &o, &res), CENOTE_ERR_ARG);
	o.size = sizeof(o);
	o.formats = formats;
	o.n_formats = 3;
	for (int i = 0; i < 2; i++) {
		assert_ok(cenote_stmt_execute(stmt, NULL, &o, &res));
		cenote_result_destroy(res);
	}
	assert_string_equal(f->peer.seen.asked, "EXECUTE  3;EXECUTE  3;");
	cenote_stmt_destroy(stmt);
}

/* An empty list of values is not the same as no list. */
static void
an_empty_list_of_values_is_the_extended_form(void **state)
{
	struct fixture *f = *state;
	cenote_params *params;
	cenote_result *res;

	assert_ok(cenote_params_create(NULL, &params));
	assert_ok(cenote_query(f->conn, "form", 4, params, NULL, &res));
	assert_string_equal(cenote_result_tag(res), "extended");
	cenote_result_destroy(res);
	assert_ok(cenote_query(f->conn, "form", 4, NULL, NULL, &res));
	assert_string_equal(cenote_result_tag(res), "simple");
	cenote_result_destroy(res);
	cenote_params_destroy(params);
}

static void
a_named_statement_is_prepared_under_its_name_and_types(void **state)
{
	static const uint32_t types[] = { 23, 0 };
	struct fixture *f = *state;
	cenote_stmt *stmt = create_stmt(f, "cmd");
	cenote_result *res;

	assert_ok(cenote_stmt_set_name(stmt, "s1"));
	assert_ok(cenote_stmt_set_param_types(stmt, types, 2));
	assert_int_equal(cenote_stmt_set_param_types(stmt, NULL, 1), CENOTE_ERR_ARG);
	assert_ok(cenote_stmt_prepare(stmt));
	assert_int_equal(cenote_stmt_set_name(stmt, "s2"), CENOTE_ERR_STATE);
	assert_int_equal(cenote_stmt_set_param_types(stmt, NULL, 0), CENOTE_ERR_STATE);
	execute(stmt);
	assert_string_equal(f->peer.seen.asked, "PREPARE 0 s1 8;EXECUTE s1 0;");
	/* another session does not know the name */
	assert_ok(run(f, "yield"));
	execute(stmt);
	execute(stmt);
	assert_string_equal(f->peer.seen.asked,
		"PREPARE 0 s1 8;EXECUTE s1 0;PREPARE 0 s1 8;EXECUTE s1 0;EXECUTE s1 0;");
	/* nor does it if the program has closed it before */
	assert_ok(cenote_close_named(f->conn, CENOTE_NAMED_STATEMENT, "s1"));
	assert_ok(run(f, "yield"));
	assert_int_equal(cenote_stmt_execute(stmt, NULL, NULL, &res), CENOTE_ERR_SERVER);
	assert_string_equal(sqlstate_of(f), "26000");
	assert_int_equal(f->peer.seen.n_prepares, 2);
	cenote_stmt_destroy(stmt);
	assert_ok(run(f, "cmd"));
	assert_int_equal(f->peer.seen.n_closes, 1);
}

static void
a_handle_by_name_uses_what_the_server_knows(void **state)
{
	struct fixture *f = *state;
	cenote_stmt *stmt = create_stmt(f, "params"), *known;
	cenote_result *res;

	assert_ok(cenote_stmt_set_name(stmt, "p"));
	assert_ok(cenote_stmt_prepare(stmt));
	assert_int_equal(cenote_stmt_by_name(f->conn, NULL, &known), CENOTE_ERR_ARG);
	assert_ok(cenote_stmt_by_name(f->conn, "p", &known));
	assert_int_equal(cenote_stmt_prepare(known), CENOTE_ERR_STATE);
	assert_ok(cenote_send_describe(known));
	take_kind(f, CENOTE_RESULT_DESCRIPTION);
	assert_int_equal(cenote_stmt_n_params(known), 1);
	assert_ok(cenote_stmt_execute(known, NULL, NULL, &res));
	cenote_result_destroy(res);
	assert_ok(cenote_describe_named(f->conn, CENOTE_NAMED_STATEMENT, "p", &res));
	assert_int_equal(cenote_result_n_params(res), 1);
	assert_int_equal(cenote_result_param_type(res, 0), CENOTE_TYPE_INT64);
	assert_int_equal(cenote_result_param_native_type(res, 0), 20);
	assert_string_equal(cenote_result_param_name(res, 0), ":a");
	assert_string_equal(cenote_result_param_name(res, 1), "");
	assert_int_equal(cenote_result_n_columns(res), 3);
	cenote_result_destroy(res);
	assert_ok(cenote_close_named(f->conn, CENOTE_NAMED_PORTAL, "cur"));
	assert_int_equal(cenote_close_named(f->conn, 2, "cur"), CENOTE_ERR_ARG);
	assert_ok(cenote_send_close_named(f->conn, 0, "p"));
	take_kind(f, CENOTE_RESULT_COMMAND);
	assert_string_equal(f->peer.seen.asked, "PREPARE 0 p 0;DESCRIBE 0 p;EXECUTE p "
						"0;DESCRIBE 0 p;CLOSE 1 cur;CLOSE 0 p;");
	cenote_stmt_destroy(known);
	cenote_stmt_destroy(stmt);
}

static void
a_function_gives_one_value(void **state)
{
	struct fixture *f = *state;
	cenote_result *res;
	size_t len;

	assert_int_equal(cenote_function(f->conn, 17, NULL, 9, &res), CENOTE_ERR_ARG);
	assert_ok(cenote_function(f->conn, 17, NULL, 2, &res));
	assert_non_null(cenote_result_text(res, 0, 0, &len));
	assert_int_equal(len, 17);
	cenote_result_destroy(res);
	assert_ok(cenote_send_function(f->conn, 18, NULL, 0));
	take_kind(f, CENOTE_RESULT_ROWS);
	assert_string_equal(f->peer.seen.asked, "FUNCTION 17;FUNCTION 18;");
}

static void
long_values_go_ahead_of_their_execution(void **state)
{
	struct fixture *f = *state;
	cenote_stmt *stmt = create_stmt(f, "params");
	cenote_params *params;
	cenote_result *res;
	char *big = calloc(1, 200000);

	assert_ok(cenote_params_create(NULL, &params));
	assert_int_equal(
		cenote_params_add_long(params, CENOTE_TYPE_INT64), CENOTE_ERR_ARG);
	assert_ok(cenote_params_add_long(params, CENOTE_TYPE_BYTES));
	assert_int_equal(cenote_send_long_data(stmt, 0, "x", 1), CENOTE_ERR_STATE);
	assert_ok(cenote_stmt_prepare(stmt));
	assert_int_equal(cenote_send_long_data(stmt, 65536, "x", 1), CENOTE_ERR_ARG);
	assert_ok(cenote_send_long_data(stmt, 0, big, 200000));
	assert_ok(cenote_send_long_data(stmt, 0, "more", 4));
	assert_ok(cenote_stmt_execute(stmt, params, NULL, &res));
	cenote_result_destroy(res);
	assert_int_equal(f->peer.seen.n_long, 200004);
	/* Without a session, the pieces wait for the next one, which gets the statement first. */
	assert_ok(run(f, "yield"));
	assert_ok(cenote_send_long_data(stmt, 0, "again", 5));
	f->peer.seen.n_long = 0;
	assert_ok(cenote_stmt_execute(stmt, params, NULL, &res));
	cenote_result_destroy(res);
	assert_int_equal(f->peer.seen.n_long, 5);
	cenote_stmt_destroy(stmt);
	cenote_params_destroy(params);
	free(big);
}

/* Pieces that no request follows are still here, so another session can get them. */
static void
a_long_value_goes_to_the_session_that_executes_it(void **state)
{
	struct fixture *f = *state;
	cenote_stmt *stmt = create_stmt(f, "cmd");

	assert_ok(cenote_stmt_prepare(stmt));
	assert_ok(cenote_send_long_data(stmt, 0, "one", 3));
	cnt_peer_drop(&f->peer, 0);
	f->peer.seen.n_long = 0;
	assert_ok(cenote_send_long_data(stmt, 0, "two", 3));
	execute(stmt);
	assert_int_equal(f->peer.seen.n_long, 6);
	/* it was used, so the session holds nothing any more */
	cnt_peer_drop(&f->peer, 0);
	assert_ok(run(f, "cmd"));
	cenote_stmt_destroy(stmt);
}

/* The first piece is only in the session: if that is lost, the value must not go on without it. */
static void
a_session_lost_with_a_piece_is_told(void **state)
{
	struct fixture *f = *state;
	cenote_stmt *stmt = create_stmt(f, "cmd");

	assert_ok(cenote_stmt_prepare(stmt));
	assert_ok(cenote_send_long_data(stmt, 0, "one", 3));
	assert_ok(run(f, "cmd"));
	cnt_peer_drop(&f->peer, 0);
	assert_int_equal(run(f, "cmd"), CENOTE_ERR_CONN);
	assert_string_equal(sqlstate_of(f), "08006");
	assert_non_null(strstr(message_of(f), "pieces of a long value"));
	assert_int_equal(cenote_send_long_data(stmt, 0, "two", 3), CENOTE_ERR_CONN);
	/* the next session has no pieces to lose */
	assert_ok(cenote_connect(f->conn));
	assert_ok(run(f, "cmd"));
	cnt_peer_drop(&f->peer, 0);
	assert_ok(run(f, "cmd"));
	cenote_stmt_destroy(stmt);
}

/* No piece of the value is sent twice, and none is left out. */
static void
a_long_value_is_said_again_after_a_lack_of_memory(void **state)
{
	struct fixture *f = *state;
	cenote_stmt *stmt = create_stmt(f, "params");
	char *big = calloc(1, 1 << 20);
	cenote_params *params;
	cenote_result *res;

	assert_ok(cenote_params_create(NULL, &params));
	assert_ok(cenote_params_add_long(params, CENOTE_TYPE_BYTES));
	assert_ok(cenote_stmt_prepare(stmt));
	for (size_t n = 1, len = 1 << 17;; n++, len += 1 << 14) {
		int r;

		f->peer.seen.n_long = 0;
		f->alloc.n_calls = 0;
		f->alloc.n_failed = 0;
		f->alloc.fail_at = n;
		r = cenote_send_long_data(stmt, 0, big, len);
		f->alloc.fail_at = 0;
		if (f->alloc.n_failed > 0) {
			assert_int_equal(r, CENOTE_ERR_NOMEM);
			r = cenote_send_long_data(stmt, 0, big, len);
		}
		assert_ok(r);
		assert_ok(cenote_stmt_execute(stmt, params, NULL, &res));
		cenote_result_destroy(res);
		assert_int_equal(f->peer.seen.n_long, len);
		if (f->alloc.n_failed == 0 && n > 1)
			break;
	}
	cenote_stmt_destroy(stmt);
	cenote_params_destroy(params);
	free(big);
}

static void
a_synchronisation_point_may_fail(void **state)
{
	struct fixture *f = *state;
	cenote_result *res;

	f->peer.knobs.fail_sync = 1;
	assert_ok(cenote_pipeline_begin(f->conn));
	send_unit(f, "cmd");
	take_kind(f, CENOTE_RESULT_COMMAND);
	assert_ok(cenote_get_result(f->conn, &res));
	assert_int_equal(cenote_result_kind(res), CENOTE_RESULT_ERROR);
	assert_string_equal(cenote_diag_sqlstate(cenote_result_diag(res)), "23503");
	cenote_result_destroy(res);
	take_kind(f, CENOTE_RESULT_SYNC);
	/* the library also reports the error of a synchronisation point that it adds itself */
	send_query(f, "cmd");
	assert_ok(cenote_flush(f->conn));
	take_kind(f, CENOTE_RESULT_COMMAND);
	assert_int_equal(
		cenote_query(f->conn, "cmd", 3, NULL, NULL, &res), CENOTE_ERR_SERVER);
	assert_string_equal(sqlstate_of(f), "23503");
	send_query(f, "cmd");
	assert_ok(cenote_flush(f->conn));
	take_kind(f, CENOTE_RESULT_COMMAND);
	assert_int_equal(cenote_pipeline_end(f->conn), CENOTE_ERR_SERVER);
	assert_string_equal(sqlstate_of(f), "23503");
	assert_int_equal(cenote_pipeline_end(f->conn), CENOTE_ERR_STATE);
	f->peer.knobs.fail_sync = 0;
	assert_ok(run(f, "cmd"));
}

/* A flush in a pipeline adds a set-up request, so that the pool answers before it goes on. One
 * is enough, and after a synchronisation point none is needed. */
static void
a_flush_asks_for_the_answers(void **state)
{
	struct fixture *f = *state;

	assert_ok(cenote_pipeline_begin(f->conn));
	assert_ok(cenote_flush(f->conn));
	send_query(f, "cmd");
	send_query(f, "cmd");
	assert_ok(cenote_flush(f->conn));
	assert_ok(cenote_flush(f->conn));
	send_unit(f, "cmd");
	assert_ok(cenote_flush(f->conn));
	for (int i = 0; i < 3; i++)
		take_kind(f, CENOTE_RESULT_COMMAND);
	take_kind(f, CENOTE_RESULT_SYNC);
	assert_ok(cenote_pipeline_end(f->conn));
	assert_int_equal(f->peer.seen.n_portals_closed, 1);
	/* outside a pipeline, a flush adds nothing */
	send_query(f, "cmd");
	assert_ok(cenote_flush(f->conn));
	take_kind(f, CENOTE_RESULT_COMMAND);
	assert_ok(run(f, "cmd"));
	assert_int_equal(f->peer.seen.n_portals_closed, 1);
}

/* A synchronisation point commits requests that were already answered. If it is lost, nobody
 * knows whether they were committed. */
static void
a_lost_synchronisation_point_leaves_the_outcome_unknown(void **state)
{
	struct fixture *f = *state;
	cenote_result *res;

	f->peer.knobs.die_on = CNP_MSG_SYNC;
	for (int has_write = 0; has_write < 2; has_write++) {
		assert_ok(cenote_pipeline_begin(f->conn));
		send_query(f, has_write ? "cmd" : "select");
		assert_ok(cenote_flush(f->conn));
		assert_ok(cenote_get_result(f->conn, &res));
		finish_request(f, res);
		assert_ok(cenote_send_sync(f->conn));
		assert_int_equal(cenote_get_result(f->conn, &res), CENOTE_ERR_CONN);
		assert_string_equal(sqlstate_of(f), has_write ? "08007" : "08006");
		cenote_close(f->conn);
		assert_ok(cenote_connect(f->conn));
	}
}

static void
a_request_can_be_made_a_stream_and_a_stream_be_kept(void **state)
{
	struct fixture *f = *state;
	cenote_exec_options o = CENOTE_EXEC_OPTIONS_INIT;
	cenote_result *res;
	uint64_t n = 0;

	assert_int_equal(cenote_set_stream(f->conn), CENOTE_ERR_STATE);
	send_query(f, "rows 1000");
	assert_ok(cenote_set_stream(f->conn));
	assert_ok(cenote_get_result(f->conn, &res));
	while (cenote_result_next(res) == CENOTE_ROW)
		n += cenote_result_n_rows(res);
	assert_int_equal(n, 1000);
	assert_int_equal(cenote_result_buffer(res), CENOTE_ERR_STATE);
	cenote_result_destroy(res);
	o.stream = 1;
	assert_ok(cenote_query(f->conn, "rows 1000", 9, NULL, &o, &res));
	assert_ok(cenote_result_buffer(res));
	assert_int_equal(cenote_result_n_rows(res), 1000);
	assert_int_equal(int_at(res, 999, 0), 999);
	assert_int_equal(cenote_result_next(res), CENOTE_ERR_STATE);
	assert_int_equal(cenote_result_buffer(res), CENOTE_ERR_STATE);
	assert_ok(run(f, "cmd"));
	assert_int_equal(int_at(res, 0, 0), 0);
	cenote_result_destroy(res);
	assert_ok(cenote_query(f->conn, "rows_fail 200", 13, NULL, &o, &res));
	assert_int_equal(cenote_result_buffer(res), CENOTE_ERR_SERVER);
	cenote_result_destroy(res);
	assert_ok(run(f, "cmd"));
}

/* Two streams with portals: the second is read when the program asks for it. */
static void
a_batch_behind_a_stream_that_waits_is_fetched(void **state)
{
	struct fixture *f = *state;
	cenote_exec_options o = CENOTE_EXEC_OPTIONS_INIT;
	cenote_result *first, *second;
	uint64_t n = 0;

	assert_ok(cenote_pipeline_begin(f->conn));
	o.stream = 1;
	o.batch_rows = 2;
	assert_ok(cenote_send_query(f->conn, "rows 5", CENOTE_NTS, NULL, &o));
	o.batch_rows = 0;
	assert_ok(cenote_send_query(f->conn, "rows 3", CENOTE_NTS, NULL, &o));
	assert_ok(cenote_send_query(f->conn, "cmd", CENOTE_NTS, NULL, &o));
	assert_ok(cenote_send_sync(f->conn));
	assert_ok(cenote_get_result(f->conn, &first));
	while (cenote_result_next(first) == CENOTE_ROW)
		n += cenote_result_n_rows(first);
	assert_int_equal(n, 5);
	cenote_result_destroy(first);
	assert_int_equal(cenote_get_result(f->conn, &second), CENOTE_DONE);
	assert_ok(cenote_get_result(f->conn, &second));
	assert_int_equal(cenote_result_next(second), CENOTE_ROW);
	assert_int_equal(cenote_result_n_rows(second), 3);
	assert_int_equal(cenote_result_next(second), CENOTE_DONE);
	cenote_result_destroy(second);
	assert_int_equal(cenote_get_result(f->conn, &second), CENOTE_DONE);
	take_kind(f, CENOTE_RESULT_COMMAND);
	take_kind(f, CENOTE_RESULT_SYNC);
	assert_ok(cenote_pipeline_end(f->conn));
}

/* The next batch of a stream cannot be fetched while a copy in waits for the program. */
static void
a_batch_behind_a_copy_in_is_not_waited_for(void **state)
{
	struct fixture *f = *state;
	cenote_exec_options o = CENOTE_EXEC_OPTIONS_INIT;
	cenote_result *rows, *copy;

	assert_ok(cenote_pipeline_begin(f->conn));
	o.stream = 1;
	o.batch_rows = 2;
	assert_ok(cenote_send_query(f->conn, "rows 3", CENOTE_NTS, NULL, &o));
	assert_ok(cenote_send_query(f->conn, "copy_in", CENOTE_NTS, NULL, NULL));
	assert_ok(cenote_send_sync(f->conn));
	assert_ok(cenote_get_result(f->conn, &rows));
	assert_int_equal(cenote_result_next(rows), CENOTE_ROW);
	assert_int_equal(cenote_result_next(rows), CENOTE_ERR_STATE);
	assert_non_null(strstr(message_of(f), "cenote_copy_end()"));
	assert_int_equal(cenote_get_result(f->conn, &copy), CENOTE_DONE);
	assert_ok(cenote_get_result(f->conn, &copy));
	assert_int_equal(cenote_result_kind(copy), CENOTE_RESULT_COPY_IN);
	assert_ok(cenote_copy_end(f->conn, NULL));
	assert_int_equal(cenote_result_next(rows), CENOTE_ROW);
	assert_int_equal(cenote_result_n_rows(rows), 1);
	assert_int_equal(cenote_result_next(rows), CENOTE_DONE);
	cenote_result_destroy(rows);
	cenote_result_destroy(copy);
	take_kind(f, CENOTE_RESULT_COMMAND);
	take_kind(f, CENOTE_RESULT_SYNC);
	assert_ok(cenote_pipeline_end(f->conn));
}

static void
flushing_nothing_takes_no_session(void **state)
{
	struct fixture *f = *state;

	assert_ok(run(f, "yield"));
	assert_ok(cenote_process(f->conn));
	assert_ok(cenote_flush(f->conn));
	assert_string_equal(cenote_info(f->conn, "attaches"), "1");
	assert_ok(run(f, "cmd"));
	assert_string_equal(cenote_info(f->conn, "attaches"), "2");
}

static void
a_result_tells_its_flags_and_the_server_s_status(void **state)
{
	struct fixture *f = *state;
	cenote_exec_options o = CENOTE_EXEC_OPTIONS_INIT;
	cenote_result *res;

	assert_ok(cenote_query(f->conn, "empty", 5, NULL, NULL, &res));
	assert_int_equal(cenote_result_flags(res), CENOTE_RESULT_FLAG_EMPTY);
	assert_int_equal(cenote_result_server_status(res), 0x22);
	cenote_result_destroy(res);
	o.max_rows = 2;
	assert_ok(cenote_query(f->conn, "rows 3", 6, NULL, &o, &res));
	assert_int_equal(cenote_result_flags(res), CENOTE_RESULT_FLAG_LIMITED);
	cenote_result_destroy(res);
	assert_ok(cenote_query(f->conn, "two", 3, NULL, NULL, &res));
	assert_int_equal(cenote_result_flags(res), CENOTE_RESULT_FLAG_MORE);
	cenote_result_destroy(res);
	take_kind(f, CENOTE_RESULT_COMMAND);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_connected, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(old_and_new_options_are_taken_and_wrong_ones_are_not),
		TEST(an_empty_list_of_values_is_the_extended_form),
		TEST(a_named_statement_is_prepared_under_its_name_and_types),
		TEST(a_handle_by_name_uses_what_the_server_knows),
		TEST(a_function_gives_one_value),
		TEST(long_values_go_ahead_of_their_execution),
		TEST(a_long_value_goes_to_the_session_that_executes_it),
		TEST(a_session_lost_with_a_piece_is_told),
		TEST(a_long_value_is_said_again_after_a_lack_of_memory),
		TEST(a_synchronisation_point_may_fail),
		TEST(a_flush_asks_for_the_answers),
		TEST(a_lost_synchronisation_point_leaves_the_outcome_unknown),
		TEST(a_request_can_be_made_a_stream_and_a_stream_be_kept),
		TEST(a_batch_behind_a_stream_that_waits_is_fetched),
		TEST(a_batch_behind_a_copy_in_is_not_waited_for),
		TEST(flushing_nothing_takes_no_session),
		TEST(a_result_tells_its_flags_and_the_server_s_status),
	};

	return cmocka_run_group_tests_name("lib_requests", tests, NULL, NULL);
}
