/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_ARENA_H
#define CNC_ARENA_H

#include "core/mem.h"

/*
 * Memory that is released all at once. An arena is a chain of blocks, and new objects go into the
 * newest block. A big object gets a block of its own. PostgreSQL's PGresult works in the same way.
 */
struct cnc_arena_block;

struct cnc_arena {
	const struct cenote_allocator *mem;
	struct cnc_arena_block *blocks;
	size_t used; /* in the newest block */
	size_t cap; /* size of the newest block */
	size_t total; /* bytes obtained from the allocator */
};

void cnc_arena_init(struct cnc_arena *a, const struct cenote_allocator *mem);
/* Frees all memory. The arena may be used again. */
void cnc_arena_finish(struct cnc_arena *a);
/* Drops all objects, but keeps one block, so that the next objects need no new memory. */
void cnc_arena_clear(struct cnc_arena *a);
/* Aligned for any type; NULL when out of memory. Not zeroed. */
void *cnc_arena_alloc(struct cnc_arena *a, size_t size);
/* Copy with a zero byte after it; NULL when out of memory. */
char *cnc_arena_strndup(struct cnc_arena *a, const char *text, size_t len);

#endif
