/* SPDX-License-Identifier: BSD-2-Clause */
#include "library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The functions of a sanitizer must come before those of the library. */
#if defined(__SANITIZE_ADDRESS__)
#define OWN_CORNER 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OWN_CORNER 0
#endif
#endif
#ifndef OWN_CORNER
#define OWN_CORNER RTLD_DEEPBIND
#endif

static void
find(void *library, const char *name, void *slot)
{
	void *address = dlsym(library, name);

	memcpy(slot, &address, sizeof(address));
}

static void
/* NOLINTNEXTLINE(readability-function-size): all names of the face */
open_with(struct cmy_original *f, const char *path, int flags)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
#define FIND_ONE(name)                        find(library, #name, &f->name);
#define FIND(handle, ret, name, params, args) FIND_ONE(name)
#define FIND_V(handle, name, params, args)    FIND_ONE(name)
	CMY_FACE(FIND, FIND_V)
#if !CMY_ORACLE
#define FIND_PAIR(type, handle, result, name, params, args)                              \
	FIND_ONE(name##_start) FIND_ONE(name##_cont)
#define FIND_PAIR_V(type, handle, name, params, args)                                    \
	FIND_ONE(name##_start) FIND_ONE(name##_cont)
	CMY_FACE_ASYNC(FIND_PAIR, FIND_PAIR_V)
	FIND_ONE(mysql_optionsv)
	FIND_ONE(mysql_get_optionv)
	FIND_ONE(mariadb_get_infov)
#endif
}

void
cnt_library_open(struct cmy_original *ret_functions, const char *path)
{
	open_with(ret_functions, path, OWN_CORNER);
}

void
cnt_library_open_shared(struct cmy_original *ret_functions, const char *path)
{
	open_with(ret_functions, path, 0);
}
