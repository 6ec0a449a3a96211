/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FZ_PEER_H
#define FZ_PEER_H

#include <sys/types.h>

#include "shims/fuzz/sequence.h"

/* A driver process that carries out sequences for compare.c. */
struct fz_peer {
	const char *argv[12];
	pid_t pid; /* 0 if the driver is not running */
	int to, from;
	char *text; /* the text for the last sequence, or how the driver ended */
	size_t size;
	int has_crashed; /* the driver ended during the last sequence, without a text or a timeout */
};

/* Send the driver a sequence. Start the driver first if it is not running. */
void fz_peer_ask(struct fz_peer *peer, const struct fz_sequence *seq);
/* Read the driver's text into peer->text. A driver that is silent for too long is killed. */
void fz_peer_answer(struct fz_peer *peer);
/* Stop the driver. Returns 0, or -1 if it did not exit normally. */
int fz_peer_stop(struct fz_peer *peer);

#endif
