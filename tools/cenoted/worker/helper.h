/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_HELPER_H
#define CND_HELPER_H

#include <sys/types.h>

#include "master/pool.h"
#include "shared/child.h"
#include "shared/ipc.h"

/* A helper is a process for one client that needs TLS or a login, but no session: for a cancel or a
 * status query. It answers from the scoreboard and ends. */

/* Exit status if the client had no right to the answer or did not wait for it; otherwise 0. */
#define CND_HELPER_IN_VAIN 3

/* The process's main function. `m` is the door's message with the client. */
_Noreturn void cnd_helper_run(const struct cnd_child *child, const struct cnd_pool *pool,
	const struct cnd_ipc *m);

#endif
