/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CN_TLS_H
#define CN_TLS_H

#include <openssl/ssl.h>
#include <string.h>

#include "crypto/crypto.h"

/* The declarations that the TLS files of lib/crypto share. */

#define CN_TLS_ALPN                                                                      \
	"\x08"                                                                           \
	"cenote/1"
#define CN_TLS_ALPN_LEN (sizeof(CN_TLS_ALPN) - 1)
/* Less than 112 bits of strength (RSA 2048) is weak: OpenSSL's level 2. */
#define CN_TLS_LEVEL    2

struct cn_tls {
	SSL *ssl;
	struct cn_tls_io io;
	uint8_t *out; /* ciphertext that the peer has not taken yet */
	size_t out_at, out_len, out_cap;
	uint8_t is_locked; /* read only bytes that were received before */
	uint8_t has_more; /* bytes were received that OpenSSL may not have processed yet */
	/* the peer takes no more bytes; bytes that it sent may still be read */
	uint8_t is_deaf;
	uint8_t is_ended; /* the peer sends no more bytes */
	uint8_t is_server;
	uint8_t is_verified;
	int status; /* the error that ended the connection; CENOTE_OK: none */
	struct cn_tls_error error;
	char host[256]; /* the name that the certificate must have */
	/* cache name of the session that may be resumed */
	uint8_t session_name[CNP_HASH_LEN];
};

/* tls.c */
/* Make a connection that owns `ssl`. NULL: out of memory, and `ssl` is freed. */
struct cn_tls *cn_tls_create(SSL *ssl, const struct cn_tls_io *io);
static inline struct cn_tls *
cn_tls_of(const SSL *ssl)
{
	return SSL_get_app_data(ssl);
}

/* tls_context.c */
struct cn_tls_params {
	const char *min_version;
	const char *ciphers;
	const char *groups;
};
/* A context for either end: CENOTE_OK, CENOTE_ERR_ARG, CENOTE_ERR_NOMEM. */
int cn_tls_context(const SSL_METHOD *method, const struct cn_tls_params *p,
	SSL_CTX **ret_context, struct cn_tls_error *ret_error);
/* Set the error to "CERT: why". Always returns CENOTE_ERR_ARG. */
int cn_tls_bad_option(struct cn_tls_error *ret_error, const char *what, const char *name);
/* Hash several parts. Their lengths are hashed, too, so that the same bytes in other parts give
 * another hash. CENOTE_OK, CENOTE_ERR_NOMEM. */
int cn_tls_hash(const struct cnp_bytes *parts, size_t n, uint8_t ret_hash[CNP_HASH_LEN]);
static inline struct cnp_bytes
cn_tls_text(const char *text)
{
	const char *t = text != NULL ? text : "";

	return (struct cnp_bytes){ t, strlen(t) };
}
/* A password callback that gives no password: the program must not be asked for one. */
int cn_tls_no_password(char *room, int size, int is_writing, void *user);
static inline int
cn_tls_is_given(const char *text)
{
	return text != NULL && *text != '\0';
}

/* tls_error.c */
/* Explain OpenSSL's last failure, in words of our own if there are any. CENOTE_ERR_AUTH,
 * CENOTE_ERR_CONN, CENOTE_ERR_PROTOCOL. */
int cn_tls_explain(struct cn_tls *tls, int ssl_error);

/* tls_verify.c */
/* OpenSSL calls this for each certificate. It stores the first failure in the connection's error. */
int cn_tls_on_verify(int is_ok, X509_STORE_CTX *store);
/* Is a certificate that was verified before still good? */
int cn_tls_is_still_good(SSL_CTX *context, X509 *certificate);

/* tls_names.c */
void cn_tls_name_text(const X509_NAME *name, char *out, size_t size);
void cn_tls_time_text(const ASN1_TIME *time, char *out, size_t size);
/* The alternative names as text: "DNS:db.example, IP:192.0.2.1". */
void cn_tls_alt_names(X509 *certificate, char *out, size_t size);
void cn_tls_common_name(X509 *certificate, char *out, size_t size);
void cn_tls_facts(const struct cn_tls *tls, struct cn_tls_facts *ret_facts);

/* tls_client.c */
int cn_tls_connect(const struct cn_tls_client_options *o, const struct cn_tls_io *io,
	struct cn_tls **ret_tls, struct cn_tls_error *ret_error);

/* tls_server.c */
int cn_tls_server_create(const struct cn_tls_server_options *o,
	struct cn_tls_server **ret_server, struct cn_tls_error *ret_error);
void cn_tls_server_destroy(struct cn_tls_server *server);
int cn_tls_server_expiry(const struct cn_tls_server *server, char *ret_text, size_t size);
int cn_tls_accept(struct cn_tls_server *server, const struct cn_tls_io *io,
	struct cn_tls **ret_tls);

/* tls_tickets.c */
size_t cn_tls_tickets_size(void);
int cn_tls_tickets_rotate(struct cn_tls_tickets *tickets);
void cn_tls_tickets_use(SSL_CTX *context, const struct cn_tls_tickets *tickets);

/* tls_cache.c: the contexts and sessions that a process keeps, by a hash of everything that they
 * depend on. Both are reference-counted; the caller frees the reference that it gets. */
SSL_CTX *cn_tls_cache_context(const uint8_t name[CNP_HASH_LEN]);
void cn_tls_cache_keep_context(const uint8_t name[CNP_HASH_LEN], SSL_CTX *context);
SSL_SESSION *cn_tls_cache_session(const uint8_t name[CNP_HASH_LEN]);
/* Keep a session. The cache owns it afterwards. */
void cn_tls_cache_keep_session(const uint8_t name[CNP_HASH_LEN], SSL_SESSION *session);

#endif
