/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CN_TRANSPORT_H
#define CN_TRANSPORT_H

#include <stddef.h>
#include <sys/socket.h>

#include "crypto/crypto.h"
#include "loan.h"

struct cn_transport;

/* Sending and receiving bytes. The functions repeat a call that EINTR interrupted; `error` holds
 * the errno of the last failure. */
struct cn_transport_ops {
	/* Read and write never wait. CENOTE_OK and at least 1 byte, or 0: the peer
	 * closed. CENOTE_AGAIN: nothing is there. CENOTE_ERR_CONN. */
	int (*read)(struct cn_transport *t, void *room, size_t n, size_t *ret_n);
	/* CENOTE_OK and at least 1 byte taken, CENOTE_AGAIN, CENOTE_ERR_CONN. */
	int (*write)(struct cn_transport *t, const void *bytes, size_t n, size_t *ret_n);
	/* Close the descriptor, without a message to the peer. */
	void (*close)(struct cn_transport *t);
	/* Send the bytes that write() has taken. CENOTE_OK: nothing is left; CENOTE_AGAIN; CENOTE_ERR_CONN. */
	int (*flush)(struct cn_transport *t);
	/* Is something left of them? */
	int (*unsent)(const struct cn_transport *t);
	/* Can read() return something although the descriptor is not ready? */
	int (*pending)(const struct cn_transport *t);
};

struct cn_transport {
	const struct cn_transport_ops *ops;
	int fd; /* -1: closed */
	int held; /* descriptor number that is kept for the next connection; -1: none */
	int error;
	/* a program waits on the descriptor: the next connection gets the same number */
	uint8_t keeps_number;
	/* during the TLS handshake: no other bytes are sent or received */
	uint8_t is_shaking;
	struct cn_tls *tls; /* NULL: no TLS */
	const struct cn_tls_ops *tls_ops;
	/* a worker may lend its server's socket */
	uint8_t takes_descriptors;
	int lent[2]; /* the descriptors that came last; -1: none */
	struct cn_loan *loan; /* NULL: no loan. `fd` is the server's socket */
	const struct cn_loan_ops *loan_ops;
	int lender; /* the connection to the worker, which lasts as long as the loan; -1: none */
	/* nothing was written to the loan yet: the client has to attach there */
	uint8_t is_lent_anew;
	/* the loan takes no more bytes, and that is not the socket's fault: read, or wait for the server */
	uint8_t is_choked;
};

void cn_transport_init(struct cn_transport *t);
/* Close the transport. Does nothing if it is closed. */
void cn_transport_close(struct cn_transport *t);
/* Reserve a descriptor number for a closed transport that keeps its number but has none yet. */
void cn_transport_hold(struct cn_transport *t);
/* Close the transport, and keep no number. */
void cn_transport_finish(struct cn_transport *t);
/* Use a new socket: CENOTE_OK, or CENOTE_ERR_CONN. */
int cn_transport_socket(struct cn_transport *t, int domain);

/* Make a socket that is not one of the standard descriptors. -1: see errno. */
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

/* Use TLS for everything from now on; the handshake comes first. Returns as cn_tls_ops.connect(). */
int cn_secure_begin(struct cn_transport *t, const struct cn_tls_ops *ops,
	const struct cn_tls_client_options *o, struct cn_tls_error *ret_error);
/* Returns as cn_tls_ops.handshake(). */
int cn_secure_handshake(struct cn_transport *t);

/* Take descriptors from now on: the worker at the other end may lend its server's socket. */
void cn_loan_expect(struct cn_transport *t);
/*
 * Use the server's socket that has come, through the module. The connection to the worker stays open beside it.
 * Call it when both descriptors have come. Returns as cn_loan_ops.open(). On failure the descriptors are closed, and the
 * transport is as before.
 */
int cn_loan_begin(struct cn_transport *t, const struct cn_loan_ops *ops,
	const struct cenote_allocator *mem);
/* Give a loan back that has failed. The descriptor's number stands for the ended connection to the worker, so who waits
 * on it wakes up. Does nothing if there is no loan. */
void cn_loan_forfeit(struct cn_transport *t);

/* The data to which a login can be bound (tls-exporter). 0: this connection has none. */
static inline int
cn_transport_binding(struct cn_transport *t, uint8_t ret_binding[CNP_SCRAM_BINDING_LEN])
{
	return t->tls && t->tls_ops->binding(t->tls, ret_binding) == CENOTE_OK;
}

extern const struct cn_transport_ops cn_socket_ops;

/* For transport_unix.c and transport_loan.c. */
/* Move a descriptor away from the standard ones: a program may have closed these, and still print to them. -1: see
 * errno, and `fd` is closed. */
int cn_socket_raise(int fd);
/* No descriptor came with the last bytes, or they are of no use: close them. */
void cn_loan_drop(struct cn_transport *t);
/* As recv() without waiting, with the descriptors that come with the bytes. */
ssize_t cn_loan_receive(struct cn_transport *t, void *room, size_t n);
/* There is no loan any more. */
void cn_loan_forget(struct cn_transport *t);
/* Close the descriptor unless it is -1. */
void cn_close_any(int fd);

#endif
