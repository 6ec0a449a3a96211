/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clients of a shared worker that have yielded their session and stay connected. Such a client costs
 * a descriptor and a small record. When it attaches again, it waits here in a queue, and the next
 * free session takes it. worker.c and client.c call this file from the seats, shared.c from
 * the loop.
 */
#include "shared.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/sqlstate.h"
#include "shared/answer.h"

/* How long a client waits before the process asks the master for another session. */
#define PATIENCE_MS 5
/* How often the process checks whether it needs another session. */
#define LOOK_MS     20
/* How many clients may stay. The pool closes the connections of further clients, which then attach anew. */
#define STAYING_MAX 100000u

/* ---- the records ---- */

static int
grow(struct cnd_stayings *s)
{
	uint32_t cap = s->cap > 0 ? s->cap * 2 : 64;
	struct cnd_staying **grown =
		realloc(s->records, cap * sizeof(struct cnd_staying *));

	if (grown == NULL)
		return -1;
	s->records = grown;
	s->cap = cap;
	return 0;
}

/* NULL: there is no memory, or s->max clients stay already. */
static struct cnd_staying *
take_record(struct cnd_stayings *s)
{
	struct cnd_staying *c = s->free;

	if (c != NULL) {
		s->free = c->next;
		return c;
	}
	if (s->n == s->max || (s->n == s->cap && grow(s) < 0))
		return NULL;
	c = calloc(1, sizeof(*c));
	if (c == NULL)
		return NULL;
	c->index = s->n;
	s->records[s->n++] = c;
	return c;
}

static void
free_record(struct cnd_stayings *s, struct cnd_staying *c)
{
	c->fd = -1;
	c->next = s->free;
	s->free = c;
}

/* ---- the queue ---- */

static void
enqueue(struct cnd_stayings *s, struct cnd_staying *c)
{
	c->is_waiting = true;
	c->since_ms = cnd_now_ms();
	c->next = NULL;
	*s->end = c;
	s->end = &c->next;
	s->n_waiting++;
}

static struct cnd_staying *
dequeue(struct cnd_stayings *s)
{
	struct cnd_staying *c = s->first;

	if (c == NULL)
		return NULL;
	s->first = c->next;
	if (s->first == NULL)
		s->end = &s->first;
	c->is_waiting = false;
	s->n_waiting--;
	return c;
}

/* Take a client out of the middle of the queue. */
static void
unqueue(struct cnd_stayings *s, struct cnd_staying *c)
{
	struct cnd_staying **at = &s->first;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	if (*at == NULL)
		s->end = at;
	c->is_waiting = false;
	s->n_waiting--;
}

void
cnd_staying_init(struct cnd_stayings *s)
{
	struct rlimit limit;

	s->end = &s->first;
	/* The other descriptors are for clients with a session, and for new clients. */
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		s->max = limit.rlim_cur / 2 < STAYING_MAX ? (uint32_t)(limit.rlim_cur / 2)
							  : STAYING_MAX;
}

/* ---- from and to the workers ---- */

void
cnd_staying_keep(struct cnd_worker *w)
{
	struct cnd_worker_client *client = &w->client;
	struct cnd_staying *c = take_record(&w->shared->stayings);

	/* Without a record, the caller closes the connection, and the client attaches anew. */
	if (c == NULL)
		return;
	c->fd = client->fd;
	cnd_channel_move(&c->channel, &client->channel);
	c->is_handed_over = client->is_handed_over;
	c->peer = client->peer;
	c->uid = client->uid;
	c->back = client->back;
	cnp_server_keep(&client->server, &c->back.kept);
	c->hearer = client->hearer;
	client->hearer = NULL;
	client->fd = -1;
	/* The loop also reports bytes that have come already, and the client may be dropped. */
	cnd_seat_hand_on(w->seat, c->fd, CND_WATCH_STAYING, c->index);
	if (c->hearer != NULL)
		cnd_listening_settle_down(w->shared, c->hearer, c);
}

int
cnd_staying_take(struct cnd_worker *w)
{
	struct cnd_worker_client *client = &w->client;
	struct cnd_staying *c = dequeue(&w->shared->stayings);

	if (c == NULL)
		return 0;
	cnd_histogram_add(&w->pool->waiting_time, (cnd_now_ms() - c->since_ms) * 1000);
	client->fd = c->fd;
	cnd_channel_move(&client->channel, &c->channel);
	client->is_handed_over = c->is_handed_over;
	client->is_routed = false;
	client->n_handed = 0;
	client->peer = c->peer;
	client->uid = c->uid;
	client->back = c->back;
	memcpy(client->user, c->back.identity.user, sizeof(client->user));
	client->is_back = true;
	client->hearer = c->hearer;
	if (c->hearer != NULL)
		cnd_listening_sit(c->hearer, w);
	c->hearer = NULL;
	cnd_seat_take_over(w->seat, client->fd);
	free_record(&w->shared->stayings, c);
	return 1;
}

/* ---- from the loop ---- */

static void
drop(struct cnd_shared *s, struct cnd_staying *c)
{
	cnd_loop_unwatch(&s->loop, c->fd);
	cnd_channel_finish(&c->channel);
	cnd_listening_forget(s, c->hearer);
	c->hearer = NULL;
	/* The door may have the socket open for a moment longer, so close() alone does not end the connection. */
	if (c->is_handed_over)
		shutdown(c->fd, SHUT_RDWR);
	close(c->fd);
	free_record(&s->stayings, c);
}

static int
has_gone(const struct cnd_staying *c, uint32_t events)
{
	uint8_t byte;

	return (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0 &&
	       recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0;
}

void
cnd_staying_on_event(struct cnd_shared *s, uint32_t index, uint32_t events)
{
	struct cnd_staying *c = s->stayings.records[index];

	if (c->fd < 0 || c->is_waiting)
		return;
	if (has_gone(c, events)) {
		drop(s, c);
		return;
	}
	if ((events & EPOLLIN) == 0)
		return;
	enqueue(&s->stayings, c);
	cnd_loop_wake_for_client(&s->loop);
}

/* Send a last message, which `put` queues, and drop the client. */
static void
part_with(struct cnd_shared *s, struct cnd_staying *c,
	void (*put)(struct cnd_shared *s, struct cnp_server *server))
{
	struct cnp_server server;
	const uint8_t *bytes;
	size_t n;

	if (c->hearer != NULL && cnd_listening_is_halfway(c->hearer)) {
		drop(s, c);
		return;
	}
	cnp_server_init(
		&server, &cnc_mem_default, CNP_FRAME_MAX_AUTH, CNP_FRAME_MAX_AUTH);
	cnp_server_restart_kept(&server, &c->back.kept);
	put(s, &server);
	n = cnp_server_output(&server, &bytes);
	(void)cnd_channel_write(&c->channel, c->fd, bytes, n);
	(void)cnd_channel_flush(&c->channel);
	shutdown(c->fd, SHUT_WR);
	cnd_client_drop_input(c->fd);
	cnp_server_finish(&server);
	drop(s, c);
}

static void
put_elsewhere(struct cnd_shared *s, struct cnp_server *server)
{
	(void)cnp_server_yield(
		server, s->is_retired ? CNP_YIELD_RELOAD : CNP_YIELD_CONTENDED, NULL);
}

static void
put_lost(struct cnd_shared *s, struct cnp_server *server)
{
	(void)s;
	cnd_answer_refuse(
		server, CNC_SQLSTATE(CONNECTION_LOST), "%s", CND_NOTIFICATIONS_LOST);
}

void
cnd_staying_lose(struct cnd_shared *s, struct cnd_staying *c)
{
	if (c->is_waiting)
		unqueue(&s->stayings, c);
	part_with(s, c, put_lost);
}

/* Let it attach anew, which a client that listens must not do without knowing. */
static void
send_away(struct cnd_shared *s, struct cnd_staying *c)
{
	part_with(s, c, c->hearer != NULL ? put_lost : put_elsewhere);
}

static void
send_first_away(struct cnd_shared *s)
{
	struct cnd_staying *c = dequeue(&s->stayings);

	if (c != NULL)
		send_away(s, c);
}

static void
put_late(struct cnd_shared *s, struct cnp_server *server)
{
	char why[CND_LATE_TEXT_MAX];

	cnd_answer_late(s->child->board, s->pool->index, s->stayings.n_waiting, why);
	cnd_answer_refuse(server, CNC_SQLSTATE(POOL_BUSY), "%s", why);
}

/* Whether the server refuses every session of the pool. Then an ordinary attach tells the client why. */
static int
is_down(const struct cnd_shared *s)
{
	struct cnd_census census;

	cnd_pool_census(s->child->board, s->pool->index, &census);
	return cnd_census_is_down(&census);
}

/* How many sessions of the pool's other processes are free, or can be at once because their clients hold nothing. */
static uint32_t
count_loose_elsewhere(const struct cnd_shared *s)
{
	const struct cnd_scoreboard *board = s->child->board;
	uint32_t n = 0;

	for (uint32_t i = 0; i < board->n_slots; i++) {
		const struct cnd_slot_head *head = cnd_slot_head(board, i);
		const struct cnd_slot *slot = cnd_slot_at(board, i);

		if (head->pid == 0 || head->pid == s->pid || head->pool != s->pool->index)
			continue;
		n += slot->state == CND_SLOT_IDLE ||
		     (slot->state == CND_SLOT_ATTACHED && !slot->is_held &&
			     slot->request == slot->finished);
	}
	return n;
}

/* Clients have waited long. Let them attach anew if another process has a session for them, or if the server is down:
 * an ordinary attach tells them why. */
static void
send_elsewhere(struct cnd_shared *s)
{
	struct cnd_stayings *q = &s->stayings;

	/* a client that listens waits for a session of this process */
	for (uint32_t n = count_loose_elsewhere(s);
		n > 0 && q->first != NULL && q->first->hearer == NULL; n--)
		send_first_away(s);
	while (q->first != NULL && is_down(s))
		send_first_away(s);
}

int64_t
cnd_staying_look(struct cnd_shared *s)
{
	struct cnd_stayings *q = &s->stayings;
	int64_t now, limit = s->pool->config->queue_timeout_ms;

	if (q->first == NULL)
		return CND_NEVER;
	now = cnd_now_ms();
	atomic_store_explicit(
		&cnd_pool_record(s->child->board, s->pool->index)->contended_ms, now,
		memory_order_relaxed);
	while (q->first != NULL && limit > 0 && now - q->first->since_ms >= limit)
		part_with(s, dequeue(q), put_late);
	if (q->first == NULL)
		return CND_NEVER;
	if (now < q->look_ms)
		return q->look_ms;
	q->look_ms = now + LOOK_MS;
	if (now - q->first->since_ms < PATIENCE_MS)
		return q->look_ms;
	cnd_loop_wake_for_clients(&s->loop);
	send_elsewhere(s);
	if (q->first != NULL)
		cnd_shared_ask_for_more(s);
	return q->look_ms;
}

void
cnd_staying_send_away(struct cnd_shared *s)
{
	struct cnd_stayings *q = &s->stayings;

	while (q->first != NULL)
		send_first_away(s);
	for (uint32_t i = 0; i < q->n; i++) {
		if (q->records[i]->fd >= 0)
			send_away(s, q->records[i]);
	}
}
