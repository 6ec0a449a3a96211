/* SPDX-License-Identifier: BSD-2-Clause */
#include "process.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

/* Memory is lent by the page. Where pages are larger the kernel refuses this one, and nothing is kept. */
#define PAGE_BYTES 4096

/* The kernel gives a forked child zeroes for it, by whatever way the child was made. */
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
