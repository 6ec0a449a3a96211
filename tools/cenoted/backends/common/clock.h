/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_CLOCK_H
#define CND_CLOCK_H

#include <stdint.h>
#include <time.h>

/* The monotonic clock, for deadlines. */
static inline int64_t
cnd_clock_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

#endif
