/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/mem.h"
#include "crypto/prepare.h"

/* Without libidn the password stays unchanged. So only ASCII passwords work with every server. */
char *
cn_password_prepare(const char *password, size_t n)
{
	return cnc_strndup(&cnc_mem_default, password, n);
}
