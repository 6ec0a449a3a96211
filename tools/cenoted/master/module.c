/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Find and load the module of a backend (cenoted-NAME.so). pool.c calls it when a configuration
 * names the backend.
 */
#include "module.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/sqlstate.h"
#include "shared/place.h"

typedef const struct cnd_backend *get_fn(uint32_t host_abi);

/* Whether the name may become a part of a path. */
static int
is_name(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-");

	return n > 0 && n < 32 && name[n] == '\0';
}

static int
beside_program(const char *name, char path[PATH_MAX])
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n < 0)
		return 0;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (slash == NULL)
		return 0;
	*slash = '\0';
	n = snprintf(path, PATH_MAX, "%s/backends/%s/cenoted-%s.so", self, name, name);
	return n < PATH_MAX && access(path, R_OK) == 0;
}

/* The directories to search, separated by ':'; NULL: the usual ones. */
static const char *
search_path(const char *configured)
{
	const char *from_env = getenv("CENOTE_BACKEND_DIR");

	if (*configured != '\0')
		return configured;
	return from_env != NULL && *from_env != '\0' ? from_env : NULL;
}

/* Find the first directory that has the module. If none has it, `path` is the last one searched. */
static void
find(const char *configured, const char *name, char path[PATH_MAX])
{
	const char *dirs = search_path(configured);
	size_t n;

	if (dirs == NULL) {
		if (beside_program(name, path))
			return;
		dirs = CND_BACKEND_DIR;
	}
	for (;; dirs += n + 1) {
		n = strcspn(dirs, ":");
		snprintf(path, PATH_MAX, "%.*s/cenoted-%s.so", (int)n, dirs, name);
		if (dirs[n] == '\0' || access(path, R_OK) == 0)
			return;
	}
}

/* The length of the name in "cenoted-NAME.so"; 0: the file has no such name. */
static size_t
backend_name(const char *file, const char **ret_name)
{
	static const char before[] = "cenoted-", after[] = ".so";
	size_t n = strlen(file), around = sizeof(before) + sizeof(after) - 2;

	if (n <= around || strncmp(file, before, sizeof(before) - 1) != 0 ||
		strcmp(file + n - sizeof(after) + 1, after) != 0)
		return 0;
	*ret_name = file + sizeof(before) - 1;
	return n - around;
}

/* Add the backends in a directory to the list, each as ", NAME", while there is room. */
static void
list_backends(const char *dir, char *list, size_t size)
{
	struct dirent **files;
	int n = scandir(dir, &files, NULL, alphasort);
	size_t len = strlen(list);

	for (int i = 0; i < n; i++) {
		const char *name = NULL;
		size_t name_len = backend_name(files[i]->d_name, &name);

		if (name_len > 0 && len + name_len + 3 < size)
			len += (size_t)snprintf(
				list + len, size - len, ", %.*s", (int)name_len, name);
		free(files[i]);
	}
	if (n >= 0)
		free(files);
}

/* Report that there is no such backend. `path` is the last place that was searched. */
static void
say_missing(const char *dirs, const char *name, const char *path, struct cnc_diag *diag)
{
	char list[256] = "", dir[PATH_MAX];
	size_t n;

	dirs = search_path(dirs);
	if (dirs == NULL)
		dirs = CND_BACKEND_DIR;
	for (; *dirs != '\0'; dirs += n + (dirs[n] == ':')) {
		n = strcspn(dirs, ":");
		snprintf(dir, sizeof(dir), "%.*s", (int)n, dirs);
		list_backends(dir, list, sizeof(list));
	}
	cnc_diag_set(diag, CNC_SQLSTATE(UNSUPPORTED),
		"there is no backend %s: file %s not found; installed: %s", name, path,
		*list != '\0' ? list + 2 : "none");
}

/* Root runs the code of a module, so nobody else may be able to put it there or to rename it. Returns
 * the reason why somebody can; NULL: nobody can. */
static const char *
fault_of(const char *path)
{
	char dir[PATH_MAX], real[PATH_MAX], real_dir[PATH_MAX];
	const char *places[3] = { real };
	const char *fault = NULL;
	struct stat st;

	/* dlopen() reports what is wrong with a path that cannot be resolved */
	if (geteuid() != 0 || realpath(path, real) == NULL)
		return NULL;
	snprintf(dir, sizeof(dir), "%s", path);
	snprintf(real_dir, sizeof(real_dir), "%s", real);
	places[1] = dirname(dir);
	places[2] = dirname(real_dir);
	for (int i = 0; i < 3 && fault == NULL; i++)
		fault = stat(places[i], &st) < 0 ? strerror(errno)
						 : cnd_place_fault(&st, 0, 0);
	return fault;
}

int
cnd_module_load(const char *dir, const char *name, const struct cnd_backend **ret_backend,
	struct cnc_diag *ret_diag)
{
	const struct cnd_backend *backend;
	char path[PATH_MAX];
	const char *fault;
	get_fn *get;
	void *handle;

	/* one backend serves MySQL and MariaDB */
	if (strcmp(name, "mariadb") == 0)
		name = "mysql";
	if (!is_name(name)) {
		cnc_diag_set(ret_diag, CNC_SQLSTATE(BAD_PARAMETER),
			"\"%s\" cannot be the name of a backend", name);
		return CENOTE_ERR_ARG;
	}
	find(dir, name, path);
	fault = fault_of(path);
	if (fault != NULL) {
		cnc_diag_set(ret_diag, CNC_SQLSTATE(BAD_PARAMETER),
			"%s or its directory %s", path, fault);
		return CENOTE_ERR_ARG;
	}
	if (access(path, F_OK) < 0 && errno == ENOENT) {
		say_missing(dir, name, path, ret_diag);
		return CENOTE_ERR_ARG;
	}
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (handle == NULL) {
		cnc_diag_set(ret_diag, CNC_SQLSTATE(UNSUPPORTED),
			"there is no backend %s: %s", name, dlerror());
		return CENOTE_ERR_ARG;
	}
	*(void **)&get = dlsym(handle, "cnd_backend_get");
	backend = get != NULL ? get(CND_BACKEND_ABI) : NULL;
	if (backend == NULL || backend->abi != CND_BACKEND_ABI) {
		cnc_diag_set(ret_diag, CNC_SQLSTATE(UNSUPPORTED),
			"%s is not a backend of this version of cenoted", path);
		dlclose(handle);
		return CENOTE_ERR_ARG;
	}
	*ret_backend = backend;
	return CENOTE_OK;
}
