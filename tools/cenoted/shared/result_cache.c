/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory in which the workers of a pool keep results: counters of writes, an index, and a ring of results. serving/cached.c
 * calls this file; the master makes the memory.
 *
 * The ring. A position counts all bytes that were ever written, so it never comes again. A worker that keeps a result first
 * moves `next` on, and then writes its bytes behind the former position. What is further behind than the size of the ring is
 * overwritten. So the oldest result gives way, and a worker that dies leaves bytes to which no entry of the index points. A
 * worker that was stopped for long may write into the result of another one: the checksum shows that.
 *
 * The index. An entry is one word: a part of the key's hash, and the position. It is replaced by compare-and-swap. It may point
 * to bytes that are not there any more, or never were: the reader compares the whole key.
 */
#include "result_cache.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* Positions are multiples of this. */
#define ALIGN        64u
/* An entry of the index: the upper bits are of the hash, the others are the position. */
#define TAG_SHIFT    48
#define AT_MASK      ((UINT64_C(1) << TAG_SHIFT) - 1)
/* A key may be in this many entries. */
#define WAYS         4u
/* A kept result has at most this part of the ring. */
#define PART         8u
/* Bytes of the ring for each entry of the index. */
#define PER_ENTRY    1024u
/* Where a result has its length (core/saved.h). */
#define AT_LENGTH    32u
/* Servers cut longer names of tables, or refuse them. */
#define NAME_MAX_LEN 63u
/* Memory that a copy keeps for the next one. */
#define COPY_KEPT    65536u

struct cnd_cache_head {
	_Atomic uint64_t next; /* the position of the next result */
	_Atomic uint64_t all; /* statements that may have changed any table */
	_Atomic uint64_t tables[CND_CACHE_TABLES];
	_Atomic uint8_t is_writing[CND_CACHE_SLOTS];
};

/* ---- the memory ---- */

static size_t
round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

int
cnd_cache_create(struct cnd_cache *c, uint64_t size)
{
	size_t head = round_up(sizeof(struct cnd_cache_head), ALIGN);
	size_t n = WAYS;
	void *memory;

	if (size < CND_CACHE_SIZE_MIN || size > CND_CACHE_SIZE_MAX) {
		errno = EINVAL;
		return -1;
	}
	while (n * 2 * PER_ENTRY <= size)
		n *= 2;
	memory = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return -1;
	(void)madvise(memory, (size_t)size, MADV_DONTDUMP);
	c->head = memory;
	c->index = (_Atomic uint64_t *)(void *)((unsigned char *)memory + head);
	c->n_index = n;
	c->ring = (unsigned char *)memory + head + n * sizeof(*c->index);
	c->ring_size = ((size_t)size - head - n * sizeof(*c->index)) / ALIGN * ALIGN;
	c->size = (size_t)size;
	return 0;
}

void
cnd_cache_destroy(struct cnd_cache *c)
{
	if (c->head != NULL)
		munmap(c->head, c->size);
	*c = (struct cnd_cache){ .head = NULL };
}

size_t
cnd_cache_longest(const struct cnd_cache *c)
{
	return c->ring_size / PART;
}

uint64_t
cnd_cache_now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* ---- tables ---- */

uint16_t
cnd_cache_table(const char *name, size_t n)
{
	char lower[NAME_MAX_LEN];

	if (n > sizeof(lower))
		n = sizeof(lower);
	for (size_t i = 0; i < n; i++)
		lower[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] | 0x20
								   : name[i]);
	return (uint16_t)(cnc_saved_sum(lower, n, 0) % CND_CACHE_TABLES);
}

void
cnd_touch_add(struct cnd_touch *to, const struct cnd_touch *from)
{
	to->is_all |= from->is_all;
	for (uint8_t i = 0; i < from->n_tables && from->is_write && !to->is_all; i++) {
		uint8_t k = 0;

		while (k < to->n_tables && to->tables[k] != from->tables[i])
			k++;
		if (k == CND_TOUCH_TABLES)
			to->is_all = true;
		else if (k == to->n_tables)
			to->tables[to->n_tables++] = from->tables[i];
	}
	to->is_write |= from->is_write;
}

void
cnd_cache_raise(const struct cnd_cache *c, const struct cnd_touch *t)
{
	if (t->is_all)
		atomic_fetch_add(&c->head->all, 1);
	for (uint8_t i = 0; i < t->n_tables && t->is_write; i++)
		atomic_fetch_add(&c->head->tables[t->tables[i]], 1);
}

void
cnd_cache_mark(const struct cnd_cache *c, const struct cnd_touch *t,
	struct cnd_cache_marks *ret_marks)
{
	ret_marks->all = atomic_load(&c->head->all);
	for (uint8_t i = 0; i < t->n_tables; i++)
		ret_marks->tables[i] = atomic_load(&c->head->tables[t->tables[i]]);
}

void
cnd_cache_set_writing(const struct cnd_cache *c, uint32_t slot, bool is_writing)
{
	atomic_store(&c->head->is_writing[slot % CND_CACHE_SLOTS], is_writing);
}

bool
cnd_cache_is_writing(const struct cnd_cache *c, uint32_t slot)
{
	return atomic_load(&c->head->is_writing[slot % CND_CACHE_SLOTS]) != 0;
}

/* ---- results ---- */

static uint64_t
hash_of(const struct cnc_buf *key)
{
	return cnc_saved_sum(cnc_buf_head(key), cnc_buf_len(key), 1);
}

static uint64_t
entry_of(uint64_t hash, uint64_t at)
{
	return (hash >> TAG_SHIFT << TAG_SHIFT) | (at / ALIGN & AT_MASK);
}

static uint64_t
at_of(uint64_t entry)
{
	return (entry & AT_MASK) * ALIGN;
}

static _Atomic uint64_t *
entries_of(const struct cnd_cache *c, uint64_t hash)
{
	return c->index + (hash & (c->n_index - 1)) / WAYS * WAYS;
}

/* Whether the bytes at this position were not given to a later result. */
static bool
is_there(const struct cnd_cache *c, uint64_t at)
{
	uint64_t next = atomic_load(&c->head->next);

	return at < next && next - at <= c->ring_size;
}

/* Copy the bytes at the position. Another process may change them at any time, so they are checked in the copy. */
static bool
copy_at(const struct cnd_cache *c, uint64_t at, struct cnc_buf *copy)
{
	size_t offset = (size_t)(at % c->ring_size), left = c->ring_size - offset;
	uint8_t length[8];
	uint64_t n;

	if (!is_there(c, at) || left < CNC_SAVED_HEAD)
		return false;
	memcpy(length, c->ring + offset + AT_LENGTH, sizeof(length));
	n = cnc_get_u64(length);
	if (n < CNC_SAVED_HEAD || n > left || n > cnd_cache_longest(c))
		return false;
	cnc_buf_clear(copy, COPY_KEPT);
	if (cnc_buf_append(copy, c->ring + offset, (size_t)n) < 0)
		return false;
	atomic_thread_fence(memory_order_acquire);
	return is_there(c, at);
}

static bool
has_key(const struct cnc_saved *saved, const struct cnc_buf *key)
{
	return saved->key_len == cnc_buf_len(key) &&
	       memcmp(saved->key, cnc_buf_head(key), saved->key_len) == 0;
}

bool
cnd_cache_find(const struct cnd_cache *c, const struct cnc_buf *key, struct cnc_buf *copy,
	struct cnc_saved *ret_saved)
{
	uint64_t hash = hash_of(key);
	_Atomic uint64_t *entries = entries_of(c, hash);

	for (uint32_t i = 0; i < WAYS; i++) {
		uint64_t entry = atomic_load(&entries[i]);

		if (entry == 0 || entry >> TAG_SHIFT != hash >> TAG_SHIFT ||
			!copy_at(c, at_of(entry), copy))
			continue;
		if (cnc_saved_read(cnc_buf_head(copy), cnc_buf_len(copy), ret_saved) ==
				CENOTE_OK &&
			has_key(ret_saved, key))
			return true;
	}
	return false;
}

/* Take `n` bytes of the ring that do not go beyond its end, even if another process has written nonsense into `next`: `n` is
 * a small part of the ring, so that holds after an overflow, too. Position 0 is never given: an entry 0 is empty. */
static uint64_t
reserve(const struct cnd_cache *c, size_t n)
{
	uint64_t before = atomic_load(&c->head->next), at;

	do {
		at = before > 0 ? before / ALIGN * ALIGN : ALIGN;
		if (at % c->ring_size + n > c->ring_size)
			at += c->ring_size - at % c->ring_size;
	} while (!atomic_compare_exchange_weak(&c->head->next, &before, at + n));
	return at;
}

/* Choose the entry that gives way: one with the same hash, an empty one, or else the oldest. *ret_evicts: it has the result of
 * another key. */
static uint32_t
choose(const _Atomic uint64_t *entries, uint64_t hash, bool *ret_evicts)
{
	uint32_t chosen = 0;

	for (uint32_t i = 0; i < WAYS; i++) {
		uint64_t entry = atomic_load(&entries[i]);

		*ret_evicts = entry != 0 && entry >> TAG_SHIFT != hash >> TAG_SHIFT;
		if (!*ret_evicts && entry != 0)
			return i;
	}
	for (uint32_t i = 0; i < WAYS; i++) {
		uint64_t entry = atomic_load(&entries[i]);

		*ret_evicts = entry != 0;
		if (!*ret_evicts)
			return i;
		if (at_of(entry) < at_of(atomic_load(&entries[chosen])))
			chosen = i;
	}
	return chosen;
}

void
cnd_cache_keep(const struct cnd_cache *c, const struct cnc_buf *key,
	const struct cnc_buf *result, struct cnd_cache_counts *counts)
{
	uint64_t hash = hash_of(key), at, before;
	_Atomic uint64_t *entries = entries_of(c, hash);
	size_t len = cnc_buf_len(result), n = round_up(len, ALIGN);
	bool evicts;
	uint32_t i;

	if (len < CNC_SAVED_HEAD || len > cnd_cache_longest(c))
		return;
	i = choose(entries, hash, &evicts);
	before = atomic_load(&entries[i]);
	at = reserve(c, n);
	memcpy(c->ring + at % c->ring_size, cnc_buf_head(result), len);
	/* if another process keeps a result in this entry just now, that one stays */
	if (!atomic_compare_exchange_strong(&entries[i], &before, entry_of(hash, at)))
		return;
	atomic_fetch_add_explicit(&counts->kept, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&counts->evicted, evicts, memory_order_relaxed);
	atomic_store_explicit(&counts->bytes,
		at + n < c->ring_size ? at + n : c->ring_size, memory_order_relaxed);
}
