/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a client changes from its own session to the listening session when it yields, and back when it attaches.
 *
 * While a client has a session, that session listens for it, so everything is as without a pool. During a change both sessions
 * listen for a moment. A mark decides which of the two passes a notification on. The mark is a notification that the client's
 * session sends on a channel with a random name. The server has one queue with the same order for all sessions, so both sessions
 * receive the mark at the same place. When a client yields, its own session passes on what comes before the mark, and the
 * listening session what comes after it. When a client attaches, it is the other way round. Other clients may see the name of the
 * channel in the server's list of sessions. They cannot send a mark: it counts only from the server process of the client's session.
 *
 * client.c and attach.c call this file on the seat of the client's session.
 */
#include "listening_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/sqlstate.h"

/* How long a change may take. */
#define CHANGE_MS     10000
#define MARK_TEXT_MAX 24u

/* What the client's own session receives while it sends a mark. */
struct mark_sink {
	struct cnd_sink sink;
	struct cnd_worker *worker;
	char text[MARK_TEXT_MAX];
	bool has_come;
	/* the client yields: pass on what comes before the mark; otherwise, what comes after it */
	bool is_leaving;
	struct cnc_buf after; /* what came after the mark, as frames */
};

static int
on_own(struct cnd_sink *sink, const struct cnp_notification *n)
{
	struct mark_sink *k = (struct mark_sink *)(void *)sink;
	struct cnd_worker *w = k->worker;
	struct cnp_msg m = { .code = CNP_MSG_NOTIFICATION, .as.notification = *n };

	if (n->pid == w->client.subscriber->mark_pid &&
		strcmp(n->payload.p, k->text) == 0 &&
		strcmp(n->channel.p, w->shared->listening.mark_channel) == 0) {
		k->has_come = true;
		return CENOTE_OK;
	}
	if (k->is_leaving)
		return k->has_come
			       ? CENOTE_OK
			       : w->serving.sink.ops->notification(&w->serving.sink, n);
	m.as.notification.pid = 0;
	return k->has_come ? cnp_frame_put(&k->after, 0, 0, &m) : CENOTE_OK;
}

static const struct cnd_sink_ops mark_ops = {
	.notification = on_own,
	.notice = cnd_listening_ignore_notice,
};

static void
choose_mark_channel(struct cnd_worker *w)
{
	struct cnd_listening *l = &w->shared->listening;

	if (l->mark_channel[0] == '\0')
		(void)snprintf(l->mark_channel, sizeof(l->mark_channel),
			"c%016" PRIx64 "%016" PRIx64, cnd_worker_random(&w->random),
			cnd_worker_random(&w->random));
}

static void
begin_mark(struct cnd_worker *w, struct mark_sink *k, enum cnd_hearing hearing)
{
	struct cnd_subscriber *c = w->client.subscriber;

	*k = (struct mark_sink){ .sink = { .ops = &mark_ops, .diag = &w->serving.diag },
		.worker = w,
		.is_leaving = hearing == CND_UNTIL_MARK };
	cnc_buf_init(&k->after, &cnc_mem_default, CND_PENDING_MAX);
	c->mark = ++w->shared->listening.n_marks;
	c->mark_pid = (uint32_t)strtoul(
		cnd_login_parameter(&w->login, CND_BACKEND_PID), NULL, 10);
	c->hearing = (uint8_t)hearing;
	w->serving.own_pid = c->mark_pid;
	(void)snprintf(k->text, sizeof(k->text), "%" PRIu64, c->mark);
}

/* Listen on `names` and on the mark's channel, and send the mark. CENOTE_OK: the session has received it. */
static int
send_mark(struct cnd_worker *w, struct mark_sink *k, struct cnp_str names)
{
	const char *channel = w->shared->listening.mark_channel;
	struct cnd_channels what = { .channel = channel, .mark = k->text };
	struct cnc_buf add;
	int r;

	cnc_buf_init(&add, &cnc_mem_default, CND_CHANNELS_MAX);
	r = cnc_buf_append(&add, names.p, names.n);
	if (r == CENOTE_OK)
		r = cnc_buf_append(&add, channel, strlen(channel) + 1);
	what.add = cnd_listening_names(&add);
	cnd_host_begin_service(w);
	if (r == CENOTE_OK)
		r = w->serving.backend->listen(w->serving.session, &what, &k->sink);
	cnc_buf_finish(&add);
	return r == CENOTE_OK && !k->has_come ? CENOTE_ERR_UNSUPPORTED : r;
}

/* Stop listening on the mark's channel: the client must not find it in its session. */
static int
drop_mark(struct cnd_worker *w, struct cnd_sink *sink)
{
	const char *channel = w->shared->listening.mark_channel;
	const struct cnd_channels what = { .drop = { channel, strlen(channel) + 1 } };

	cnd_host_begin_service(w);
	return w->serving.backend->listen(w->serving.session, &what, sink);
}

/* Whether the listening session listens on the client's channels, and on that of the marks. */
static bool
has_all(const struct cnd_listening *l, const struct cnd_subscriber *c)
{
	const char *p = (const char *)cnc_buf_head(&c->names);
	size_t n = cnc_buf_len(&c->names);

	for (size_t at = 0; at < n; at += strlen(p + at) + 1) {
		if (!cnd_listening_has_name(&l->channels, p + at))
			return false;
	}
	return cnd_listening_has_name(&l->channels, l->mark_channel) && !l->is_stale;
}

static int
await_channels(struct cnd_worker *w, const struct cnd_subscriber *c)
{
	struct cnd_listening *l = &w->shared->listening;
	int64_t until = cnd_now_ms() + CHANGE_MS;

	if (!has_all(l, c))
		l->is_stale = true;
	while (l->worker != NULL && !has_all(l, c) && cnd_now_ms() < until) {
		cnd_listening_wake(l->worker);
		cnd_worker_wait(w, -1, 0, until);
	}
	return l->worker != NULL && has_all(l, c) ? CENOTE_OK : CENOTE_ERR_UNSUPPORTED;
}

/* ---- a client yields ---- */

static int
ask_channels(struct cnd_worker *w, struct cnd_subscriber *c)
{
	struct cnd_serving *s = &w->serving;
	int r;

	cnc_buf_clear(&c->names, CND_NAMES_MAX);
	s->ops->begin(s, NULL);
	s->result.is_in_rows = false;
	r = s->backend->channels(s->session, &c->names, &s->sink);
	return r == CENOTE_OK && cnc_buf_len(&c->names) == 0 ? CENOTE_ERR_UNSUPPORTED : r;
}

/* The listening session takes over from this one. */
static int
hand_over(struct cnd_worker *w, struct cnd_subscriber *c)
{
	struct mark_sink k;
	int r = await_channels(w, c);

	if (r < 0)
		return r;
	begin_mark(w, &k, CND_UNTIL_MARK);
	r = send_mark(w, &k, CNP_STR_NONE);
	cnc_buf_finish(&k.after);
	if (r == CENOTE_OK || r == CENOTE_ERR_CONN)
		return r;
	c->hearing = CND_FROM_OWN;
	return drop_mark(w, &w->serving.sink) == CENOTE_ERR_CONN ? CENOTE_ERR_CONN : r;
}

/* This session becomes the listening one. */
static void
become(struct cnd_worker *w, struct cnd_subscriber *c)
{
	struct cnd_listening *l = &w->shared->listening;

	choose_mark_channel(w);
	l->worker = w;
	w->is_listening = true;
	(void)cnc_buf_append(
		&l->channels, cnc_buf_head(&c->names), cnc_buf_len(&c->names));
	c->hearing = CND_FROM_LISTENING;
}

int
cnd_listening_move(struct cnd_worker *w)
{
	struct cnd_worker_client *client = &w->client;
	struct cnd_state state;
	int r = CENOTE_ERR_NOMEM;

	if (client->subscriber == NULL)
		client->subscriber = cnd_listening_add(w);
	if (client->subscriber != NULL)
		r = ask_channels(w, client->subscriber);
	if (r == CENOTE_OK && w->shared->listening.worker == NULL)
		become(w, client->subscriber);
	else if (r == CENOTE_OK)
		r = hand_over(w, client->subscriber);
	if (r == CENOTE_OK)
		return 1;
	w->settle.unmoved_at = w->serving.n_served;
	cnd_listening_leave(w);
	if (r == CENOTE_ERR_CONN)
		return cnd_request_lose_idle(&w->serving);
	/* now it is known that the channels hold the session */
	cnd_request_take_state(&w->serving, &state);
	return 0;
}

void
cnd_listening_leave(struct cnd_worker *w)
{
	if (w->client.subscriber != NULL)
		cnd_listening_forget(w->shared, w->client.subscriber);
	w->client.subscriber = NULL;
}

/* ---- a client is back ---- */

/* Queue these notifications for the client. */
static int
take_pending(struct cnd_worker *w, struct cnc_buf *frames)
{
	int r = cnp_server_put_notifications(
		&w->client.server, cnc_buf_head(frames), cnc_buf_len(frames));

	cnc_buf_clear(frames, 0);
	return r;
}

int
cnd_listening_flush(struct cnd_worker *w)
{
	struct cnd_subscriber *c = w->client.subscriber;

	c->is_halfway = false;
	return take_pending(w, &c->pending);
}

static int
await_hearing(
	struct cnd_worker *w, const struct cnd_subscriber *c, enum cnd_hearing hearing)
{
	int64_t until = cnd_now_ms() + CHANGE_MS;

	while (!c->is_lost && c->hearing != hearing && cnd_now_ms() < until)
		cnd_worker_wait(w, -1, 0, until);
	return !c->is_lost && c->hearing == hearing ? CENOTE_OK : CENOTE_ERR_CONN;
}

static int
rejoin(struct cnd_worker *w, struct cnd_subscriber *c)
{
	struct mark_sink k;
	int r = await_channels(w, c);

	if (r == CENOTE_OK)
		r = await_hearing(w, c, CND_FROM_LISTENING);
	if (r < 0)
		return r;
	begin_mark(w, &k, CND_AFTER_MARK);
	r = send_mark(w, &k, cnd_listening_names(&c->names));
	if (r == CENOTE_OK)
		r = await_hearing(w, c, CND_FROM_OWN);
	if (r == CENOTE_OK)
		r = drop_mark(w, &k.sink);
	if (r == CENOTE_OK)
		r = cnd_listening_flush(w);
	if (r == CENOTE_OK)
		r = take_pending(w, &k.after);
	cnc_buf_finish(&k.after);
	return r;
}

int
cnd_listening_rejoin(struct cnd_worker *w)
{
	struct cnd_subscriber *c = w->client.subscriber;
	char why[CNC_DIAG_MESSAGE_MAX];
	int r;

	if (c == NULL)
		return CENOTE_OK;
	r = rejoin(w, c);
	if (r == CENOTE_OK)
		return r;
	c->is_lost = true;
	snprintf(why, sizeof(why), "%s", w->serving.diag.message);
	cnc_diag_set(&w->serving.diag, CNC_SQLSTATE(CONNECTION_LOST),
		CND_NOTIFICATIONS_LOST "%s%s", why[0] != '\0' ? ": " : "", why);
	return CENOTE_ERR_SERVER;
}
