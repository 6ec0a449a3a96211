/* SPDX-License-Identifier: BSD-2-Clause */
#include "notify.h"

/* For a build without libsystemd: there is no service manager to talk to. */

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
