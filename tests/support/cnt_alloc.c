/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC_LIVE  0x6c697665u
#define MAGIC_FREED 0x66726565u
/* Fill bytes of fresh and freed memory: neither zero nor a plausible pointer. */
#define FILL_FRESH  0xa5
#define FILL_FREED  0x5a

static const unsigned char guard[8] = { 0xfd, 0xfd, 0xfd, 0xfd, 0xfd, 0xfd, 0xfd, 0xfd };

/* Before each piece of memory; the guard is after it. */
struct head {
	_Alignas(max_align_t) struct cnt_alloc *owner;
	size_t size;
	unsigned int magic;
};

static void
die(const char *what)
{
	fprintf(stderr, "cnt_alloc: %s\n", what);
	abort();
}

static struct head *
head_of(void *ptr, const struct cnt_alloc *a)
{
	struct head *h = (struct head *)ptr - 1;

	if (h->magic == MAGIC_FREED)
		die("used after it was freed");
	if (h->magic != MAGIC_LIVE || h->owner != a)
		die("not a pointer of this allocator");
	if (memcmp((unsigned char *)ptr + h->size, guard, sizeof(guard)) != 0)
		die("written behind its end");
	return h;
}

static void *
counting_alloc(size_t size, void *user)
{
	struct cnt_alloc *a = user;
	struct head *h;

	a->n_calls++;
	if (a->fail_at &&
		(a->n_calls == a->fail_at || (a->fail_on && a->n_calls > a->fail_at))) {
		a->n_failed++;
		return NULL;
	}
	if (size > SIZE_MAX / 2)
		return NULL;
	h = malloc(sizeof(*h) + size + sizeof(guard));
	if (!h)
		return NULL;
	h->owner = a;
	h->size = size;
	h->magic = MAGIC_LIVE;
	memset(h + 1, FILL_FRESH, size);
	memcpy((unsigned char *)(h + 1) + size, guard, sizeof(guard));
	a->n_live++;
	a->live_bytes += size;
	if (a->live_bytes > a->peak_bytes)
		a->peak_bytes = a->live_bytes;
	return h + 1;
}

static void
counting_free(void *ptr, void *user)
{
	struct cnt_alloc *a = user;
	struct head *h;

	if (!ptr)
		return;
	h = head_of(ptr, a);
	a->n_live--;
	a->live_bytes -= h->size;
	h->magic = MAGIC_FREED;
	memset(ptr, FILL_FREED, h->size);
	free(h);
}

static void *
counting_realloc(void *ptr, size_t size, void *user)
{
	void *moved = counting_alloc(size, user);
	size_t old;

	if (!moved || !ptr)
		return moved;
	old = head_of(ptr, user)->size;
	memcpy(moved, ptr, old < size ? old : size);
	counting_free(ptr, user);
	return moved;
}

void
cnt_alloc_init(struct cnt_alloc *a, size_t fail_at)
{
	*a = (struct cnt_alloc){ .fail_at = fail_at };
	a->mem.alloc = counting_alloc;
	a->mem.realloc = counting_realloc;
	a->mem.free = counting_free;
	a->mem.user = a;
}

size_t
cnt_alloc_leaks(const struct cnt_alloc *a)
{
	if (a->n_live)
		fprintf(stderr, "cnt_alloc: %zu pieces (%zu bytes) not freed\n",
			a->n_live, a->live_bytes);
	return a->n_live;
}

int
cnt_alloc_has_failed(const struct cnt_alloc *a)
{
	return a->n_failed > 0;
}
