/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CSH_LIBRARY_H
#define CSH_LIBRARY_H

#include <stddef.h>

/*
 * The original library that a shim stands in for, opened by its full path, since its name alone would find
 * the shim, and out of the way of the shim's own names.
 */
struct csh_library {
	const char *name; /* for messages: "libpq.so.5" */
	const char *variable; /* the environment variable that names its path */
	const char *own_symbol; /* only the shim exports it */
	const char *const *places; /* where to look, ended by NULL */
};

/* NULL: it cannot be had, and `why` says why in one line. It is never closed. */
void *csh_library_open(const struct csh_library *library, char *why, size_t size);

/* A function's address into a slot, which is a pointer to such a function; NULL if there is none. */
void csh_library_find(void *handle, const char *name, void *slot);

#endif
