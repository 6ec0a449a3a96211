/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client's end of staying: it keeps its connection without a session, and gets the next session there. The
 * test plays the pool.
 */
#include "client.h"

#define STAYS (CNP_ATTACH_AGAIN | CNP_ATTACH_STAYS)

static int
try_attach(struct fixture *f, uint32_t flags)
{
	struct cnp_msg m;

	wire_least(&m, CNP_MSG_ATTACH);
	m.as.attach.flags = flags;
	return cnp_client_open_kept(&f->c, &m);
}

/* The codes and numbers of all that is to be sent at once: "ATTACH 0, QUERY 3"; it is then sent. */
static const char *
sent(struct fixture *f)
{
	static char text[256];
	struct cnp_frame frame;
	struct cnp_msg m;
	const uint8_t *p;
	size_t n = cnp_client_output(&f->c, &p), at = 0, used = 0;

	text[0] = '\0';
	while (at < n) {
		wire_next(p, n, &at, &frame, &m);
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %u",
			used ? ", " : "", cnp_msg_name(frame.code), frame.request);
		if (m.code == CNP_MSG_EXECUTE)
			assert_int_equal(m.as.execute.known, 0);
	}
	cnp_client_sent(&f->c, n);
	assert_int_equal(cnp_client_output(&f->c, &p), 0);
	return text;
}

static void
everything_goes_out_at_once_on_the_same_connection(void **state)
{
	struct fixture *f = *state;
	struct cnp_msg m;

	attach_staying(f);
	(void)ask(f, CNP_MSG_PING, CNP_FRAME_SYNC);
	wire_least(&m, CNP_MSG_EXECUTE);
	m.as.execute.known = 1;
	assert_ok(cnp_client_request(&f->c, &m, 0, 0, NULL));
	(void)request(f, CNP_MSG_CLOSE, 0, 1);
	(void)request(f, CNP_MSG_SYNC, 0, 0);
	(void)send_all(f);
	expect(f, CNP_MSG_DONE, 1, 0);
	expect(f, CNP_MSG_READY, 1, 1);
	assert_ok(yield(f, CNP_YIELD_STAY, 1));
	assert_string_equal(sent(f), "");
	/* asked while it stays */
	(void)request(f, CNP_MSG_PING, CNP_FRAME_SYNC, 0);
	assert_ok(try_attach(f, STAYS));
	(void)request(f, CNP_MSG_PREPARE, 0, 1);
	(void)request(f, CNP_MSG_AUTOCOMMIT, 0, 1);
	assert_string_equal(sent(f), "ATTACH 0, PREPARE 0, AUTOCOMMIT 0, EXECUTE 2, "
				     "CLOSE 0, SYNC 3, PING 4");
	/* What is asked later comes later, with its own set-up. */
	(void)request(f, CNP_MSG_PREPARE, 0, 1);
	(void)request(f, CNP_MSG_QUERY, CNP_FRAME_SYNC, 0);
	assert_string_equal(sent(f), "PREPARE 0, QUERY 5");
	expect(f, CNP_MSG_ATTACHED, 0, 0);
	expect(f, CNP_MSG_READY, 0, 0);
	expect(f, CNP_MSG_COLUMNS, 2, 0);
	expect(f, CNP_MSG_DONE, 2, 1);
	expect(f, CNP_MSG_READY, 3, 1);
	expect(f, CNP_MSG_DONE, 4, 0);
	expect(f, CNP_MSG_READY, 4, 1);
	expect(f, CNP_MSG_DONE, 5, 0);
	expect(f, CNP_MSG_READY, 5, 1);
	assert_null(cnp_client_oldest(&f->c));
	/* and so again */
	assert_ok(yield(f, CNP_YIELD_STAY, 5));
	assert_ok(try_attach(f, STAYS));
	assert_string_equal(sent(f), "ATTACH 0");
}

static void
sent_back_the_ordinary_way_the_client_sends_all_again(void **state)
{
	struct fixture *f = *state;

	stay(f);
	(void)request(f, CNP_MSG_PING, CNP_FRAME_SYNC, 0);
	assert_ok(try_attach(f, STAYS));
	(void)request(f, CNP_MSG_PREPARE, 0, 1);
	assert_string_equal(sent(f), "ATTACH 0, PREPARE 0, PING 1");
	assert_ok(yield(f, CNP_YIELD_RELOAD, 0));
	assert_int_equal(cnp_client_state(&f->c), CNP_CLIENT_YIELDED);
	assert_false(cnp_client_is_staying(&f->c));
	assert_int_equal(try_attach(f, STAYS), CENOTE_ERR_STATE);
	cnp_client_restart(&f->c);
	assert_ok(try_open(&f->c, CNP_OPEN_ATTACH, CNP_TLS_NONE, 1));
	(void)send_all(f);
	expect(f, CNP_MSG_HELLO, 0, 0);
	expect(f, CNP_MSG_ATTACHED, 0, 0);
	expect(f, CNP_MSG_READY, 0, 0);
	assert_string_equal(sent(f), "PING 1");
	expect(f, CNP_MSG_DONE, 1, 0);
	expect(f, CNP_MSG_READY, 1, 1);
}

static void
a_yield_to_a_client_that_stays_ends_that(void **state)
{
	struct fixture *f = *state;

	stay(f);
	assert_ok(yield(f, CNP_YIELD_DRAIN, 0));
	assert_false(cnp_client_is_staying(&f->c));
	begin_anew(f, 0);
	stay(f);
	expect(f, CNP_MSG_NOTICE, 0, 0);
	assert_true(cnp_client_is_staying(&f->c));
	expect(f, CNP_MSG_ERROR, 0, 0);
	assert_false(cnp_client_is_staying(&f->c));
	/* lost while it stays */
	begin_anew(f, 0);
	stay(f);
	cnp_client_lost(&f->c);
	assert_false(cnp_client_is_staying(&f->c));
	assert_int_equal(try_attach(f, STAYS), CENOTE_ERR_STATE);
}

/* Each session is set up for itself. */
static void
set_up_of_a_session_that_served_nothing_is_forgotten(void **state)
{
	struct fixture *f = *state;

	stay(f);
	assert_ok(try_attach(f, STAYS));
	(void)request(f, CNP_MSG_PREPARE, 0, 1);
	assert_string_equal(sent(f), "ATTACH 0, PREPARE 0");
	expect(f, CNP_MSG_ATTACHED, 0, 0);
	expect(f, CNP_MSG_READY, 0, 0);
	assert_ok(yield(f, CNP_YIELD_STAY, 0));
	assert_true(cnp_client_is_staying(&f->c));
	assert_ok(try_attach(f, STAYS));
	(void)request(f, CNP_MSG_AUTOCOMMIT, 0, 1);
	assert_string_equal(sent(f), "ATTACH 0, AUTOCOMMIT 0");
}

static void
a_refusal_is_the_last_word(void **state)
{
	struct fixture *f = *state;

	stay(f);
	(void)request(f, CNP_MSG_PING, CNP_FRAME_SYNC, 0);
	assert_ok(try_attach(f, STAYS));
	(void)send_all(f);
	expect(f, CNP_MSG_ERROR, 0, 1);
	assert_int_equal(cnp_client_state(&f->c), CNP_CLIENT_DEAD);
}

/* What the pool must not say to a client that stays, or attaches after that. */
static void
staying_has_its_own_violations(void **state)
{
	static const uint8_t wrong[] = { CNP_MSG_READY, CNP_MSG_HELLO, CNP_MSG_ATTACHED,
		CNP_MSG_PARAMETER, CNP_MSG_NOTIFICATION, CNP_MSG_DONE };
	struct fixture *f = *state;
	struct cnp_event ev;

	for (size_t i = 0; i < sizeof wrong; i++) {
		begin_anew(f, 0);
		stay(f);
		assert_int_equal(feed(f, wrong[i], 0, &ev), CENOTE_ERR_PROTOCOL);
		if (wrong[i] == CNP_MSG_ATTACHED)
			continue;
		begin_anew(f, 0);
		stay(f);
		assert_ok(try_attach(f, STAYS));
		(void)send_all(f);
		assert_int_equal(feed(f, wrong[i], 0, &ev), CENOTE_ERR_PROTOCOL);
	}
	begin_anew(f, 0);
	stay(f);
	assert_int_equal(yield(f, CNP_YIELD_STAY, 0), CENOTE_ERR_PROTOCOL);
	begin_anew(f, 0);
	stay(f);
	assert_ok(try_attach(f, STAYS));
	(void)send_all(f);
	assert_int_equal(yield(f, CNP_YIELD_STAY, 0), CENOTE_ERR_PROTOCOL);
	/* an answer before ATTACH was sent */
	begin_anew(f, 0);
	stay(f);
	assert_ok(try_attach(f, STAYS));
	assert_int_equal(feed(f, CNP_MSG_ATTACHED, 0, &ev), CENOTE_ERR_PROTOCOL);
	/* it has carried out a request that was not carried out */
	begin_anew(f, 0);
	stay(f);
	(void)request(f, CNP_MSG_PING, CNP_FRAME_SYNC, 0);
	assert_ok(try_attach(f, STAYS));
	(void)send_all(f);
	assert_int_equal(yield(f, CNP_YIELD_DRAIN, 1), CENOTE_ERR_PROTOCOL);
}

/* The connection stays open for the loan, but no session comes there. */
static void
a_loan_comes_to_who_offers_to_borrow(void **state)
{
	struct fixture *f = *state;
	struct cnp_event ev;

	attach_flags(f, CNP_ATTACH_STAYS | CNP_ATTACH_BORROWS);
	(void)request(f, CNP_MSG_PING, CNP_FRAME_SYNC, 0);
	assert_ok(yield(f, CNP_YIELD_LEND, 0));
	assert_int_equal(cnp_client_state(&f->c), CNP_CLIENT_YIELDED);
	assert_false(cnp_client_is_staying(&f->c));
	assert_int_equal(cnp_client_next(&f->c, &ev), CENOTE_AGAIN);
	cnp_client_restart(&f->c);
	assert_ok(try_open(&f->c, CNP_OPEN_ATTACH, CNP_TLS_NONE, 1));
	/* the loan was not offered again */
	(void)send_all(f);
	expect(f, CNP_MSG_HELLO, 0, 0);
	expect(f, CNP_MSG_ATTACHED, 0, 0);
	expect(f, CNP_MSG_READY, 0, 0);
	assert_int_equal(yield(f, CNP_YIELD_LEND, 0), CENOTE_ERR_PROTOCOL);
	begin_anew(f, 0);
	attach_staying(f);
	assert_int_equal(yield(f, CNP_YIELD_LEND, 0), CENOTE_ERR_PROTOCOL);
	/* there is no session to lend */
	begin_anew(f, 0);
	attach_flags(f, CNP_ATTACH_STAYS | CNP_ATTACH_BORROWS);
	assert_ok(yield(f, CNP_YIELD_STAY, 0));
	assert_int_equal(yield(f, CNP_YIELD_LEND, 0), CENOTE_ERR_PROTOCOL);
	begin_anew(f, 0);
	attach_flags(f, CNP_ATTACH_STAYS | CNP_ATTACH_BORROWS);
	assert_ok(yield(f, CNP_YIELD_STAY, 0));
	assert_ok(try_attach(f, STAYS | CNP_ATTACH_BORROWS));
	(void)send_all(f);
	assert_int_equal(yield(f, CNP_YIELD_LEND, 0), CENOTE_ERR_PROTOCOL);
	/* a request is half done */
	begin_anew(f, 0);
	attach_flags(f, CNP_ATTACH_BORROWS);
	(void)ask(f, CNP_MSG_QUERY, CNP_FRAME_SYNC);
	expect(f, CNP_MSG_COLUMNS, 1, 0);
	assert_int_equal(yield(f, CNP_YIELD_LEND, 0), CENOTE_ERR_PROTOCOL);
}

/* The pool would take what is sent next for the rest of the frame. */
static void
a_frame_that_was_cut_ends_the_connection(void **state)
{
	struct fixture *f = *state;
	const uint8_t *p;
	size_t i, n;

	attach_staying(f);
	(void)request(f, CNP_MSG_QUERY, CNP_FRAME_SYNC, 0);
	n = cnp_client_output(&f->c, &p);
	for (i = 0; i <= n; i++) {
		begin_anew(f, 0);
		attach_staying(f);
		(void)request(f, CNP_MSG_QUERY, CNP_FRAME_SYNC, 0);
		(void)cnp_client_output(&f->c, &p);
		cnp_client_sent(&f->c, i);
		assert_ok(yield(f, CNP_YIELD_STAY, 0));
		assert_int_equal(cnp_client_state(&f->c), CNP_CLIENT_YIELDED);
		assert_int_equal(cnp_client_is_staying(&f->c), i == 0 || i == n);
	}
	/* and without the flag nobody stays */
	begin_anew(f, 0);
	attach(f);
	assert_ok(yield(f, CNP_YIELD_STAY, 0));
	assert_false(cnp_client_is_staying(&f->c));
}

/* ---- listening ---- */

#define LISTENS (CNP_ATTACH_STAYS | CNP_ATTACH_LISTENS)

static void
listen(struct fixture *f)
{
	attach_flags(f, LISTENS);
	assert_ok(yield(f, CNP_YIELD_LISTEN, 0));
	assert_int_equal(cnp_client_state(&f->c), CNP_CLIENT_YIELDED);
	assert_true(cnp_client_is_staying(&f->c));
	assert_true(cnp_client_is_listening(&f->c));
}

static void
notifications_come_without_a_session_until_the_next_one(void **state)
{
	struct fixture *f = *state;

	listen(f);
	expect(f, CNP_MSG_NOTIFICATION, 0, 0);
	expect(f, CNP_MSG_NOTICE, 0, 0);
	assert_ok(try_attach(f, STAYS | CNP_ATTACH_LISTENS));
	(void)send_all(f);
	expect(f, CNP_MSG_NOTIFICATION, 0, 0);
	assert_true(cnp_client_is_listening(&f->c));
	expect(f, CNP_MSG_ATTACHED, 0, 0);
	expect(f, CNP_MSG_READY, 0, 0);
	assert_false(cnp_client_is_listening(&f->c));
	expect(f, CNP_MSG_NOTIFICATION, 0, 0);
	/* it listens no more */
	assert_ok(yield(f, CNP_YIELD_STAY, 0));
	assert_false(cnp_client_is_listening(&f->c));
}

/* The owner must know afterwards that the client listened: it was not told of all notifications. */
static void
who_listens_is_never_sent_away(void **state)
{
	struct fixture *f = *state;

	for (int attaches = 0; attaches < 2; attaches++) {
		begin_anew(f, 0);
		listen(f);
		if (attaches) {
			assert_ok(try_attach(f, STAYS | CNP_ATTACH_LISTENS));
			(void)send_all(f);
		}
		assert_int_equal(yield(f, CNP_YIELD_DRAIN, 0), CENOTE_ERR_PROTOCOL);
		assert_true(cnp_client_is_listening(&f->c));
	}
	begin_anew(f, 0);
	listen(f);
	expect(f, CNP_MSG_ERROR, 0, 0);
	assert_false(cnp_client_is_staying(&f->c));
	assert_true(cnp_client_is_listening(&f->c));
	/* the client did not say that it understands it; and there is no session to listen in place of */
	begin_anew(f, 0);
	attach_staying(f);
	assert_int_equal(yield(f, CNP_YIELD_LISTEN, 0), CENOTE_ERR_PROTOCOL);
	begin_anew(f, 0);
	attach_flags(f, LISTENS);
	assert_ok(yield(f, CNP_YIELD_STAY, 0));
	assert_int_equal(yield(f, CNP_YIELD_LISTEN, 0), CENOTE_ERR_PROTOCOL);
}

/* It must not lose its connection, so it sends the rest of the frame first. */
static void
who_listens_sends_a_frame_that_was_cut_to_its_end(void **state)
{
	struct fixture *f = *state;
	const uint8_t *p;
	size_t n;

	attach_flags(f, LISTENS);
	(void)request(f, CNP_MSG_QUERY, CNP_FRAME_SYNC, 0);
	n = cnp_client_output(&f->c, &p);
	for (size_t i = 0; i <= n; i++) {
		begin_anew(f, 0);
		attach_flags(f, LISTENS);
		(void)request(f, CNP_MSG_QUERY, CNP_FRAME_SYNC, 0);
		(void)request(f, CNP_MSG_PING, CNP_FRAME_SYNC, 0);
		(void)cnp_client_output(&f->c, &p);
		cnp_client_sent(&f->c, i);
		assert_ok(yield(f, CNP_YIELD_LISTEN, 0));
		assert_true(cnp_client_is_staying(&f->c));
		if (i > 0 && i < n) {
			assert_int_equal(try_attach(f, STAYS | CNP_ATTACH_LISTENS),
				CENOTE_ERR_STATE);
			assert_int_equal(cnp_client_output(&f->c, &p), n - i);
			cnp_client_sent(&f->c, n - i);
		}
		assert_int_equal(cnp_client_output(&f->c, &p), 0);
		assert_ok(try_attach(f, STAYS | CNP_ATTACH_LISTENS));
		assert_string_equal(sent(f), "ATTACH 0, QUERY 1, PING 2");
	}
}

static void
only_a_client_that_stays_attaches_so(void **state)
{
	struct fixture *f = *state;
	struct cnp_msg m;

	assert_int_equal(try_attach(f, STAYS), CENOTE_ERR_STATE);
	attach_staying(f);
	assert_int_equal(try_attach(f, STAYS), CENOTE_ERR_STATE);
	assert_ok(yield(f, CNP_YIELD_STAY, 0));
	assert_int_equal(try_attach(f, CNP_ATTACH_STAYS), CENOTE_ERR_ARG);
	assert_int_equal(try_attach(f, CNP_ATTACH_AGAIN), CENOTE_ERR_ARG);
	wire_least(&m, CNP_MSG_ATTACH);
	m.as.attach.flags = STAYS;
	m.as.attach.options.p = calloc(1, CNP_FRAME_MAX_AUTH);
	m.as.attach.options.n = CNP_FRAME_MAX_AUTH;
	assert_int_equal(cnp_client_open_kept(&f->c, &m), CENOTE_ERR_LIMIT);
	free((void *)(uintptr_t)m.as.attach.options.p);
	assert_true(cnp_client_is_staying(&f->c));
	assert_ok(try_attach(f, STAYS));
	assert_string_equal(sent(f), "ATTACH 0");
}

static void
it_is_known_whether_a_request_was_sent(void **state)
{
	struct fixture *f = *state;
	const uint8_t *p;
	size_t n, setup;

	stay(f);
	assert_ok(try_attach(f, STAYS));
	(void)request(f, CNP_MSG_PREPARE, 0, 1);
	setup = cnp_client_output(&f->c, &p);
	(void)request(f, CNP_MSG_PING, CNP_FRAME_SYNC, 0);
	n = cnp_client_output(&f->c, &p);
	assert_true(n > setup);
	cnp_client_sent(&f->c, setup);
	assert_false(cnp_client_has_sent_request(&f->c));
	cnp_client_sent(&f->c, 1);
	assert_true(cnp_client_has_sent_request(&f->c));
	cnp_client_sent(&f->c, n - setup - 1);
	expect(f, CNP_MSG_ATTACHED, 0, 0);
	assert_true(cnp_client_has_sent_request(&f->c));
	expect(f, CNP_MSG_READY, 0, 0);
	expect(f, CNP_MSG_DONE, 1, 0);
	expect(f, CNP_MSG_READY, 1, 1);
	assert_false(cnp_client_has_sent_request(&f->c));
	/* set-up behind the last request is none */
	(void)request(f, CNP_MSG_CLOSE, 0, 1);
	(void)send_all(f);
	assert_false(cnp_client_has_sent_request(&f->c));
	(void)request(f, CNP_MSG_PING, CNP_FRAME_SYNC, 0);
	assert_false(cnp_client_has_sent_request(&f->c));
	(void)send_all(f);
	assert_true(cnp_client_has_sent_request(&f->c));
}

/* --------------------------------------------- one byte at a time, no memory */

static void
put_dialog(struct fixture *f, uint8_t reason)
{
	struct cnp_msg m;

	wire_put_code(&f->in, CNP_MSG_HELLO, 0);
	wire_put_code(&f->in, CNP_MSG_ATTACHED, 0);
	wire_put_code(&f->in, CNP_MSG_READY, 0);
	wire_least(&m, CNP_MSG_YIELD);
	m.as.yield.reason = reason;
	wire_put(&f->in, 0, 0, &m);
	wire_put_code(&f->in, CNP_MSG_ATTACHED, 0);
	wire_put_code(&f->in, CNP_MSG_READY, 0);
	wire_put_code(&f->in, CNP_MSG_DONE, 1);
	wire_put_code(&f->in, CNP_MSG_READY, 1);
}

/* CENOTE_OK, or the first error. */
static int
run_dialog(struct fixture *f, size_t piece, char *trace, size_t size)
{
	struct cnp_opening o = {
		.version_min = 1, .version_max = 1, .kind = CNP_OPEN_ATTACH
	};
	struct cnp_event ev;
	struct cnp_msg m;
	size_t n, used = 0;
	uint8_t *room;
	int r;

	trace[0] = '\0';
	wire_least(&m, CNP_MSG_ATTACH);
	m.as.attach.flags = CNP_ATTACH_STAYS;
	r = cnp_client_open(&f->c, &o, &m, 0);
	while (r >= 0 && cnc_buf_len(&f->in) > 0) {
		r = cnp_client_room(&f->c, &room, &n);
		if (r < 0)
			return r;
		n = n < piece ? n : piece;
		n = n < cnc_buf_len(&f->in) ? n : cnc_buf_len(&f->in);
		memcpy(room, cnc_buf_head(&f->in), n);
		cnp_client_received(&f->c, n);
		cnc_buf_consume(&f->in, n);
		(void)send_all(f);
		while ((r = cnp_client_next(&f->c, &ev)) == CENOTE_OK) {
			used += (size_t)snprintf(trace + used, size - used, "%s %u\n",
				cnp_msg_name(ev.msg.code), ev.request);
			if (!cnp_client_is_staying(&f->c))
				continue;
			r = try_attach(f, STAYS);
			if (r < 0)
				return r;
			wire_least(&m, CNP_MSG_PING);
			r = cnp_client_request(&f->c, &m, CNP_FRAME_SYNC, 0, NULL);
			if (r < 0)
				return r;
			(void)send_all(f);
		}
	}
	return r < 0 ? r : CENOTE_OK;
}

static void
one_byte_at_a_time_gives_the_same_events(void **state)
{
	static const char wanted[] = "HELLO 0\nATTACHED 0\nREADY 0\nYIELD 0\n"
				     "ATTACHED 0\nREADY 0\nDONE 1\nREADY 1\n";
	struct fixture *f = *state;
	char trace[512];

	for (size_t piece = 1; piece < 60; piece++) {
		begin_anew(f, 0);
		put_dialog(f, CNP_YIELD_STAY);
		assert_ok(run_dialog(f, piece, trace, sizeof trace));
		assert_string_equal(trace, wanted);
	}
}

static void
each_failing_allocation_is_told_and_leaves_no_leak(void **state)
{
	struct fixture *f = *state;
	char trace[512];
	int failed = 1;
	size_t n;

	for (n = 1; failed; n++) {
		int r;

		begin_anew(f, n);
		put_dialog(f, CNP_YIELD_STAY);
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
		TEST(everything_goes_out_at_once_on_the_same_connection),
		TEST(sent_back_the_ordinary_way_the_client_sends_all_again),
		TEST(a_yield_to_a_client_that_stays_ends_that),
		TEST(set_up_of_a_session_that_served_nothing_is_forgotten),
		TEST(a_refusal_is_the_last_word),
		TEST(staying_has_its_own_violations),
		TEST(a_loan_comes_to_who_offers_to_borrow),
		TEST(a_frame_that_was_cut_ends_the_connection),
		TEST(notifications_come_without_a_session_until_the_next_one),
		TEST(who_listens_is_never_sent_away),
		TEST(who_listens_sends_a_frame_that_was_cut_to_its_end),
		TEST(only_a_client_that_stays_attaches_so),
		TEST(it_is_known_whether_a_request_was_sent),
		TEST(one_byte_at_a_time_gives_the_same_events),
		TEST(each_failing_allocation_is_told_and_leaves_no_leak),
	};

	return cmocka_run_group_tests_name("client_stay", tests, NULL, NULL);
}
