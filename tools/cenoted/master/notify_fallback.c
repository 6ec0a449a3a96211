/* SPDX-License-Identifier: BSD-2-Clause */
#include "notify.h"

/* Built without libsystemd: no service manager is told anything. */

void
cnd_notify(const char *state)
{
	(void)state;
}

void
cnd_notify_reloading(void)
{
}

int
cnd_notify_sockets(int *ret_first)
{
	*ret_first = -1;
	return 0;
}
