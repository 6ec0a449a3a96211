/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNP_HASH_H
#define CNP_HASH_H

#include <stddef.h>
#include <stdint.h>

#define CNP_HASH_LEN 32u /* bytes of SHA-256 */

/* A part of a text that comes in several parts. */
struct cnp_bytes {
	const void *p;
	size_t n;
};

/*
 * The hash functions and random bytes that a login needs. The caller passes them in, from
 * a cryptographic library. Each returns 0, or CENOTE_ERR_NOMEM if the library failed;
 * then the output is zeroes.
 */
struct cnp_hash {
	int (*sha256)(const void *data, size_t n, uint8_t ret_hash[CNP_HASH_LEN]);
	int (*hmac)(const void *key, size_t key_len, const struct cnp_bytes *parts,
		size_t n_parts, uint8_t ret_hash[CNP_HASH_LEN]);
	/* PBKDF2 with HMAC-SHA-256 of the password. The password is prepared with SASLprep (RFC 4013), or used
	 * unchanged if SASLprep refuses it. */
	int (*derive)(const char *password, size_t password_len, const uint8_t *salt,
		size_t salt_len, uint32_t iterations, uint8_t ret_key[CNP_HASH_LEN]);
	int (*random)(void *room, size_t n);
	/* 1: both are equal. The comparison takes the same time for all contents. */
	int (*is_same)(const void *a, const void *b, size_t n);
};

#endif
