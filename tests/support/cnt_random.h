/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_RANDOM_H
#define CNT_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* A small generator of random numbers (splitmix64). The same seed gives the same numbers. */
struct cnt_random {
	uint64_t seed;
	uint64_t state;
};

void cnt_random_init(struct cnt_random *rnd, uint64_t seed);
/* Get the seed from $CNT_SEED, or a new one, and print it, so that a failure can be repeated. */
void cnt_random_init_printed(struct cnt_random *rnd);

uint64_t cnt_random_u64(struct cnt_random *rnd);
/* 0 … n - 1; n > 0. */
uint64_t cnt_random_below(struct cnt_random *rnd, uint64_t n);
/* A size up to max; small sizes are as likely as large ones. */
size_t cnt_random_size(struct cnt_random *rnd, size_t max);
void cnt_random_bytes(struct cnt_random *rnd, void *out, size_t len);

#endif
