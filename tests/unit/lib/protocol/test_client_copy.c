/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * COPY at the client end of a protocol session, also when the answer comes before the
 * data end. The test plays the pool.
 */
#include "client.h"

static int
copy_piece(struct fixture *f, const char *text)
{
	struct cnp_msg m = { .code = CNP_MSG_COPY_DATA };

	m.as.copy_data.data = cnp_str(text);
	return cnp_client_copy(&f->c, &m);
}

static int
copy_code(struct fixture *f, uint8_t code)
{
	struct cnp_msg m;

	wire_least(&m, code);
	return cnp_client_copy(&f->c, &m);
}

/* Send all that is queued in steps of `step` bytes, and compare the codes and request numbers. */
static void
expect_sent(struct fixture *f, size_t step, const char *wanted)
{
	uint8_t bytes[4096];
	char text[512] = "";
	struct cnp_frame frame;
	struct cnp_msg m;
	const uint8_t *p;
	size_t n, len = 0, at = 0, used = 0;

	while ((n = cnp_client_output(&f->c, &p)) > 0) {
		n = n < step ? n : step;
		assert_true(len + n <= sizeof bytes);
		memcpy(bytes + len, p, n);
		len += n;
		cnp_client_sent(&f->c, n);
	}
	while (at < len) {
		wire_next(bytes, len, &at, &frame, &m);
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %u",
			used ? ", " : "", cnp_msg_name(frame.code), frame.request);
	}
	assert_string_equal(text, wanted);
}

static void
a_copy_overtakes_what_was_not_begun(void **state)
{
	struct fixture *f = *state;
	const uint8_t *p;
	size_t step;

	for (step = 1; step < 40; step += 6) {
		cnp_client_restart(&f->c);
		attach(f);
		assert_int_equal(copy_piece(f, "x"), CENOTE_ERR_STATE);
		uint32_t q = request(f, CNP_MSG_QUERY, 0, 0);
		uint32_t begun = request(f, CNP_MSG_PING, 0, 0);
		uint32_t later = request(f, CNP_MSG_PING, 0, 0);
		char wanted[160];
		size_t n = cnp_client_output(&f->c, &p);

		/* send the whole query and a part of the next frame */
		n -= 2 * CNP_FRAME_HEADER - 3;
		cnp_client_sent(&f->c, n);
		expect(f, CNP_MSG_COPY_IN, q, 0);
		assert_ok(copy_piece(f, "a"));
		assert_int_equal(copy_code(f, CNP_MSG_PING), CENOTE_ERR_ARG);
		/* the rest of the frame that was begun, then the copy */
		assert_int_equal(cnp_client_output(&f->c, &p), CNP_FRAME_HEADER - 3);
		cnp_client_sent(&f->c, CNP_FRAME_HEADER - 3);
		(void)begun;
		(void)snprintf(wanted, sizeof wanted, "COPY_DATA %u", q);
		expect_sent(f, step, wanted);
		assert_ok(copy_code(f, CNP_MSG_COPY_DONE));
		assert_int_equal(copy_piece(f, "late"), CENOTE_ERR_STATE);
		(void)snprintf(wanted, sizeof wanted, "COPY_DONE %u, PING %u", q, later);
		expect_sent(f, step, wanted);
		assert_int_equal(cnp_client_copy_queued(&f->c), 0);
		expect(f, CNP_MSG_DONE, q, 1);
		expect(f, CNP_MSG_DONE, begun, 1);
		expect(f, CNP_MSG_DONE, later, 1);
	}
}

/* The pool waits for the end of the copy even after it has answered. */
static void
a_copy_that_is_answered_early_ends_by_itself(void **state)
{
	struct fixture *f = *state;

	attach(f);
	(void)ask(f, CNP_MSG_QUERY, CNP_FRAME_SYNC);
	expect(f, CNP_MSG_COPY_IN, 1, 0);
	assert_ok(copy_piece(f, "a"));
	expect(f, CNP_MSG_ERROR, 1, 0);
	assert_int_equal(copy_piece(f, "b"), CENOTE_ERR_STATE);
	expect_sent(f, SIZE_MAX, "COPY_DATA 1, COPY_FAIL 1");
	expect(f, CNP_MSG_READY, 1, 1);
	(void)ask(f, CNP_MSG_QUERY, 0);
	expect(f, CNP_MSG_COPY_IN, 2, 0);
	assert_ok(copy_code(f, CNP_MSG_COPY_DONE));
	expect(f, CNP_MSG_DONE, 2, 1);
	expect_sent(f, SIZE_MAX, "COPY_DONE 2");
}

/* Each result of one request may be a copy. */
static void
a_second_copy_goes_behind_the_end_of_the_first(void **state)
{
	struct fixture *f = *state;
	struct cnp_event ev;
	struct cnp_msg m;

	attach(f);
	(void)ask(f, CNP_MSG_QUERY, 0);
	expect(f, CNP_MSG_COPY_IN, 1, 0);
	assert_ok(copy_piece(f, "a"));
	wire_least(&m, CNP_MSG_DONE);
	m.as.done.flags = CNP_DONE_MORE_RESULTS;
	assert_ok(give(f, 0, 1, &m, &ev));
	expect(f, CNP_MSG_COPY_IN, 1, 0);
	assert_ok(copy_piece(f, "b"));
	assert_ok(copy_code(f, CNP_MSG_COPY_DONE));
	expect_sent(f, 5, "COPY_DATA 1, COPY_FAIL 1, COPY_DATA 1, COPY_DONE 1");
	expect(f, CNP_MSG_DONE, 1, 1);
}

/* The end of a copy can be sent without memory, so the pool does not wait forever. */
static void
a_copy_can_be_ended_without_memory(void **state)
{
	struct fixture *f = *state;
	size_t n;
	int r = CENOTE_OK;

	for (n = 1; n < 4; n++) {
		cnp_client_restart(&f->c);
		attach(f);
		uint32_t q = ask(f, CNP_MSG_QUERY, 0);

		expect(f, CNP_MSG_COPY_IN, q, 0);
		while (n > 1 && r == CENOTE_OK && cnp_client_copy_queued(&f->c) < 3000)
			r = copy_piece(f, "some text that goes in");
		f->alloc.fail_at = f->alloc.n_calls + 1;
		while (r == CENOTE_OK)
			r = copy_piece(f, "some text that goes in");
		assert_int_equal(r, CENOTE_ERR_NOMEM);
		if (n == 2)
			assert_ok(copy_code(f, CNP_MSG_COPY_FAIL));
		else
			expect(f, CNP_MSG_ERROR, q, 1);
		f->alloc.fail_at = 0;
		assert_true(cnp_client_copy_queued(&f->c) > 0);
		r = CENOTE_OK;
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_copy_overtakes_what_was_not_begun),
		TEST(a_copy_that_is_answered_early_ends_by_itself),
		TEST(a_second_copy_goes_behind_the_end_of_the_first),
		TEST(a_copy_can_be_ended_without_memory),
	};

	return cmocka_run_group_tests_name("client copies", tests, NULL, NULL);
}
