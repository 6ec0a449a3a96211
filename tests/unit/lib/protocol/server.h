/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_SERVER_H
#define CNT_SERVER_H

#include "wire.h"

#include <stdio.h>
#include <stdlib.h>

#include "protocol/session_server.h"
#include "support/cnt_alloc.h"

/* The server end of a session, whose memory is counted, and the bytes that the client is about
 * to send. */

#define MAX_FRAME (1u << 20)
#define MAX_OUT   4096u

struct fixture {
	struct cnt_alloc alloc;
	struct cnp_server s;
	struct cnc_buf in; /* what the client is about to send */
};

static inline void
begin(struct fixture *f, size_t fail_at)
{
	cnt_alloc_init(&f->alloc, fail_at);
	cnp_server_init(&f->s, &f->alloc.mem, MAX_FRAME, MAX_OUT);
	cnc_buf_init(&f->in, &cnc_mem_default, SIZE_MAX / 2);
}

static inline size_t
end(struct fixture *f)
{
	cnp_server_finish(&f->s);
	cnc_buf_finish(&f->in);
	return cnt_alloc_leaks(&f->alloc);
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

static inline void
put_opening(struct fixture *f, uint8_t kind, uint8_t tls, uint8_t version)
{
	struct cnp_opening o = { .kind = kind, .tls = tls };

	o.version_min = version;
	o.version_max = version;
	memcpy(o.pool, "main", 5);
	assert_ok(cnp_opening_encode(&f->in, &o));
}

static inline void
put_request(struct fixture *f, uint8_t code, uint32_t number, uint8_t flags)
{
	struct cnp_msg m;

	wire_least(&m, code);
	wire_put(&f->in, flags, number, &m);
}

static inline void
put_attach(struct fixture *f, uint32_t flags, const char *carry)
{
	struct cnp_msg m;

	wire_least(&m, CNP_MSG_ATTACH);
	m.as.attach.flags = flags;
	m.as.attach.carry = cnp_str(carry);
	wire_put(&f->in, 0, 0, &m);
}

/* As much as is taken; what was not taken stays in f->in. */
static inline int
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

static inline int
next(struct fixture *f, struct cnp_request *req)
{
	int r;

	(void)deliver(f);
	r = cnp_server_next(&f->s, req);
	if (r == CENOTE_ERR_PROTOCOL)
		assert_true(f->s.diag.message[0] != '\0');
	return r;
}

static inline void
drop_output(struct fixture *f)
{
	const uint8_t *p;

	cnp_server_sent(&f->s, cnp_server_output(&f->s, &p));
}

/* Send all queued messages, and return their codes and request numbers: "HELLO 0, READY 3". */
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

static inline void
in_first(struct fixture *f)
{
	struct cnp_request req;

	put_opening(f, CNP_OPEN_ATTACH, CNP_TLS_NONE, 1);
	assert_ok(next(f, &req));
}

static inline void
in_attaching(struct fixture *f)
{
	struct cnp_request req;

	in_first(f);
	assert_ok(cnp_server_hello(&f->s, 0, CNP_AUTH_NONE, NULL));
	put_request(f, CNP_MSG_ATTACH, 0, 0);
	assert_ok(next(f, &req));
	assert_int_equal(req.msg.code, CNP_MSG_ATTACH);
}

static inline void
attach(struct fixture *f)
{
	struct cnp_attached m;

	memset(&m, 0, sizeof m);
	in_attaching(f);
	assert_ok(cnp_server_attached(&f->s, &m));
	assert_ok(cnp_server_ready(&f->s, 0, 0, NULL));
	drop_output(f);
}

static inline void
expect_request(struct fixture *f, uint8_t code, uint32_t number)
{
	struct cnp_request req;
	int r = next(f, &req);

	if (r < 0)
		print_error("%s\n", f->s.diag.message);
	assert_ok(r);
	assert_int_equal(req.msg.code, code);
	assert_int_equal(req.number, number);
	assert_int_equal(cnp_server_state(&f->s), CNP_SERVER_RUNNING);
}

static inline void
finish(struct fixture *f)
{
	assert_ok(cnp_server_finish_request(&f->s, CENOTE_TX_IDLE, 0, NULL));
}

static inline int
reply(struct fixture *f, uint8_t code)
{
	struct cnp_msg m;

	wire_least(&m, code);
	return cnp_server_reply(&f->s, &m, 0);
}

static inline int
error(struct fixture *f)
{
	struct cnc_diag d;

	cnc_diag_init(&d, NULL);
	cnc_diag_set(&d, "42601", "no");
	return cnp_server_error(&f->s, &d);
}

static inline void
answer(struct fixture *f)
{
	assert_ok(reply(f, CNP_MSG_DONE));
	finish(f);
}

/* The client stays: it had a session, and answers up to request 7. */
static inline void
staying(struct fixture *f)
{
	struct cnp_kept kept = {
		.peer_max_frame = CNP_FRAME_MAX, .last_request = 7, .version = 1
	};

	cnp_server_restart_kept(&f->s, &kept);
}

/* It has asked for a session again. */
static inline void
staying_first(struct fixture *f)
{
	struct cnp_request req;

	staying(f);
	put_attach(f, CNP_ATTACH_AGAIN | CNP_ATTACH_STAYS, "");
	assert_ok(next(f, &req));
}

static inline void
opening_kind(struct fixture *f, uint8_t kind)
{
	struct cnp_request req;

	put_opening(f, kind, CNP_TLS_NONE, 1);
	assert_ok(next(f, &req));
	assert_ok(cnp_server_hello(&f->s, 0, CNP_AUTH_NONE, NULL));
}

static inline void
running(struct fixture *f)
{
	attach(f);
	put_request(f, CNP_MSG_QUERY, 1, 0);
	expect_request(f, CNP_MSG_QUERY, 1);
}

static inline void
put_copy(struct fixture *f, uint32_t number, const char *text)
{
	struct cnp_msg m = { .code = CNP_MSG_COPY_DATA };

	m.as.copy_data.data = cnp_str(text);
	wire_put(&f->in, 0, number, &m);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
