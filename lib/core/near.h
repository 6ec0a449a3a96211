/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_NEAR_H
#define CNC_NEAR_H

#include <stddef.h>

/* For "did you mean": the similarity of two names. */

/* Levenshtein's distance: how many letters have to be changed, added or removed to make one word of the other.
 * ASCII letters of both cases are equal. SIZE_MAX if a word has 64 bytes or more. */
size_t cnc_near_distance(const char *a, size_t a_len, const char *b, size_t b_len);
/* The largest distance at which a word of this length may still be a misspelt name. */
size_t cnc_near_limit(size_t len);

#endif
