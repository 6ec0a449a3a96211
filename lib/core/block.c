/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/block.h"

#include <assert.h>

/*
 * Reference-counted blocks of received bytes.
 */

struct cnc_block *
cnc_block_create(const struct cenote_allocator *mem, size_t cap)
{
	struct cnc_block *b;

	if (cap > SIZE_MAX - sizeof(*b))
		return NULL;
	b = cnc_alloc(mem, sizeof(*b) + cap);
	if (!b)
		return NULL;
	b->mem = *mem;
	b->mem_ptr = &b->mem;
	b->refs = 1;
	b->cap = cap;
	b->len = 0;
	return b;
}

struct cnc_block *
cnc_block_grow(struct cnc_block *b, size_t cap)
{
	struct cenote_allocator mem = b->mem;

	assert(b->refs == 1);
	if (cap > SIZE_MAX - sizeof(*b))
		return NULL;
	b = cnc_realloc(&mem, b, sizeof(*b) + cap);
	if (!b)
		return NULL;
	b->mem_ptr = &b->mem;
	b->cap = cap;
	return b;
}

struct cnc_block *
cnc_block_ref(struct cnc_block *b)
{
	assert(b->refs > 0);
	b->refs++;
	return b;
}

void
cnc_block_unref(struct cnc_block *b)
{
	struct cenote_allocator mem;

	if (!b)
		return;
	assert(b->refs > 0);
	if (--b->refs > 0)
		return;
	/* The allocator is stored in the block, so copy it before the block is freed. */
	mem = b->mem;
	cnc_free(&mem, b);
}
