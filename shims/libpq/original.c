/* SPDX-License-Identifier: BSD-2-Clause */
#include "original.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

const char cpq_tag = 'C';

static struct cpq_original original;
static const char *why_not;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Where CENOTE_LIBPQ does not say: Debian's places and Red Hat's. The name alone would find us. */
static const char *const places[] = {
	CPQ_SYSTEM_LIBDIR "/libpq.so.5",
	"/usr/lib64/libpq.so.5",
	"/usr/lib/libpq.so.5",
};

/* Only we export this name. */
static int
is_ourselves(void *library)
{
	return dlsym(library, "cenote_shim_libpq") != NULL;
}

static void *
open_one(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL
#ifdef RTLD_DEEPBIND
					     | RTLD_DEEPBIND
#endif
	);

	if (library != NULL && is_ourselves(library)) {
		dlclose(library);
		return NULL;
	}
	return library;
}

static void *
open_any(void)
{
	const char *path = secure_getenv("CENOTE_LIBPQ");
	void *library = NULL;

	if (path != NULL && *path != '\0') {
		library = open_one(path);
		if (library == NULL)
			why_not = "the library that CENOTE_LIBPQ names cannot be opened";
		return library;
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && !library; i++)
		library = open_one(places[i]);
	if (library == NULL)
		why_not =
			"the original libpq.so.5 was not found; CENOTE_LIBPQ may name it";
	return library;
}

/* A function's address, from the object's that dlsym() gives (POSIX says that this works). */
static void
find(void *library, const char *name, void *slot)
{
	void *address = dlsym(library, name);

	memcpy(slot, &address, sizeof(address));
}

static void
load(void)
{
	void *library = open_any();

	if (library == NULL)
		return;
#define FIND(handle, ret, name, params, args) find(library, #name, &original.name);
#define FIND_V(handle, name, params, args)    find(library, #name, &original.name);
	CPQ_FACE_15(FIND, FIND_V)
	CPQ_FACE_17(FIND, FIND_V)
	CPQ_FACE_18(FIND, FIND_V)
	if (original.PQconnectdbParams == NULL || original.PQfinish == NULL)
		why_not = "the library opened as libpq has no PQconnectdbParams";
}

const struct cpq_original *
cpq_original(const char **ret_why)
{
	pthread_once(&once, load);
	if (ret_why != NULL)
		*ret_why = why_not != NULL ? why_not : "";
	return why_not == NULL ? &original : NULL;
}
