/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CN_MODULE_H
#define CN_MODULE_H

#include <limits.h>

/*
 * Finding and opening a module of libcenote. It is searched first beside the library, and then in the installation
 * directory. Once opened, it stays loaded until the process ends.
 */
struct cn_module {
	const char *name; /* of its file */
	const char *built; /* its folder in the build directory */
	const char *symbol; /* the function that gives its interface */
};

/* 1: the module's file exists. This does not open it. */
int cn_module_is_there(const struct cn_module *m);
/* Open the module. `path` becomes that of its file. Returns a handle for dlclose(), and stores the address of its
 * function, which may be NULL. NULL: see dlerror(). */
void *cn_module_open(const struct cn_module *m, char path[PATH_MAX], void *ret_function);

#endif
