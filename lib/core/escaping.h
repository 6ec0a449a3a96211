/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_ESCAPING_H
#define CNC_ESCAPING_H

#include <stddef.h>
#include <stdint.h>

/*
 * The facts that escaping depends on. Some facts that backends report of a session say how its server reads a
 * literal. A program escapes by the facts of its session. Such a text must not reach a session that reads it in
 * another way.
 */

/* The name of fact i, from 0; NULL after the last. */
const char *cnc_escaping_fact(size_t i);
/* Is a text that was escaped for one value right for the other? NULL: the fact is not reported. */
int cnc_escaping_agrees(size_t i, const char *a, const char *b);
/* Add fact i to a digest of the facts before it; begin with 0. Two digests are equal where all facts agree. */
uint32_t cnc_escaping_digest(uint32_t digest, size_t i, const char *value);

#endif
