/* SPDX-License-Identifier: BSD-2-Clause */
#include "near.h"

#include <stdint.h>

/*
 * The distance between two names, for "did you mean".
 */

#define WORD_SIZE 64u

static int
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static size_t
smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Compute one row of the table at a time: row[j] is the distance between the letters of `a` up to
 * now and the first j letters of `b`. */
size_t
cnc_near_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t row[WORD_SIZE];

	if (a_len >= WORD_SIZE || b_len >= WORD_SIZE)
		return SIZE_MAX;
	for (size_t j = 0; j <= b_len; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			size_t changed = corner + (lower(a[i - 1]) != lower(b[j - 1]));

			corner = row[j];
			row[j] = smaller(changed, smaller(row[j], row[j - 1]) + 1);
		}
	}
	return row[b_len];
}

/* More than three differences mean another word. In a short word, so do more differences than half
 * of its letters. */
size_t
cnc_near_limit(size_t len)
{
	return len < 6 ? len / 2 : 3;
}
