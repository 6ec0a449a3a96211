/* SPDX-License-Identifier: BSD-2-Clause */
#include "crypto/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The client's end: its context, which is made from the options and kept, and the
 * session to resume. */

#define FILES 5u /* the first options are files */

struct stamp {
	uint64_t device, inode, size, seconds, nanoseconds;
};

/* A file counts as changed if it was replaced. */
static struct stamp
stamp_of(const char *path)
{
	struct stat st;

	if (!cn_tls_is_given(path) || stat(path, &st) < 0)
		return (struct stamp){ 0 };
	return (struct stamp){ (uint64_t)st.st_dev, (uint64_t)st.st_ino,
		(uint64_t)st.st_size, (uint64_t)st.st_mtim.tv_sec,
		(uint64_t)st.st_mtim.tv_nsec };
}

static int
name_context(const struct cn_tls_client_options *o, uint8_t ret_name[CNP_HASH_LEN])
{
	const char *const texts[] = { o->ca, o->ca_path, o->cert, o->key, o->crl,
		o->min_version, o->ciphers, o->groups };
	struct stamp stamps[FILES];
	struct cnp_bytes parts[2 + sizeof(texts) / sizeof(texts[0])];
	size_t n = 0;

	for (size_t i = 0; i < FILES; i++)
		stamps[i] = stamp_of(texts[i]);
	parts[n++] = (struct cnp_bytes){ &o->verify, sizeof(o->verify) };
	parts[n++] = (struct cnp_bytes){ stamps, sizeof(stamps) };
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		parts[n++] = cn_tls_text(texts[i]);
	return cn_tls_hash(parts, n, ret_name);
}

static int
name_session(const struct cn_tls_client_options *o, const uint8_t context[CNP_HASH_LEN],
	uint8_t ret_name[CNP_HASH_LEN])
{
	const struct cnp_bytes parts[] = { { context, CNP_HASH_LEN },
		cn_tls_text(o->host), cn_tls_text(o->port), cn_tls_text(o->user),
		cn_tls_text(o->sni) };

	return cn_tls_hash(parts, sizeof(parts) / sizeof(parts[0]), ret_name);
}

static int
is_private(const char *path, struct cn_tls_error *ret_error)
{
	struct stat st;

	if (stat(path, &st) < 0) {
		(void)snprintf(ret_error->text, sizeof(ret_error->text), "key %.200s: %s",
			path, strerror(errno));
		return 0;
	}
	/* A file of root's may be readable by a group on purpose. */
	if ((st.st_mode & (st.st_uid == 0 ? 07 : 077)) == 0)
		return 1;
	(void)snprintf(ret_error->text, sizeof(ret_error->text),
		"key %.200s: others may read it (mode %04o); chmod 600", path,
		(unsigned)(st.st_mode & 07777));
	return 0;
}

static int
load_certificate(SSL_CTX *context, const struct cn_tls_client_options *o,
	struct cn_tls_error *ret_error)
{
	const char *key = cn_tls_is_given(o->key) ? o->key : o->cert;

	if (!cn_tls_is_given(o->cert)) {
		if (!cn_tls_is_given(o->key))
			return CENOTE_OK;
		(void)snprintf(ret_error->text, sizeof(ret_error->text),
			"a key without a certificate: give cert as well");
		return CENOTE_ERR_ARG;
	}
	SSL_CTX_set_default_passwd_cb(context, cn_tls_no_password);
	if (SSL_CTX_use_certificate_chain_file(context, o->cert) != 1)
		return cn_tls_bad_option(ret_error, "cert", o->cert);
	if (!is_private(key, ret_error))
		return CENOTE_ERR_ARG;
	if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1 ||
		SSL_CTX_check_private_key(context) != 1)
		return cn_tls_bad_option(ret_error, "key", key);
	return CENOTE_OK;
}

static int
load_crl(SSL_CTX *context, const char *crl, struct cn_tls_error *ret_error)
{
	X509_STORE *store = SSL_CTX_get_cert_store(context);

	if (!cn_tls_is_given(crl))
		return CENOTE_OK;
	if (X509_STORE_load_file(store, crl) != 1)
		return cn_tls_bad_option(ret_error, "crl", crl);
	X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
	return CENOTE_OK;
}

static int
load_trust(SSL_CTX *context, const struct cn_tls_client_options *o,
	struct cn_tls_error *ret_error)
{
	if (o->verify == CN_TLS_VERIFY_NONE)
		return CENOTE_OK;
	SSL_CTX_set_verify(context, SSL_VERIFY_PEER, cn_tls_on_verify);
	if (cn_tls_is_given(o->ca) && SSL_CTX_load_verify_file(context, o->ca) != 1)
		return cn_tls_bad_option(ret_error, "ca", o->ca);
	if (cn_tls_is_given(o->ca_path) &&
		SSL_CTX_load_verify_dir(context, o->ca_path) != 1)
		return cn_tls_bad_option(ret_error, "ca_path", o->ca_path);
	if (!cn_tls_is_given(o->ca) && !cn_tls_is_given(o->ca_path) &&
		SSL_CTX_set_default_verify_paths(context) != 1)
		return cn_tls_bad_option(ret_error, "the system's authorities", "");
	return load_crl(context, o->crl, ret_error);
}

/* A ticket came: keep the session, so that the next connection of the same kind resumes it. */
static int
on_session(SSL *ssl, SSL_SESSION *session)
{
	cn_tls_cache_keep_session(cn_tls_of(ssl)->session_name, session);
	return 1;
}

static int
make_context(const struct cn_tls_client_options *o, SSL_CTX **ret_context,
	struct cn_tls_error *ret_error)
{
	const struct cn_tls_params p = { o->min_version, o->ciphers, o->groups };
	SSL_CTX *context = NULL;
	int r = cn_tls_context(TLS_client_method(), &p, &context, ret_error);

	if (r < 0)
		return r;
	r = load_trust(context, o, ret_error);
	if (r == CENOTE_OK)
		r = load_certificate(context, o, ret_error);
	if (r == CENOTE_OK &&
		SSL_CTX_set_alpn_protos(context, (const unsigned char *)CN_TLS_ALPN,
			(unsigned)CN_TLS_ALPN_LEN) != 0)
		r = CENOTE_ERR_NOMEM;
	if (r < 0) {
		SSL_CTX_free(context);
		return r;
	}
	SSL_CTX_set_session_cache_mode(
		context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(context, on_session);
	*ret_context = context;
	return CENOTE_OK;
}

static int
find_context(const struct cn_tls_client_options *o, const uint8_t name[CNP_HASH_LEN],
	SSL_CTX **ret_context, struct cn_tls_error *ret_error)
{
	int r;

	*ret_context = cn_tls_cache_context(name);
	if (*ret_context != NULL)
		return CENOTE_OK;
	r = make_context(o, ret_context, ret_error);
	if (r == CENOTE_OK)
		cn_tls_cache_keep_context(name, *ret_context);
	return r;
}

static int
is_address(const char *host)
{
	struct in6_addr room;

	return inet_pton(AF_INET, host, &room) == 1 ||
	       inet_pton(AF_INET6, host, &room) == 1;
}

static int
expect_name(SSL *ssl, const char *host)
{
	X509_VERIFY_PARAM *param = SSL_get0_param(ssl);

	if (is_address(host))
		return X509_VERIFY_PARAM_set1_ip_asc(param, host);
	X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	return X509_VERIFY_PARAM_set1_host(param, host, 0);
}

static int
set_names(SSL *ssl, const struct cn_tls_client_options *o, struct cn_tls_error *ret_error)
{
	if (o->verify == CN_TLS_VERIFY_NAME && !cn_tls_is_given(o->host)) {
		(void)snprintf(ret_error->text, sizeof(ret_error->text),
			"there is no host name to verify: this is a unix socket");
		return CENOTE_ERR_ARG;
	}
	if (o->verify == CN_TLS_VERIFY_NAME && expect_name(ssl, o->host) != 1)
		return cn_tls_bad_option(ret_error, "host", o->host);
	/* An address must not be sent as a name (RFC 6066). */
	if (cn_tls_is_given(o->sni) && !is_address(o->sni) &&
		SSL_set_tlsext_host_name(ssl, o->sni) != 1)
		return cn_tls_bad_option(ret_error, "sni", o->sni);
	return CENOTE_OK;
}

/* Has the server's certificate expired? A resumed session does not show the certificate again. */
static int
has_expired(SSL_SESSION *session)
{
	X509 *peer = SSL_SESSION_get0_peer(session);

	return peer != NULL && X509_cmp_current_time(X509_get0_notAfter(peer)) <= 0;
}

static int
prepare(struct cn_tls *tls, const struct cn_tls_client_options *o,
	const uint8_t context_name[CNP_HASH_LEN], struct cn_tls_error *ret_error)
{
	SSL_SESSION *session;
	int r = set_names(tls->ssl, o, ret_error);

	if (r < 0)
		return r;
	(void)snprintf(
		tls->host, sizeof(tls->host), "%s", o->host != NULL ? o->host : "");
	r = name_session(o, context_name, tls->session_name);
	if (r < 0)
		return r;
	session = cn_tls_cache_session(tls->session_name);
	if (session != NULL && !has_expired(session))
		(void)SSL_set_session(tls->ssl, session);
	SSL_SESSION_free(session);
	SSL_set_connect_state(tls->ssl);
	return CENOTE_OK;
}

int
cn_tls_connect(const struct cn_tls_client_options *o, const struct cn_tls_io *io,
	struct cn_tls **ret_tls, struct cn_tls_error *ret_error)
{
	uint8_t name[CNP_HASH_LEN];
	struct cn_tls *tls;
	SSL_CTX *context = NULL;
	SSL *ssl;
	int r;

	ret_error->text[0] = '\0';
	r = name_context(o, name);
	if (r == CENOTE_OK)
		r = find_context(o, name, &context, ret_error);
	if (r < 0)
		return r;
	ssl = SSL_new(context);
	SSL_CTX_free(context);
	tls = ssl != NULL ? cn_tls_create(ssl, io) : NULL;
	if (tls == NULL)
		return CENOTE_ERR_NOMEM;
	r = prepare(tls, o, name, ret_error);
	if (r < 0) {
		cn_tls_ops.destroy(tls);
		return r;
	}
	*ret_tls = tls;
	return CENOTE_OK;
}
