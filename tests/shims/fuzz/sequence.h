/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FZ_SEQUENCE_H
#define FZ_SEQUENCE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Calls in random order, on an original library and on the shim that replaces it. A
 * driver is a process with one of the two. Both carry out the same sequence, and write
 * what each call returned and what the handles then report. compare.c compares the two
 * texts.
 */

/* Arguments; each call in the driver's calls_*.c interprets them in its own way. */
struct fz_step {
	uint32_t call;
	uint32_t n[4];
};

#define FZ_MAX_STEPS 64u

struct fz_sequence {
	uint32_t n;
	struct fz_step steps[FZ_MAX_STEPS];
};

/* ---- how a driver talks to its parent ---- */

/* Read a sequence from standard input. Returns 1, or 0 at the end of input. */
int fz_read_sequence(struct fz_sequence *ret_seq);
/* Write the length of a text in four bytes, and then the text, to standard output. */
void fz_write_answer(const char *text, size_t len);

#endif
