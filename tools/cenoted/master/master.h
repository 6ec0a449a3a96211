/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_MASTER_H
#define CND_MASTER_H

#include "config/config.h"

/*
 * The master: opens the doors, forks, reaps, reloads, drains. It never reads a byte that a client
 * sent. Takes the configuration over. `ready_fd`: a byte is written there once clients are
 * taken, and it is closed; -1 for nobody. The process's exit status.
 */
int cnd_master_run(
	struct cnd_config *config, const struct cnd_backend **backends, int ready_fd);

#endif
