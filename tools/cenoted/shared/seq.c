/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts in shared memory, which one process writes and others read. scoreboard.c and digests.c call this file. */
#include "seq.h"

#include <sched.h>
#include <string.h>

void
cnd_seq_write(struct cnd_seq *seq, void *to, const void *from, size_t size)
{
	uint32_t n = atomic_load_explicit(&seq->n, memory_order_relaxed);

	/* a writer that died half-way left it odd; the next one makes it even again */
	atomic_store_explicit(&seq->n, n | 1u, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	memcpy(to, from, size);
	atomic_store_explicit(&seq->n, (n | 1u) + 1, memory_order_release);
}

void
cnd_seq_read(const struct cnd_seq *seq, void *to, const void *from, size_t size)
{
	for (int i = 0; i < 1000; i++) {
		uint32_t before = atomic_load_explicit(&seq->n, memory_order_acquire);

		memcpy(to, from, size);
		atomic_thread_fence(memory_order_acquire);
		if (!(before & 1) &&
			atomic_load_explicit(&seq->n, memory_order_relaxed) == before)
			return;
		if (i > 100)
			sched_yield();
	}
	memset(to, 0, size);
}
