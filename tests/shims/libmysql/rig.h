/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_RIG_H
#define CNT_RIG_H

#include "support/cnt_daemon.h"
#include "support/cnt_server.h"

/*
 * A MariaDB server and a cenoted with a pool "main" on it, for the user app in the database app. The
 * environment sends programs that load a shim there.
 */
struct cnt_rig {
	struct cnt_server server;
	struct cnt_daemon daemon;
};

/* Start the server and cenoted. Returns 0, or -1 after printing a message. */
int cnt_rig_start(struct cnt_rig *rig);
/* The same, but `sql` replaces the grants and runs before anyone logs in, and `pool` has the lines
 * of the pool. */
int cnt_rig_start_with(struct cnt_rig *rig, const char *sql, const char *pool);
int cnt_rig_stop(struct cnt_rig *rig);

#endif
