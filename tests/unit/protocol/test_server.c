/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire.h"

#include <stdio.h>
#include <stdlib.h>

#include "protocol/session_server.h"
#include "support/cnt_alloc.h"

#define MAX_FRAME (1u << 20)
#define MAX_OUT   4096u

struct fixture {
	struct cnt_alloc alloc;
	struct cnp_server s;
	struct cnc_buf in; /* what the client is about to send */
};

static void
begin(struct fixture *f, size_t fail_at)
{
	cnt_alloc_init(&f->alloc, fail_at);
	cnp_server_init(&f->s, &f->alloc.mem, MAX_FRAME, MAX_OUT);
	cnc_buf_init(&f->in, &cnc_mem_default, SIZE_MAX / 2);
}

static size_t
end(struct fixture *f)
{
	cnp_server_finish(&f->s);
	cnc_buf_finish(&f->in);
	return cnt_alloc_leaks(&f->alloc);
}

static int
setup(void **state)
{
	static struct fixture f;

	begin(&f, 0);
	*state = &f;
	return 0;
}

static int
teardown(void **state)
{
	return end(*state) > 0 ? -1 : 0;
}

/* -------------------------------------------------------------------- steps */

static void
put_opening(struct fixture *f, uint8_t kind, uint8_t tls, uint8_t version)
{
	struct cnp_opening o = { .kind = kind, .tls = tls };

	o.version_min = version;
	o.version_max = version;
	memcpy(o.pool, "main", 5);
	assert_int_equal(cnp_opening_encode(&f->in, &o), CENOTE_OK);
}

static void
put_request(struct fixture *f, uint8_t code, uint32_t number, uint8_t flags)
{
	struct cnp_msg m;

	wire_least(&m, code);
	wire_put(&f->in, flags, number, &m);
}

/* As much as is taken; what was not taken stays in f->in. */
static int
deliver(struct fixture *f)
{
	uint8_t *room;
	size_t n, left;
	int r = CENOTE_OK;

	while ((left = cnc_buf_len(&f->in)) > 0) {
		r = cnp_server_room(&f->s, &room, &n);
		if (r < 0)
			return r;
		assert_true(n > 0);
		n = n < left ? n : left;
		memcpy(room, cnc_buf_head(&f->in), n);
		cnp_server_received(&f->s, n);
		cnc_buf_consume(&f->in, n);
	}
	return r;
}

static int
next(struct fixture *f, struct cnp_request *req)
{
	int r;

	(void)deliver(f);
	r = cnp_server_next(&f->s, req);
	if (r == CENOTE_ERR_PROTOCOL)
		assert_true(f->s.diag.message[0] != '\0');
	return r;
}

static void
drop_output(struct fixture *f)
{
	const uint8_t *p;

	cnp_server_sent(&f->s, cnp_server_output(&f->s, &p));
}

/* The codes and numbers of all that is queued: "HELLO 0, READY 3"; it is then sent. */
static const char *
sent(struct fixture *f, char *text, size_t size)
{
	struct cnp_frame frame;
	struct cnp_msg m;
	const uint8_t *p;
	size_t n = cnp_server_output(&f->s, &p), at = 0, used = 0;

	text[0] = '\0';
	while (at < n) {
		wire_next(p, n, &at, &frame, &m);
		used += (size_t)snprintf(text + used, size - used, "%s%s %u",
			used ? ", " : "", cnp_msg_name(frame.code), frame.request);
	}
	cnp_server_sent(&f->s, n);
	return text;
}

#define SENT(f) sent(f, text, sizeof text)

static void
in_first(struct fixture *f)
{
	struct cnp_request req;

	put_opening(f, CNP_OPEN_ATTACH, CNP_TLS_NONE, 1);
	assert_int_equal(next(f, &req), CENOTE_OK);
}

static void
in_attaching(struct fixture *f)
{
	struct cnp_request req;

	in_first(f);
	assert_int_equal(cnp_server_hello(&f->s, 0, CNP_AUTH_NONE, NULL), CENOTE_OK);
	put_request(f, CNP_MSG_ATTACH, 0, 0);
	assert_int_equal(next(f, &req), CENOTE_OK);
	assert_int_equal(req.msg.code, CNP_MSG_ATTACH);
}

static void
attach(struct fixture *f)
{
	struct cnp_attached m;

	memset(&m, 0, sizeof m);
	in_attaching(f);
	assert_int_equal(cnp_server_attached(&f->s, &m), CENOTE_OK);
	assert_int_equal(cnp_server_ready(&f->s, 0, 0, NULL), CENOTE_OK);
	drop_output(f);
}

static void
expect_request(struct fixture *f, uint8_t code, uint32_t number)
{
	struct cnp_request req;
	int r = next(f, &req);

	if (r < 0)
		print_error("%s\n", f->s.diag.message);
	assert_int_equal(r, CENOTE_OK);
	assert_int_equal(req.msg.code, code);
	assert_int_equal(req.number, number);
	assert_int_equal(cnp_server_state(&f->s), CNP_SERVER_RUNNING);
}

static void
finish(struct fixture *f)
{
	assert_int_equal(
		cnp_server_finish_request(&f->s, CENOTE_TX_IDLE, 0, NULL), CENOTE_OK);
}

static int
reply(struct fixture *f, uint8_t code)
{
	struct cnp_msg m;

	wire_least(&m, code);
	return cnp_server_reply(&f->s, &m, 0);
}

static int
error(struct fixture *f)
{
	struct cnc_diag d;

	cnc_diag_init(&d, NULL);
	cnc_diag_set(&d, "42601", "no");
	return cnp_server_error(&f->s, &d);
}

static void
answer(struct fixture *f)
{
	assert_int_equal(reply(f, CNP_MSG_DONE), CENOTE_OK);
	finish(f);
}

/* ------------------------------------------------------------ golden table */

/*
 * What each request does in each state, with a number and as set-up (number 0). f a r: taken, and
 * the state is FIRST, ATTACHED, RUNNING; u: AUTH. x: a violation. .: not looked at yet. c: CLOSING.
 */
struct row {
	const char *name;
	void (*prepare)(struct fixture *f);
	const char *numbered, *setup;
};

static const uint8_t events[] = { CNP_MSG_ATTACH, CNP_MSG_AUTH, CNP_MSG_CANCEL,
	CNP_MSG_RESUME, CNP_MSG_STATUS, CNP_MSG_QUERY, CNP_MSG_PREPARE, CNP_MSG_DESCRIBE,
	CNP_MSG_EXECUTE, CNP_MSG_CLOSE, CNP_MSG_FETCH, CNP_MSG_CLOSE_PORTAL,
	CNP_MSG_BEGIN, CNP_MSG_COMMIT, CNP_MSG_ROLLBACK, CNP_MSG_SAVEPOINT,
	CNP_MSG_AUTOCOMMIT, CNP_MSG_CATALOG, CNP_MSG_PING, CNP_MSG_RESET, CNP_MSG_SYNC,
	CNP_MSG_DETACH, CNP_MSG_SUSPEND, CNP_MSG_CHANGE_USER, CNP_MSG_SELECT_DATABASE,
	CNP_MSG_SET_OPTION, CNP_MSG_COPY_DATA, CNP_MSG_COPY_DONE, CNP_MSG_COPY_FAIL,
	CNP_MSG_HELLO, CNP_MSG_DONE, CNP_MSG_ROWS, CNP_MSG_FUNCTION, CNP_MSG_LONG_DATA };

static void
opening_kind(struct fixture *f, uint8_t kind)
{
	struct cnp_request req;

	put_opening(f, kind, CNP_TLS_NONE, 1);
	assert_int_equal(next(f, &req), CENOTE_OK);
	assert_int_equal(cnp_server_hello(&f->s, 0, CNP_AUTH_NONE, NULL), CENOTE_OK);
}

static void
first_of_attach(struct fixture *f)
{
	opening_kind(f, CNP_OPEN_ATTACH);
}

static void
first_of_cancel(struct fixture *f)
{
	opening_kind(f, CNP_OPEN_CANCEL);
}

static void
first_of_resume(struct fixture *f)
{
	opening_kind(f, CNP_OPEN_RESUME);
}

static void
first_of_status(struct fixture *f)
{
	opening_kind(f, CNP_OPEN_STATUS);
}

static void
in_auth(struct fixture *f)
{
	struct cnp_request req;

	in_first(f);
	assert_int_equal(
		cnp_server_hello(&f->s, 0, CNP_AUTH_SASL, "SCRAM-SHA-256"), CENOTE_OK);
	put_request(f, CNP_MSG_ATTACH, 0, 0);
	assert_int_equal(next(f, &req), CENOTE_OK);
}

static void
running(struct fixture *f)
{
	attach(f);
	put_request(f, CNP_MSG_QUERY, 1, 0);
	expect_request(f, CNP_MSG_QUERY, 1);
}

static void
skipping(struct fixture *f)
{
	running(f);
	assert_int_equal(error(f), CENOTE_OK);
	finish(f);
	drop_output(f);
}

static void
closing(struct fixture *f)
{
	attach(f);
	assert_int_equal(cnp_server_yield(&f->s, CNP_YIELD_DRAIN, NULL), CENOTE_OK);
}

static void
broken(struct fixture *f)
{
	struct cnp_request req;

	attach(f);
	put_request(f, CNP_MSG_DONE, 1, 0);
	assert_int_equal(next(f, &req), CENOTE_ERR_PROTOCOL);
}

/* The columns: ATTACH AUTH CANCEL RESUME STATUS | QUERY PREPARE DESCRIBE EXECUTE CLOSE FETCH
 * CLOSE_PORTAL | BEGIN COMMIT ROLLBACK SAVEPOINT AUTOCOMMIT | CATALOG PING RESET SYNC DETACH SUSPEND |
 * CHANGE_USER SELECT_DATABASE SET_OPTION | COPY ×3 | HELLO DONE ROWS | FUNCTION LONG_DATA */
static const struct row rows[] = {
	{ "first, attach", first_of_attach, "xxxxx xxxxxxx xxxxx xxxxxx xxx xxx xxx xx",
		"fxxxx xxxxxxx xxxxx xxxxxx xxx xxx xxx xx" },
	{ "first, cancel", first_of_cancel, "xxxxx xxxxxxx xxxxx xxxxxx xxx xxx xxx xx",
		"xxfxx xxxxxxx xxxxx xxxxxx xxx xxx xxx xx" },
	{ "first, resume", first_of_resume, "xxxxx xxxxxxx xxxxx xxxxxx xxx xxx xxx xx",
		"xxxfx xxxxxxx xxxxx xxxxxx xxx xxx xxx xx" },
	{ "first, status", first_of_status, "xxxxx xxxxxxx xxxxx xxxxxx xxx xxx xxx xx",
		"xxxxf xxxxxxx xxxxx xxxxxx xxx xxx xxx xx" },
	{ "auth", in_auth, "xxxxx xxxxxxx xxxxx xxxxxx xxx xxx xxx xx",
		"xuxxx xxxxxxx xxxxx xxxxxx xxx xxx xxx xx" },
	{ "attaching", in_attaching, "..... ....... ..... ...... ... ... ... ..",
		"..... ....... ..... ...... ... ... ... .." },
	{ "attached", attach, "xxxxx rrrrrrr rrrrr rrrrrr rrr xxx xxx rr",
		"xxxxx xrxxrxr xxxxr xxxxrx xxr xxx xxx xr" },
	{ "running", running, "..... ....... ..... ...... ... ... ... ..",
		"..... ....... ..... ...... ... ... ... .." },
	{ "skipping", skipping, "xxxxx sssssss sssss sssrss sss xxx xxx ss",
		"xxxxx xrxxrxr xxxxr xxxxrx xxr xxx xxx xr" },
	{ "closing", closing, "..... ....... ..... ...... ... ... ... ..",
		"..... ....... ..... ...... ... ... ... .." },
	{ "broken", broken, "xxxxx xxxxxxx xxxxx xxxxxx xxx xxx xxx xx",
		"xxxxx xxxxxxx xxxxx xxxxxx xxx xxx xxx xx" },
};

static char
outcome(const struct row *row, uint8_t code, uint32_t number)
{
	static const char letters[] = "ofuarcx";
	struct cnp_request req;
	struct fixture f;
	char c, text[128];
	int r;

	begin(&f, 0);
	row->prepare(&f);
	drop_output(&f);
	wire_put_code(&f.in, code, number);
	r = next(&f, &req);
	c = letters[cnp_server_state(&f.s)];
	if (r == CENOTE_AGAIN)
		c = strncmp(SENT(&f), "SKIPPED", 7) == 0 ? 's' : '.';
	else if (r != CENOTE_OK)
		c = r == CENOTE_ERR_PROTOCOL && c == 'x' ? 'x' : '?';
	assert_int_equal(end(&f), 0);
	return c;
}

static void
each_request_does_in_each_state_what_the_table_says(void **state)
{
	static const uint8_t gaps[] = { 5, 12, 17, 23, 26, 29, 32 };
	const char *wanted;
	char got[64];
	size_t i, e, n, gap;
	uint32_t number;

	(void)state;
	for (i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
		number = i % 2 == 0 ? 2 : 0;
		for (e = 0, n = 0, gap = 0; e < sizeof events; e++) {
			if (gap < sizeof gaps && e == gaps[gap]) {
				got[n++] = ' ';
				gap++;
			}
			got[n++] = outcome(&rows[i / 2], events[e], number);
		}
		got[n] = '\0';
		wanted = number ? rows[i / 2].numbered : rows[i / 2].setup;
		if (strcmp(got, wanted) != 0)
			print_error("%s, request %u\n", rows[i / 2].name, number);
		assert_string_equal(got, wanted);
	}
}

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
	assert_int_equal(next(f, &req), CENOTE_OK);
	assert_string_equal(f->s.opening.pool, "main");
	assert_int_equal(cnp_server_next(&f->s, &req), CENOTE_OK);
	assert_int_equal(req.msg.code, CNP_MSG_ATTACH);
	assert_int_equal(cnp_server_next(&f->s, &req), CENOTE_AGAIN);
	assert_int_equal(cnp_server_attached(&f->s, &m), CENOTE_ERR_STATE);
	assert_int_equal(cnp_server_hello(&f->s, 0, CNP_AUTH_NONE, NULL), CENOTE_OK);
	assert_int_equal(
		cnp_server_hello(&f->s, 0, CNP_AUTH_NONE, NULL), CENOTE_ERR_STATE);
	assert_int_equal(cnp_server_attached(&f->s, &m), CENOTE_OK);
	assert_int_equal(cnp_server_ready(&f->s, 0, 0, NULL), CENOTE_OK);
	assert_int_equal(cnp_server_next(&f->s, &req), CENOTE_OK);
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

	assert_int_equal(cnc_buf_append(&f->in, "GET / HTTP/1.1\r\n", 16), CENOTE_OK);
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
			assert_int_equal(cnc_buf_u8(&f->in, 0), CENOTE_OK);
		assert_int_equal(next(f, &req), CENOTE_OK);
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
	/* what is pipelined behind stays in the socket */
	put_request(f, CNP_MSG_PING, 1, 0);
	assert_int_equal(next(f, &req), CENOTE_OK);
	assert_int_equal(next(f, &req), CENOTE_OK);
	assert_int_equal(req.msg.code, CNP_MSG_ATTACH);
	assert_int_equal(cnc_buf_len(&f->in), CNP_FRAME_HEADER);
	assert_int_equal(deliver(f), CENOTE_ERR_LIMIT);
	assert_int_equal(cnp_server_raw(&f->s, &p), CNP_FRAME_MAX_AUTH);
	assert_memory_equal(p, "CNTE", 4);
	assert_true(f->alloc.peak_bytes < 3 * CNP_FRAME_MAX_AUTH);
	/* one byte more is told by the header, before it is awaited */
	cnp_server_restart(&f->s);
	cnc_buf_clear(&f->in, 1 << 20);
	put_opening(f, CNP_OPEN_ATTACH, CNP_TLS_NONE, 1);
	free((void *)(uintptr_t)m.as.attach.options.p);
	m.as.attach.options.p = calloc(1, ++m.as.attach.options.n);
	wire_put(&f->in, 0, 0, &m);
	cnc_buf_truncate(&f->in, CNP_OPENING_MIN + 4 + CNP_FRAME_HEADER);
	assert_int_equal(next(f, &req), CENOTE_OK);
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
	assert_int_equal(next(f, &req), CENOTE_OK);
	assert_int_equal(reply(f, CNP_MSG_CANCELLED), CENOTE_OK);
	finish(f);
	assert_int_equal(cnp_server_state(&f->s), CNP_SERVER_CLOSING);
	assert_string_equal(SENT(f), "HELLO 0, CANCELLED 0");
	cnp_server_restart(&f->s);
	opening_kind(f, CNP_OPEN_STATUS);
	put_request(f, CNP_MSG_STATUS, 0, 0);
	assert_int_equal(next(f, &req), CENOTE_OK);
	assert_int_equal(cnp_server_columns(&f->s, &column, 1), CENOTE_OK);
	assert_int_equal(reply(f, CNP_MSG_DONE), CENOTE_OK);
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
	assert_int_equal(error(f), CENOTE_OK);
	assert_int_equal(cnp_server_state(&f->s), CNP_SERVER_CLOSING);
	assert_string_equal(SENT(f), "HELLO 0, ERROR 0");
	assert_int_equal(error(f), CENOTE_ERR_STATE);
	assert_int_equal(cnp_server_next(&f->s, &req), CENOTE_AGAIN);
	assert_int_equal(cnc_buf_u8(&f->in, 0), CENOTE_OK);
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
	assert_int_equal(error(f), CENOTE_OK);
	finish(f);
	assert_false(cnp_server_can_yield(&f->s));
	assert_int_equal(
		cnp_server_yield(&f->s, CNP_YIELD_DRAIN, NULL), CENOTE_ERR_STATE);
	/* set-up is carried out all the same, and silently */
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

static void
an_error_at_the_sync_skips_nothing_behind_it(void **state)
{
	struct fixture *f = *state;
	char text[128];

	attach(f);
	put_request(f, CNP_MSG_QUERY, 1, CNP_FRAME_SYNC);
	put_request(f, CNP_MSG_QUERY, 2, CNP_FRAME_SYNC);
	expect_request(f, CNP_MSG_QUERY, 1);
	assert_int_equal(error(f), CENOTE_OK);
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
	assert_int_equal(error(f), CENOTE_OK);
	finish(f);
	expect_request(f, CNP_MSG_PREPARE, 0);
	assert_int_equal(cnp_server_params(&f->s, &param, 1), CENOTE_OK);
	assert_int_equal(reply(f, CNP_MSG_DONE), CENOTE_OK);
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
	assert_int_equal(reply(f, CNP_MSG_SUSPENDED), CENOTE_OK);
	finish(f);
	assert_int_equal(cnp_server_state(&f->s), CNP_SERVER_CLOSING);
	assert_string_equal(SENT(f), "SUSPENDED 1");
	/* one that fails leaves the session as it was */
	cnp_server_restart(&f->s);
	attach(f);
	put_request(f, CNP_MSG_SUSPEND, 1, CNP_FRAME_SYNC);
	expect_request(f, CNP_MSG_SUSPEND, 1);
	assert_int_equal(error(f), CENOTE_OK);
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
	assert_int_equal(cnp_server_yield(&f->s, CNP_YIELD_CONTENDED, &carry), CENOTE_OK);
	n = cnp_server_output(&f->s, &p);
	wire_next(p, n, &at, &frame, &m);
	assert_int_equal(frame.code, CNP_MSG_YIELD);
	assert_int_equal(m.as.yield.last, 41);
	assert_int_equal(m.as.yield.reason, CNP_YIELD_CONTENDED);
	assert_string_equal(m.as.yield.carry.p, "id=7");
	assert_int_equal(cnp_server_next(&f->s, &req), CENOTE_AGAIN);
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
	assert_int_equal(cnp_server_reply(&f->s, &m, 1), CENOTE_OK);
	wire_least(&m, CNP_MSG_NOTIFICATION);
	assert_int_equal(cnp_server_reply(&f->s, &m, 1), CENOTE_OK);
	assert_string_equal(SENT(f), "PARAMETER 0, NOTIFICATION 0");
	wire_least(&m, CNP_MSG_DONE);
	assert_int_equal(cnp_server_reply(&f->s, &m, 1), CENOTE_ERR_STATE);
	assert_int_equal(cnp_server_yield(&f->s, CNP_YIELD_DRAIN, NULL), CENOTE_OK);
	wire_least(&m, CNP_MSG_NOTIFICATION);
	assert_int_equal(cnp_server_reply(&f->s, &m, 1), CENOTE_ERR_STATE);
}

/* --------------------------------------------------------------------- copies */

static void
put_copy(struct fixture *f, uint32_t number, const char *text)
{
	struct cnp_msg m = { .code = CNP_MSG_COPY_DATA };

	m.as.copy_data.data = cnp_str(text);
	wire_put(&f->in, 0, number, &m);
}

static void
copying(struct fixture *f)
{
	attach(f);
	put_request(f, CNP_MSG_QUERY, 1, CNP_FRAME_SYNC);
	expect_request(f, CNP_MSG_QUERY, 1);
	assert_int_equal(reply(f, CNP_MSG_COPY_IN), CENOTE_OK);
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

	assert_int_equal(next_copy(f, &data), CENOTE_OK);
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
	assert_int_equal(next(f, &req), CENOTE_OK);
	assert_int_equal(next_copy(f, &data), CENOTE_ERR_STATE);
	assert_int_equal(reply(f, CNP_MSG_COPY_IN), CENOTE_OK);
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
	assert_int_equal(cnp_server_error(&f->s, &f->s.diag), CENOTE_OK);
	finish(f);
	put_request(f, CNP_MSG_PING, 2, 0);
	expect_request(f, CNP_MSG_PING, 2);
}

/* An answer that comes before the client's end: what was on its way is nothing to anybody. */
static void
what_comes_of_a_copy_that_ended_early_is_discarded(void **state)
{
	struct fixture *f = *state;
	char text[128];

	copying(f);
	put_copy(f, 1, "a");
	put_copy(f, 1, "b");
	expect_copy(f, "a");
	assert_int_equal(error(f), CENOTE_OK);
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

/* The same within one request: the next copy begins behind the end of the first. */
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
	assert_int_equal(cnp_server_reply(&f->s, &m, 0), CENOTE_OK);
	assert_int_equal(next_copy(f, &data), CENOTE_ERR_STATE);
	assert_int_equal(reply(f, CNP_MSG_COPY_IN), CENOTE_OK);
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
	assert_int_equal(reply(f, CNP_MSG_COPY_IN), CENOTE_OK);
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

	(void)state;
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
	assert_int_equal(error(f), CENOTE_OK);
	finish(f);
	expect_request(f, CNP_MSG_QUERY, 2);
	assert_int_equal(error(f), CENOTE_OK);
	finish(f);
	expect_request(f, CNP_MSG_SYNC, 3);
	/* it was skipped: that is its answer */
	assert_int_equal(error(f), CENOTE_OK);
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
	assert_int_equal(cnc_diag_put_field(&fields, 'C', "23505", 5), CENOTE_OK);
	assert_int_equal(cnc_diag_put_field(&fields, 'M', "twice", 5), CENOTE_OK);
	assert_int_equal(cnc_diag_put_field(&fields, 'N', "2067", 4), CENOTE_OK);
	assert_int_equal(cnc_diag_put_field(&fields, 't', "tbl", 3), CENOTE_OK);
	assert_int_equal(
		cnc_diag_set_fields(&d, cnc_buf_head(&fields), cnc_buf_len(&fields)),
		CENOTE_OK);
	running(f);
	assert_int_equal(cnp_server_error(&f->s, &d), CENOTE_OK);
	n = cnp_server_output(&f->s, &p);
	wire_next(p, n, &at, &frame, &m);
	assert_int_equal(frame.request, 1);
	assert_int_equal(cnc_diag_set_fields(&got, (const uint8_t *)m.as.error.fields.p,
				 m.as.error.fields.n),
		CENOTE_OK);
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
	assert_int_equal(cnc_batch_row(w), CENOTE_OK);
	assert_int_equal(cnc_batch_put(w, bytes, n), CENOTE_OK);
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
	assert_int_equal(cnp_server_rows_begin(&f->s, &w, 1), CENOTE_OK);
	assert_int_equal(cnp_server_rows_end(&f->s, &w), CENOTE_OK);
	assert_string_equal(SENT(f), "");
	for (i = 0; (r = cnp_server_rows_begin(&f->s, &w, 1)) == CENOTE_OK; i++) {
		one_row(&w, kilobyte, sizeof kilobyte);
		assert_int_equal(cnp_server_rows_end(&f->s, &w), CENOTE_OK);
	}
	assert_int_equal(r, CENOTE_ERR_LIMIT);
	assert_int_equal(i, 4);
	/* what is short is always queued */
	assert_int_equal(reply(f, CNP_MSG_DONE), CENOTE_OK);
	assert_string_equal(SENT(f), "ROWS 1, ROWS 1, ROWS 1, ROWS 1, DONE 1");
	assert_int_equal(cnp_server_rows_begin(&f->s, &w, 1), CENOTE_OK);
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
	assert_int_equal(cnp_server_rows_begin(&f->s, &w, 1), CENOTE_OK);
	one_row(&w, big, 65536 - 8 - 4 - 1);
	r = cnc_batch_row(&w);
	if (r == CENOTE_OK)
		r = cnc_batch_put(&w, "", 0);
	assert_int_equal(r, CENOTE_ERR_LIMIT);
	cnc_batch_row_undo(&w);
	assert_int_equal(cnp_server_rows_end(&f->s, &w), CENOTE_OK);
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
	assert_int_equal(cnp_server_columns(&f->s, &column, 1), CENOTE_OK);
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
		assert_int_equal(cnp_server_columns(&f->s, &column, 1), CENOTE_OK);
		assert_int_equal(cnp_server_rows_begin(&f->s, &w, 1), CENOTE_OK);
		one_row(&w, "1", 1);
		assert_int_equal(cnp_server_rows_end(&f->s, &w), CENOTE_OK);
		answer(f);
		drop_output(f);
		if (i == 3)
			calls = f->alloc.n_calls;
		/* the next client finds the buffers as they are */
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
	assert_int_equal(cnc_buf_append(&f->in, header, sizeof header), CENOTE_OK);
	assert_int_equal(next(f, &req), CENOTE_AGAIN);
	assert_int_equal(cnp_server_room(&f->s, &room, &n), CENOTE_OK);
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

/* At most so many bytes to the server. */
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

/* The running request copies in; it stands in this dialog for one that does. */
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

/* A dialog, in pieces; what was handed out and sent, as text. */
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
	assert_int_equal(run_dialog(f, SIZE_MAX, whole, sizeof whole), CENOTE_OK);
	assert_int_equal(cnp_server_state(&f->s), CNP_SERVER_CLOSING);
	for (piece = 1; piece < 40; piece++) {
		cnp_server_restart(&f->s);
		put_dialog(f);
		assert_int_equal(run_dialog(f, piece, pieces, sizeof pieces), CENOTE_OK);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_request_does_in_each_state_what_the_table_says),
		TEST(a_whole_attach_is_answered_in_one_write),
		TEST(another_protocol_gets_no_answer_and_a_bad_opening_does),
		TEST(hello_refuses_versions_and_tls_that_cannot_be),
		TEST(sixteen_kilobytes_before_attach_are_all),
		TEST(a_peer_that_accepts_too_little_is_refused),
		TEST(cancel_and_status_are_answered_and_closed),
		TEST(a_refusal_is_the_last_word),
		TEST(after_an_error_all_is_skipped_up_to_the_sync),
		TEST(an_error_at_the_sync_skips_nothing_behind_it),
		TEST(set_up_that_fails_is_told_and_skips_nothing),
		TEST(numbers_must_grow_and_may_go_round),
		TEST(set_up_that_asks_for_an_answer_is_a_violation),
		TEST(detach_and_suspend_end_without_ready),
		TEST(a_yield_tells_the_last_request_and_what_to_carry),
		TEST(replies_without_a_request_are_refused),
		TEST(a_copy_comes_in_pieces_and_the_request_text_stays),
		TEST(a_client_that_gives_up_says_why),
		TEST(what_comes_of_a_copy_that_ended_early_is_discarded),
		TEST(a_second_copy_does_not_take_the_rest_of_the_first),
		TEST(requests_in_front_of_a_copy_s_end_wait_for_it),
		TEST(too_much_in_front_of_a_copy_s_end_is_a_violation),
		TEST(copy_frames_that_nobody_asked_for_are_violations),
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
