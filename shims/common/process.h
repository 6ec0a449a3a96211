/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CSH_PROCESS_H
#define CSH_PROCESS_H

/* The same as getpid(), but without a system call where the kernel can mark a forked child. */
long csh_getpid(void);

#endif
