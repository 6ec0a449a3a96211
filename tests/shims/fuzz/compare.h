/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FZ_COMPARE_H
#define FZ_COMPARE_H

#include "shims/fuzz/generate.h"
#include "shims/fuzz/peer.h"

/*
 * Compare how two drivers carry out the same sequences. Environment variables set the number of sequences,
 * and the number of differences after which the test gives up. CNT_SEED is the first sequence's seed; each
 * later sequence adds one. A crash of the original is reported, and is not a difference. With CHECK_SHOW
 * our driver's output is printed completely.
 */
struct fz_contest {
	const struct fz_language *language;
	struct fz_peer original, ours;
	const char *name; /* what the output calls the original */
	const char *count; /* a variable for the number of sequences, and its default */
	const char *default_count;
	const char *differences; /* a variable for the number of differences (1) */
	void (*renew)(
		void); /* called between sequences, to undo what a sequence changed */
	int is_shared; /* both drivers use one server, so they run one after the other */
	uint64_t n_crashes; /* crashes of the original */
};

/* Run one sequence. Returns whether it differs, and prints the difference. */
int fz_contest_ask(struct fz_contest *c, const struct fz_sequence *seq);
/* Run all sequences. Returns the number of differences. Adds one if the original crashed too
 * often, and one if too many differences were gone at the second try. */
uint64_t fz_contest_run(struct fz_contest *c);

#endif
