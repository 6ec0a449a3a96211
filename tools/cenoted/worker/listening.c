/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LISTEN without a pin: one session of a shared worker listens for all its clients that have no session. When the first client
 * that holds nothing but channels yields, its session becomes the listening session. listening_marks.c says how a client changes
 * from its own session to the listening session, and back.
 *
 * staying.c has the clients without a session. worker.c calls this file on the seat of the listening session.
 */
#include "listening_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/sqlstate.h"
#include "shared/answer.h"
#include "shared/log.h"

/* When to send again to a client that did not read. */
#define RETRY_MS 10

/* ---- names ---- */

bool
cnd_listening_has_name(const struct cnc_buf *names, const char *name)
{
	const char *p = (const char *)cnc_buf_head(names);
	size_t n = cnc_buf_len(names);

	for (size_t at = 0; at < n; at += strlen(p + at) + 1) {
		if (strcmp(p + at, name) == 0)
			return true;
	}
	return false;
}

/* Append to `to` each name of `from` that `lacking` does not have. */
static int
add_lacking(struct cnc_buf *to, const struct cnc_buf *from, const struct cnc_buf *lacking)
{
	const char *p = (const char *)cnc_buf_head(from);
	size_t n = cnc_buf_len(from), len;
	int r = CENOTE_OK;

	for (size_t at = 0; at < n && r == CENOTE_OK; at += len) {
		len = strlen(p + at) + 1;
		if (!cnd_listening_has_name(lacking, p + at))
			r = cnc_buf_append(to, p + at, len);
	}
	return r;
}

struct cnp_str
cnd_listening_names(const struct cnc_buf *names)
{
	return (struct cnp_str){ (const char *)cnc_buf_head(names), cnc_buf_len(names) };
}

/* ---- the list of clients ---- */

void
cnd_listening_init(struct cnd_listening *l)
{
	cnc_buf_init(&l->channels, &cnc_mem_default, CND_CHANNELS_MAX);
	l->retry_ms = CND_NEVER;
}

struct cnd_subscriber *
cnd_listening_add(struct cnd_worker *w)
{
	struct cnd_listening *l = &w->shared->listening;
	struct cnd_subscriber *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	cnc_buf_init(&c->names, &cnc_mem_default, CND_NAMES_MAX);
	cnc_buf_init(&c->pending, &cnc_mem_default, CND_PENDING_MAX);
	c->worker = w;
	c->next = l->first;
	l->first = c;
	return c;
}

void
cnd_listening_wake(const struct cnd_worker *w)
{
	if (w != NULL)
		cnd_seat_wake(w->seat);
}

void
cnd_listening_forget(struct cnd_shared *s, struct cnd_subscriber *c)
{
	struct cnd_subscriber **at = &s->listening.first;

	if (c == NULL)
		return;
	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	cnc_buf_finish(&c->names);
	cnc_buf_finish(&c->pending);
	free(c);
	s->listening.is_stale = true;
	cnd_listening_wake(s->listening.worker);
}

bool
cnd_listening_is_halfway(const struct cnd_subscriber *c)
{
	return c->is_halfway;
}

/* ---- notifications to a client without a session ---- */

/* Send what the socket takes now. */
static void
send_pending(struct cnd_shared *s, struct cnd_subscriber *c)
{
	struct cnd_channel *channel = &c->staying->channel;
	ssize_t n = 1;

	while (n > 0 && cnc_buf_len(&c->pending) > 0) {
		n = cnd_channel_write(channel, c->staying->fd, cnc_buf_head(&c->pending),
			cnc_buf_len(&c->pending));
		if (n > 0)
			cnc_buf_consume(&c->pending, (size_t)n);
	}
	c->is_halfway = cnc_buf_len(&c->pending) > 0;
	/* after an error, the socket also has an event, and then staying.c drops the client */
	if ((cnd_channel_flush(channel) < 0 || c->is_halfway) &&
		s->listening.retry_ms == CND_NEVER)
		s->listening.retry_ms = cnd_now_ms() + RETRY_MS;
}

/* The client loses notifications. If it has no session, shared.c drops it. Otherwise the code on its seat finds is_lost. */
static void
lose(struct cnd_shared *s, struct cnd_subscriber *c)
{
	c->is_lost = true;
	s->listening.has_lost = true;
	cnd_listening_wake(c->worker);
}

struct cnd_staying *
cnd_listening_next_lost(struct cnd_listening *l)
{
	if (!l->has_lost)
		return NULL;
	for (const struct cnd_subscriber *c = l->first; c != NULL; c = c->next) {
		if (c->is_lost && c->staying != NULL)
			return c->staying;
	}
	l->has_lost = false;
	return NULL;
}

static void
deliver(struct cnd_shared *s, struct cnd_subscriber *c, const struct cnp_notification *n)
{
	struct cnp_msg m = { .code = CNP_MSG_NOTIFICATION, .as.notification = *n };

	if (c->is_lost)
		return;
	/* The client may get the sender's session next. Then it would believe that it had sent the notification itself. */
	m.as.notification.pid = 0;
	if (cnp_frame_put(&c->pending, 0, 0, &m) < 0) {
		cnd_log(LOG_WARNING,
			"a client that listens does not read; it is cut off");
		lose(s, c);
	} else if (c->staying != NULL) {
		send_pending(s, c);
	}
}

void
cnd_listening_settle_down(
	struct cnd_shared *s, struct cnd_subscriber *c, struct cnd_staying *staying)
{
	c->staying = staying;
	c->worker = NULL;
	if (c->is_lost)
		s->listening.has_lost = true;
	else
		send_pending(s, c);
}

void
cnd_listening_sit(struct cnd_subscriber *c, struct cnd_worker *w)
{
	c->staying = NULL;
	c->worker = w;
}

void
cnd_listening_put_loss(struct cnd_shared *s, struct cnp_server *server)
{
	(void)s;
	cnd_answer_refuse(
		server, CNC_SQLSTATE(CONNECTION_LOST), "%s", CND_NOTIFICATIONS_LOST);
}

int64_t
cnd_listening_look(struct cnd_shared *s)
{
	struct cnd_listening *l = &s->listening;

	if (l->retry_ms == CND_NEVER || cnd_now_ms() < l->retry_ms)
		return l->retry_ms;
	l->retry_ms = CND_NEVER;
	for (struct cnd_subscriber *c = l->first; c != NULL; c = c->next) {
		if (c->staying != NULL)
			send_pending(s, c);
	}
	return l->retry_ms;
}

/* ---- what the listening session receives ---- */

static void
on_mark(struct cnd_listening *l, const struct cnp_notification *n)
{
	uint64_t mark = strtoull(n->payload.p, NULL, 10);

	for (struct cnd_subscriber *c = l->first; c != NULL; c = c->next) {
		if (c->mark != mark || c->mark_pid != n->pid)
			continue;
		if (c->hearing == CND_UNTIL_MARK)
			c->hearing = CND_FROM_LISTENING;
		else if (c->hearing == CND_AFTER_MARK)
			c->hearing = CND_FROM_OWN;
		cnd_listening_wake(c->worker);
		return;
	}
}

struct listening_sink {
	struct cnd_sink sink;
	struct cnd_shared *shared;
};

static int
hear(struct cnd_sink *sink, const struct cnp_notification *n)
{
	struct cnd_shared *s = ((struct listening_sink *)(void *)sink)->shared;

	if (strcmp(n->channel.p, s->listening.mark_channel) == 0) {
		on_mark(&s->listening, n);
		return CENOTE_OK;
	}
	for (struct cnd_subscriber *c = s->listening.first; c != NULL; c = c->next) {
		if ((c->hearing == CND_FROM_LISTENING || c->hearing == CND_AFTER_MARK) &&
			cnd_listening_has_name(&c->names, n->channel.p))
			deliver(s, c, n);
	}
	return CENOTE_OK;
}

int
cnd_listening_ignore_notice(struct cnd_sink *sink, const struct cnc_diag *notice)
{
	(void)sink;
	(void)notice;
	return CENOTE_OK;
}

static const struct cnd_sink_ops listening_ops = {
	.notification = hear,
	.notice = cnd_listening_ignore_notice,
};

/* ---- the life of the listening session ---- */

/* Collect the channels of all subscribers. */
static int
collect(const struct cnd_listening *l, struct cnc_buf *wanted)
{
	int r = cnc_buf_append(wanted, l->mark_channel, strlen(l->mark_channel) + 1);

	for (const struct cnd_subscriber *c = l->first; c != NULL && r == CENOTE_OK;
		c = c->next)
		r = add_lacking(wanted, &c->names, wanted);
	return r;
}

/* Listen on `wanted` in place of `present`. */
static int
change(struct cnd_worker *w, const struct cnc_buf *present, const struct cnc_buf *wanted,
	bool is_first, struct cnd_sink *sink)
{
	struct cnd_channels what = { .is_first = is_first };
	struct cnc_buf add, drop;
	int r;

	cnc_buf_init(&add, &cnc_mem_default, CND_CHANNELS_MAX);
	cnc_buf_init(&drop, &cnc_mem_default, CND_CHANNELS_MAX);
	r = add_lacking(&add, wanted, present);
	if (r == CENOTE_OK)
		r = add_lacking(&drop, present, wanted);
	what.add = cnd_listening_names(&add);
	what.drop = cnd_listening_names(&drop);
	if (r == CENOTE_OK && (is_first || what.add.n > 0 || what.drop.n > 0)) {
		cnd_host_begin_service(w);
		r = w->serving.backend->listen(w->serving.session, &what, sink);
	}
	cnc_buf_finish(&add);
	cnc_buf_finish(&drop);
	return r;
}

/* Listen on the channels of all subscribers, and on no others. `channels` is empty meanwhile, so no client relies on it. */
static int
renew(struct cnd_worker *w, struct cnd_sink *sink, bool is_first)
{
	struct cnd_listening *l = &w->shared->listening;
	struct cnc_buf present = l->channels, wanted;
	int r;

	cnc_buf_init(&l->channels, &cnc_mem_default, CND_CHANNELS_MAX);
	cnc_buf_init(&wanted, &cnc_mem_default, CND_CHANNELS_MAX);
	l->is_stale = false;
	r = collect(l, &wanted);
	if (r == CENOTE_OK)
		r = change(w, &present, &wanted, is_first, sink);
	cnc_buf_finish(&present);
	l->channels = wanted;
	return r;
}

static void
wake_all(const struct cnd_listening *l)
{
	for (const struct cnd_subscriber *c = l->first; c != NULL; c = c->next)
		cnd_listening_wake(c->worker);
}

static int
hear_server(struct cnd_worker *w, struct cnd_sink *sink)
{
	struct pollfd fd = { .fd = w->login.server_fd, .events = POLLIN };

	if (cnd_worker_poll(w, &fd, 1, CND_NEVER) == 0)
		return CENOTE_OK;
	cnd_host_begin_service(w);
	return w->serving.backend->idle(w->serving.session, sink);
}

/* Show in the slot that cenoted itself uses this session. */
static void
show_owner(struct cnd_worker *w)
{
	struct cnd_identity id = { .pid = (int32_t)getpid(),
		.uid = (int32_t)geteuid(),
		.program = "cenoted",
		.application = "LISTEN" };

	cnd_slot_set_identity(w->slot, &id);
	cnd_worker_drop_key(w);
	cnd_pins_note(w, CENOTE_TX_IDLE, CENOTE_PIN_LISTEN);
	atomic_store_explicit(&w->slot->is_held, 1, memory_order_relaxed);
}

/* All clients for which this session listened lose notifications. */
static void
end(struct cnd_worker *w, int r)
{
	struct cnd_listening *l = &w->shared->listening;

	l->worker = NULL;
	cnc_buf_finish(&l->channels);
	cnc_buf_init(&l->channels, &cnc_mem_default, CND_CHANNELS_MAX);
	w->is_listening = false;
	w->serving.is_lost = r < 0;
	if (r < 0)
		cnd_log(LOG_NOTICE, "the listening session was lost (SQLSTATE %s)",
			w->serving.diag.sqlstate);
	for (struct cnd_subscriber *c = l->first; c != NULL; c = c->next) {
		if (c->hearing != CND_FROM_OWN)
			lose(w->shared, c);
	}
}

void
cnd_listening_run(struct cnd_worker *w)
{
	struct cnd_listening *l = &w->shared->listening;
	struct listening_sink sink = { .sink = { .ops = &listening_ops,
					       .diag = &w->serving.diag },
		.shared = w->shared };
	int r;

	show_owner(w);
	cnd_log(LOG_INFO, "listens for clients that have no session");
	cnc_diag_clear(&w->serving.diag);
	r = renew(w, &sink.sink, true);
	wake_all(l);
	while (r >= 0 && l->first != NULL && cnd_worker_order(w) == CND_ORDER_NONE &&
		!w->shared->is_retired) {
		r = l->is_stale ? renew(w, &sink.sink, false)
				: hear_server(w, &sink.sink);
		wake_all(l);
	}
	end(w, r);
}
