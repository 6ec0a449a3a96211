/* SPDX-License-Identifier: BSD-2-Clause */
#include "scoreboard.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define TO(state) (1u << CND_SLOT_##state)

const struct cnc_sm_state cnd_slot_states[CND_SLOT_STATES] = {
	[CND_SLOT_FREE] = { "free", TO(STARTING) },
	[CND_SLOT_STARTING] = { "starting", TO(FAILING) | TO(IDLE) | TO(ENDING) },
	[CND_SLOT_FAILING] = { "failing", TO(IDLE) | TO(ENDING) },
	[CND_SLOT_IDLE] = { "idle",
		TO(OPENING) | TO(FAILING) | TO(RESETTING) | TO(ENDING) },
	[CND_SLOT_OPENING] = { "opening",
		TO(IDLE) | TO(ATTACHED) | TO(RESETTING) | TO(ENDING) },
	[CND_SLOT_ATTACHED] = { "attached", TO(RESETTING) | TO(SUSPENDED) | TO(ENDING) },
	[CND_SLOT_SUSPENDED] = { "suspended", TO(ATTACHED) | TO(RESETTING) | TO(ENDING) },
	[CND_SLOT_RESETTING] = { "resetting", TO(IDLE) | TO(FAILING) | TO(ENDING) },
	[CND_SLOT_ENDING] = { "ending", TO(FREE) },
};

static size_t
size_for(uint32_t n_slots)
{
	return sizeof(struct cnd_scoreboard) + n_slots * sizeof(struct cnd_slot);
}

struct cnd_scoreboard *
cnd_scoreboard_create(uint32_t n_slots)
{
	struct cnd_scoreboard *b = mmap(NULL, size_for(n_slots), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (b == MAP_FAILED)
		return NULL;
	b->n_slots = n_slots;
	return b;
}

void
cnd_scoreboard_destroy(struct cnd_scoreboard *b)
{
	if (b != NULL)
		munmap(b, size_for(b->n_slots));
}

int64_t
cnd_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- texts under a sequence lock ---- */

static void
seq_write(struct cnd_seq *seq, void *to, const void *from, size_t size)
{
	uint32_t n = atomic_load_explicit(&seq->n, memory_order_relaxed);

	/* a writer that died half-way left it odd: the next one makes it even again */
	atomic_store_explicit(&seq->n, n | 1u, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	memcpy(to, from, size);
	atomic_store_explicit(&seq->n, (n | 1u) + 1, memory_order_release);
}

/* All zero if no whole text could be had: a writer may have died in the middle of one. */
static void
seq_read(const struct cnd_seq *seq, void *to, const void *from, size_t size)
{
	for (int i = 0; i < 1000; i++) {
		uint32_t before = atomic_load_explicit(&seq->n, memory_order_acquire);

		memcpy(to, from, size);
		atomic_thread_fence(memory_order_acquire);
		if (!(before & 1) &&
			atomic_load_explicit(&seq->n, memory_order_relaxed) == before)
			return;
		if (i > 100)
			sched_yield();
	}
	memset(to, 0, size);
}

void
cnd_slot_set_identity(struct cnd_slot *s, const struct cnd_identity *identity)
{
	seq_write(&s->identity_seq, &s->identity, identity, sizeof(*identity));
}

void
cnd_slot_identity(const struct cnd_slot *s, struct cnd_identity *ret_identity)
{
	seq_read(&s->identity_seq, ret_identity, &s->identity, sizeof(*ret_identity));
}

void
cnd_slot_set_login(struct cnd_slot *s, const struct cnd_login *login)
{
	seq_write(&s->login_seq, &s->login, login, sizeof(*login));
}

void
cnd_slot_login(const struct cnd_slot *s, struct cnd_login *ret_login)
{
	seq_read(&s->login_seq, ret_login, &s->login, sizeof(*ret_login));
}

/* ---- slots ---- */

int
cnd_slot_take(struct cnd_scoreboard *b, uint32_t pool)
{
	for (uint32_t i = 0; i < b->n_slots; i++) {
		struct cnd_slot *s = &b->slots[i];

		if (s->state != CND_SLOT_FREE)
			continue;
		s->pool = pool;
		s->order = CND_ORDER_NONE;
		s->key = 0;
		s->server_line = 0;
		s->owner = 0;
		s->attaches = 0;
		s->requests = 0;
		s->errors = 0;
		s->yields = 0;
		s->since_ms = cnd_now_ms();
		cnd_slot_set_login(s, &(struct cnd_login){ .error = "" });
		cnd_slot_set_identity(s, &(struct cnd_identity){ .uid = -1 });
		s->state = CND_SLOT_STARTING;
		return (int)i;
	}
	return -1;
}

void
cnd_slot_leave_line(struct cnd_scoreboard *b, uint32_t slot)
{
	struct cnd_slot *s = &b->slots[slot];
	uint32_t line = atomic_exchange(&s->server_line, 0);

	if (line > 0 && line <= CND_SERVERS_MAX)
		atomic_fetch_sub(&b->pools[s->pool].line_sessions[line - 1], 1);
}

int
cnd_slot_set_unproven(struct cnd_scoreboard *b, uint32_t slot, uint32_t is_unproven)
{
	struct cnd_pool_record *p = &b->pools[b->slots[slot].pool];

	if (atomic_exchange(&b->slots[slot].is_unproven, is_unproven) == is_unproven)
		return 0;
	if (is_unproven)
		atomic_fetch_add(&p->unproven, 1);
	else
		atomic_fetch_sub(&p->unproven, 1);
	return !is_unproven && atomic_load(&p->held) > 0;
}

void
cnd_slot_release(struct cnd_scoreboard *b, uint32_t slot)
{
	struct cnd_slot *s = &b->slots[slot];

	s->key = 0;
	cnd_slot_leave_line(b, slot);
	if (atomic_exchange(&s->is_leaving, 0))
		atomic_fetch_sub(&b->pools[s->pool].leaving, 1);
	(void)cnd_slot_set_unproven(b, slot, 0);
	atomic_fetch_and(&b->pools[s->pool].idle[slot / 64], ~(1ull << slot % 64));
	s->pid = 0;
	s->state = CND_SLOT_FREE;
}

int
cnd_pool_has_idle(const struct cnd_pool_record *p)
{
	for (size_t i = 0; i < CND_IDLE_WORDS; i++) {
		if (atomic_load_explicit(&p->idle[i], memory_order_relaxed) != 0)
			return 1;
	}
	return 0;
}

int
cnd_slot_publish(struct cnd_scoreboard *b, uint32_t slot, uint32_t state)
{
	struct cnd_slot *s = &b->slots[slot];
	struct cnd_pool_record *p = &b->pools[s->pool];
	uint64_t bit = 1ull << slot % 64;
	uint32_t old = atomic_load_explicit(&s->state, memory_order_relaxed);

	atomic_store_explicit(&s->since_ms, cnd_now_ms(), memory_order_relaxed);
	atomic_store_explicit(&s->state, state, memory_order_release);
	if (state == CND_SLOT_IDLE) {
		atomic_fetch_or(&p->idle[slot / 64], bit);
		return 0;
	}
	if (old != CND_SLOT_IDLE)
		return 0;
	return (atomic_fetch_and(&p->idle[slot / 64], ~bit) & ~bit) == 0 &&
	       !cnd_pool_has_idle(p);
}

int
cnd_slot_claim(struct cnd_scoreboard *b, uint32_t slot)
{
	struct cnd_pool_record *p = &b->pools[b->slots[slot].pool];
	uint64_t bit = 1ull << slot % 64;

	return (atomic_fetch_and(&p->idle[slot / 64], ~bit) & bit) != 0;
}

void
cnd_slot_unclaim(struct cnd_scoreboard *b, uint32_t slot)
{
	struct cnd_pool_record *p = &b->pools[b->slots[slot].pool];

	atomic_fetch_or(&p->idle[slot / 64], 1ull << slot % 64);
}

struct cnd_slot *
cnd_slot_named(struct cnd_scoreboard *b, uint64_t session)
{
	uint32_t slot = (uint32_t)session;

	if (slot >= b->n_slots || b->slots[slot].generation != (uint32_t)(session >> 32))
		return NULL;
	return &b->slots[slot];
}

struct cnd_slot *
cnd_slot_find(struct cnd_scoreboard *b, uint64_t session, uint64_t key)
{
	struct cnd_slot *s = cnd_slot_named(b, session);

	return s != NULL && key != 0 && s->key == key ? s : NULL;
}

int
cnd_slot_cancel(struct cnd_slot *s, uint64_t session, uint32_t request)
{
	/* what is cancelled may not have been read by the worker yet; the word holds until it is.
	 * The generation in it keeps a late cancel away from the next client. */
	if (request == 0 || s->generation != (uint32_t)(session >> 32) ||
		(int32_t)(request - s->finished) <= 0)
		return 0;
	s->cancel = (session & 0xffffffff00000000u) | request;
	return s->generation == (uint32_t)(session >> 32);
}

int
cnd_slot_take_cancel(struct cnd_slot *s, uint32_t last)
{
	uint64_t asked = atomic_load_explicit(&s->cancel, memory_order_relaxed);
	uint32_t running = atomic_load_explicit(&s->request, memory_order_relaxed);
	uint32_t finished = atomic_load_explicit(&s->finished, memory_order_relaxed);

	if (asked == 0 || asked >> 32 != s->generation || running == 0)
		return 0;
	if ((int32_t)(running - finished) <= 0 ||
		(int32_t)((uint32_t)asked - running) < 0 ||
		(int32_t)((uint32_t)asked - last) < 0)
		return 0;
	/* it hits one, and not the next as well */
	return atomic_compare_exchange_strong(&s->cancel, &asked, 0);
}

/* ---- pools ---- */

static int
is_in_use(uint32_t state)
{
	return state == CND_SLOT_OPENING || state == CND_SLOT_ATTACHED ||
	       state == CND_SLOT_SUSPENDED || state == CND_SLOT_RESETTING;
}

void
cnd_pool_census(
	const struct cnd_scoreboard *b, uint32_t pool, struct cnd_census *ret_census)
{
	*ret_census = (struct cnd_census){ .failing_slot = -1 };
	for (uint32_t i = 0; i < b->n_slots; i++) {
		uint32_t state = b->slots[i].state;

		if (state == CND_SLOT_FREE || state >= CND_SLOT_STATES ||
			b->slots[i].pool != pool)
			continue;
		ret_census->n[state]++;
		ret_census->live++;
		ret_census->in_use += (uint32_t)is_in_use(state);
		if (state == CND_SLOT_FAILING)
			ret_census->failing_slot = (int)i;
	}
}

int
cnd_pool_leave(struct cnd_scoreboard *b, uint32_t slot)
{
	struct cnd_pool_record *p = &b->pools[b->slots[slot].pool];
	uint32_t leaving = p->leaving;

	do {
		if (p->live <= p->min_sessions + leaving)
			return 0;
	} while (!atomic_compare_exchange_weak(&p->leaving, &leaving, leaving + 1));
	atomic_store(&b->slots[slot].is_leaving, 1);
	return 1;
}

/* ---- tickets ---- */

int
cnd_ticket_take(struct cnd_scoreboard *b, uint32_t hint, uint64_t *ret_serial)
{
	for (uint32_t i = 0; i < CND_TICKETS; i++) {
		uint32_t at = (hint + i) % CND_TICKETS;
		uint64_t word = b->tickets[at];

		if ((word & 3) != CND_TICKET_FREE)
			continue;
		*ret_serial = (word >> 2) + 1;
		b->tickets[at] = *ret_serial << 2 | CND_TICKET_WAITING;
		return (int)at;
	}
	return -1;
}

int
cnd_ticket_move(struct cnd_scoreboard *b, uint32_t ticket, uint64_t serial, uint64_t to)
{
	uint64_t from = serial << 2 | CND_TICKET_WAITING;

	if (ticket >= CND_TICKETS)
		return 0;
	return atomic_compare_exchange_strong(
		&b->tickets[ticket], &from, serial << 2 | to);
}

uint64_t
cnd_ticket_state(const struct cnd_scoreboard *b, uint32_t ticket)
{
	return b->tickets[ticket] & 3;
}

void
cnd_ticket_release(struct cnd_scoreboard *b, uint32_t ticket)
{
	/* the serial stays, so that the next holder's is another */
	b->tickets[ticket] &= ~(uint64_t)3;
}

void
cnd_tickets_reset(struct cnd_scoreboard *b)
{
	for (uint32_t i = 0; i < CND_TICKETS; i++)
		cnd_ticket_release(b, i);
	for (uint32_t i = 0; i < CND_POOL_RECORD; i++) {
		b->pools[i].waiting = 0;
		b->pools[i].is_armed = 0;
	}
	b->door_is_awake = 0;
}
