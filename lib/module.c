/* SPDX-License-Identifier: BSD-2-Clause */
#include "module.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where libcenote looks for its modules, and which files it trusts. crypto_load.c and loan_load.c call this file. */

/* Folders relative to that of this library or program. */
static const char *const installed[] = {
	"cenote/", /* libcenote */
	"", /* a shim */
	"../cenote/", /* in a Python wheel, where libraries have a separate folder */
};

/* From a folder in the build directory to the build directory. */
static const char *const up[] = {
	"../", /* libcenote */
	"../../", /* a shim or a program */
	"../../../", /* a test */
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* A path that leaves the folder may lead to files of another user. So such a file must belong to
 * root or to the owner of the library, and nobody else may be able to write it. */
static int
is_trusted(const char *path, uid_t owner)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       (st.st_uid == 0 || st.st_uid == owner) && (st.st_mode & S_IWOTH) == 0;
}

static int
find_beside(const struct cn_module *m, char path[PATH_MAX])
{
	struct stat st;
	Dl_info self;
	int n, folder;

	if (dladdr((const void *)installed, &self) == 0 || !self.dli_fname ||
		*self.dli_fname != '/' || stat(self.dli_fname, &st) < 0)
		return 0;
	folder = (int)(strrchr(self.dli_fname, '/') - self.dli_fname);
	for (size_t i = 0; i < COUNT(installed) + COUNT(up); i++) {
		int is_built = i >= COUNT(installed);

		n = snprintf(path, PATH_MAX, "%.*s/%s%s%s%s", folder, self.dli_fname,
			is_built ? up[i - COUNT(installed)] : installed[i],
			is_built ? m->built : "", is_built ? "/" : "", m->name);
		if (n > 0 && n < PATH_MAX && is_trusted(path, st.st_uid))
			return 1;
	}
	return 0;
}

static void
find(const struct cn_module *m, char path[PATH_MAX])
{
	if (!find_beside(m, path))
		(void)snprintf(path, PATH_MAX, "%s/%s", CN_MODULE_DIR, m->name);
}

int
cn_module_is_there(const struct cn_module *m)
{
	char path[PATH_MAX];

	find(m, path);
	return access(path, R_OK) == 0;
}

void *
cn_module_open(const struct cn_module *m, char path[PATH_MAX], void *ret_function)
{
	void *handle;

	find(m, path);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (handle)
		*(void **)ret_function = dlsym(handle, m->symbol);
	return handle;
}
