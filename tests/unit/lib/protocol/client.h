/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_CLIENT_H
#define CNT_CLIENT_H

#include "wire.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/rowset.h"
#include "protocol/session_client.h"
#include "support/cnt_alloc.h"

/* The client end of a session, whose memory is counted, and the bytes that the pool is about to
 * send. */

struct fixture {
	struct cnt_alloc alloc;
	struct cnp_client c;
	struct cnc_buf in; /* what the pool is about to send */
};

static inline void
begin(struct fixture *f, size_t fail_at)
{
	cnt_alloc_init(&f->alloc, fail_at);
	cnp_client_init(&f->c, &f->alloc.mem, CNP_FRAME_MAX);
	cnc_buf_init(&f->in, &cnc_mem_default, SIZE_MAX / 2);
}

static inline size_t
end(struct fixture *f)
{
	cnp_client_finish(&f->c);
	cnc_buf_finish(&f->in);
	return cnt_alloc_leaks(&f->alloc);
}

/* Begin again with a new session, whose fail_at-th allocation fails. */
static inline void
begin_anew(struct fixture *f, size_t fail_at)
{
	assert_int_equal(end(f), 0);
	begin(f, fail_at);
}

static inline int
setup(void **state)
{
	static struct fixture f;

	begin(&f, 0);
	*state = &f;
	return 0;
}

static inline int
teardown(void **state)
{
	return end(*state) > 0 ? -1 : 0;
}

/* -------------------------------------------------------------------- steps */

static inline int
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

static inline void
open_session(struct fixture *f)
{
	assert_ok(try_open(&f->c, CNP_OPEN_ATTACH, CNP_TLS_NONE, 0));
}

static inline size_t
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

static inline void
receive(struct fixture *f, const uint8_t *bytes, size_t n)
{
	uint8_t *room;
	size_t k;

	while (n > 0) {
		assert_ok(cnp_client_room(&f->c, &room, &k));
		assert_true(k > 0);
		k = k < n ? k : n;
		memcpy(room, bytes, k);
		cnp_client_received(&f->c, k);
		bytes += k;
		n -= k;
	}
}

/* Give the client the bytes in f->in. */
static inline void
deliver(struct fixture *f)
{
	receive(f, cnc_buf_head(&f->in), cnc_buf_len(&f->in));
	cnc_buf_clear(&f->in, 1 << 20);
}

/* Give the client one message; returns what cnp_client_next() returns. */
static inline int
give(struct fixture *f, uint8_t flags, uint32_t request, const struct cnp_msg *m,
	struct cnp_event *ev)
{
	wire_put(&f->in, flags, request, m);
	deliver(f);
	return cnp_client_next(&f->c, ev);
}

static inline int
feed(struct fixture *f, uint8_t code, uint32_t request, struct cnp_event *ev)
{
	wire_put_code(&f->in, code, request);
	deliver(f);
	return cnp_client_next(&f->c, ev);
}

static inline void
expect(struct fixture *f, uint8_t code, uint32_t request, int is_last)
{
	struct cnp_event ev;
	int r = feed(f, code, request, &ev);

	if (r != CENOTE_OK)
		print_error("%s\n", f->c.diag.message);
	assert_ok(r);
	assert_int_equal(ev.msg.code, code);
	assert_int_equal(ev.request, request);
	assert_int_equal(ev.is_last, is_last);
}

static inline void
attach(struct fixture *f)
{
	open_session(f);
	(void)send_all(f);
	expect(f, CNP_MSG_HELLO, 0, 0);
	expect(f, CNP_MSG_ATTACHED, 0, 0);
	expect(f, CNP_MSG_READY, 0, 0);
}

static inline uint32_t
request(struct fixture *f, uint8_t code, uint8_t flags, int is_setup)
{
	struct cnp_msg m;
	uint32_t number = 77;

	wire_least(&m, code);
	assert_ok(cnp_client_request(&f->c, &m, flags, is_setup, &number));
	return number;
}

static inline uint32_t
ask(struct fixture *f, uint8_t code, uint8_t flags)
{
	uint32_t number = request(f, code, flags, 0);

	(void)send_all(f);
	return number;
}

/* ---- sessions in each state ---- */

/* Attached; `flags` says what the client may do after a YIELD. */
static inline void
attach_flags(struct fixture *f, uint32_t flags)
{
	struct cnp_opening o = {
		.version_min = 1, .version_max = 1, .kind = CNP_OPEN_ATTACH
	};
	struct cnp_msg m;

	wire_least(&m, CNP_MSG_ATTACH);
	m.as.attach.flags = flags;
	assert_ok(cnp_client_open(&f->c, &o, &m, 0));
	(void)send_all(f);
	expect(f, CNP_MSG_HELLO, 0, 0);
	expect(f, CNP_MSG_ATTACHED, 0, 0);
	expect(f, CNP_MSG_READY, 0, 0);
}

static inline void
attach_staying(struct fixture *f)
{
	attach_flags(f, CNP_ATTACH_STAYS);
}

static inline int
yield(struct fixture *f, uint8_t reason, uint32_t last)
{
	struct cnp_event ev;
	struct cnp_msg m;

	wire_least(&m, CNP_MSG_YIELD);
	m.as.yield.reason = reason;
	m.as.yield.last = last;
	return give(f, 0, 0, &m, &ev);
}

static inline void
stay(struct fixture *f)
{
	attach_staying(f);
	assert_ok(yield(f, CNP_YIELD_STAY, 0));
	assert_int_equal(cnp_client_state(&f->c), CNP_CLIENT_YIELDED);
	assert_true(cnp_client_is_staying(&f->c));
}

static inline void
in_opening(struct fixture *f)
{
	open_session(f);
	(void)send_all(f);
}

static inline void
in_auth(struct fixture *f)
{
	struct cnp_event ev;
	struct cnp_msg m;

	in_opening(f);
	wire_least(&m, CNP_MSG_HELLO);
	m.as.hello.auth = CNP_AUTH_SASL;
	assert_ok(give(f, 0, 0, &m, &ev));
}

static inline void
query_fresh(struct fixture *f)
{
	attach(f);
	(void)ask(f, CNP_MSG_QUERY, 0);
}

static inline void
query_open(struct fixture *f)
{
	query_fresh(f);
	expect(f, CNP_MSG_COLUMNS, 1, 0);
}

static inline void
query_answered_with_sync(struct fixture *f)
{
	attach(f);
	(void)ask(f, CNP_MSG_QUERY, CNP_FRAME_SYNC);
	expect(f, CNP_MSG_DONE, 1, 0);
}

static inline void
skipping(struct fixture *f)
{
	attach(f);
	(void)ask(f, CNP_MSG_QUERY, 0);
	(void)ask(f, CNP_MSG_QUERY, 0);
	expect(f, CNP_MSG_ERROR, 1, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
