/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clients that want a session of a pool, in order. Each waiting client has a ticket, and its socket
 * is in the kernel's queue from which the pool's workers take clients. The ticket is changed by
 * compare-and-swap, so either the door or one worker has the client. door.c, guest.c and opening.c
 * call this file.
 *
 * A TCP client must first prove its identity, which takes a worker's time. Such clients occupy at
 * most half of a pool's workers; the door holds the others back.
 */
#include "door_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "core/sqlstate.h"
#include "shared/answer.h"
#include "shared/log.h"

/* How soon to look again when the queue is full. */
#define LOOK_MS 5

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

/* No worker is free for the clients that wait: tell everybody who can help. */
static void
call_for_help(uint32_t pool)
{
	atomic_store(&record_of(pool)->contended_ms, cnd_now_ms());
	tell_master(pool);
	if (head_of(pool)->mode == CND_MODE_TRANSACTION)
		ask_holders(pool, cnd_the_door.pools[pool].waiting.n);
}

/* Put clients into the kernel's queue, in order, until it is full. */
static void
push(struct cnd_door_pool *p)
{
	while (p->to_push != NULL) {
		struct cnd_guest *g = p->to_push;
		struct cnd_ipc m = { .kind = CND_IPC_CLIENT,
			.index = g->ticket,
			.serial = g->serial,
			.n_fds = 1,
			.n_bytes = (uint32_t)g->kept_len,
			.peer = g->peer,
			.fds = { g->fd } };

		if (g->kept_len > 0)
			memcpy(m.bytes, g->kept, g->kept_len);
		if (cnd_ipc_send(p->queue_fd, &m) < 0)
			return;
		p->to_push = g->next;
	}
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

static void
enqueue(struct cnd_guest *g)
{
	struct cnd_door_pool *p = &cnd_the_door.pools[g->pool];
	struct cnd_pool_record *record = record_of(g->pool);
	int ticket = cnd_ticket_take(record, cnd_the_door.next_ticket, &g->serial);

	if (ticket < 0) {
		cnd_guest_refuse(g, CNC_SQLSTATE(TOO_MANY),
			"pool %s: no free session, and too many clients wait",
			head_of(g->pool)->name);
		return;
	}
	g->ticket = (uint32_t)ticket;
	cnd_the_door.next_ticket = g->ticket + 1;
	cnd_guest_move(g, CND_GUEST_WAITING);
	if (p->to_push == NULL)
		p->to_push = g;
	p->is_dirty = 1;
	p->needs_help = 1;
	if (!cnd_pool_has_idle(record))
		atomic_fetch_add_explicit(&record->queued, 1, memory_order_relaxed);
	/* from now on only the end of its connection matters */
	if (cnd_guest_watch(g, EPOLL_CTL_MOD, EPOLLRDHUP) < 0)
		cnd_log(LOG_WARNING, "epoll: %s", strerror(errno));
	/* at once, since a worker that finds nothing in the queue accepts a newer client */
	push(p);
}

static int
has_place_for_stranger(uint32_t pool)
{
	uint32_t most = head_of(pool)->max_sessions / 2;

	return record_of(pool)->unproven + cnd_the_door.pools[pool].n_strangers <
	       (most > 0 ? most : 1);
}

void
cnd_waiting_admit(struct cnd_guest *g)
{
	int64_t now = cnd_now_ms();
	int64_t until = now;

	if (cnd_guest_take_share(g, &cnd_the_door.waiting_shares, "for a session") < 0)
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
	if (g->peer.door == CND_DOOR_UNIX || (cnd_the_door.pools[g->pool].held.n == 0 &&
						     has_place_for_stranger(g->pool))) {
		enqueue(g);
		return;
	}
	cnd_guest_move(g, CND_GUEST_HELD);
	(void)cnd_guest_watch(g, EPOLL_CTL_MOD, EPOLLRDHUP);
}

/* Let the next TCP clients prove their identity. */
static void
let_in(uint32_t pool)
{
	struct cnd_guests *held = &cnd_the_door.pools[pool].held;

	while (held->first != NULL && has_place_for_stranger(pool))
		enqueue(held->first);
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
	cnd_answer_late(
		cnd_the_door.board, g->pool, cnd_the_door.pools[g->pool].waiting.n, why);
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

/* If no worker of the pool can log in, waiting might never end: send the reason, at once or after failover_hold. 1: look again
 * then. */
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
	for (struct cnd_guest *g = p->waiting.first, *next; g != NULL; g = next) {
		next = g->next;
		if (give_up(g))
			cnd_guest_refuse(g, CNC_SQLSTATE(CANNOT_CONNECT),
				"pool %s: %s: %s", head_of(pool)->name,
				what_failed(&login), login.error);
	}
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

	if (p->waiting.n > 0) {
		dismiss_taken(p);
		push(p);
		p->is_dirty = p->is_dirty && refuse_if_down(pool);
		/* a client that was meant for an idle worker may find that another client has it */
		if (p->needs_help && !cnd_pool_has_idle(record_of(pool))) {
			p->needs_help = 0;
			call_for_help(pool);
		}
	}
	let_in(pool);
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

static void
expire(struct cnd_guests *list, int64_t now_ms)
{
	while (list->first != NULL && now_ms >= deadline_of(list->first))
		refuse_late(list->first);
}

void
cnd_waiting_expire(uint32_t pool, int64_t now_ms)
{
	expire(&cnd_the_door.pools[pool].held, now_ms);
	expire(&cnd_the_door.pools[pool].waiting, now_ms);
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

	if (p->to_push != NULL)
		until = now_ms + LOOK_MS;
	if (p->waiting.first != NULL)
		until = earlier(until, deadline_of(p->waiting.first));
	if (p->waiting.first != NULL && p->is_dirty)
		until = earlier(until, cnd_pool_holds_until(cnd_the_door.board, pool));
	/* for a free place, the worker that leaves it wakes the door */
	if (p->held.first != NULL)
		until = earlier(until, deadline_of(p->held.first));
	return until;
}
