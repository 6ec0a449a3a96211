/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CN_CRYPTO_H
#define CN_CRYPTO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <cenote/types.h>

#include "protocol/scram.h"

/*
 * Everything that needs OpenSSL: TLS at both ends, and the hash functions of a login. It
 * is built twice from the same sources. One is the module cenote-crypto.so: libcenote
 * opens it when it first needs TLS or a password, so that a program without them does not
 * depend on OpenSSL. The other is a part of cenoted.
 *
 * A connection does I/O only through the two functions that its owner gives. Errors are texts for
 * people; they name the check that failed, and its values.
 */
#define CN_CRYPTO_ABI 4u

struct cn_tls;
struct cn_tls_server;

#define CN_TLS_ERROR_MAX 512u

/* Why something failed; "": no failure. */
struct cn_tls_error {
	char text[CN_TLS_ERROR_MAX];
};

/* How ciphertext is sent and received. Neither function waits. CENOTE_OK with at least 1 byte
 * (read: or 0 bytes, at the end), CENOTE_AGAIN, CENOTE_ERR_CONN. */
struct cn_tls_io {
	int (*read)(void *user, void *room, size_t n, size_t *ret_n);
	int (*write)(void *user, const void *bytes, size_t n, size_t *ret_n);
	void *user;
};

enum cn_tls_verify {
	CN_TLS_VERIFY_NONE,
	CN_TLS_VERIFY_CHAIN, /* check who signed the server's certificate */
	CN_TLS_VERIFY_NAME /* also check that the certificate is for that name */
};

/* The options of a client. NULL or "": not given. Borrowed for the call. */
struct cn_tls_client_options {
	enum cn_tls_verify verify;
	const char *host; /* the name that the program gave, or an address */
	const char *port;
	const char *user; /* the user: users do not share TLS sessions */
	const char *sni; /* the name to send in the handshake; "": none */
	/* file of authorities; without `ca` and `ca_path`, the system's authorities */
	const char *ca;
	const char *ca_path;
	const char *cert;
	const char *key; /* "": the key is in the file of the certificate */
	const char *crl;
	const char *min_version; /* "1.2", "1.3" */
	const char *ciphers;
	const char *groups;
};

enum cn_tls_client_cert {
	CN_TLS_CLIENT_CERT_NONE,
	/* request a certificate, and verify it if the client sends one */
	CN_TLS_CLIENT_CERT_REQUEST,
	CN_TLS_CLIENT_CERT_REQUIRE
};

/* The keys of session tickets of two hours, in memory that the processes of a pool
 * share. */
struct cn_tls_tickets;

struct cn_tls_server_options {
	const char *name; /* the pool: a session of one pool is not resumed at another */
	const char *cert; /* PEM text, not the names of files */
	const char *key;
	const char *ca; /* authorities for the clients' certificates; "": none */
	const char *crl;
	const char *min_version;
	const char *ciphers;
	const char *groups;
	enum cn_tls_client_cert client_cert;
	const struct cn_tls_tickets *tickets; /* NULL: no resumption */
};

/* The facts that the handshake decided. Texts are cut; "" means none. */
struct cn_tls_facts {
	char version[16]; /* "TLSv1.3" */
	char cipher[64];
	char group[32];
	char peer[256]; /* subject of the peer's certificate; "": the peer sent none */
	char issuer[256]; /* issuer of the peer's certificate */
	char common_name[128];
	char alt_names[512]; /* "DNS:db.example, IP Address:192.0.2.1" */
	char not_after[32];
	uint16_t bits; /* length of the cipher's key */
	uint8_t is_resumed;
	uint8_t is_verified; /* the peer's certificate was verified, at least up to its issuer */
};

struct cn_tls_ops {
	/*
	 * A client's connection. handshake() sends the first bytes. CENOTE_OK,
	 * CENOTE_ERR_NOMEM, CENOTE_ERR_ARG (an option, as `ret_error` says).
	 */
	int (*connect)(const struct cn_tls_client_options *o, const struct cn_tls_io *io,
		struct cn_tls **ret_tls, struct cn_tls_error *ret_error);
	/* CENOTE_OK, CENOTE_ERR_ARG, CENOTE_ERR_NOMEM. */
	int (*server_create)(const struct cn_tls_server_options *o,
		struct cn_tls_server **ret_server, struct cn_tls_error *ret_error);
	void (*server_destroy)(struct cn_tls_server *server);
	/* Write the date on which the server's certificate ends. Returns the whole days until
	 * then; negative: it has expired. */
	int (*expiry)(const struct cn_tls_server *server, char *ret_text, size_t size);
	/* Begin the connection of a client. CENOTE_OK, CENOTE_ERR_NOMEM. */
	int (*accept)(struct cn_tls_server *server, const struct cn_tls_io *io,
		struct cn_tls **ret_tls);
	void (*destroy)(struct cn_tls *tls);
	/* CENOTE_OK: the handshake is done; CENOTE_AGAIN: wait, also for writing if unsent();
	 * CENOTE_ERR_AUTH: a check failed, and error() says which; CENOTE_ERR_CONN: the connection
	 * ended. */
	int (*handshake)(struct cn_tls *tls);
	/* As cn_tls_io.read. CENOTE_ERR_PROTOCOL: the bytes that came are not TLS, or were changed
	 * on the way. A missing announcement of the end is not an error, since frames have lengths. */
	int (*read)(struct cn_tls *tls, void *room, size_t n, size_t *ret_n);
	/* CENOTE_OK and the number of bytes that were taken. If the peer does not read now, later
	 * calls send these bytes. CENOTE_AGAIN: earlier bytes are still unsent. */
	int (*write)(struct cn_tls *tls, const void *bytes, size_t n, size_t *ret_n);
	/* Send ciphertext that waits. CENOTE_OK: nothing is left; CENOTE_AGAIN; CENOTE_ERR_CONN. */
	int (*flush)(struct cn_tls *tls);
	/* Is there ciphertext that waits to be sent? */
	int (*unsent)(const struct cn_tls *tls);
	/* Can a read() return something without more bytes from the peer? */
	int (*pending)(const struct cn_tls *tls);
	/* Give its io functions this `user` from now on. */
	void (*rebind)(struct cn_tls *tls, void *user);
	const char *(*error)(const struct cn_tls *tls);
	/* Legal after the handshake. */
	void (*facts)(const struct cn_tls *tls, struct cn_tls_facts *ret_facts);
	/* Channel binding tls-exporter (RFC 9266). CENOTE_OK; CENOTE_ERR_UNSUPPORTED:
	 * this connection has none. */
	int (*binding)(struct cn_tls *tls, uint8_t ret_binding[32]);

	size_t (*tickets_size)(void);
	/* Make a new key. Call this before the fork, and every hour. The keys of the last two hours
	 * are accepted. */
	int (*tickets_rotate)(struct cn_tls_tickets *tickets);
};

/*
 * The SCRAM keys of a password. Deriving them takes milliseconds. So the process keeps a
 * limited number of them for all its connections, in memory that is wiped.
 */
struct cn_keys_ops {
	/* CENOTE_OK or CENOTE_ERR_NOMEM. */
	int (*derive)(const char *password, const uint8_t *salt, size_t salt_len,
		uint32_t iterations, struct cnp_scram_keys *ret_keys);
	/* Forget these keys: they did not fit the server. */
	void (*forget)(const struct cnp_scram_keys *keys);
};

struct evp_md_ctx_st; /* OpenSSL's EVP_MD_CTX */

/*
 * SHA-256 of many short texts. For each hash OpenSSL looks up the algorithm and allocates
 * a context, which takes longer than the hash itself. A hasher keeps both. One thread at
 * a time may use it.
 */
struct cn_hasher_ops {
	struct evp_md_ctx_st *(*create)(void); /* NULL: no memory */
	void (*destroy)(struct evp_md_ctx_st *hasher); /* NULL is allowed */
	/* As cnp_hash.sha256. */
	int (*sha256)(struct evp_md_ctx_st *hasher, const void *data, size_t n,
		uint8_t ret_hash[CNP_HASH_LEN]);
};

struct cn_crypto {
	uint32_t abi;
	const struct cn_tls_ops *tls;
	const struct cnp_hash *hash;
	const struct cn_hasher_ops *hasher;
	const struct cn_keys_ops *keys;
};

/* NULL: the module has another version of this interface, or cenoted was built without OpenSSL. */
const struct cn_crypto *cn_crypto_get(uint32_t abi);

extern const struct cn_tls_ops cn_tls_ops; /* tls.c */
extern const struct cnp_hash cn_hash_ops; /* hash.c */
extern const struct cn_hasher_ops cn_hasher_ops; /* hash.c */
extern const struct cn_keys_ops cn_keys_ops; /* keys.c */

#endif
