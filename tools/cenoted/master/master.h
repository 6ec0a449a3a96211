/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_MASTER_H
#define CND_MASTER_H

#include "config/config.h"

/*
 * The master: opens the sockets, forks, reaps, reloads, drains. It never reads a byte that a client
 * sent. It takes ownership of the configuration. When clients can connect, it writes a byte to
 * `ready_fd` and closes it; -1: nobody waits for that. Returns the exit status of the process.
 */
int cnd_master_run(
	struct cnd_config *config, const struct cnd_backend **backends, int ready_fd);

#endif
