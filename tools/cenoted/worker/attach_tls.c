/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TLS between a client's opening and its first frame: HELLO, then the handshake. attach.c calls
 * it.
 */
#include "worker.h"

#include <poll.h>

#include "shared/answer.h"
#include "shared/log.h"

static int
shake_hands(struct cnd_worker *w, int64_t until)
{
	struct cnd_channel *c = &w->client.channel;
	int r;

	while ((r = c->ops->handshake(c->tls)) == CENOTE_AGAIN) {
		cnd_worker_wait(w, w->client.fd,
			c->ops->unsent(c->tls) ? POLLIN | POLLOUT : POLLIN, until);
		if (cnd_now_ms() >= until || cnd_worker_order(w) == CND_ORDER_NOW)
			return CENOTE_ERR_TIMEOUT;
	}
	return r;
}

static int
begin_tls(struct cnd_worker *w, int64_t until)
{
	char text[CND_TLS_TEXT_MAX];
	char from[CND_PEER_TEXT_MAX];
	int r = cnd_channel_secure(&w->client.channel, w->client.fd, w->tls);

	if (r == CENOTE_OK)
		r = shake_hands(w, until);
	if (r == CENOTE_OK) {
		cnd_channel_text(&w->client.channel, text, sizeof(text));
		cnd_log(LOG_DEBUG, "client at %s: %s",
			cnd_peer_text(&w->client.peer, from), text);
		return CENOTE_OK;
	}
	/* the client gets a TLS alert; nothing else can reach it now */
	w->serving.is_gone = true;
	if (r != CENOTE_ERR_NOMEM)
		cnd_log(LOG_WARNING, "client at %s: TLS: %s",
			cnd_peer_text(&w->client.peer, from),
			r == CENOTE_ERR_TIMEOUT
				? "the handshake took too long"
				: w->client.channel.ops->error(w->client.channel.tls));
	return CENOTE_ERR_CONN;
}

int
cnd_attach_answer_tls(struct cnd_worker *w, int64_t until)
{
	int r;

	if (w->client.server.opening.tls == CNP_TLS_NONE)
		return CENOTE_OK;
	r = cnd_auth_hello(w, w->tls != NULL);
	if (r == CENOTE_OK)
		r = cnd_client_flush(w);
	return r == CENOTE_OK && w->tls != NULL ? begin_tls(w, until) : r;
}
