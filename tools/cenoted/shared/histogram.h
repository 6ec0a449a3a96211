/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_HISTOGRAM_H
#define CND_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * How often something took how long, in shared memory: processes add, others read. A histogram has steps of 1 µs up to 64 µs, and
 * then 64 steps for each power of 2, so a time is known to 1.6 %. Reports show its times in few buckets: two for each power of
 * 2, from 16 µs to 67 s, and one for what took longer. Where there are many objects, only these buckets are kept.
 */
#define CND_BUCKETS 46u
#define CND_STEPS   64u
#define CND_STEPS_ALL                                                                    \
	(31u * CND_STEPS) /* up to 19 hours; longer times are in the last one */

struct cnd_histogram {
	_Atomic uint64_t n[CND_STEPS_ALL];
	_Atomic uint64_t sum_us;
};

struct cnd_buckets {
	_Atomic uint64_t n[CND_BUCKETS];
	_Atomic uint64_t sum_us;
};

void cnd_histogram_add(struct cnd_histogram *h, int64_t us);
void cnd_histogram_reset(struct cnd_histogram *h);
void cnd_buckets_add(struct cnd_buckets *b, int64_t us);
void cnd_buckets_reset(struct cnd_buckets *b);

/* What a report needs to know. */
struct cnd_times {
	uint64_t n[CND_BUCKETS];
	uint64_t count;
	uint64_t sum_us;
	/* 50 %, 99 % and 99.9 % took no longer; 0: nothing was counted */
	uint64_t p50_us, p99_us, p999_us;
};

void cnd_histogram_read(const struct cnd_histogram *h, struct cnd_times *ret_times);
void cnd_buckets_read(const struct cnd_buckets *b, struct cnd_times *ret_times);

/* The longest time that the bucket counts. The last bucket has no such limit. */
uint64_t cnd_bucket_limit_us(uint32_t bucket);
/* The first bucket whose limit is not less than the time. */
uint32_t cnd_bucket_of(int64_t us);

#endif
