/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench.h"

/* Built without libmariadb. */

const struct cnb_target *
cnb_target_mysql_shim(void)
{
	return NULL;
}

const struct cnb_target *
cnb_target_peer_mariadb(void)
{
	return NULL;
}

const struct cnb_target *
cnb_target_mariadb(void)
{
	return NULL;
}
