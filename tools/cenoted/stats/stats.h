/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_STATS_H
#define CND_STATS_H

#include "master/listeners.h"
#include "shared/child.h"

/*
 * The process that serves statistics by HTTP. It reads the scoreboard, writes nothing of it, and
 * knows no client and no server.
 */

/* Why this build or this machine cannot serve statistics; NULL: it can. Loads the library, for the
 * children as well. */
const char *cnd_stats_lacks(void);
_Noreturn void cnd_stats_run(
	const struct cnd_child *child, const struct cnd_listeners *listeners);

#endif
