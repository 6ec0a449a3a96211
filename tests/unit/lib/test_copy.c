/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * COPY through the public API, against a pool that the test plays (support/cnt_peer.h).
 */
#include "fixture.h"

static cenote_result *
begin(struct fixture *f, const char *sql, int kind)
{
	cenote_result *res;

	assert_ok(cenote_query(f->conn, sql, CENOTE_NTS, NULL, NULL, &res));
	assert_int_equal(cenote_result_kind(res), kind);
	return res;
}

static cenote_result *
begin_in(struct fixture *f, const char *sql)
{
	return begin(f, sql, CENOTE_RESULT_COPY_IN);
}

static int
put(struct fixture *f, const char *text)
{
	return cenote_copy_put(f->conn, text, strlen(text));
}

/* Expect the statement's own result, and nothing after it. */
static void
expect_end(struct fixture *f, int kind, const char *text)
{
	cenote_result *res;

	assert_ok(cenote_get_result(f->conn, &res));
	assert_int_equal(cenote_result_kind(res), kind);
	if (kind == CENOTE_RESULT_ERROR)
		assert_non_null(
			strstr(cenote_diag_message(cenote_result_diag(res)), text));
	else
		assert_string_equal(cenote_result_tag(res), text);
	finish_request(f, res);
}

static void
what_is_put_arrives_and_the_statement_is_done(void **state)
{
	struct fixture *f = *state;
	cenote_result *res = begin_in(f, "copy_in"), *other;

	assert_int_equal(cenote_copy_format(res), CENOTE_FORMAT_TEXT);
	assert_int_equal(cenote_copy_n_columns(res), 2);
	assert_int_equal(cenote_copy_column_format(res, 0), CENOTE_FORMAT_TEXT);
	assert_int_equal(cenote_copy_column_format(res, 1), CENOTE_FORMAT_BINARY);
	assert_int_equal(cenote_copy_column_format(res, 2), -1);
	assert_string_equal(cenote_copy_file(res), "");
	assert_int_equal(cenote_result_next(res), CENOTE_ERR_STATE);
	assert_ok(put(f, "1\ta\n"));
	assert_int_equal(cenote_get_result(f->conn, &other), CENOTE_ERR_STATE);
	assert_int_equal(run(f, "cmd"), CENOTE_ERR_STATE);
	assert_ok(put(f, ""));
	assert_int_equal(cenote_copy_put(f->conn, NULL, 1), CENOTE_ERR_ARG);
	assert_ok(put(f, "2\tb\n"));
	assert_ok(cenote_copy_end(f->conn, NULL));
	assert_int_equal(put(f, "late"), CENOTE_ERR_STATE);
	expect_end(f, CENOTE_RESULT_COMMAND, "COPY");
	assert_string_equal(f->peer.seen.copied, "1\ta\n2\tb\n");
	cenote_result_destroy(res);
	assert_int_equal(cenote_copy_end(f->conn, NULL), CENOTE_ERR_STATE);
	assert_ok(run(f, "cmd"));
}

static void
a_program_that_gives_up_says_why(void **state)
{
	struct fixture *f = *state;
	cenote_result *res = begin_in(f, "copy_in");

	assert_ok(put(f, "1"));
	assert_ok(cenote_copy_end(f->conn, "no more paper"));
	expect_end(f, CENOTE_RESULT_ERROR, "no more paper");
	cenote_result_destroy(res);
	assert_ok(run(f, "cmd"));
}

/* A copy in and a copy out, with and without asking for the statement's result. */
static void
a_copy_that_is_destroyed_ends(void **state)
{
	struct fixture *f = *state;
	cenote_result *res;

	for (int is_asked = 0; is_asked < 2; is_asked++) {
		res = begin_in(f, "copy_in");
		assert_ok(put(f, "1"));
		cenote_result_destroy(res);
		assert_int_equal(put(f, "1"), CENOTE_ERR_STATE);
		if (is_asked)
			expect_end(f, CENOTE_RESULT_ERROR, "gave the copy up");
		assert_ok(run(f, "cmd"));
		res = begin(f, "copy_out 1000", CENOTE_RESULT_COPY_OUT);
		cenote_result_destroy(res);
		if (is_asked)
			expect_end(f, CENOTE_RESULT_COMMAND, "COPY");
		assert_ok(run(f, "cmd"));
	}
}

static void
a_copy_that_the_server_ends_early_says_so(void **state)
{
	struct fixture *f = *state;
	cenote_result *res = begin_in(f, "copy_early 100000");
	char text[5000];
	unsigned n = 0;
	int r;

	memset(text, 'x', sizeof(text));
	do
		r = cenote_copy_put(f->conn, text, sizeof(text));
	while (r == CENOTE_OK && ++n < 100000);
	assert_int_equal(r, CENOTE_DONE);
	assert_true(n >= 20);
	if (n % 2)
		assert_ok(cenote_copy_end(f->conn, NULL));
	expect_end(f, CENOTE_RESULT_ERROR, "that is enough");
	cenote_result_destroy(res);
	assert_ok(run(f, "cmd"));
}

static void
the_rest_of_one_copy_is_not_taken_for_the_next(void **state)
{
	struct fixture *f = *state;
	cenote_result *first = begin_in(f, "copy_twice"), *res;

	(void)!put(f, "first");
	(void)!cenote_copy_end(f->conn, NULL);
	assert_ok(cenote_get_result(f->conn, &res));
	assert_int_equal(cenote_result_kind(res), CENOTE_RESULT_COMMAND);
	assert_int_equal(cenote_result_flags(res), CENOTE_RESULT_FLAG_MORE);
	cenote_result_destroy(res);
	assert_ok(cenote_get_result(f->conn, &res));
	assert_int_equal(cenote_result_kind(res), CENOTE_RESULT_COPY_IN);
	cenote_result_destroy(first);
	assert_ok(put(f, "second"));
	assert_ok(cenote_copy_end(f->conn, NULL));
	expect_end(f, CENOTE_RESULT_COMMAND, "COPY");
	cenote_result_destroy(res);
	assert_string_equal(f->peer.seen.copied, "second");
}

static void
a_file_is_sent_only_by_a_program_that_allows_it(void **state)
{
	struct fixture *f = *state;
	cenote_result *res;

	assert_int_equal(run(f, "file /etc/passwd"), CENOTE_ERR_SERVER);
	assert_non_null(strstr(message_of(f), "allow_files"));
	assert_int_equal(f->peer.seen.n_copied, 0);
	assert_int_equal(cenote_conn_set(f->conn, "run_dir", "/x"), CENOTE_ERR_STATE);
	assert_ok(cenote_conn_set(f->conn, "allow_files", "yes"));
	res = begin_in(f, "file /etc/passwd");
	assert_string_equal(cenote_copy_file(res), "/etc/passwd");
	assert_ok(put(f, "root"));
	assert_ok(cenote_copy_end(f->conn, NULL));
	expect_end(f, CENOTE_RESULT_COMMAND, "COPY");
	cenote_result_destroy(res);
	assert_string_equal(f->peer.seen.copied, "root");
}

static void
what_comes_out_comes_piece_by_piece(void **state)
{
	struct fixture *f = *state;
	cenote_result *res = begin(f, "copy_out 5000", CENOTE_RESULT_COPY_OUT);
	const char *data;
	char wanted[32];
	size_t len;

	assert_int_equal(cenote_copy_format(res), CENOTE_FORMAT_BINARY);
	assert_int_equal(cenote_copy_column_format(res, 0), CENOTE_FORMAT_BINARY);
	assert_int_equal(put(f, "1"), CENOTE_ERR_STATE);
	for (unsigned i = 0; i < 5000; i++) {
		(void)snprintf(wanted, sizeof(wanted), "%u\n", i);
		assert_ok(cenote_copy_get(f->conn, &data, &len));
		assert_string_equal(data, wanted);
		assert_int_equal(len, strlen(wanted));
	}
	assert_int_equal(cenote_copy_get(f->conn, &data, &len), CENOTE_DONE);
	assert_int_equal(cenote_copy_get(f->conn, &data, &len), CENOTE_DONE);
	expect_end(f, CENOTE_RESULT_COMMAND, "COPY");
	cenote_result_destroy(res);
	assert_int_equal(cenote_copy_get(f->conn, &data, &len), CENOTE_ERR_STATE);
}

static void
a_session_lost_in_a_copy_is_told_behind_what_came(void **state)
{
	struct fixture *f = *state;
	cenote_result *res = begin(f, "copy_die", CENOTE_RESULT_COPY_OUT), *other;
	const char *data;
	size_t len;

	assert_ok(cenote_copy_get(f->conn, &data, &len));
	assert_string_equal(data, "0\n");
	assert_int_equal(cenote_copy_get(f->conn, &data, &len), CENOTE_ERR_CONN);
	assert_int_equal(cenote_get_result(f->conn, &other), CENOTE_ERR_CONN);
	cenote_result_destroy(res);
}

/* The server may have committed the copy before the connection was lost. */
static void
a_copy_lost_on_its_way_in_leaves_the_outcome_unknown(void **state)
{
	struct fixture *f = *state;
	cenote_result *res = begin_in(f, "copy_in"), *other;

	cnt_peer_drop(&f->peer, 0);
	assert_ok(put(f, "1"));
	(void)!cenote_copy_end(f->conn, NULL);
	assert_int_equal(cenote_get_result(f->conn, &other), CENOTE_ERR_CONN);
	assert_string_equal(sqlstate_of(f), "08007");
	cenote_result_destroy(res);
}

static void
requests_behind_a_copy_wait_for_its_end(void **state)
{
	struct fixture *f = *state;
	cenote_result *res, *copy;

	assert_ok(cenote_pipeline_begin(f->conn));
	send_query(f, "copy_in");
	send_unit(f, "rows 3");
	assert_ok(cenote_get_result(f->conn, &copy));
	send_query(f, "cmd");
	assert_ok(put(f, "data"));
	assert_ok(cenote_copy_end(f->conn, NULL));
	take_kind(f, CENOTE_RESULT_COMMAND);
	cenote_result_destroy(copy);
	assert_ok(cenote_get_result(f->conn, &res));
	assert_int_equal(cenote_result_n_rows(res), 3);
	finish_request(f, res);
	take_kind(f, CENOTE_RESULT_SYNC);
	assert_ok(cenote_send_sync(f->conn));
	take_kind(f, CENOTE_RESULT_COMMAND);
	take_kind(f, CENOTE_RESULT_SYNC);
	assert_ok(cenote_pipeline_end(f->conn));
	assert_string_equal(f->peer.seen.copied, "data");
}

static void
a_prepared_statement_may_copy(void **state)
{
	struct fixture *f = *state;
	cenote_stmt *stmt = create_stmt(f, "copy_out 2");
	cenote_result *res;
	const char *data;
	size_t len;

	for (int i = 0; i < 2; i++) {
		assert_ok(cenote_stmt_execute(stmt, NULL, NULL, &res));
		assert_int_equal(cenote_result_kind(res), CENOTE_RESULT_COPY_OUT);
		assert_ok(cenote_copy_get(f->conn, &data, &len));
		cenote_result_destroy(res);
	}
	cenote_stmt_destroy(stmt);
}

/* A reader that stops costs no memory. A writer gets CENOTE_AGAIN if the pool stops reading. */
static void
copies_hold_no_more_than_their_bounds(void **state)
{
	struct fixture *f = *state;
	cenote_result *res = begin(f, "copy_out 200000", CENOTE_RESULT_COPY_OUT);
	size_t before = f->alloc.live_bytes;
	const char *data;
	size_t len;
	char text[8192];
	int r = CENOTE_OK;

	for (int i = 0; i < 100; i++)
		assert_ok(cenote_copy_get(f->conn, &data, &len));
	assert_true(f->alloc.live_bytes < before + 300000);
	cenote_result_destroy(res);
	res = begin_in(f, "copy_in");
	cnt_peer_stop(&f->peer);
	assert_ok(cenote_set_nonblocking(f->conn, 1));
	memset(text, 'y', sizeof(text));
	for (int i = 0; i < 1000 && r == CENOTE_OK; i++)
		r = cenote_copy_put(f->conn, text, sizeof(text));
	assert_int_equal(r, CENOTE_AGAIN);
	assert_true(f->alloc.live_bytes < 3000000);
	assert_true(cenote_wants(f->conn) & CENOTE_WANTS_WRITE);
	cenote_result_destroy(res);
}

/* A non-blocking writer gets CENOTE_AGAIN only while it can wait for the socket. */
static void
a_writer_waits_only_for_what_can_come(void **state)
{
	struct fixture *f = *state;
	cenote_result *res = begin_in(f, "copy_in"), *other;
	static char text[65536];
	size_t n = 0;
	int r;

	memset(text, 'z', sizeof(text));
	assert_ok(cenote_set_nonblocking(f->conn, 1));
	while (n < 400) {
		r = cenote_copy_put(f->conn, text, sizeof(text));
		n += r == CENOTE_OK;
		if (r == CENOTE_AGAIN)
			assert_true(cenote_wants(f->conn) & CENOTE_WANTS_WRITE);
		else
			assert_ok(r);
	}
	assert_ok(cenote_set_nonblocking(f->conn, 0));
	assert_ok(cenote_copy_end(f->conn, NULL));
	assert_ok(cenote_get_result(f->conn, &other));
	assert_int_equal(cenote_result_affected_rows(other), 400 * sizeof(text));
	cenote_result_destroy(other);
	cenote_result_destroy(res);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_connected, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_put_arrives_and_the_statement_is_done),
		TEST(a_program_that_gives_up_says_why),
		TEST(a_copy_that_is_destroyed_ends),
		TEST(a_copy_that_the_server_ends_early_says_so),
		TEST(the_rest_of_one_copy_is_not_taken_for_the_next),
		TEST(a_file_is_sent_only_by_a_program_that_allows_it),
		TEST(what_comes_out_comes_piece_by_piece),
		TEST(a_session_lost_in_a_copy_is_told_behind_what_came),
		TEST(a_copy_lost_on_its_way_in_leaves_the_outcome_unknown),
		TEST(requests_behind_a_copy_wait_for_its_end),
		TEST(a_prepared_statement_may_copy),
		TEST(a_writer_waits_only_for_what_can_come),
		TEST(copies_hold_no_more_than_their_bounds),
	};

	return cmocka_run_group_tests_name("lib_copy", tests, NULL, NULL);
}
