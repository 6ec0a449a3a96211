/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * COPY at the server end of a protocol session. The test plays the client. It needs no
 * server.
 */
#include "server.h"

static void
copying(struct fixture *f)
{
	attach(f);
	put_request(f, CNP_MSG_QUERY, 1, CNP_FRAME_SYNC);
	expect_request(f, CNP_MSG_QUERY, 1);
	assert_ok(reply(f, CNP_MSG_COPY_IN));
	drop_output(f);
}

static int
next_copy(struct fixture *f, struct cnp_str *data)
{
	(void)deliver(f);
	return cnp_server_next_copy(&f->s, data);
}

static void
expect_copy(struct fixture *f, const char *text)
{
	struct cnp_str data;

	assert_ok(next_copy(f, &data));
	assert_int_equal(data.n, strlen(text));
	assert_string_equal(data.p, text);
}

static void
a_copy_comes_in_pieces_and_the_request_text_stays(void **state)
{
	struct fixture *f = *state;
	struct cnp_msg m = { .code = CNP_MSG_QUERY };
	struct cnp_request req;
	struct cnp_str data;
	char text[128], *big = calloc(1, MAX_FRAME / 2);

	attach(f);
	assert_int_equal(next_copy(f, &data), CENOTE_ERR_STATE);
	m.as.query.sql = cnp_str("copy t from stdin");
	wire_put(&f->in, CNP_FRAME_SYNC, 7, &m);
	assert_ok(next(f, &req));
	assert_int_equal(next_copy(f, &data), CENOTE_ERR_STATE);
	assert_ok(reply(f, CNP_MSG_COPY_IN));
	assert_int_equal(reply(f, CNP_MSG_COPY_IN), CENOTE_ERR_STATE);
	assert_int_equal(next_copy(f, &data), CENOTE_AGAIN);
	put_copy(f, 7, "1\ta\n");
	expect_copy(f, "1\ta\n");
	memset(big, 'x', MAX_FRAME / 2 - 1);
	put_copy(f, 7, big);
	put_copy(f, 7, "");
	expect_copy(f, big);
	expect_copy(f, "");
	put_request(f, CNP_MSG_COPY_DONE, 7, 0);
	put_request(f, CNP_MSG_PING, 8, CNP_FRAME_SYNC);
	assert_int_equal(next_copy(f, &data), CENOTE_DONE);
	assert_int_equal(next_copy(f, &data), CENOTE_ERR_STATE);
	assert_string_equal(req.msg.as.query.sql.p, "copy t from stdin");
	answer(f);
	expect_request(f, CNP_MSG_PING, 8);
	answer(f);
	assert_string_equal(SENT(f), "COPY_IN 7, DONE 7, READY 7, DONE 8, READY 8");
	free(big);
}

static void
a_client_that_gives_up_says_why(void **state)
{
	struct fixture *f = *state;
	struct cnp_msg m = { .code = CNP_MSG_COPY_FAIL };
	struct cnp_str data;

	copying(f);
	put_copy(f, 1, "a");
	m.as.copy_fail.message = cnp_str("the disk is full");
	wire_put(&f->in, 0, 1, &m);
	expect_copy(f, "a");
	assert_int_equal(next_copy(f, &data), CENOTE_ERR_SERVER);
	assert_string_equal(f->s.diag.sqlstate, "57014");
	assert_non_null(strstr(f->s.diag.message, "the disk is full"));
	assert_ok(cnp_server_error(&f->s, &f->s.diag));
	finish(f);
	put_request(f, CNP_MSG_PING, 2, 0);
	expect_request(f, CNP_MSG_PING, 2);
}

/* If the answer comes before the client's end of the copy, data that is still on its way is
 * discarded. */
static void
what_comes_of_a_copy_that_ended_early_is_discarded(void **state)
{
	struct fixture *f = *state;
	char text[128];

	copying(f);
	put_copy(f, 1, "a");
	put_copy(f, 1, "b");
	expect_copy(f, "a");
	assert_ok(error(f));
	finish(f);
	put_copy(f, 1, "c");
	put_request(f, CNP_MSG_COPY_DONE, 1, 0);
	put_request(f, CNP_MSG_CLOSE, 0, 0);
	put_request(f, CNP_MSG_PING, 2, CNP_FRAME_SYNC);
	expect_request(f, CNP_MSG_CLOSE, 0);
	answer(f);
	expect_request(f, CNP_MSG_PING, 2);
	answer(f);
	assert_string_equal(SENT(f), "ERROR 1, READY 1, DONE 2, READY 2");
}

/* The same within one request: the next copy begins after the end of the first. */
static void
a_second_copy_does_not_take_the_rest_of_the_first(void **state)
{
	struct fixture *f = *state;
	struct cnp_msg m;
	struct cnp_str data;

	copying(f);
	put_copy(f, 1, "first");
	expect_copy(f, "first");
	wire_least(&m, CNP_MSG_DONE);
	m.as.done.flags = CNP_DONE_MORE_RESULTS;
	assert_ok(cnp_server_reply(&f->s, &m, 0));
	assert_int_equal(next_copy(f, &data), CENOTE_ERR_STATE);
	assert_ok(reply(f, CNP_MSG_COPY_IN));
	put_copy(f, 1, "more of the first");
	put_request(f, CNP_MSG_COPY_FAIL, 1, 0);
	assert_int_equal(next_copy(f, &data), CENOTE_AGAIN);
	put_copy(f, 1, "second");
	put_request(f, CNP_MSG_COPY_DONE, 1, 0);
	expect_copy(f, "second");
	assert_int_equal(next_copy(f, &data), CENOTE_DONE);
	answer(f);
}

static void
requests_in_front_of_a_copy_s_end_wait_for_it(void **state)
{
	struct fixture *f = *state;
	struct cnp_str data;
	char text[128];

	attach(f);
	put_request(f, CNP_MSG_QUERY, 1, CNP_FRAME_SYNC);
	put_request(f, CNP_MSG_CLOSE, 0, 0);
	put_request(f, CNP_MSG_PING, 2, 0);
	expect_request(f, CNP_MSG_QUERY, 1);
	assert_ok(reply(f, CNP_MSG_COPY_IN));
	put_copy(f, 1, "a");
	put_request(f, CNP_MSG_PING, 3, CNP_FRAME_SYNC);
	put_request(f, CNP_MSG_COPY_DONE, 1, 0);
	put_request(f, CNP_MSG_PING, 4, CNP_FRAME_SYNC);
	expect_copy(f, "a");
	assert_int_equal(next_copy(f, &data), CENOTE_DONE);
	answer(f);
	expect_request(f, CNP_MSG_CLOSE, 0);
	answer(f);
	for (uint32_t i = 2; i <= 4; i++) {
		expect_request(f, CNP_MSG_PING, i);
		answer(f);
	}
	assert_string_equal(SENT(f),
		"COPY_IN 1, DONE 1, READY 1, DONE 2, DONE 3, READY 3, DONE 4, READY 4");
}

static void
too_much_in_front_of_a_copy_s_end_is_a_violation(void **state)
{
	struct fixture *f = *state;
	struct cnp_msg m = { .code = CNP_MSG_QUERY };
	struct cnp_str data;
	int r = CENOTE_AGAIN;

	m.as.query.sql.n = MAX_FRAME / 4;
	m.as.query.sql.p = calloc(1, m.as.query.sql.n);
	copying(f);
	for (uint32_t i = 2; i < 8 && r == CENOTE_AGAIN; i++) {
		wire_put(&f->in, 0, i, &m);
		r = next_copy(f, &data);
	}
	assert_int_equal(r, CENOTE_ERR_PROTOCOL);
	assert_true(f->alloc.peak_bytes < 6u * MAX_FRAME);
	free((void *)(uintptr_t)m.as.query.sql.p);
}

static void
copy_frames_that_nobody_asked_for_are_violations(void **state)
{
	static const uint32_t numbers[] = { 0, 2 };
	struct cnp_str data;
	struct fixture g;

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		begin(&g, 0);
		copying(&g);
		put_request(&g, CNP_MSG_COPY_DATA, numbers[i], 0);
		assert_int_equal(next_copy(&g, &data), CENOTE_ERR_PROTOCOL);
		assert_int_equal(next_copy(&g, &data), CENOTE_ERR_PROTOCOL);
		assert_int_equal(end(&g), 0);
	}
	begin(&g, 0);
	copying(&g);
	put_request(&g, CNP_MSG_COPY_DONE, 1, CNP_FRAME_SYNC);
	assert_int_equal(next_copy(&g, &data), CENOTE_ERR_PROTOCOL);
	assert_int_equal(end(&g), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_copy_comes_in_pieces_and_the_request_text_stays),
		TEST(a_client_that_gives_up_says_why),
		TEST(what_comes_of_a_copy_that_ended_early_is_discarded),
		TEST(a_second_copy_does_not_take_the_rest_of_the_first),
		TEST(requests_in_front_of_a_copy_s_end_wait_for_it),
		TEST(too_much_in_front_of_a_copy_s_end_is_a_violation),
		TEST(copy_frames_that_nobody_asked_for_are_violations),
	};

	return cmocka_run_group_tests_name("server copies", tests, NULL, NULL);
}
