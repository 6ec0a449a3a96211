/* SPDX-License-Identifier: BSD-2-Clause */
/* dlopen() without RTLD_DEEPBIND. PHP loads its extensions with that flag, and the address
 * sanitizer refuses it. Load this library before the sanitizer's. */
#include <dlfcn.h>
#include <stddef.h>

void *
dlopen(const char *file, int mode)
{
	void *(*next)(const char *, int) =
		(void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");

	return next ? next(file, mode & ~RTLD_DEEPBIND) : NULL;
}
