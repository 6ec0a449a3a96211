/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_CHANNEL_H
#define CND_CHANNEL_H

#include <errno.h>
#include <sys/socket.h>

#include "crypto/crypto.h"

/* How a client's bytes travel: in the clear over its socket, or through TLS. */
struct cnd_channel {
	struct cn_tls *tls; /* NULL: in the clear */
	const struct cn_tls_ops *ops;
	int fd;
	uint8_t *
		sealed; /* where ciphertext goes instead of the socket; NULL: to the socket */
	size_t sealed_size;
	size_t n_sealed;
};

/* Read and write through TLS. */
ssize_t cnd_channel_secure_read(struct cnd_channel *c, void *room, size_t n);
ssize_t cnd_channel_secure_write(struct cnd_channel *c, const void *bytes, size_t n);

/* Like recv() and send(), but never wait and raise no signal. */
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

/* Whether a read returns bytes although the socket may have none. */
static inline int
cnd_channel_pending(const struct cnd_channel *c)
{
	return c->tls != NULL && c->ops->pending(c->tls);
}

/* Send the bytes that write() accepted and the socket has not taken. 0; or -1, with errno as from
 * send(). */
int cnd_channel_flush(struct cnd_channel *c);
/* Encrypt these bytes into `room`, so that another process can send them later. Returns their
 * length there; -1 if they do not fit. The channel cannot send anything afterwards. */
ssize_t cnd_channel_seal(
	struct cnd_channel *c, const void *bytes, size_t n, uint8_t *room, size_t size);
/* Begin TLS with the client of this socket. CENOTE_OK, CENOTE_ERR_NOMEM. Afterwards
 * only cnd_channel_move() may move `c`. */
int cnd_channel_secure(struct cnd_channel *c, int fd, struct cn_tls_server *server);
/* Make `to` the connection that `from` was. `from` is in clear text then. */
void cnd_channel_move(struct cnd_channel *to, struct cnd_channel *from);
/* Go back to clear text. The socket is not touched. */
void cnd_channel_finish(struct cnd_channel *c);
/* Get the channel binding for a login by password. 0: this connection has none. */
int cnd_channel_binding(
	const struct cnd_channel *c, uint8_t ret_binding[CNP_SCRAM_BINDING_LEN]);
/* 1: the client showed a certificate and it was verified; *ret_facts has its names. */
int cnd_channel_certificate(const struct cnd_channel *c, struct cn_tls_facts *ret_facts);

#define CND_TLS_TEXT_MAX 160u

/* One line: "TLSv1.3 TLS_AES_256_GCM_SHA384 X25519 resumed"; "" in the clear. */
void cnd_channel_text(const struct cnd_channel *c, char *out, size_t size);

#endif
