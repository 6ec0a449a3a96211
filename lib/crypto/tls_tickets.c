/* SPDX-License-Identifier: BSD-2-Clause */
#include "crypto/tls.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <stdatomic.h>
#include <string.h>

/*
 * The keys of session tickets. The newest key encrypts tickets; it and the previous key decrypt
 * them. The keys are in memory that all processes of a pool share, so a client can resume at any
 * worker. Only the master writes there. It fills an entry that nobody reads, and then announces it
 * as the newest.
 */

#define NAME_LEN 16u
#define KEYS     4u
/* The strength in bits. */
#define STRENGTH 256u

struct key {
	uint8_t name[NAME_LEN];
	uint8_t cipher[32];
	uint8_t mac[32];
};

struct cn_tls_tickets {
	/* number of keys made up to now; the last one is the newest */
	_Atomic uint32_t made;
	struct key keys[KEYS];
};

size_t
cn_tls_tickets_size(void)
{
	return sizeof(struct cn_tls_tickets);
}

int
cn_tls_tickets_rotate(struct cn_tls_tickets *tickets)
{
	uint32_t made = atomic_load(&tickets->made);

	/* Take fresh entropy each time. Children that were forked earlier have a copy
	 * of this generator's state, and could compute the key. */
	if (EVP_RAND_generate(RAND_get0_private(NULL),
		    (unsigned char *)&tickets->keys[made % KEYS], sizeof(struct key),
		    STRENGTH, 1, NULL, 0) != 1)
		return CENOTE_ERR_NOMEM;
	atomic_store(&tickets->made, made + 1);
	return CENOTE_OK;
}

static const struct key *
newest(const struct cn_tls_tickets *tickets)
{
	uint32_t made = atomic_load(&tickets->made);

	return made > 0 ? &tickets->keys[(made - 1) % KEYS] : NULL;
}

/* Find a key that is still accepted. *ret_is_old: the ticket should be replaced. */
static const struct key *
find(const struct cn_tls_tickets *tickets, const uint8_t *name, int *ret_is_old)
{
	uint32_t made = atomic_load(&tickets->made);

	for (uint32_t age = 0; age < 2 && age < made; age++) {
		const struct key *k = &tickets->keys[(made - 1 - age) % KEYS];

		*ret_is_old = age > 0;
		if (memcmp(k->name, name, NAME_LEN) == 0)
			return k;
	}
	return NULL;
}

static int
set_mac(EVP_MAC_CTX *mac, const struct key *k)
{
	char digest[] = "SHA256";
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_octet_string(
			OSSL_MAC_PARAM_KEY, (void *)(uintptr_t)k->mac, sizeof(k->mac)),
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
		OSSL_PARAM_construct_end(),
	};

	return EVP_MAC_CTX_set_params(mac, params);
}

static int
seal(const struct cn_tls_tickets *tickets, uint8_t *name, uint8_t *iv,
	EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac)
{
	const struct key *k = newest(tickets);

	if (k == NULL || RAND_bytes(iv, EVP_MAX_IV_LENGTH) != 1)
		return -1;
	memcpy(name, k->name, NAME_LEN);
	return EVP_EncryptInit_ex2(cipher, EVP_aes_256_cbc(), k->cipher, iv, NULL) == 1 &&
			       set_mac(mac, k) == 1
		       ? 1
		       : -1;
}

/* OpenSSL asks for the key of a ticket. Returns OpenSSL's values: 0: no such key; 1: good; 2: good,
 * but replace the ticket. */
static int
on_ticket(SSL *ssl, unsigned char name[NAME_LEN], unsigned char iv[EVP_MAX_IV_LENGTH],
	EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, int is_sealing)
{
	const struct cn_tls_tickets *tickets = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
	const struct key *k;
	int is_old;

	if (is_sealing)
		return seal(tickets, name, iv, cipher, mac);
	k = find(tickets, name, &is_old);
	if (k == NULL)
		return 0;
	if (EVP_DecryptInit_ex2(cipher, EVP_aes_256_cbc(), k->cipher, iv, NULL) != 1 ||
		set_mac(mac, k) != 1)
		return -1;
	return is_old ? 2 : 1;
}

/* A certificate that was good an hour ago may have been revoked since. Then make a full handshake,
 * which reports that. */
static SSL_TICKET_RETURN
on_opened(SSL *ssl, SSL_SESSION *session, const unsigned char *name, size_t name_len,
	SSL_TICKET_STATUS status, void *unused)
{
	X509 *peer;

	(void)name;
	(void)name_len;
	(void)unused;
	if (status != SSL_TICKET_SUCCESS && status != SSL_TICKET_SUCCESS_RENEW)
		return SSL_TICKET_RETURN_IGNORE_RENEW;
	peer = SSL_SESSION_get0_peer(session);
	if (peer != NULL && !cn_tls_is_still_good(SSL_get_SSL_CTX(ssl), peer))
		return SSL_TICKET_RETURN_IGNORE_RENEW;
	return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE
					    : SSL_TICKET_RETURN_USE_RENEW;
}

void
cn_tls_tickets_use(SSL_CTX *context, const struct cn_tls_tickets *tickets)
{
	SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	if (tickets == NULL) {
		(void)SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
		(void)SSL_CTX_set_num_tickets(context, 0);
		return;
	}
	(void)SSL_CTX_set_app_data(context, (void *)(uintptr_t)tickets);
	(void)SSL_CTX_set_num_tickets(context, 1);
	(void)SSL_CTX_set_tlsext_ticket_key_evp_cb(context, on_ticket);
	(void)SSL_CTX_set_session_ticket_cb(context, NULL, on_opened, NULL);
}
