/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_SEALED_H
#define CND_SEALED_H

#include <stddef.h>

/*
 * Shared memory that nobody can map for writing any more but who has it mapped so already: for good, whatever a process
 * does that has the descriptor. Linux 5.1 (memfd_create(2), F_SEAL_FUTURE_WRITE).
 */

/* All zero. The mapping, which may be written and which children inherit, and a descriptor (close-on-exec) for others; NULL
 * with errno. munmap() and close() are the caller's. */
void *cnd_sealed_create(const char *name, size_t size, int *ret_fd);

#endif
