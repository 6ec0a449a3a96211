/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FZ_SEQUENCE_H
#define FZ_SEQUENCE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Calls in random order, asked of an original library and of the shim that stands in for it. A driver is a
 * process with one of the two; both carry out the same sequence, and write down what each call gave and
 * what the handles say of themselves behind it. compare.c compares what they wrote.
 */

/* What the numbers mean is each call's own: the driver's calls_*.c. */
struct fz_step {
	uint32_t call;
	uint32_t n[4];
};

#define FZ_MAX_STEPS 64u

struct fz_sequence {
	uint32_t n;
	struct fz_step steps[FZ_MAX_STEPS];
};

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
	const unsigned *weights; /* of each call, where it comes in between */
	int n_calls;
	int first; /* the call that each sequence begins with */
	const struct fz_phrase *phrases;
	size_t n_phrases;
	const struct fz_list *lists;
};

void fz_generate(
	const struct fz_language *language, uint64_t seed, struct fz_sequence *ret_seq);

/* ---- a driver's way to its parent ---- */

/* From the standard input: 1, or 0 at its end. */
int fz_read_sequence(struct fz_sequence *ret_seq);
/* To the standard output: the length in four bytes, then the text. */
void fz_write_answer(const char *text, size_t len);

#endif
