/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <string.h>

#include "unit/lib/crypto/pair.h"

/*
 * The start of TLS, with an attacker in the middle. The first byte says what the attacker does.
 * With bit 0, the attacker plays one end, and sends the bytes after the third. Otherwise the
 * attacker changes a byte of one end's output, or, with bit 2, ends it there. The next two bytes
 * are that position. Bit 1: towards the client.
 */

static char *cert_text, *key_text;

static char *
text_of(BIO *bio)
{
	char *bytes, *text;
	long n = BIO_get_mem_data(bio, &bytes);

	text = calloc(1, (size_t)n + 1);
	FUZZ_CHECK(text);
	memcpy(text, bytes, (size_t)n);
	BIO_free(bio);
	return text;
}

/* A self-signed certificate. Nobody verifies it. */
static void
make_certificate(void)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *x = X509_new();
	BIO *cert = BIO_new(BIO_s_mem()), *secret = BIO_new(BIO_s_mem());

	FUZZ_CHECK(key && x && cert && secret);
	FUZZ_CHECK(X509_set_version(x, X509_VERSION_3) &&
		   ASN1_INTEGER_set(X509_get_serialNumber(x), 1) &&
		   X509_gmtime_adj(X509_getm_notBefore(x), -3600) &&
		   X509_gmtime_adj(X509_getm_notAfter(x), 864000) &&
		   X509_set_pubkey(x, key));
	FUZZ_CHECK(X509_sign(x, key, EVP_sha256()) > 0);
	FUZZ_CHECK(PEM_write_bio_X509(cert, x));
	FUZZ_CHECK(PEM_write_bio_PrivateKey(secret, key, NULL, NULL, 0, NULL, NULL));
	cert_text = text_of(cert);
	key_text = text_of(secret);
	X509_free(x);
	EVP_PKEY_free(key);
}

static void
open_pair(struct pair *p)
{
	const struct cn_tls_client_options client = { .verify = CN_TLS_VERIFY_NONE,
		.host = "localhost",
		.port = "9432",
		.sni = "localhost" };
	const struct cn_tls_server_options server = {
		.name = "main", .cert = cert_text, .key = key_text
	};

	pair_init(p);
	FUZZ_CHECK(pair_open(p, &client, &server) == CENOTE_OK);
}

/* The attacker cannot pass for the other end. */
static void
speak_for(struct end *victim, const uint8_t *bytes, size_t n)
{
	struct wire *w = victim->in;

	memcpy(w->bytes, bytes, n);
	w->len = n;
	w->cut_at = n;
	for (int i = 0; i < 100 && victim->status == CENOTE_AGAIN; i++)
		victim->status = pair_ops->handshake(victim->tls);
	FUZZ_CHECK(victim->status < 0);
	FUZZ_CHECK(*pair_ops->error(victim->tls) != '\0');
}

/* The bytes that arrive are those that were sent, up to the disturbance. */
static void
disturb(struct pair *p)
{
	static const uint8_t bytes[600] = "what one end says";
	size_t n;

	pair_shake(p);
	if (p->client.status != CENOTE_OK || p->server.status != CENOTE_OK)
		return;
	n = pair_send(&p->client, &p->server, bytes, sizeof(bytes));
	FUZZ_CHECK(n <= sizeof(bytes));
	n = pair_send(&p->server, &p->client, bytes, sizeof(bytes));
	FUZZ_CHECK(n <= sizeof(bytes));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pair p;
	int is_to_client;
	size_t at;

	if (size < 3 || size > WIRE_SIZE)
		return 0;
	if (cert_text == NULL) {
		pair_ops = cn_crypto_get(CN_CRYPTO_ABI)->tls;
		make_certificate();
	}
	is_to_client = (data[0] & 2) != 0;
	at = data[1] | (size_t)data[2] << 8;
	open_pair(&p);
	if (data[0] & 1) {
		speak_for(is_to_client ? &p.client : &p.server, data + 3, size - 3);
	} else {
		struct wire *w = is_to_client ? &p.to_client : &p.to_server;

		*(data[0] & 4 ? &w->cut_at : &w->flip_at) = at;
		disturb(&p);
	}
	pair_finish(&p);
	return 0;
}
