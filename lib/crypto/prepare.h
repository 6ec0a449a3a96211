/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CN_PREPARE_H
#define CN_PREPARE_H

#include <stddef.h>

/* Prepare a password by SASLprep (RFC 4013). If SASLprep refuses the password (it is not UTF-8, or
 * has forbidden characters), it stays unchanged, as in PostgreSQL. NULL: out of memory. The caller
 * wipes the result, and frees it with cnc_mem_default. */
char *cn_password_prepare(const char *password, size_t n);

#endif
