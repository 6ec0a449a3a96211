/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

/*
 * Waiting for the session, reading and writing. The shim decides when a program waits; libcenote
 * itself waits in few calls only. connect.c and all calls that send or receive call this file.
 */

int64_t
cpq_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int
cpq_wait(PGconn *conn, int64_t deadline_ms)
{
	int wants = cenote_wants(conn->session);
	int timeout = cenote_wait_ms(conn->session);
	struct pollfd p = { .fd = cenote_fd(conn->session) };
	int64_t left;
	int r;

	p.events = (short)((wants & CENOTE_WANTS_READ ? POLLIN : 0) |
			   (wants & CENOTE_WANTS_WRITE ? POLLOUT : 0));
	if (deadline_ms != 0) {
		left = deadline_ms - cpq_now_ms();
		if (left <= 0)
			return 0;
		if (timeout < 0 || left < timeout)
			timeout = (int)left;
	}
	if (p.fd < 0 && timeout < 0)
		return -1;
	if (poll(&p, p.fd >= 0, timeout) < 0)
		return errno == EINTR ? 1 : -1;
	if (p.revents == 0 || !cenote_is_connected(conn->session))
		return 1;
	/* The caller calls libcenote again, which reads nothing then, but reports how the session
	 * was lost. */
	r = cenote_process(conn->session);
	if (r != CENOTE_ERR_NOMEM)
		return 1;
	cpq_say_failure(conn, r);
	return -1;
}

int
cpq_is_between_tries(const PGconn *conn)
{
	return cenote_wants(conn->session) == 0 && cenote_wait_ms(conn->session) >= 0;
}

int
cpq_push(PGconn *conn)
{
	int r;

	do
		r = cenote_flush(conn->session);
	while (r == CENOTE_OK && cpq_is_between_tries(conn) && cpq_wait(conn, 0) > 0);
	return r;
}

int
cpq_PQflush(PGconn *conn)
{
	if (conn == NULL || conn->status == CONNECTION_BAD)
		return -1;
	if (conn->session == NULL)
		return 0;
	cpq_trace_flush(conn);
	/* Do not read here: a program that polls must see that the socket is readable. */
	while (cpq_push(conn) == CENOTE_OK &&
		(cenote_wants(conn->session) & CENOTE_WANTS_WRITE)) {
		if (conn->is_nonblocking)
			return 1;
		if (cpq_wait(conn, 0) < 0)
			return -1;
	}
	/* The result reports a lost connection. */
	return 0;
}

int
cpq_read(PGconn *conn)
{
	int r;

	conn->is_only_reading = 1;
	r = cenote_process(conn->session);
	conn->is_only_reading = 0;
	return r;
}
