/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waits for the server. Meanwhile it asks the host whether to stop, and sends KILL QUERY if the host
 * says so. Owns s->wait. The client library calls it through a hook; other files call it where the
 * library would block.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>

#include "my.h"

/* How long the server may take to end a statement after KILL QUERY. */
#define OBEY_MS           10000
/* Time limit of the connection that sends KILL QUERY. */
#define CANCEL_SECONDS    5u
/* Under TLS the library does not say what it waits for. It gets to look at the socket at this
 * interval. */
#define TLS_LOOK_MS       50
/* In a handshake, the library asks for a wait of 5 ms, or of the seconds of its limit as
 * milliseconds. If nothing came by then, it takes that for a timeout. All its other limits are whole
 * seconds, so a wait below this one belongs to a handshake. */
#define HANDSHAKE_LOOK_MS 1000
#define HANDSHAKE_MS      60000

/* The library's hook has no room for a pointer. A worker has one session, and calls of several never overlap. */
static struct cnd_session *waiting;

void
cnd_my_wait_for(struct cnd_session *s)
{
	waiting = s;
}

static int
plain_poll(int fd, short events, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = events };
	int r;

	do {
		r = poll(&p, 1, timeout_ms);
	} while (r < 0 && errno == EINTR);
	return r;
}

/* Send KILL QUERY from a second connection, as the same user. */
static int
send_kill(struct cnd_session *s)
{
	struct cnd_session *was_waiting = waiting;
	MYSQL *other = NULL;
	char sql[48];
	int r;

	waiting = NULL;
	r = cnd_my_connect(s, CANCEL_SECONDS, &other);
	if (r == CENOTE_OK) {
		snprintf(sql, sizeof(sql), "KILL QUERY %lu", s->thread_id);
		if (mysql_query(other, sql) != 0)
			r = CENOTE_ERR_SERVER;
	}
	if (r < 0)
		s->host->log(s->host, LOG_WARNING, "cannot stop a statement on %s: %s",
			s->server, other ? mysql_error(other) : "out of memory");
	if (other)
		mysql_close(other);
	waiting = was_waiting;
	return r;
}

void
cnd_my_cancel(struct cnd_session *s)
{
	if (s->wait.is_killed || s->is_lost || !s->thread_id)
		return;
	s->wait.is_killed = 1;
	/* if KILL QUERY cannot be sent, do not wait for the server to obey */
	s->wait.obey_until_ms =
		cnd_clock_ms() + (send_kill(s) == CENOTE_OK ? OBEY_MS : 0);
}

int
cnd_my_interrupted(struct cnd_session *s)
{
	if (s->stop != 0)
		return s->stop;
	s->stop = s->host->interrupted(s->host, s->diag);
	if (s->stop > 0)
		s->stop = 0;
	if (s->stop < 0)
		cnd_my_cancel(s);
	return s->stop;
}

/* Returns the events, 0 on timeout, or -1. */
static int
wait_for(struct cnd_session *s, int fd, short events, int timeout_ms)
{
	int64_t left;
	int r;

	if (s->stop == 0) {
		r = s->host->wait(s->host, fd, events, timeout_ms, s->diag);
		if (r >= 0)
			return r;
		s->stop = r;
		/* during a login there is no statement to stop, only the login itself */
		if (s->is_logging_in)
			return -1;
		cnd_my_cancel(s);
	}
	left = s->wait.obey_until_ms - cnd_clock_ms();
	if (s->is_logging_in || left <= 0)
		return 0;
	if (timeout_ms < 0 || timeout_ms > left)
		timeout_ms = (int)left;
	return plain_poll(fd, events, timeout_ms);
}

/* The time limit for a wait under TLS; 0: none. */
static int64_t
tls_limit_ms(const struct cnd_session *s)
{
	if (!s->is_logging_in)
		return (int64_t)s->opt.read_timeout * 1000;
	return s->opt.connect_timeout > 0 ? (int64_t)s->opt.connect_timeout * 1000
					  : HANDSHAKE_MS;
}

/* Wait under TLS or in a handshake. The library says "read" even when it waits to write, and its time
 * limit is wrong. */
static int
wait_tls(struct cnd_session *s, int fd)
{
	int can_write = plain_poll(fd, POLLOUT, 0) > 0;
	short events = (short)(can_write ? POLLIN : POLLIN | POLLOUT);
	int64_t limit_ms = tls_limit_ms(s), until = cnd_clock_ms() + limit_ms;
	int r = wait_for(s, fd, events, TLS_LOOK_MS);

	if (r != 0) {
		s->wait.tls_until_ms = 0;
		return r;
	}
	if (s->stop < 0)
		return cnd_clock_ms() < s->wait.obey_until_ms ? 1 : 0;
	if (limit_ms > 0) {
		if (s->wait.tls_until_ms == 0)
			s->wait.tls_until_ms = until;
		else if (cnd_clock_ms() > s->wait.tls_until_ms)
			return 0;
	}
	return 1;
}

int
cnd_my_on_wait(my_socket fd, cnd_my_bool is_read, int timeout_ms)
{
	struct cnd_session *s = waiting;
	int r;

	if (timeout_ms == 0)
		timeout_ms = -1;
	if (!s || !s->host->wait)
		r = plain_poll((int)fd, is_read ? POLLIN : POLLOUT, timeout_ms);
	else if (s->is_tls || (timeout_ms > 0 && timeout_ms < HANDSHAKE_LOOK_MS))
		r = wait_tls(s, (int)fd);
	else
		r = wait_for(s, (int)fd, is_read ? POLLIN : POLLOUT, timeout_ms);
	if (r == 0)
		errno = ETIMEDOUT;
	return r > 0 ? 1 : r;
}

void
cnd_my_on_progress(const MYSQL *my, unsigned stage, unsigned n_stages, double percent,
	const char *doing, unsigned n_doing)
{
	const struct cnd_my_progress p = { stage, n_stages,
		(unsigned)(percent * 1000 + 0.5), doing, n_doing };

	if (waiting && waiting->my == my)
		cnd_my_tell_progress(waiting, &p);
}

/* Wait for the server's next answer, where the library does not call the hook before it waits. */
static int
await(struct cnd_session *s)
{
	int fd = cnd_my_fd(s);
	int r = s->host->wait ? wait_for(s, fd, POLLIN, -1) : plain_poll(fd, POLLIN, -1);

	if (r > 0)
		return CENOTE_OK;
	/* break the connection, or the library would go on waiting */
	cnd_my_break(s->my);
	s->is_lost = 1;
	return CENOTE_ERR_CONN;
}

int
cnd_my_await_answer(struct cnd_session *s)
{
	if (!s->host->wait)
		return CENOTE_OK;
	if (!s->wait.is_hooked)
		return await(s);
	/* a timeout that ends this wait also ends the library's own */
	if (!s->is_tls && s->opt.read_timeout == 0)
		(void)wait_for(s, cnd_my_fd(s), POLLIN, -1);
	return CENOTE_OK;
}

void
cnd_my_look(struct cnd_session *s, int done_fd)
{
	if (wait_for(s, done_fd, POLLIN, -1) > 0)
		return;
	cnd_my_break(s->my);
	s->is_lost = 1;
}

int
cnd_my_next_result(struct cnd_session *s)
{
	enum cnd_my_next next;
	int r;

	while ((next = cnd_my_try_next(s->my)) == CND_MY_NEXT_LATER) {
		r = await(s);
		if (r < 0)
			return r;
	}
	return next == CND_MY_NEXT_FAILED ? cnd_my_failed(s, NULL) : CENOTE_OK;
}
