/* SPDX-License-Identifier: BSD-2-Clause */
#include "protocol/scram_text.h"

#include <stdio.h>
#include <string.h>

#include "core/base64.h"
#include "core/mem.h"

/*
 * The functions that both ends of SCRAM share: writing and reading attributes, and deriving keys
 * and verifiers.
 */

int
cnp_scram_put(struct cnp_scram_text *t, const void *bytes, size_t n)
{
	if (n > sizeof(t->p) - t->n)
		return CENOTE_ERR_PROTOCOL;
	memcpy(t->p + t->n, bytes, n);
	t->n += n;
	return CENOTE_OK;
}

int
cnp_scram_puts(struct cnp_scram_text *t, const char *text)
{
	return cnp_scram_put(t, text, strlen(text));
}

int
cnp_scram_put_base64(struct cnp_scram_text *t, const void *bytes, size_t n)
{
	/* the zero byte at its end also needs room */
	if (CNC_BASE64_LEN(n) >= sizeof(t->p) - t->n)
		return CENOTE_ERR_PROTOCOL;
	t->n += cnc_base64_encode(bytes, n, t->p + t->n);
	return CENOTE_OK;
}

int
cnp_scram_put_binding(
	struct cnp_scram_text *t, const char *header, const uint8_t *binding_data)
{
	uint8_t both[64 + CNP_SCRAM_BINDING_LEN];
	size_t n = strlen(header);
	int r;

	/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): its length is known */
	memcpy(both, header, n);
	if (binding_data) {
		memcpy(both + n, binding_data, CNP_SCRAM_BINDING_LEN);
		n += CNP_SCRAM_BINDING_LEN;
	}
	r = cnp_scram_puts(t, "c=");
	return r < 0 ? r : cnp_scram_put_base64(t, both, n);
}

void
cnp_scram_reader_init(struct cnp_scram_reader *r, const char *text, size_t n)
{
	r->p = text;
	r->n = n;
	r->is_at_end = 0;
}

int
cnp_scram_read(struct cnp_scram_reader *r, char letter, struct cnp_str *ret_value)
{
	const char *comma;
	size_t n;

	if (r->is_at_end || r->n < 2 || r->p[0] != letter || r->p[1] != '=')
		return CENOTE_ERR_PROTOCOL;
	comma = memchr(r->p, ',', r->n);
	n = comma ? (size_t)(comma - r->p) : r->n;
	ret_value->p = r->p + 2;
	ret_value->n = n - 2;
	r->is_at_end = !comma;
	r->p += comma ? n + 1 : n;
	r->n -= comma ? n + 1 : n;
	return CENOTE_OK;
}

static int
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

int
cnp_scram_read_end(struct cnp_scram_reader *r)
{
	struct cnp_str value;

	while (!r->is_at_end) {
		char letter = '\0';

		if (r->n > 0)
			letter = *r->p;
		/* 'm' marks an extension that the receiver must understand */
		if (!is_letter(letter) || letter == 'm' ||
			cnp_scram_read(r, letter, &value) < 0)
			return 0;
	}
	return 1;
}

int
cnp_scram_is_nonce(const struct cnp_str *text, size_t max)
{
	for (size_t i = 0; i < text->n; i++) {
		if (text->p[i] <= ' ' || text->p[i] > '~')
			return 0;
	}
	return text->n > 0 && text->n <= max;
}

int
cnp_scram_nonce(const struct cnp_hash *hash, char out[CNP_SCRAM_NONCE_LEN + 1])
{
	uint8_t bytes[CNP_SCRAM_NONCE_LEN / 4 * 3];
	int r = hash->random(bytes, sizeof(bytes));

	if (r < 0)
		return r;
	(void)cnc_base64_encode(bytes, sizeof(bytes), out);
	return CENOTE_OK;
}

int
cnp_scram_hmac(const struct cnp_hash *hash, const uint8_t key[CNP_HASH_LEN],
	const void *text, size_t n, uint8_t ret_hash[CNP_HASH_LEN])
{
	const struct cnp_bytes part = { text, n };

	return hash->hmac(key, CNP_HASH_LEN, &part, 1, ret_hash);
}

int
cnp_scram_mask(const struct cnp_hash *hash, const uint8_t stored_key[CNP_HASH_LEN],
	const struct cnp_scram_text *said, const uint8_t from[CNP_HASH_LEN],
	uint8_t ret_to[CNP_HASH_LEN])
{
	uint8_t signature[CNP_HASH_LEN];
	int r = cnp_scram_hmac(hash, stored_key, said->p, said->n, signature);

	if (r < 0)
		return r;
	for (size_t i = 0; i < CNP_HASH_LEN; i++)
		ret_to[i] = from[i] ^ signature[i];
	/* Wipe the signature: with it and the proof, anybody could compute the client's key. */
	cnc_wipe(signature, sizeof(signature));
	return CENOTE_OK;
}

int
cnp_scram_keys_derive(const struct cnp_hash *hash, const char *password,
	const uint8_t *salt, size_t salt_len, uint32_t iterations,
	struct cnp_scram_keys *ret_keys)
{
	uint8_t salted[CNP_HASH_LEN];
	int r;

	r = hash->derive(password, strlen(password), salt, salt_len, iterations, salted);
	if (r == CENOTE_OK)
		r = cnp_scram_hmac(hash, salted, "Client Key", 10, ret_keys->client_key);
	if (r == CENOTE_OK)
		r = cnp_scram_hmac(hash, salted, "Server Key", 10, ret_keys->server_key);
	cnc_wipe(salted, sizeof(salted));
	return r;
}

#define SCHEME CNP_SCRAM_PLAIN "$"

/* Read digits up to `end`. Returns the text after `end`; NULL if there is no `end`. */
static const char *
parse_iterations(const char *text, char end, uint32_t *ret_iterations)
{
	uint32_t n = 0;
	const char *p = text;

	for (; *p >= '0' && *p <= '9' && p - text < 9; p++)
		n = n * 10 + (uint32_t)(*p - '0');
	if (p == text || *text == '0' || *p != end)
		return NULL;
	*ret_iterations = n;
	return p + 1;
}

/* Read a key in base64 up to `end`. Returns the text after `end`; NULL if it is not a key. */
static const char *
parse_key(const char *text, char end, uint8_t key[CNP_HASH_LEN])
{
	size_t n = strcspn(text, ":");

	if (text[n] != end ||
		cnc_base64_decode(text, n, key, CNP_HASH_LEN) != (ptrdiff_t)CNP_HASH_LEN)
		return NULL;
	return text + n + 1;
}

int
cnp_scram_verifier_parse(const char *text, struct cnp_scram_verifier *ret_verifier)
{
	struct cnp_scram_verifier *v = ret_verifier;
	size_t n;
	ptrdiff_t salt_len;

	memset(v, 0, sizeof(*v));
	if (strncmp(text, SCHEME, strlen(SCHEME)) != 0)
		return CENOTE_ERR_ARG;
	text = parse_iterations(text + strlen(SCHEME), ':', &v->iterations);
	if (!text)
		return CENOTE_ERR_ARG;
	n = strcspn(text, "$");
	salt_len = cnc_base64_decode(text, n, v->salt, sizeof(v->salt));
	if (text[n] != '$' || salt_len <= 0)
		return CENOTE_ERR_ARG;
	v->salt_len = (uint32_t)salt_len;
	text = parse_key(text + n + 1, ':', v->stored_key);
	if (!text || !parse_key(text, '\0', v->server_key))
		return CENOTE_ERR_ARG;
	return v->iterations < CNP_SCRAM_ITERATIONS_MIN ||
			       v->iterations > CNP_SCRAM_ITERATIONS_MAX
		       ? CENOTE_ERR_UNSUPPORTED
		       : CENOTE_OK;
}

_Static_assert(sizeof(SCHEME) + sizeof("1000000:$:") +
			       CNC_BASE64_LEN(CNP_SCRAM_SALT_MAX) +
			       2 * CNC_BASE64_LEN(CNP_HASH_LEN) <=
		       CNP_SCRAM_VERIFIER_MAX,
	"the longest verifier has room");

void
cnp_scram_verifier_text(
	const struct cnp_scram_verifier *v, char out[CNP_SCRAM_VERIFIER_MAX])
{
	size_t n = (size_t)snprintf(
		out, CNP_SCRAM_VERIFIER_MAX, SCHEME "%u:", (unsigned)v->iterations);

	n += cnc_base64_encode(v->salt, v->salt_len, out + n);
	out[n++] = '$';
	n += cnc_base64_encode(v->stored_key, CNP_HASH_LEN, out + n);
	out[n++] = ':';
	(void)cnc_base64_encode(v->server_key, CNP_HASH_LEN, out + n);
}

int
cnp_scram_verifier_make(const struct cnp_hash *hash, const char *password,
	uint32_t iterations, struct cnp_scram_verifier *ret_verifier)
{
	struct cnp_scram_verifier *v = ret_verifier;
	struct cnp_scram_keys keys;
	int r;

	memset(v, 0, sizeof(*v));
	v->iterations = iterations;
	v->salt_len = CNP_SCRAM_SALT_LEN;
	r = hash->random(v->salt, v->salt_len);
	if (r == CENOTE_OK)
		r = cnp_scram_keys_derive(
			hash, password, v->salt, v->salt_len, iterations, &keys);
	if (r == CENOTE_OK)
		r = hash->sha256(keys.client_key, CNP_HASH_LEN, v->stored_key);
	if (r == CENOTE_OK)
		memcpy(v->server_key, keys.server_key, CNP_HASH_LEN);
	cnc_wipe(&keys, sizeof(keys));
	return r;
}
