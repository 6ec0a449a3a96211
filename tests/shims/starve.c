/* SPDX-License-Identifier: BSD-2-Clause */
#include "starve.h"

#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif

/* glibc's own names, because ours hide the usual ones. */
#ifdef HAS_SANITIZER
#define UNDER(name) __interceptor_##name
#else
#define UNDER(name) __libc_##name
#endif

void *UNDER(malloc)(size_t size);
void *UNDER(calloc)(size_t n, size_t size);
void *UNDER(realloc)(void *old, size_t size);

static long countdown; /* 0: no call fails */
static int fails_on; /* calls after the first failure fail, too */
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
	return fails() ? NULL : UNDER(malloc)(size);
}

void *
calloc(size_t n, size_t size)
{
	return fails() ? NULL : UNDER(calloc)(n, size);
}

void *
realloc(void *old, size_t size)
{
	return fails() ? NULL : UNDER(realloc)(old, size);
}
