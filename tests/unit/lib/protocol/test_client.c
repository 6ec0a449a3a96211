/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client end of a protocol session: what it sends, and how it reads good and bad
 * answers. The test plays the pool. It needs no server.
 */
#include "client.h"

/* ------------------------------------------------------------------ sending */

static void
opening_and_attach_go_in_one_write_and_requests_wait(void **state)
{
	struct fixture *f = *state;
	struct cnp_opening o;
	struct cnp_frame frame;
	struct cnp_msg m;
	const uint8_t *p;
	size_t n, at;

	open_session(f);
	(void)request(f, CNP_MSG_QUERY, 0, 0);
	(void)request(f, CNP_MSG_CLOSE, 0, 1);
	n = cnp_client_output(&f->c, &p);
	assert_ok(cnp_opening_decode(p, n, &o));
	at = o.len;
	wire_next(p, n, &at, &frame, &m);
	assert_int_equal(frame.code, CNP_MSG_ATTACH);
	assert_int_equal(frame.request, 0);
	wire_next(p, n, &at, &frame, &m);
	assert_int_equal(frame.code, CNP_MSG_CLOSE);
	assert_int_equal(frame.request, 0);
	assert_int_equal(at, n);
	cnp_client_sent(&f->c, n);
	expect(f, CNP_MSG_HELLO, 0, 0);
	assert_int_equal(cnp_client_output(&f->c, &p), 0);
	expect(f, CNP_MSG_ATTACHED, 0, 0);
	n = cnp_client_output(&f->c, &p);
	at = 0;
	wire_next(p, n, &at, &frame, &m);
	assert_int_equal(frame.code, CNP_MSG_QUERY);
	assert_int_equal(frame.request, 1);
	assert_int_equal(at, n);
}

static void
hello_with_tls(struct fixture *f, uint8_t tls)
{
	struct cnp_msg m;

	wire_least(&m, CNP_MSG_HELLO);
	m.as.hello.tls = tls;
	wire_put(&f->in, 0, 0, &m);
}

static void
with_tls_only_the_opening_goes_in_the_clear(void **state)
{
	struct fixture *f = *state;
	struct cnp_event ev;

	assert_ok(try_open(&f->c, CNP_OPEN_ATTACH, CNP_TLS_REQUIRE, 0));
	assert_int_equal(send_all(f), CNP_OPENING_MIN + 4);
	hello_with_tls(f, 1);
	deliver(f);
	assert_ok(cnp_client_next(&f->c, &ev));
	assert_int_equal(send_all(f), 0);
	assert_ok(cnp_client_tls_done(&f->c));
	assert_true(send_all(f) > 0);
	expect(f, CNP_MSG_ATTACHED, 0, 0);
	assert_int_equal(cnp_client_tls_done(&f->c), CENOTE_ERR_STATE);
}

static void
without_tls_at_the_pool_the_rest_follows_in_the_clear(void **state)
{
	struct fixture *f = *state;

	assert_ok(try_open(&f->c, CNP_OPEN_ATTACH, CNP_TLS_ALLOW, 0));
	(void)send_all(f);
	expect(f, CNP_MSG_HELLO, 0, 0);
	assert_true(send_all(f) > 0);
}

/* A middleman might try each of these. */
static void
tls_cannot_be_stripped_injected_or_forced(void **state)
{
	static const struct {
		uint8_t wanted, told;
		int bytes_behind;
	} cases[] = { { CNP_TLS_REQUIRE, 0, 0 }, { CNP_TLS_NONE, 1, 0 },
		{ CNP_TLS_ALLOW, 1, 1 }, { CNP_TLS_REQUIRE, 1, 1 },
		{ CNP_TLS_NONE, 2, 0 } };
	struct cnp_event ev;
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin_anew(f, 0);
		assert_ok(try_open(&f->c, CNP_OPEN_ATTACH, cases[i].wanted, 0));
		(void)send_all(f);
		hello_with_tls(f, cases[i].told);
		if (cases[i].bytes_behind)
			assert_ok(cnc_buf_u8(&f->in, 0));
		deliver(f);
		assert_int_equal(cnp_client_next(&f->c, &ev), CENOTE_ERR_PROTOCOL);
		assert_int_equal(cnp_client_state(&f->c), CNP_CLIENT_DEAD);
	}
}

static void
bytes_between_hello_and_tls_are_not_taken(void **state)
{
	struct fixture *f = *state;
	struct cnp_event ev;

	assert_ok(try_open(&f->c, CNP_OPEN_ATTACH, CNP_TLS_ALLOW, 0));
	(void)send_all(f);
	hello_with_tls(f, 1);
	deliver(f);
	assert_ok(cnp_client_next(&f->c, &ev));
	assert_int_equal(feed(f, CNP_MSG_ATTACHED, 0, &ev), CENOTE_AGAIN);
	assert_int_equal(cnp_client_tls_done(&f->c), CENOTE_ERR_PROTOCOL);
	assert_int_equal(cnp_client_state(&f->c), CNP_CLIENT_DEAD);
}

static void
auth_frames_go_before_what_waits(void **state)
{
	struct fixture *f = *state;
	struct cnp_frame frame;
	struct cnp_msg m;
	const uint8_t *p;
	size_t n, at = 0;

	in_auth(f);
	(void)request(f, CNP_MSG_QUERY, 0, 0);
	wire_least(&m, CNP_MSG_AUTH);
	m.as.auth.data = cnp_str("n,,n=,r=x");
	assert_ok(cnp_client_request(&f->c, &m, 0, 0, NULL));
	n = cnp_client_output(&f->c, &p);
	/* AUTH frames are set-up of the session: they go out although READY has not come */
	(void)at;
	assert_true(n > 0);
	wire_next(p, n, &at, &frame, &m);
	assert_int_equal(frame.code, CNP_MSG_AUTH);
	assert_string_equal(m.as.auth.data.p, "n,,n=,r=x");
	assert_int_equal(at, n);
	cnp_client_sent(&f->c, n);
	expect(f, CNP_MSG_AUTH, 0, 0);
	expect(f, CNP_MSG_ATTACHED, 0, 0);
	expect(f, CNP_MSG_READY, 0, 0);
	at = 0;
	n = cnp_client_output(&f->c, &p);
	wire_next(p, n, &at, &frame, &m);
	assert_int_equal(frame.code, CNP_MSG_QUERY);
}

static void
what_is_no_request_is_not_queued(void **state)
{
	struct fixture *f = *state;
	struct cnp_msg m;

	attach(f);
	wire_least(&m, CNP_MSG_ATTACH);
	assert_int_equal(cnp_client_request(&f->c, &m, 0, 0, NULL), CENOTE_ERR_ARG);
	wire_least(&m, CNP_MSG_DONE);
	assert_int_equal(cnp_client_request(&f->c, &m, 0, 0, NULL), CENOTE_ERR_ARG);
	wire_least(&m, CNP_MSG_QUERY);
	assert_int_equal(cnp_client_request(&f->c, &m, 0, 1, NULL), CENOTE_ERR_ARG);
	assert_int_equal(cnp_client_request(&f->c, &m, 2, 0, NULL), CENOTE_ERR_ARG);
	wire_least(&m, CNP_MSG_AUTH);
	assert_int_equal(cnp_client_request(&f->c, &m, 0, 0, NULL), CENOTE_ERR_STATE);
	assert_int_equal(send_all(f), 0);
	assert_null(cnp_client_oldest(&f->c));
}

static void
a_request_longer_than_the_pool_accepts_is_refused_here(void **state)
{
	struct fixture *f = *state;
	struct cnp_event ev;
	struct cnp_msg m;

	in_opening(f);
	wire_least(&m, CNP_MSG_HELLO);
	m.as.hello.max_frame = 100;
	assert_ok(give(f, 0, 0, &m, &ev));
	wire_least(&m, CNP_MSG_SELECT_DATABASE);
	m.as.select_database.database.p = "";
	m.as.select_database.database.n = 96;
	assert_int_equal(cnp_client_request(&f->c, &m, 0, 0, NULL), CENOTE_ERR_LIMIT);
	assert_null(cnp_client_oldest(&f->c));
}

static void
numbers_go_round_without_zero(void **state)
{
	struct fixture *f = *state;

	f->c.next_request = UINT32_MAX;
	attach(f);
	assert_int_equal(ask(f, CNP_MSG_PING, CNP_FRAME_SYNC), UINT32_MAX);
	assert_int_equal(ask(f, CNP_MSG_PING, CNP_FRAME_SYNC), 1);
	expect(f, CNP_MSG_DONE, UINT32_MAX, 0);
	expect(f, CNP_MSG_READY, UINT32_MAX, 1);
	expect(f, CNP_MSG_DONE, 1, 0);
	expect(f, CNP_MSG_READY, 1, 1);
}

/* ---------------------------------------------------------------- receiving */

static void
a_reply_to_what_was_not_sent_is_a_violation(void **state)
{
	struct fixture *f = *state;
	struct cnp_event ev;
	const uint8_t *p;

	attach(f);
	(void)request(f, CNP_MSG_PING, 0, 0);
	cnp_client_sent(&f->c, cnp_client_output(&f->c, &p) - 1);
	assert_int_equal(feed(f, CNP_MSG_DONE, 1, &ev), CENOTE_ERR_PROTOCOL);
}

static void
a_reply_to_another_request_is_a_violation(void **state)
{
	struct fixture *f = *state;
	struct cnp_event ev;

	attach(f);
	(void)ask(f, CNP_MSG_PING, 0);
	(void)ask(f, CNP_MSG_PING, 0);
	assert_int_equal(feed(f, CNP_MSG_DONE, 2, &ev), CENOTE_ERR_PROTOCOL);
	assert_non_null(strstr(f->c.diag.message, "DONE of request 2"));
	/* the session stays dead */
	assert_int_equal(feed(f, CNP_MSG_DONE, 1, &ev), CENOTE_ERR_PROTOCOL);
}

static void
a_version_that_was_not_offered_is_a_violation(void **state)
{
	struct fixture *f = *state;
	struct cnp_event ev;
	struct cnp_msg m;

	in_opening(f);
	wire_least(&m, CNP_MSG_HELLO);
	m.as.hello.version = 2;
	assert_int_equal(give(f, 0, 0, &m, &ev), CENOTE_ERR_PROTOCOL);
}

static void
a_flag_on_a_reply_is_a_violation(void **state)
{
	struct fixture *f = *state;
	struct cnp_event ev;
	struct cnp_msg m;

	attach(f);
	(void)ask(f, CNP_MSG_PING, 0);
	wire_least(&m, CNP_MSG_DONE);
	assert_int_equal(give(f, CNP_FRAME_SYNC, 1, &m, &ev), CENOTE_ERR_PROTOCOL);
}

static void
a_frame_above_the_limit_is_refused_before_its_payload(void **state)
{
	struct fixture *f = *state;
	uint8_t header[CNP_FRAME_HEADER];
	struct cnp_frame frame = { 1001, CNP_MSG_ROWS, 0, 1 };
	struct cnp_event ev;

	f->c.max_frame = 1000;
	attach(f);
	(void)ask(f, CNP_MSG_QUERY, 0);
	expect(f, CNP_MSG_COLUMNS, 1, 0);
	cnp_frame_encode(header, &frame);
	receive(f, header, sizeof header);
	assert_int_equal(cnp_client_next(&f->c, &ev), CENOTE_ERR_PROTOCOL);
}

/* A query and its answer with one row. */
static void
one_query(struct fixture *f)
{
	uint32_t n = ask(f, CNP_MSG_QUERY, CNP_FRAME_SYNC);

	expect(f, CNP_MSG_COLUMNS, n, 0);
	expect(f, CNP_MSG_ROWS, n, 0);
	expect(f, CNP_MSG_DONE, n, 0);
	expect(f, CNP_MSG_READY, n, 1);
}

static void
small_requests_need_no_memory_of_their_own(void **state)
{
	struct fixture *f = *state;
	size_t i, calls;

	attach(f);
	one_query(f);
	calls = f->alloc.n_calls;
	for (i = 0; i < 2000; i++)
		one_query(f);
	assert_int_equal(f->alloc.n_calls, calls);
}

static void
rows_that_a_result_keeps_are_not_overwritten(void **state)
{
	struct fixture *f = *state;
	struct cnc_block *kept;
	struct cnp_event ev;
	uint8_t copy[64];
	const uint8_t *rows_at;
	size_t i, len;

	attach(f);
	(void)ask(f, CNP_MSG_QUERY, CNP_FRAME_SYNC);
	expect(f, CNP_MSG_COLUMNS, 1, 0);
	assert_ok(feed(f, CNP_MSG_ROWS, 1, &ev));
	kept = cnc_block_ref(ev.block);
	rows_at = ev.payload;
	len = ev.payload_len;
	assert_true(len <= sizeof copy);
	memcpy(copy, rows_at, len);
	expect(f, CNP_MSG_DONE, 1, 0);
	expect(f, CNP_MSG_READY, 1, 1);
	for (i = 0; i < 2000; i++)
		one_query(f);
	assert_memory_equal(rows_at, copy, len);
	cnc_block_unref(kept);
}

/* Put a frame of `n` rows, whose content shows whether bytes were lost or moved. */
static void
put_big_rows(struct fixture *f, uint32_t n)
{
	struct cnc_batch w;
	size_t mark;
	uint32_t i;

	assert_ok(cnp_frame_begin(&f->in, CNP_MSG_ROWS, 0, 1, &mark));
	assert_ok(cnc_batch_begin(&w, &f->in, 1));
	for (i = 0; i < n; i++) {
		char text[24];
		int len = snprintf(text, sizeof text, "row %u", i);

		assert_ok(cnc_batch_row(&w));
		assert_ok(cnc_batch_put(&w, text, (size_t)len));
		cnc_batch_row_done(&w);
	}
	(void)cnc_batch_end(&w);
	assert_ok(cnp_frame_end(&f->in, mark));
}

static void
frames_larger_than_a_block_arrive_whole(void **state)
{
	struct fixture *f = *state;
	struct cnc_rowset rs;
	struct cnp_event ev;
	size_t len;
	int round;

	attach(f);
	(void)ask(f, CNP_MSG_QUERY, 0);
	expect(f, CNP_MSG_COLUMNS, 1, 0);
	cnc_rowset_init(&rs, &f->alloc.mem, 1);
	for (round = 0; round < 20; round++) {
		put_big_rows(
			f, 3000u * (unsigned)(round % 5 + 1) * (round == 7 ? 20 : 1));
		deliver(f);
		assert_ok(cnp_client_next(&f->c, &ev));
		assert_ok(cnc_rowset_add(&rs, ev.payload, ev.payload_len, ev.block));
	}
	assert_string_equal(cnc_rowset_value(&rs, 3000, 0, &len), "row 0");
	assert_string_equal(cnc_rowset_value(&rs, rs.n_rows - 1, 0, &len), "row 14999");
	cnc_rowset_finish(&rs);
}

static void
memory_follows_what_came_and_not_what_was_announced(void **state)
{
	struct fixture *f = *state;
	struct cnp_frame frame = { CNP_FRAME_MAX, CNP_MSG_ROWS, 0, 1 };
	uint8_t header[CNP_FRAME_HEADER];
	struct cnp_event ev;
	uint8_t *room;
	size_t n;

	attach(f);
	(void)ask(f, CNP_MSG_QUERY, 0);
	expect(f, CNP_MSG_COLUMNS, 1, 0);
	cnp_frame_encode(header, &frame);
	receive(f, header, sizeof header);
	assert_int_equal(cnp_client_next(&f->c, &ev), CENOTE_AGAIN);
	assert_ok(cnp_client_room(&f->c, &room, &n));
	assert_true(n > 0);
	assert_true(f->alloc.peak_bytes < 2u << 20);
}

static void
memory_of_a_huge_frame_is_given_back(void **state)
{
	struct fixture *f = *state;
	struct cnp_event ev;
	uint8_t *room;
	size_t n;

	attach(f);
	(void)ask(f, CNP_MSG_QUERY, 0);
	expect(f, CNP_MSG_COLUMNS, 1, 0);
	put_big_rows(f, 200000);
	deliver(f);
	assert_ok(cnp_client_next(&f->c, &ev));
	assert_true(f->alloc.live_bytes > 2u << 20);
	assert_ok(cnp_client_room(&f->c, &room, &n));
	assert_true(f->alloc.live_bytes < 256u << 10);
}

/* ------------------------------------------------------ yield, loss, resend */

static void
what_a_yield_did_not_reach_is_sent_again_byte_for_byte(void **state)
{
	struct fixture *f = *state;
	struct cnp_event ev;
	struct cnp_msg m;
	uint8_t wanted[256];
	const uint8_t *p;
	size_t n, again;

	attach(f);
	(void)ask(f, CNP_MSG_PING, CNP_FRAME_SYNC);
	(void)request(f, CNP_MSG_CLOSE, 0, 1);
	(void)request(f, CNP_MSG_QUERY, 0, 0);
	(void)request(f, CNP_MSG_SYNC, 0, 0);
	n = cnp_client_output(&f->c, &p);
	assert_true(n <= sizeof wanted);
	memcpy(wanted, p, n);
	cnp_client_sent(&f->c, n);
	expect(f, CNP_MSG_DONE, 1, 0);
	expect(f, CNP_MSG_READY, 1, 1);
	wire_least(&m, CNP_MSG_YIELD);
	m.as.yield.last = 1;
	assert_ok(give(f, 0, 0, &m, &ev));
	assert_int_equal(cnp_client_state(&f->c), CNP_CLIENT_YIELDED);
	cnp_client_restart(&f->c);
	assert_ok(try_open(&f->c, CNP_OPEN_ATTACH, CNP_TLS_NONE, 1));
	/* set-up of this session goes out at once, so it does not come between the requests that
	 * are sent again */
	(void)request(f, CNP_MSG_PREPARE, 0, 1);
	(void)send_all(f);
	expect(f, CNP_MSG_HELLO, 0, 0);
	expect(f, CNP_MSG_ATTACHED, 0, 0);
	expect(f, CNP_MSG_READY, 0, 0);
	again = cnp_client_output(&f->c, &p);
	assert_int_equal(again, n);
	assert_memory_equal(p, wanted, n);
	(void)send_all(f);
	expect(f, CNP_MSG_DONE, 2, 1);
	expect(f, CNP_MSG_READY, 3, 1);
}

static void
a_yield_that_claims_too_much_is_a_violation(void **state)
{
	struct fixture *f = *state;
	struct cnp_event ev;
	struct cnp_msg m;

	attach(f);
	(void)ask(f, CNP_MSG_PING, 0);
	wire_least(&m, CNP_MSG_YIELD);
	m.as.yield.last = 1;
	assert_int_equal(give(f, 0, 0, &m, &ev), CENOTE_ERR_PROTOCOL);
}

static void
what_was_partly_answered_is_never_sent_again(void **state)
{
	void (*const cases[])(
		struct fixture *) = { query_open, query_answered_with_sync, skipping };
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin_anew(f, 0);
		cases[i](f);
		cnp_client_lost(&f->c);
		cnp_client_restart(&f->c);
		assert_int_equal(try_open(&f->c, CNP_OPEN_ATTACH, CNP_TLS_NONE, 1),
			CENOTE_ERR_STATE);
		/* but a new session works without that request */
		assert_ok(try_open(&f->c, CNP_OPEN_ATTACH, CNP_TLS_NONE, 0));
		assert_null(cnp_client_oldest(&f->c));
	}
}

static void
half_a_frame_of_the_old_session_is_not_read_in_the_new_one(void **state)
{
	struct fixture *f = *state;

	attach(f);
	wire_put_code(&f->in, CNP_MSG_NOTICE, 0);
	cnc_buf_truncate(&f->in, cnc_buf_len(&f->in) - 1);
	deliver(f);
	cnp_client_lost(&f->c);
	cnp_client_restart(&f->c);
	attach(f);
}

static void
only_results_come_in_series(void **state)
{
	struct fixture *f = *state;
	struct cnp_event ev;
	struct cnp_msg m;

	attach(f);
	(void)ask(f, CNP_MSG_COMMIT, 0);
	wire_least(&m, CNP_MSG_DONE);
	m.as.done.flags = CNP_DONE_MORE_RESULTS;
	assert_int_equal(give(f, 0, 1, &m, &ev), CENOTE_ERR_PROTOCOL);
}

static void
numbers_go_on_across_sessions(void **state)
{
	struct fixture *f = *state;

	attach(f);
	assert_int_equal(ask(f, CNP_MSG_PING, CNP_FRAME_SYNC), 1);
	expect(f, CNP_MSG_DONE, 1, 0);
	expect(f, CNP_MSG_READY, 1, 1);
	expect(f, CNP_MSG_YIELD, 0, 0);
	cnp_client_restart(&f->c);
	attach(f);
	assert_int_equal(ask(f, CNP_MSG_PING, 0), 2);
	expect(f, CNP_MSG_DONE, 2, 1);
}

static void
opening_what_is_open_is_refused(void **state)
{
	struct fixture *f = *state;
	struct cnp_opening o = { .version_min = 1,
		.version_max = 1,
		.kind = CNP_OPEN_ATTACH,
		.pool = "main" };
	struct cnp_msg m;

	wire_least(&m, CNP_MSG_CANCEL);
	assert_int_equal(cnp_client_open(&f->c, &o, &m, 0), CENOTE_ERR_ARG);
	wire_least(&m, CNP_MSG_ATTACH);
	m.as.attach.options.p = "";
	m.as.attach.options.n = CNP_FRAME_MAX_AUTH;
	m.as.attach.options.p = calloc(1, CNP_FRAME_MAX_AUTH);
	assert_int_equal(cnp_client_open(&f->c, &o, &m, 0), CENOTE_ERR_LIMIT);
	free((void *)(uintptr_t)m.as.attach.options.p);
	assert_int_equal(cnp_client_state(&f->c), CNP_CLIENT_IDLE);
	open_session(f);
	assert_int_equal(
		try_open(&f->c, CNP_OPEN_ATTACH, CNP_TLS_NONE, 0), CENOTE_ERR_STATE);
}

/* --------------------------------------------- one byte at a time, no memory */

/* The pool's messages of a dialog. */
static void
put_dialog(struct cnc_buf *b)
{
	static const struct {
		uint8_t code;
		uint32_t request;
	} frames[] = { { CNP_MSG_HELLO, 0 }, { CNP_MSG_ATTACHED, 0 },
		{ CNP_MSG_READY, 0 }, { CNP_MSG_NOTICE, 0 }, { CNP_MSG_COLUMNS, 1 },
		{ CNP_MSG_ROWS, 1 }, { CNP_MSG_ROWS, 1 }, { CNP_MSG_DONE, 1 },
		{ CNP_MSG_PARAMS, 2 }, { CNP_MSG_DONE, 2 }, { CNP_MSG_READY, 2 },
		{ CNP_MSG_ERROR, 3 }, { CNP_MSG_SKIPPED, 4 }, { CNP_MSG_READY, 4 },
		{ CNP_MSG_YIELD, 0 } };
	size_t i;

	for (i = 0; i < sizeof frames / sizeof *frames; i++)
		wire_put_code(b, frames[i].code, frames[i].request);
}

/* Run the dialog in pieces of `piece` bytes; the events go to `trace`. Returns CENOTE_OK or
 * CENOTE_ERR_NOMEM. */
static int
run_dialog(struct fixture *f, size_t piece, char *trace, size_t size)
{
	static const uint8_t codes[4] = { CNP_MSG_QUERY, CNP_MSG_PREPARE, CNP_MSG_QUERY,
		CNP_MSG_QUERY };
	struct cnp_event ev;
	struct cnp_msg m;
	size_t i, at, n, used = 0;
	uint8_t *room;
	int r;

	r = try_open(&f->c, CNP_OPEN_ATTACH, CNP_TLS_NONE, 0);
	for (i = 0; i < 4 && r == CENOTE_OK; i++) {
		wire_least(&m, codes[i]);
		r = cnp_client_request(&f->c, &m, i & 1, 0, NULL);
	}
	for (at = 0; at < cnc_buf_len(&f->in) && r >= 0; at += n) {
		r = cnp_client_room(&f->c, &room, &n);
		if (r < 0)
			break;
		n = n < piece ? n : piece;
		n = n < cnc_buf_len(&f->in) - at ? n : cnc_buf_len(&f->in) - at;
		memcpy(room, cnc_buf_head(&f->in) + at, n);
		cnp_client_received(&f->c, n);
		(void)send_all(f);
		while ((r = cnp_client_next(&f->c, &ev)) == CENOTE_OK) {
			(void)send_all(f);
			used += (size_t)snprintf(trace + used, size - used,
				"%s %u %u %d %zu\n", cnp_msg_name(ev.msg.code),
				ev.request, ev.request_code, ev.is_last, ev.payload_len);
		}
		if (r < 0)
			break;
	}
	return r < 0 ? r : CENOTE_OK;
}

static void
one_byte_at_a_time_gives_the_same_events(void **state)
{
	char whole[2048], pieces[2048];
	struct fixture *f = *state;
	size_t piece;

	put_dialog(&f->in);
	assert_ok(run_dialog(f, SIZE_MAX, whole, sizeof whole));
	assert_int_equal(cnp_client_state(&f->c), CNP_CLIENT_YIELDED);
	for (piece = 1; piece < 40; piece++) {
		begin_anew(f, 0);
		put_dialog(&f->in);
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

		begin_anew(f, n);
		put_dialog(&f->in);
		r = run_dialog(f, 7, trace, sizeof trace);
		failed = cnt_alloc_has_failed(&f->alloc);
		assert_int_equal(r, failed ? CENOTE_ERR_NOMEM : CENOTE_OK);
	}
	assert_true(n > 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(opening_and_attach_go_in_one_write_and_requests_wait),
		TEST(with_tls_only_the_opening_goes_in_the_clear),
		TEST(without_tls_at_the_pool_the_rest_follows_in_the_clear),
		TEST(tls_cannot_be_stripped_injected_or_forced),
		TEST(bytes_between_hello_and_tls_are_not_taken),
		TEST(auth_frames_go_before_what_waits),
		TEST(what_is_no_request_is_not_queued),
		TEST(a_request_longer_than_the_pool_accepts_is_refused_here),
		TEST(numbers_go_round_without_zero),
		TEST(a_reply_to_what_was_not_sent_is_a_violation),
		TEST(a_reply_to_another_request_is_a_violation),
		TEST(a_version_that_was_not_offered_is_a_violation),
		TEST(a_flag_on_a_reply_is_a_violation),
		TEST(a_frame_above_the_limit_is_refused_before_its_payload),
		TEST(small_requests_need_no_memory_of_their_own),
		TEST(rows_that_a_result_keeps_are_not_overwritten),
		TEST(frames_larger_than_a_block_arrive_whole),
		TEST(memory_follows_what_came_and_not_what_was_announced),
		TEST(memory_of_a_huge_frame_is_given_back),
		TEST(what_a_yield_did_not_reach_is_sent_again_byte_for_byte),
		TEST(a_yield_that_claims_too_much_is_a_violation),
		TEST(what_was_partly_answered_is_never_sent_again),
		TEST(half_a_frame_of_the_old_session_is_not_read_in_the_new_one),
		TEST(only_results_come_in_series),
		TEST(numbers_go_on_across_sessions),
		TEST(opening_what_is_open_is_refused),
		TEST(one_byte_at_a_time_gives_the_same_events),
		TEST(each_failing_allocation_is_told_and_leaves_no_leak),
	};

	return cmocka_run_group_tests_name("client", tests, NULL, NULL);
}
