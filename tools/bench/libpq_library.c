/* SPDX-License-Identifier: BSD-2-Clause */
#include "libpq_library.h"
#include "shim_library.h"

const struct cnb_libpq *
cnb_libpq(void)
{
#define ADDRESS(name) .name = name,
	static const struct cnb_libpq original = { CNB_LIBPQ_FUNCTIONS(ADDRESS) };

	return &original;
}

const struct cnb_libpq *
cnb_libpq_shim(const char *uri, struct cnb_error *ret_error)
{
#define FUNCTION(name) { #name, &shim.name },
	static struct cnb_libpq shim;
	static const struct cnb_function functions[] = { CNB_LIBPQ_FUNCTIONS(FUNCTION) };
	static int is_loaded;

	if (!is_loaded &&
		cnb_shim_load("libpq.so.5", "cenote_shim_libpq", uri, functions,
			sizeof(functions) / sizeof(functions[0]), ret_error) < 0)
		return NULL;
	is_loaded = 1;
	return &shim;
}
