/* SPDX-License-Identifier: BSD-2-Clause */
#include "crypto/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The pool's end. It is made from texts, because the daemon read the files before it gave up its
 * rights. */

struct cn_tls_server {
	SSL_CTX *context;
};

static BIO *
open_text(const char *text)
{
	return BIO_new_mem_buf(text, -1);
}

/* Load the server's own certificate, and the certificates between it and the authority that clients
 * know. */
static int
use_certificates(SSL_CTX *context, const char *text)
{
	BIO *bio = open_text(text);
	X509 *certificate =
		bio != NULL ? PEM_read_bio_X509_AUX(bio, NULL, cn_tls_no_password, NULL)
			    : NULL;
	int is_used =
		certificate != NULL && SSL_CTX_use_certificate(context, certificate) == 1;

	X509_free(certificate);
	while (is_used && (certificate = PEM_read_bio_X509(
				   bio, NULL, cn_tls_no_password, NULL)) != NULL) {
		is_used = SSL_CTX_add0_chain_cert(context, certificate) == 1;
		if (!is_used)
			X509_free(certificate);
	}
	BIO_free(bio);
	/* The end of the text is not an error. */
	if (is_used)
		ERR_clear_error();
	return is_used;
}

static int
use_key(SSL_CTX *context, const char *text)
{
	BIO *bio = open_text(text);
	EVP_PKEY *key =
		bio != NULL ? PEM_read_bio_PrivateKey(bio, NULL, cn_tls_no_password, NULL)
			    : NULL;
	int is_used = key != NULL && SSL_CTX_use_PrivateKey(context, key) == 1 &&
		      SSL_CTX_check_private_key(context) == 1;

	EVP_PKEY_free(key);
	BIO_free(bio);
	return is_used;
}

/* Load certificates and revocation lists in any order. Returns how many, or -1. */
static int
add_to_store(X509_STORE *store, const char *text, int *ret_n_lists)
{
	BIO *bio = open_text(text);
	STACK_OF(X509_INFO) *all =
		bio != NULL ? PEM_X509_INFO_read_bio(bio, NULL, cn_tls_no_password, NULL)
			    : NULL;
	int n = all != NULL ? 0 : -1;

	*ret_n_lists = 0;
	for (int i = 0; n >= 0 && i < sk_X509_INFO_num(all); i++) {
		const X509_INFO *info = sk_X509_INFO_value(all, i);

		if (info->x509 != NULL)
			n = X509_STORE_add_cert(store, info->x509) == 1 ? n + 1 : -1;
		if (n >= 0 && info->crl != NULL &&
			X509_STORE_add_crl(store, info->crl) != 1)
			n = -1;
		*ret_n_lists += info->crl != NULL;
	}
	sk_X509_INFO_pop_free(all, X509_INFO_free);
	BIO_free(bio);
	return n;
}

/* Send the names of the authorities, so that a client can choose among its
 * certificates. */
static int
name_authorities(SSL_CTX *context, const char *text)
{
	BIO *bio = open_text(text);
	X509 *certificate;
	int is_done = bio != NULL;

	while (is_done && (certificate = PEM_read_bio_X509(
				   bio, NULL, cn_tls_no_password, NULL)) != NULL) {
		is_done = SSL_CTX_add_client_CA(context, certificate) == 1;
		X509_free(certificate);
	}
	BIO_free(bio);
	ERR_clear_error();
	return is_done;
}

static int
trust_clients(SSL_CTX *context, const struct cn_tls_server_options *o,
	struct cn_tls_error *ret_error)
{
	X509_STORE *store = SSL_CTX_get_cert_store(context);
	int mode = SSL_VERIFY_PEER;
	int n_lists;

	if (o->client_cert == CN_TLS_CLIENT_CERT_NONE)
		return CENOTE_OK;
	if (!cn_tls_is_given(o->ca)) {
		(void)snprintf(ret_error->text, sizeof(ret_error->text),
			"tls_client_cert needs tls_ca: whose certificates are good?");
		return CENOTE_ERR_ARG;
	}
	if (add_to_store(store, o->ca, &n_lists) < 1 || !name_authorities(context, o->ca))
		return cn_tls_bad_option(ret_error, "tls_ca", "");
	if (cn_tls_is_given(o->crl)) {
		if (add_to_store(store, o->crl, &n_lists) < 0 || n_lists == 0)
			return cn_tls_bad_option(ret_error, "tls_crl", "");
		X509_STORE_set_flags(
			store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
	}
	if (o->client_cert == CN_TLS_CLIENT_CERT_REQUIRE)
		mode |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
	SSL_CTX_set_verify(context, mode, cn_tls_on_verify);
	return CENOTE_OK;
}

static int
on_alpn(SSL *ssl, const unsigned char **name, unsigned char *len,
	const unsigned char *offered, unsigned int offered_len, void *user)
{
	(void)ssl;
	(void)user;
	if (SSL_select_next_proto((unsigned char **)(uintptr_t)name, len,
		    (const unsigned char *)CN_TLS_ALPN, (unsigned)CN_TLS_ALPN_LEN,
		    offered, offered_len) != OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	return SSL_TLSEXT_ERR_OK;
}

/* Name the sessions, so that a session is resumed only where the same clients may log in. */
static int
name_sessions(SSL_CTX *context, const struct cn_tls_server_options *o)
{
	const struct cnp_bytes parts[] = { cn_tls_text(o->name), cn_tls_text(o->ca),
		{ &o->client_cert, sizeof(o->client_cert) } };
	uint8_t name[CNP_HASH_LEN];

	return cn_tls_hash(parts, sizeof(parts) / sizeof(parts[0]), name) == CENOTE_OK &&
	       SSL_CTX_set_session_id_context(context, name, sizeof(name)) == 1;
}

static int
set_up(SSL_CTX *context, const struct cn_tls_server_options *o,
	struct cn_tls_error *ret_error)
{
	if (!use_certificates(context, o->cert))
		return cn_tls_bad_option(ret_error, "tls_cert", "");
	if (!use_key(context, o->key))
		return cn_tls_bad_option(ret_error, "tls_key", "");
	if (!name_sessions(context, o))
		return CENOTE_ERR_NOMEM;
	SSL_CTX_set_alpn_select_cb(context, on_alpn, NULL);
	cn_tls_tickets_use(context, o->tickets);
	return trust_clients(context, o, ret_error);
}

int
cn_tls_server_create(const struct cn_tls_server_options *o,
	struct cn_tls_server **ret_server, struct cn_tls_error *ret_error)
{
	const struct cn_tls_params p = { o->min_version, o->ciphers, o->groups };
	struct cn_tls_server *server;
	SSL_CTX *context;
	int r = cn_tls_context(TLS_server_method(), &p, &context, ret_error);

	if (r < 0)
		return r;
	r = set_up(context, o, ret_error);
	server = r == CENOTE_OK ? malloc(sizeof(*server)) : NULL;
	if (server == NULL) {
		SSL_CTX_free(context);
		return r < 0 ? r : CENOTE_ERR_NOMEM;
	}
	server->context = context;
	*ret_server = server;
	return CENOTE_OK;
}

int
cn_tls_server_expiry(const struct cn_tls_server *server, char *ret_text, size_t size)
{
	const ASN1_TIME *end =
		X509_get0_notAfter(SSL_CTX_get0_certificate(server->context));
	int days = 0, seconds = 0;

	cn_tls_time_text(end, ret_text, size);
	/* if the date cannot be read, it counts as today */
	(void)ASN1_TIME_diff(&days, &seconds, NULL, end);
	return seconds < 0 ? days - 1 : days;
}

void
cn_tls_server_destroy(struct cn_tls_server *server)
{
	if (server == NULL)
		return;
	SSL_CTX_free(server->context);
	free(server);
}

int
cn_tls_accept(
	struct cn_tls_server *server, const struct cn_tls_io *io, struct cn_tls **ret_tls)
{
	SSL *ssl = SSL_new(server->context);
	struct cn_tls *tls = ssl != NULL ? cn_tls_create(ssl, io) : NULL;

	if (tls == NULL)
		return CENOTE_ERR_NOMEM;
	tls->is_server = 1;
	SSL_set_accept_state(ssl);
	*ret_tls = tls;
	return CENOTE_OK;
}
