/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_ARENA_H
#define CNC_ARENA_H

#include "core/mem.h"

/*
 * Memory that is released all at once: a chain of blocks of which only the newest is
 * filled; a big object gets a block of its own. The idea is that of PostgreSQL's PGresult.
 */
struct cnc_arena_block;

struct cnc_arena {
	const struct cenote_allocator *mem;
	struct cnc_arena_block *blocks;
	size_t used; /* in the newest block */
	size_t cap; /* of the newest block */
	size_t total; /* bytes obtained from the allocator */
};

void cnc_arena_init(struct cnc_arena *a, const struct cenote_allocator *mem);
/* Frees all; the arena may be used again. */
void cnc_arena_finish(struct cnc_arena *a);
/* Drops all objects, but keeps a block to fill again, so that the next round needs no memory. */
void cnc_arena_clear(struct cnc_arena *a);
/* Aligned for any type; NULL when out of memory. Not zeroed. */
void *cnc_arena_alloc(struct cnc_arena *a, size_t size);
/* Copy with a zero byte after it; NULL when out of memory. */
char *cnc_arena_strndup(struct cnc_arena *a, const char *text, size_t len);

#endif
