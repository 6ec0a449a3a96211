/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_SEQ_H
#define CND_SEQ_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* A sequence lock in shared memory, for one writer and any number of readers: odd while the data is being written. */
struct cnd_seq {
	_Atomic uint32_t n;
};

void cnd_seq_write(struct cnd_seq *seq, void *to, const void *from, size_t size);
/* Read data. The result is all zero if no consistent data could be read: a writer may have died in the middle of it. */
void cnd_seq_read(const struct cnd_seq *seq, void *to, const void *from, size_t size);

#endif
