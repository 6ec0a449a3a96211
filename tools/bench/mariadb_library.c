/* SPDX-License-Identifier: BSD-2-Clause */
#include "mariadb_library.h"
#include "shim_library.h"

const struct cnb_mariadb *
cnb_mariadb(void)
{
#define ADDRESS(name) .name = name,
	static const struct cnb_mariadb original = { CNB_MARIADB_FUNCTIONS(ADDRESS) };

	return &original;
}

const struct cnb_mariadb *
cnb_mariadb_shim(const char *uri, struct cnb_error *ret_error)
{
#define FUNCTION(name) { #name, &shim.name },
	static struct cnb_mariadb shim;
	static const struct cnb_function functions[] = { CNB_MARIADB_FUNCTIONS(
		FUNCTION) };
	static int is_loaded;

	if (!is_loaded &&
		cnb_shim_load("libmariadb.so.3", "cenote_shim_mysql", uri, functions,
			sizeof(functions) / sizeof(functions[0]), ret_error) < 0)
		return NULL;
	is_loaded = 1;
	return &shim;
}
