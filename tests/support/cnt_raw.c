/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_raw.h"

#include "core/diag.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PATIENCE_MS 20000

static void
flush(struct cnt_raw *c)
{
	while (cnc_buf_len(&c->out) > 0) {
		ssize_t n = send(
			c->fd, cnc_buf_head(&c->out), cnc_buf_len(&c->out), MSG_NOSIGNAL);

		/* an error shows when the answer is read */
		if (n <= 0)
			n = (ssize_t)cnc_buf_len(&c->out);
		cnc_buf_consume(&c->out, (size_t)n);
	}
}

static int
connect_to(const char *run_dir, const char *pool)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%.80s/%.20s.sock", run_dir, pool);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int
begin(struct cnt_raw *c, const char *run_dir, const char *pool,
	const struct cnc_buf *options, uint32_t flags)
{
	struct cnp_opening o = { .version_min = 1, .version_max = 1 };
	struct cnp_msg m;

	memset(c, 0, sizeof(*c));
	memset(&m, 0, sizeof(m));
	o.kind = CNP_OPEN_ATTACH;
	snprintf(o.pool, sizeof(o.pool), "%s", pool);
	cnc_buf_init(&c->in, &cnc_mem_default, SIZE_MAX / 2);
	cnc_buf_init(&c->out, &cnc_mem_default, SIZE_MAX / 2);
	c->fd = connect_to(run_dir, pool);
	if (c->fd < 0 || cnp_opening_encode(&c->out, &o) < 0)
		return -1;
	m.code = CNP_MSG_ATTACH;
	m.as.attach.flags = flags;
	if (options)
		m.as.attach.options =
			(struct cnp_str){ (const char *)cnc_buf_head(options),
				cnc_buf_len(options) };
	cnt_raw_send(c, 0, 0, &m);
	return 0;
}

int
cnt_raw_begin(struct cnt_raw *c, const char *run_dir, const char *pool,
	const struct cnc_buf *options)
{
	return begin(c, run_dir, pool, options, 0);
}

int
cnt_raw_await(struct cnt_raw *c)
{
	while (cnt_raw_next(c) > 0) {
		if (c->msg.code == CNP_MSG_ATTACHED)
			c->attached = c->msg.as.attached;
		if (c->msg.code == CNP_MSG_READY)
			return 0;
		if (c->msg.code == CNP_MSG_ERROR)
			return -1;
	}
	return -1;
}

int
cnt_raw_open(struct cnt_raw *c, const char *run_dir, const char *pool,
	const struct cnc_buf *options)
{
	int r = cnt_raw_begin(c, run_dir, pool, options);

	return r < 0 ? r : cnt_raw_await(c);
}

int
cnt_raw_open_staying(struct cnt_raw *c, const char *run_dir, const char *pool)
{
	int r = begin(c, run_dir, pool, NULL, CNP_ATTACH_STAYS);

	return r < 0 ? r : cnt_raw_await(c);
}

int
cnt_raw_open_borrowing(struct cnt_raw *c, const char *run_dir, const char *pool)
{
	int r = begin(c, run_dir, pool, NULL, CNP_ATTACH_BORROWS);

	return r < 0 ? r : cnt_raw_await(c);
}

void
cnt_raw_close(struct cnt_raw *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	cnc_buf_finish(&c->in);
	cnc_buf_finish(&c->out);
}

void
cnt_raw_send(struct cnt_raw *c, uint32_t request, uint8_t flags, const struct cnp_msg *m)
{
	if (cnp_frame_put(&c->out, flags, request, m) < 0)
		abort();
	if (!c->collects)
		flush(c);
}

void
cnt_raw_query(struct cnt_raw *c, uint32_t request, uint8_t flags, const char *sql)
{
	struct cnp_msg m;

	memset(&m, 0, sizeof(m));
	m.code = CNP_MSG_QUERY;
	m.as.query.sql = cnp_str(sql);
	cnt_raw_send(c, request, flags, &m);
}

/* As recv(), and keep the descriptors of a loan. */
static ssize_t
receive_with_fds(struct cnt_raw *c, void *room, size_t n)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(c->fds))];
	} control;
	struct iovec part = { room, n };
	struct msghdr m = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room) };
	ssize_t got = recvmsg(c->fd, &m, MSG_CMSG_CLOEXEC);
	struct cmsghdr *h = got > 0 ? CMSG_FIRSTHDR(&m) : NULL;

	if (h != NULL && h->cmsg_type == SCM_RIGHTS &&
		h->cmsg_len == CMSG_LEN(sizeof(c->fds)))
		memcpy(c->fds, CMSG_DATA(h), sizeof(c->fds));
	return got;
}

/* Receive bytes. 1; 0 at the end of the connection; -1 if nothing came in time. */
static int
receive(struct cnt_raw *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	uint8_t *room;
	ssize_t n;

	if (poll(&p, 1, PATIENCE_MS) <= 0)
		return -1;
	if (cnc_buf_reserve(&c->in, 65536, &room) < 0)
		abort();
	n = receive_with_fds(c, room, 65536);
	if (n <= 0)
		return 0;
	cnc_buf_commit(&c->in, (size_t)n);
	return 1;
}

int
cnt_raw_next(struct cnt_raw *c)
{
	int r;

	cnc_buf_consume(&c->in, c->taken);
	c->taken = 0;
	for (;;) {
		const uint8_t *p = cnc_buf_head(&c->in);
		size_t n = cnc_buf_len(&c->in);

		if (n >= CNP_FRAME_HEADER &&
			cnp_frame_decode(p, CNP_FRAME_MAX, &c->frame) < 0)
			return -1;
		if (n >= CNP_FRAME_HEADER && n - CNP_FRAME_HEADER >= c->frame.len) {
			c->payload = p + CNP_FRAME_HEADER;
			c->taken = CNP_FRAME_HEADER + c->frame.len;
			return cnp_msg_decode(c->frame.code, c->payload, c->frame.len,
				       &c->msg) < 0
				       ? -1
				       : 1;
		}
		r = receive(c);
		if (r <= 0)
			return r;
	}
}

static int
expect_one(struct cnt_raw *c, const char *wanted)
{
	char came[256];
	int r = cnt_raw_next(c);

	if (r <= 0)
		snprintf(came, sizeof(came), "%s", r == 0 ? "END" : "NOTHING");
	else
		snprintf(came, sizeof(came), "%s/%u", cnp_msg_name(c->msg.code),
			(unsigned)c->frame.request);
	if (strcmp(came, wanted) == 0)
		return 0;
	fprintf(stderr, "# %s came instead of %s%s%s\n", came, wanted,
		r > 0 && c->msg.code == CNP_MSG_ERROR ? ": " : "",
		r > 0 && c->msg.code == CNP_MSG_ERROR ? cnt_raw_field(c, 'M') : "");
	return -1;
}

int
cnt_raw_expect(struct cnt_raw *c, const char *list)
{
	char wanted[64];

	while (*list != '\0') {
		size_t n = strcspn(list, " ");

		snprintf(wanted, sizeof(wanted), "%.*s", (int)n, list);
		if (expect_one(c, wanted) < 0)
			return -1;
		list += n + strspn(list + n, " ");
	}
	return 0;
}

const char *
cnt_raw_field(struct cnt_raw *c, char letter)
{
	static char text[CNC_DIAG_MESSAGE_MAX];
	struct cnc_diag d;
	const char *value;

	cnc_diag_init(&d, &cnc_mem_default);
	if (cnc_diag_set_fields(&d, (const uint8_t *)c->msg.as.error.fields.p,
		    c->msg.as.error.fields.n) < 0)
		abort();
	value = cnc_diag_field(&d, letter);
	snprintf(text, sizeof(text), "%s", value ? value : "");
	cnc_diag_finish(&d);
	return text;
}
