/* SPDX-License-Identifier: BSD-2-Clause */
#include "crypto/tls.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

/* Explain which check of a certificate failed, and with which values. */

#define VALUE_MAX 320u

typedef void say_fn(
	const struct cn_tls *tls, X509 *certificate, int error, char *out, size_t size);

static void
say_expired(
	const struct cn_tls *tls, X509 *certificate, int error, char *out, size_t size)
{
	char date[40];

	(void)tls;
	(void)error;
	cn_tls_time_text(X509_get0_notAfter(certificate), date, sizeof(date));
	(void)snprintf(out, size, "expired on %s", date);
}

static void
say_not_yet(
	const struct cn_tls *tls, X509 *certificate, int error, char *out, size_t size)
{
	char date[40];

	(void)tls;
	(void)error;
	cn_tls_time_text(X509_get0_notBefore(certificate), date, sizeof(date));
	(void)snprintf(out, size, "not yet valid: from %s on", date);
}

static void
say_untrusted(
	const struct cn_tls *tls, X509 *certificate, int error, char *out, size_t size)
{
	char issuer[VALUE_MAX];

	(void)tls;
	(void)error;
	cn_tls_name_text(X509_get_issuer_name(certificate), issuer, sizeof(issuer));
	(void)snprintf(out, size, "certificate not trusted: issuer %s", issuer);
}

static void
say_name(const struct cn_tls *tls, X509 *certificate, int error, char *out, size_t size)
{
	char names[VALUE_MAX];

	(void)error;
	cn_tls_alt_names(certificate, names, sizeof(names));
	if (names[0] == '\0')
		cn_tls_common_name(certificate, names, sizeof(names));
	(void)snprintf(out, size, "name mismatch: wanted %s, certificate says %s",
		tls->host, names[0] != '\0' ? names : "none");
}

static void
say_revoked(
	const struct cn_tls *tls, X509 *certificate, int error, char *out, size_t size)
{
	char subject[VALUE_MAX];

	(void)tls;
	(void)error;
	cn_tls_name_text(X509_get_subject_name(certificate), subject, sizeof(subject));
	(void)snprintf(out, size, "revoked: %s", subject);
}

static void
say_weak(const struct cn_tls *tls, X509 *certificate, int error, char *out, size_t size)
{
	const EVP_PKEY *key = X509_get0_pubkey(certificate);
	const char *kind = key != NULL ? EVP_PKEY_get0_type_name(key) : NULL;

	(void)tls;
	(void)error;
	(void)snprintf(out, size, "weak key: %s of %d bits", kind != NULL ? kind : "one",
		key != NULL ? EVP_PKEY_get_bits(key) : 0);
}

static void
say_no_list(
	const struct cn_tls *tls, X509 *certificate, int error, char *out, size_t size)
{
	char issuer[VALUE_MAX];

	(void)tls;
	cn_tls_name_text(X509_get_issuer_name(certificate), issuer, sizeof(issuer));
	(void)snprintf(out, size, "no list of revoked certificates of %s: %s", issuer,
		X509_verify_cert_error_string(error));
}

static void
say_other(const struct cn_tls *tls, X509 *certificate, int error, char *out, size_t size)
{
	char subject[VALUE_MAX];

	(void)tls;
	cn_tls_name_text(X509_get_subject_name(certificate), subject, sizeof(subject));
	(void)snprintf(out, size, "certificate not valid: %s: %s", subject,
		X509_verify_cert_error_string(error));
}

static const struct {
	int error;
	say_fn *say;
} words[] = {
	{ X509_V_ERR_CERT_HAS_EXPIRED, say_expired },
	{ X509_V_ERR_CERT_NOT_YET_VALID, say_not_yet },
	{ X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, say_untrusted },
	{ X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, say_untrusted },
	{ X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, say_untrusted },
	{ X509_V_ERR_CERT_SIGNATURE_FAILURE, say_untrusted },
	{ X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, say_untrusted },
	{ X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, say_untrusted },
	{ X509_V_ERR_CERT_UNTRUSTED, say_untrusted },
	{ X509_V_ERR_INVALID_CA, say_untrusted },
	{ X509_V_ERR_HOSTNAME_MISMATCH, say_name },
	{ X509_V_ERR_IP_ADDRESS_MISMATCH, say_name },
	{ X509_V_ERR_CERT_REVOKED, say_revoked },
	{ X509_V_ERR_EE_KEY_TOO_SMALL, say_weak },
	{ X509_V_ERR_CA_KEY_TOO_SMALL, say_weak },
	{ X509_V_ERR_UNABLE_TO_GET_CRL, say_no_list },
	{ X509_V_ERR_CRL_HAS_EXPIRED, say_no_list },
	{ X509_V_ERR_CRL_NOT_YET_VALID, say_no_list },
	{ X509_V_ERR_CRL_SIGNATURE_FAILURE, say_no_list },
};

static say_fn *
find(int error)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (words[i].error == error)
			return words[i].say;
	}
	return say_other;
}

int
cn_tls_on_verify(int is_ok, X509_STORE_CTX *store)
{
	const SSL *ssl =
		X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
	struct cn_tls *tls = ssl != NULL ? cn_tls_of(ssl) : NULL;
	X509 *certificate = X509_STORE_CTX_get_current_cert(store);
	int error = X509_STORE_CTX_get_error(store);
	size_t n;

	if (is_ok || tls == NULL || tls->error.text[0] != '\0')
		return is_ok;
	/* Name the certificate: the error may be in an authority's certificate. */
	if (X509_STORE_CTX_get_error_depth(store) > 0 && certificate != NULL) {
		char subject[VALUE_MAX];

		cn_tls_name_text(
			X509_get_subject_name(certificate), subject, sizeof(subject));
		(void)snprintf(tls->error.text, sizeof(tls->error.text),
			"authority %.150s: ", subject);
	}
	n = strlen(tls->error.text);
	if (certificate != NULL)
		find(error)(tls, certificate, error, tls->error.text + n,
			sizeof(tls->error.text) - n);
	else
		(void)snprintf(tls->error.text + n, sizeof(tls->error.text) - n, "%s",
			X509_verify_cert_error_string(error));
	return 0;
}

int
cn_tls_is_still_good(SSL_CTX *context, X509 *certificate)
{
	X509_STORE_CTX *store = X509_STORE_CTX_new();
	int is_good = 0;

	if (store != NULL && X509_STORE_CTX_init(store, SSL_CTX_get_cert_store(context),
				     certificate, NULL) == 1) {
		X509_STORE_CTX_set_default(store, "ssl_client");
		is_good = X509_verify_cert(store) == 1;
	}
	X509_STORE_CTX_free(store);
	ERR_clear_error();
	return is_good;
}
