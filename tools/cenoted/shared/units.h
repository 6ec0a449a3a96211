/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_UNITS_H
#define CND_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* Times and sizes as people write them. */
#define CND_UNITS_TEXT_MAX 32u

/* "30s", "500ms", "2min", "1h", "1d", and "0": 0 or -1. The unit is needed, so that nobody has
 * to remember which it is. */
int cnd_ms_parse(const char *text, int64_t *ret_ms);
/* In the largest unit that is exact. */
const char *cnd_ms_text(int64_t ms, char out[CND_UNITS_TEXT_MAX]);

/* "64kB", "16MB", "1GB" (steps of 1024), "4096B": 0 or -1. */
int cnd_size_parse(const char *text, uint64_t *ret_size);
const char *cnd_size_text(uint64_t size, char out[CND_UNITS_TEXT_MAX]);

/* A whole decimal number of at most `max`: 0 or -1. */
int cnd_number_parse(const char *text, uint64_t max, uint64_t *ret_value);

/* Which of the names is most like this one; NULL if none is near. `stride`: bytes from one name
 * pointer to the next. */
const char *cnd_nearest(
	const char *word, const void *names, size_t n_names, size_t stride);

#endif
