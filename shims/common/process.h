/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CSH_PROCESS_H
#define CSH_PROCESS_H

/* As getpid(), without a system call where the kernel can tell a forked child. */
long csh_getpid(void);

#endif
