/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void
die(const char *what)
{
	perror(what);
	abort();
}

void
cnt_guard_init(struct cnt_guard *g, size_t max)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	g->size = (max + page) / page * page;
	g->pages = mmap(NULL, g->size + page, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (g->pages == MAP_FAILED)
		die("cnt_guard: mmap");
	if (mprotect(g->pages + g->size, page, PROT_NONE) < 0)
		die("cnt_guard: mprotect");
}

void
cnt_guard_finish(struct cnt_guard *g)
{
	munmap(g->pages, g->size + (size_t)sysconf(_SC_PAGESIZE));
	g->pages = NULL;
}

uint8_t *
cnt_guard_put(struct cnt_guard *g, const void *bytes, size_t len)
{
	uint8_t *copy = g->pages + g->size - len;

	if (len > g->size) {
		fprintf(stderr, "cnt_guard: more than it was made for\n");
		abort();
	}
	if (len)
		memcpy(copy, bytes, len);
	return copy;
}
