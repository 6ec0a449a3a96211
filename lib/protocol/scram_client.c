/* SPDX-License-Identifier: BSD-2-Clause */
#include "protocol/scram_text.h"

#include <stdio.h>
#include <string.h>

#include "core/base64.h"
#include "core/mem.h"

/*
 * The client's end of SCRAM (scram.h).
 */

static const char *const headers[] = {
	[CNP_SCRAM_UNBOUND] = "n,,",
	[CNP_SCRAM_UNOFFERED] = "y,,",
	[CNP_SCRAM_BOUND] = "p=tls-exporter,,",
};

int
cnp_mechanisms_have(const char *mechanisms, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = mechanisms; *p != '\0';) {
		size_t len = strcspn(p, " ");

		if (len == n && memcmp(p, name, n) == 0)
			return 1;
		p += len;
		p += strspn(p, " ");
	}
	return 0;
}

const char *
cnp_scram_choose(
	const char *mechanisms, int can_bind, enum cnp_scram_binding *ret_binding)
{
	if (can_bind && cnp_mechanisms_have(mechanisms, CNP_SCRAM_PLUS)) {
		*ret_binding = CNP_SCRAM_BOUND;
		return CNP_SCRAM_PLUS;
	}
	/* If somebody removed -PLUS from the list, the server will find out by the header "y". */
	*ret_binding = can_bind ? CNP_SCRAM_UNOFFERED : CNP_SCRAM_UNBOUND;
	return cnp_mechanisms_have(mechanisms, CNP_SCRAM_PLAIN) ? CNP_SCRAM_PLAIN : NULL;
}

/* The exchange has failed: it must not continue. */
static int
failed(struct cnp_scram_client *c, int status)
{
	c->state = CNP_SCRAM_CLIENT_FAILED;
	return status;
}

/* Append the name. '=' and ',' have a meaning in messages, so escape them. */
static int
put_name(struct cnp_scram_text *t, const char *name)
{
	int r = CENOTE_OK;

	for (; *name != '\0' && r == CENOTE_OK; name++) {
		if (*name == '=')
			r = cnp_scram_puts(t, "=3D");
		else if (*name == ',')
			r = cnp_scram_puts(t, "=2C");
		else
			r = cnp_scram_put(t, name, 1);
	}
	return r;
}

int
cnp_scram_client_begin(struct cnp_scram_client *c, const struct cnp_hash *hash,
	const char *user, enum cnp_scram_binding binding,
	const uint8_t binding_data[CNP_SCRAM_BINDING_LEN], const char *nonce,
	struct cnp_str *ret_message)
{
	int r = CENOTE_OK;

	memset(c, 0, sizeof(*c));
	c->hash = hash;
	c->binding = (uint8_t)binding;
	if (strlen(user) > CNP_SCRAM_NAME_MAX)
		return failed(c, CENOTE_ERR_LIMIT);
	if (binding == CNP_SCRAM_BOUND)
		memcpy(c->binding_data, binding_data, CNP_SCRAM_BINDING_LEN);
	if (nonce)
		(void)snprintf(c->nonce, sizeof(c->nonce), "%s", nonce);
	else
		r = cnp_scram_nonce(hash, c->nonce);
	if (r == CENOTE_OK)
		r = cnp_scram_puts(&c->said, "n=");
	if (r == CENOTE_OK)
		r = put_name(&c->said, user);
	if (r == CENOTE_OK)
		r = cnp_scram_puts(&c->said, ",r=");
	if (r == CENOTE_OK)
		r = cnp_scram_puts(&c->said, c->nonce);
	if (r == CENOTE_OK)
		r = cnp_scram_puts(&c->out, headers[binding]);
	if (r == CENOTE_OK)
		r = cnp_scram_put(&c->out, c->said.p, c->said.n);
	if (r < 0)
		return failed(c, r);
	ret_message->p = c->out.p;
	ret_message->n = c->out.n;
	return CENOTE_OK;
}

/* The server's nonce must begin with the client's nonce, and be longer. */
static int
is_answer_to(const struct cnp_scram_client *c, const struct cnp_str *nonce)
{
	size_t own = strlen(c->nonce);

	return cnp_scram_is_nonce(nonce, CNP_SCRAM_NONCE_MAX) && nonce->n > own &&
	       memcmp(nonce->p, c->nonce, own) == 0;
}

static int
take_salt(struct cnp_scram_client *c, const struct cnp_str *text)
{
	ptrdiff_t n = cnc_base64_decode(text->p, text->n, c->salt, sizeof(c->salt));

	if (n <= 0)
		return CENOTE_ERR_PROTOCOL;
	c->salt_len = (uint32_t)n;
	return CENOTE_OK;
}

static int
take_iterations(struct cnp_scram_client *c, const struct cnp_str *text)
{
	uint32_t n = 0;

	if (text->n == 0 || text->n > 9 || text->p[0] == '0')
		return CENOTE_ERR_PROTOCOL;
	for (size_t i = 0; i < text->n; i++) {
		if (text->p[i] < '0' || text->p[i] > '9')
			return CENOTE_ERR_PROTOCOL;
		n = n * 10 + (uint32_t)(text->p[i] - '0');
	}
	c->iterations = n;
	return n < CNP_SCRAM_ITERATIONS_MIN || n > CNP_SCRAM_ITERATIONS_MAX
		       ? CENOTE_ERR_UNSUPPORTED
		       : CENOTE_OK;
}

/* Append the client-final-message-without-proof to the text that both ends sign. */
static int
begin_final(struct cnp_scram_client *c, const struct cnp_str *nonce)
{
	int r;

	c->out.n = 0;
	r = cnp_scram_put_binding(&c->out, headers[c->binding],
		c->binding == CNP_SCRAM_BOUND ? c->binding_data : NULL);
	if (r == CENOTE_OK)
		r = cnp_scram_puts(&c->out, ",r=");
	if (r == CENOTE_OK)
		r = cnp_scram_put(&c->out, nonce->p, nonce->n);
	if (r == CENOTE_OK)
		r = cnp_scram_puts(&c->said, ",");
	return r < 0 ? r : cnp_scram_put(&c->said, c->out.p, c->out.n);
}

int
cnp_scram_client_challenge(struct cnp_scram_client *c, const char *text, size_t n)
{
	struct cnp_scram_reader reader;
	struct cnp_str nonce, salt, iterations;
	int r;

	if (c->state != CNP_SCRAM_CLIENT_BEGUN || n > CNP_SCRAM_MESSAGE_MAX)
		return failed(c, CENOTE_ERR_PROTOCOL);
	cnp_scram_reader_init(&reader, text, n);
	if (cnp_scram_read(&reader, 'r', &nonce) < 0 ||
		cnp_scram_read(&reader, 's', &salt) < 0 ||
		cnp_scram_read(&reader, 'i', &iterations) < 0 ||
		!cnp_scram_read_end(&reader) || !is_answer_to(c, &nonce))
		return failed(c, CENOTE_ERR_PROTOCOL);
	r = take_salt(c, &salt);
	if (r == CENOTE_OK)
		r = take_iterations(c, &iterations);
	if (r == CENOTE_OK)
		r = cnp_scram_puts(&c->said, ",");
	if (r == CENOTE_OK)
		r = cnp_scram_put(&c->said, text, n);
	if (r == CENOTE_OK)
		r = begin_final(c, &nonce);
	if (r < 0)
		return failed(c, r);
	c->state = CNP_SCRAM_CLIENT_CHALLENGED;
	return CENOTE_OK;
}

int
cnp_scram_client_prove(struct cnp_scram_client *c, const struct cnp_scram_keys *keys,
	struct cnp_str *ret_message)
{
	uint8_t stored_key[CNP_HASH_LEN], proof[CNP_HASH_LEN];
	int r;

	if (c->state != CNP_SCRAM_CLIENT_CHALLENGED)
		return failed(c, CENOTE_ERR_PROTOCOL);
	r = c->hash->sha256(keys->client_key, CNP_HASH_LEN, stored_key);
	if (r == CENOTE_OK)
		r = cnp_scram_mask(
			c->hash, stored_key, &c->said, keys->client_key, proof);
	if (r == CENOTE_OK)
		r = cnp_scram_hmac(c->hash, keys->server_key, c->said.p, c->said.n,
			c->server_signature);
	if (r == CENOTE_OK)
		r = cnp_scram_puts(&c->out, ",p=");
	if (r == CENOTE_OK)
		r = cnp_scram_put_base64(&c->out, proof, sizeof(proof));
	cnc_wipe(stored_key, sizeof(stored_key));
	if (r < 0)
		return failed(c, r);
	c->state = CNP_SCRAM_CLIENT_PROVED;
	ret_message->p = c->out.p;
	ret_message->n = c->out.n;
	return CENOTE_OK;
}

int
cnp_scram_client_verify(struct cnp_scram_client *c, const char *text, size_t n)
{
	struct cnp_scram_reader reader;
	struct cnp_str value;
	uint8_t signature[CNP_HASH_LEN];

	if (c->state != CNP_SCRAM_CLIENT_PROVED)
		return failed(c, CENOTE_ERR_PROTOCOL);
	cnp_scram_reader_init(&reader, text, n);
	if (cnp_scram_read(&reader, 'v', &value) < 0 || !cnp_scram_read_end(&reader) ||
		cnc_base64_decode(value.p, value.n, signature, sizeof(signature)) !=
			(ptrdiff_t)sizeof(signature))
		return failed(c, CENOTE_ERR_PROTOCOL);
	if (!c->hash->is_same(signature, c->server_signature, sizeof(signature)))
		return failed(c, CENOTE_ERR_AUTH);
	c->state = CNP_SCRAM_CLIENT_DONE;
	return CENOTE_OK;
}

void
cnp_scram_client_finish(struct cnp_scram_client *c)
{
	cnc_wipe(c, sizeof(*c));
}
