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
/* Read the next word. 1: there is one; 0: the end; -1: a quote is not closed. */
int args_next(struct args *a, struct text *ret_word);

#endif
