/* SPDX-License-Identifier: BSD-2-Clause */
#include "crypto_load.h"

#include <dlfcn.h>

#include "core/sqlstate.h"
#include "module.h"

#define NAME "cenote-crypto.so"

typedef const struct cn_crypto *get_fn(uint32_t abi);

static const struct cn_module module = { NAME, "lib/crypto", "cn_crypto_get" };

int
cn_crypto_is_there(void)
{
	return cn_module_is_there(&module);
}

int
cn_crypto_load(const struct cn_crypto **ret_crypto, struct cnc_diag *diag)
{
	const struct cn_crypto *crypto;
	char path[PATH_MAX];
	get_fn *get = NULL;
	void *handle = cn_module_open(&module, path, &get);

	if (!handle) {
		cnc_diag_set(diag, CNC_SQLSTATE(UNSUPPORTED),
			"TLS and passwords need Cenote's module " NAME
			" and OpenSSL 3 (libssl.so.3): %s",
			dlerror());
		return CENOTE_ERR_UNSUPPORTED;
	}
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
