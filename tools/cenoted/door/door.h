/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_DOOR_H
#define CND_DOOR_H

#include "master/pool.h"
#include "shared/child.h"

/*
 * The main function of the door. The door accepts TCP clients, and the clients of a pool while none
 * of its workers is idle. It keeps them in order, tells the master that they wait, and sends an error
 * to those that wait too long. `places`: the workers, by slot.
 */
_Noreturn void cnd_door_run(const struct cnd_child *child, int control_fd,
	const struct cnd_pool *pools, size_t n_pools,
	const struct cnd_listeners *listeners, const struct cnd_place *places);

#endif
