/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FZ_GENERATE_H
#define FZ_GENERATE_H

#include "shims/fuzz/sequence.h"

/*
 * A sequence consists of phrases, which are proper uses of the interface, and of
 * disturbances: calls are left out, doubled, or inserted at random.
 */
#define FZ_MAX_PHRASE 12

struct fz_phrase {
	unsigned weight;
	int calls[FZ_MAX_PHRASE]; /* ends with FZ_END */
};

#define FZ_END       (-1)
#define FZ_ANY_OF(i) (-2 - (i)) /* any call from list number `i` */

struct fz_list {
	const int *calls;
	size_t n;
};

struct fz_language {
	const char *const *names; /* the names of the calls */
	const unsigned *weights; /* how often each call is inserted */
	int n_calls;
	int first; /* the first call of each sequence */
	const struct fz_phrase *phrases;
	size_t n_phrases;
	const struct fz_list *lists;
};

void fz_generate(
	const struct fz_language *language, uint64_t seed, struct fz_sequence *ret_seq);

#endif
