/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CSH_LIBRARY_H
#define CSH_LIBRARY_H

#include <stddef.h>

/* The original library that a shim replaces. It is opened by its full path, since its name alone
 * would find the shim. Its names stay apart from those of the shim. */
struct csh_library {
	const char *name; /* in messages: "libpq.so.5" */
	const char *variable; /* environment variable with the library's path */
	const char *own_symbol; /* a name that only the shim exports */
	const char *const *places; /* paths to try; ends with NULL */
};

/* Open the library. NULL: that failed, and `why` has the reason in one line. The library stays open
 * for ever. */
void *csh_library_open(const struct csh_library *library, char *why, size_t size);

/* Put the address of a function into `slot`, a pointer to such a function; NULL: the library has no
 * such function. */
void csh_library_find(void *handle, const char *name, void *slot);

#endif
