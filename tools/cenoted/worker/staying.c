/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clients of a shared worker that have yielded their session and stay connected. Such a client costs
 * a descriptor and a small record. When it attaches again, it waits here. The users of those that wait take turns, and the next
 * free session takes the client whose turn it is. worker.c and client.c call this file from the seats, shared.c from
 * the loop.
 */
#include "shared.h"

#include <stddef.h>
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
/* How many users that have all their sessions are passed over in one look. */
#define SKIPS_MAX   64
/* How many clients may stay. The pool closes the connections of further clients, which then attach again. */
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

static void leave_user(struct cnd_stayings *s, struct cnd_staying *c);

static void
free_record(struct cnd_stayings *s, struct cnd_staying *c)
{
	leave_user(s, c);
	c->fd = -1;
	c->next = s->free;
	s->free = c;
}

/* ---- users ---- */

/* Users have proved who they are, so nobody fills a bucket on purpose. */
static struct cnd_staying_user **
bucket_of(struct cnd_stayings *s, uint64_t key)
{
	return &s->users[key % CND_STAYING_BUCKETS];
}

/* -1: there is no memory. */
static int
join_user(struct cnd_stayings *s, struct cnd_staying *c)
{
	const char *name = c->back.identity.user;
	uint64_t key = cnd_tally_key(CND_COUNT_USER, name, strlen(name));
	struct cnd_staying_user **at = bucket_of(s, key);
	struct cnd_staying_user *u = *at;

	while (u != NULL && strcmp(u->name, name) != 0)
		u = u->next;
	if (u == NULL) {
		u = calloc(1, sizeof(*u));
		if (u == NULL)
			return -1;
		memcpy(u->name, name, sizeof(u->name));
		u->key = key;
		u->next = *at;
		*at = u;
	}
	u->n++;
	c->user = u;
	return 0;
}

static void
leave_user(struct cnd_stayings *s, struct cnd_staying *c)
{
	struct cnd_staying_user *u = c->user;
	struct cnd_staying_user **at;

	c->user = NULL;
	if (u == NULL || --u->n > 0)
		return;
	at = bucket_of(s, u->key);
	while (*at != u)
		at = &(*at)->next;
	*at = u->next;
	free(u);
}

/* ---- the queue ---- */

static const struct cnd_user_limits *
limits_of(const struct cnd_shared *s, const struct cnd_staying_user *user)
{
	return cnd_pool_config_user(s->pool->config, user->name);
}

static void
enqueue(struct cnd_shared *shared, struct cnd_staying *c)
{
	struct cnd_stayings *s = &shared->stayings;
	const struct cnd_user_limits *u = limits_of(shared, c->user);

	c->is_waiting = true;
	c->since_ms = cnd_now_ms();
	c->next = NULL;
	c->prev = s->last;
	if (s->last != NULL)
		s->last->next = c;
	else
		s->first = c;
	s->last = c;
	s->n_waiting++;
	c->user->n_waiting++;
	cnd_turns_join(&s->turns, &c->user->turns,
		u != NULL && u->is_high ? CND_TURNS_HIGH : CND_TURNS_0, &c->turn);
}

static void
dequeue(struct cnd_stayings *s, struct cnd_staying *c)
{
	cnd_turns_leave(&s->turns, &c->turn);
	if (c->prev != NULL)
		c->prev->next = c->next;
	else
		s->first = c->next;
	if (c->next != NULL)
		c->next->prev = c->prev;
	else
		s->last = c->prev;
	c->is_waiting = false;
	s->n_waiting--;
	c->user->n_waiting--;
}

static bool
has_all_sessions(const struct cnd_shared *s, const struct cnd_staying_user *user)
{
	const struct cnd_user_limits *u;

	if (!s->pool->config->counts_sessions)
		return false;
	u = limits_of(s, user);
	return u != NULL && u->sessions > 0 &&
	       cnd_tally_of(&cnd_pool_record(s->child->board, s->pool->index)->tally,
		       user->key) >= u->sessions;
}

/* The client whose turn it is, of a user that may have another session. NULL: there is none. */
static struct cnd_staying *
find_next(struct cnd_shared *s)
{
	struct cnd_turns *turns = &s->stayings.turns;
	struct cnd_turn *t;

	for (int i = 0; i < SKIPS_MAX; i++) {
		struct cnd_staying *c;

		t = cnd_turns_next(turns, CND_TURNS_ALL);
		if (t == NULL)
			return NULL;
		c = (struct cnd_staying *)((char *)t -
					   offsetof(struct cnd_staying, turn));
		if (!has_all_sessions(s, c->user))
			return c;
		cnd_turns_skip(turns, t);
	}
	return NULL;
}

static void
serve(struct cnd_stayings *s, struct cnd_staying *c)
{
	cnd_turns_serve(&s->turns, &c->turn);
	dequeue(s, c);
}

void
cnd_staying_init(struct cnd_stayings *s)
{
	struct rlimit limit;

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
	c->back = client->back;
	if (join_user(&w->shared->stayings, c) < 0) {
		free_record(&w->shared->stayings, c);
		return;
	}
	c->fd = client->fd;
	cnd_channel_move(&c->channel, &client->channel);
	c->is_handed_over = client->is_handed_over;
	c->peer = client->peer;
	c->uid = client->uid;
	cnp_server_keep(&client->server, &c->back.kept);
	c->subscriber = client->subscriber;
	client->subscriber = NULL;
	client->fd = -1;
	/* The loop also reports bytes that have come already, and the client may be dropped. */
	cnd_seat_hand_on(w->seat, c->fd, CND_WATCH_STAYING, c->index);
	if (c->subscriber != NULL)
		cnd_listening_settle_down(w->shared, c->subscriber, c);
}

int
cnd_staying_take(struct cnd_worker *w)
{
	struct cnd_worker_client *client = &w->client;
	struct cnd_staying *c = find_next(w->shared);

	if (c == NULL || !cnd_limits_take_user(w, c->user->name))
		return 0;
	serve(&w->shared->stayings, c);
	(void)cnd_limits_come(w, c->fd, &c->peer, false);
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
	client->subscriber = c->subscriber;
	if (c->subscriber != NULL)
		cnd_listening_sit(c->subscriber, w);
	c->subscriber = NULL;
	cnd_seat_take_over(w->seat, client->fd);
	free_record(&w->shared->stayings, c);
	return 1;
}

/* ---- from the loop ---- */

static void
drop(struct cnd_shared *s, struct cnd_staying *c)
{
	if (c->is_waiting)
		dequeue(&s->stayings, c);
	cnd_loop_unwatch(&s->loop, c->fd);
	cnd_channel_finish(&c->channel);
	cnd_listening_forget(s, c->subscriber);
	c->subscriber = NULL;
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

/* Send a last message, which `put` queues, and drop the client. */
static void
part_with(struct cnd_shared *s, struct cnd_staying *c,
	void (*put)(struct cnd_shared *s, struct cnp_server *server))
{
	struct cnp_server server;
	const uint8_t *bytes;
	size_t n;

	if (c->subscriber != NULL && cnd_listening_is_halfway(c->subscriber)) {
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

void
cnd_staying_lose(struct cnd_shared *s, struct cnd_staying *c)
{
	part_with(s, c, cnd_listening_put_loss);
}

/* Close the connection so that the client attaches again. A subscriber would lose notifications, so it gets an error. */
static void
send_away(struct cnd_shared *s, struct cnd_staying *c)
{
	part_with(s, c, c->subscriber != NULL ? cnd_listening_put_loss : put_elsewhere);
}

static void
put_late(struct cnd_shared *s, struct cnp_server *server)
{
	char why[CND_LATE_TEXT_MAX];

	cnd_answer_late(s->child->board, s->pool->index, s->stayings.n_waiting, why);
	cnd_answer_refuse(server, CNC_SQLSTATE(POOL_BUSY), "%s", why);
}

static void
put_too_many(struct cnd_shared *s, struct cnp_server *server)
{
	cnd_answer_refuse(server, CNC_SQLSTATE(TOO_MANY),
		"pool %s: as many clients wait for a session as max_waiting, or "
		"user_limits for this user, allows; try again later",
		s->pool->config->name);
}

/* The limit counts in the whole pool. Its processes do not know each other's clients, so each takes an equal part. */
static bool
is_beyond(const struct cnd_shared *s, uint32_t n, uint32_t limit)
{
	uint32_t n_processes = s->pool->config->workers;

	return limit > 0 && n >= (limit + n_processes - 1) / n_processes;
}

static bool
is_too_many(const struct cnd_shared *s, const struct cnd_staying_user *user)
{
	const struct cnd_user_limits *u = limits_of(s, user);

	return is_beyond(s, s->stayings.n_waiting, s->pool->config->max_waiting) ||
	       (u != NULL && is_beyond(s, user->n_waiting, u->waiting));
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
	if (is_too_many(s, c->user)) {
		part_with(s, c, put_too_many);
		return;
	}
	enqueue(s, c);
	cnd_loop_wake_for_client(&s->loop);
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

/* Clients have waited long. Send as many away as other processes have sessions for: they attach there. If the server is down, send
 * all away: when they attach, they get an error that says why. */
static void
send_elsewhere(struct cnd_shared *s)
{
	struct cnd_stayings *q = &s->stayings;
	struct cnd_staying *c;

	/* a client that listens waits for a session of this process */
	for (uint32_t n = count_loose_elsewhere(s);
		n > 0 && (c = find_next(s)) != NULL && c->subscriber == NULL; n--)
		send_away(s, c);
	while (q->first != NULL && is_down(s))
		send_away(s, q->first);
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
		part_with(s, q->first, put_late);
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

	for (uint32_t i = 0; i < q->n; i++) {
		if (q->records[i]->fd >= 0)
			send_away(s, q->records[i]);
	}
}
