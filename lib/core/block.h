/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_BLOCK_H
#define CNC_BLOCK_H

#include "core/mem.h"

/*
 * A reference-counted block of received bytes. The reader fills it, frames are borrowed from it,
 * and a result set that keeps a frame's rows keeps the block instead of copying them. The counter
 * is not atomic: a connection and its results belong to one thread at a time.
 */
struct cnc_block {
	const struct cenote_allocator *mem_ptr; /* points at mem */
	struct cenote_allocator mem; /* own copy: a result outlives its connection */
	size_t refs;
	size_t cap;
	size_t len; /* bytes filled */
	uint8_t data[];
};

/* A block with one reference; NULL when out of memory. */
struct cnc_block *cnc_block_create(const struct cenote_allocator *mem, size_t cap);
/* Give the block more room. It may move, so there must be only one reference. NULL: out of memory, and nothing
 * changed. */
struct cnc_block *cnc_block_grow(struct cnc_block *b, size_t cap);
struct cnc_block *cnc_block_ref(struct cnc_block *b);
/* Removing the last reference frees the block. NULL is allowed. */
void cnc_block_unref(struct cnc_block *b);

#endif
