/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FZ_PEER_H
#define FZ_PEER_H

#include <sys/types.h>

#include "shims/fuzz/sequence.h"

/* A driver process that carries out sequences for compare.c. */
struct fz_peer {
	const char *argv[12];
	pid_t pid; /* 0 if it is not running */
	int to, from;
	char *text; /* its text for the last sequence, and how it ended */
	size_t size;
	int has_crashed; /* it ended during the last sequence, without a text or a timeout */
};

/* Send it a sequence. Start it first if it is not running. */
void fz_peer_ask(struct fz_peer *peer, const struct fz_sequence *seq);
/* Read its text into peer->text. A driver that is silent for too long is killed. */
void fz_peer_answer(struct fz_peer *peer);
/* Stop it. Returns 0, or -1 if it did not exit normally. */
int fz_peer_stop(struct fz_peer *peer);

#endif
