/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

/*
 * Waiting: the loop around cn_advance(), and the time limits. Every public call that waits ends up here.
 *
 * A blocking call goes to poll() before it reads. A blocking recv() would save a system call, but
 * the kernel also wakes it when the peer takes the bytes that were sent. That would cost a useless
 * switch of processes for each request that is not answered at once. A non-blocking handle reads
 * the bytes that have come, and leaves the waiting to the program.
 */

static int64_t
earlier(int64_t a, int64_t b)
{
	if (a == 0 || b == 0)
		return a == 0 ? b : a;
	return a < b ? a : b;
}

static int
is_attaching(const cenote_conn *conn)
{
	return cn_state(conn) == CN_CONNECTING || cn_state(conn) == CN_ATTACHING;
}

static int64_t
next_deadline(const cenote_conn *conn)
{
	int64_t at = conn->deadline;

	if (is_attaching(conn))
		at = earlier(at, conn->attach.deadline);
	if (cn_state(conn) == CN_CONNECTING && conn->attach.is_blocked)
		at = earlier(at, conn->attach.retry_at);
	return at;
}

int
cenote_wants(const cenote_conn *conn)
{
	const uint8_t *bytes;
	int wants = 0;

	if (!conn)
		return 0;
	switch (cn_state(conn)) {
	case CN_CONNECTING:
		return conn->transport.fd >= 0 ? CENOTE_WANTS_WRITE : 0;
	case CN_ATTACHING:
	case CN_READY:
		if (!cn_waits_for_program(conn))
			wants |= CENOTE_WANTS_READ;
		if (!conn->is_write_broken &&
			((cnp_client_output(&conn->session, &bytes) > 0 &&
				 !conn->transport.is_choked) ||
				conn->transport.ops->unsent(&conn->transport)))
			wants |= CENOTE_WANTS_WRITE;
		return wants;
	case CN_DETACHED:
		if (!cn_is_staying(conn))
			return 0;
		/* The pool may end the connection; requests may wait to go there. */
		return conn->pipeline.n > conn->pipeline.n_finished
			       ? CENOTE_WANTS_READ | CENOTE_WANTS_WRITE
			       : CENOTE_WANTS_READ;
	default:
		return 0;
	}
}

/* Is there something to read on which poll() would not wake up, or a session to attach to without waiting? */
static int
has_pending(const cenote_conn *conn)
{
	if (cn_is_lent_anew(conn))
		return 1;
	return (cn_state(conn) == CN_ATTACHING || cn_state(conn) == CN_READY) &&
	       conn->transport.ops->pending(&conn->transport) &&
	       !cn_waits_for_program(conn);
}

int
cenote_wait_ms(const cenote_conn *conn)
{
	int64_t at, left;

	if (!conn)
		return -1;
	if (has_pending(conn))
		return 0;
	at = next_deadline(conn);
	if (at == 0)
		return -1;
	left = at - cn_now_ms();
	if (left < 0)
		return 0;
	return left > INT32_MAX ? INT32_MAX : (int)left;
}

/* Has a time limit passed? The limit of the attach ends the attach; the limit of the call ends only
 * the call. */
static int
check_deadlines(cenote_conn *conn)
{
	int64_t now;

	if (next_deadline(conn) == 0)
		return CENOTE_OK;
	now = cn_now_ms();
	if (is_attaching(conn) && conn->attach.deadline != 0 &&
		now >= conn->attach.deadline)
		return cn_attach_timeout(conn);
	if (conn->deadline != 0 && now >= conn->deadline) {
		cnc_diag_set(&conn->diag.d, CNC_SQLSTATE(TIMEOUT),
			"no answer within query_timeout (%s); the request is still "
			"running",
			cn_options_get(&conn->options, CN_OPTION_QUERY_TIMEOUT));
		return CENOTE_ERR_TIMEOUT;
	}
	return CENOTE_OK;
}

int
cn_wait(cenote_conn *conn)
{
	int wants = cenote_wants(conn);
	struct pollfd p = {
		.fd = wants ? conn->transport.fd : -1,
		.events = (short)((wants & CENOTE_WANTS_READ ? POLLIN : 0) |
				  (wants & CENOTE_WANTS_WRITE ? POLLOUT : 0)),
	};
	int r;

	r = check_deadlines(conn);
	if (r < 0)
		return r;
	if (poll(&p, 1, cenote_wait_ms(conn)) < 0 && errno != EINTR) {
		cnc_diag_set(&conn->diag.d, CNC_SQLSTATE(GENERAL), "poll: %s",
			cn_errno_text(errno));
		return CENOTE_ERR_NOMEM;
	}
	return CENOTE_OK;
}

enum cn_read
cn_how_to_read(const cenote_conn *conn)
{
	/* what poll() does not report is not in the socket, so nobody else waits for it */
	return conn->nonblocking == CENOTE_PASSIVE && !has_pending(conn) &&
			       (cn_state(conn) == CN_READY || cn_attaches_kept(conn))
		       ? CN_READ_STUCK
		       : CN_READ_NOW;
}

int
cn_progress(cenote_conn *conn)
{
	int r;

	if (conn->nonblocking != CENOTE_BLOCKING) {
		r = cn_advance(conn, cn_how_to_read(conn));
		if (r != CENOTE_AGAIN)
			return r;
		r = check_deadlines(conn);
		return r < 0 ? r : CENOTE_AGAIN;
	}
	r = cn_advance(conn, CN_READ_NOT);
	if (r != CENOTE_AGAIN)
		return r;
	r = cn_wait(conn);
	if (r < 0)
		return r;
	r = cn_advance(conn, CN_READ_NOW);
	return r == CENOTE_AGAIN ? CENOTE_OK : r;
}

int
cn_wait_for(cenote_conn *conn, int (*done)(const cenote_conn *conn))
{
	int r = CENOTE_OK;

	while (r == CENOTE_OK && !done(conn))
		r = cn_progress(conn);
	/* The last step may have completed the condition without being able to go on. */
	return r == CENOTE_AGAIN && done(conn) ? CENOTE_OK : r;
}

static int
is_flushed(const cenote_conn *conn)
{
	const uint8_t *bytes;

	switch (cn_state(conn)) {
	case CN_READY:
		return conn->is_write_broken ||
		       (cnp_client_output(&conn->session, &bytes) == 0 &&
			       !conn->transport.ops->unsent(&conn->transport));
	case CN_DETACHED:
		/* Do not get a session if there is nothing to send. */
		return conn->pipeline.n == conn->pipeline.n_finished;
	case CN_LOST:
	case CN_CLOSED:
		return 1;
	default:
		return conn->is_write_broken;
	}
}

static int
push(cenote_conn *conn)
{
	uint8_t was = conn->nonblocking;
	int r;

	/* The program gets the error of a lost session when it takes the results. */
	if (cn_flush(conn) == CENOTE_OK && is_flushed(conn))
		return CENOTE_OK;
	/* Leave answers in the socket: a program that polls after sending must find them there. */
	if (was == CENOTE_NONBLOCKING)
		conn->nonblocking = CENOTE_PASSIVE;
	r = cn_wait_for(conn, is_flushed);
	conn->nonblocking = was;
	return r == CENOTE_AGAIN ? CENOTE_OK : r;
}

int
cn_push(cenote_conn *conn)
{
	int r = push(conn);

	/* The module of a loan may have answered by itself. The program would wait for that on a silent socket. */
	if (r == CENOTE_OK && conn->nonblocking == CENOTE_PASSIVE && has_pending(conn))
		r = cn_advance(conn, CN_READ_NOW);
	return r == CENOTE_AGAIN ? CENOTE_OK : r;
}
