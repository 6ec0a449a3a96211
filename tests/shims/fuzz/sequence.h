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

/* ---- a driver's way to its parent ---- */

/* From the standard input: 1, or 0 at its end. */
int fz_read_sequence(struct fz_sequence *ret_seq);
/* To the standard output: the length in four bytes, then the text. */
void fz_write_answer(const char *text, size_t len);

#endif
