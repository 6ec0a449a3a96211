/* SPDX-License-Identifier: BSD-2-Clause */
#include "loan_load.h"

#include <dlfcn.h>

#include "module.h"

typedef const struct cn_loan_ops *get_fn(uint32_t abi);

static const struct cn_module module = { "cenote-loan.so", "tools/cenoted/borrower",
	"cn_loan_get" };

const struct cn_loan_ops *
cn_loan_load(void)
{
	const struct cn_loan_ops *ops;
	char path[PATH_MAX];
	get_fn *get = NULL;
	void *handle = cn_module_open(&module, path, &get);

	if (!handle)
		return NULL;
	ops = get ? get(CN_LOAN_ABI) : NULL;
	if (!ops)
		(void)dlclose(handle);
	return ops;
}
