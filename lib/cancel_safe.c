/* SPDX-License-Identifier: BSD-2-Clause */
#include "cancel.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

/*
 * A cancel from a signal handler, or from several threads at once. It uses only system calls and
 * the stack, and only reads the cenote_cancel. So it has its own small reader of frames, and no
 * TLS.
 */

#define TIMEOUT_MS    10000
/* How long to wait when the socket's queue of connections is full. */
#define QUEUE_FULL_MS 5
#define PAYLOAD_SIZE  20u /* bytes of a CANCEL's payload */
#define OPENING_SIZE  (CNP_OPENING_MAX + CNP_FRAME_HEADER + PAYLOAD_SIZE)
#define ANSWER_SIZE   1024u

struct attempt {
	struct cn_transport transport;
	int64_t deadline;
	uint8_t answer[ANSWER_SIZE]; /* payload of the last frame */
	struct cnc_diag refusal; /* the pool's error, if it refused */
};

/* Wait until the socket is ready, a signal comes, or `at_most` ms have passed. */
static int
wait_ready(const struct attempt *a, short events, int64_t at_most)
{
	struct pollfd p = { .fd = a->transport.fd, .events = events };
	int64_t left = a->deadline - cn_now_ms();

	if (left <= 0)
		return CENOTE_ERR_TIMEOUT;
	(void)poll(&p, 1, (int)(left < at_most ? left : at_most));
	return CENOTE_OK;
}

static int
open_unix(struct attempt *a, const struct cn_target *t)
{
	const struct sockaddr *addr = (const struct sockaddr *)(const void *)&t->addr;
	int r;

	while ((r = cn_unix_open(&a->transport, addr, t->len, 0, 0)) == CENOTE_AGAIN) {
		r = wait_ready(a, 0, QUEUE_FULL_MS);
		if (r < 0)
			return r;
	}
	return r;
}

static int
open_tcp(struct attempt *a, const struct cn_target *t)
{
	const struct sockaddr *addr = (const struct sockaddr *)(const void *)&t->addr;
	int r = cn_tcp_open(&a->transport, addr, t->len);

	while (r == CENOTE_AGAIN) {
		r = wait_ready(a, POLLOUT, TIMEOUT_MS);
		if (r < 0)
			return r;
		r = cn_tcp_finish(&a->transport);
	}
	return r;
}

static int
write_all(struct attempt *a, const uint8_t *bytes, size_t n)
{
	struct cn_transport *t = &a->transport;
	size_t put;
	int r;

	while (n > 0) {
		r = t->ops->write(t, bytes, n, &put);
		if (r == CENOTE_AGAIN) {
			put = 0;
			r = wait_ready(a, POLLOUT, TIMEOUT_MS);
		}
		if (r < 0)
			return r;
		bytes += put;
		n -= put;
	}
	return CENOTE_OK;
}

static int
read_all(struct attempt *a, uint8_t *room, size_t n)
{
	struct cn_transport *t = &a->transport;
	size_t got;
	int r;

	while (n > 0) {
		r = t->ops->read(t, room, n, &got);
		if (r == CENOTE_OK && got == 0) {
			t->error = 0;
			return CENOTE_ERR_CONN;
		}
		if (r == CENOTE_AGAIN) {
			got = 0;
			r = wait_ready(a, POLLIN, TIMEOUT_MS);
		}
		if (r < 0)
			return r;
		room += got;
		n -= got;
	}
	return CENOTE_OK;
}

static int
read_message(struct attempt *a, struct cnp_msg *ret_msg)
{
	uint8_t header[CNP_FRAME_HEADER];
	struct cnp_frame f;
	int r = read_all(a, header, sizeof(header));

	if (r == CENOTE_OK)
		r = cnp_frame_decode(header, sizeof(a->answer), &f);
	if (r == CENOTE_OK)
		r = read_all(a, a->answer, f.len);
	if (r == CENOTE_OK)
		r = cnp_msg_decode(f.code, a->answer, f.len, ret_msg);
	return r;
}

static int
read_answer(struct attempt *a)
{
	const struct cnp_str *fields;
	struct cnp_msg m;
	int r;

	do
		r = read_message(a, &m);
	while (r == CENOTE_OK && (m.code == CNP_MSG_HELLO || m.code == CNP_MSG_NOTICE));
	if (r != CENOTE_OK)
		return r;
	if (m.code == CNP_MSG_CANCELLED)
		return m.as.cancelled.delivered ? CENOTE_OK : CENOTE_DONE;
	if (m.code != CNP_MSG_ERROR)
		return CENOTE_ERR_PROTOCOL;
	fields = &m.as.error.fields;
	r = cnc_diag_set_fields(&a->refusal, (const uint8_t *)fields->p, fields->n);
	return r < 0 ? r : cn_attach_status(a->refusal.sqlstate);
}

/* Copy the prepared bytes, and fill in the session and the request. */
static size_t
fill_opening(uint8_t bytes[OPENING_SIZE], const cenote_cancel *cancel,
	const struct cnp_cancel *named)
{
	const struct cnp_msg m = { .code = CNP_MSG_CANCEL, .as.cancel = *named };
	size_t n = cnc_buf_len(&cancel->opening);

	memcpy(bytes, cancel->opening.data + cancel->opening.head, n);
	cnp_msg_write(bytes + n - PAYLOAD_SIZE, &m);
	return n;
}

static int
try_once(struct attempt *a, const cenote_cancel *cancel, const struct cnp_cancel *named)
{
	const struct cn_target *t = &cancel->target;
	uint8_t bytes[OPENING_SIZE];
	size_t n = fill_opening(bytes, cancel, named);
	int r = t->addr.ss_family == AF_UNIX ? open_unix(a, t) : open_tcp(a, t);

	if (r == CENOTE_OK)
		r = write_all(a, bytes, n);
	if (r == CENOTE_OK)
		r = read_answer(a);
	return r;
}

static void
append(char *out, size_t size, const char *text)
{
	size_t len, room;

	if (size == 0)
		return;
	len = strlen(out);
	room = size - 1 - len;
	room = cnc_utf8_cut(text, strlen(text), room);
	memcpy(out + len, text, room);
	out[len + room] = '\0';
}

static void
explain(const struct attempt *a, const cenote_cancel *cancel, int status, char *out,
	size_t size)
{
	if (*a->refusal.message) {
		append(out, size, a->refusal.message);
		return;
	}
	if (status == CENOTE_ERR_PROTOCOL) {
		append(out, size, "the pool broke the protocol at ");
		append(out, size, cancel->where);
		return;
	}
	append(out, size, "cenoted is not reachable at ");
	append(out, size, cancel->where);
	append(out, size, ": ");
	append(out, size,
		status == CENOTE_ERR_TIMEOUT ? "no answer in 10 s"
					     : cn_errno_text(a->transport.error));
}

int
cenote_cancel_send_safe(const cenote_cancel *cancel, char *ret_why, size_t size)
{
	struct cnp_cancel named;
	struct attempt a;
	int saved = errno;
	int r;

	if (!cancel || (!ret_why && size > 0))
		return CENOTE_ERR_ARG;
	named = cn_cancel_named(cancel);
	if (named.request == 0)
		return CENOTE_DONE;
	if (cancel->needs_tls) {
		if (size > 0) {
			*ret_why = '\0';
			append(ret_why, size,
				"a signal's handler cannot make TLS, and "
				"the session's key must not travel in the clear");
		}
		return CENOTE_ERR_UNSUPPORTED;
	}
	cn_transport_init(&a.transport);
	cnc_diag_init(&a.refusal, NULL);
	a.deadline = cn_now_ms() + TIMEOUT_MS;
	r = try_once(&a, cancel, &named);
	cn_transport_close(&a.transport);
	if (r < 0 && size > 0) {
		*ret_why = '\0';
		explain(&a, cancel, r, ret_why, size);
	}
	errno = saved;
	return r;
}
