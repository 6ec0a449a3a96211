/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/rowset.h"
#include "protocol/session_client.h"
#include "support/cnt_alloc.h"

struct fixture {
	struct cnt_alloc alloc;
	struct cnp_client c;
	struct cnc_buf in; /* what the pool is about to send */
};

static void
begin(struct fixture *f, size_t fail_at)
{
	cnt_alloc_init(&f->alloc, fail_at);
	cnp_client_init(&f->c, &f->alloc.mem, CNP_FRAME_MAX);
	cnc_buf_init(&f->in, &cnc_mem_default, SIZE_MAX / 2);
}

static size_t
end(struct fixture *f)
{
	cnp_client_finish(&f->c);
	cnc_buf_finish(&f->in);
	return cnt_alloc_leaks(&f->alloc);
}

/* Another session in the same place; the fail_at-th allocation will fail. */
static void
begin_anew(struct fixture *f, size_t fail_at)
{
	assert_int_equal(end(f), 0);
	begin(f, fail_at);
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

static int
try_open(struct cnp_client *c, uint8_t kind, uint8_t tls, int resend)
{
	static const uint8_t first[] = { 0, CNP_MSG_ATTACH, CNP_MSG_CANCEL,
		CNP_MSG_RESUME, CNP_MSG_STATUS };
	struct cnp_opening o = { .version_min = 1, .version_max = 1 };
	struct cnp_msg m;

	o.kind = kind;
	o.tls = tls;
	memcpy(o.pool, "main", 5);
	wire_least(&m, first[kind]);
	return cnp_client_open(c, &o, &m, resend);
}

static void
open_session(struct fixture *f)
{
	assert_int_equal(try_open(&f->c, CNP_OPEN_ATTACH, CNP_TLS_NONE, 0), CENOTE_OK);
}

static size_t
send_all(struct fixture *f)
{
	const uint8_t *p;
	size_t n, total = 0;

	while ((n = cnp_client_output(&f->c, &p)) > 0) {
		cnp_client_sent(&f->c, n);
		total += n;
	}
	return total;
}

static void
receive(struct fixture *f, const uint8_t *bytes, size_t n)
{
	uint8_t *room;
	size_t k;

	while (n > 0) {
		assert_int_equal(cnp_client_room(&f->c, &room, &k), CENOTE_OK);
		assert_true(k > 0);
		k = k < n ? k : n;
		memcpy(room, bytes, k);
		cnp_client_received(&f->c, k);
		bytes += k;
		n -= k;
	}
}

/* Give the client what was put into f->in. */
static void
deliver(struct fixture *f)
{
	receive(f, cnc_buf_head(&f->in), cnc_buf_len(&f->in));
	cnc_buf_clear(&f->in, 1 << 20);
}

static int
feed(struct fixture *f, uint8_t code, uint32_t request, struct cnp_event *ev)
{
	wire_put_code(&f->in, code, request);
	deliver(f);
	return cnp_client_next(&f->c, ev);
}

static void
expect(struct fixture *f, uint8_t code, uint32_t request, int is_last)
{
	struct cnp_event ev;
	int r = feed(f, code, request, &ev);

	if (r != CENOTE_OK)
		print_error("%s\n", f->c.diag.message);
	assert_int_equal(r, CENOTE_OK);
	assert_int_equal(ev.msg.code, code);
	assert_int_equal(ev.request, request);
	assert_int_equal(ev.is_last, is_last);
}

static void
attach(struct fixture *f)
{
	open_session(f);
	(void)send_all(f);
	expect(f, CNP_MSG_HELLO, 0, 0);
	expect(f, CNP_MSG_ATTACHED, 0, 0);
	expect(f, CNP_MSG_READY, 0, 0);
}

static uint32_t
request(struct fixture *f, uint8_t code, uint8_t flags, int is_setup)
{
	struct cnp_msg m;
	uint32_t number = 77;

	wire_least(&m, code);
	assert_int_equal(
		cnp_client_request(&f->c, &m, flags, is_setup, &number), CENOTE_OK);
	return number;
}

static uint32_t
ask(struct fixture *f, uint8_t code, uint8_t flags)
{
	uint32_t number = request(f, code, flags, 0);

	(void)send_all(f);
	return number;
}

/* ------------------------------------------------------------ golden table */

/*
 * A row: how the session came to where it is, and what each message does there: with request 0, and
 * with the number of the oldest request (1 if there is none).
 *
 *   x  a violation: the session is dead      .  not looked at
 *   o a t r y s d  taken, and the state is OPENING, AUTH, ATTACHING, READY, YIELDED, SUSPENDED, DEAD; in
 *   upper case: and the request is finished
 */
struct row {
	const char *name;
	void (*prepare)(struct fixture *f);
	const char *of_none, *of_oldest;
};

static const uint8_t events[] = { CNP_MSG_AUTH, CNP_MSG_COPY_DATA, CNP_MSG_COPY_DONE,
	CNP_MSG_HELLO, CNP_MSG_ATTACHED, CNP_MSG_READY, CNP_MSG_COLUMNS, CNP_MSG_ROWS,
	CNP_MSG_DONE, CNP_MSG_ERROR, CNP_MSG_NOTICE, CNP_MSG_SKIPPED, CNP_MSG_PARAMS,
	CNP_MSG_NOTIFICATION, CNP_MSG_PARAMETER, CNP_MSG_COPY_IN, CNP_MSG_COPY_OUT,
	CNP_MSG_SUSPENDED, CNP_MSG_YIELD, CNP_MSG_CANCELLED };

static void
in_idle(struct fixture *f)
{
	(void)f;
}

static void
in_opening(struct fixture *f)
{
	open_session(f);
	(void)send_all(f);
}

static void
in_auth(struct fixture *f)
{
	struct cnp_event ev;
	struct cnp_msg m;

	in_opening(f);
	wire_least(&m, CNP_MSG_HELLO);
	m.as.hello.auth = CNP_AUTH_SASL;
	wire_put(&f->in, 0, 0, &m);
	deliver(f);
	assert_int_equal(cnp_client_next(&f->c, &ev), CENOTE_OK);
}

static void
in_attaching(struct fixture *f)
{
	in_opening(f);
	expect(f, CNP_MSG_HELLO, 0, 0);
}

static void
in_cancelling(struct fixture *f)
{
	assert_int_equal(try_open(&f->c, CNP_OPEN_CANCEL, CNP_TLS_NONE, 0), CENOTE_OK);
	(void)send_all(f);
	expect(f, CNP_MSG_HELLO, 0, 0);
}

static void
in_status(struct fixture *f)
{
	assert_int_equal(try_open(&f->c, CNP_OPEN_STATUS, CNP_TLS_NONE, 0), CENOTE_OK);
	(void)send_all(f);
	expect(f, CNP_MSG_HELLO, 0, 0);
	expect(f, CNP_MSG_COLUMNS, 0, 0);
}

static void
attached_but_not_greeted(struct fixture *f)
{
	in_attaching(f);
	expect(f, CNP_MSG_ATTACHED, 0, 0);
	(void)ask(f, CNP_MSG_QUERY, 0);
}

static void
nothing_asked(struct fixture *f)
{
	attach(f);
}

static void
query_fresh(struct fixture *f)
{
	attach(f);
	(void)ask(f, CNP_MSG_QUERY, 0);
}

static void
query_open(struct fixture *f)
{
	query_fresh(f);
	expect(f, CNP_MSG_COLUMNS, 1, 0);
}

static void
query_copy_in(struct fixture *f)
{
	query_fresh(f);
	expect(f, CNP_MSG_COPY_IN, 1, 0);
}

static void
query_copy_out(struct fixture *f)
{
	query_fresh(f);
	expect(f, CNP_MSG_COPY_OUT, 1, 0);
}

static void
query_copied(struct fixture *f)
{
	query_copy_out(f);
	expect(f, CNP_MSG_COPY_DONE, 1, 0);
}

static void
query_more(struct fixture *f)
{
	struct cnp_event ev;
	struct cnp_msg m;

	query_fresh(f);
	wire_least(&m, CNP_MSG_DONE);
	m.as.done.flags = CNP_DONE_MORE_RESULTS;
	wire_put(&f->in, 0, 1, &m);
	deliver(f);
	assert_int_equal(cnp_client_next(&f->c, &ev), CENOTE_OK);
	assert_int_equal(ev.is_last, 0);
}

static void
execute_known(struct fixture *f)
{
	struct cnp_msg m;

	attach(f);
	wire_least(&m, CNP_MSG_EXECUTE);
	m.as.execute.known = 1;
	assert_int_equal(cnp_client_request(&f->c, &m, 0, 0, NULL), CENOTE_OK);
	(void)send_all(f);
}

static void
query_answered_with_sync(struct fixture *f)
{
	attach(f);
	(void)ask(f, CNP_MSG_QUERY, CNP_FRAME_SYNC);
	expect(f, CNP_MSG_DONE, 1, 0);
}

static void
prepare_fresh(struct fixture *f)
{
	attach(f);
	(void)ask(f, CNP_MSG_PREPARE, 0);
}

static void
prepare_described(struct fixture *f)
{
	prepare_fresh(f);
	expect(f, CNP_MSG_PARAMS, 1, 0);
}

static void
command_fresh(struct fixture *f)
{
	attach(f);
	(void)ask(f, CNP_MSG_COMMIT, CNP_FRAME_SYNC);
}

static void
sync_fresh(struct fixture *f)
{
	attach(f);
	(void)ask(f, CNP_MSG_SYNC, 0);
}

static void
sync_failed(struct fixture *f)
{
	sync_fresh(f);
	expect(f, CNP_MSG_ERROR, 1, 0);
}

/* A yield here would tear the unit apart that the synchronisation point closes. */
static void
answered_unsynced(struct fixture *f)
{
	attach(f);
	(void)ask(f, CNP_MSG_PING, 0);
	expect(f, CNP_MSG_DONE, 1, 1);
}

static void
catalog_fresh(struct fixture *f)
{
	attach(f);
	(void)ask(f, CNP_MSG_CATALOG, 0);
}

static void
suspend_fresh(struct fixture *f)
{
	attach(f);
	(void)ask(f, CNP_MSG_SUSPEND, 0);
}

static void
skipping(struct fixture *f)
{
	attach(f);
	(void)ask(f, CNP_MSG_QUERY, 0);
	(void)ask(f, CNP_MSG_QUERY, 0);
	expect(f, CNP_MSG_ERROR, 1, 1);
}

static void
skipping_to_sync(struct fixture *f)
{
	attach(f);
	(void)ask(f, CNP_MSG_QUERY, 0);
	(void)ask(f, CNP_MSG_SYNC, 0);
	expect(f, CNP_MSG_ERROR, 1, 1);
}

static void
in_yielded(struct fixture *f)
{
	attach(f);
	expect(f, CNP_MSG_YIELD, 0, 0);
}

static void
in_suspended(struct fixture *f)
{
	suspend_fresh(f);
	expect(f, CNP_MSG_SUSPENDED, 1, 1);
}

static void
in_dead(struct fixture *f)
{
	attach(f);
	cnp_client_lost(&f->c);
}

/* The columns: AUTH COPY_DATA COPY_DONE | HELLO ATTACHED READY | COLUMNS ROWS DONE ERROR NOTICE
 * SKIPPED | PARAMS OUTPUT NOTIFICATION PARAMETER | COPY_IN COPY_OUT SUSPENDED YIELD CANCELLED */
static const struct row rows[] = {
	{ "idle", in_idle, "... ... ...... ... .....", "... ... ...... ... ....." },
	{ "opening", in_opening, "xxx txx xxxDxx xxx xxxxx", "xxx xxx xxxxxx xxx xxxxx" },
	{ "auth", in_auth, "axx xrx xxxDax xxx xxxxx", "xxx xxx xxxxxx xxx xxxxx" },
	{ "attaching", in_attaching, "xxx xrx xxxDtx xxx xxxxx",
		"xxx xxx xxxxxx xxx xxxxx" },
	{ "cancelling", in_cancelling, "xxx xxx xxxDtx xxx xxxxS",
		"xxx xxx xxxxxx xxx xxxxx" },
	{ "status", in_status, "xxx xxx xtSDtx xxx xxxxx", "xxx xxx xxxxxx xxx xxxxx" },
	{ "not greeted", attached_but_not_greeted, "xxx xxr xxxrrx xxx xxxxx",
		"xxx xxx xxxxxx xxx xxxxx" },
	{ "nothing asked", nothing_asked, "xxx xxx xxxrrx xrr xxxyx",
		"xxx xxx xxxxxx xxx xxxxx" },
	{ "query", query_fresh, "xxx xxx xxxrrx xrr xxxyx", "xxx xxx rxRRrx xxx rrxxx" },
	{ "query, columns came", query_open, "xxx xxx xxxrrx xrr xxxxx",
		"xxx xxx xrRRrx xxx xxxxx" },
	{ "query, more results", query_more, "xxx xxx xxxrrx xrr xxxxx",
		"xxx xxx rxRRrx xxx rrxxx" },
	{ "execute, known", execute_known, "xxx xxx xxxrrx xrr xxxyx",
		"xxx xxx rrRRrx xxx rrxxx" },
	{ "query, answered", query_answered_with_sync, "xxx xxx xxxrrx xrr xxxxx",
		"xxx xxR xxxxxx xxx xxxxx" },
	{ "prepare", prepare_fresh, "xxx xxx xxxrrx xrr xxxyx",
		"xxx xxx xxxRrx rxx xxxxx" },
	{ "prepare, parameters came", prepare_described, "xxx xxx xxxrrx xrr xxxxx",
		"xxx xxx rxRRrx xxx xxxxx" },
	{ "commit", command_fresh, "xxx xxx xxxrrx xrr xxxyx",
		"xxx xxx xxrrrx xxx xxxxx" },
	{ "sync", sync_fresh, "xxx xxx xxxrrx xrr xxxyx", "xxx xxR xxxrrx xxx xxxxx" },
	{ "suspend", suspend_fresh, "xxx xxx xxxrrx xrr xxxyx",
		"xxx xxx xxxRrx xxx xxSxx" },
	{ "skipping", skipping, "xxx xxx xxxrrx xrr xxxxx", "xxx xxx xxxxxR xxx xxxxx" },
	{ "skipping, sync", skipping_to_sync, "xxx xxx xxxrrx xrr xxxxx",
		"xxx xxR xxxrrx xxx xxxxx" },
	{ "query, copying in", query_copy_in, "xxx xxx xxxrrx xrr xxxxx",
		"xxx xxx xxRRrx xxx xxxxx" },
	{ "query, copying out", query_copy_out, "xxx xxx xxxrrx xrr xxxxx",
		"xrr xxx xxxRrx xxx xxxxx" },
	{ "query, copied", query_copied, "xxx xxx xxxrrx xrr xxxxx",
		"xxx xxx xxRRrx xxx xxxxx" },
	{ "catalog", catalog_fresh, "xxx xxx xxxrrx xrr xxxyx",
		"xxx xxx rxRRrx xxx xxxxx" },
	{ "sync, failed", sync_failed, "xxx xxx xxxrrx xrr xxxxx",
		"xxx xxR xxxxxx xxx xxxxx" },
	{ "answered, no sync", answered_unsynced, "xxx xxx xxxrrx xrr xxxxx",
		"xxx xxx xxxxxx xxx xxxxx" },
	{ "yielded", in_yielded, "... ... ...... ... .....", "... ... ...... ... ....." },
	{ "suspended", in_suspended, "... ... ...... ... .....",
		"... ... ...... ... ....." },
	{ "dead", in_dead, "... ... ...... ... .....", "... ... ...... ... ....." },
};

/* What one message does in a session prepared as the row says. */
static char
outcome(const struct row *row, uint8_t code, int of_oldest)
{
	static const char letters[] = "ioatrysd";
	const struct cnp_outstanding *oldest;
	struct cnp_event ev;
	struct fixture f;
	char c;
	int r;

	begin(&f, 0);
	row->prepare(&f);
	oldest = cnp_client_oldest(&f.c);
	r = feed(&f, code, !of_oldest ? 0 : oldest ? oldest->request : 1, &ev);
	c = letters[cnp_client_state(&f.c)];
	if (r == CENOTE_AGAIN)
		c = '.';
	else if (r != CENOTE_OK)
		c = cnp_client_state(&f.c) == CNP_CLIENT_DEAD ? 'x' : '?';
	else if (ev.is_last)
		c = (char)(c - 'a' + 'A');
	assert_int_equal(end(&f), 0);
	return c;
}

static void
each_message_does_in_each_state_what_the_table_says(void **state)
{
	char got[2][64];
	size_t i, e, n;
	int of_oldest;

	(void)state;
	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		for (of_oldest = 0; of_oldest < 2; of_oldest++) {
			for (e = 0, n = 0; e < sizeof events; e++) {
				if (e == 3 || e == 6 || e == 12 || e == 15)
					got[of_oldest][n++] = ' ';
				got[of_oldest][n++] =
					outcome(&rows[i], events[e], of_oldest);
			}
			got[of_oldest][n] = '\0';
		}
		if (strcmp(got[0], rows[i].of_none) != 0 ||
			strcmp(got[1], rows[i].of_oldest) != 0)
			print_error("%s:\n of none   %s\n wanted    %s\n"
				    " of oldest %s\n wanted    %s\n",
				rows[i].name, got[0], rows[i].of_none, got[1],
				rows[i].of_oldest);
		assert_string_equal(got[0], rows[i].of_none);
		assert_string_equal(got[1], rows[i].of_oldest);
	}
}

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
	assert_int_equal(cnp_opening_decode(p, n, &o), CENOTE_OK);
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

	assert_int_equal(try_open(&f->c, CNP_OPEN_ATTACH, CNP_TLS_REQUIRE, 0), CENOTE_OK);
	assert_int_equal(send_all(f), CNP_OPENING_MIN + 4);
	hello_with_tls(f, 1);
	deliver(f);
	assert_int_equal(cnp_client_next(&f->c, &ev), CENOTE_OK);
	assert_int_equal(send_all(f), 0);
	assert_int_equal(cnp_client_tls_done(&f->c), CENOTE_OK);
	assert_true(send_all(f) > 0);
	expect(f, CNP_MSG_ATTACHED, 0, 0);
	assert_int_equal(cnp_client_tls_done(&f->c), CENOTE_ERR_STATE);
}

static void
without_tls_at_the_pool_the_rest_follows_in_the_clear(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(try_open(&f->c, CNP_OPEN_ATTACH, CNP_TLS_ALLOW, 0), CENOTE_OK);
	(void)send_all(f);
	expect(f, CNP_MSG_HELLO, 0, 0);
	assert_true(send_all(f) > 0);
}

/* What a middleman might try. */
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
		assert_int_equal(
			try_open(&f->c, CNP_OPEN_ATTACH, cases[i].wanted, 0), CENOTE_OK);
		(void)send_all(f);
		hello_with_tls(f, cases[i].told);
		if (cases[i].bytes_behind)
			assert_int_equal(cnc_buf_u8(&f->in, 0), CENOTE_OK);
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

	assert_int_equal(try_open(&f->c, CNP_OPEN_ATTACH, CNP_TLS_ALLOW, 0), CENOTE_OK);
	(void)send_all(f);
	hello_with_tls(f, 1);
	deliver(f);
	assert_int_equal(cnp_client_next(&f->c, &ev), CENOTE_OK);
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
	assert_int_equal(cnp_client_request(&f->c, &m, 0, 0, NULL), CENOTE_OK);
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

	open_session(f);
	(void)send_all(f);
	wire_least(&m, CNP_MSG_HELLO);
	m.as.hello.max_frame = 100;
	wire_put(&f->in, 0, 0, &m);
	deliver(f);
	assert_int_equal(cnp_client_next(&f->c, &ev), CENOTE_OK);
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
	/* and it stays so */
	assert_int_equal(feed(f, CNP_MSG_DONE, 1, &ev), CENOTE_ERR_PROTOCOL);
}

static void
a_version_that_was_not_offered_is_a_violation(void **state)
{
	struct fixture *f = *state;
	struct cnp_event ev;
	struct cnp_msg m;

	open_session(f);
	(void)send_all(f);
	wire_least(&m, CNP_MSG_HELLO);
	m.as.hello.version = 2;
	wire_put(&f->in, 0, 0, &m);
	deliver(f);
	assert_int_equal(cnp_client_next(&f->c, &ev), CENOTE_ERR_PROTOCOL);
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
	wire_put(&f->in, CNP_FRAME_SYNC, 1, &m);
	deliver(f);
	assert_int_equal(cnp_client_next(&f->c, &ev), CENOTE_ERR_PROTOCOL);
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

/* One answer with a row, as events would be counted. */
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
	assert_int_equal(feed(f, CNP_MSG_ROWS, 1, &ev), CENOTE_OK);
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

/* A frame of n bytes of rows, whose content tells where it was cut or moved. */
static void
put_big_rows(struct fixture *f, uint32_t n)
{
	struct cnc_batch w;
	size_t mark;
	uint32_t i;

	assert_int_equal(cnp_frame_begin(&f->in, CNP_MSG_ROWS, 0, 1, &mark), CENOTE_OK);
	assert_int_equal(cnc_batch_begin(&w, &f->in, 1), CENOTE_OK);
	for (i = 0; i < n; i++) {
		char text[24];
		int len = snprintf(text, sizeof text, "row %u", i);

		assert_int_equal(cnc_batch_row(&w), CENOTE_OK);
		assert_int_equal(cnc_batch_put(&w, text, (size_t)len), CENOTE_OK);
		cnc_batch_row_done(&w);
	}
	(void)cnc_batch_end(&w);
	assert_int_equal(cnp_frame_end(&f->in, mark), CENOTE_OK);
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
		assert_int_equal(cnp_client_next(&f->c, &ev), CENOTE_OK);
		assert_int_equal(
			cnc_rowset_add(&rs, ev.payload, ev.payload_len, ev.block),
			CENOTE_OK);
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
	assert_int_equal(cnp_client_room(&f->c, &room, &n), CENOTE_OK);
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
	assert_int_equal(cnp_client_next(&f->c, &ev), CENOTE_OK);
	assert_true(f->alloc.live_bytes > 2u << 20);
	assert_int_equal(cnp_client_room(&f->c, &room, &n), CENOTE_OK);
	assert_true(f->alloc.live_bytes < 256u << 10);
}

/* ------------------------------------------------------------------- copies */

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

/* The codes and numbers of all that goes out now; it is then sent, in steps of so many bytes. */
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

		/* all of the query and a part of what follows */
		n -= 2 * CNP_FRAME_HEADER - 3;
		cnp_client_sent(&f->c, n);
		expect(f, CNP_MSG_COPY_IN, q, 0);
		assert_int_equal(copy_piece(f, "a"), CENOTE_OK);
		assert_int_equal(copy_code(f, CNP_MSG_PING), CENOTE_ERR_ARG);
		/* the rest of the frame that was begun, then the copy */
		assert_int_equal(cnp_client_output(&f->c, &p), CNP_FRAME_HEADER - 3);
		cnp_client_sent(&f->c, CNP_FRAME_HEADER - 3);
		(void)begun;
		(void)snprintf(wanted, sizeof wanted, "COPY_DATA %u", q);
		expect_sent(f, step, wanted);
		assert_int_equal(copy_code(f, CNP_MSG_COPY_DONE), CENOTE_OK);
		assert_int_equal(copy_piece(f, "late"), CENOTE_ERR_STATE);
		(void)snprintf(wanted, sizeof wanted, "COPY_DONE %u, PING %u", q, later);
		expect_sent(f, step, wanted);
		assert_int_equal(cnp_client_copy_queued(&f->c), 0);
		expect(f, CNP_MSG_DONE, q, 1);
		expect(f, CNP_MSG_DONE, begun, 1);
		expect(f, CNP_MSG_DONE, later, 1);
	}
}

/* The pool waits for an end in any case. */
static void
a_copy_that_is_answered_early_ends_by_itself(void **state)
{
	struct fixture *f = *state;

	attach(f);
	(void)ask(f, CNP_MSG_QUERY, CNP_FRAME_SYNC);
	expect(f, CNP_MSG_COPY_IN, 1, 0);
	assert_int_equal(copy_piece(f, "a"), CENOTE_OK);
	expect(f, CNP_MSG_ERROR, 1, 0);
	assert_int_equal(copy_piece(f, "b"), CENOTE_ERR_STATE);
	expect_sent(f, SIZE_MAX, "COPY_DATA 1, COPY_FAIL 1");
	expect(f, CNP_MSG_READY, 1, 1);
	(void)ask(f, CNP_MSG_QUERY, 0);
	expect(f, CNP_MSG_COPY_IN, 2, 0);
	assert_int_equal(copy_code(f, CNP_MSG_COPY_DONE), CENOTE_OK);
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
	assert_int_equal(copy_piece(f, "a"), CENOTE_OK);
	wire_least(&m, CNP_MSG_DONE);
	m.as.done.flags = CNP_DONE_MORE_RESULTS;
	wire_put(&f->in, 0, 1, &m);
	deliver(f);
	assert_int_equal(cnp_client_next(&f->c, &ev), CENOTE_OK);
	expect(f, CNP_MSG_COPY_IN, 1, 0);
	assert_int_equal(copy_piece(f, "b"), CENOTE_OK);
	assert_int_equal(copy_code(f, CNP_MSG_COPY_DONE), CENOTE_OK);
	expect_sent(f, 5, "COPY_DATA 1, COPY_FAIL 1, COPY_DATA 1, COPY_DONE 1");
	expect(f, CNP_MSG_DONE, 1, 1);
}

/* The end of a copy needs no memory that is not there: nobody is left waiting. */
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
			assert_int_equal(copy_code(f, CNP_MSG_COPY_FAIL), CENOTE_OK);
		else
			expect(f, CNP_MSG_ERROR, q, 1);
		f->alloc.fail_at = 0;
		assert_true(cnp_client_copy_queued(&f->c) > 0);
		r = CENOTE_OK;
	}
}

/* ------------------------------------------------------- yield, loss, again */

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
	wire_put(&f->in, 0, 0, &m);
	deliver(f);
	assert_int_equal(cnp_client_next(&f->c, &ev), CENOTE_OK);
	assert_int_equal(cnp_client_state(&f->c), CNP_CLIENT_YIELDED);
	cnp_client_restart(&f->c);
	assert_int_equal(try_open(&f->c, CNP_OPEN_ATTACH, CNP_TLS_NONE, 1), CENOTE_OK);
	/* made for this session, so neither kept nor in the way of the others */
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
	wire_put(&f->in, 0, 0, &m);
	deliver(f);
	assert_int_equal(cnp_client_next(&f->c, &ev), CENOTE_ERR_PROTOCOL);
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
		/* but a new session can be had without it */
		assert_int_equal(
			try_open(&f->c, CNP_OPEN_ATTACH, CNP_TLS_NONE, 0), CENOTE_OK);
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
	wire_put(&f->in, 0, 1, &m);
	deliver(f);
	assert_int_equal(cnp_client_next(&f->c, &ev), CENOTE_ERR_PROTOCOL);
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
	struct cnp_opening o = { 1, 1, CNP_OPEN_ATTACH, 0, "main", 0 };
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

/* A dialog with one of everything; what came out, in order, as text. */
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

/* CENOTE_OK or CENOTE_ERR_NOMEM. */
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
	assert_int_equal(run_dialog(f, SIZE_MAX, whole, sizeof whole), CENOTE_OK);
	assert_int_equal(cnp_client_state(&f->c), CNP_CLIENT_YIELDED);
	for (piece = 1; piece < 40; piece++) {
		begin_anew(f, 0);
		put_dialog(&f->in);
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

		begin_anew(f, n);
		put_dialog(&f->in);
		r = run_dialog(f, 7, trace, sizeof trace);
		failed = cnt_alloc_has_failed(&f->alloc);
		assert_int_equal(r, failed ? CENOTE_ERR_NOMEM : CENOTE_OK);
	}
	assert_true(n > 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_message_does_in_each_state_what_the_table_says),
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
		TEST(a_copy_overtakes_what_was_not_begun),
		TEST(a_copy_that_is_answered_early_ends_by_itself),
		TEST(a_second_copy_goes_behind_the_end_of_the_first),
		TEST(a_copy_can_be_ended_without_memory),
		TEST(numbers_go_on_across_sessions),
		TEST(opening_what_is_open_is_refused),
		TEST(one_byte_at_a_time_gives_the_same_events),
		TEST(each_failing_allocation_is_told_and_leaves_no_leak),
	};

	return cmocka_run_group_tests_name("client", tests, NULL, NULL);
}
