/* SPDX-License-Identifier: BSD-2-Clause */
#include "starve.h"

#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

static long countdown; /* 0: nothing fails */
static int fails_on; /* those behind the first as well */
static int has_failed;

void
cnt_starve(long nth, int all)
{
	has_failed = 0;
	fails_on = all;
	countdown = nth;
}

int
cnt_starve_end(void)
{
	countdown = 0;
	return has_failed;
}

static int
fails(void)
{
	if (countdown == 0 || (countdown > 1 && --countdown > 0))
		return 0;
	if (!fails_on)
		countdown = 0;
	has_failed = 1;
	return 1;
}

void *
malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *
calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *
realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}
