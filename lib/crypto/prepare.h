/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CN_PREPARE_H
#define CN_PREPARE_H

#include <stddef.h>

/* A password as SASLprep (RFC 4013) makes it; where that has no answer (it is not UTF-8, or has characters
 * that are not allowed), as it is: so does PostgreSQL. NULL: out of memory. To be wiped and freed with
 * cnc_mem_default. */
char *cn_password_prepare(const char *password, size_t n);

#endif
