/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_TLS_H
#define CND_TLS_H

#include "config/config.h"
#include "crypto/crypto.h"

/* TLS with clients, as the configuration demands. The master reads the files together with the
 * configuration, with the rights that it has then. The pool's workers make the server's end of
 * TLS. */

/* Inherit the settings that the pool does not set, read the files, and check that they can be used.
 * Problems become errors of the configuration. */
void cnd_tls_load(struct cnd_config *c, struct cnd_pool_config *p);
/* Wipe the files' content. */
void cnd_tls_forget(struct cnd_tls_config *t);
void cnd_tls_destroy(struct cnd_tls_config *t);
static inline int
cnd_tls_is_on(const struct cnd_tls_config *t)
{
	return t->texts[CND_TLS_CERT] != NULL && *t->texts[CND_TLS_CERT] != '\0';
}
/* Whether the files have the same content. */
int cnd_tls_is_equal(const struct cnd_tls_config *a, const struct cnd_tls_config *b);

/* Make the server's end of TLS for a worker. NULL: the pool has no TLS, or it could not be set up,
 * which is logged. */
struct cn_tls_server *cnd_tls_server(
	const struct cnd_pool_config *p, const struct cn_tls_tickets *tickets);

/* The ticket keys of a pool, in the master; no child inherits `keys`. All zero: there are no keys,
 * and no TLS session can be resumed. */
struct cnd_tls_tickets {
	struct cn_tls_tickets *keys; /* only the master may write here; NULL: none */
	int fd; /* the same memory, sealed against writing */
	int64_t due_ms; /* when the next key is due */
};

/* Make a first key, unless there are keys already. */
void cnd_tls_tickets_create(struct cnd_tls_tickets *t, int64_t now);
/* Running workers keep their keys. */
void cnd_tls_tickets_destroy(struct cnd_tls_tickets *t);
/* Make a new key when it is due. Returns when the next one is due, in milliseconds of cnd_now_ms(). */
int64_t cnd_tls_tickets_tend(struct cnd_tls_tickets *t, int64_t now);
/* In a child, before it closes what it has inherited: map the keys read-only, until the child ends.
 * NULL: none. */
const struct cn_tls_tickets *cnd_tls_tickets_map(const struct cnd_tls_tickets *t);

#endif
