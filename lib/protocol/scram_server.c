/* SPDX-License-Identifier: BSD-2-Clause */
#include "protocol/scram_text.h"

#include <stdio.h>
#include <string.h>

#include "core/base64.h"
#include "core/mem.h"

/*
 * The server's end of SCRAM (scram.h). An exchange with an unknown user takes the same steps as one
 * with a wrong password.
 */

void
cnp_scram_server_init(struct cnp_scram_server *s, const struct cnp_hash *hash,
	int is_plus, const uint8_t *binding_data)
{
	memset(s, 0, sizeof(*s));
	s->hash = hash;
	s->is_plus = is_plus != 0;
	s->binding_data = binding_data;
}

/* Read the header up to its second comma: it tells how the client binds. The client must not act
 * for another user. */
static int
take_header(struct cnp_scram_server *s, const char *text, size_t n, size_t *ret_len)
{
	static const char *const known[] = { "n,,", "y,,", "p=tls-exporter,," };
	const char *header = NULL;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (n > strlen(known[i]) && memcmp(text, known[i], strlen(known[i])) == 0)
			header = known[i];
	}
	if (!header || s->is_plus != (*header == 'p'))
		return CENOTE_ERR_PROTOCOL;
	/* With "y" the client could bind, but believes that this server cannot: somebody between
	 * the two has changed the list. */
	if (s->binding_data ? *header == 'y' : *header == 'p')
		return CENOTE_ERR_PROTOCOL;
	s->header = header;
	*ret_len = strlen(header);
	return CENOTE_OK;
}

/* The character for "=2C" or "=3D"; '\0': neither. */
static char
unescape(const char *p, size_t n)
{
	if (n >= 3 && memcmp(p, "=2C", 3) == 0)
		return ',';
	if (n >= 3 && memcmp(p, "=3D", 3) == 0)
		return '=';
	return '\0';
}

static int
take_name(struct cnp_scram_server *s, const struct cnp_str *text)
{
	size_t n = 0;

	for (size_t i = 0; i < text->n; i++) {
		char c = text->p[i];

		if (c == '=') {
			c = unescape(text->p + i, text->n - i);
			i += 2;
		}
		if (c == '\0' || n == CNP_SCRAM_NAME_MAX)
			return CENOTE_ERR_PROTOCOL;
		s->user[n++] = c;
	}
	s->user[n] = '\0';
	return CENOTE_OK;
}

int
cnp_scram_server_take(struct cnp_scram_server *s, const char *text, size_t n)
{
	struct cnp_scram_reader reader;
	struct cnp_str name, nonce;
	size_t header_len;

	if (n > CNP_SCRAM_MESSAGE_MAX || take_header(s, text, n, &header_len) < 0)
		return CENOTE_ERR_PROTOCOL;
	cnp_scram_reader_init(&reader, text + header_len, n - header_len);
	if (cnp_scram_read(&reader, 'n', &name) < 0 ||
		cnp_scram_read(&reader, 'r', &nonce) < 0 ||
		!cnp_scram_read_end(&reader) ||
		!cnp_scram_is_nonce(&nonce, CNP_SCRAM_NONCE_MAX - CNP_SCRAM_NONCE_LEN))
		return CENOTE_ERR_PROTOCOL;
	memcpy(s->nonce, nonce.p, nonce.n);
	s->nonce[nonce.n] = '\0';
	if (take_name(s, &name) < 0)
		return CENOTE_ERR_PROTOCOL;
	return cnp_scram_put(&s->said, text + header_len, n - header_len);
}

/* Write server-first-message. */
static int
put_challenge(struct cnp_scram_server *s)
{
	const struct cnp_scram_verifier *v = s->verifier;
	char iterations[16];
	int r;

	s->out.n = 0;
	(void)snprintf(iterations, sizeof(iterations), ",i=%u", (unsigned)v->iterations);
	r = cnp_scram_puts(&s->out, "r=");
	if (r == CENOTE_OK)
		r = cnp_scram_puts(&s->out, s->nonce);
	if (r == CENOTE_OK)
		r = cnp_scram_puts(&s->out, ",s=");
	if (r == CENOTE_OK)
		r = cnp_scram_put_base64(&s->out, v->salt, v->salt_len);
	return r < 0 ? r : cnp_scram_puts(&s->out, iterations);
}

int
cnp_scram_server_challenge(struct cnp_scram_server *s,
	const struct cnp_scram_verifier *verifier, int is_made_up, const char *nonce,
	struct cnp_str *ret_message)
{
	char own[CNP_SCRAM_NONCE_LEN + 1];
	size_t n = strlen(s->nonce);
	int r;

	if (s->said.n == 0 || s->verifier)
		return CENOTE_ERR_PROTOCOL;
	if (!nonce) {
		r = cnp_scram_nonce(s->hash, own);
		if (r < 0)
			return r;
		nonce = own;
	}
	(void)snprintf(s->nonce + n, sizeof(s->nonce) - n, "%s", nonce);
	s->verifier = verifier;
	s->is_made_up = is_made_up != 0;
	r = put_challenge(s);
	if (r == CENOTE_OK)
		r = cnp_scram_puts(&s->said, ",");
	if (r == CENOTE_OK)
		r = cnp_scram_put(&s->said, s->out.p, s->out.n);
	if (r < 0)
		return r;
	ret_message->p = s->out.p;
	ret_message->n = s->out.n;
	return CENOTE_OK;
}

/* Does the message begin with the parts that the client must repeat? These are "c=", header and
 * binding, ",r=", nonce. */
static int
repeats(struct cnp_scram_server *s, const char *text, size_t n)
{
	struct cnp_scram_text *t = &s->out;

	t->n = 0;
	if (cnp_scram_put_binding(t, s->header, s->is_plus ? s->binding_data : NULL) <
			0 ||
		cnp_scram_puts(t, ",r=") < 0 || cnp_scram_puts(t, s->nonce) < 0)
		return 0;
	return n == t->n && s->hash->is_same(text, t->p, n);
}

/* Read the proof at the end of the message, and the length of the part before the proof. */
static int
take_proof(const char *text, size_t n, uint8_t proof[CNP_HASH_LEN], size_t *ret_before)
{
	const size_t len = strlen(",p=") + CNC_BASE64_LEN(CNP_HASH_LEN);

	if (n < len || memcmp(text + n - len, ",p=", 3) != 0 ||
		cnc_base64_decode(text + n - len + 3, CNC_BASE64_LEN(CNP_HASH_LEN), proof,
			CNP_HASH_LEN) != (ptrdiff_t)CNP_HASH_LEN)
		return CENOTE_ERR_PROTOCOL;
	*ret_before = n - len;
	return CENOTE_OK;
}

/* 1: the proof was made with the key whose hash is the stored key. */
static int
is_proof(struct cnp_scram_server *s, const uint8_t proof[CNP_HASH_LEN])
{
	uint8_t stored_key[CNP_HASH_LEN];
	int r;

	r = cnp_scram_mask(
		s->hash, s->verifier->stored_key, &s->said, proof, s->client_key);
	if (r == CENOTE_OK)
		r = s->hash->sha256(s->client_key, CNP_HASH_LEN, stored_key);
	if (r < 0)
		return r;
	return s->hash->is_same(stored_key, s->verifier->stored_key, CNP_HASH_LEN) &
	       !s->is_made_up;
}

int
cnp_scram_server_check(struct cnp_scram_server *s, const char *text, size_t n,
	struct cnp_str *ret_message)
{
	uint8_t proof[CNP_HASH_LEN], signature[CNP_HASH_LEN];
	size_t before;
	int is_right, r;

	if (!s->verifier || s->is_checked || take_proof(text, n, proof, &before) < 0 ||
		!repeats(s, text, before))
		return CENOTE_ERR_PROTOCOL;
	s->is_checked = 1;
	r = cnp_scram_puts(&s->said, ",");
	if (r == CENOTE_OK)
		r = cnp_scram_put(&s->said, text, before);
	if (r < 0)
		return r;
	is_right = is_proof(s, proof);
	if (is_right < 0)
		return is_right;
	/* Compute this even for a wrong proof, so that a refusal takes the same time. */
	r = cnp_scram_hmac(
		s->hash, s->verifier->server_key, s->said.p, s->said.n, signature);
	if (r < 0)
		return r;
	if (!is_right) {
		cnc_wipe(s->client_key, sizeof(s->client_key));
		return CENOTE_ERR_AUTH;
	}
	s->out.n = 0;
	r = cnp_scram_puts(&s->out, "v=");
	if (r == CENOTE_OK)
		r = cnp_scram_put_base64(&s->out, signature, sizeof(signature));
	if (r < 0)
		return r;
	ret_message->p = s->out.p;
	ret_message->n = s->out.n;
	return CENOTE_OK;
}

void
cnp_scram_server_finish(struct cnp_scram_server *s)
{
	cnc_wipe(s, sizeof(*s));
}
