/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <cenote/types.h>

/* Plain sockets, connecting to a unix socket, and keeping a descriptor's number from
 * one session to the next. */

static int
socket_read(struct cn_transport *t, void *room, size_t n, size_t *ret_n)
{
	ssize_t got;

	do
		got = t->takes_descriptors ? cn_loan_receive(t, room, n)
					   : recv(t->fd, room, n, MSG_DONTWAIT);
	while (got < 0 && errno == EINTR);
	if (got < 0) {
		if (errno == EAGAIN || errno == EWOULDBLOCK)
			return CENOTE_AGAIN;
		t->error = errno;
		return CENOTE_ERR_CONN;
	}
	*ret_n = (size_t)got;
	return CENOTE_OK;
}

static int
socket_write(struct cn_transport *t, const void *bytes, size_t n, size_t *ret_n)
{
	ssize_t put;

	do
		put = send(t->fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (put < 0 && errno == EINTR);
	if (put < 0) {
		if (errno == EAGAIN || errno == EWOULDBLOCK)
			return CENOTE_AGAIN;
		t->error = errno;
		return CENOTE_ERR_CONN;
	}
	*ret_n = (size_t)put;
	return CENOTE_OK;
}

static void
socket_close(struct cn_transport *t)
{
	(void)close(t->fd);
}

/* A socket has no buffers of its own. */
static int
socket_flush(struct cn_transport *t)
{
	(void)t;
	return CENOTE_OK;
}

static int
socket_never(const struct cn_transport *t)
{
	(void)t;
	return 0;
}

const struct cn_transport_ops cn_socket_ops = {
	.read = socket_read,
	.write = socket_write,
	.close = socket_close,
	.flush = socket_flush,
	.unsent = socket_never,
	.pending = socket_never,
};

static void
begin(struct cn_transport *t)
{
	t->ops = &cn_socket_ops;
	t->fd = -1;
	t->error = 0;
	t->is_shaking = 0;
	t->tls = NULL;
	t->lent[0] = t->lent[1] = -1;
	t->takes_descriptors = 0;
	cn_loan_forget(t);
}

void
cn_transport_init(struct cn_transport *t)
{
	begin(t);
	t->held = -1;
	t->keeps_number = 0;
}

void
cn_close_any(int fd)
{
	if (fd >= 0)
		(void)close(fd);
}

/* Until there is a connection again, a silent socket takes the number, so that no other descriptor
 * gets it. */
static void
hold_number(struct cn_transport *t)
{
	int quiet = cn_socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC);
	int moved = fcntl(t->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (quiet >= 0 && moved >= 0 && dup3(quiet, t->fd, O_CLOEXEC) >= 0) {
		t->held = t->fd;
		t->fd = moved;
		moved = -1;
	}
	cn_close_any(quiet);
	cn_close_any(moved);
}

void
cn_transport_hold(struct cn_transport *t)
{
	if (t->fd < 0 && t->held < 0)
		t->held = cn_socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC);
}

static void
take_number(struct cn_transport *t)
{
	if (t->held < 0)
		return;
	if (dup3(t->fd, t->held, O_CLOEXEC) >= 0) {
		(void)close(t->fd);
		t->fd = t->held;
	} else {
		(void)close(t->held);
	}
	t->held = -1;
}

int
cn_transport_socket(struct cn_transport *t, int domain)
{
	begin(t);
	t->fd = cn_socket(domain, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (t->fd < 0) {
		t->error = errno;
		return CENOTE_ERR_CONN;
	}
	take_number(t);
	return CENOTE_OK;
}

void
cn_transport_finish(struct cn_transport *t)
{
	t->keeps_number = 0;
	cn_transport_close(t);
	cn_close_any(t->held);
	t->held = -1;
}

void
cn_transport_close(struct cn_transport *t)
{
	int saved = errno;

	if (t->fd < 0)
		return;
	cn_loan_drop(t);
	if (t->keeps_number)
		hold_number(t);
	t->ops->close(t);
	t->ops = &cn_socket_ops;
	t->fd = -1;
	errno = saved;
}

static int
open_failed(struct cn_transport *t, int error)
{
	cn_transport_close(t);
	t->error = error;
	return CENOTE_ERR_CONN;
}

int
cn_socket_raise(int fd)
{
	int high, saved;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	saved = errno;
	(void)close(fd);
	errno = saved;
	return high;
}

int
cn_socket(int domain, int type)
{
	return cn_socket_raise(socket(domain, type, 0));
}

static int
connect_again(struct cn_transport *t, const struct sockaddr *addr, socklen_t len)
{
	int r;

	do
		r = connect(t->fd, addr, len);
	while (r < 0 && errno == EINTR);
	return r;
}

/* Wait in connect(), which serves waiting clients in turn. The time limit for sending also limits
 * connect(). */
static int
wait_in_queue(struct cn_transport *t, const struct sockaddr *addr, socklen_t len,
	int timeout_ms)
{
	struct timeval tv = { timeout_ms / 1000, timeout_ms % 1000 * 1000L };
	int flags = fcntl(t->fd, F_GETFL);

	if (flags < 0 || fcntl(t->fd, F_SETFL, flags & ~O_NONBLOCK) < 0 ||
		setsockopt(t->fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)) < 0)
		return -1;
	return connect_again(t, addr, len);
}

int
cn_unix_open(struct cn_transport *t, const struct sockaddr *addr, socklen_t len,
	int may_wait, int timeout_ms)
{
	int r;

	if (cn_transport_socket(t, AF_UNIX) < 0)
		return CENOTE_ERR_CONN;
	r = connect_again(t, addr, len);
	if (r < 0 && errno == EAGAIN && may_wait)
		r = wait_in_queue(t, addr, len, timeout_ms);
	if (r == 0)
		return CENOTE_OK;
	if (errno != EAGAIN)
		return open_failed(t, errno);
	(void)open_failed(t, errno);
	return may_wait ? CENOTE_ERR_TIMEOUT : CENOTE_AGAIN;
}
