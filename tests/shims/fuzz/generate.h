/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FZ_GENERATE_H
#define FZ_GENERATE_H

#include "shims/fuzz/sequence.h"

/*
 * A sequence is made of phrases, which are how the interface is meant to be used, and of what disturbs them:
 * calls are left out, doubled, or come in between from anywhere.
 */
#define FZ_MAX_PHRASE 12

struct fz_phrase {
	unsigned weight;
	int calls[FZ_MAX_PHRASE]; /* ends with FZ_END */
};

#define FZ_END       (-1)
#define FZ_ANY_OF(i) (-2 - (i)) /* any call of the list of that number */

struct fz_list {
	const int *calls;
	size_t n;
};

struct fz_language {
	const char *const *names; /* of each call */
	const unsigned *weights; /* of each call, where it comes in between */
	int n_calls;
	int first; /* the call that each sequence begins with */
	const struct fz_phrase *phrases;
	size_t n_phrases;
	const struct fz_list *lists;
};

void fz_generate(
	const struct fz_language *language, uint64_t seed, struct fz_sequence *ret_seq);

#endif
