/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_ESCAPING_H
#define CNC_ESCAPING_H

#include <stddef.h>
#include <stdint.h>

/*
 * What the escaping of texts rests on. Of what backends report of a session, some facts say how its server
 * reads a literal. A program escapes by those of the session that it had; a text that was escaped so must not
 * reach a session that reads it otherwise.
 */

/* The name of fact i, from 0; NULL behind the last. */
const char *cnc_escaping_fact(size_t i);
/* Whether what was escaped for one value of it is right for the other. NULL: the fact is not reported. */
int cnc_escaping_agrees(size_t i, const char *a, const char *b);
/* Add fact i to a digest of the facts before it; begin with 0. Two digests are equal where all facts agree. */
uint32_t cnc_escaping_digest(uint32_t digest, size_t i, const char *value);

#endif
