/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/mem.h"

#include <stdlib.h>
#include <string.h>

static void *
default_alloc(size_t size, void *user)
{
	(void)user;
	return malloc(size);
}

static void *
default_realloc(void *ptr, size_t size, void *user)
{
	(void)user;
	return realloc(ptr, size);
}

static void
default_free(void *ptr, void *user)
{
	(void)user;
	free(ptr);
}

const struct cenote_allocator cnc_mem_default = {
	.alloc = default_alloc,
	.realloc = default_realloc,
	.free = default_free,
};

void *
cnc_alloc(const struct cenote_allocator *mem, size_t size)
{
	/* malloc(0) may return NULL, which here means that there is no memory. */
	return mem->alloc(size ? size : 1, mem->user);
}

void *
cnc_calloc(const struct cenote_allocator *mem, size_t n, size_t size)
{
	void *p;

	if (size && n > SIZE_MAX / size)
		return NULL;
	p = cnc_alloc(mem, n * size);
	if (p)
		memset(p, 0, n * size);
	return p;
}

void *
cnc_realloc(const struct cenote_allocator *mem, void *ptr, size_t size)
{
	/* realloc(p, 0) frees in some C libraries. */
	if (!size)
		size = 1;
	return ptr ? mem->realloc(ptr, size, mem->user) : mem->alloc(size, mem->user);
}

void
cnc_free(const struct cenote_allocator *mem, void *ptr)
{
	if (ptr)
		mem->free(ptr, mem->user);
}

char *
cnc_strndup(const struct cenote_allocator *mem, const char *text, size_t len)
{
	char *copy;

	if (len == SIZE_MAX)
		return NULL;
	copy = cnc_alloc(mem, len + 1);
	if (!copy)
		return NULL;
	if (len)
		memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

void
cnc_wipe(void *ptr, size_t len)
{
	if (len)
		explicit_bzero(ptr, len);
}
