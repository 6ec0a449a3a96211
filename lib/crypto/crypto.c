/* SPDX-License-Identifier: BSD-2-Clause */
#include "crypto/crypto.h"

static const struct cn_crypto crypto = {
	.abi = CN_CRYPTO_ABI,
	.hash = &cn_hash_ops,
	.hasher = &cn_hasher_ops,
	.keys = &cn_keys_ops,
	.tls = &cn_tls_ops,
};

/* The only name that the module exports. */
__attribute__((visibility("default"))) const struct cn_crypto *
cn_crypto_get(uint32_t abi)
{
	return abi == CN_CRYPTO_ABI ? &crypto : NULL;
}
