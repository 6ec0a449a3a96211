/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_TLS_H
#define CND_TLS_H

#include "config/config.h"
#include "crypto/crypto.h"

/*
 * TLS with clients, as the configuration has it. The master reads the files, when it reads the
 * configuration, with the rights that it has then; workers of the pool make their end of it.
 */

/* Inherit what the pool does not say, read the files, and see whether they can be used. What is wrong is
 * added to the configuration's errors. */
void cnd_tls_load(struct cnd_config *c, struct cnd_pool_config *p);
/* Wipe what was read. */
void cnd_tls_forget(struct cnd_tls_config *t);
void cnd_tls_destroy(struct cnd_tls_config *t);
static inline int
cnd_tls_is_on(const struct cnd_tls_config *t)
{
	return t->texts[CND_TLS_CERT] != NULL && *t->texts[CND_TLS_CERT] != '\0';
}
/* Whether the files hold the same. */
int cnd_tls_is_equal(const struct cnd_tls_config *a, const struct cnd_tls_config *b);

/* For a worker. NULL: the pool has no TLS, or (said in the log) it cannot be made. */
struct cn_tls_server *cnd_tls_server(
	const struct cnd_pool_config *p, const struct cn_tls_tickets *tickets);

/*
 * A pool's ticket keys, as the master has them: no child inherits `keys`. All zero: none. Without them no
 * session is resumed.
 */
struct cnd_tls_tickets {
	struct cn_tls_tickets *keys; /* only the master may write here; NULL: none */
	int fd; /* the same memory, which nobody can map for writing any more */
	int64_t due_ms; /* when the next key is */
};

/* There are keys from now on, the first one new; those that are there already stay. */
void cnd_tls_tickets_create(struct cnd_tls_tickets *t, int64_t now);
/* Workers that are there keep them. */
void cnd_tls_tickets_destroy(struct cnd_tls_tickets *t);
/* A new key, when it is due. When it is due next: milliseconds of cnd_now_ms(). */
int64_t cnd_tls_tickets_tend(struct cnd_tls_tickets *t, int64_t now);
/* In a child, before it closes what it has inherited: to be read only, and to the child's end. NULL: none. */
const struct cn_tls_tickets *cnd_tls_tickets_map(const struct cnd_tls_tickets *t);

#endif
