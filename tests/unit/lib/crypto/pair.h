/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PAIR_H
#define PAIR_H

#include "crypto/crypto.h"

/*
 * Both ends of a TLS connection in one process. The wire between them does what a test wants: it
 * passes few bytes at a time, ends at a byte, or changes one.
 */
#define WIRE_SIZE (1u << 20)

struct wire {
	uint8_t bytes[WIRE_SIZE];
	size_t at, len; /* len: all that was ever written */
	size_t most; /* most bytes of one read or write; 0: no bound */
	size_t room; /* most bytes that may be unread; 0: no bound */
	size_t cut_at; /* the connection ends after so many bytes; SIZE_MAX: never */
	size_t flip_at; /* offset of a byte to change; SIZE_MAX: none */
};

struct end {
	struct cn_tls *tls;
	struct wire *in, *out;
	int status; /* status of the handshake */
};

struct pair {
	struct end client, server;
	struct wire to_server, to_client;
	struct cn_tls_server *context;
	struct cn_tls_error error;
};

/* The directory of the certificates. */
extern char pair_dir[64];
/* "DIR/NAME"; 64 texts are kept. */
const char *pair_path(const char *name);
/* The content of that file; the caller frees it. */
char *pair_text(const char *name);
/* Setup and teardown of a group: make and remove the certificates. */
int pair_setup(void **state);
int pair_teardown(void **state);

void pair_init(struct pair *p);
void pair_finish(struct pair *p);
/* Create both ends. On failure, the reason is in p->error. */
int pair_open(struct pair *p, const struct cn_tls_client_options *client,
	const struct cn_tls_server_options *server);
/* Run both handshakes as far as they get. */
void pair_shake(struct pair *p);
/* Send all bytes one way. Returns how many arrived; SIZE_MAX if they are not the same. */
size_t pair_send(struct end *from, struct end *to, const uint8_t *bytes, size_t n);

extern const struct cn_tls_ops *pair_ops;

#endif
