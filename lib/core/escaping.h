/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_ESCAPING_H
#define CNC_ESCAPING_H

#include <stddef.h>
#include <stdint.h>

/*
 * The facts that escaping depends on. Some facts that a backend reports about a session say how its server reads
 * literals. A program escapes text according to these facts. The text must not reach a session that reads literals
 * in another way.
 */

/* The name of fact i, from 0; NULL after the last. */
const char *cnc_escaping_fact(size_t i);
/* Is a text that was escaped for value `a` also correct for value `b`? NULL: the fact is not reported. */
int cnc_escaping_agrees(size_t i, const char *a, const char *b);
/* Add fact i to a digest of the facts before it; begin with 0. Two digests are equal if all facts agree. */
uint32_t cnc_escaping_digest(uint32_t digest, size_t i, const char *value);

#endif
