/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <string.h>

#include "protocol/scram.h"

/* Toy functions, which are quick and give the same each time: the target is the code that reads
 * messages. */

static int
toy_sha256(const void *data, size_t n, uint8_t ret_hash[CNP_HASH_LEN])
{
	const uint8_t *p = data;

	memset(ret_hash, 0x5a, CNP_HASH_LEN);
	for (size_t i = 0; i < n; i++)
		ret_hash[i % CNP_HASH_LEN] =
			(uint8_t)(ret_hash[i % CNP_HASH_LEN] * 31u + p[i]);
	return CENOTE_OK;
}

static int
toy_hmac(const void *key, size_t key_len, const struct cnp_bytes *parts, size_t n_parts,
	uint8_t ret_hash[CNP_HASH_LEN])
{
	uint8_t part[CNP_HASH_LEN];

	(void)toy_sha256(key, key_len, ret_hash);
	for (size_t i = 0; i < n_parts; i++) {
		(void)toy_sha256(parts[i].p, parts[i].n, part);
		for (size_t j = 0; j < CNP_HASH_LEN; j++)
			ret_hash[j] ^= part[j];
	}
	return CENOTE_OK;
}

static int
toy_derive(const char *password, size_t password_len, const uint8_t *salt,
	size_t salt_len, uint32_t iterations, uint8_t ret_key[CNP_HASH_LEN])
{
	const struct cnp_bytes parts[] = { { salt, salt_len },
		{ &iterations, sizeof(iterations) } };

	return toy_hmac(password, password_len, parts, 2, ret_key);
}

static int
toy_random(void *room, size_t n)
{
	memset(room, 7, n);
	return CENOTE_OK;
}

static int
toy_is_same(const void *a, const void *b, size_t n)
{
	return memcmp(a, b, n) == 0;
}

static const struct cnp_hash hash = {
	.sha256 = toy_sha256,
	.hmac = toy_hmac,
	.derive = toy_derive,
	.random = toy_random,
	.is_same = toy_is_same,
};

static const uint8_t binding[CNP_SCRAM_BINDING_LEN] = "binding";

/* Act as a server that gets two messages. A login that passes gets the server's signature. */
static void
serve(int is_plus, const struct cnp_str m[2])
{
	struct cnp_scram_verifier v;
	struct cnp_scram_server s;
	struct cnp_str out;

	FUZZ_CHECK(cnp_scram_verifier_make(&hash, "pencil", 4096, &v) == CENOTE_OK);
	cnp_scram_server_init(&s, &hash, is_plus, is_plus ? binding : NULL);
	if (cnp_scram_server_take(&s, m[0].p, m[0].n) < 0)
		return;
	FUZZ_CHECK(strlen(s.user) <= CNP_SCRAM_NAME_MAX);
	FUZZ_CHECK(cnp_scram_server_challenge(&s, &v, 0, NULL, &out) == CENOTE_OK);
	FUZZ_CHECK(out.n <= CNP_SCRAM_MESSAGE_MAX);
	if (cnp_scram_server_check(&s, m[1].p, m[1].n, &out) == CENOTE_OK)
		FUZZ_CHECK(out.n > 2 && memcmp(out.p, "v=", 2) == 0);
	cnp_scram_server_finish(&s);
}

/* Act as a client that gets two messages. After a failure, the client stays failed. */
static void
ask(enum cnp_scram_binding how, const struct cnp_str m[2])
{
	struct cnp_scram_client c;
	struct cnp_scram_keys keys;
	struct cnp_str out;

	FUZZ_CHECK(cnp_scram_client_begin(
			   &c, &hash, "us=er,", how, binding, NULL, &out) == CENOTE_OK);
	if (cnp_scram_client_challenge(&c, m[0].p, m[0].n) < 0) {
		FUZZ_CHECK(c.state == CNP_SCRAM_CLIENT_FAILED);
		return;
	}
	FUZZ_CHECK(c.iterations >= CNP_SCRAM_ITERATIONS_MIN &&
		   c.iterations <= CNP_SCRAM_ITERATIONS_MAX);
	FUZZ_CHECK(cnp_scram_keys_derive(&hash, "pencil", c.salt, c.salt_len,
			   c.iterations, &keys) == CENOTE_OK);
	FUZZ_CHECK(cnp_scram_client_prove(&c, &keys, &out) == CENOTE_OK);
	FUZZ_CHECK(out.n <= CNP_SCRAM_MESSAGE_MAX);
	FUZZ_CHECK((cnp_scram_client_verify(&c, m[1].p, m[1].n) == CENOTE_OK) ==
		   (c.state == CNP_SCRAM_CLIENT_DONE));
	cnp_scram_client_finish(&c);
}

/* A verifier that is accepted is written the same way. */
static void
parse(const char *text)
{
	char again[CNP_SCRAM_VERIFIER_MAX];
	struct cnp_scram_verifier v;

	if (cnp_scram_verifier_parse(text, &v) < 0)
		return;
	cnp_scram_verifier_text(&v, again);
	FUZZ_CHECK(strcmp(text, again) == 0);
}

/* The first letter chooses the role. Then come two messages, with a newline between them. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const char *end;
	struct cnp_str m[2];
	char *copy;

	if (size == 0)
		return 0;
	end = memchr(text + 1, '\n', size - 1);
	m[0] = (struct cnp_str){ text + 1, end ? (size_t)(end - text - 1) : size - 1 };
	m[1] = end ? (struct cnp_str){ end + 1, size - 2 - m[0].n } : CNP_STR_NONE;
	switch (*text) {
	case 's':
	case 'S':
		serve(*text == 'S', m);
		break;
	case 'c':
		ask(CNP_SCRAM_UNBOUND, m);
		break;
	case 'C':
		ask(CNP_SCRAM_BOUND, m);
		break;
	default:
		copy = calloc(1, size);
		FUZZ_CHECK(copy);
		memcpy(copy, text + 1, size - 1);
		parse(copy);
		free(copy);
		break;
	}
	return 0;
}
