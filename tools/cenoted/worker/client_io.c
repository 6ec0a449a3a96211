/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client's bytes: its socket, in the clear or through TLS, and the time limits for reading and
 * writing. Owns the descriptor in w->client. Everything in the worker that talks to a client calls
 * this file.
 */
#include "worker.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/sqlstate.h"
#include "loop.h"
#include "shared/ipc.h"

/* How many reads drop the bytes that a parting client still sends. */
#define DROPS_MAX 64

void
cnd_client_watch(struct cnd_worker *w)
{
	if (w->seat != NULL)
		cnd_seat_watch(w->seat, w->client.fd);
}

/* The descriptor is about to be closed, or the client's socket to change its owner. */
static void
unwatch(struct cnd_worker *w)
{
	if (w->seat != NULL && w->client.fd >= 0)
		cnd_seat_unwatch(w->seat, w->client.fd);
}

void
cnd_client_drop_input(int fd)
{
	uint8_t room[4096];

	for (int i = 0; i < DROPS_MAX && recv(fd, room, sizeof(room), MSG_DONTWAIT) > 0;
		i++)
		;
}

void
cnd_client_close(struct cnd_worker *w)
{
	struct cnd_worker_client *c = &w->client;

	unwatch(w);
	cnd_channel_finish(&c->channel);
	if (c->fd < 0)
		return;
	/* the door may hold the socket a moment longer; the client should see the end now */
	if (c->is_handed_over)
		shutdown(c->fd, SHUT_RDWR);
	close(c->fd);
	c->fd = -1;
}

int
cnd_client_has_gone(const struct cnd_worker_client *c)
{
	struct pollfd poll_fd = { .fd = c->fd, .events = POLLRDHUP };

	return poll(&poll_fd, 1, 0) > 0 &&
	       (poll_fd.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/* When a client that holds something has stayed too long. */
static int64_t
session_limit(const struct cnd_worker *w)
{
	return w->config->session_timeout_ms > 0
		       ? w->client.attached_ms + w->config->session_timeout_ms
		       : CND_NEVER;
}

int64_t
cnd_client_idle_limit(const struct cnd_worker *w)
{
	return w->config->idle_client_timeout_ms > 0
		       ? w->client.active_ms + w->config->idle_client_timeout_ms
		       : CND_NEVER;
}

/* When a client that leaves a transaction open has sent nothing for too long. */
static int64_t
transaction_limit(const struct cnd_worker *w)
{
	return w->config->idle_transaction_timeout_ms > 0 && w->slot->tx != CENOTE_TX_IDLE
		       ? w->client.active_ms + w->config->idle_transaction_timeout_ms
		       : CND_NEVER;
}

/* When the client's time ends (allow_hours). It may finish its transaction. */
static int64_t
hours_limit(const struct cnd_worker *w)
{
	return w->slot->tx == CENOTE_TX_IDLE ? w->client.hours_end_ms : CND_NEVER;
}

static int64_t
earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int64_t
cnd_client_limit(const struct cnd_worker *w)
{
	int64_t idle = earlier(cnd_client_idle_limit(w), cnd_pins_limit(w));

	return earlier(earlier(session_limit(w), transaction_limit(w)),
		earlier(idle, hours_limit(w)));
}

void
cnd_client_note_activity(struct cnd_worker *w)
{
	if (w->config->idle_client_timeout_ms > 0 ||
		w->config->idle_transaction_timeout_ms > 0)
		w->client.active_ms = cnd_now_ms();
}

const char *
cnd_client_limit_text(
	const struct cnd_worker *w, int64_t now, char to[CND_LIMIT_TEXT_MAX])
{
	const char *name = w->config->name;
	char pins[CND_PINS_TEXT_MAX];

	if (now >= transaction_limit(w)) {
		(void)snprintf(to, CND_LIMIT_TEXT_MAX,
			"pool %s: idle in a transaction for longer than "
			"idle_transaction_timeout allows; begin the transaction again",
			name);
		return CNC_SQLSTATE(TX_IDLE);
	}
	if (now >= hours_limit(w)) {
		(void)snprintf(to, CND_LIMIT_TEXT_MAX,
			"pool %s: the time in which user %s may be in has ended "
			"(allow_hours)",
			name, w->client.user);
		return CNC_SQLSTATE(SHUTDOWN);
	}
	if (now >= cnd_client_idle_limit(w) || now >= session_limit(w))
		(void)snprintf(to, CND_LIMIT_TEXT_MAX, "pool %s: %s allows", name,
			now >= cnd_client_idle_limit(w)
				? "idle for longer than idle_client_timeout"
				: "attached for longer than session_timeout");
	else
		(void)snprintf(to, CND_LIMIT_TEXT_MAX,
			"pool %s: kept by %s for longer than pin_timeout allows", name,
			cnd_pins_text(w->slot->pinned, pins));
	return CNC_SQLSTATE(IDLE_TIMEOUT);
}

void
cnd_client_take_handed(struct cnd_worker *w, const struct cnd_ipc *m)
{
	struct cnd_worker_client *c = &w->client;

	c->fd = m->fds[0];
	c->is_handed_over = true;
	c->is_routed = m->kind == CND_IPC_ROUTED;
	c->peer = m->peer;
	c->n_handed = m->n_bytes;
	memcpy(c->handed, m->bytes, m->n_bytes);
	cnd_client_watch(w);
}

/* Wait until the client reads. A slow reader costs only its own worker's time, and no memory. A
 * client without a session must not take longer than a login may. */
static int
wait_for_reader(struct cnd_worker *w)
{
	int64_t idle = cnd_client_idle_limit(w);
	int64_t until = idle < w->client.login_until_ms ? idle : w->client.login_until_ms;
	int events = cnd_worker_wait(w, w->client.fd, POLLOUT | POLLRDHUP, until);

	if (events & (POLLRDHUP | POLLHUP | POLLERR) ||
		cnd_worker_order(w) == CND_ORDER_NOW ||
		(until != CND_NEVER && cnd_now_ms() >= until)) {
		w->serving.is_gone = true;
		return CENOTE_ERR_CONN;
	}
	return CENOTE_OK;
}

/* Send the bytes that TLS accepted and the socket has not taken. */
static int
flush_secure(struct cnd_worker *w)
{
	while (cnd_channel_flush(&w->client.channel) < 0) {
		if (errno != EAGAIN) {
			w->serving.is_gone = true;
			return CENOTE_ERR_CONN;
		}
		if (wait_for_reader(w) < 0)
			return CENOTE_ERR_CONN;
	}
	return CENOTE_OK;
}

int
cnd_client_flush(struct cnd_worker *w)
{
	const uint8_t *bytes;
	size_t n;

	while ((n = cnp_server_output(&w->client.server, &bytes)) > 0) {
		ssize_t sent =
			cnd_channel_write(&w->client.channel, w->client.fd, bytes, n);

		if (sent > 0) {
			cnp_server_sent(&w->client.server, (size_t)sent);
			cnd_client_note_activity(w);
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN) {
			w->serving.is_gone = true;
			return CENOTE_ERR_CONN;
		}
		if (wait_for_reader(w) < 0)
			return CENOTE_ERR_CONN;
	}
	return w->client.channel.tls == NULL ? CENOTE_OK : flush_secure(w);
}

int
cnd_client_receive(struct cnd_worker *w)
{
	struct cnd_worker_client *c = &w->client;
	uint8_t *room;
	size_t size;
	ssize_t n;

	if (cnp_server_room(&c->server, &room, &size) < 0)
		return CENOTE_ERR_CONN;
	n = cnd_channel_read(&c->channel, c->fd, room, size);
	if (c->seat != NULL && c->channel.tls == NULL && n < (ssize_t)size)
		cnd_seat_drained(c->seat, c->fd);
	if (n > 0) {
		cnp_server_received(&c->server, (size_t)n);
		return 1;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	w->serving.is_gone = true;
	return CENOTE_ERR_CONN;
}

int
cnd_client_poll(struct cnd_worker *w, struct pollfd *fds, nfds_t n, int64_t until_ms)
{
	if (!cnd_channel_pending(&w->client.channel))
		return cnd_worker_poll(w, fds, n, until_ms);
	for (nfds_t i = 0; i < n; i++)
		fds[i].revents = 0;
	fds[0].revents = POLLIN;
	return 1;
}

int
cnd_client_hand_over(struct cnd_worker *w, uint32_t kind, uint32_t index,
	const uint8_t *bytes, size_t n)
{
	struct cnd_ipc m = { .kind = kind,
		.index = index,
		.n_fds = 1,
		.fds = { w->client.fd },
		.peer = w->client.peer };

	if (n > CND_IPC_BYTES_MAX)
		return -1;
	m.n_bytes = (uint32_t)n;
	if (n > 0)
		memcpy(m.bytes, bytes, n);
	if (cnd_ipc_send(w->inbox_fd, &m) < 0)
		return -1;
	unwatch(w);
	/* the door has its own copy, which must stay open */
	close(w->client.fd);
	w->client.fd = -1;
	return 0;
}

int
cnd_client_send_on(struct cnd_worker *w, uint32_t kind, uint32_t slot)
{
	const uint8_t *bytes;
	size_t n = cnp_server_raw(&w->client.server, &bytes);

	return cnd_client_hand_over(w, kind, slot, bytes, n);
}
