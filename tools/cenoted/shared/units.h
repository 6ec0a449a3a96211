/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_UNITS_H
#define CND_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* Times and sizes as people write them. */
#define CND_UNITS_TEXT_MAX 32u

/* Parse "30s", "500ms", "2min", "1h", "1d", or "0". Returns 0 or -1. The unit must be given, so that
 * nobody has to remember it. */
int cnd_ms_parse(const char *text, int64_t *ret_ms);
/* Print a time in the largest unit that is exact. */
const char *cnd_ms_text(int64_t ms, char out[CND_UNITS_TEXT_MAX]);

/* Parse "64kB", "16MB", "1GB" (steps of 1024), "4096B". Returns 0 or -1. */
int cnd_size_parse(const char *text, uint64_t *ret_size);
const char *cnd_size_text(uint64_t size, char out[CND_UNITS_TEXT_MAX]);

/* Parse a whole decimal number of at most `max`. Returns 0 or -1. */
int cnd_number_parse(const char *text, uint64_t max, uint64_t *ret_value);

#define CND_RATE_MAX 100000u
/* A rate: n times in per_s seconds. */
struct cnd_rate {
	uint32_t n; /* 0: no limit */
	uint32_t per_s; /* 1 or 60 */
};

/* Parse "20/s", "30/min", or "0". Returns 0 or -1. */
int cnd_rate_parse(const char *text, struct cnd_rate *ret_rate);
const char *cnd_rate_text(const struct cnd_rate *rate, char out[CND_UNITS_TEXT_MAX]);

/* Find the name that is most like this word; NULL if none is near. `stride`: bytes from one name
 * pointer to the next. */
const char *cnd_nearest(
	const char *word, const void *names, size_t n_names, size_t stride);

#endif
