/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fast getpid(). With it the shims notice that the process was forked. The state is a page that
 * the kernel clears in a child.
 */
#include "process.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

/* madvise() works on pages. If pages are larger, the kernel refuses, and the result is not
 * cached. */
#define PAGE_BYTES 4096

/* The kernel fills this page with zeros in a forked child, even if the child was made without fork(). */
static union {
	_Atomic long pid;
	char all[PAGE_BYTES];
} page __attribute__((aligned(PAGE_BYTES)));

static int
is_wiped_by_fork(void)
{
#ifdef MADV_WIPEONFORK
	return madvise(&page, sizeof(page), MADV_WIPEONFORK) == 0;
#else
	return 0;
#endif
}

long
csh_getpid(void)
{
	long pid = atomic_load_explicit(&page.pid, memory_order_relaxed);

	if (pid != 0)
		return pid;
	pid = getpid();
	if (is_wiped_by_fork())
		atomic_store_explicit(&page.pid, pid, memory_order_relaxed);
	return pid;
}
