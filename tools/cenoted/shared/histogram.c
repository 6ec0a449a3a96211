/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting times in shared memory. Workers and the door add; status.c and the process for statistics read. */
#include "histogram.h"

#define SHORTEST_BITS 4u /* 16 µs */
#define STEP_BITS     6u

_Static_assert(CND_STEPS == 1u << STEP_BITS, "steps of a power of 2");

/* ---- buckets ---- */

uint64_t
cnd_bucket_limit_us(uint32_t bucket)
{
	uint64_t power = 1ull << (SHORTEST_BITS + bucket / 2);

	return bucket % 2 == 0 ? power : power + power / 2;
}

uint32_t
cnd_bucket_of(int64_t us)
{
	uint32_t bits, bucket;

	if (us <= 1 << SHORTEST_BITS)
		return 0;
	/* a time that is a limit belongs to the bucket below */
	us--;
	bits = 63u - (uint32_t)__builtin_clzll((uint64_t)us);
	bucket = 2 * (bits - SHORTEST_BITS) + 1 + (uint32_t)(us >> (bits - 1) & 1);
	return bucket < CND_BUCKETS ? bucket : CND_BUCKETS - 1;
}

/* ---- steps ---- */

/* The longest time that the step counts. */
static uint64_t
step_limit_us(uint32_t step)
{
	uint32_t power = step / CND_STEPS;

	return power == 0 ? step + 1
			  : (uint64_t)(CND_STEPS + step % CND_STEPS + 1) << (power - 1);
}

static uint32_t
step_of(int64_t us)
{
	/* as in cnd_bucket_of(), so that each limit of a bucket is one of a step */
	uint64_t t = us > 0 ? (uint64_t)us - 1 : 0;
	uint32_t power, step;

	if (t < CND_STEPS)
		return (uint32_t)t;
	power = 63u - (uint32_t)__builtin_clzll(t) - STEP_BITS;
	step = (power + 1) * CND_STEPS + ((uint32_t)(t >> power) & (CND_STEPS - 1));
	return step < CND_STEPS_ALL ? step : CND_STEPS_ALL - 1;
}

/* ---- counting ---- */

static void
count(_Atomic uint64_t *n, _Atomic uint64_t *sum_us, int64_t us)
{
	atomic_fetch_add_explicit(n, 1, memory_order_relaxed);
	if (us > 0)
		atomic_fetch_add_explicit(sum_us, (uint64_t)us, memory_order_relaxed);
}

static void
reset(_Atomic uint64_t *n, uint32_t size, _Atomic uint64_t *sum_us)
{
	for (uint32_t i = 0; i < size; i++)
		atomic_store_explicit(&n[i], 0, memory_order_relaxed);
	atomic_store_explicit(sum_us, 0, memory_order_relaxed);
}

void
cnd_histogram_add(struct cnd_histogram *h, int64_t us)
{
	count(&h->n[step_of(us)], &h->sum_us, us);
}

void
cnd_histogram_reset(struct cnd_histogram *h)
{
	/* do not give memory to what was never used */
	if (h->sum_us > 0 || h->n[0] > 0)
		reset(h->n, CND_STEPS_ALL, &h->sum_us);
}

void
cnd_buckets_add(struct cnd_buckets *b, int64_t us)
{
	count(&b->n[cnd_bucket_of(us)], &b->sum_us, us);
}

void
cnd_buckets_reset(struct cnd_buckets *b)
{
	reset(b->n, CND_BUCKETS, &b->sum_us);
}

/* ---- reading ---- */

/* A walk through a histogram, from the shortest time to the longest. */
struct walk {
	struct cnd_times *times;
	uint64_t passed; /* what was counted so far */
};

/* `n` took no longer than `limit_us`. The first limit that enough did not exceed is the quantile. */
static void
pass(struct walk *w, uint64_t n, uint64_t limit_us)
{
	struct cnd_times *t = w->times;
	/* counters may grow while they are read */
	uint64_t before = w->passed;

	w->passed += n;
	if (before < t->count - t->count / 2 && w->passed >= t->count - t->count / 2)
		t->p50_us = limit_us;
	if (before < t->count - t->count / 100 && w->passed >= t->count - t->count / 100)
		t->p99_us = limit_us;
	if (before < t->count - t->count / 1000 &&
		w->passed >= t->count - t->count / 1000)
		t->p999_us = limit_us;
}

void
cnd_histogram_read(const struct cnd_histogram *h, struct cnd_times *ret_times)
{
	struct walk w = { .times = ret_times };
	uint32_t bucket = 0;

	*ret_times = (struct cnd_times){ .sum_us = h->sum_us };
	for (uint32_t i = 0; i < CND_STEPS_ALL; i++)
		ret_times->count += h->n[i];
	for (uint32_t i = 0; i < CND_STEPS_ALL; i++) {
		uint64_t n = h->n[i], limit_us = step_limit_us(i);

		while (bucket + 1 < CND_BUCKETS && limit_us > cnd_bucket_limit_us(bucket))
			bucket++;
		ret_times->n[bucket] += n;
		pass(&w, n, limit_us);
	}
}

void
cnd_buckets_read(const struct cnd_buckets *b, struct cnd_times *ret_times)
{
	struct walk w = { .times = ret_times };

	*ret_times = (struct cnd_times){ .sum_us = b->sum_us };
	for (uint32_t i = 0; i < CND_BUCKETS; i++)
		ret_times->count += b->n[i];
	for (uint32_t i = 0; i < CND_BUCKETS; i++) {
		ret_times->n[i] = b->n[i];
		pass(&w, ret_times->n[i], cnd_bucket_limit_us(i));
	}
}
