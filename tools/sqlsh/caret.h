/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_CARET_H
#define SQLSH_CARET_H

#include "text.h"

/* Add "LINE 2: " with the line of the error (cut if it is long), and below it a caret. `position`
 * counts characters from 1. If there is no such character, add nothing. */
void caret_add(struct text *out, const char *sql, size_t len, unsigned long position);

#endif
