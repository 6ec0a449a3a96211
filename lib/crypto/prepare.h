/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CN_PREPARE_H
#define CN_PREPARE_H

#include <stddef.h>

/* A password as SASLprep (RFC 4013) makes it. Where SASLprep refuses (it is not UTF-8,
 * or has forbidden characters) it stays as it is, as in PostgreSQL. NULL: out of
 * memory. The caller wipes it, and frees it with cnc_mem_default. */
char *cn_password_prepare(const char *password, size_t n);

#endif
