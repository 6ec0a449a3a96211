/* SPDX-License-Identifier: BSD-2-Clause */
#include "crypto_load.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/sqlstate.h"

#define NAME "cenote-crypto.so"

typedef const struct cn_crypto *get_fn(uint32_t abi);

/* Where to look for the module, relative to the folder of this library or program. */
static const char *const beside[] = {
	"cenote/" NAME, /* libcenote, installed */
	NAME, /* a shim, installed */
	"../cenote/" NAME, /* in a Python wheel, where libraries have a separate folder */
	"crypto/" NAME, /* libcenote in its build directory */
	"../../lib/crypto/" NAME, /* a shim or a program in its build directory */
	"../../../lib/crypto/" NAME, /* a test in its build directory */
};

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
find_beside(char path[PATH_MAX])
{
	const char *slash;
	struct stat st;
	Dl_info self;
	int n;

	if (dladdr((const void *)beside, &self) == 0 || !self.dli_fname ||
		*self.dli_fname != '/' || stat(self.dli_fname, &st) < 0)
		return 0;
	slash = strrchr(self.dli_fname, '/');
	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
		n = snprintf(path, PATH_MAX, "%.*s/%s", (int)(slash - self.dli_fname),
			self.dli_fname, beside[i]);
		if (n > 0 && n < PATH_MAX && is_trusted(path, st.st_uid))
			return 1;
	}
	return 0;
}

static void
find(char path[PATH_MAX])
{
	if (!find_beside(path))
		(void)snprintf(path, PATH_MAX, "%s/" NAME, CN_MODULE_DIR);
}

int
cn_crypto_is_there(void)
{
	char path[PATH_MAX];

	find(path);
	return access(path, R_OK) == 0;
}

int
cn_crypto_load(const struct cn_crypto **ret_crypto, struct cnc_diag *diag)
{
	const struct cn_crypto *crypto;
	char path[PATH_MAX];
	void *handle;
	get_fn *get = NULL;

	find(path);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		cnc_diag_set(diag, CNC_SQLSTATE(UNSUPPORTED),
			"TLS and passwords need Cenote's module " NAME
			" and OpenSSL 3 (libssl.so.3): %s",
			dlerror());
		return CENOTE_ERR_UNSUPPORTED;
	}
	*(void **)&get = dlsym(handle, "cn_crypto_get");
	crypto = get ? get(CN_CRYPTO_ABI) : NULL;
	if (!crypto) {
		cnc_diag_set(diag, CNC_SQLSTATE(UNSUPPORTED),
			"%s is of another version of Cenote", path);
		(void)dlclose(handle);
		return CENOTE_ERR_UNSUPPORTED;
	}
	*ret_crypto = crypto;
	return CENOTE_OK;
}
