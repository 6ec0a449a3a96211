/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/mem.h"
#include "crypto/prepare.h"

/* Built without libidn: only passwords in ASCII are the same everywhere. */
char *
cn_password_prepare(const char *password, size_t n)
{
	return cnc_strndup(&cnc_mem_default, password, n);
}
