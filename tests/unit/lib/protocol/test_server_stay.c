/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server's end of a session whose client stays: when a client may stay, what is remembered of it, and how it gets
 * a session again. The test plays the client.
 */
#include "server.h"

#define STAYS (CNP_ATTACH_AGAIN | CNP_ATTACH_STAYS)

/* Attach a client that sets these flags. Nothing is left to send or to receive. */
static void
attach_flags(struct fixture *f, uint32_t flags)
{
	struct cnp_attached m = { 0 };
	struct cnp_request req;

	in_first(f);
	assert_ok(cnp_server_hello(&f->s, 0, CNP_AUTH_NONE, NULL));
	put_attach(f, flags, "");
	assert_ok(next(f, &req));
	assert_ok(cnp_server_attached(&f->s, &m));
	assert_ok(cnp_server_ready(&f->s, 0, 0, NULL));
	drop_output(f);
}

static void
attach_staying(struct fixture *f)
{
	attach_flags(f, CNP_ATTACH_STAYS);
}

static void
take_yield(struct fixture *f, struct cnp_msg *ret_msg)
{
	struct cnp_frame frame;
	const uint8_t *p;
	size_t at = 0, n = cnp_server_output(&f->s, &p);

	wire_next(p, n, &at, &frame, ret_msg);
	assert_int_equal(frame.code, CNP_MSG_YIELD);
	assert_int_equal(at, n);
}

static void
a_client_that_may_stay_is_told_so_and_remembered(void **state)
{
	struct fixture *f = *state;
	struct cnp_kept kept;
	struct cnp_request req;
	struct cnp_msg m;

	attach_staying(f);
	put_request(f, CNP_MSG_PING, 41, CNP_FRAME_SYNC);
	expect_request(f, CNP_MSG_PING, 41);
	answer(f);
	drop_output(f);
	assert_true(cnp_server_can_stay(&f->s));
	assert_ok(cnp_server_yield(&f->s, CNP_YIELD_STAY, NULL));
	take_yield(f, &m);
	assert_int_equal(m.as.yield.reason, CNP_YIELD_STAY);
	assert_int_equal(m.as.yield.last, 41);
	cnp_server_keep(&f->s, &kept);
	assert_int_equal(kept.last_request, 41);
	assert_int_equal(kept.version, 1);
	assert_int_equal(kept.peer_max_frame, CNP_FRAME_MAX);
	assert_int_equal(cnp_server_next(&f->s, &req), CENOTE_AGAIN);
}

static void
not_staying_to(struct fixture *f, int can_yield)
{
	(void)deliver(f);
	assert_false(cnp_server_can_stay(&f->s));
	assert_int_equal(cnp_server_can_yield(&f->s), can_yield);
	assert_int_equal(cnp_server_yield(&f->s, CNP_YIELD_STAY, NULL), CENOTE_ERR_STATE);
}

static void
nobody_stays_without_the_flag_or_with_bytes_on_the_way(void **state)
{
	struct cnp_attached attached = { 0 };
	struct fixture *f = *state;
	struct cnp_request req;

	attach(f);
	not_staying_to(f, 1);
	cnp_server_restart(&f->s);
	attach_staying(f);
	put_request(f, CNP_MSG_PING, 1, 0);
	not_staying_to(f, 1);
	expect_request(f, CNP_MSG_PING, 1);
	not_staying_to(f, 0);
	answer(f);
	not_staying_to(f, 0);
	put_request(f, CNP_MSG_SYNC, 2, 0);
	expect_request(f, CNP_MSG_SYNC, 2);
	finish(f);
	assert_true(cnp_server_can_stay(&f->s));
	/* one byte of a frame is enough to prevent staying */
	assert_ok(cnc_buf_u8(&f->in, 0));
	not_staying_to(f, 1);
	/* the next client did not set the flag, and RESUME has no such flag */
	cnp_server_restart(&f->s);
	attach(f);
	not_staying_to(f, 1);
	cnp_server_restart(&f->s);
	attach_staying(f);
	cnp_server_restart(&f->s);
	opening_kind(f, CNP_OPEN_RESUME);
	put_request(f, CNP_MSG_RESUME, 0, 0);
	assert_ok(next(f, &req));
	assert_ok(cnp_server_attached(&f->s, &attached));
	assert_ok(cnp_server_ready(&f->s, 0, 0, NULL));
	not_staying_to(f, 1);
}

static void
not_listening_to(struct fixture *f)
{
	(void)deliver(f);
	assert_false(cnp_server_can_listen(&f->s));
	assert_int_equal(
		cnp_server_yield(&f->s, CNP_YIELD_LISTEN, NULL), CENOTE_ERR_STATE);
}

static void
take_notification(struct fixture *f)
{
	struct cnp_frame frame;
	struct cnp_msg m;
	const uint8_t *p;
	size_t at = 0, n = cnp_server_output(&f->s, &p);

	wire_next(p, n, &at, &frame, &m);
	assert_int_equal(frame.code, CNP_MSG_NOTIFICATION);
	assert_int_equal(frame.request, 0);
	assert_int_equal(at, n);
	drop_output(f);
}

static void
who_listens_gets_notifications_while_it_stays(void **state)
{
	struct fixture *f = *state;
	struct cnp_kept kept;
	struct cnp_request req;
	struct cnp_msg m;

	attach_staying(f);
	not_listening_to(f);
	cnp_server_restart(&f->s);
	attach_flags(f, CNP_ATTACH_STAYS | CNP_ATTACH_LISTENS);
	put_request(f, CNP_MSG_PING, 41, CNP_FRAME_SYNC);
	not_listening_to(f);
	expect_request(f, CNP_MSG_PING, 41);
	not_listening_to(f);
	answer(f);
	drop_output(f);
	assert_ok(cnp_server_yield(&f->s, CNP_YIELD_LISTEN, NULL));
	take_yield(f, &m);
	assert_int_equal(m.as.yield.reason, CNP_YIELD_LISTEN);
	cnp_server_keep(&f->s, &kept);
	wire_least(&m, CNP_MSG_NOTIFICATION);
	/* no more on that session */
	assert_int_equal(cnp_server_reply(&f->s, &m, 1), CENOTE_ERR_STATE);
	assert_int_equal(cnp_server_put_notifications(&f->s, (const uint8_t *)"", 0),
		CENOTE_ERR_STATE);
	cnp_server_restart_kept(&f->s, &kept);
	drop_output(f);
	assert_ok(cnp_server_reply(&f->s, &m, 1));
	take_notification(f);
	put_attach(f, CNP_ATTACH_AGAIN | CNP_ATTACH_STAYS | CNP_ATTACH_LISTENS, "");
	assert_ok(next(f, &req));
	assert_ok(cnp_server_reply(&f->s, &m, 1));
	take_notification(f);
	/* a parameter belongs to a session */
	wire_least(&m, CNP_MSG_PARAMETER);
	assert_int_equal(cnp_server_reply(&f->s, &m, 1), CENOTE_ERR_STATE);
	assert_ok(cnp_server_put_notifications(&f->s, (const uint8_t *)"rest", 4));
}

static void
not_lending_to(struct fixture *f)
{
	assert_false(cnp_server_can_lend(&f->s));
	assert_int_equal(cnp_server_yield(&f->s, CNP_YIELD_LEND, NULL), CENOTE_ERR_STATE);
}

/* Bytes of later requests may have come: the client sends them again, as after any yield. */
static void
a_session_is_lent_between_two_requests_to_who_may_borrow(void **state)
{
	struct fixture *f = *state;
	struct cnp_msg m;

	attach_flags(f, CNP_ATTACH_BORROWS);
	put_request(f, CNP_MSG_PING, 41, 0);
	expect_request(f, CNP_MSG_PING, 41);
	not_lending_to(f);
	answer(f);
	not_lending_to(f);
	put_request(f, CNP_MSG_SYNC, 42, 0);
	expect_request(f, CNP_MSG_SYNC, 42);
	finish(f);
	put_request(f, CNP_MSG_PING, 43, 0);
	(void)deliver(f);
	drop_output(f);
	assert_true(cnp_server_can_lend(&f->s));
	assert_ok(cnp_server_yield(&f->s, CNP_YIELD_LEND, NULL));
	take_yield(f, &m);
	assert_int_equal(m.as.yield.reason, CNP_YIELD_LEND);
	assert_int_equal(m.as.yield.last, 42);
	assert_int_equal(cnp_server_state(&f->s), CNP_SERVER_CLOSING);
	not_lending_to(f);
	/* the next client does not offer to borrow */
	cnp_server_restart(&f->s);
	attach_staying(f);
	not_lending_to(f);
	/* a client that stays has no session to lend */
	cnp_server_restart(&f->s);
	staying(f);
	put_attach(f, STAYS | CNP_ATTACH_BORROWS, "");
	not_lending_to(f);
	(void)deliver(f);
	assert_ok(cnp_server_next(&f->s, &(struct cnp_request){ 0 }));
	assert_int_equal(cnp_server_state(&f->s), CNP_SERVER_FIRST);
	not_lending_to(f);
	assert_ok(cnp_server_attached(&f->s, &(struct cnp_attached){ 0 }));
	assert_ok(cnp_server_ready(&f->s, 0, 0, NULL));
	assert_true(cnp_server_can_lend(&f->s));
}

/* The handle serves other clients after a client that stays. */
static void
nothing_of_a_client_that_stays_is_left_for_the_next_one(void **state)
{
	struct fixture *f = *state;

	staying_first(f);
	cnp_server_restart(&f->s);
	in_attaching(f);
	assert_false(cnp_server_can_yield(&f->s));
	cnp_server_restart(&f->s);
	attach(f);
	put_request(f, CNP_MSG_PING, 1, 0);
	expect_request(f, CNP_MSG_PING, 1);
}

/* Before ATTACHED, the handle takes 16 kB at most. The rest of the requests waits in the socket. */
static void
sixteen_kilobytes_before_a_session_are_all(void **state)
{
	struct cnp_attached attached = { 0 };
	struct fixture *f = *state;
	struct cnp_request req;
	struct cnp_msg m;

	staying(f);
	put_attach(f, STAYS, "");
	wire_least(&m, CNP_MSG_QUERY);
	m.as.query.sql.p = calloc(1, 100001);
	m.as.query.sql.n = 100000;
	wire_put(&f->in, CNP_FRAME_SYNC, 8, &m);
	free((void *)(uintptr_t)m.as.query.sql.p);
	assert_int_equal(deliver(f), CENOTE_ERR_LIMIT);
	assert_int_equal(cnc_buf_len(&f->s.in), CNP_FRAME_MAX_AUTH);
	assert_ok(cnp_server_next(&f->s, &req));
	assert_int_equal(deliver(f), CENOTE_ERR_LIMIT);
	assert_ok(cnp_server_attached(&f->s, &attached));
	assert_ok(cnp_server_ready(&f->s, 0, 0, NULL));
	expect_request(f, CNP_MSG_QUERY, 8);
}

static void
a_client_that_stays_gets_a_session_without_a_greeting(void **state)
{
	struct cnp_attached attached = { 0 };
	struct fixture *f = *state;
	struct cnp_request req;
	char text[128];

	staying(f);
	put_request(f, CNP_MSG_QUERY, 8, 0);
	put_copy(f, 7, "some");
	put_request(f, CNP_MSG_CLOSE, 0, 0);
	put_attach(f, STAYS, "");
	put_request(f, CNP_MSG_PREPARE, 0, 0);
	put_request(f, CNP_MSG_QUERY, 8, CNP_FRAME_SYNC);
	assert_ok(next(f, &req));
	assert_int_equal(req.msg.code, CNP_MSG_ATTACH);
	assert_int_equal(req.number, 0);
	assert_int_equal(cnp_server_state(&f->s), CNP_SERVER_FIRST);
	assert_int_equal(next(f, &req), CENOTE_AGAIN);
	assert_int_equal(
		cnp_server_hello(&f->s, 0, CNP_AUTH_NONE, NULL), CENOTE_ERR_STATE);
	assert_ok(cnp_server_attached(&f->s, &attached));
	assert_ok(cnp_server_ready(&f->s, 0, 0, NULL));
	expect_request(f, CNP_MSG_PREPARE, 0);
	answer(f);
	expect_request(f, CNP_MSG_QUERY, 8);
	answer(f);
	assert_string_equal(SENT(f), "ATTACHED 0, READY 0, DONE 8, READY 8");
	/* the client can stay once more */
	assert_true(cnp_server_can_stay(&f->s));
}

/* The handle serves others in between. */
static void
what_is_dropped_may_come_in_pieces(void **state)
{
	struct fixture *f = *state;
	struct cnp_request req;
	struct cnp_kept kept;

	attach(f);
	assert_false(cnp_server_still_stays(&f->s));
	cnp_server_restart(&f->s);
	staying(f);
	put_request(f, CNP_MSG_QUERY, 8, 0);
	put_copy(f, 7, "some");
	assert_int_equal(next(f, &req), CENOTE_AGAIN);
	assert_true(cnp_server_still_stays(&f->s));
	/* the head of a longer frame: its length, code and number */
	assert_ok(cnc_buf_u32(&f->in, 100));
	assert_int_equal(next(f, &req), CENOTE_AGAIN);
	assert_false(cnp_server_still_stays(&f->s));
	assert_ok(cnc_buf_u32(&f->in, CNP_MSG_QUERY));
	assert_ok(cnc_buf_u32(&f->in, 9));
	for (int i = 0; i < 25; i++) {
		assert_int_equal(next(f, &req), CENOTE_AGAIN);
		assert_true(cnp_server_still_stays(&f->s));
		cnp_server_keep(&f->s, &kept);
		cnp_server_restart(&f->s);
		cnp_server_restart_kept(&f->s, &kept);
		assert_ok(cnc_buf_u32(&f->in, 0));
	}
	put_attach(f, STAYS, "");
	assert_ok(next(f, &req));
	assert_int_equal(req.msg.code, CNP_MSG_ATTACH);
	assert_false(cnp_server_still_stays(&f->s));
}

/* Requests go on growing from the last one of the session before. */
static void
numbers_go_on_for_a_client_that_stays(void **state)
{
	struct cnp_attached attached = { 0 };
	struct fixture *f = *state;
	struct cnp_request req;

	staying_first(f);
	assert_ok(cnp_server_attached(&f->s, &attached));
	assert_ok(cnp_server_ready(&f->s, 0, 0, NULL));
	put_request(f, CNP_MSG_QUERY, 7, 0);
	assert_int_equal(next(f, &req), CENOTE_ERR_PROTOCOL);
}

static void
a_client_that_stays_can_be_sent_the_ordinary_way(void **state)
{
	static void (*const cases[])(struct fixture *) = { staying, staying_first };
	struct fixture *f = *state;
	struct cnp_msg m;

	for (size_t i = 0; i < 2; i++) {
		cases[i](f);
		assert_int_equal(
			cnp_server_yield(&f->s, CNP_YIELD_STAY, NULL), CENOTE_ERR_STATE);
		assert_true(cnp_server_can_yield(&f->s));
		assert_ok(cnp_server_yield(&f->s, CNP_YIELD_DRAIN, NULL));
		take_yield(f, &m);
		assert_int_equal(m.as.yield.reason, CNP_YIELD_DRAIN);
		assert_int_equal(m.as.yield.last, 7);
		assert_int_equal(cnp_server_state(&f->s), CNP_SERVER_CLOSING);
	}
	/* but a client cannot be sent away while a request runs on its new session */
	staying_first(f);
	assert_ok(cnp_server_attached(&f->s, &(struct cnp_attached){ 0 }));
	put_request(f, CNP_MSG_QUERY, 8, 0);
	expect_request(f, CNP_MSG_QUERY, 8);
	assert_int_equal(
		cnp_server_yield(&f->s, CNP_YIELD_DRAIN, NULL), CENOTE_ERR_STATE);
}

static void
an_error_refuses_a_client_that_stays(void **state)
{
	struct fixture *f = *state;
	char text[64];

	staying_first(f);
	assert_ok(error(f));
	assert_string_equal(SENT(f), "ERROR 0");
	assert_int_equal(cnp_server_state(&f->s), CNP_SERVER_CLOSING);
}

static void
what_ends_staying_must_be_the_right_attach(void **state)
{
	static const uint32_t wrong[] = { 0, CNP_ATTACH_AGAIN, CNP_ATTACH_STAYS };
	struct fixture *f = *state;
	struct cnp_request req;
	struct cnp_msg m;

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		staying(f);
		put_attach(f, wrong[i], "");
		assert_int_equal(next(f, &req), CENOTE_ERR_PROTOCOL);
	}
	staying(f);
	wire_least(&m, CNP_MSG_ATTACH);
	m.as.attach.flags = STAYS;
	m.as.attach.max_frame = 1;
	wire_put(&f->in, 0, 0, &m);
	assert_int_equal(next(f, &req), CENOTE_ERR_PROTOCOL);
	/* ATTACH must not be longer than an opening may be */
	staying(f);
	m.as.attach.max_frame = 0;
	m.as.attach.options.p = calloc(1, CNP_FRAME_MAX_AUTH);
	m.as.attach.options.n = CNP_FRAME_MAX_AUTH;
	wire_put(&f->in, 0, 0, &m);
	assert_int_equal(next(f, &req), CENOTE_ERR_PROTOCOL);
	free((void *)(uintptr_t)m.as.attach.options.p);
	cnc_buf_clear(&f->in, 1 << 20);
}

static void
what_is_dropped_needs_no_memory(void **state)
{
	struct fixture *f = *state;
	struct cnp_request req;
	struct cnp_msg m;

	staying(f);
	wire_least(&m, CNP_MSG_QUERY);
	m.as.query.sql.p = calloc(1, 1000001);
	m.as.query.sql.n = 1000000;
	wire_put(&f->in, 0, 8, &m);
	free((void *)(uintptr_t)m.as.query.sql.p);
	put_attach(f, STAYS, "");
	while (cnc_buf_len(&f->in) > 0) {
		uint8_t *room;
		size_t n;

		assert_ok(cnp_server_room(&f->s, &room, &n));
		n = n < cnc_buf_len(&f->in) ? n : cnc_buf_len(&f->in);
		memcpy(room, cnc_buf_head(&f->in), n);
		cnp_server_received(&f->s, n);
		cnc_buf_consume(&f->in, n);
		if (cnp_server_next(&f->s, &req) == CENOTE_OK)
			break;
		assert_true(f->s.in.cap <= 65536);
	}
	assert_int_equal(cnp_server_state(&f->s), CNP_SERVER_FIRST);
	assert_int_equal(cnc_buf_len(&f->in), 0);
}

static void
what_the_client_gives_back_it_is_not_told_again(void **state)
{
	const struct cnp_str same = { "id=7", 4 }, other = { "id=8", 4 };
	struct fixture *f = *state;
	struct cnp_request req;
	struct cnp_msg m;

	staying(f);
	put_attach(f, STAYS, "id=7");
	assert_ok(next(f, &req));
	assert_ok(cnp_server_yield(&f->s, CNP_YIELD_DRAIN, &same));
	take_yield(f, &m);
	assert_int_equal(m.as.yield.carry.n, 0);
	staying(f);
	put_attach(f, STAYS, "id=7");
	assert_ok(next(f, &req));
	assert_ok(cnp_server_yield(&f->s, CNP_YIELD_DRAIN, &other));
	take_yield(f, &m);
	assert_string_equal(m.as.yield.carry.p, "id=8");
}

/* --------------------------------------------- one byte at a time, no memory */

static int
answer_next(struct fixture *f, const struct cnp_request *req)
{
	static const struct cnp_attached attached;
	int r;

	if (req->msg.code == CNP_MSG_ATTACH) {
		r = cnp_server_attached(&f->s, &attached);
		return r < 0 ? r : cnp_server_ready(&f->s, 0, 0, NULL);
	}
	r = reply(f, CNP_MSG_DONE);
	return r < 0 ? r : cnp_server_finish_request(&f->s, 0, 0, NULL);
}

/* Deliver f->in in pieces of `piece` bytes. `text` gets the names of the messages that were sent. */
static int
run_dialog(struct fixture *f, size_t piece, char *text, size_t size)
{
	struct cnp_request req;
	uint8_t *room;
	size_t n;
	int r = CENOTE_OK;

	while (cnc_buf_len(&f->in) > 0 && r >= 0) {
		r = cnp_server_room(&f->s, &room, &n);
		if (r < 0)
			return r;
		n = n < piece ? n : piece;
		n = n < cnc_buf_len(&f->in) ? n : cnc_buf_len(&f->in);
		memcpy(room, cnc_buf_head(&f->in), n);
		cnp_server_received(&f->s, n);
		cnc_buf_consume(&f->in, n);
		while ((r = cnp_server_next(&f->s, &req)) == CENOTE_OK) {
			r = answer_next(f, &req);
			if (r < 0)
				return r;
		}
	}
	if (r >= 0)
		(void)sent(f, text, size);
	return r < 0 ? r : CENOTE_OK;
}

static void
put_dialog(struct fixture *f)
{
	put_request(f, CNP_MSG_QUERY, 8, CNP_FRAME_SYNC);
	put_request(f, CNP_MSG_CLOSE, 0, 0);
	put_request(f, CNP_MSG_PING, 9, CNP_FRAME_SYNC);
	put_attach(f, STAYS, "id=7");
	put_request(f, CNP_MSG_PREPARE, 0, 0);
	put_request(f, CNP_MSG_QUERY, 8, CNP_FRAME_SYNC);
	put_request(f, CNP_MSG_PING, 9, CNP_FRAME_SYNC);
}

static void
one_byte_at_a_time_drops_and_gives_the_same(void **state)
{
	struct fixture *f = *state;
	char text[256];

	for (size_t piece = 1; piece < 60; piece++) {
		staying(f);
		put_dialog(f);
		assert_ok(run_dialog(f, piece, text, sizeof text));
		assert_string_equal(
			text, "ATTACHED 0, READY 0, DONE 8, READY 8, DONE 9, READY 9");
	}
}

static void
each_failing_allocation_is_told_and_leaves_no_leak(void **state)
{
	struct fixture *f = *state;
	char text[256];
	int failed = 1;
	size_t n;

	for (n = 1; failed; n++) {
		int r;

		assert_int_equal(end(f), 0);
		begin(f, n);
		staying(f);
		put_dialog(f);
		r = run_dialog(f, 7, text, sizeof text);
		failed = cnt_alloc_has_failed(&f->alloc);
		assert_int_equal(r, failed ? CENOTE_ERR_NOMEM : CENOTE_OK);
	}
	assert_true(n > 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_client_that_may_stay_is_told_so_and_remembered),
		TEST(nobody_stays_without_the_flag_or_with_bytes_on_the_way),
		TEST(who_listens_gets_notifications_while_it_stays),
		TEST(a_session_is_lent_between_two_requests_to_who_may_borrow),
		TEST(nothing_of_a_client_that_stays_is_left_for_the_next_one),
		TEST(sixteen_kilobytes_before_a_session_are_all),
		TEST(a_client_that_stays_gets_a_session_without_a_greeting),
		TEST(what_is_dropped_may_come_in_pieces),
		TEST(numbers_go_on_for_a_client_that_stays),
		TEST(a_client_that_stays_can_be_sent_the_ordinary_way),
		TEST(an_error_refuses_a_client_that_stays),
		TEST(what_ends_staying_must_be_the_right_attach),
		TEST(what_is_dropped_needs_no_memory),
		TEST(what_the_client_gives_back_it_is_not_told_again),
		TEST(one_byte_at_a_time_drops_and_gives_the_same),
		TEST(each_failing_allocation_is_told_and_leaves_no_leak),
	};

	return cmocka_run_group_tests_name("server_stay", tests, NULL, NULL);
}
