/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_CHANNEL_H
#define CND_CHANNEL_H

#include <errno.h>
#include <sys/socket.h>

#include "crypto/crypto.h"

/* How a client's bytes travel: over its socket as they are, or through TLS. */
struct cnd_channel {
	struct cn_tls *tls; /* NULL: in the clear */
	const struct cn_tls_ops *ops;
	int fd;
	uint8_t *
		sealed; /* where ciphertext goes instead of the socket; NULL: it does not */
	size_t sealed_size;
	size_t n_sealed;
};

/* What goes through TLS. */
ssize_t cnd_channel_secure_read(struct cnd_channel *c, void *room, size_t n);
ssize_t cnd_channel_secure_write(struct cnd_channel *c, const void *bytes, size_t n);

/* As recv() and send() that never wait and raise no signal. */
static inline ssize_t
cnd_channel_read(struct cnd_channel *c, int fd, void *room, size_t n)
{
	return c->tls == NULL ? recv(fd, room, n, MSG_DONTWAIT)
			      : cnd_channel_secure_read(c, room, n);
}

static inline ssize_t
cnd_channel_write(struct cnd_channel *c, int fd, const void *bytes, size_t n)
{
	return c->tls == NULL ? send(fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL)
			      : cnd_channel_secure_write(c, bytes, n);
}

/* Whether a read finds something although the socket may be quiet. */
static inline int
cnd_channel_pending(const struct cnd_channel *c)
{
	return c->tls != NULL && c->ops->pending(c->tls);
}

/* Send what write() took and the socket did not: 0; or -1, with errno as of send(). */
int cnd_channel_flush(struct cnd_channel *c);
/* What would be sent for these bytes, so that another process can send it later: its length in `room`; -1 if it
 * does not fit. Nothing can be sent by this channel any more. */
ssize_t cnd_channel_seal(
	struct cnd_channel *c, const void *bytes, size_t n, uint8_t *room, size_t size);
/* The socket's client begins TLS. CENOTE_OK, CENOTE_ERR_NOMEM. `c` must stay where it is. */
int cnd_channel_secure(struct cnd_channel *c, int fd, struct cn_tls_server *server);
/* In the clear again; the socket is not touched. */
void cnd_channel_finish(struct cnd_channel *c);
/* What a login by password may be bound to. 0: this connection has nothing of that kind. */
int cnd_channel_binding(
	const struct cnd_channel *c, uint8_t ret_binding[CNP_SCRAM_BINDING_LEN]);
/* 1: the client showed a certificate, which was verified, and *ret_facts has its names. */
int cnd_channel_certificate(const struct cnd_channel *c, struct cn_tls_facts *ret_facts);

#define CND_TLS_TEXT_MAX 160u

/* One line: "TLSv1.3 TLS_AES_256_GCM_SHA384 X25519 resumed"; "" in the clear. */
void cnd_channel_text(const struct cnd_channel *c, char *out, size_t size);

#endif
