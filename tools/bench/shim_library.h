/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNB_SHIM_LIBRARY_H
#define CNB_SHIM_LIBRARY_H

#include "bench.h"

/* A function of a library, and where to put its address. */
struct cnb_function {
	const char *name;
	void *slot;
};

/* Load the shim with that file name, which exports `mark`, and set the environment variables that
 * choose the pool of that URI. It is never closed. 0, or -1. */
int cnb_shim_load(const char *file, const char *mark, const char *uri,
	const struct cnb_function *functions, size_t n, struct cnb_error *ret_error);

#endif
