/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench.h"

/* Built without SQLite: there is no file to compare with. */
const struct cnb_target *
cnb_target_direct(void)
{
	return NULL;
}
