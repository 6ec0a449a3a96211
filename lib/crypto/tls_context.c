/* SPDX-License-Identifier: BSD-2-Clause */
#include "crypto/tls.h"

#include <openssl/err.h>
#include <stdio.h>
#include <string.h>

/* The settings that the contexts of both ends have: versions, ciphers, groups. */

#define LIST_MAX 2048u

int
cn_tls_bad_option(struct cn_tls_error *ret_error, const char *what, const char *name)
{
	unsigned long code = ERR_peek_error();
	char room[96];
	const char *why;

	/* Handle errors of the system first: OpenSSL has no text for these. */
	if (ERR_SYSTEM_ERROR(code))
		why = strerror_r(ERR_GET_REASON(code), room, sizeof(room));
	else
		why = ERR_reason_error_string(ERR_peek_last_error());
	(void)snprintf(ret_error->text, sizeof(ret_error->text), "%s%s%.200s: %s", what,
		*name != '\0' ? " " : "", name, why != NULL ? why : "not usable");
	ERR_clear_error();
	return CENOTE_ERR_ARG;
}

static int
say(struct cn_tls_error *ret_error, const char *what, const char *value, const char *why)
{
	(void)snprintf(ret_error->text, sizeof(ret_error->text), "%s \"%.200s\": %s",
		what, value, why);
	return CENOTE_ERR_ARG;
}

static int
set_min_version(SSL_CTX *context, const char *text, struct cn_tls_error *ret_error)
{
	static const struct {
		const char *text;
		int version;
	} versions[] = { { "", TLS1_2_VERSION }, { "1.2", TLS1_2_VERSION },
		{ "1.3", TLS1_3_VERSION } };

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		if (strcmp(text != NULL ? text : "", versions[i].text) != 0)
			continue;
		return SSL_CTX_set_min_proto_version(context, versions[i].version) == 1
			       ? CENOTE_OK
			       : CENOTE_ERR_NOMEM;
	}
	return say(ret_error, "minimum version", text, "it can be 1.2 or 1.3");
}

/* Split the list: OpenSSL has a separate list for TLS 1.3 suites, whose names begin with TLS_. */
static int
split_ciphers(const char *text, char new_ones[LIST_MAX], char old_ones[LIST_MAX])
{
	new_ones[0] = '\0';
	old_ones[0] = '\0';
	if (strlen(text) >= LIST_MAX)
		return -1;
	while (*text != '\0') {
		size_t len = strcspn(text, ":, ");
		char *list = strncmp(text, "TLS_", 4) == 0 ? new_ones : old_ones;

		if (len > 0)
			(void)snprintf(list + strlen(list), LIST_MAX - strlen(list),
				"%s%.*s", *list != '\0' ? ":" : "", (int)len, text);
		text += len + (text[len] != '\0');
	}
	return 0;
}

/* Allow only ciphers in the list. A TLS version without a cipher in the list is switched off. */
static int
set_ciphers(SSL_CTX *context, const char *text, struct cn_tls_error *ret_error)
{
	char new_ones[LIST_MAX], old_ones[LIST_MAX];
	int is_set = 1;

	if (!cn_tls_is_given(text))
		return CENOTE_OK;
	if (split_ciphers(text, new_ones, old_ones) < 0)
		return say(ret_error, "ciphers", text, "the list is too long");
	if (*new_ones != '\0')
		is_set = SSL_CTX_set_ciphersuites(context, new_ones);
	else if (SSL_CTX_get_min_proto_version(context) < TLS1_3_VERSION)
		is_set = SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
	if (is_set == 1 && *old_ones != '\0')
		is_set = SSL_CTX_set_cipher_list(context, old_ones);
	else if (is_set == 1)
		is_set = SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
	ERR_clear_error();
	return is_set == 1 ? CENOTE_OK
			   : say(ret_error, "ciphers", text, "no such cipher is known");
}

static int
set_groups(SSL_CTX *context, const char *text, struct cn_tls_error *ret_error)
{
	if (!cn_tls_is_given(text) || SSL_CTX_set1_groups_list(context, text) == 1)
		return CENOTE_OK;
	ERR_clear_error();
	return say(ret_error, "groups", text, "there is one that is not known");
}

int
cn_tls_context(const SSL_METHOD *method, const struct cn_tls_params *p,
	SSL_CTX **ret_context, struct cn_tls_error *ret_error)
{
	SSL_CTX *context = SSL_CTX_new(method);
	int r;

	ret_error->text[0] = '\0';
	if (context == NULL) {
		(void)cn_tls_bad_option(ret_error, "OpenSSL", "");
		return CENOTE_ERR_NOMEM;
	}
	SSL_CTX_set_security_level(context, CN_TLS_LEVEL);
	(void)SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION |
						   SSL_OP_NO_COMPRESSION |
						   SSL_OP_CIPHER_SERVER_PREFERENCE);
	(void)SSL_CTX_set_mode(context,
		SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_read_ahead(context, 1);
	r = set_min_version(context, p->min_version, ret_error);
	if (r == CENOTE_OK)
		r = set_ciphers(context, p->ciphers, ret_error);
	if (r == CENOTE_OK)
		r = set_groups(context, p->groups, ret_error);
	if (r < 0) {
		SSL_CTX_free(context);
		return r;
	}
	*ret_context = context;
	return CENOTE_OK;
}

int
cn_tls_hash(const struct cnp_bytes *parts, size_t n, uint8_t ret_hash[CNP_HASH_LEN])
{
	EVP_MD_CTX *hash = EVP_MD_CTX_new();
	int is_done = hash != NULL && EVP_DigestInit_ex(hash, EVP_sha256(), NULL) == 1;

	for (size_t i = 0; is_done && i < n; i++)
		is_done = EVP_DigestUpdate(hash, &parts[i].n, sizeof(parts[i].n)) == 1 &&
			  EVP_DigestUpdate(hash, parts[i].p, parts[i].n) == 1;
	is_done = is_done && EVP_DigestFinal_ex(hash, ret_hash, NULL) == 1;
	EVP_MD_CTX_free(hash);
	return is_done ? CENOTE_OK : CENOTE_ERR_NOMEM;
}

int
cn_tls_no_password(char *room, int size, int is_writing, void *user)
{
	(void)room;
	(void)size;
	(void)is_writing;
	(void)user;
	return -1;
}
