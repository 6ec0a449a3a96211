/* SPDX-License-Identifier: BSD-2-Clause */
#include "crypto/tls.h"

#include <openssl/x509v3.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

/*
 * A certificate's names and dates as text, and the facts of a connection. The maker of a
 * certificate may have put any bytes into it. So a character that could be misread becomes '?'.
 */

static int
is_plain(unsigned char c)
{
	return c >= 0x20 && c != 0x7f && c != ',';
}

/* Append `n` bytes to `out`. */
static void
append(char *out, size_t size, const unsigned char *bytes, size_t n)
{
	size_t at = strlen(out);

	for (size_t i = 0; i < n && at + 1 < size; i++)
		out[at++] = (char)(is_plain(bytes[i]) ? bytes[i] : '?');
	out[at] = '\0';
}

static void
append_text(char *out, size_t size, const char *text)
{
	size_t at = strlen(out);

	(void)snprintf(out + at, size - at, "%s", text);
}

void
cn_tls_name_text(const X509_NAME *name, char *out, size_t size)
{
	BIO *bio = BIO_new(BIO_s_mem());
	char *text;
	long n;

	out[0] = '\0';
	if (bio == NULL)
		return;
	if (X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB) >=
		0) {
		n = BIO_get_mem_data(bio, &text);
		(void)snprintf(out, size, "%.*s", n < 4096 ? (int)n : 4096, text);
	}
	BIO_free(bio);
}

void
cn_tls_time_text(const ASN1_TIME *time, char *out, size_t size)
{
	struct tm tm;

	if (ASN1_TIME_to_tm(time, &tm) != 1) {
		(void)snprintf(out, size, "a date that cannot be read");
		return;
	}
	(void)snprintf(out, size, "%04d-%02d-%02d %02d:%02d:%02d UTC", tm.tm_year + 1900,
		tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static void
append_address(char *out, size_t size, const ASN1_OCTET_STRING *address)
{
	char text[INET6_ADDRSTRLEN] = "?";
	int len = ASN1_STRING_length(address);

	if (len == 4 || len == 16)
		(void)inet_ntop(len == 4 ? AF_INET : AF_INET6,
			ASN1_STRING_get0_data(address), text, sizeof(text));
	append_text(out, size, text);
}

static void
append_alt_name(char *out, size_t size, const GENERAL_NAME *name)
{
	static const struct {
		int type;
		const char *prefix;
	} kinds[] = { { GEN_DNS, "DNS:" }, { GEN_EMAIL, "email:" }, { GEN_URI, "URI:" },
		{ GEN_IPADD, "IP:" } };
	const ASN1_STRING *value;
	int type;

	value = GENERAL_NAME_get0_value(name, &type);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].type != type)
			continue;
		append_text(out, size, out[0] != '\0' ? ", " : "");
		append_text(out, size, kinds[i].prefix);
		if (type == GEN_IPADD)
			append_address(out, size, value);
		else
			append(out, size, ASN1_STRING_get0_data(value),
				(size_t)ASN1_STRING_length(value));
	}
}

void
cn_tls_alt_names(X509 *certificate, char *out, size_t size)
{
	GENERAL_NAMES *names =
		X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);

	out[0] = '\0';
	for (int i = 0; i < sk_GENERAL_NAME_num(names); i++)
		append_alt_name(out, size, sk_GENERAL_NAME_value(names, i));
	GENERAL_NAMES_free(names);
}

void
cn_tls_common_name(X509 *certificate, char *out, size_t size)
{
	const X509_NAME *name = X509_get_subject_name(certificate);
	int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
	const ASN1_STRING *value;
	unsigned char *text;
	int n;

	out[0] = '\0';
	/* With two common names, it is not clear which one is meant. */
	if (at < 0 || X509_NAME_get_index_by_NID(name, NID_commonName, at) >= 0)
		return;
	value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at));
	n = ASN1_STRING_to_UTF8(&text, value);
	if (n < 0)
		return;
	/* A name that is cut could be another valid name. */
	if ((size_t)n < size)
		append(out, size, text, (size_t)n);
	OPENSSL_free(text);
}

static void
take_peer(const struct cn_tls *tls, struct cn_tls_facts *f)
{
	X509 *peer = SSL_get0_peer_certificate(tls->ssl);

	if (peer == NULL)
		return;
	cn_tls_name_text(X509_get_subject_name(peer), f->peer, sizeof(f->peer));
	cn_tls_name_text(X509_get_issuer_name(peer), f->issuer, sizeof(f->issuer));
	cn_tls_time_text(X509_get0_notAfter(peer), f->not_after, sizeof(f->not_after));
	cn_tls_alt_names(peer, f->alt_names, sizeof(f->alt_names));
	cn_tls_common_name(peer, f->common_name, sizeof(f->common_name));
	f->is_verified = SSL_get_verify_mode(tls->ssl) != SSL_VERIFY_NONE &&
			 SSL_get_verify_result(tls->ssl) == X509_V_OK;
}

void
cn_tls_facts(const struct cn_tls *tls, struct cn_tls_facts *ret_facts)
{
	const char *group =
		SSL_group_to_name(tls->ssl, (int)SSL_get_negotiated_group(tls->ssl));

	memset(ret_facts, 0, sizeof(*ret_facts));
	(void)snprintf(ret_facts->version, sizeof(ret_facts->version), "%s",
		SSL_get_version(tls->ssl));
	(void)snprintf(ret_facts->cipher, sizeof(ret_facts->cipher), "%s",
		SSL_get_cipher_name(tls->ssl));
	(void)snprintf(ret_facts->group, sizeof(ret_facts->group), "%s",
		group != NULL ? group : "");
	ret_facts->bits = (uint16_t)SSL_get_cipher_bits(tls->ssl, NULL);
	ret_facts->is_resumed = SSL_session_reused(tls->ssl) != 0;
	take_peer(tls, ret_facts);
}
