/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <cenote/types.h>

static int
open_failed(struct cn_transport *t, int error)
{
	cn_transport_close(t);
	t->error = error;
	return CENOTE_ERR_CONN;
}

/* This function never waits, so that several addresses share one time limit. */
int
cn_tcp_open(struct cn_transport *t, const struct sockaddr *addr, socklen_t len)
{
	int on = 1;

	if (cn_transport_socket(t, addr->sa_family) < 0)
		return CENOTE_ERR_CONN;
	/* Requests are written as a whole, so delaying small packets would gain nothing. */
	if (setsockopt(t->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0 ||
		setsockopt(t->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)) < 0)
		return open_failed(t, errno);
	if (connect(t->fd, addr, len) == 0 || errno == EINPROGRESS || errno == EINTR)
		return CENOTE_AGAIN;
	return open_failed(t, errno);
}

int
cn_tcp_finish(struct cn_transport *t)
{
	struct pollfd p = { .fd = t->fd, .events = POLLOUT };
	int error = 0;
	socklen_t len = sizeof(error);

	if (poll(&p, 1, 0) <= 0)
		return CENOTE_AGAIN;
	if (getsockopt(t->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		error = errno;
	if (error != 0)
		return open_failed(t, error);
	return CENOTE_OK;
}
