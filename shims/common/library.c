/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Open the original client library. The libpq and MySQL shims call this file for connections that
 * are not pooled. The caller owns the state.
 */
#include "library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keep the original's names apart from the shim's. A sanitizer ends the program unless it finds its
 * own names in the library, so do not do it with a sanitizer. */
#if defined(__SANITIZE_ADDRESS__)
#define APART 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define APART 0
#endif
#endif
#if !defined(APART) && defined(RTLD_DEEPBIND)
#define APART RTLD_DEEPBIND
#elif !defined(APART)
#define APART 0
#endif

static void *
open_one(const struct csh_library *library, const char *path)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | APART);

	if (handle != NULL && dlsym(handle, library->own_symbol) != NULL) {
		dlclose(handle);
		return NULL;
	}
	return handle;
}

void *
csh_library_open(const struct csh_library *library, char *why, size_t size)
{
	const char *path = secure_getenv(library->variable);
	void *handle = NULL;

	why[0] = '\0';
	if (path != NULL && *path != '\0') {
		const char *error;

		handle = open_one(library, path);
		error = handle == NULL ? dlerror() : NULL;
		if (handle == NULL)
			snprintf(why, size,
				"the library that %s names cannot be opened: %s",
				library->variable,
				error != NULL ? error : "it is this one");
		return handle;
	}
	for (size_t i = 0; library->places[i] != NULL && handle == NULL; i++)
		handle = open_one(library, library->places[i]);
	if (handle == NULL)
		snprintf(why, size, "the original %s was not found; %s may name it",
			library->name, library->variable);
	return handle;
}

/* dlsym() returns an object pointer. POSIX guarantees that this cast works. */
void
csh_library_find(void *handle, const char *name, void *slot)
{
	void *address = dlsym(handle, name);

	memcpy(slot, &address, sizeof(address));
}
