/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_HELPER_H
#define CND_HELPER_H

#include <sys/types.h>

#include "master/pool.h"
#include "shared/child.h"
#include "shared/ipc.h"

/*
 * A process for one client that needs no session, but TLS or a login: a cancel or the status. It answers from the
 * scoreboard, as workers do, and ends.
 */

/* Its exit status, if its client had no right to the answer, or did not wait for it; else 0. */
#define CND_HELPER_IN_VAIN 3

/* The process's main function. `m`: as the door sent it. */
_Noreturn void cnd_helper_run(const struct cnd_child *child, const struct cnd_pool *pool,
	const struct cnd_ipc *m);

#endif
