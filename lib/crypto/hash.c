/* SPDX-License-Identifier: BSD-2-Clause */
#include <limits.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include "core/mem.h"
#include "crypto/crypto.h"
#include "crypto/prepare.h"

static int
sha256(const void *data, size_t n, uint8_t ret_hash[CNP_HASH_LEN])
{
	if (EVP_Digest(data, n, ret_hash, NULL, EVP_sha256(), NULL) == 1)
		return CENOTE_OK;
	memset(ret_hash, 0, CNP_HASH_LEN);
	return CENOTE_ERR_NOMEM;
}

static int
feed(EVP_MAC_CTX *ctx, const struct cnp_bytes *parts, size_t n_parts)
{
	for (size_t i = 0; i < n_parts; i++) {
		if (EVP_MAC_update(ctx, parts[i].p, parts[i].n) != 1)
			return 0;
	}
	return 1;
}

static int
hmac(const void *key, size_t key_len, const struct cnp_bytes *parts, size_t n_parts,
	uint8_t ret_hash[CNP_HASH_LEN])
{
	char digest[] = "SHA256";
	const OSSL_PARAM params[] = { OSSL_PARAM_construct_utf8_string(
					      "digest", digest, 0),
		OSSL_PARAM_construct_end() };
	EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
	EVP_MAC_CTX *ctx = mac ? EVP_MAC_CTX_new(mac) : NULL;
	size_t n = 0;
	int is_well = ctx && EVP_MAC_init(ctx, key, key_len, params) == 1 &&
		      feed(ctx, parts, n_parts) &&
		      EVP_MAC_final(ctx, ret_hash, &n, CNP_HASH_LEN) == 1 &&
		      n == CNP_HASH_LEN;

	EVP_MAC_CTX_free(ctx);
	EVP_MAC_free(mac);
	if (is_well)
		return CENOTE_OK;
	memset(ret_hash, 0, CNP_HASH_LEN);
	return CENOTE_ERR_NOMEM;
}

static int
derive(const char *password, size_t password_len, const uint8_t *salt, size_t salt_len,
	uint32_t iterations, uint8_t ret_key[CNP_HASH_LEN])
{
	char *prepared = cn_password_prepare(password, password_len);
	int is_well = 0;

	if (prepared) {
		size_t n = strlen(prepared);

		is_well = n <= INT_MAX && salt_len <= INT_MAX && iterations <= INT_MAX &&
			  PKCS5_PBKDF2_HMAC(prepared, (int)n, salt, (int)salt_len,
				  (int)iterations, EVP_sha256(), CNP_HASH_LEN,
				  ret_key) == 1;
		cnc_wipe(prepared, n);
		cnc_free(&cnc_mem_default, prepared);
	}
	if (is_well)
		return CENOTE_OK;
	memset(ret_key, 0, CNP_HASH_LEN);
	return CENOTE_ERR_NOMEM;
}

static int
random_bytes(void *room, size_t n)
{
	if (n <= INT_MAX && RAND_bytes(room, (int)n) == 1)
		return CENOTE_OK;
	memset(room, 0, n);
	return CENOTE_ERR_NOMEM;
}

static int
is_same(const void *a, const void *b, size_t n)
{
	return CRYPTO_memcmp(a, b, n) == 0;
}

const struct cnp_hash cn_hash_ops = {
	.sha256 = sha256,
	.hmac = hmac,
	.derive = derive,
	.random = random_bytes,
	.is_same = is_same,
};

static EVP_MD_CTX *
hasher_create(void)
{
	EVP_MD *md = EVP_MD_fetch(NULL, "SHA256", NULL);
	EVP_MD_CTX *ctx = md ? EVP_MD_CTX_new() : NULL;
	int is_well = ctx && EVP_DigestInit_ex2(ctx, md, NULL) == 1;

	/* the context has a reference of its own */
	EVP_MD_free(md);
	if (is_well)
		return ctx;
	EVP_MD_CTX_free(ctx);
	return NULL;
}

static int
hasher_sha256(EVP_MD_CTX *ctx, const void *data, size_t n, uint8_t ret_hash[CNP_HASH_LEN])
{
	if (EVP_DigestInit_ex2(ctx, NULL, NULL) == 1 &&
		EVP_DigestUpdate(ctx, data, n) == 1 &&
		EVP_DigestFinal_ex(ctx, ret_hash, NULL) == 1)
		return CENOTE_OK;
	memset(ret_hash, 0, CNP_HASH_LEN);
	return CENOTE_ERR_NOMEM;
}

const struct cn_hasher_ops cn_hasher_ops = {
	.create = hasher_create,
	.destroy = EVP_MD_CTX_free,
	.sha256 = hasher_sha256,
};
