/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The list of targets in this build. options.c and main.c look targets up. It has no state.
 */
#include <string.h>

#include "bench.h"

/* To add a target, add a row. In a build without its library, the function returns NULL. Each target
 * is compared with those after it, so pools come first. */
static const struct cnb_target *(*const targets[])(void) = {
	cnb_target_pooled,
	cnb_target_shim,
	cnb_target_mysql_shim,
	cnb_target_odbc,
	cnb_target_direct,
	cnb_target_pgbouncer,
	cnb_target_pgpool,
	cnb_target_peer_postgresql,
	cnb_target_peer_mariadb,
	cnb_target_postgresql,
	cnb_target_mariadb,
	cnb_target_odbc_native,
};

const struct cnb_target *
cnb_target(size_t i)
{
	size_t k;

	for (k = 0; k < sizeof(targets) / sizeof(targets[0]); k++) {
		const struct cnb_target *t = targets[k]();

		if (t == NULL)
			continue;
		if (i == 0)
			return t;
		i--;
	}
	return cnb_target_tls(i);
}

const struct cnb_target *
cnb_target_find(const char *name)
{
	const struct cnb_target *t;
	size_t i;

	for (i = 0; (t = cnb_target(i)) != NULL; i++) {
		if (strcmp(t->name, name) == 0)
			return t;
	}
	return NULL;
}
