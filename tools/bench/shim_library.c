/* SPDX-License-Identifier: BSD-2-Clause */
#include "shim_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pool_place.h"

static int
failed(const char *what, const char *why, struct cnb_error *ret_error)
{
	snprintf(ret_error->text, sizeof(ret_error->text), "%.250s: %.250s", what, why);
	return -1;
}

/* Set the shim's environment variables from the URI. */
static int
set_environment(const char *uri, struct cnb_error *ret_error)
{
	struct cnb_pool_place place;

	if (cnb_pool_place(uri, &place, ret_error) < 0)
		return -1;
	if (*place.server != '\0')
		setenv("CENOTE_SERVER", place.server, 1);
	setenv("CENOTE_POOL", place.pool, 1);
	setenv("CENOTE_FALLBACK", "fail", 1);
	return 0;
}

int
cnb_shim_load(const char *file, const char *mark, const char *uri,
	const struct cnb_function *functions, size_t n, struct cnb_error *ret_error)
{
	const char *dir = getenv("CENOTE_SHIM_DIR");
	char path[4096];
	void *library, *address;
	size_t i;

	snprintf(path, sizeof(path), "%s/%s",
		dir != NULL && *dir != '\0' ? dir : CNB_SHIM_DIR, file);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		return failed("the shim", dlerror(), ret_error);
	if (dlsym(library, mark) == NULL)
		return failed(path, "this is not the shim", ret_error);
	for (i = 0; i < n; i++) {
		address = dlsym(library, functions[i].name);
		if (address == NULL)
			return failed(path, functions[i].name, ret_error);
		/* Copy a function's address from the object pointer of dlsym(); POSIX guarantees that
		 * this works. */
		memcpy(functions[i].slot, &address, sizeof(address));
	}
	return set_environment(uri, ret_error);
}
