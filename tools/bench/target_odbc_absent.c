/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench.h"

/* Built without a driver manager. */

const struct cnb_target *
cnb_target_odbc(void)
{
	return NULL;
}

const struct cnb_target *
cnb_target_odbc_native(void)
{
	return NULL;
}
