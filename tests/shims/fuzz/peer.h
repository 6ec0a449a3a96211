/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FZ_PEER_H
#define FZ_PEER_H

#include <sys/types.h>

#include "shims/fuzz/sequence.h"

/* A driver, as compare.c has it: a process that carries out sequences. */
struct fz_peer {
	const char *argv[12];
	pid_t pid; /* 0: it does not run */
	int to, from;
	char *text; /* what it wrote of the sequence last; the end of it says how it ended */
	size_t size;
	int has_crashed; /* at the sequence last: it did not hang, and wrote nothing */
};

/* Hand it a sequence; it is started if it does not run. */
void fz_peer_ask(struct fz_peer *peer, const struct fz_sequence *seq);
/* Take what it writes, into peer->text. One that is silent for too long is ended. */
void fz_peer_answer(struct fz_peer *peer);
/* Let it end: 0, or -1 if it did not end as it should. */
int fz_peer_stop(struct fz_peer *peer);

#endif
