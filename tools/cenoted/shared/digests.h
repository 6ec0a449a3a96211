/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_DIGESTS_H
#define CND_DIGESTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "histogram.h"

/*
 * Statistics of statements, by their digest (core/digest.h). A pool has one table in its record of the scoreboard. All its
 * workers add to it, and any process may read it. What a worker wrote there is a hint: readers check it.
 *
 * The table has a bounded number of entries. When a new digest needs one, the entry that was called least gives way, and
 * what it had counted goes to the entry for all others.
 */
#define CND_DIGESTS 256u
#define CND_DIGEST_OTHERS                                                                \
	CND_DIGESTS /* the index of the entry for all other statements */
#define CND_DIGEST_TEXT 256u /* bytes of a text, with its zero byte */

struct cnd_digest {
	_Atomic uint64_t calls;
	_Atomic uint64_t errors;
	_Atomic uint64_t rows;
	_Atomic uint64_t time_us;
	_Atomic int64_t used_ms; /* when it was last called */
	_Atomic uint32_t n[CND_BUCKETS]; /* calls by their time, as in a histogram */
	char text[CND_DIGEST_TEXT];
};

struct cnd_digest_table {
	_Atomic uint32_t
		is_used; /* something was counted: until then, nobody reads the rest, which has no memory yet */
	_Atomic int64_t
		claimed_ms; /* when a worker began to replace an entry; 0: none does */
	_Atomic uint64_t hashes[CND_DIGESTS]; /* 0: the entry is free */
	struct cnd_digest list[CND_DIGESTS + 1];
};

/* Where a digest is. `at` is only valid as long as the entry has the hash. */
struct cnd_digest_ref {
	uint64_t hash; /* 0: none */
	uint32_t at;
};

/* One execution of a statement, or the fetch of more of its rows. */
struct cnd_digest_call {
	uint64_t rows;
	int64_t us;
	int64_t now_ms;
	bool has_failed;
	bool is_more; /* a fetch: it is part of a call that was counted */
};

/* Find the entry of this hash; it is that of all others if there is none. */
struct cnd_digest_ref cnd_digest_find(const struct cnd_digest_table *t, uint64_t hash);
/* Find the entry of this hash, or make one; 0 is not a hash. The text is cut at a character. If another worker makes an entry
 * just now, it is that of all others. */
struct cnd_digest_ref cnd_digest_get(struct cnd_digest_table *t, uint64_t hash,
	const char *text, size_t len, int64_t now_ms);
/* Count a call. If the entry has another digest by now, the call counts for the others. */
void cnd_digest_add(struct cnd_digest_table *t, const struct cnd_digest_ref *ref,
	const struct cnd_digest_call *call);
/* Set all numbers to 0. The texts stay, since workers remember where they are. */
void cnd_digests_reset(struct cnd_digest_table *t);
/* Empty the table, which no process uses. */
void cnd_digests_clear(struct cnd_digest_table *t);

/* A copy of an entry. The text is valid UTF-8 without control characters. */
struct cnd_digest_row {
	uint64_t hash; /* 0: all others */
	uint64_t calls;
	uint64_t errors;
	uint64_t rows;
	uint64_t time_us;
	uint64_t p99_us; /* no more than 1 % of the calls took longer */
	char text[CND_DIGEST_TEXT];
};

/* false: the entry was not called, or is being replaced. */
bool cnd_digest_read(
	const struct cnd_digest_table *t, uint32_t at, struct cnd_digest_row *ret_row);
/* The entries that were called, by their total time, longest first. Returns how many there are. */
uint32_t cnd_digests_order(
	const struct cnd_digest_table *t, uint16_t ret_order[CND_DIGESTS + 1]);

#endif
