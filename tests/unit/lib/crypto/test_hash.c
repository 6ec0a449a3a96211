/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hashes, HMAC, derived keys and prepared passwords against the standards' vectors. It
 * needs no server.
 */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <string.h>

#include "crypto/crypto.h"

static const struct cnp_hash *hash;

/* A digest in hexadecimal. */
static void
assert_digest(const uint8_t digest[CNP_HASH_LEN], const char *wanted)
{
	char text[2 * CNP_HASH_LEN + 1];

	for (size_t i = 0; i < CNP_HASH_LEN; i++)
		snprintf(text + 2 * i, 3, "%02x", digest[i]);
	assert_string_equal(text, wanted);
}

static void
sha256_is_that_of_the_standard(void **state)
{
	uint8_t digest[CNP_HASH_LEN];

	assert_ok(hash->sha256("abc", 3, digest));
	assert_digest(digest,
		"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert_ok(hash->sha256("", 0, digest));
	assert_digest(digest,
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void
a_kept_hasher_forgets_the_text_before(void **state)
{
	const struct cn_hasher_ops *ops = cn_crypto_get(CN_CRYPTO_ABI)->hasher;
	struct evp_md_ctx_st *hasher = ops->create();
	uint8_t digest[CNP_HASH_LEN];

	assert_non_null(hasher);
	for (int i = 0; i < 3; i++) {
		assert_ok(ops->sha256(hasher, "abc", 3, digest));
		assert_digest(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb4"
				      "10ff61f20015ad");
		assert_ok(ops->sha256(hasher, "", 0, digest));
		assert_digest(digest, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca4"
				      "95991b7852b855");
	}
	ops->destroy(hasher);
	ops->destroy(NULL);
}

/* RFC 4231, cases 1, 2 and 6. */
static void
hmac_is_that_of_the_standard_whole_and_in_pieces(void **state)
{
	static const struct cnp_bytes whole[] = { { "what do ya want for nothing?",
		28 } };
	static const struct cnp_bytes pieces[] = { { "what do ya", 10 }, { "", 0 },
		{ " want for nothing?", 18 } };
	static const struct cnp_bytes long_key[] = {
		{ "Test Using Larger Than Block-Size Key - Hash Key First", 54 }
	};
	static const struct cnp_bytes hi[] = { { "Hi There", 8 } };
	uint8_t digest[CNP_HASH_LEN], key[131];

	assert_ok(hash->hmac("Jefe", 4, whole, 1, digest));
	assert_digest(digest,
		"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	assert_ok(hash->hmac("Jefe", 4, pieces, 3, digest));
	assert_digest(digest,
		"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	memset(key, 0xaa, sizeof(key));
	assert_ok(hash->hmac(key, sizeof(key), long_key, 1, digest));
	assert_digest(digest,
		"60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
	memset(key, 0x0b, 20);
	assert_ok(hash->hmac(key, 20, hi, 1, digest));
	assert_digest(digest,
		"b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
}

/* The first 32 bytes of both vectors of RFC 7914, section 11. */
static void
derived_keys_are_those_of_the_standard(void **state)
{
	uint8_t key[CNP_HASH_LEN];

	assert_ok(hash->derive("passwd", 6, (const uint8_t *)"salt", 4, 1, key));
	assert_digest(
		key, "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc");
	assert_ok(hash->derive("Password", 8, (const uint8_t *)"NaCl", 4, 80000, key));
	assert_digest(
		key, "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56");
}

static int
derives_the_same(const char *a, const char *b)
{
	uint8_t key[2][CNP_HASH_LEN];

	assert_ok(hash->derive(a, strlen(a), (const uint8_t *)"salt", 4, 1, key[0]));
	assert_ok(hash->derive(b, strlen(b), (const uint8_t *)"salt", 4, 1, key[1]));
	return hash->is_same(key[0], key[1], CNP_HASH_LEN);
}

/* Passwords are prepared as in RFC 4013, section 3, if the library for that is there. Otherwise
 * they are used byte for byte. */
static void
passwords_are_prepared_or_taken_as_they_are(void **state)
{
	static const char *const same[][2] = {
		{ "I\xc2\xadX", "IX" }, /* a soft hyphen is removed */
		{ "\xc2\xaa", "a" }, /* NFKC */
		{ "\xe2\x85\xa8", "IX" },
		{ "a\xc2\xa0z", "a z" }, /* a blank of another kind */
		{ "\xc3\xa9", "e\xcc\x81" },
	};
	/* prohibited, of two directions, not UTF-8: such a password is used as it is */
	static const char *const itself[] = { "a\x07", "\xd8\xa7\x31", "\xff\xfe",
		"\xc2\xad" };
	int prepares = derives_the_same(same[0][0], same[0][1]);

	for (size_t i = 0; i < CNT_COUNT(same); i++)
		assert_int_equal(derives_the_same(same[i][0], same[i][1]), prepares);
	for (size_t i = 0; i < CNT_COUNT(itself); i++) {
		assert_true(derives_the_same(itself[i], itself[i]));
		assert_false(derives_the_same(itself[i], ""));
	}
	assert_false(derives_the_same("User", "user"));
}

static void
random_bytes_are_others_each_time(void **state)
{
	uint8_t a[32] = { 0 }, b[32] = { 0 };

	assert_ok(hash->random(a, sizeof(a)));
	assert_ok(hash->random(b, sizeof(b)));
	assert_false(hash->is_same(a, b, sizeof(a)));
	assert_true(hash->is_same(a, a, sizeof(a)));
	assert_false(hash->is_same("\0\0\1", "\0\0\2", 3));
}

static void
kept_keys_are_those_that_were_derived(void **state)
{
	const struct cn_keys_ops *keys = cn_crypto_get(CN_CRYPTO_ABI)->keys;
	struct cnp_scram_keys plain, first, again;
	uint8_t salt[16] = { 1, 2, 3 };

	/* more keys than are kept, twice */
	for (int round = 0; round < 2; round++) {
		for (uint8_t i = 0; i < 100; i++) {
			salt[0] = i;
			assert_ok(cnp_scram_keys_derive(hash, "pencil", salt,
				sizeof(salt), 4096 + i % 2u, &plain));
			assert_ok(keys->derive(
				"pencil", salt, sizeof(salt), 4096 + i % 2u, &first));
			assert_ok(keys->derive(
				"pencil", salt, sizeof(salt), 4096 + i % 2u, &again));
			assert_memory_equal(&first, &plain, sizeof(plain));
			assert_memory_equal(&again, &plain, sizeof(plain));
			if (i % 3 == 0)
				keys->forget(&first);
		}
	}
	assert_ok(keys->derive("pencil2", salt, sizeof(salt), 4096, &again));
	assert_false(hash->is_same(&first, &again, sizeof(again)));
}

static void
another_version_is_not_had(void **state)
{
	assert_null(cn_crypto_get(CN_CRYPTO_ABI + 1));
	assert_null(cn_crypto_get(0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sha256_is_that_of_the_standard),
		cmocka_unit_test(a_kept_hasher_forgets_the_text_before),
		cmocka_unit_test(hmac_is_that_of_the_standard_whole_and_in_pieces),
		cmocka_unit_test(derived_keys_are_those_of_the_standard),
		cmocka_unit_test(passwords_are_prepared_or_taken_as_they_are),
		cmocka_unit_test(random_bytes_are_others_each_time),
		cmocka_unit_test(kept_keys_are_those_that_were_derived),
		cmocka_unit_test(another_version_is_not_had),
	};

	hash = cn_crypto_get(CN_CRYPTO_ABI)->hash;
	return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
