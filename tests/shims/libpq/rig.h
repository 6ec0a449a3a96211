/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_RIG_H
#define CNT_RIG_H

#include "support/cnt_daemon.h"
#include "support/cnt_server.h"

enum cnt_rig_server {
	CNT_RIG_POSTGRESQL,
	CNT_RIG_MARIADB,
	CNT_RIG_SQLITE /* which is none: a file */
};

/* A server, and a cenoted with the pool "main" for it. */
struct cnt_rig {
	enum cnt_rig_server which;
	struct cnt_server server;
	struct cnt_daemon daemon;
};

/* Starts both, and makes the environment of who uses the shim here: it finds them, and goes nowhere
 * else. 0 or -1. */
int cnt_rig_start_on(struct cnt_rig *rig, enum cnt_rig_server which);
/* … on PostgreSQL. */
int cnt_rig_start(struct cnt_rig *rig);
int cnt_rig_stop(struct cnt_rig *rig);

#endif
