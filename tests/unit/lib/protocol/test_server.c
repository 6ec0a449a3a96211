/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server end of a protocol session: requests, pipelines, errors and the end of a
 * session. The test plays the client. It needs no server.
 */
#include "server.h"

/* ------------------------------------------------------------ before attach */

static void
a_whole_attach_is_answered_in_one_write(void **state)
{
	struct fixture *f = *state;
	struct cnp_attached m;
	struct cnp_request req;
	char text[128];

	memset(&m, 0, sizeof m);
	put_opening(f, CNP_OPEN_ATTACH, CNP_TLS_NONE, 1);
	put_request(f, CNP_MSG_ATTACH, 0, 0);
	put_request(f, CNP_MSG_PING, 1, CNP_FRAME_SYNC);
	assert_ok(next(f, &req));
	assert_string_equal(f->s.opening.pool, "main");
	assert_ok(cnp_server_next(&f->s, &req));
	assert_int_equal(req.msg.code, CNP_MSG_ATTACH);
	assert_int_equal(cnp_server_next(&f->s, &req), CENOTE_AGAIN);
	assert_int_equal(cnp_server_attached(&f->s, &m), CENOTE_ERR_STATE);
	assert_ok(cnp_server_hello(&f->s, 0, CNP_AUTH_NONE, NULL));
	assert_int_equal(
		cnp_server_hello(&f->s, 0, CNP_AUTH_NONE, NULL), CENOTE_ERR_STATE);
	assert_ok(cnp_server_attached(&f->s, &m));
	assert_ok(cnp_server_ready(&f->s, 0, 0, NULL));
	assert_ok(cnp_server_next(&f->s, &req));
	assert_int_equal(req.number, 1);
	answer(f);
	assert_string_equal(SENT(f), "HELLO 0, ATTACHED 0, READY 0, DONE 1, READY 1");
}

static void
another_protocol_gets_no_answer_and_a_bad_opening_does(void **state)
{
	struct fixture *f = *state;
	struct cnp_request req;
	char text[128];

	assert_ok(cnc_buf_append(&f->in, "GET / HTTP/1.1\r\n", 16));
	assert_int_equal(next(f, &req), CENOTE_ERR_PROTOCOL);
	assert_string_equal(SENT(f), "");
	assert_int_equal(cnp_server_state(&f->s), CNP_SERVER_BROKEN);
	cnp_server_restart(&f->s);
	put_opening(f, 9, CNP_TLS_NONE, 1);
	assert_int_equal(next(f, &req), CENOTE_ERR_PROTOCOL);
	assert_string_equal(SENT(f), "ERROR 0");
}

static void
hello_refuses_versions_and_tls_that_cannot_be(void **state)
{
	static const struct {
		uint8_t wanted_tls, version, tls;
		int bytes_behind;
	} cases[] = { { CNP_TLS_NONE, 2, 0, 0 }, { CNP_TLS_REQUIRE, 1, 0, 0 },
		{ CNP_TLS_NONE, 1, 1, 0 }, { CNP_TLS_ALLOW, 1, 1, 1 } };
	struct cnp_request req;
	struct fixture *f = *state;
	char text[128];
	size_t i;

	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		cnp_server_restart(&f->s);
		put_opening(f, CNP_OPEN_ATTACH, cases[i].wanted_tls, cases[i].version);
		if (cases[i].bytes_behind)
			assert_ok(cnc_buf_u8(&f->in, 0));
		assert_ok(next(f, &req));
		assert_int_equal(
			cnp_server_hello(&f->s, cases[i].tls, CNP_AUTH_NONE, NULL),
			CENOTE_ERR_PROTOCOL);
		assert_string_equal(SENT(f), "ERROR 0");
		assert_int_equal(cnp_server_state(&f->s), CNP_SERVER_BROKEN);
	}
}

static void
sixteen_kilobytes_before_attach_are_all(void **state)
{
	struct fixture *f = *state;
	struct cnp_request req;
	struct cnp_msg m;
	const uint8_t *p;

	put_opening(f, CNP_OPEN_ATTACH, CNP_TLS_NONE, 1);
	wire_least(&m, CNP_MSG_ATTACH);
	m.as.attach.options.n = CNP_FRAME_MAX_AUTH - cnc_buf_len(&f->in) -
				CNP_FRAME_HEADER - (7 * 5 + 3 * 4 + 2 * 8);
	m.as.attach.options.p = calloc(1, m.as.attach.options.n + 1);
	wire_put(&f->in, 0, 0, &m);
	assert_int_equal(cnc_buf_len(&f->in), CNP_FRAME_MAX_AUTH);
	/* requests that the client pipelined after ATTACH stay in the socket */
	put_request(f, CNP_MSG_PING, 1, 0);
	assert_ok(next(f, &req));
	assert_ok(next(f, &req));
	assert_int_equal(req.msg.code, CNP_MSG_ATTACH);
	assert_int_equal(cnc_buf_len(&f->in), CNP_FRAME_HEADER);
	assert_int_equal(deliver(f), CENOTE_ERR_LIMIT);
	assert_int_equal(cnp_server_raw(&f->s, &p), CNP_FRAME_MAX_AUTH);
	assert_memory_equal(p, "CNTE", 4);
	assert_true(f->alloc.peak_bytes < 3 * CNP_FRAME_MAX_AUTH);
	/* the header announces one byte too many, so the server refuses before it waits for the
	 * payload */
	cnp_server_restart(&f->s);
	cnc_buf_clear(&f->in, 1 << 20);
	put_opening(f, CNP_OPEN_ATTACH, CNP_TLS_NONE, 1);
	free((void *)(uintptr_t)m.as.attach.options.p);
	m.as.attach.options.p = calloc(1, ++m.as.attach.options.n);
	wire_put(&f->in, 0, 0, &m);
	cnc_buf_truncate(&f->in, CNP_OPENING_MIN + 4 + CNP_FRAME_HEADER);
	assert_ok(next(f, &req));
	assert_int_equal(next(f, &req), CENOTE_ERR_PROTOCOL);
	free((void *)(uintptr_t)m.as.attach.options.p);
}

static void
a_peer_that_accepts_too_little_is_refused(void **state)
{
	struct fixture *f = *state;
	struct cnp_request req;
	struct cnp_msg m;

	in_first(f);
	wire_least(&m, CNP_MSG_ATTACH);
	m.as.attach.max_frame = 65535;
	wire_put(&f->in, 0, 0, &m);
	assert_int_equal(next(f, &req), CENOTE_ERR_PROTOCOL);
}

static void
cancel_and_status_are_answered_and_closed(void **state)
{
	struct fixture *f = *state;
	struct cnp_request req;
	struct cnp_column column = CNP_COLUMN_INIT;
	char text[128];

	opening_kind(f, CNP_OPEN_CANCEL);
	put_request(f, CNP_MSG_CANCEL, 0, 0);
	assert_ok(next(f, &req));
	assert_ok(reply(f, CNP_MSG_CANCELLED));
	finish(f);
	assert_int_equal(cnp_server_state(&f->s), CNP_SERVER_CLOSING);
	assert_string_equal(SENT(f), "HELLO 0, CANCELLED 0");
	cnp_server_restart(&f->s);
	opening_kind(f, CNP_OPEN_STATUS);
	put_request(f, CNP_MSG_STATUS, 0, 0);
	assert_ok(next(f, &req));
	assert_ok(cnp_server_columns(&f->s, &column, 1));
	assert_ok(reply(f, CNP_MSG_DONE));
	finish(f);
	assert_string_equal(SENT(f), "HELLO 0, COLUMNS 0, DONE 0");
}

static void
a_refusal_is_the_last_word(void **state)
{
	struct fixture *f = *state;
	struct cnp_request req;
	char text[128];

	in_attaching(f);
	assert_ok(error(f));
	assert_int_equal(cnp_server_state(&f->s), CNP_SERVER_CLOSING);
	assert_string_equal(SENT(f), "HELLO 0, ERROR 0");
	assert_int_equal(error(f), CENOTE_ERR_STATE);
	assert_int_equal(cnp_server_next(&f->s, &req), CENOTE_AGAIN);
	assert_ok(cnc_buf_u8(&f->in, 0));
	assert_int_equal(deliver(f), CENOTE_ERR_LIMIT);
}

/* ----------------------------------------------------------------- requests */

static void
after_an_error_all_is_skipped_up_to_the_sync(void **state)
{
	struct fixture *f = *state;
	struct cnp_request req;
	char text[256];

	attach(f);
	put_request(f, CNP_MSG_QUERY, 1, 0);
	put_request(f, CNP_MSG_QUERY, 2, 0);
	put_request(f, CNP_MSG_CLOSE, 0, 0);
	put_request(f, CNP_MSG_COMMIT, 3, CNP_FRAME_SYNC);
	put_request(f, CNP_MSG_QUERY, 4, 0);
	put_request(f, CNP_MSG_SYNC, 5, 0);
	expect_request(f, CNP_MSG_QUERY, 1);
	assert_ok(error(f));
	finish(f);
	assert_false(cnp_server_can_yield(&f->s));
	assert_int_equal(
		cnp_server_yield(&f->s, CNP_YIELD_DRAIN, NULL), CENOTE_ERR_STATE);
	/* set-up requests run although requests are skipped, and have no answer */
	expect_request(f, CNP_MSG_CLOSE, 0);
	answer(f);
	expect_request(f, CNP_MSG_SYNC, 3);
	finish(f);
	assert_true(cnp_server_can_yield(&f->s));
	expect_request(f, CNP_MSG_QUERY, 4);
	answer(f);
	expect_request(f, CNP_MSG_SYNC, 5);
	finish(f);
	assert_int_equal(next(f, &req), CENOTE_AGAIN);
	assert_string_equal(
		SENT(f), "ERROR 1, SKIPPED 2, SKIPPED 3, READY 3, DONE 4, READY 5");
}

/* The server shows the requests after the running one, up to the first that must wait for its
 * turn. */
static void
requests_can_be_seen_before_their_turn(void **state)
{
	struct fixture *f = *state;
	struct cnp_request req;
	uint32_t number = 1;
	size_t at = 0;

	attach(f);
	put_request(f, CNP_MSG_QUERY, 1, 0);
	put_request(f, CNP_MSG_PING, 2, 0);
	put_request(f, CNP_MSG_QUERY, 4, CNP_FRAME_SYNC);
	put_request(f, CNP_MSG_PREPARE, 0, 0);
	put_request(f, CNP_MSG_PING, 5, CNP_FRAME_SYNC);
	expect_request(f, CNP_MSG_QUERY, 1);
	assert_ok(cnp_server_peek(&f->s, &at, &number, &req));
	assert_int_equal(req.msg.code, CNP_MSG_PING);
	assert_int_equal(req.number, 2);
	assert_ok(cnp_server_peek(&f->s, &at, &number, &req));
	assert_int_equal(req.number, 4);
	assert_int_equal(req.flags, CNP_FRAME_SYNC);
	assert_int_equal(cnp_server_peek(&f->s, &at, &number, &req), CENOTE_AGAIN);
	answer(f);
	/* a request that was shown still comes in its turn */
	expect_request(f, CNP_MSG_PING, 2);
	assert_ok(error(f));
	finish(f);
	/* requests that will be skipped are not shown */
	number = 2;
	at = 0;
	assert_int_equal(cnp_server_peek(&f->s, &at, &number, &req), CENOTE_AGAIN);
	expect_request(f, CNP_MSG_SYNC, 4);
	finish(f);
	expect_request(f, CNP_MSG_PREPARE, 0);
	/* a request with a wrong number is not shown */
	number = 5;
	assert_int_equal(cnp_server_peek(&f->s, &at, &number, &req), CENOTE_AGAIN);
	number = 4;
	assert_ok(cnp_server_peek(&f->s, &at, &number, &req));
	assert_int_equal(cnp_server_peek(&f->s, &at, &number, &req), CENOTE_AGAIN);
}

static void
an_error_at_the_sync_skips_nothing_behind_it(void **state)
{
	struct fixture *f = *state;
	char text[128];

	attach(f);
	put_request(f, CNP_MSG_QUERY, 1, CNP_FRAME_SYNC);
	put_request(f, CNP_MSG_QUERY, 2, CNP_FRAME_SYNC);
	expect_request(f, CNP_MSG_QUERY, 1);
	assert_ok(error(f));
	finish(f);
	expect_request(f, CNP_MSG_QUERY, 2);
	answer(f);
	assert_string_equal(SENT(f), "ERROR 1, READY 1, DONE 2, READY 2");
}

static void
set_up_that_fails_is_told_and_skips_nothing(void **state)
{
	struct fixture *f = *state;
	struct cnp_param param = { 0, 0, { "", 0 } };
	char text[128];

	attach(f);
	put_request(f, CNP_MSG_PREPARE, 0, 0);
	put_request(f, CNP_MSG_PREPARE, 0, 0);
	put_request(f, CNP_MSG_PING, 1, 0);
	expect_request(f, CNP_MSG_PREPARE, 0);
	assert_ok(error(f));
	finish(f);
	expect_request(f, CNP_MSG_PREPARE, 0);
	assert_ok(cnp_server_params(&f->s, &param, 1));
	assert_ok(reply(f, CNP_MSG_DONE));
	finish(f);
	expect_request(f, CNP_MSG_PING, 1);
	answer(f);
	assert_string_equal(SENT(f), "ERROR 0, DONE 1");
}

static void
numbers_must_grow_and_may_go_round(void **state)
{
	static const struct {
		uint32_t first, second;
		int r;
	} cases[] = { { 1, 2, CENOTE_OK }, { 7, 900, CENOTE_OK },
		{ UINT32_MAX, 1, CENOTE_OK }, { 5, 5, CENOTE_ERR_PROTOCOL },
		{ 5, 4, CENOTE_ERR_PROTOCOL }, { 1, UINT32_MAX, CENOTE_ERR_PROTOCOL } };
	struct cnp_request req;
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		cnp_server_restart(&f->s);
		attach(f);
		put_request(f, CNP_MSG_PING, cases[i].first, 0);
		expect_request(f, CNP_MSG_PING, cases[i].first);
		answer(f);
		put_request(f, CNP_MSG_PING, cases[i].second, 0);
		assert_int_equal(next(f, &req), cases[i].r);
	}
}

static void
set_up_that_asks_for_an_answer_is_a_violation(void **state)
{
	struct fixture *f = *state;
	struct cnp_request req;

	attach(f);
	put_request(f, CNP_MSG_CLOSE, 0, CNP_FRAME_SYNC);
	assert_int_equal(next(f, &req), CENOTE_ERR_PROTOCOL);
}

static void
detach_and_suspend_end_without_ready(void **state)
{
	struct fixture *f = *state;
	char text[128];

	attach(f);
	put_request(f, CNP_MSG_DETACH, 0, 0);
	expect_request(f, CNP_MSG_DETACH, 0);
	answer(f);
	assert_int_equal(cnp_server_state(&f->s), CNP_SERVER_CLOSING);
	assert_string_equal(SENT(f), "");
	cnp_server_restart(&f->s);
	attach(f);
	put_request(f, CNP_MSG_SUSPEND, 1, CNP_FRAME_SYNC);
	expect_request(f, CNP_MSG_SUSPEND, 1);
	assert_ok(reply(f, CNP_MSG_SUSPENDED));
	finish(f);
	assert_int_equal(cnp_server_state(&f->s), CNP_SERVER_CLOSING);
	assert_string_equal(SENT(f), "SUSPENDED 1");
	/* a SUSPEND that fails leaves the session attached */
	cnp_server_restart(&f->s);
	attach(f);
	put_request(f, CNP_MSG_SUSPEND, 1, CNP_FRAME_SYNC);
	expect_request(f, CNP_MSG_SUSPEND, 1);
	assert_ok(error(f));
	finish(f);
	assert_int_equal(cnp_server_state(&f->s), CNP_SERVER_ATTACHED);
	assert_string_equal(SENT(f), "ERROR 1, READY 1");
}

static void
a_yield_tells_the_last_request_and_what_to_carry(void **state)
{
	struct fixture *f = *state;
	struct cnp_str carry = { "id=7", 4 };
	struct cnp_request req;
	struct cnp_frame frame;
	struct cnp_msg m;
	const uint8_t *p;
	size_t n, at = 0;

	attach(f);
	put_request(f, CNP_MSG_PING, 40, 0);
	put_request(f, CNP_MSG_PING, 41, CNP_FRAME_SYNC);
	put_request(f, CNP_MSG_PING, 42, 0);
	expect_request(f, CNP_MSG_PING, 40);
	answer(f);
	assert_int_equal(
		cnp_server_yield(&f->s, CNP_YIELD_DRAIN, NULL), CENOTE_ERR_STATE);
	expect_request(f, CNP_MSG_PING, 41);
	assert_int_equal(
		cnp_server_yield(&f->s, CNP_YIELD_DRAIN, NULL), CENOTE_ERR_STATE);
	answer(f);
	drop_output(f);
	assert_ok(cnp_server_yield(&f->s, CNP_YIELD_CONTENDED, &carry));
	n = cnp_server_output(&f->s, &p);
	wire_next(p, n, &at, &frame, &m);
	assert_int_equal(frame.code, CNP_MSG_YIELD);
	assert_int_equal(m.as.yield.last, 41);
	assert_int_equal(m.as.yield.reason, CNP_YIELD_CONTENDED);
	assert_string_equal(m.as.yield.carry.p, "id=7");
	assert_int_equal(cnp_server_next(&f->s, &req), CENOTE_AGAIN);
}

/* Queue the beginning of an answer: a description of a result. */
static void
put_columns(struct fixture *f)
{
	struct cnp_column column = CNP_COLUMN_INIT;

	column.name = cnp_str("n");
	assert_ok(cnp_server_columns(&f->s, &column, 1));
}

static void
a_yield_may_take_the_place_of_an_answer(void **state)
{
	struct fixture *f = *state;
	struct cnp_str carry = { "id=8", 4 };
	struct cnp_frame frame;
	struct cnp_msg m;
	char text[256];
	const uint8_t *p;
	size_t n, at = 0;

	attach(f);
	put_request(f, CNP_MSG_PING, 7, CNP_FRAME_SYNC);
	put_request(f, CNP_MSG_QUERY, 8, CNP_FRAME_SYNC);
	expect_request(f, CNP_MSG_PING, 7);
	assert_true(cnp_server_can_yield_running(&f->s));
	answer(f);
	expect_request(f, CNP_MSG_QUERY, 8);
	put_columns(f);
	assert_true(cnp_server_can_yield_running(&f->s));
	assert_ok(cnp_server_yield_running(&f->s, CNP_YIELD_RELOAD, &carry));
	/* the answer to the first request is still there, and nothing of the second */
	n = cnp_server_output(&f->s, &p);
	while (at < n)
		wire_next(p, n, &at, &frame, &m);
	assert_int_equal(frame.code, CNP_MSG_YIELD);
	assert_int_equal(m.as.yield.last, 7);
	assert_string_equal(m.as.yield.carry.p, "id=8");
	(void)SENT(f);
	assert_null(strstr(text, "COLUMNS"));
	assert_non_null(strstr(text, "DONE 7"));
	assert_int_equal(cnp_server_yield_running(&f->s, CNP_YIELD_RELOAD, NULL),
		CENOTE_ERR_STATE);
}

/* The client cannot send a request again of which it has an answer, or which is part of something larger. */
static void
no_yield_takes_the_place_of_an_answer_that_counts(void **state)
{
	struct fixture *f = *state;
	struct cnp_msg m;

	attach(f);
	put_request(f, CNP_MSG_QUERY, 1, CNP_FRAME_SYNC);
	assert_false(cnp_server_can_yield_running(&f->s));
	expect_request(f, CNP_MSG_QUERY, 1);
	put_columns(f);
	drop_output(f);
	assert_false(cnp_server_can_yield_running(&f->s));
	answer(f);
	/* a notification would be lost */
	put_request(f, CNP_MSG_QUERY, 2, CNP_FRAME_SYNC);
	expect_request(f, CNP_MSG_QUERY, 2);
	wire_least(&m, CNP_MSG_NOTIFICATION);
	assert_ok(cnp_server_reply(&f->s, &m, 1));
	assert_false(cnp_server_can_yield_running(&f->s));
	answer(f);
	/* behind a request without a synchronisation point */
	put_request(f, CNP_MSG_QUERY, 3, 0);
	put_request(f, CNP_MSG_QUERY, 4, CNP_FRAME_SYNC);
	expect_request(f, CNP_MSG_QUERY, 3);
	answer(f);
	expect_request(f, CNP_MSG_QUERY, 4);
	assert_false(cnp_server_can_yield_running(&f->s));
	/* its first result */
	answer(f);
	put_request(f, CNP_MSG_QUERY, 5, CNP_FRAME_SYNC);
	expect_request(f, CNP_MSG_QUERY, 5);
	assert_ok(reply(f, CNP_MSG_DONE));
	assert_false(cnp_server_can_yield_running(&f->s));
}

/* Run a request; returns the carry in its READY. */
static const char *
carried(struct fixture *f, enum cnp_msg_code code, const char *text)
{
	static char told[64];
	static uint32_t number;
	struct cnp_str carry = { text, strlen(text) };
	struct cnp_frame frame;
	struct cnp_msg m;
	const uint8_t *p;
	size_t n, at = 0;

	put_request(f, code, ++number, CNP_FRAME_SYNC);
	expect_request(f, code, number);
	drop_output(f);
	assert_ok(reply(f, CNP_MSG_DONE));
	assert_ok(cnp_server_finish_request(&f->s, 0, 0, &carry));
	n = cnp_server_output(&f->s, &p);
	wire_next(p, n, &at, &frame, &m);
	wire_next(p, n, &at, &frame, &m);
	assert_int_equal(frame.code, CNP_MSG_READY);
	(void)snprintf(
		told, sizeof(told), "%.*s", (int)m.as.ready.carry.n, m.as.ready.carry.p);
	return told;
}

static void
what_to_carry_is_told_when_it_is_news(void **state)
{
	static const char long_one[] =
		"settings that take up more than a few bytes, as they do";
	struct fixture *f = *state;

	for (int i = 0; i < 2; i++) {
		attach(f);
		assert_string_equal(carried(f, CNP_MSG_PING, ""), "");
		assert_string_equal(carried(f, CNP_MSG_PING, "id=7"), "id=7");
		assert_string_equal(carried(f, CNP_MSG_PING, "id=7"), "");
		assert_string_equal(carried(f, CNP_MSG_PING, ""), "");
		assert_string_equal(carried(f, CNP_MSG_PING, "id=8"), "id=8");
		assert_string_equal(carried(f, CNP_MSG_PING, "id=7"), "id=7");
		/* a reset makes the client forget its carry, so READY has it again */
		assert_string_equal(carried(f, CNP_MSG_RESET, "id=7"), "id=7");
		assert_string_equal(carried(f, CNP_MSG_PING, "id=7"), "");
		assert_string_equal(carried(f, CNP_MSG_CHANGE_USER, "id=7"), "id=7");
		assert_string_equal(carried(f, CNP_MSG_PING, long_one), long_one);
		assert_string_equal(carried(f, CNP_MSG_PING, long_one), "");
		assert_string_equal(carried(f, CNP_MSG_PING, "id=7"), "id=7");
		/* the next client begins without a carry */
		cnp_server_restart(&f->s);
	}
}

static void
a_yield_tells_the_last_words_of_a_server(void **state)
{
	struct fixture *f = *state;
	struct cnc_diag said, got;
	struct cnp_frame frame;
	struct cnp_msg m;
	const uint8_t *p;
	size_t n, at = 0;

	cnc_diag_init(&said, &f->alloc.mem);
	cnc_diag_init(&got, &f->alloc.mem);
	cnc_diag_set(&said, "57P05", "idle too long");
	attach(f);
	drop_output(f);
	assert_ok(cnp_server_yield_lost(&f->s, &said));
	n = cnp_server_output(&f->s, &p);
	wire_next(p, n, &at, &frame, &m);
	assert_int_equal(frame.code, CNP_MSG_YIELD);
	assert_int_equal(m.as.yield.reason, CNP_YIELD_LOST);
	assert_ok(cnc_diag_set_fields(
		&got, (const uint8_t *)m.as.yield.words.p, m.as.yield.words.n));
	assert_string_equal(got.sqlstate, "57P05");
	assert_string_equal(got.message, "idle too long");
	assert_int_equal(cnp_server_yield_lost(&f->s, NULL), CENOTE_ERR_STATE);
	cnc_diag_finish(&said);
	cnc_diag_finish(&got);
}

static void
replies_without_a_request_are_refused(void **state)
{
	struct fixture *f = *state;
	struct cnp_column column = CNP_COLUMN_INIT;
	struct cnc_batch w;
	struct cnp_msg m;
	char text[64];

	in_attaching(f);
	wire_least(&m, CNP_MSG_NOTIFICATION);
	assert_int_equal(cnp_server_reply(&f->s, &m, 1), CENOTE_ERR_STATE);
	cnp_server_restart(&f->s);
	attach(f);
	assert_int_equal(reply(f, CNP_MSG_DONE), CENOTE_ERR_STATE);
	assert_int_equal(reply(f, CNP_MSG_COPY_IN), CENOTE_ERR_STATE);
	assert_int_equal(cnp_server_columns(&f->s, &column, 1), CENOTE_ERR_STATE);
	assert_int_equal(cnp_server_rows_begin(&f->s, &w, 1), CENOTE_ERR_STATE);
	assert_int_equal(cnp_server_finish_request(&f->s, 0, 0, NULL), CENOTE_ERR_STATE);
	wire_least(&m, CNP_MSG_PARAMETER);
	assert_ok(cnp_server_reply(&f->s, &m, 1));
	wire_least(&m, CNP_MSG_NOTIFICATION);
	assert_ok(cnp_server_reply(&f->s, &m, 1));
	assert_string_equal(SENT(f), "PARAMETER 0, NOTIFICATION 0");
	wire_least(&m, CNP_MSG_DONE);
	assert_int_equal(cnp_server_reply(&f->s, &m, 1), CENOTE_ERR_STATE);
	assert_ok(cnp_server_yield(&f->s, CNP_YIELD_DRAIN, NULL));
	wire_least(&m, CNP_MSG_NOTIFICATION);
	assert_int_equal(cnp_server_reply(&f->s, &m, 1), CENOTE_ERR_STATE);
}

static void
an_error_of_a_sync_goes_before_its_ready(void **state)
{
	struct fixture *f = *state;
	char text[128];

	attach(f);
	put_request(f, CNP_MSG_SYNC, 1, 0);
	put_request(f, CNP_MSG_QUERY, 2, 0);
	put_request(f, CNP_MSG_QUERY, 3, CNP_FRAME_SYNC);
	expect_request(f, CNP_MSG_SYNC, 1);
	assert_ok(error(f));
	finish(f);
	expect_request(f, CNP_MSG_QUERY, 2);
	assert_ok(error(f));
	finish(f);
	expect_request(f, CNP_MSG_SYNC, 3);
	/* SKIPPED is the answer to a skipped request, instead of the error */
	assert_ok(error(f));
	finish(f);
	assert_string_equal(SENT(f), "ERROR 1, READY 1, ERROR 2, SKIPPED 3, READY 3");
}

static void
an_error_carries_state_message_code_and_fields(void **state)
{
	struct fixture *f = *state;
	struct cnc_diag d, got;
	struct cnp_frame frame;
	struct cnp_msg m;
	struct cnc_buf fields;
	const uint8_t *p;
	size_t n, at = 0;

	cnc_diag_init(&d, &f->alloc.mem);
	cnc_diag_init(&got, &f->alloc.mem);
	cnc_buf_init(&fields, &f->alloc.mem, 1024);
	assert_ok(cnc_diag_put_field(&fields, 'C', "23505", 5));
	assert_ok(cnc_diag_put_field(&fields, 'M', "twice", 5));
	assert_ok(cnc_diag_put_field(&fields, 'N', "2067", 4));
	assert_ok(cnc_diag_put_field(&fields, 't', "tbl", 3));
	assert_ok(cnc_diag_set_fields(&d, cnc_buf_head(&fields), cnc_buf_len(&fields)));
	running(f);
	assert_ok(cnp_server_error(&f->s, &d));
	n = cnp_server_output(&f->s, &p);
	wire_next(p, n, &at, &frame, &m);
	assert_int_equal(frame.request, 1);
	assert_ok(cnc_diag_set_fields(
		&got, (const uint8_t *)m.as.error.fields.p, m.as.error.fields.n));
	assert_string_equal(got.sqlstate, "23505");
	assert_string_equal(got.message, "twice");
	assert_int_equal(got.native, 2067);
	assert_string_equal(cnc_diag_field(&got, 't'), "tbl");
	assert_string_equal(cnc_diag_field(&got, 'S'), "ERROR");
	cnc_buf_finish(&fields);
	cnc_diag_finish(&d);
	cnc_diag_finish(&got);
}

/* --------------------------------------------------------------------- rows */

static void
one_row(struct cnc_batch *w, const void *bytes, size_t n)
{
	assert_ok(cnc_batch_row(w));
	assert_ok(cnc_batch_put(w, bytes, n));
	cnc_batch_row_done(w);
}

static void
rows_are_bounded_by_what_is_queued_and_an_empty_batch_is_nothing(void **state)
{
	static const char kilobyte[1024];
	struct fixture *f = *state;
	struct cnc_batch w;
	char text[256];
	int i, r;

	running(f);
	assert_ok(cnp_server_rows_begin(&f->s, &w, 1));
	assert_ok(cnp_server_rows_end(&f->s, &w));
	assert_string_equal(SENT(f), "");
	for (i = 0; (r = cnp_server_rows_begin(&f->s, &w, 1)) == CENOTE_OK; i++) {
		one_row(&w, kilobyte, sizeof kilobyte);
		assert_ok(cnp_server_rows_end(&f->s, &w));
	}
	assert_int_equal(r, CENOTE_ERR_LIMIT);
	assert_int_equal(i, 4);
	/* a short reply is always queued */
	assert_ok(reply(f, CNP_MSG_DONE));
	assert_string_equal(SENT(f), "ROWS 1, ROWS 1, ROWS 1, ROWS 1, DONE 1");
	assert_ok(cnp_server_rows_begin(&f->s, &w, 1));
}

static void
a_row_may_be_as_long_as_the_peer_accepts(void **state)
{
	struct fixture *f = *state;
	char *big = calloc(1, 65536);
	struct cnc_batch w;
	char text[64];
	int r;

	assert_non_null(big);
	running(f);
	f->s.peer_max_frame = 65536;
	assert_ok(cnp_server_rows_begin(&f->s, &w, 1));
	one_row(&w, big, 65536 - 8 - 4 - 1);
	r = cnc_batch_row(&w);
	if (r == CENOTE_OK)
		r = cnc_batch_put(&w, "", 0);
	assert_int_equal(r, CENOTE_ERR_LIMIT);
	cnc_batch_row_undo(&w);
	assert_ok(cnp_server_rows_end(&f->s, &w));
	assert_string_equal(SENT(f), "ROWS 1");
	free(big);
}

static void
a_reply_longer_than_the_peer_accepts_is_refused_whole(void **state)
{
	struct fixture *f = *state;
	struct cnp_column column = CNP_COLUMN_INIT;
	struct cnp_msg m;
	char text[64];

	running(f);
	f->s.peer_max_frame = 100;
	assert_ok(cnp_server_columns(&f->s, &column, 1));
	column.name = cnp_str("a name that is too long");
	assert_int_equal(cnp_server_columns(&f->s, &column, 1), CENOTE_ERR_LIMIT);
	m.code = CNP_MSG_DONE;
	m.as.done.tag = cnp_str("a tag of no use that is longer than what the client "
				"accepts in a frame, all in all");
	m.as.done.affected = 0;
	m.as.done.flags = 0;
	assert_int_equal(cnp_server_reply(&f->s, &m, 0), CENOTE_ERR_LIMIT);
	assert_string_equal(SENT(f), "COLUMNS 1");
}

/* ------------------------------------------------------------------- memory */

static void
small_requests_need_no_memory_of_their_own(void **state)
{
	struct fixture *f = *state;
	struct cnp_column column = CNP_COLUMN_INIT;
	struct cnc_batch w;
	size_t calls = 0;
	uint32_t i;

	attach(f);
	for (i = 1; i < 2000; i++) {
		put_request(f, CNP_MSG_QUERY, i, CNP_FRAME_SYNC);
		expect_request(f, CNP_MSG_QUERY, i);
		assert_ok(cnp_server_columns(&f->s, &column, 1));
		assert_ok(cnp_server_rows_begin(&f->s, &w, 1));
		one_row(&w, "1", 1);
		assert_ok(cnp_server_rows_end(&f->s, &w));
		answer(f);
		drop_output(f);
		if (i == 3)
			calls = f->alloc.n_calls;
		/* the next client uses the same buffers */
		if (i % 100 == 99) {
			cnp_server_restart(&f->s);
			attach(f);
		}
	}
	assert_int_equal(f->alloc.n_calls, calls);
}

static void
memory_follows_what_came_and_not_what_was_announced(void **state)
{
	struct fixture *f = *state;
	struct cnp_frame frame = { MAX_FRAME, CNP_MSG_PREPARE, 0, 1 };
	uint8_t header[CNP_FRAME_HEADER];
	struct cnp_request req;
	uint8_t *room;
	size_t n;

	attach(f);
	cnp_frame_encode(header, &frame);
	assert_ok(cnc_buf_append(&f->in, header, sizeof header));
	assert_int_equal(next(f, &req), CENOTE_AGAIN);
	assert_ok(cnp_server_room(&f->s, &room, &n));
	assert_true(f->alloc.peak_bytes < 256u << 10);
}

static void
a_request_as_long_as_allowed_arrives_and_one_byte_more_does_not(void **state)
{
	struct fixture *f = *state;
	struct cnp_request req;
	struct cnp_msg m;
	char *sql = calloc(1, MAX_FRAME);
	int i;

	assert_non_null(sql);
	attach(f);
	wire_least(&m, CNP_MSG_PREPARE);
	m.as.prepare.sql.p = sql;
	m.as.prepare.sql.n = MAX_FRAME - 19;
	for (i = 1; i <= 3; i++) {
		wire_put(&f->in, 0, (uint32_t)i, &m);
		expect_request(f, CNP_MSG_PREPARE, (uint32_t)i);
		answer(f);
		drop_output(f);
	}
	assert_true(f->alloc.peak_bytes < 3u * MAX_FRAME);
	m.as.prepare.sql.n++;
	wire_put(&f->in, 0, 9, &m);
	assert_int_equal(next(f, &req), CENOTE_ERR_PROTOCOL);
	cnp_server_restart(&f->s);
	assert_true(f->alloc.live_bytes < 256u << 10);
	free(sql);
}

/* Give the server at most `piece` bytes of f->in. */
static int
feed(struct fixture *f, size_t piece)
{
	uint8_t *room;
	size_t n;
	int r = cnp_server_room(&f->s, &room, &n);

	if (r < 0)
		return r;
	n = n < piece ? n : piece;
	n = n < cnc_buf_len(&f->in) ? n : cnc_buf_len(&f->in);
	memcpy(room, cnc_buf_head(&f->in), n);
	cnp_server_received(&f->s, n);
	cnc_buf_consume(&f->in, n);
	return CENOTE_OK;
}

/* Answer the running request with a copy in. In this dialog, CATALOG stands for a request that
 * copies. */
static int
copy_in(struct fixture *f, size_t piece, char *trace, size_t size, size_t *used)
{
	struct cnp_str data;
	int r = reply(f, CNP_MSG_COPY_IN);

	while (r == CENOTE_OK || r == CENOTE_AGAIN) {
		r = cnp_server_next_copy(&f->s, &data);
		if (r == CENOTE_OK)
			*used += (size_t)snprintf(
				trace + *used, size - *used, "copy %s\n", data.p);
		if (r == CENOTE_AGAIN)
			r = feed(f, piece);
	}
	return r == CENOTE_DONE ? reply(f, CNP_MSG_DONE) : r;
}

/* Run a dialog in pieces of `piece` bytes; requests and replies go to `trace`. */
static int
run_dialog(struct fixture *f, size_t piece, char *trace, size_t size)
{
	struct cnp_attached attached;
	struct cnp_request req;
	struct cnp_frame frame;
	struct cnp_msg m;
	const uint8_t *p;
	size_t n, at, used = 0;
	int r = CENOTE_OK;

	memset(&attached, 0, sizeof attached);
	while (cnc_buf_len(&f->in) > 0 && r >= 0) {
		r = feed(f, piece);
		if (r < 0)
			break;
		while ((r = cnp_server_next(&f->s, &req)) == CENOTE_OK) {
			if (cnp_server_state(&f->s) == CNP_SERVER_RUNNING) {
				used += (size_t)snprintf(trace + used, size - used,
					"run %s %u\n", cnp_msg_name(req.msg.code),
					req.number);
				if (req.msg.code == CNP_MSG_CATALOG)
					r = copy_in(f, piece, trace, size, &used);
				else if (req.msg.code == CNP_MSG_QUERY)
					r = error(f);
				else if (req.msg.code != CNP_MSG_SYNC)
					r = reply(f, CNP_MSG_DONE);
				if (r == CENOTE_OK)
					r = cnp_server_finish_request(&f->s, 0, 0, NULL);
			} else if (f->s.first == 0) {
				r = cnp_server_hello(&f->s, 0, CNP_AUTH_NONE, NULL);
			} else {
				r = cnp_server_attached(&f->s, &attached);
				if (r == CENOTE_OK)
					r = cnp_server_ready(&f->s, 0, 0, NULL);
			}
			if (r < 0)
				break;
		}
	}
	n = cnp_server_output(&f->s, &p);
	for (at = 0; at < n && r >= 0;) {
		wire_next(p, n, &at, &frame, &m);
		used += (size_t)snprintf(trace + used, size - used, "%s %u\n",
			cnp_msg_name(frame.code), frame.request);
	}
	return r < 0 ? r : CENOTE_OK;
}

static void
put_dialog(struct fixture *f)
{
	put_opening(f, CNP_OPEN_ATTACH, CNP_TLS_NONE, 1);
	put_request(f, CNP_MSG_ATTACH, 0, 0);
	put_request(f, CNP_MSG_PREPARE, 0, 0);
	put_request(f, CNP_MSG_BEGIN, 1, 0);
	put_request(f, CNP_MSG_QUERY, 2, 0);
	put_request(f, CNP_MSG_EXECUTE, 3, 0);
	put_request(f, CNP_MSG_COMMIT, 4, CNP_FRAME_SYNC);
	put_request(f, CNP_MSG_PING, 5, 0);
	put_request(f, CNP_MSG_SYNC, 6, 0);
	put_request(f, CNP_MSG_CATALOG, 7, 0);
	put_copy(f, 7, "some");
	put_request(f, CNP_MSG_PING, 8, 0);
	put_copy(f, 7, "more");
	put_request(f, CNP_MSG_COPY_DONE, 7, 0);
	put_request(f, CNP_MSG_DETACH, 9, 0);
}

static void
one_byte_at_a_time_gives_the_same_requests_and_replies(void **state)
{
	struct fixture *f = *state;
	char whole[2048], pieces[2048];
	size_t piece;

	put_dialog(f);
	assert_ok(run_dialog(f, SIZE_MAX, whole, sizeof whole));
	assert_int_equal(cnp_server_state(&f->s), CNP_SERVER_CLOSING);
	for (piece = 1; piece < 40; piece++) {
		cnp_server_restart(&f->s);
		put_dialog(f);
		assert_ok(run_dialog(f, piece, pieces, sizeof pieces));
		assert_string_equal(pieces, whole);
	}
}

static void
each_failing_allocation_is_told_and_leaves_no_leak(void **state)
{
	char trace[2048];
	struct fixture *f = *state;
	int failed = 1;
	size_t n;

	for (n = 1; failed; n++) {
		int r;

		assert_int_equal(end(f), 0);
		begin(f, n);
		put_dialog(f);
		r = run_dialog(f, 7, trace, sizeof trace);
		failed = cnt_alloc_has_failed(&f->alloc);
		assert_int_equal(r, failed ? CENOTE_ERR_NOMEM : CENOTE_OK);
	}
	assert_true(n > 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_whole_attach_is_answered_in_one_write),
		TEST(another_protocol_gets_no_answer_and_a_bad_opening_does),
		TEST(hello_refuses_versions_and_tls_that_cannot_be),
		TEST(sixteen_kilobytes_before_attach_are_all),
		TEST(a_peer_that_accepts_too_little_is_refused),
		TEST(cancel_and_status_are_answered_and_closed),
		TEST(a_refusal_is_the_last_word),
		TEST(after_an_error_all_is_skipped_up_to_the_sync),
		TEST(requests_can_be_seen_before_their_turn),
		TEST(an_error_at_the_sync_skips_nothing_behind_it),
		TEST(set_up_that_fails_is_told_and_skips_nothing),
		TEST(numbers_must_grow_and_may_go_round),
		TEST(set_up_that_asks_for_an_answer_is_a_violation),
		TEST(detach_and_suspend_end_without_ready),
		TEST(a_yield_tells_the_last_request_and_what_to_carry),
		TEST(a_yield_may_take_the_place_of_an_answer),
		TEST(no_yield_takes_the_place_of_an_answer_that_counts),
		TEST(what_to_carry_is_told_when_it_is_news),
		TEST(a_yield_tells_the_last_words_of_a_server),
		TEST(replies_without_a_request_are_refused),
		TEST(an_error_of_a_sync_goes_before_its_ready),
		TEST(an_error_carries_state_message_code_and_fields),
		TEST(rows_are_bounded_by_what_is_queued_and_an_empty_batch_is_nothing),
		TEST(a_row_may_be_as_long_as_the_peer_accepts),
		TEST(a_reply_longer_than_the_peer_accepts_is_refused_whole),
		TEST(small_requests_need_no_memory_of_their_own),
		TEST(memory_follows_what_came_and_not_what_was_announced),
		TEST(a_request_as_long_as_allowed_arrives_and_one_byte_more_does_not),
		TEST(one_byte_at_a_time_gives_the_same_requests_and_replies),
		TEST(each_failing_allocation_is_told_and_leaves_no_leak),
	};

	return cmocka_run_group_tests_name("server", tests, NULL, NULL);
}
