/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_CARET_H
#define SQLSH_CARET_H

#include "text.h"

/*
 * Show where in a statement an error is: "LINE 2: " and that line (cut to what is near, if it is
 * long), and below it a caret. `position` counts characters from 1; nothing is added when there
 * is no such character.
 */
void caret_add(struct text *out, const char *sql, size_t len, unsigned long position);

#endif
