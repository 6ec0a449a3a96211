/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNP_SCRAM_H
#define CNP_SCRAM_H

#include "protocol/hash.h"
#include "protocol/msg.h"

/*
 * SCRAM-SHA-256 and SCRAM-SHA-256-PLUS (RFC 5802, RFC 7677), both ends, without I/O: the functions take
 * and return messages. The caller provides the hash functions and random bytes.
 */
#define CNP_SCRAM_PLAIN "SCRAM-SHA-256"
#define CNP_SCRAM_PLUS  "SCRAM-SHA-256-PLUS"
/* The pool takes the identity from TLS or from the kernel (RFC 4422, appendix A). */
#define CNP_EXTERNAL    "EXTERNAL"

#define CNP_SCRAM_NAME_MAX       255u /* longest name of a user, in bytes */
#define CNP_SCRAM_SALT_MAX       64u
#define CNP_SCRAM_SALT_LEN       16u /* bytes, for salts that we make */
#define CNP_SCRAM_NONCE_LEN      24u /* characters, for nonces that we make */
#define CNP_SCRAM_BINDING_LEN    32u /* bytes of tls-exporter (RFC 9266) */
#define CNP_SCRAM_ITERATIONS     4096u /* for verifiers that we make */
#define CNP_SCRAM_ITERATIONS_MIN 4096u
#define CNP_SCRAM_ITERATIONS_MAX 1000000u
#define CNP_SCRAM_NONCE_MAX      256u /* for the nonces of both ends together */
/* Longest message of either end. */
#define CNP_SCRAM_MESSAGE_MAX    1024u

/* ---- verifiers: a server stores them instead of passwords ---- */

struct cnp_scram_verifier {
	uint32_t iterations;
	uint32_t salt_len;
	uint8_t salt[CNP_SCRAM_SALT_MAX];
	uint8_t stored_key[CNP_HASH_LEN];
	uint8_t server_key[CNP_HASH_LEN];
};

/* The longest verifier, as PostgreSQL writes it: "SCRAM-SHA-256$4096:SALT$STORED:SERVER", without
 * the zero byte. */
#define CNP_SCRAM_VERIFIER_MAX 256u

/* Parse a verifier. CENOTE_OK; CENOTE_ERR_ARG: the text is not a verifier; CENOTE_ERR_UNSUPPORTED:
 * the number of iterations is out of bounds, but is stored. */
int cnp_scram_verifier_parse(const char *text, struct cnp_scram_verifier *ret_verifier);
void cnp_scram_verifier_text(
	const struct cnp_scram_verifier *v, char out[CNP_SCRAM_VERIFIER_MAX]);
/* Make a verifier with a new salt. Returns 0, or the error of the hash functions. */
int cnp_scram_verifier_make(const struct cnp_hash *hash, const char *password,
	uint32_t iterations, struct cnp_scram_verifier *ret_verifier);

/* A text that grows, up to a bound that no legal exchange reaches. */
struct cnp_scram_text {
	size_t n;
	char p[2 * CNP_SCRAM_MESSAGE_MAX];
};

/* ---- the client ---- */

enum cnp_scram_binding {
	CNP_SCRAM_UNBOUND, /* there is no TLS, or TLS has nothing to bind to */
	CNP_SCRAM_UNOFFERED, /* the client could bind, but the server did not offer it */
	CNP_SCRAM_BOUND /* tls-exporter */
};

/* The best of a pool's mechanisms (separated by blanks) for a client with a password; NULL: none of
 * them can be used. If both ends can bind, the client must bind. */
const char *cnp_scram_choose(
	const char *mechanisms, int can_bind, enum cnp_scram_binding *ret_binding);
/* Does the list contain the name? */
int cnp_mechanisms_have(const char *mechanisms, const char *name);

/* Keys that are derived once from password, salt and iterations. They replace the password. */
struct cnp_scram_keys {
	uint8_t client_key[CNP_HASH_LEN];
	uint8_t server_key[CNP_HASH_LEN];
};

int cnp_scram_keys_derive(const struct cnp_hash *hash, const char *password,
	const uint8_t *salt, size_t salt_len, uint32_t iterations,
	struct cnp_scram_keys *ret_keys);

enum cnp_scram_client_state {
	CNP_SCRAM_CLIENT_BEGUN, /* the first message is made; next comes the salt */
	/* the salt has come; next the client needs the keys */
	CNP_SCRAM_CLIENT_CHALLENGED,
	CNP_SCRAM_CLIENT_PROVED, /* the proof is made; next comes the server's signature */
	CNP_SCRAM_CLIENT_DONE, /* the server has proved that it knows the password's verifier */
	CNP_SCRAM_CLIENT_FAILED
};

struct cnp_scram_client {
	const struct cnp_hash *hash;
	uint8_t state; /* enum cnp_scram_client_state */
	uint8_t binding; /* enum cnp_scram_binding */
	uint8_t binding_data[CNP_SCRAM_BINDING_LEN];
	char nonce[CNP_SCRAM_NONCE_LEN + 1];
	/* this and the next two members are valid from CHALLENGED on */
	uint32_t iterations;
	uint32_t salt_len;
	uint8_t salt[CNP_SCRAM_SALT_MAX];
	/* the text that both ends sign: RFC 5802's AuthMessage */
	struct cnp_scram_text said;
	struct cnp_scram_text out; /* the message last made */
	uint8_t server_signature[CNP_HASH_LEN];
};

/*
 * Each step gives the next message to send, borrowed until the next step. CENOTE_ERR_PROTOCOL: the received
 * message is malformed or breaks the rules. CENOTE_ERR_NOMEM: the hash functions failed. After a failure, do
 * not take further steps.
 */

/* Begin the exchange. `nonce` NULL: random. `binding_data`: for CNP_SCRAM_BOUND. CENOTE_ERR_LIMIT:
 * the name is too long. */
int cnp_scram_client_begin(struct cnp_scram_client *c, const struct cnp_hash *hash,
	const char *user, enum cnp_scram_binding binding,
	const uint8_t binding_data[CNP_SCRAM_BINDING_LEN], const char *nonce,
	struct cnp_str *ret_message);
/* Take server-first-message. CENOTE_ERR_UNSUPPORTED: the number in `iterations` is out of the
 * client's bounds. */
int cnp_scram_client_challenge(struct cnp_scram_client *c, const char *text, size_t n);
int cnp_scram_client_prove(struct cnp_scram_client *c, const struct cnp_scram_keys *keys,
	struct cnp_str *ret_message);
/* Check server-final-message. CENOTE_ERR_AUTH: this server does not know the password's verifier. */
int cnp_scram_client_verify(struct cnp_scram_client *c, const char *text, size_t n);
/* Wipe all secrets. */
void cnp_scram_client_finish(struct cnp_scram_client *c);

/* ---- the server ---- */

struct cnp_scram_server {
	const struct cnp_hash *hash;
	/* borrowed; NULL: not challenged yet */
	const struct cnp_scram_verifier *verifier;
	const uint8_t *binding_data; /* NULL: -PLUS was not offered */
	const char *header; /* the client's: "n,,", "y,,", "p=tls-exporter,," */
	uint8_t is_plus; /* the client's mechanism is -PLUS */
	uint8_t is_made_up; /* the verifier belongs to no password */
	uint8_t is_checked;
	/* Valid after a successful check. With it the pool can log in to a server that has the same
	 * verifier. */
	uint8_t client_key[CNP_HASH_LEN];
	char user[CNP_SCRAM_NAME_MAX + 1];
	/* the client's nonce, then the nonce of both ends */
	char nonce[CNP_SCRAM_NONCE_MAX + 1];
	/* the text that both ends sign: RFC 5802's AuthMessage */
	struct cnp_scram_text said;
	struct cnp_scram_text out; /* the message last made */
};

/* `binding_data`: CNP_SCRAM_BINDING_LEN bytes, borrowed; NULL: -PLUS was not offered. */
void cnp_scram_server_init(struct cnp_scram_server *s, const struct cnp_hash *hash,
	int is_plus, const uint8_t *binding_data);
/* Take client-first-message, which sets s->user. CENOTE_ERR_PROTOCOL. */
int cnp_scram_server_take(struct cnp_scram_server *s, const char *text, size_t n);
/*
 * The answer to client-first-message. `is_made_up`: the user is unknown or disabled, and the verifier is
 * invented. The exchange then goes on as usual, but fails. `nonce` NULL: random.
 */
int cnp_scram_server_challenge(struct cnp_scram_server *s,
	const struct cnp_scram_verifier *verifier, int is_made_up, const char *nonce,
	struct cnp_str *ret_message);
/* Check client-final-message. CENOTE_ERR_AUTH: wrong password; CENOTE_ERR_PROTOCOL. */
int cnp_scram_server_check(struct cnp_scram_server *s, const char *text, size_t n,
	struct cnp_str *ret_message);
/* Wipe all secrets. */
void cnp_scram_server_finish(struct cnp_scram_server *s);

#endif
