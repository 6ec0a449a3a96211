/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_RIG_H
#define CNT_RIG_H

#include "support/cnt_daemon.h"
#include "support/cnt_server.h"

enum cnt_rig_server {
	CNT_RIG_POSTGRESQL,
	CNT_RIG_MARIADB,
	CNT_RIG_SQLITE /* no server, only a file */
};

/* A server, and a cenoted with the pool "main" for it. */
struct cnt_rig {
	enum cnt_rig_server which;
	const char *lines; /* of the pool, for the start; NULL: up to 6 sessions */
	struct cnt_server server;
	struct cnt_daemon daemon;
};

/*
 * Start the server and cenoted. Set the environment so that the shim in this process finds that cenoted
 * and nothing else. Returns 0 or -1.
 */
int cnt_rig_start_on(struct cnt_rig *rig, enum cnt_rig_server which);
/* The same with PostgreSQL. */
int cnt_rig_start(struct cnt_rig *rig);
int cnt_rig_stop(struct cnt_rig *rig);

#endif
