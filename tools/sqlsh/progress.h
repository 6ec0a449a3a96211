/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_PROGRESS_H
#define SQLSH_PROGRESS_H

#include "text.h"

/* A line on the terminal that shows the progress. */
struct progress {
	int is_shown; /* standard error is a terminal */
	double begin_ms;
	double shown_ms; /* when it was last drawn; 0: never */
	uint64_t total_bytes; /* 0: unknown */
};

void progress_begin(
	struct progress *p, int is_wanted, uint64_t total_bytes, double now_ms);
/* Draw it, unless it was drawn a moment ago. */
void progress_update(
	struct progress *p, uint64_t n_rows, uint64_t n_bytes, double now_ms);
/* Remove it from the terminal. */
void progress_end(struct progress *p);

/* Make the line: rows, bytes and rate. With a total, also a bar and the remaining time. */
void progress_format(struct text *t, uint64_t n_rows, uint64_t n_bytes,
	uint64_t total_bytes, double seconds);

#endif
