/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FZ_PEER_H
#define FZ_PEER_H

#include <sys/types.h>

#include "shims/fuzz/sequence.h"

/* A driver, a process that carries out sequences, as compare.c uses it. */
struct fz_peer {
	const char *argv[12];
	pid_t pid; /* 0: it is not running */
	int to, from;
	char *text; /* its text for the last sequence; the end says how it ended */
	size_t size;
	int has_crashed; /* it ended at the last sequence without a text, and did not hang */
};

/* Give it a sequence; start it if it is not running. */
void fz_peer_ask(struct fz_peer *peer, const struct fz_sequence *seq);
/* Read its text into peer->text. A driver that is silent for too long is killed. */
void fz_peer_answer(struct fz_peer *peer);
/* End it. 0, or -1 if it did not end as it should. */
int fz_peer_stop(struct fz_peer *peer);

#endif
