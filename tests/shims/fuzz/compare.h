/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FZ_COMPARE_H
#define FZ_COMPARE_H

#include "shims/fuzz/generate.h"
#include "shims/fuzz/peer.h"

/*
 * What two drivers make of the same sequences. How many, and how many that differ are shown before it gives
 * up, is in the environment, and CNT_SEED is that of the first of them; each has the next number. What ends the
 * original is said, and is no difference. With CHECK_SHOW all that ours wrote is shown.
 */
struct fz_contest {
	const struct fz_language *language;
	struct fz_peer original, ours;
	const char *name; /* the original's */
	const char *count; /* a variable, and what it is without: how many sequences */
	const char *default_count;
	const char *differences; /* a variable: how many that differ (1) */
	void (*renew)(void); /* what a sequence left must not be there for the next one */
	int is_shared; /* both are on the same server: one behind the other */
	uint64_t n_crashes; /* of the original */
};

/* One sequence: whether it differs, which is shown then. */
int fz_contest_ask(struct fz_contest *c, const struct fz_sequence *seq);
/* The number that differed; one more if the original crashed too often for that to mean much. */
uint64_t fz_contest_run(struct fz_contest *c);

#endif
