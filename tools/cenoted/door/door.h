/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_DOOR_H
#define CND_DOOR_H

#include "master/pool.h"
#include "shared/child.h"

/*
 * The door: TCP, and the waiting room. It accepts on its own addresses, and on a pool's socket while
 * no worker of the pool is idle, keeps the clients in order, tells the master that they wait, and says
 * so when it took too long. The process's main function. places: of the workers, by slot.
 */
_Noreturn void cnd_door_run(const struct cnd_child *child, int control_fd,
	const struct cnd_pool *pools, size_t n_pools,
	const struct cnd_listeners *listeners, const struct cnd_place *places);

#endif
