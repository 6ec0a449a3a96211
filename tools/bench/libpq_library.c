/* SPDX-License-Identifier: BSD-2-Clause */
#include "libpq_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cenote/cenote.h>

const struct cnb_libpq *
cnb_libpq(void)
{
#define ADDRESS(name) .name = name,
	static const struct cnb_libpq original = { CNB_LIBPQ_FUNCTIONS(ADDRESS) };

	return &original;
}

static int
failed(const char *what, const char *why, struct cnb_error *ret_error)
{
	snprintf(ret_error->text, sizeof(ret_error->text), "%.250s: %.250s", what, why);
	return -1;
}

/* A function's address, from the object's that dlsym() gives (POSIX says that this works). */
static void
find(void *library, const char *name, void *slot, int *n_missing)
{
	void *address = dlsym(library, name);

	memcpy(slot, &address, sizeof(address));
	*n_missing += address == NULL;
}

static int
load(struct cnb_libpq *shim, struct cnb_error *ret_error)
{
	const char *dir = getenv("CENOTE_SHIM_DIR");
	char path[4096];
	void *library;
	int n_missing = 0;

	snprintf(path, sizeof(path), "%s/libpq.so.5",
		dir != NULL && *dir != '\0' ? dir : CNB_SHIM_DIR);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		return failed("the shim", dlerror(), ret_error);
	if (dlsym(library, "cenote_shim_libpq") == NULL)
		return failed(path, "this is not the shim", ret_error);
#define FIND(name) find(library, #name, &shim->name, &n_missing);
	CNB_LIBPQ_FUNCTIONS(FIND)
	return n_missing == 0 ? 0 : failed(path, "it lacks functions", ret_error);
}

/* The variables that say to the shim what the URI says. */
static int
set_environment(const char *uri, struct cnb_error *ret_error)
{
	char server[512];
	cenote_conn *conn;
	const char *host;

	if (cenote_conn_create(NULL, &conn) < 0)
		return failed("the shim", "out of memory", ret_error);
	if (cenote_conn_set_uri(conn, uri) < 0) {
		failed(uri, cenote_diag_message(cenote_conn_diag(conn)), ret_error);
		cenote_conn_destroy(conn);
		return -1;
	}
	host = cenote_conn_get(conn, "host");
	if (*host != '\0')
		snprintf(server, sizeof(server), "tcp://%s:%s", host,
			cenote_conn_get(conn, "port"));
	else
		snprintf(server, sizeof(server), "unix:%s",
			cenote_conn_get(conn, "run_dir"));
	if (strcmp(server, "unix:") != 0)
		setenv("CENOTE_SERVER", server, 1);
	setenv("CENOTE_POOL", cenote_conn_get(conn, "pool"), 1);
	setenv("CENOTE_FALLBACK", "fail", 1);
	cenote_conn_destroy(conn);
	return 0;
}

const struct cnb_libpq *
cnb_libpq_shim(const char *uri, struct cnb_error *ret_error)
{
	static struct cnb_libpq shim;
	static int is_loaded;

	if (is_loaded)
		return &shim;
	if (load(&shim, ret_error) < 0 || set_environment(uri, ret_error) < 0)
		return NULL;
	is_loaded = 1;
	return &shim;
}
