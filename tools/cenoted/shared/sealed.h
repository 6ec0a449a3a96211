/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_SEALED_H
#define CND_SEALED_H

#include <stddef.h>

/*
 * Shared memory that can be mapped for writing only before it is sealed. Afterwards no process that
 * has the descriptor can map it for writing, whatever it does. Linux 5.1 (memfd_create(2),
 * F_SEAL_FUTURE_WRITE).
 */

/* Create such memory, all zero. Returns a writable mapping, which children inherit, and a
 * descriptor (close-on-exec) for others; NULL with errno. The caller unmaps and closes them. */
void *cnd_sealed_create(const char *name, size_t size, int *ret_fd);

#endif
