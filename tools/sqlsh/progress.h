/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_PROGRESS_H
#define SQLSH_PROGRESS_H

#include "text.h"

/* A line on a terminal that tells how far something is. */
struct progress {
	int is_shown; /* standard error is a terminal */
	double begin_ms;
	double shown_ms; /* when it was drawn last; 0: never */
	uint64_t total_bytes; /* 0 if unknown */
};

void progress_begin(
	struct progress *p, int is_wanted, uint64_t total_bytes, double now_ms);
/* Draw it, if it is time to. */
void progress_update(
	struct progress *p, uint64_t n_rows, uint64_t n_bytes, double now_ms);
/* Wipe it. */
void progress_end(struct progress *p);

/* The line: rows, bytes, rate, and with a total a bar and the time left. */
void progress_format(struct text *t, uint64_t n_rows, uint64_t n_bytes,
	uint64_t total_bytes, double seconds);

#endif
