/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clients that want a session of a pool wait here, and their users take turns (shared/turns.h). Nobody has logged in yet, so a
 * user is here a unix user or an address, as the kernel reports it. A client whose turn it is gets a ticket, and its socket goes
 * to the kernel's queue. The pool's workers take clients from there in that order. The queue is short, so that a user who comes
 * late does not wait behind many others. The ticket is changed by compare-and-swap, so either the door or one worker has the
 * client. door.c, guest.c and opening.c call this file.
 *
 * A TCP client must first prove its identity, which takes a worker's time. Such clients occupy at
 * most half of a pool's workers; the door holds the others back.
 */
#include "door_internal.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>

#include "core/sqlstate.h"
#include "shared/answer.h"
#include "shared/log.h"

/* How soon to look again when the kernel's queue has no room. */
#define LOOK_MS    5
/* How soon to look again while clients wait for their turns. A worker that takes a client wakes the door, but it may die before. */
#define IDLE_MS    100
/* How many users the door skips in one search because they have all their sessions. */
#define SKIPS_MAX  64
/* The lists of `turns`. */
#define NEIGHBOURS CND_TURNS_0 /* clients of a unix socket */
#define STRANGERS  CND_TURNS_1 /* TCP clients */

static struct cnd_pool_record *
record_of(uint32_t pool)
{
	return cnd_pool_record(cnd_the_door.board, pool);
}

static const struct cnd_pool_head *
head_of(uint32_t pool)
{
	return cnd_pool_head(cnd_the_door.board, pool);
}

uint32_t
cnd_waiting_count(const struct cnd_door_pool *p)
{
	uint32_t pool = (uint32_t)(p - cnd_the_door.pools);

	/* With a limit for addresses, the TCP clients in `held` count too: they may wait for clients of the same address. */
	return p->waiting.n + p->held.n -
	       (head_of(pool)->address_sessions > 0 ? 0 : p->n_held_strangers);
}

/* Wake idle workers whose clients could yield: they do not look by themselves. */
static void
ask_holders(uint32_t pool, uint32_t n_wanted)
{
	for (uint32_t i = 0; i < cnd_the_door.board->n_slots && n_wanted > 0; i++) {
		const struct cnd_slot *s = cnd_slot_at(cnd_the_door.board, i);

		if (cnd_the_door.workers[i].inbox < 0 ||
			cnd_the_door.workers[i].pool != pool)
			continue;
		/* a session that is held or at work is checked when its request ends */
		if (s->state != CND_SLOT_ATTACHED || s->is_held ||
			(s->request != 0 && s->request != s->finished))
			continue;
		cnd_workers_nudge(i);
		n_wanted--;
	}
}

static void
tell_master(uint32_t pool)
{
	const struct cnd_pool_head *head = head_of(pool);
	struct cnd_ipc m = { .kind = CND_IPC_WAITING, .index = pool };

	/* if the queue is full, the next client repeats the message */
	if (head->live < head->max_sessions)
		(void)cnd_ipc_send(cnd_the_door.control_fd, &m);
}

/* No worker is free for the clients that wait, or their users have all their sessions: tell everybody who can help. */
static void
call_for_help(uint32_t pool)
{
	atomic_store(&record_of(pool)->contended_ms, cnd_now_ms());
	tell_master(pool);
	if (head_of(pool)->mode == CND_MODE_TRANSACTION)
		/* With an idle worker, only sessions of the waiting users themselves help. Any holder may have one. */
		ask_holders(pool, cnd_pool_has_idle(record_of(pool))
					  ? UINT32_MAX
					  : cnd_waiting_count(&cnd_the_door.pools[pool]));
}

static void
dismiss_waiting(struct cnd_guest *g)
{
	cnd_ticket_release(record_of(g->pool), g->ticket);
	cnd_guest_dismiss(g);
}

/* The workers take clients in order, so the taken ones are at the front. */
static void
dismiss_taken(struct cnd_door_pool *p)
{
	struct cnd_guest *g;

	while ((g = p->waiting.first) != NULL &&
		cnd_ticket_state(record_of(g->pool), g->ticket) == CND_TICKET_TAKEN) {
		cnd_histogram_add(&record_of(g->pool)->waiting_time,
			(cnd_now_ms() - g->since_ms) * 1000);
		dismiss_waiting(g);
	}
}

/* ---- turns ---- */

static int
has_place_for_stranger(uint32_t pool)
{
	uint32_t most = head_of(pool)->max_sessions / 2;

	return record_of(pool)->unproven + cnd_the_door.pools[pool].n_strangers <
	       (most > 0 ? most : 1);
}

static struct cnd_guest *
guest_of(struct cnd_turn *t)
{
	return t == NULL ? NULL
			 : (struct cnd_guest *)((char *)t -
						offsetof(struct cnd_guest, turn));
}

/*
 * The limits for the guest: those of its unix user, or else the entry for any user. A client of a unix socket may log in as
 * another user later; a worker then applies that user's limits. A TCP client has not proved any user yet.
 */
static const struct cnd_user_head *
user_of(const struct cnd_guest *g)
{
	const struct cnd_pool_head *head = head_of(g->pool);
	uint32_t n =
		head->n_users < CND_USER_LIMITS_MAX ? head->n_users : CND_USER_LIMITS_MAX;

	for (uint32_t i = 0; i < n && g->peer.door == CND_DOOR_UNIX; i++) {
		if (head->users[i].uid == g->share->of.uid)
			return &head->users[i];
	}
	return &head->users[n];
}

static unsigned
list_of(const struct cnd_guest *g)
{
	if (g->peer.door == CND_DOOR_TCP)
		return STRANGERS;
	return user_of(g)->is_high ? CND_TURNS_HIGH + NEIGHBOURS : NEIGHBOURS;
}

/* Whether the guest's user or address has as many sessions as it may have. Its clients in the kernel's queue count as well,
 * since workers take them next. */
static bool
has_all_sessions(const struct cnd_guest *g)
{
	const struct cnd_share_of *of = &g->share->of;
	bool is_stranger = g->peer.door == CND_DOOR_TCP;
	uint32_t limit =
		is_stranger ? head_of(g->pool)->address_sessions : user_of(g)->sessions;
	uint64_t key;

	if (limit == 0)
		return false;
	key = is_stranger ? cnd_tally_key(CND_COUNT_ADDRESS, &of->addr, sizeof(of->addr))
			  : cnd_tally_key(CND_COUNT_UID, &of->uid, sizeof(of->uid));
	return cnd_tally_of(&record_of(g->pool)->tally, key) + g->share->n_pushed >=
	       limit;
}

/* The client whose turn it is; NULL: there is none, or the kernel's queue is long enough: it has at most one client for each
 * session, and never more than there are tickets. */
static struct cnd_guest *
next_guest(uint32_t pool)
{
	struct cnd_door_pool *p = &cnd_the_door.pools[pool];
	uint32_t most = head_of(pool)->max_sessions;
	unsigned lists = 1u << NEIGHBOURS;

	if (p->held.n == 0 || p->waiting.n >= (most < CND_TICKETS ? most : CND_TICKETS))
		return NULL;
	if (p->n_held_strangers > 0 && has_place_for_stranger(pool))
		lists |= 1u << STRANGERS;
	for (int i = 0; i < SKIPS_MAX; i++) {
		struct cnd_guest *g = guest_of(cnd_turns_next(&p->turns, lists));

		if (g == NULL || !has_all_sessions(g))
			return g;
		cnd_turns_skip(&p->turns, &g->turn);
	}
	return NULL;
}

static int
send_to_queue(const struct cnd_door_pool *p, const struct cnd_guest *g)
{
	struct cnd_ipc m = { .kind = CND_IPC_CLIENT,
		.index = g->ticket,
		.serial = g->serial,
		.n_fds = 1,
		.n_bytes = (uint32_t)g->kept_len,
		.peer = g->peer,
		.fds = { g->fd } };

	if (g->kept_len > 0)
		memcpy(m.bytes, g->kept, g->kept_len);
	return cnd_ipc_send(p->queue_fd, &m);
}

/* Put the client into the kernel's queue. -1: there is no room. */
static int
push_one(struct cnd_door_pool *p, struct cnd_guest *g)
{
	struct cnd_pool_record *record = record_of(g->pool);
	int ticket = cnd_ticket_take(record, cnd_the_door.next_ticket, &g->serial);

	if (ticket < 0)
		return -1;
	g->ticket = (uint32_t)ticket;
	if (send_to_queue(p, g) < 0) {
		cnd_ticket_release(record, g->ticket);
		return -1;
	}
	cnd_the_door.next_ticket = g->ticket + 1;
	cnd_turns_serve(&p->turns, &g->turn);
	cnd_guest_move(g, CND_GUEST_WAITING);
	p->is_dirty = 1;
	p->needs_help = 1;
	return 0;
}

/* Put clients into the kernel's queue while it is their turn. */
static void
push(uint32_t pool)
{
	struct cnd_door_pool *p = &cnd_the_door.pools[pool];
	struct cnd_guest *g;

	p->is_jammed = 0;
	while (!p->is_jammed && (g = next_guest(pool)) != NULL)
		p->is_jammed = push_one(p, g) < 0;
}

/* How many clients in `waiting` a worker has already taken; with a share, only those of its user. The door cannot dismiss them
 * while it handles events, since an event may be theirs. */
static uint32_t
count_taken(uint32_t pool, const struct cnd_share *share)
{
	uint32_t n = 0;

	for (const struct cnd_guest *g = cnd_the_door.pools[pool].waiting.first;
		g != NULL; g = g->next)
		n += (share == NULL || g->share == share) &&
		     cnd_ticket_state(record_of(pool), g->ticket) == CND_TICKET_TAKEN;
	return n;
}

/* Refuse a client that would have to wait behind too many others. 1: it has gone. */
static int
refuse_too_many(struct cnd_guest *g)
{
	const struct cnd_pool_head *head = head_of(g->pool);
	bool is_stranger = g->peer.door == CND_DOOR_TCP;
	uint32_t own_limit = is_stranger ? head->address_waiting : user_of(g)->waiting;
	uint32_t n_all, n_own;

	if (own_limit == 0 && head->max_waiting == 0)
		return 0;
	if (cnd_pool_has_idle(record_of(g->pool)) && !has_all_sessions(g))
		return 0;
	n_all = cnd_the_door.waiting_shares.n[g->pool] - 1 - count_taken(g->pool, NULL);
	n_own = g->share->n - 1 - count_taken(g->pool, g->share);
	if (head->max_waiting > 0 && n_all >= head->max_waiting)
		cnd_guest_refuse(g, CNC_SQLSTATE(TOO_MANY),
			"pool %s: %u clients wait for a session, as many as max_waiting "
			"allows; try again later",
			head->name, n_all);
	else if (own_limit > 0 && n_own >= own_limit)
		cnd_guest_refuse(g, CNC_SQLSTATE(TOO_MANY),
			"pool %s: %u clients of the same %s wait for a session, as many "
			"as %s allows; try again later",
			head->name, n_own, is_stranger ? "address" : "user",
			is_stranger ? "address_limits" : "user_limits");
	else
		return 0;
	return 1;
}

void
cnd_waiting_admit(struct cnd_guest *g)
{
	int64_t now = cnd_now_ms();
	int64_t until = now;

	if (cnd_guest_take_share(g, &cnd_the_door.waiting_shares, "for a session") < 0 ||
		refuse_too_many(g))
		return;
	if (g->peer.door == CND_DOOR_TCP)
		until = cnd_blame_until(&cnd_the_door.blame, &g->peer, now);
	if (until > now)
		cnd_guest_pause(g, CND_GUEST_HELD, until);
	else
		cnd_waiting_go_on(g);
}

void
cnd_waiting_go_on(struct cnd_guest *g)
{
	struct cnd_door_pool *p = &cnd_the_door.pools[g->pool];
	struct cnd_pool_record *record = record_of(g->pool);
	uint32_t pool = g->pool;

	cnd_guest_move(g, CND_GUEST_HELD);
	cnd_turns_join(&p->turns, &g->share->turns, list_of(g), &g->turn);
	if (!cnd_pool_has_idle(record))
		atomic_fetch_add_explicit(&record->queued, 1, memory_order_relaxed);
	if (g->peer.door == CND_DOOR_UNIX || has_all_sessions(g))
		p->needs_help = 1;
	/* from now on only the end of its connection matters */
	if (cnd_guest_watch(g, EPOLL_CTL_MOD, EPOLLRDHUP) < 0)
		cnd_log(LOG_WARNING, "epoll: %s", strerror(errno));
	/* at once, since a worker that finds nothing in the queue accepts a newer client */
	push(pool);
}

/* Withdraw the guest's ticket. 1: no worker can take the guest any more; 0: a worker has taken it. */
static int
give_up(struct cnd_guest *g)
{
	if (g->phase != CND_GUEST_WAITING)
		return 1;
	if (!cnd_ticket_move(
		    record_of(g->pool), g->ticket, g->serial, CND_TICKET_GIVEN_UP)) {
		dismiss_waiting(g);
		return 0;
	}
	cnd_ticket_release(record_of(g->pool), g->ticket);
	return 1;
}

void
cnd_waiting_leave(struct cnd_guest *g)
{
	if (give_up(g))
		cnd_guest_dismiss(g);
}

static void
refuse_late(struct cnd_guest *g)
{
	char why[CND_LATE_TEXT_MAX];

	if (!give_up(g))
		return;
	cnd_answer_late(cnd_the_door.board, g->pool,
		cnd_waiting_count(&cnd_the_door.pools[g->pool]), why);
	cnd_guest_refuse(g, CNC_SQLSTATE(POOL_BUSY), "%s", why);
}

/* Describe a failed login by its SQLSTATE. */
static const char *
what_failed(const struct cnd_login *login)
{
	if (strncmp(login->sqlstate, "28", 2) == 0)
		return "its server refused the login";
	if (strncmp(login->sqlstate, "08", 2) == 0)
		return "its server cannot be reached";
	return "the login to its server failed";
}

static void
refuse_down(struct cnd_guests *list, const struct cnd_login *login)
{
	for (struct cnd_guest *g = list->first, *next; g != NULL; g = next) {
		next = g->next;
		if (give_up(g))
			cnd_guest_refuse(g, CNC_SQLSTATE(CANNOT_CONNECT),
				"pool %s: %s: %s", head_of(g->pool)->name,
				what_failed(login), login->error);
	}
}

/* If no worker of the pool can log in, waiting might never end. So send the clients the reason, once failover_hold is over.
 * 1: it is not over yet. */
static int
refuse_if_down(uint32_t pool)
{
	struct cnd_door_pool *p = &cnd_the_door.pools[pool];
	struct cnd_census census;
	struct cnd_login login;

	cnd_pool_census(cnd_the_door.board, pool, &census);
	if (!cnd_census_is_down(&census))
		return 0;
	if (cnd_now_ms() < cnd_pool_holds_until(cnd_the_door.board, pool))
		return 1;
	cnd_slot_login(
		cnd_slot_at(cnd_the_door.board, (uint32_t)census.failing_slot), &login);
	refuse_down(&p->waiting, &login);
	refuse_down(&p->held, &login);
	return 0;
}

/* ---- all clients of a pool ---- */

static void
refuse_list(struct cnd_guests *list, uint32_t pool, const char *why)
{
	for (struct cnd_guest *g = list->first, *next; g != NULL; g = next) {
		next = g->next;
		if (g->pool == pool && give_up(g))
			cnd_guest_refuse(g, CNC_SQLSTATE(SHUTDOWN), "%s", why);
	}
}

void
cnd_waiting_refuse_all(uint32_t pool, const char *why)
{
	refuse_list(&cnd_the_door.blamed, pool, why);
	refuse_list(&cnd_the_door.asking, pool, why);
	refuse_list(&cnd_the_door.pools[pool].held, pool, why);
	refuse_list(&cnd_the_door.pools[pool].waiting, pool, why);
}

void
cnd_waiting_settle(uint32_t pool)
{
	struct cnd_door_pool *p = &cnd_the_door.pools[pool];

	if (p->waiting.n + p->held.n == 0)
		return;
	dismiss_taken(p);
	push(pool);
	p->is_dirty = p->is_dirty && refuse_if_down(pool);
	/* a client that was meant for an idle worker may find that another client has it */
	if (p->needs_help && cnd_waiting_count(p) > 0 &&
		(!cnd_pool_has_idle(record_of(pool)) ||
			cnd_waiting_count(p) > p->waiting.n)) {
		p->needs_help = 0;
		call_for_help(pool);
	}
}

static int
refuse_last(const struct cnd_guests *list)
{
	struct cnd_guest *g = list->last;

	if (g != NULL && give_up(g))
		cnd_guest_refuse_full(g);
	return g != NULL;
}

int
cnd_waiting_shed(void)
{
	if (refuse_last(&cnd_the_door.talking) || refuse_last(&cnd_the_door.strangers))
		return 1;
	for (uint32_t i = 0; i < CND_POOL_RECORD; i++) {
		if (refuse_last(&cnd_the_door.pools[i].held) ||
			refuse_last(&cnd_the_door.pools[i].waiting))
			return 1;
	}
	return 0;
}

static int64_t
deadline_of(const struct cnd_guest *g)
{
	int64_t limit = head_of(g->pool)->queue_timeout_ms;

	return limit > 0 ? g->since_ms + limit : CND_NEVER;
}

/* `held` is in the order of arrival, so its first client expires first. `waiting` is in the order of turns, but it has at most
 * CND_TICKETS clients. */
void
cnd_waiting_expire(uint32_t pool, int64_t now_ms)
{
	struct cnd_door_pool *p = &cnd_the_door.pools[pool];

	while (p->held.first != NULL && now_ms >= deadline_of(p->held.first))
		refuse_late(p->held.first);
	for (struct cnd_guest *g = p->waiting.first, *next; g != NULL; g = next) {
		next = g->next;
		if (now_ms >= deadline_of(g))
			refuse_late(g);
	}
}

static int64_t
earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int64_t
cnd_waiting_next(uint32_t pool, int64_t now_ms)
{
	const struct cnd_door_pool *p = &cnd_the_door.pools[pool];
	int64_t until = CND_NEVER;

	if (cnd_waiting_count(p) > 0 && p->is_dirty)
		until = cnd_pool_holds_until(cnd_the_door.board, pool);
	if (p->held.first != NULL)
		until = earlier(
			until, earlier(deadline_of(p->held.first),
				       now_ms + (p->is_jammed ? LOOK_MS : IDLE_MS)));
	for (const struct cnd_guest *g = p->waiting.first; g != NULL; g = g->next)
		until = earlier(until, deadline_of(g));
	return until;
}
