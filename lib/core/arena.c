/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/arena.h"

#include <string.h>

/* The first block is big enough for a small result. Each further block is twice as big, up to the
 * greatest size. */
#define ARENA_FIRST    1000u
#define ARENA_GREATEST 16000u

/* The alignment of max_align_t, as a number that sizes can be rounded to. */
#define ARENA_ALIGN _Alignof(max_align_t)

struct cnc_arena_block {
	struct cnc_arena_block *older;
	_Alignas(max_align_t) unsigned char data[];
};

void
cnc_arena_init(struct cnc_arena *a, const struct cenote_allocator *mem)
{
	*a = (struct cnc_arena){ .mem = mem };
}

static void
free_chain(const struct cenote_allocator *mem, struct cnc_arena_block *block)
{
	while (block) {
		struct cnc_arena_block *older = block->older;

		cnc_free(mem, block);
		block = older;
	}
}

void
cnc_arena_finish(struct cnc_arena *a)
{
	free_chain(a->mem, a->blocks);
	cnc_arena_init(a, a->mem);
}

void
cnc_arena_clear(struct cnc_arena *a)
{
	if (!a->blocks || a->cap > ARENA_GREATEST) {
		cnc_arena_finish(a);
		return;
	}
	free_chain(a->mem, a->blocks->older);
	a->blocks->older = NULL;
	a->used = 0;
	a->total = sizeof(struct cnc_arena_block) + a->cap;
}

static struct cnc_arena_block *
create_block(struct cnc_arena *a, size_t cap)
{
	struct cnc_arena_block *block;

	if (cap > SIZE_MAX - sizeof(*block))
		return NULL;
	block = cnc_alloc(a->mem, sizeof(*block) + cap);
	if (!block)
		return NULL;
	block->older = NULL;
	a->total += sizeof(*block) + cap;
	return block;
}

void *
cnc_arena_alloc(struct cnc_arena *a, size_t size)
{
	size_t next_cap = a->cap ? a->cap * 2 : ARENA_FIRST;
	struct cnc_arena_block *block;
	size_t at;

	if (size > SIZE_MAX - ARENA_ALIGN)
		return NULL;
	size = size ? (size + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN : ARENA_ALIGN;
	if (size <= a->cap - a->used) {
		at = a->used;
		a->used += size;
		return a->blocks->data + at;
	}
	if (next_cap > ARENA_GREATEST)
		next_cap = ARENA_GREATEST;
	if (a->blocks && size > next_cap / 4) {
		/* Put a big object's block behind the newest block, which stays in
		 * use. */
		block = create_block(a, size);
		if (!block)
			return NULL;
		block->older = a->blocks->older;
		a->blocks->older = block;
		return block->data;
	}
	if (next_cap < size)
		next_cap = size;
	block = create_block(a, next_cap);
	if (!block)
		return NULL;
	block->older = a->blocks;
	a->blocks = block;
	a->cap = next_cap;
	a->used = size;
	return block->data;
}

char *
cnc_arena_strndup(struct cnc_arena *a, const char *text, size_t len)
{
	char *copy;

	if (len == SIZE_MAX)
		return NULL;
	copy = cnc_arena_alloc(a, len + 1);
	if (!copy)
		return NULL;
	if (len)
		memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}
