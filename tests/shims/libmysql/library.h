/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_LIBRARY_H
#define CNT_LIBRARY_H

#include "original.h"

/*
 * A client library by its path, ours or the original, with its own names in its own corner: each function is
 * the member of its name. Ends the program, and says so, if it cannot be opened.
 */
void cnt_library_open(struct cmy_original *ret_functions, const char *path);
/* The same, but what the program defines comes first, as its malloc(). */
void cnt_library_open_shared(struct cmy_original *ret_functions, const char *path);

#endif
