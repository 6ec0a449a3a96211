/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes from and to the server, in the clear or over TLS. This file waits for bytes, cuts them into messages, and asks
 * the host meanwhile whether to stop. It owns s->stream, s->out and s->stop. run.c and copy.c read messages here. All
 * files that make messages put them into s->out.
 */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "session.h"

#define IN_BYTES     65536u
/* A longer row goes into the batch piece by piece, so that it is in memory only once. */
#define LONG_ROW     (1024u * 1024u)
/* The limit of the receive buffer. It must also hold what the server sends while we send something large. */
#define IN_MAX       (CND_PG_MSG_MAX + 64u * 1024u * 1024u)
/* How long a server has to obey a cancel, and a cancel for a client that is gone. */
#define CANCEL_MS    30000
#define ABANDON_MS   5000
/* A server that has not begun with the statement ignores a cancel. So the cancel is repeated, with growing pauses. */
#define AGAIN_MS     100
#define AGAIN_MAX_MS 2000

/* ---- the loss of the session ---- */

int
cnd_pg_lost(struct cnd_session *s, const char *sqlstate, const char *format, ...)
{
	char text[CNC_DIAG_MESSAGE_MAX];
	va_list args;

	va_start(args, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is not */
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!s->is_lost) {
		s->is_lost = 1;
		cnc_diag_set(&s->lost, sqlstate, "%s", text);
	}
	if (s->diag)
		cnc_diag_copy(s->diag, &s->lost);
	return CENOTE_ERR_CONN;
}

int
cnd_pg_broken(struct cnd_session *s, const char *what)
{
	return cnd_pg_lost(s, CNC_SQLSTATE(PROTOCOL),
		"the server %s sent something that is not PostgreSQL's protocol: %s",
		s->server, what);
}

/* ---- plain sockets ---- */

static ptrdiff_t
plain_receive(struct cnd_session *s, uint8_t *room, size_t n, short *ret_events)
{
	ssize_t got;

	do {
		got = recv(s->fd, room, n, MSG_DONTWAIT);
	} while (got < 0 && errno == EINTR);
	if (got < (ssize_t)n && s->host->drained != NULL)
		s->host->drained(s->host, s->fd);
	if (got > 0)
		return got;
	*ret_events = POLLIN;
	if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return 0;
	if (got == 0)
		return cnd_pg_lost(s, CNC_SQLSTATE(CONNECTION_LOST),
			"the server %s closed the connection unexpectedly", s->server);
	return cnd_pg_lost(s, CNC_SQLSTATE(CONNECTION_LOST),
		"the connection to %s was lost: %s", s->server, strerror(errno));
}

static ptrdiff_t
plain_send(struct cnd_session *s, const uint8_t *bytes, size_t n, short *ret_events)
{
	ssize_t sent;

	do {
		sent = send(s->fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	if (sent >= 0)
		return sent;
	*ret_events = POLLOUT;
	if (errno == EAGAIN || errno == EWOULDBLOCK)
		return 0;
	/* The caller reads the server's last messages, which say why. */
	*ret_events = 0;
	return CENOTE_ERR_CONN;
}

const struct cnd_pg_transport cnd_pg_plain = { plain_receive, plain_send };

/* ---- life ---- */

void
cnd_pg_stream_finish(struct cnd_session *s)
{
	cnc_free(s->mem, s->stream.in);
	s->stream.in = NULL;
	s->stream.cap = s->stream.head = s->stream.tail = 0;
	cnc_buf_finish(&s->out.buf);
}

/* ---- waiting ---- */

/* Ask the server to stop. The request's answer then comes as usual. */
static void
send_cancel(struct cnd_session *s)
{
	if (s->cancel(s, ABANDON_MS) == CENOTE_ERR_TIMEOUT)
		(void)cnd_pg_lost(s, CNC_SQLSTATE(CONNECTION_LOST),
			"the server %s does not answer a cancel request", s->server);
}

static void
send_cancel_again(struct cnd_session *s)
{
	if (s->stop.again_ms < AGAIN_MAX_MS)
		s->stop.again_ms *= 2;
	send_cancel(s);
}

void
cnd_pg_stop(struct cnd_session *s, int why)
{
	if (s->stop.status != CENOTE_OK)
		return;
	s->stop.status = why;
	s->stop.again_ms = AGAIN_MS;
	s->stop.until_ms =
		cnd_clock_ms() + (why == CENOTE_ERR_CONN ? ABANDON_MS : CANCEL_MS);
	send_cancel(s);
}

static int
host_wait(struct cnd_session *s, short events)
{
	int r = s->host->wait(s->host, s->fd, events, -1, &s->stop.diag);

	if (r >= 0)
		return r;
	cnd_pg_stop(s, r);
	return s->is_lost ? CENOTE_ERR_CONN : CENOTE_OK;
}

static int
disobeyed(struct cnd_session *s)
{
	return cnd_pg_lost(s, CNC_SQLSTATE(CONNECTION_LOST),
		"the server %s did not obey a cancel request in time", s->server);
}

/* Wait for poll events on the server's socket. If the host says stop, send a cancel, and repeat it after pauses. */
static int
wait_for_server(struct cnd_session *s, short events)
{
	int64_t left;

	if (s->stop.status == CENOTE_OK)
		return host_wait(s, events);
	left = s->stop.until_ms - cnd_clock_ms();
	if (left <= 0)
		return disobeyed(s);
	if (s->host->pause(s->host, s->fd, events,
		    left < s->stop.again_ms ? (int)left : s->stop.again_ms) == 0)
		send_cancel_again(s);
	return s->is_lost ? CENOTE_ERR_CONN : CENOTE_OK;
}

/* ---- receiving ---- */

/* Make room for `need` bytes, counted from the first unread byte. */
static int
make_room(struct cnd_pg_stream *st, const struct cenote_allocator *mem, size_t need)
{
	size_t len = st->tail - st->head;
	uint8_t *grown;

	if (st->head > 0 && (len == 0 || st->cap - st->head < need)) {
		if (len > 0)
			memmove(st->in, st->in + st->head, len);
		st->head = 0;
		st->tail = len;
	}
	if (need < IN_BYTES)
		need = IN_BYTES;
	/* A big message was consumed: free its memory. */
	if (len == 0 && st->cap > need) {
		cnc_free(mem, st->in);
		st->in = NULL;
		st->cap = 0;
	}
	if (st->cap - st->head >= need)
		return CENOTE_OK;
	if (need > IN_MAX)
		return CENOTE_ERR_LIMIT;
	grown = cnc_realloc(mem, st->in, need);
	if (grown == NULL)
		return CENOTE_ERR_NOMEM;
	st->in = grown;
	st->cap = need;
	return CENOTE_OK;
}

/* Receive what has come. 1; 0: nothing came, and *ret_events says what to wait for; negative. */
static int
receive(struct cnd_session *s, size_t need, short *ret_events)
{
	ptrdiff_t got;
	int r;

	r = make_room(&s->stream, s->mem, need);
	if (r < 0)
		return cnd_pg_lost(s, CNC_SQLSTATE(NO_MEMORY),
			"no memory for a message of %zu bytes from %s", need, s->server);
	got = s->stream.transport->receive(s, s->stream.in + s->stream.tail,
		s->stream.cap - s->stream.tail, ret_events);
	if (got <= 0)
		return (int)got;
	s->stream.tail += (size_t)got;
	s->stream.is_dry = s->stream.ssl == NULL && s->stream.tail < s->stream.cap;
	return 1;
}

/* The next message, if all of it has come. Returns as cnd_pg_msg_next(). */
static int
peek_message(const struct cnd_pg_stream *st, struct cnd_pg_msg *ret_msg, size_t *ret_need)
{
	return st->tail == st->head ? 0
				    : cnd_pg_msg_next(st->in + st->head,
					      st->tail - st->head, ret_msg, ret_need);
}

/* Take the next message. 1; 0: *ret_need bytes are needed; negative. */
static int
take_message(struct cnd_session *s, struct cnd_pg_msg *ret_msg, size_t *ret_need)
{
	int r = peek_message(&s->stream, ret_msg, ret_need);

	if (r < 0)
		return cnd_pg_broken(s, "a message of an impossible length");
	s->stream.head += (size_t)r;
	return r > 0;
}

int
cnd_pg_has_message(const struct cnd_pg_stream *st)
{
	struct cnd_pg_msg m;
	size_t size;

	return peek_message(st, &m, &size) != 0;
}

int
cnd_pg_poll(struct cnd_session *s, struct cnd_pg_msg *ret_msg)
{
	size_t need = CND_PG_HEADER;
	short events;
	int r;

	if (s->is_lost)
		return CENOTE_ERR_CONN;
	for (;;) {
		r = take_message(s, ret_msg, &need);
		if (r != 0)
			return r < 0 ? r : CENOTE_OK;
		r = receive(s, need, &events);
		if (r <= 0)
			return r < 0 ? r : CENOTE_AGAIN;
	}
}

/* Ask the host whether to stop. The waits ask, too, but a server that sends without a pause is never waited for. */
static int
look(struct cnd_session *s)
{
	int r;

	if (s->stop.status != CENOTE_OK)
		return cnd_clock_ms() < s->stop.until_ms ? CENOTE_OK : disobeyed(s);
	r = s->host->interrupted(s->host, &s->stop.diag);
	if (r < 0)
		cnd_pg_stop(s, r);
	return s->is_lost ? CENOTE_ERR_CONN : CENOTE_OK;
}

/* Receive some of `need` bytes, counted from the first unread byte, or wait for them. */
static int
await(struct cnd_session *s, size_t need)
{
	short events = POLLIN;
	int is_dry, r = look(s);

	if (r < 0)
		return r;
	is_dry = s->stream.is_dry;
	s->stream.is_dry = 0;
	r = is_dry ? 0 : receive(s, need, &events);
	if (r == 0)
		r = wait_for_server(s, events);
	return r < 0 ? r : CENOTE_OK;
}

/* Wait for the next message. With `takes_rows`, the body of a long row may still be missing. Then it is NULL. */
static int
next_message(struct cnd_session *s, int takes_rows, struct cnd_pg_msg *ret_msg)
{
	struct cnd_pg_stream *st = &s->stream;
	size_t need = CND_PG_HEADER;
	int r;

	for (;;) {
		r = take_message(s, ret_msg, &need);
		if (r != 0)
			return r < 0 ? r : CENOTE_OK;
		if (takes_rows && need > LONG_ROW && st->in[st->head] == 'D')
			break;
		r = await(s, need);
		if (r < 0)
			return r;
	}
	st->head += CND_PG_HEADER;
	st->row_left = need - CND_PG_HEADER;
	*ret_msg = (struct cnd_pg_msg){ 'D', NULL, st->row_left };
	return CENOTE_OK;
}

int
cnd_pg_next(struct cnd_session *s, struct cnd_pg_msg *ret_msg)
{
	return next_message(s, 0, ret_msg);
}

/* ---- a long row ---- */

int
cnd_pg_next_or_row(struct cnd_session *s, struct cnd_pg_msg *ret_msg)
{
	return next_message(s, 1, ret_msg);
}

int
cnd_pg_row_take(struct cnd_session *s, size_t n, const uint8_t **ret_bytes)
{
	struct cnd_pg_stream *st = &s->stream;

	if (n > st->row_left)
		return CENOTE_ERR_PROTOCOL;
	while (st->tail - st->head < n) {
		int r = await(s, n);

		if (r < 0)
			return r;
	}
	*ret_bytes = st->in + st->head;
	st->head += n;
	st->row_left -= n;
	return CENOTE_OK;
}

int
cnd_pg_row_read(struct cnd_session *s, uint8_t *to, size_t n)
{
	struct cnd_pg_stream *st = &s->stream;

	if (n > st->row_left)
		return CENOTE_ERR_PROTOCOL;
	while (n > 0) {
		size_t some = st->tail - st->head;
		int r;

		if (some == 0) {
			r = await(s, IN_BYTES);
			if (r < 0)
				return r;
			continue;
		}
		if (some > n)
			some = n;
		if (to != NULL) {
			memcpy(to, st->in + st->head, some);
			to += some;
		}
		st->head += some;
		st->row_left -= some;
		n -= some;
	}
	return CENOTE_OK;
}

/* ---- sending ---- */

/* The server may wait until we read before it reads on. So receive while waiting. */
static int
wait_to_send(struct cnd_session *s, short events)
{
	size_t len = s->stream.tail - s->stream.head;
	short unused;
	int r = wait_for_server(s, (short)(events | POLLIN));

	if (r < 0 || s->stream.ssl != NULL)
		return r;
	if (len >= IN_MAX)
		return cnd_pg_broken(s, "too much while it was being sent something");
	return receive(s, len + IN_BYTES < IN_MAX ? len + IN_BYTES : IN_MAX, &unused);
}

/* The server closed its end while we were sending. Report its last error, which may say why. */
static int
read_last_words(struct cnd_session *s)
{
	struct cnd_pg_msg m;

	while (cnd_pg_poll(s, &m) == CENOTE_OK) {
		if (m.type != 'E')
			continue;
		s->is_lost = 1;
		(void)cnd_pg_diag(&s->lost, m.body, m.len, s->server);
	}
	return cnd_pg_lost(s, CNC_SQLSTATE(CONNECTION_LOST),
		"the server %s closed the connection unexpectedly", s->server);
}

/* Drop what was received up to and with `token`. 1: it was there; 0: all but its possible beginning was dropped. */
static int
drop_to(struct cnd_pg_stream *st, const uint8_t *token, size_t n)
{
	size_t len = st->tail - st->head;
	const uint8_t *at = len > 0 ? memmem(st->in + st->head, len, token, n) : NULL;

	if (at != NULL)
		st->head = (size_t)(at - st->in) + n;
	else if (len >= n)
		st->head = st->tail - (n - 1);
	return at != NULL;
}

/* Send what is in s->out as far as possible, and receive. 1: `token` came; 0: nothing came, wait for *ret_events; 2: go
 * on; negative: the session is lost. */
static int
exchange_to(struct cnd_session *s, const uint8_t *token, size_t n, short *ret_events)
{
	struct cnc_buf *b = &s->out.buf;
	short in = POLLIN;
	ptrdiff_t r = 0;

	*ret_events = POLLIN;
	if (cnc_buf_len(b) > 0)
		r = s->stream.transport->send(
			s, cnc_buf_head(b), cnc_buf_len(b), ret_events);
	if (r < 0)
		return read_last_words(s);
	cnc_buf_consume(b, (size_t)r);
	r = receive(s, s->stream.tail - s->stream.head + IN_BYTES, &in);
	if (r <= 0)
		return (int)r;
	return drop_to(&s->stream, token, n) ? 1 : 2;
}

int
cnd_pg_skip_to(struct cnd_session *s, const uint8_t *token, size_t n, int timeout_ms)
{
	int64_t until = cnd_clock_ms() + timeout_ms;
	int64_t left;

	while ((left = until - cnd_clock_ms()) > 0) {
		short events;
		int r = exchange_to(s, token, n, &events);

		if (r < 0 || r == 1)
			return r < 0 ? r : CENOTE_OK;
		if (r == 0 && s->host->wait(s->host, s->fd, (short)(events | POLLIN),
				      (int)left, &s->stop.diag) < 0)
			return cnd_pg_lost(
				s, s->stop.diag.sqlstate, "%s", s->stop.diag.message);
	}
	return CENOTE_AGAIN;
}

int
cnd_pg_send(struct cnd_session *s)
{
	struct cnc_buf *b = &s->out.buf;

	/* what follows a reset belongs to the next client */
	if (s->early.n_ready > 0)
		return cnd_pg_lost(s, CNC_SQLSTATE(INTERNAL), "%s",
			"the session was used after its reset");
	s->early.n_ready = s->out.n_early;
	s->out.n_early = 0;
	s->sync.n_ready += s->out.n_ready;
	if (s->out.is_unsynced && !s->sync.is_missing) {
		s->sync.n_before = s->out.n_before;
		s->sync.is_missing = 1;
	}
	s->out.n_ready = s->out.is_unsynced = 0;
	while (cnc_buf_len(b) > 0) {
		short events = 0;
		ptrdiff_t n = s->stream.transport->send(
			s, cnc_buf_head(b), cnc_buf_len(b), &events);
		int r;

		if (n < 0)
			return read_last_words(s);
		cnc_buf_consume(b, (size_t)n);
		s->stream.is_dry = s->stream.ssl == NULL;
		if (n > 0)
			continue;
		r = wait_to_send(s, events);
		if (r < 0)
			return r;
	}
	return CENOTE_OK;
}
