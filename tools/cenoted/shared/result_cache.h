/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_RESULT_CACHE_H
#define CND_RESULT_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/saved.h"

/*
 * The memory in which the workers of a pool keep results (docs/pool-cache.md). It has a fixed size. The master makes it before
 * it forks the pool's workers, and only these read and write it. No process can block another: there is no lock, and every
 * word changes by an atomic operation. A worker may die at any point, or write anything: what is read is copied, and then
 * checked.
 */

/* ---- tables ---- */

/* How many counters there are for tables. Tables whose names have the same hash share one. */
#define CND_CACHE_TABLES 1024u
/* The most tables of one statement. */
#define CND_TOUCH_TABLES 16u

/* What a statement may change, and which tables it names. query/touch.c finds that out. */
struct cnd_touch {
	bool is_all; /* it may change tables that its text does not name */
	bool is_write; /* it may change the tables that its text names */
	bool may_keep; /* it only reads the tables that its text names, so its result may be kept */
	uint8_t reach; /* enum cnc_reach: what it does to its session */
	uint8_t n_tables;
	uint16_t tables[CND_TOUCH_TABLES]; /* which counters */
};

/* What the counters of a statement's tables were. */
struct cnd_cache_marks {
	uint64_t all;
	uint64_t tables[CND_TOUCH_TABLES];
};

/* The counter for a table of this name. Letters of both cases are equal. */
uint16_t cnd_cache_table(const char *name, size_t n);
/* Add the tables of `from` to those that are changed. */
void cnd_touch_add(struct cnd_touch *to, const struct cnd_touch *from);

/* ---- the memory ---- */

#define CND_CACHE_SLOTS    4096u
#define CND_CACHE_SIZE_MIN ((uint64_t)256 * 1024)
#define CND_CACHE_SIZE_MAX ((uint64_t)4095 * 1024 * 1024)

struct cnd_cache_head;

/* A process's view of the memory, which no other process can change. */
struct cnd_cache {
	struct cnd_cache_head *head; /* NULL: there is no memory */
	_Atomic uint64_t *index;
	unsigned char *ring; /* the results, one after another */
	size_t n_index; /* a power of two */
	size_t ring_size;
	size_t size; /* of everything */
};

/* How often it was used; in the pool's record of the scoreboard. */
struct cnd_cache_counts {
	_Atomic uint64_t hits;
	_Atomic uint64_t misses;
	_Atomic uint64_t kept;
	_Atomic uint64_t evicted; /* results that gave way to others */
	_Atomic uint64_t bytes; /* how much of the memory was written so far */
};

/* Make the memory. 0; or -1 with errno. */
int cnd_cache_create(struct cnd_cache *c, uint64_t size);
void cnd_cache_destroy(struct cnd_cache *c);
/* The longest result that is kept, with its key. */
size_t cnd_cache_longest(const struct cnd_cache *c);
/* Microseconds of the monotonic clock. */
uint64_t cnd_cache_now_us(void);

/* ---- writes ---- */

/* The tables are about to change, or have changed. Results that were read before are not used after this call. */
void cnd_cache_raise(const struct cnd_cache *c, const struct cnd_touch *t);
/* Note the counters before a statement is sent. */
void cnd_cache_mark(const struct cnd_cache *c, const struct cnd_touch *t,
	struct cnd_cache_marks *ret_marks);
/* The worker of this slot has changed tables in a transaction. true: it does not know the transaction's end yet. */
void cnd_cache_set_writing(const struct cnd_cache *c, uint32_t slot, bool is_writing);
/* Whether the last worker of this slot died before it knew that. */
bool cnd_cache_is_writing(const struct cnd_cache *c, uint32_t slot);

/* ---- results ---- */

/*
 * Find the result with this key. *copy gets its bytes, and *ret_saved points into them. The bytes are a whole result that some
 * process of the pool wrote, with this key; the body must still be checked. False: there is none.
 */
bool cnd_cache_find(const struct cnd_cache *c, const struct cnc_buf *key,
	struct cnc_buf *copy, struct cnc_saved *ret_saved);
/* Keep a result, which cnc_saved_end() has completed, in the place of older ones. */
void cnd_cache_keep(const struct cnd_cache *c, const struct cnc_buf *key,
	const struct cnc_buf *result, struct cnd_cache_counts *counts);

#endif
