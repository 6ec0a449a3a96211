/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shared memory of all processes: creates it, limits who can write what, and operates on slots,
 * pools and tickets. scoreboard.h says what it holds. All processes call this file, each with its own
 * view of the memory.
 */
#include "scoreboard.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "crypto/crypto.h"
#include "sealed.h"

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

/* ---- the memory ---- */

/* The layout: first the heads, which only the master writes, then the pools' records, then the slots.
 * Each part has pages of its own, so that a process can be kept from writing the parts of others. */
struct heads {
	struct cnd_pool_head pools[CND_POOL_RECORD];
	struct cnd_slot_head slots[CND_SLOTS_MAX];
	_Atomic uint32_t is_timed;
	_Atomic int32_t log_level;
};

static size_t
in_pages(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

/* Create the hasher before the first fork, so that no process has to look up the algorithm. 0, or -1
 * with errno. */
static int
create_hasher(struct cnd_scoreboard *b)
{
	const struct cn_crypto *crypto = cn_crypto_get(CN_CRYPTO_ABI);

	if (crypto == NULL)
		return 0;
	b->hasher = crypto->hasher->create();
	if (b->hasher != NULL)
		return 0;
	errno = ENOMEM;
	return -1;
}

struct cnd_scoreboard *
cnd_scoreboard_create(uint32_t n_slots)
{
	struct cnd_scoreboard *b = calloc(1, sizeof(*b));

	if (b == NULL)
		return NULL;
	b->n_slots = n_slots;
	b->record_stride = in_pages(sizeof(struct cnd_pool_record));
	b->slot_stride = in_pages(sizeof(struct cnd_slot));
	b->records_at = in_pages(sizeof(struct heads));
	b->slots_at = b->records_at + CND_POOL_RECORD * b->record_stride;
	b->size = b->slots_at + n_slots * b->slot_stride;
	b->base = cnd_sealed_create("cenote-board", b->size, &b->fd);
	if (b->base != NULL && create_hasher(b) == 0)
		return b;
	cnd_scoreboard_destroy(b);
	return NULL;
}

void
cnd_scoreboard_destroy(struct cnd_scoreboard *b)
{
	int error = errno;

	if (b == NULL)
		return;
	if (b->base != NULL)
		munmap(b->base, b->size);
	if (b->fd >= 0)
		close(b->fd);
	if (b->hasher != NULL)
		cn_crypto_get(CN_CRYPTO_ABI)->hasher->destroy(b->hasher);
	free(b);
	errno = error;
}

/* Map these pages again, read-only. */
static int
make_read_only(const struct cnd_scoreboard *b, size_t from, size_t to)
{
	if (from < to &&
		mmap(b->base + from, to - from, PROT_READ, MAP_SHARED | MAP_FIXED, b->fd,
			(off_t)from) == MAP_FAILED)
		return -errno;
	return 0;
}

/* There are n objects of this size from `at` on: do this for all except these, which are in
 * ascending order. */
static int
make_others_read_only(const struct cnd_scoreboard *b, size_t at, size_t stride,
	uint32_t n, const uint32_t *own, uint32_t n_own)
{
	size_t end = at + n * stride;
	size_t from = at;

	for (uint32_t i = 0; i < n_own; i++) {
		int r = own[i] >= n || from > at + own[i] * stride
				? -EINVAL
				: make_read_only(b, from, at + own[i] * stride);

		if (r < 0)
			return r;
		from = at + (own[i] + 1) * stride;
	}
	return make_read_only(b, from, end);
}

int
cnd_scoreboard_confine(
	struct cnd_scoreboard *b, uint32_t pool, const uint32_t *slots, uint32_t n_slots)
{
	int r = make_read_only(b, 0, b->records_at);

	if (r == 0 && pool != CND_BOARD_ALL)
		r = make_others_read_only(b, b->records_at, b->record_stride,
			CND_POOL_RECORD, &pool, pool != CND_BOARD_NONE);
	if (r == 0 && pool != CND_BOARD_ALL)
		r = make_others_read_only(
			b, b->slots_at, b->slot_stride, b->n_slots, slots, n_slots);
	close(b->fd);
	b->fd = -1;
	return r;
}

_Atomic int32_t *
cnd_board_log_level(const struct cnd_scoreboard *b)
{
	return &((struct heads *)b->base)->log_level;
}

struct cnd_pool_head *
cnd_pool_head(const struct cnd_scoreboard *b, uint32_t pool)
{
	return &((struct heads *)b->base)->pools[pool];
}

struct cnd_slot_head *
cnd_slot_head(const struct cnd_scoreboard *b, uint32_t slot)
{
	return &((struct heads *)b->base)->slots[slot];
}

struct cnd_pool_record *
cnd_pool_record(const struct cnd_scoreboard *b, uint32_t pool)
{
	return (struct cnd_pool_record *)(b->base + b->records_at +
					  pool * b->record_stride);
}

struct cnd_slot *
cnd_slot_at(const struct cnd_scoreboard *b, uint32_t slot)
{
	return (struct cnd_slot *)(b->base + b->slots_at + slot * b->slot_stride);
}

static struct cnd_pool_record *
record_of(const struct cnd_scoreboard *b, uint32_t slot)
{
	return cnd_pool_record(b, cnd_slot_head(b, slot)->pool);
}

int64_t
cnd_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- times ---- */

void
cnd_scoreboard_set_timed(struct cnd_scoreboard *b, int is_timed)
{
	atomic_store(&((struct heads *)b->base)->is_timed, (uint32_t)is_timed);
}

int
cnd_scoreboard_is_timed(const struct cnd_scoreboard *b)
{
	return atomic_load_explicit(
		       &((struct heads *)b->base)->is_timed, memory_order_relaxed) != 0;
}

/* ---- texts under a sequence lock ---- */

static void
seq_write(struct cnd_seq *seq, void *to, const void *from, size_t size)
{
	uint32_t n = atomic_load_explicit(&seq->n, memory_order_relaxed);

	/* a writer that died half-way left it odd; the next one makes it even again */
	atomic_store_explicit(&seq->n, n | 1u, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	memcpy(to, from, size);
	atomic_store_explicit(&seq->n, (n | 1u) + 1, memory_order_release);
}

/* Read a text. The result is all zero if no consistent text could be read: a writer may have died in
 * the middle of it. */
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

/* The writer may be an attacker who left out the terminating zero. */
#define END_TEXT(array) ((array)[sizeof(array) - 1] = '\0')

void
cnd_slot_set_identity(struct cnd_slot *s, const struct cnd_identity *identity)
{
	seq_write(&s->identity_seq, &s->identity, identity, sizeof(*identity));
}

void
cnd_slot_identity(const struct cnd_slot *s, struct cnd_identity *ret_identity)
{
	seq_read(&s->identity_seq, ret_identity, &s->identity, sizeof(*ret_identity));
	END_TEXT(ret_identity->user);
	END_TEXT(ret_identity->program);
	END_TEXT(ret_identity->application);
	END_TEXT(ret_identity->tls);
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
	END_TEXT(ret_login->server);
	END_TEXT(ret_login->tls);
	END_TEXT(ret_login->sqlstate);
	END_TEXT(ret_login->error);
}

/* ---- slots ---- */

void
cnd_slot_begin(struct cnd_scoreboard *b, uint32_t slot, uint32_t pool)
{
	struct cnd_slot_head *head = cnd_slot_head(b, slot);
	struct cnd_slot *s = cnd_slot_at(b, slot);

	head->pool = pool;
	head->order = CND_ORDER_NONE;
	cnd_slot_set_key(b, slot, 0);
	s->is_leaving = 0;
	s->is_unproven = 0;
	s->is_known = 0;
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
}

void
cnd_slot_leave_line(struct cnd_scoreboard *b, uint32_t slot)
{
	uint32_t line = atomic_exchange(&cnd_slot_at(b, slot)->server_line, 0);

	if (line > 0 && line <= CND_SERVERS_MAX)
		atomic_fetch_sub(&record_of(b, slot)->line_sessions[line - 1], 1);
}

int
cnd_slot_count(struct cnd_scoreboard *b, uint32_t slot, enum cnd_count kind, uint64_t key,
	uint32_t limit)
{
	int place = cnd_tally_take(&record_of(b, slot)->tally, key, limit);

	if (place < 0)
		return 0;
	atomic_store(&cnd_slot_at(b, slot)->counted[kind], (uint32_t)place + 1);
	return 1;
}

int
cnd_slot_uncount(struct cnd_scoreboard *b, uint32_t slot)
{
	int was_counted = 0;

	for (size_t i = 0; i < CND_COUNTS; i++) {
		uint32_t place = atomic_exchange(&cnd_slot_at(b, slot)->counted[i], 0);

		if (place == 0)
			continue;
		cnd_tally_give_back(&record_of(b, slot)->tally, place - 1);
		was_counted = 1;
	}
	return was_counted;
}

int
cnd_slot_set_unproven(struct cnd_scoreboard *b, uint32_t slot, uint32_t is_unproven)
{
	struct cnd_pool_record *p = record_of(b, slot);

	if (atomic_exchange(&cnd_slot_at(b, slot)->is_unproven, is_unproven) ==
		is_unproven)
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
	struct cnd_slot *s = cnd_slot_at(b, slot);

	cnd_slot_set_key(b, slot, 0);
	cnd_slot_leave_line(b, slot);
	(void)cnd_slot_uncount(b, slot);
	if (atomic_exchange(&s->is_leaving, 0))
		atomic_fetch_sub(&record_of(b, slot)->leaving, 1);
	(void)cnd_slot_set_unproven(b, slot, 0);
	atomic_fetch_and(&record_of(b, slot)->idle[slot / 64], ~(1ull << slot % 64));
	s->state = CND_SLOT_FREE;
	cnd_slot_head(b, slot)->pid = 0;
}

int64_t
cnd_pool_holds_until(const struct cnd_scoreboard *b, uint32_t pool)
{
	int64_t hold = cnd_pool_head(b, pool)->failover_hold_ms;

	return hold > 0 ? cnd_pool_record(b, pool)->served_ms + hold : 0;
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
	struct cnd_slot *s = cnd_slot_at(b, slot);
	struct cnd_pool_record *p = record_of(b, slot);
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
	struct cnd_pool_record *p = record_of(b, slot);
	uint64_t bit = 1ull << slot % 64;

	return (atomic_fetch_and(&p->idle[slot / 64], ~bit) & bit) != 0;
}

void
cnd_slot_unclaim(struct cnd_scoreboard *b, uint32_t slot)
{
	struct cnd_pool_record *p = record_of(b, slot);

	atomic_fetch_or(&p->idle[slot / 64], 1ull << slot % 64);
}

uint32_t
cnd_slot_named(const struct cnd_scoreboard *b, uint32_t pool, uint64_t session)
{
	uint32_t slot = (uint32_t)session;

	if (slot >= b->n_slots || cnd_slot_head(b, slot)->pid == 0 ||
		cnd_slot_head(b, slot)->pool != pool ||
		cnd_slot_at(b, slot)->generation != (uint32_t)(session >> 32))
		return CND_BOARD_NONE;
	return slot;
}

/* Without OpenSSL there is no hash: the key itself is published, and any process of cenoted can use
 * it. */
static void
make_proof(const struct cnd_scoreboard *b, uint64_t session, uint64_t key,
	uint64_t ret_proof[CND_PROOF_WORDS])
{
	const uint64_t parts[] = { session, key };
	uint8_t hash[CNP_HASH_LEN] = { 0 };

	_Static_assert(CND_PROOF_WORDS * sizeof(uint64_t) == CNP_HASH_LEN, "one hash");
	if (b->hasher == NULL)
		memcpy(hash, parts, sizeof(parts));
	else
		/* a failure leaves zeros, and no key has those */
		(void)cn_crypto_get(CN_CRYPTO_ABI)
			->hasher->sha256(b->hasher, parts, sizeof(parts), hash);
	memcpy(ret_proof, hash, sizeof(hash));
}

static int
is_zero(const uint64_t proof[CND_PROOF_WORDS])
{
	return (proof[0] | proof[1] | proof[2] | proof[3]) == 0;
}

uint32_t
cnd_slot_find(
	const struct cnd_scoreboard *b, uint32_t pool, uint64_t session, uint64_t key)
{
	uint32_t slot = key != 0 ? cnd_slot_named(b, pool, session) : CND_BOARD_NONE;
	uint64_t proof[CND_PROOF_WORDS];

	if (slot == CND_BOARD_NONE)
		return slot;
	make_proof(b, session, key, proof);
	if (is_zero(proof))
		return CND_BOARD_NONE;
	for (size_t i = 0; i < CND_PROOF_WORDS; i++) {
		if (cnd_slot_at(b, slot)->proof[i] != proof[i])
			return CND_BOARD_NONE;
	}
	return slot;
}

void
cnd_slot_set_key(struct cnd_scoreboard *b, uint32_t slot, uint64_t key)
{
	struct cnd_slot *s = cnd_slot_at(b, slot);
	uint64_t proof[CND_PROOF_WORDS] = { 0 };

	if (key != 0)
		make_proof(b, cnd_session_number(slot, s->generation), key, proof);
	for (size_t i = 0; i < CND_PROOF_WORDS; i++)
		atomic_store_explicit(&s->proof[i], proof[i], memory_order_relaxed);
}

int
cnd_slot_runs(const struct cnd_slot *s, uint64_t session, uint32_t request)
{
	return request != 0 && s->generation == (uint32_t)(session >> 32) &&
	       (int32_t)(request - s->finished) > 0;
}

int
cnd_slot_cancel(struct cnd_slot *s, uint64_t session, uint32_t request)
{
	/* The worker may not have read the request yet; the word stays until it has. The generation
	 * in the word protects the next client from a late cancel. */
	if (!cnd_slot_runs(s, session, request))
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
	/* clear the cancel, so that it does not hit the next request as well */
	return atomic_compare_exchange_strong(&s->cancel, &asked, 0);
}

/* ---- pools ---- */

static int
is_in_use(uint32_t state)
{
	return state == CND_SLOT_OPENING || state == CND_SLOT_ATTACHED ||
	       state == CND_SLOT_SUSPENDED || state == CND_SLOT_RESETTING;
}

uint32_t
cnd_slot_pinned(const struct cnd_slot *s, uint32_t state)
{
	return state == CND_SLOT_ATTACHED || state == CND_SLOT_SUSPENDED ? s->pinned : 0;
}

static void
count_pins(uint32_t pins, struct cnd_census *c)
{
	c->pinned += pins != 0;
	for (size_t i = 0; i < CND_PINS; i++)
		c->pins[i] += pins >> i & 1;
}

void
cnd_pool_census(
	const struct cnd_scoreboard *b, uint32_t pool, struct cnd_census *ret_census)
{
	*ret_census = (struct cnd_census){ .failing_slot = -1 };
	for (uint32_t i = 0; i < b->n_slots; i++) {
		const struct cnd_slot_head *head = cnd_slot_head(b, i);
		uint32_t state;

		if (head->pid == 0 || head->pool != pool)
			continue;
		state = cnd_slot_at(b, i)->state;
		if (state == CND_SLOT_FREE || state >= CND_SLOT_STATES)
			continue;
		ret_census->n[state]++;
		ret_census->live++;
		ret_census->in_use += (uint32_t)is_in_use(state);
		count_pins(cnd_slot_pinned(cnd_slot_at(b, i), state), ret_census);
		if (state == CND_SLOT_FAILING)
			ret_census->failing_slot = (int)i;
	}
}

int
cnd_pool_leave(struct cnd_scoreboard *b, uint32_t slot)
{
	const struct cnd_pool_head *head = cnd_pool_head(b, cnd_slot_head(b, slot)->pool);
	struct cnd_pool_record *p = record_of(b, slot);
	uint32_t leaving = p->leaving;

	do {
		if (head->live <= head->min_sessions + leaving)
			return 0;
	} while (!atomic_compare_exchange_weak(&p->leaving, &leaving, leaving + 1));
	atomic_store(&cnd_slot_at(b, slot)->is_leaving, 1);
	return 1;
}

/* ---- tickets ---- */

int
cnd_ticket_take(struct cnd_pool_record *p, uint32_t hint, uint64_t *ret_serial)
{
	for (uint32_t i = 0; i < CND_TICKETS; i++) {
		uint32_t at = (hint + i) % CND_TICKETS;
		uint64_t word = p->tickets[at];

		if ((word & 3) != CND_TICKET_FREE)
			continue;
		*ret_serial = (word >> 2) + 1;
		p->tickets[at] = *ret_serial << 2 | CND_TICKET_WAITING;
		return (int)at;
	}
	return -1;
}

int
cnd_ticket_move(struct cnd_pool_record *p, uint32_t ticket, uint64_t serial, uint64_t to)
{
	uint64_t from = serial << 2 | CND_TICKET_WAITING;

	if (ticket >= CND_TICKETS)
		return 0;
	return atomic_compare_exchange_strong(
		&p->tickets[ticket], &from, serial << 2 | to);
}

uint64_t
cnd_ticket_state(const struct cnd_pool_record *p, uint32_t ticket)
{
	return p->tickets[ticket] & 3;
}

void
cnd_ticket_release(struct cnd_pool_record *p, uint32_t ticket)
{
	/* the serial stays, so that the next holder gets another one */
	p->tickets[ticket] &= ~(uint64_t)3;
}

void
cnd_tickets_reset(struct cnd_scoreboard *b)
{
	for (uint32_t i = 0; i < CND_POOL_RECORD; i++) {
		struct cnd_pool_record *p = cnd_pool_record(b, i);

		/* a record that no pool has used has no memory: do not give it some now */
		if (!cnd_pool_head(b, i)->is_used)
			continue;
		for (uint32_t j = 0; j < CND_TICKETS; j++)
			cnd_ticket_release(p, j);
		p->waiting = 0;
		p->is_armed = 0;
		p->door_is_awake = 0;
	}
}
