/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_random.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

void
cnt_random_init(struct cnt_random *rnd, uint64_t seed)
{
	rnd->seed = seed;
	rnd->state = seed;
}

void
cnt_random_init_printed(struct cnt_random *rnd)
{
	const char *text = getenv("CNT_SEED");
	struct timespec now;
	uint64_t seed;
	char *end;

	if (text && *text) {
		errno = 0;
		seed = strtoull(text, &end, 0);
		if (errno || *end) {
			fprintf(stderr, "CNT_SEED is not a number: %s\n", text);
			abort();
		}
	} else {
		clock_gettime(CLOCK_REALTIME, &now);
		cnt_random_init(rnd, (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 20 ^
					     (uint64_t)getpid() << 44);
		seed = cnt_random_u64(rnd);
	}
	cnt_random_init(rnd, seed);
	fprintf(stderr, "# CNT_SEED=%" PRIu64 "\n", seed);
}

uint64_t
cnt_random_u64(struct cnt_random *rnd)
{
	uint64_t z = rnd->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

uint64_t
cnt_random_below(struct cnt_random *rnd, uint64_t n)
{
	return cnt_random_u64(rnd) % n;
}

size_t
cnt_random_size(struct cnt_random *rnd, size_t max)
{
	unsigned int bits = 0;
	uint64_t limit;

	for (size_t left = max; left > 0; left >>= 1)
		bits++;
	bits = (unsigned int)cnt_random_below(rnd, bits + 1);
	limit = bits == 0 ? 0 : UINT64_MAX >> (64 - bits);
	if (limit > max)
		limit = max;
	return limit == UINT64_MAX ? (size_t)cnt_random_u64(rnd)
				   : (size_t)cnt_random_below(rnd, limit + 1);
}

void
cnt_random_bytes(struct cnt_random *rnd, void *out, size_t len)
{
	unsigned char *p = out;

	for (size_t i = 0; i < len; i++)
		p[i] = (unsigned char)cnt_random_u64(rnd);
}
