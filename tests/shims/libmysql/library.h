/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_LIBRARY_H
#define CNT_LIBRARY_H

#include <stdlib.h>

#include "original.h"

/*
 * Load a client library, ours or the original, and store each function in the member of its name.
 * The library uses its own functions even if the program has functions of the same names. If the
 * library cannot be opened, print the reason and end the program.
 */
void cnt_library_open(struct cmy_original *ret_functions, const char *path);
/* The same, but functions of the program come first, such as its malloc(). */
void cnt_library_open_shared(struct cmy_original *ret_functions, const char *path);

/* The original that is installed; or another version, which tests/versions names in the environment. */
static inline const char *
cnt_library_original(const char *installed)
{
	const char *other = getenv("CNT_ORIGINAL_LIBMARIADB");

	return other != NULL ? other : installed;
}

#endif
