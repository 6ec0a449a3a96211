/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_ARGS_H
#define SQLSH_ARGS_H

#include "text.h"

/* Arguments of a command: words separated by blanks. '...' and "..." keep blanks, and a doubled
 * quote in them stands for itself. */
struct args {
	const char *rest; /* the part that is not read yet; ends at a zero byte */
};

void args_skip_blanks(struct args *a);
/* The next word: 1. 0 at the end, -1 if a quote is not closed. */
int args_next(struct args *a, struct text *ret_word);

#endif
