/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LISTEN without a pin: one session of a shared worker listens for all its clients that have no session. The first client whose
 * session holds nothing but its channels leaves that session here, where it becomes the listening session.
 *
 * While a client has a session, that session itself listens for it, so that everything is as without a pool. So a client changes
 * over each time it yields or attaches, and for a moment both sessions listen. A mark tells which of them the client hears: its session
 * sends a notification on a channel that nobody else knows, and both receive it at the same place in the server's queue, which has the
 * same order for all. A client that yields hears its session up to the mark and the listening session after it. A client that attaches
 * changes over the other way. Another client may see the mark's channel in the server's list of sessions, but it cannot send a
 * notification that has the number of that server process.
 *
 * staying.c has the clients without a session. client.c and attach.c call this file on the seat of the client's session, worker.c on that of
 * the listening one.
 */
#include "listening.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared.h"
#include "core/sqlstate.h"
#include "shared/log.h"

/* How long a change-over may take. */
#define CHANGE_MS     10000
/* When to send again to a client that did not read. */
#define RETRY_MS      10
/* A client that has not read this many bytes of notifications is lost. */
#define PENDING_MAX   (4u << 20)
/* The names of all channels. */
#define CHANNELS_MAX  (4u << 20)
#define NAMES_MAX     65536u
#define MARK_TEXT_MAX 24u

/* Which session tells the client of notifications. */
enum hearing {
	FROM_OWN, /* its own session */
	UNTIL_MARK, /* its own one up to the mark, then the listening one */
	FROM_LISTENING, /* the listening one */
	AFTER_MARK /* the listening one up to the mark, then its own one */
};

struct cnd_hearer {
	struct cnd_hearer *next;
	uint8_t hearing; /* enum hearing */
	bool is_lost; /* notifications may be missing */
	bool is_halfway; /* the head of `pending` may be in the middle of a frame */
	uint64_t mark; /* its number */
	uint32_t mark_pid; /* the server process that sends it */
	struct cnc_buf names; /* the channels, each with a zero byte */
	struct cnc_buf pending; /* frames that are not sent yet */
	struct cnd_staying *staying; /* NULL: the client is on a seat, */
	struct cnd_worker *worker; /* that of this worker */
};

/* ---- names ---- */

static bool
has_name(const struct cnc_buf *names, const char *name)
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
		if (!has_name(lacking, p + at))
			r = cnc_buf_append(to, p + at, len);
	}
	return r;
}

static struct cnp_str
names_of(const struct cnc_buf *names)
{
	return (struct cnp_str){ (const char *)cnc_buf_head(names), cnc_buf_len(names) };
}

/* ---- the list of clients ---- */

void
cnd_listening_init(struct cnd_listening *l)
{
	cnc_buf_init(&l->channels, &cnc_mem_default, CHANNELS_MAX);
	l->retry_ms = CND_NEVER;
}

static struct cnd_hearer *
add_hearer(struct cnd_worker *w)
{
	struct cnd_listening *l = &w->shared->listening;
	struct cnd_hearer *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	cnc_buf_init(&c->names, &cnc_mem_default, NAMES_MAX);
	cnc_buf_init(&c->pending, &cnc_mem_default, PENDING_MAX);
	c->worker = w;
	c->next = l->first;
	l->first = c;
	return c;
}

static void
wake(const struct cnd_worker *w)
{
	if (w != NULL)
		cnd_seat_wake(w->seat);
}

void
cnd_listening_forget(struct cnd_shared *s, struct cnd_hearer *c)
{
	struct cnd_hearer **at = &s->listening.first;

	if (c == NULL)
		return;
	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	cnc_buf_finish(&c->names);
	cnc_buf_finish(&c->pending);
	free(c);
	s->listening.is_stale = true;
	wake(s->listening.worker);
}

bool
cnd_listening_is_halfway(const struct cnd_hearer *c)
{
	return c->is_halfway;
}

/* ---- notifications to a client without a session ---- */

/* Send what the socket takes now. */
static void
send_pending(struct cnd_shared *s, struct cnd_hearer *c)
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
	/* an error is also an event of the socket, on which staying.c drops the client */
	if ((cnd_channel_flush(channel) < 0 || c->is_halfway) &&
		s->listening.retry_ms == CND_NEVER)
		s->listening.retry_ms = cnd_now_ms() + RETRY_MS;
}

/* The client loses notifications. If it is on a seat, the code there finds out. */
static void
lose(struct cnd_shared *s, struct cnd_hearer *c)
{
	c->is_lost = true;
	if (c->staying != NULL)
		cnd_staying_lose(s, c->staying);
	else
		wake(c->worker);
}

static void
deliver(struct cnd_shared *s, struct cnd_hearer *c, const struct cnp_notification *n)
{
	struct cnp_msg m = { .code = CNP_MSG_NOTIFICATION, .as.notification = *n };

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
	struct cnd_shared *s, struct cnd_hearer *c, struct cnd_staying *staying)
{
	c->staying = staying;
	c->worker = NULL;
	if (c->is_lost)
		lose(s, c);
	else
		send_pending(s, c);
}

void
cnd_listening_sit(struct cnd_hearer *c, struct cnd_worker *w)
{
	c->staying = NULL;
	c->worker = w;
}

int64_t
cnd_listening_look(struct cnd_shared *s)
{
	struct cnd_listening *l = &s->listening;

	if (l->retry_ms == CND_NEVER || cnd_now_ms() < l->retry_ms)
		return l->retry_ms;
	l->retry_ms = CND_NEVER;
	for (struct cnd_hearer *c = l->first; c != NULL; c = c->next) {
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

	for (struct cnd_hearer *c = l->first; c != NULL; c = c->next) {
		if (c->mark != mark || c->mark_pid != n->pid)
			continue;
		if (c->hearing == UNTIL_MARK)
			c->hearing = FROM_LISTENING;
		else if (c->hearing == AFTER_MARK)
			c->hearing = FROM_OWN;
		wake(c->worker);
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
	struct cnd_hearer *next;

	if (strcmp(n->channel.p, s->listening.mark_channel) == 0) {
		on_mark(&s->listening, n);
		return CENOTE_OK;
	}
	for (struct cnd_hearer *c = s->listening.first; c != NULL; c = next) {
		next = c->next;
		if ((c->hearing == FROM_LISTENING || c->hearing == AFTER_MARK) &&
			has_name(&c->names, n->channel.p))
			deliver(s, c, n);
	}
	return CENOTE_OK;
}

static int
ignore_notice(struct cnd_sink *sink, const struct cnc_diag *notice)
{
	(void)sink;
	(void)notice;
	return CENOTE_OK;
}

static const struct cnd_sink_ops listening_ops = {
	.notification = hear,
	.notice = ignore_notice,
};

/* ---- the life of the listening session ---- */

/* Listen on all channels that somebody needs, and on no others. */
static int
renew(struct cnd_worker *w, struct cnd_sink *sink, bool is_first)
{
	struct cnd_listening *l = &w->shared->listening;
	struct cnc_buf wanted, add, drop;
	struct cnd_channels change = { .is_first = is_first };
	int r;

	cnc_buf_init(&wanted, &cnc_mem_default, CHANNELS_MAX);
	cnc_buf_init(&add, &cnc_mem_default, CHANNELS_MAX);
	cnc_buf_init(&drop, &cnc_mem_default, CHANNELS_MAX);
	l->is_stale = false;
	r = cnc_buf_append(&wanted, l->mark_channel, strlen(l->mark_channel) + 1);
	for (const struct cnd_hearer *c = l->first; c != NULL && r == CENOTE_OK;
		c = c->next)
		r = add_lacking(&wanted, &c->names, &wanted);
	if (r == CENOTE_OK)
		r = add_lacking(&add, &wanted, &l->channels);
	if (r == CENOTE_OK)
		r = add_lacking(&drop, &l->channels, &wanted);
	change.add = names_of(&add);
	change.drop = names_of(&drop);
	if (r == CENOTE_OK && (is_first || change.add.n > 0 || change.drop.n > 0)) {
		cnd_host_begin_service(w);
		r = w->serving.backend->listen(w->serving.session, &change, sink);
	}
	cnc_buf_finish(&l->channels);
	l->channels = wanted;
	cnc_buf_finish(&add);
	cnc_buf_finish(&drop);
	return r;
}

static void
wake_all(const struct cnd_listening *l)
{
	for (const struct cnd_hearer *c = l->first; c != NULL; c = c->next)
		wake(c->worker);
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

/* The slot shows that cenoted itself has this session. */
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

/* All clients that hear this session lose notifications. */
static void
end(struct cnd_worker *w, int r)
{
	struct cnd_listening *l = &w->shared->listening;
	struct cnd_hearer *next;

	l->worker = NULL;
	cnc_buf_clear(&l->channels, 0);
	w->is_listening = false;
	w->serving.is_lost = r < 0;
	if (r < 0)
		cnd_log(LOG_NOTICE, "the listening session was lost (SQLSTATE %s)",
			w->serving.diag.sqlstate);
	for (struct cnd_hearer *c = l->first; c != NULL; c = next) {
		next = c->next;
		if (c->hearing != FROM_OWN)
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

/* ---- marks ---- */

/* What the client's own session receives while it sends a mark. */
struct mark_sink {
	struct cnd_sink sink;
	struct cnd_worker *worker;
	char text[MARK_TEXT_MAX];
	bool has_come;
	bool is_leaving; /* the client hears what comes before the mark; else what comes after it */
	struct cnc_buf after; /* frames of notifications that came after the mark */
};

static int
on_own(struct cnd_sink *sink, const struct cnp_notification *n)
{
	struct mark_sink *k = (struct mark_sink *)(void *)sink;
	struct cnd_worker *w = k->worker;
	struct cnp_msg m = { .code = CNP_MSG_NOTIFICATION, .as.notification = *n };

	if (n->pid == w->client.hearer->mark_pid && strcmp(n->payload.p, k->text) == 0 &&
		strcmp(n->channel.p, w->shared->listening.mark_channel) == 0) {
		k->has_come = true;
		return CENOTE_OK;
	}
	if (k->is_leaving)
		return k->has_come
			       ? CENOTE_OK
			       : w->serving.sink.ops->notification(&w->serving.sink, n);
	return k->has_come ? cnp_frame_put(&k->after, 0, 0, &m) : CENOTE_OK;
}

static const struct cnd_sink_ops mark_ops = {
	.notification = on_own,
	.notice = ignore_notice,
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
begin_mark(struct cnd_worker *w, struct mark_sink *k, enum hearing hearing)
{
	struct cnd_hearer *c = w->client.hearer;

	*k = (struct mark_sink){ .sink = { .ops = &mark_ops, .diag = &w->serving.diag },
		.worker = w,
		.is_leaving = hearing == UNTIL_MARK };
	cnc_buf_init(&k->after, &cnc_mem_default, PENDING_MAX);
	c->mark = ++w->shared->listening.n_marks;
	c->mark_pid = (uint32_t)strtoul(
		cnd_login_parameter(&w->login, CND_BACKEND_PID), NULL, 10);
	c->hearing = (uint8_t)hearing;
	(void)snprintf(k->text, sizeof(k->text), "%" PRIu64, c->mark);
}

/* Listen on `names` and the mark's channel, and send the mark. CENOTE_OK only if it has come. */
static int
send_mark(struct cnd_worker *w, struct mark_sink *k, struct cnp_str names)
{
	const char *channel = w->shared->listening.mark_channel;
	struct cnd_channels change = { .channel = channel, .mark = k->text };
	struct cnc_buf add;
	int r;

	cnc_buf_init(&add, &cnc_mem_default, NAMES_MAX + sizeof(k->text));
	r = cnc_buf_append(&add, names.p, names.n);
	if (r == CENOTE_OK)
		r = cnc_buf_append(&add, channel, strlen(channel) + 1);
	change.add = names_of(&add);
	cnd_host_begin_service(w);
	if (r == CENOTE_OK)
		r = w->serving.backend->listen(w->serving.session, &change, &k->sink);
	cnc_buf_finish(&add);
	return r == CENOTE_OK && !k->has_come ? CENOTE_ERR_UNSUPPORTED : r;
}

/* No mark will follow: the client shall not find the mark's channel in its session. */
static int
drop_mark(struct cnd_worker *w, struct cnd_sink *sink)
{
	const char *channel = w->shared->listening.mark_channel;
	const struct cnd_channels change = { .drop = { channel, strlen(channel) + 1 } };

	cnd_host_begin_service(w);
	return w->serving.backend->listen(w->serving.session, &change, sink);
}

static bool
has_all(const struct cnd_listening *l, const struct cnd_hearer *c)
{
	const char *p = (const char *)cnc_buf_head(&c->names);
	size_t n = cnc_buf_len(&c->names);

	for (size_t at = 0; at < n; at += strlen(p + at) + 1) {
		if (!has_name(&l->channels, p + at))
			return false;
	}
	return has_name(&l->channels, l->mark_channel) && !l->is_stale;
}

/* Wait until the listening session listens on the client's channels, and on that of the marks. */
static int
await_channels(struct cnd_worker *w, const struct cnd_hearer *c)
{
	struct cnd_listening *l = &w->shared->listening;
	int64_t until = cnd_now_ms() + CHANGE_MS;

	if (!has_all(l, c))
		l->is_stale = true;
	while (l->worker != NULL && !has_all(l, c) && cnd_now_ms() < until) {
		wake(l->worker);
		cnd_worker_wait(w, -1, 0, until);
	}
	return l->worker != NULL && has_all(l, c) ? CENOTE_OK : CENOTE_ERR_UNSUPPORTED;
}

/* ---- a client yields ---- */

bool
cnd_listening_may(const struct cnd_worker *w)
{
	const struct cnd_serving *s = &w->serving;

	return w->shared != NULL && s->backend->listen != NULL &&
	       s->held.tx == CENOTE_TX_IDLE && s->held.pins == CENOTE_PIN_LISTEN &&
	       w->config->mode == CND_MODE_TRANSACTION && w->config->n_servers == 1 &&
	       w->config->clients_login == CND_CLIENTS_NONE && w->shared->n_slots > 1 &&
	       w->settle.unmoved_at != s->n_served && cnd_staying_may(w) &&
	       cnp_server_can_listen(&w->client.server);
}

static int
ask_channels(struct cnd_worker *w, struct cnd_hearer *c)
{
	struct cnd_serving *s = &w->serving;
	int r;

	cnc_buf_clear(&c->names, NAMES_MAX);
	s->ops->begin(s, NULL);
	s->result.is_in_rows = false;
	r = s->backend->channels(s->session, &c->names, &s->sink);
	return r == CENOTE_OK && cnc_buf_len(&c->names) == 0 ? CENOTE_ERR_UNSUPPORTED : r;
}

/* The listening session takes over from this one. */
static int
hand_over(struct cnd_worker *w, struct cnd_hearer *c)
{
	struct mark_sink k;
	int r = await_channels(w, c);

	if (r < 0)
		return r;
	begin_mark(w, &k, UNTIL_MARK);
	r = send_mark(w, &k, CNP_STR_NONE);
	cnc_buf_finish(&k.after);
	if (r == CENOTE_OK || r == CENOTE_ERR_CONN)
		return r;
	c->hearing = FROM_OWN;
	return drop_mark(w, &w->serving.sink) == CENOTE_ERR_CONN ? CENOTE_ERR_CONN : r;
}

/* This session becomes the listening one. */
static void
become(struct cnd_worker *w, struct cnd_hearer *c)
{
	struct cnd_listening *l = &w->shared->listening;

	choose_mark_channel(w);
	l->worker = w;
	w->is_listening = true;
	(void)cnc_buf_append(
		&l->channels, cnc_buf_head(&c->names), cnc_buf_len(&c->names));
	c->hearing = FROM_LISTENING;
}

int
cnd_listening_move(struct cnd_worker *w)
{
	struct cnd_worker_client *client = &w->client;
	struct cnd_state state;
	int r = CENOTE_ERR_NOMEM;

	if (client->hearer == NULL)
		client->hearer = add_hearer(w);
	if (client->hearer != NULL)
		r = ask_channels(w, client->hearer);
	if (r == CENOTE_OK && w->shared->listening.worker == NULL)
		become(w, client->hearer);
	else if (r == CENOTE_OK)
		r = hand_over(w, client->hearer);
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
	if (w->client.hearer != NULL)
		cnd_listening_forget(w->shared, w->client.hearer);
	w->client.hearer = NULL;
}

/* ---- a client is back ---- */

/* Queue what the listening session has told it. */
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
	struct cnd_hearer *c = w->client.hearer;

	c->is_halfway = false;
	return take_pending(w, &c->pending);
}

static int
await_hearing(struct cnd_worker *w, const struct cnd_hearer *c, enum hearing hearing)
{
	int64_t until = cnd_now_ms() + CHANGE_MS;

	while (!c->is_lost && c->hearing != hearing && cnd_now_ms() < until)
		cnd_worker_wait(w, -1, 0, until);
	return !c->is_lost && c->hearing == hearing ? CENOTE_OK : CENOTE_ERR_CONN;
}

static int
rejoin(struct cnd_worker *w, struct cnd_hearer *c)
{
	struct mark_sink k;
	int r = await_channels(w, c);

	if (r == CENOTE_OK)
		r = await_hearing(w, c, FROM_LISTENING);
	if (r < 0)
		return r;
	begin_mark(w, &k, AFTER_MARK);
	r = send_mark(w, &k, names_of(&c->names));
	if (r == CENOTE_OK)
		r = await_hearing(w, c, FROM_OWN);
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
	struct cnd_hearer *c = w->client.hearer;
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
