/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A dlopen() without RTLD_DEEPBIND, with which PHP loads its extensions, and which the address
 * sanitizer refuses. To be loaded before the sanitizer's library.
 */
#include <dlfcn.h>
#include <stddef.h>

void *
dlopen(const char *file, int mode)
{
	void *(*next)(const char *, int) =
		(void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");

	return next ? next(file, mode & ~RTLD_DEEPBIND) : NULL;
}
