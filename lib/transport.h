/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CN_TRANSPORT_H
#define CN_TRANSPORT_H

#include <stddef.h>
#include <sys/socket.h>

#include "crypto/crypto.h"

struct cn_transport;

/* How bytes travel. The functions repeat a call that EINTR interrupted; `error` holds
 * the errno of the last failure. */
struct cn_transport_ops {
	/* Read and write never wait. CENOTE_OK and at least 1 byte, or 0: the peer
	 * closed. CENOTE_AGAIN: nothing is there. CENOTE_ERR_CONN. */
	int (*read)(struct cn_transport *t, void *room, size_t n, size_t *ret_n);
	/* CENOTE_OK and at least 1 byte taken, CENOTE_AGAIN, CENOTE_ERR_CONN. */
	int (*write)(struct cn_transport *t, const void *bytes, size_t n, size_t *ret_n);
	/* Close the descriptor, and say nothing to the peer. */
	void (*close)(struct cn_transport *t);
};

struct cn_transport {
	const struct cn_transport_ops *ops;
	int fd; /* -1: closed */
	int held; /* the number of the last descriptor, kept for the next one; -1: none */
	int error;
	uint8_t keeps_number; /* a program waits on the descriptor: the next one gets the same number */
	uint8_t is_shaking; /* the TLS handshake goes on: nothing else is sent or received */
	struct cn_tls *tls; /* NULL: no TLS */
	const struct cn_tls_ops *tls_ops;
};

void cn_transport_init(struct cn_transport *t);
/* Does nothing if closed. */
void cn_transport_close(struct cn_transport *t);
/* Give a number to a closed transport that keeps its number but never had one. */
void cn_transport_hold(struct cn_transport *t);
/* Close, and keep no number. */
void cn_transport_finish(struct cn_transport *t);
/* Take a new socket: CENOTE_OK, or CENOTE_ERR_CONN. */
int cn_transport_socket(struct cn_transport *t, int domain);

/* A socket that is not one of the standard descriptors: a program may have closed
 * those, and print to them all the same. -1: see errno. */
int cn_socket(int domain, int type);

/*
 * Connect. With `may_wait` for at most timeout_ms (0: for ever). CENOTE_OK, CENOTE_AGAIN,
 * CENOTE_ERR_TIMEOUT, CENOTE_ERR_CONN. CENOTE_AGAIN of a unix socket: its queue is full
 * and nothing is open, try again later. CENOTE_AGAIN of TCP: call cn_tcp_finish() when
 * the socket is writable.
 */
int cn_unix_open(struct cn_transport *t, const struct sockaddr *addr, socklen_t len,
	int may_wait, int timeout_ms);
int cn_tcp_open(struct cn_transport *t, const struct sockaddr *addr, socklen_t len);
/* CENOTE_OK, CENOTE_AGAIN, CENOTE_ERR_CONN. */
int cn_tcp_finish(struct cn_transport *t);

/* Everything goes through TLS from here on, the handshake first. As
 * cn_tls_ops.connect(). */
int cn_secure_begin(struct cn_transport *t, const struct cn_tls_ops *ops,
	const struct cn_tls_client_options *o, struct cn_tls_error *ret_error);
/* As cn_tls_ops.handshake(). */
int cn_secure_handshake(struct cn_transport *t);
/* Send what write() has taken: CENOTE_OK: nothing is left; CENOTE_AGAIN;
 * CENOTE_ERR_CONN. */
static inline int
cn_transport_flush(struct cn_transport *t)
{
	return t->tls ? t->tls_ops->flush(t->tls) : CENOTE_OK;
}
static inline int
cn_transport_unsent(const struct cn_transport *t)
{
	return t->tls && t->tls_ops->unsent(t->tls);
}
/* read() may give something although the descriptor is not ready. */
static inline int
cn_transport_pending(const struct cn_transport *t)
{
	return t->tls && t->tls_ops->pending(t->tls);
}

/* What a login may be bound to (tls-exporter). 0: this connection has nothing of the
 * kind. */
static inline int
cn_transport_binding(struct cn_transport *t, uint8_t ret_binding[CNP_SCRAM_BINDING_LEN])
{
	return t->tls && t->tls_ops->binding(t->tls, ret_binding) == CENOTE_OK;
}

extern const struct cn_transport_ops cn_socket_ops;

#endif
