/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_HELPER_H
#define CND_HELPER_H

#include <sys/types.h>

#include "shared/ipc.h"
#include "shared/pool.h"

struct cnd_child;

/*
 * A process for one client that needs no session, but TLS or a login: a cancel or the status. It answers from the
 * scoreboard, as workers do, and ends.
 */
#define CND_HELPERS_MAX 16u

/* Its exit status, if its client had no right to the answer, or did not wait for it; else 0. */
#define CND_HELPER_IN_VAIN 3

/* The process's main function. `m`: as the door sent it. */
_Noreturn void cnd_helper_run(const struct cnd_child *child, const struct cnd_pool *pool,
	const struct cnd_ipc *m);

/* The master's side: those that run, by their places; 0: none. */
struct cnd_helpers {
	pid_t list[CND_HELPERS_MAX];
};

/* A child that ended: its place, or -1: it was no helper. */
int cnd_helpers_bury(struct cnd_helpers *h, pid_t pid);
/* All of them, at once. */
void cnd_helpers_kill(struct cnd_helpers *h);

#endif
