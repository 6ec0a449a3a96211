/* SPDX-License-Identifier: BSD-2-Clause */
#include "crypto/crypto.h"

/* For a cenoted that is built without OpenSSL. */
const struct cn_crypto *
cn_crypto_get(uint32_t abi)
{
	(void)abi;
	return NULL;
}
