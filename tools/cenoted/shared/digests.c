/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of digests in shared memory, without locks that a dead process could keep. Counters are added to by any worker.
 * Only the worker that holds the claim replaces an entry. A claim that is older than a second counts as given up: its
 * worker has died, or was stopped. An entry has the hash 0 while it is replaced, so a worker that dies then leaves a free
 * entry. Workers call this file; answer.c, report.c and the process for statistics read through status.c.
 */
#include "digests.h"

#include <stdlib.h>
#include <string.h>

#include "core/diag.h"

#define CLAIM_MS 1000
/* The calls of an entry count half for each such time in which it was not used. */
#define HALF_MS  600000

/* ---- counting ---- */

static void
add(_Atomic uint64_t *to, uint64_t n)
{
	if (n > 0)
		atomic_fetch_add_explicit(to, n, memory_order_relaxed);
}

static void
add_call(struct cnd_digest *d, const struct cnd_digest_call *call)
{
	int64_t us = call->us > 0 ? call->us : 0;

	add(&d->errors, call->has_failed);
	add(&d->rows, call->rows);
	add(&d->time_us, (uint64_t)us);
	if (!call->is_more) {
		add(&d->calls, 1);
		atomic_fetch_add_explicit(
			&d->n[cnd_bucket_of(us)], 1, memory_order_relaxed);
	}
	atomic_store_explicit(&d->used_ms, call->now_ms, memory_order_relaxed);
}

static bool
has_hash(const struct cnd_digest_table *t, uint32_t at, uint64_t hash)
{
	return at < CND_DIGESTS && hash != 0 &&
	       atomic_load_explicit(&t->hashes[at], memory_order_acquire) == hash;
}

/* Between the comparison and the addition, the entry may get another digest. Then that one has one call too many. */
void
cnd_digest_add(struct cnd_digest_table *t, const struct cnd_digest_ref *ref,
	const struct cnd_digest_call *call)
{
	if (has_hash(t, ref->at, ref->hash)) {
		add_call(&t->list[ref->at], call);
		return;
	}
	atomic_store_explicit(&t->is_used, 1, memory_order_relaxed);
	add_call(&t->list[CND_DIGEST_OTHERS], call);
}

/* ---- entries ---- */

static uint32_t
find(const struct cnd_digest_table *t, uint64_t hash)
{
	uint32_t i = 0;

	while (i < CND_DIGESTS &&
		atomic_load_explicit(&t->hashes[i], memory_order_relaxed) != hash)
		i++;
	return i;
}

static uint64_t
worth_of(const struct cnd_digest *d, int64_t now_ms)
{
	int64_t used = d->used_ms;
	int64_t halves = used > 0 && used < now_ms ? (now_ms - used) / HALF_MS : 0;

	return halves < 64 ? d->calls >> halves : 0;
}

/* A free entry, or else the one that is worth least. */
static uint32_t
choose(const struct cnd_digest_table *t, int64_t now_ms)
{
	uint32_t chosen = find(t, 0);
	uint64_t least = UINT64_MAX;

	if (chosen < CND_DIGESTS)
		return chosen;
	for (uint32_t i = 0; i < CND_DIGESTS; i++) {
		uint64_t worth = worth_of(&t->list[i], now_ms);

		if (i > 0 && worth >= least)
			continue;
		least = worth;
		chosen = i;
	}
	return chosen;
}

static void
move(_Atomic uint64_t *from, _Atomic uint64_t *to)
{
	add(to, atomic_exchange_explicit(from, 0, memory_order_relaxed));
}

/* Let the others have what the entry has counted. A worker may have died in the middle of this: then it is empty in part. */
static void
empty(struct cnd_digest_table *t, uint32_t at)
{
	struct cnd_digest *from = &t->list[at], *to = &t->list[CND_DIGEST_OTHERS];

	atomic_store_explicit(&t->hashes[at], 0, memory_order_seq_cst);
	move(&from->calls, &to->calls);
	move(&from->errors, &to->errors);
	move(&from->rows, &to->rows);
	move(&from->time_us, &to->time_us);
	for (uint32_t i = 0; i < CND_BUCKETS; i++)
		atomic_fetch_add_explicit(&to->n[i],
			atomic_exchange_explicit(&from->n[i], 0, memory_order_relaxed),
			memory_order_relaxed);
}

static bool
claim(struct cnd_digest_table *t, int64_t now_ms)
{
	int64_t since = atomic_load_explicit(&t->claimed_ms, memory_order_relaxed);

	if (since > 0 && now_ms >= since && now_ms - since < CLAIM_MS)
		return false;
	return atomic_compare_exchange_strong(&t->claimed_ms, &since, now_ms);
}

/* Nobody reads the text, since the entry has no hash now. */
static void
set_text(struct cnd_digest *d, const char *text, size_t len)
{
	size_t n = cnc_utf8_cut(text, len, sizeof(d->text) - 1);

	atomic_thread_fence(memory_order_release);
	memcpy(d->text, text, n);
	memset(d->text + n, 0, sizeof(d->text) - n);
}

struct cnd_digest_ref
cnd_digest_find(const struct cnd_digest_table *t, uint64_t hash)
{
	return (struct cnd_digest_ref){ hash,
		hash != 0 ? find(t, hash) : CND_DIGEST_OTHERS };
}

/* Give an entry to the digest. Returns its index. */
static uint32_t
replace(struct cnd_digest_table *t, uint64_t hash, const char *text, size_t len,
	int64_t now_ms)
{
	uint32_t at = choose(t, now_ms);

	atomic_store_explicit(&t->is_used, 1, memory_order_relaxed);
	empty(t, at);
	set_text(&t->list[at], text, len);
	/* this process was stopped, and another one may have chosen the same entry */
	if (atomic_load(&t->claimed_ms) != now_ms) {
		atomic_store(&t->hashes[at], 0);
		return CND_DIGEST_OTHERS;
	}
	atomic_store_explicit(&t->list[at].used_ms, now_ms, memory_order_relaxed);
	atomic_store_explicit(&t->hashes[at], hash, memory_order_release);
	return at;
}

struct cnd_digest_ref
cnd_digest_get(struct cnd_digest_table *t, uint64_t hash, const char *text, size_t len,
	int64_t now_ms)
{
	struct cnd_digest_ref ref = cnd_digest_find(t, hash);

	if (hash == 0 || ref.at < CND_DIGESTS || !claim(t, now_ms))
		return ref;
	/* another worker may have made it before this one had the claim */
	ref.at = find(t, hash);
	if (ref.at == CND_DIGESTS)
		ref.at = replace(t, hash, text, len, now_ms);
	/* if the claim is another worker's by now, it stays */
	(void)atomic_compare_exchange_strong(&t->claimed_ms, &now_ms, 0);
	return ref;
}

static void
clear_numbers(struct cnd_digest *d)
{
	d->calls = 0;
	d->errors = 0;
	d->rows = 0;
	d->time_us = 0;
	for (uint32_t i = 0; i < CND_BUCKETS; i++)
		d->n[i] = 0;
}

void
cnd_digests_reset(struct cnd_digest_table *t)
{
	for (uint32_t i = 0; t->is_used && i <= CND_DIGESTS; i++)
		clear_numbers(&t->list[i]);
}

void
cnd_digests_clear(struct cnd_digest_table *t)
{
	cnd_digests_reset(t);
	for (uint32_t i = 0; t->is_used && i < CND_DIGESTS; i++)
		t->hashes[i] = 0;
	t->claimed_ms = 0;
	t->is_used = 0;
}

/* ---- reading ---- */

/* How many bytes the character has; 0: it is not valid UTF-8. */
static size_t
character_len(const unsigned char *p)
{
	static const struct {
		unsigned char first, last, from, to;
		unsigned char len;
	} forms[] = {
		{ 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 },
		{ 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 },
		{ 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	if (*p < 0x80)
		return 1;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		size_t n = 2;

		if (*p < forms[i].first || *p > forms[i].last || p[1] < forms[i].from ||
			p[1] > forms[i].to)
			continue;
		while (n < forms[i].len && (p[n] & 0xc0) == 0x80)
			n++;
		return n == forms[i].len ? n : 0;
	}
	return 0;
}

/* Put a blank in place of each control character, and ? in place of each byte that is not UTF-8. */
static void
clean(char text[CND_DIGEST_TEXT])
{
	unsigned char *p = (unsigned char *)text;

	text[CND_DIGEST_TEXT - 1] = '\0';
	while (*p != '\0') {
		size_t n = character_len(p);

		if (n == 0)
			*p = '?';
		else if (*p < ' ' || *p == 0x7f)
			*p = ' ';
		p += n > 0 ? n : 1;
	}
}

static uint64_t
slowest_hundredth(const struct cnd_digest *d)
{
	uint64_t all = 0, n = 0;
	uint32_t i = 0;

	for (uint32_t k = 0; k < CND_BUCKETS; k++)
		all += d->n[k];
	while (i + 1 < CND_BUCKETS && (n += d->n[i]) < all - all / 100)
		i++;
	return cnd_bucket_limit_us(i);
}

bool
cnd_digest_read(
	const struct cnd_digest_table *t, uint32_t at, struct cnd_digest_row *ret_row)
{
	const struct cnd_digest *d = &t->list[at];
	bool is_other = at == CND_DIGEST_OTHERS;

	ret_row->hash = is_other ? 0 : atomic_load(&t->hashes[at]);
	ret_row->calls = d->calls;
	ret_row->errors = d->errors;
	ret_row->rows = d->rows;
	ret_row->time_us = d->time_us;
	ret_row->text[0] = '\0';
	if (ret_row->calls == 0 || (!is_other && ret_row->hash == 0))
		return false;
	ret_row->p99_us = slowest_hundredth(d);
	if (is_other)
		return true;
	memcpy(ret_row->text, d->text, sizeof(ret_row->text));
	clean(ret_row->text);
	/* the text is whole, and belongs to the numbers, only if the entry was not replaced meanwhile */
	atomic_thread_fence(memory_order_acquire);
	return has_hash(t, at, ret_row->hash);
}

struct timed {
	uint64_t time_us;
	uint32_t at;
};

static int
compare(const void *a, const void *b)
{
	const struct timed *x = a, *y = b;

	if (x->time_us != y->time_us)
		return x->time_us < y->time_us ? 1 : -1;
	return (x->at > y->at) - (x->at < y->at);
}

uint32_t
cnd_digests_order(const struct cnd_digest_table *t, uint16_t ret_order[CND_DIGESTS + 1])
{
	struct timed list[CND_DIGESTS + 1];
	uint32_t n = 0;

	for (uint32_t i = 0; t->is_used && i <= CND_DIGESTS; i++) {
		if ((i == CND_DIGEST_OTHERS || t->hashes[i] != 0) && t->list[i].calls > 0)
			list[n++] = (struct timed){ t->list[i].time_us, i };
	}
	qsort(list, n, sizeof(list[0]), compare);
	for (uint32_t i = 0; i < n; i++)
		ret_order[i] = (uint16_t)list[i].at;
	return n;
}
