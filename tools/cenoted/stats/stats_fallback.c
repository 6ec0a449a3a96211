/* SPDX-License-Identifier: BSD-2-Clause */
/* In place of stats.c in a build without libmicrohttpd. */
#include "stats.h"

#include <stdlib.h>

const char *
cnd_stats_lacks(void)
{
	return "this build of cenoted has no libmicrohttpd";
}

void
cnd_stats_run(const struct cnd_child *child, const struct cnd_listeners *listeners)
{
	(void)child;
	(void)listeners;
	exit(1);
}
