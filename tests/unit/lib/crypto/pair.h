/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PAIR_H
#define PAIR_H

#include "crypto/crypto.h"

/*
 * Both ends of a TLS connection in one process, and between them a wire that does what a test wants: takes or
 * gives little at a time, ends at a byte, changes one.
 */
#define WIRE_SIZE (1u << 20)

struct wire {
	uint8_t bytes[WIRE_SIZE];
	size_t at, len; /* len: all that was ever written */
	size_t most; /* bytes of one call; 0: no bound */
	size_t room; /* bytes that may lie in it; 0: no bound */
	size_t cut_at; /* the connection ends behind so many bytes; SIZE_MAX: never */
	size_t flip_at; /* this one is changed; SIZE_MAX: none */
};

struct end {
	struct cn_tls *tls;
	struct wire *in, *out;
	int status; /* of its handshake */
};

struct pair {
	struct end client, server;
	struct wire to_server, to_client;
	struct cn_tls_server *context;
	struct cn_tls_error error;
};

/* The first certificate's directory. */
extern char pair_dir[64];
/* "DIR/NAME"; 64 texts are kept. */
const char *pair_path(const char *name);
/* What is in it; the caller frees it. */
char *pair_text(const char *name);
/* Make the certificates, once; gone at the end of the program. */
int pair_setup(void **state);
int pair_teardown(void **state);

void pair_init(struct pair *p);
void pair_finish(struct pair *p);
/* CENOTE_OK, or why not: p->error. */
int pair_open(struct pair *p, const struct cn_tls_client_options *client,
	const struct cn_tls_server_options *server);
/* Both handshakes, as far as they come. */
void pair_shake(struct pair *p);
/* One way, all of it; returns what arrived and is the same. */
size_t pair_send(struct end *from, struct end *to, const uint8_t *bytes, size_t n);

extern const struct cn_tls_ops *pair_ops;

#endif
