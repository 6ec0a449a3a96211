/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench.h"

/* Built without libpq. */

const struct cnb_target *
cnb_target_shim(void)
{
	return NULL;
}

const struct cnb_target *
cnb_target_pgbouncer(void)
{
	return NULL;
}

const struct cnb_target *
cnb_target_pgpool(void)
{
	return NULL;
}

const struct cnb_target *
cnb_target_peer_postgresql(void)
{
	return NULL;
}

const struct cnb_target *
cnb_target_postgresql(void)
{
	return NULL;
}
