/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WITH_REPLICA_H
#define WITH_REPLICA_H

#include "with_pool.h"

#include "support/cnt_server.h"

/* What the tests of pools on a primary and its replica share. Both servers have the table work (n int). */

extern enum cnt_server_kind wr_kind;
extern struct cnt_server wr_primary, wr_replica;

/* Statements with the same effect on both kinds of server. */
struct wr_dialect {
	const char *is_replica; /* 0 or 1 */
	const char *n_sessions; /* of the user app */
	const char *session; /* its number on the server */
	const char *promote;
	const char *stop_replay;
	const char *resume_replay;
};

extern const struct wr_dialect wr_dialects[];

#define WR_SQL (&wr_dialects[wr_kind])

void wr_start_servers(void);
/* A daemon with one pool, main: both servers, the replica first, and then these lines. */
void wr_start_pool(const char *lines);
/* A daemon with the pools of examples/split.conf, which is at that path, on these servers. Reads go to the replica then. */
void wr_start_split(const char *path);
/* Wait until the replica gives the same answer as the primary. */
void wr_await_same(const char *sql);
/* Stop the daemon and the servers. */
int wr_teardown(void **state);
/* How many sessions the user app has there; and wait for that number. */
int wr_sessions_on(const struct cnt_server *s);
void wr_await_sessions(const struct cnt_server *s, int wanted);
/* For wp_fork(): after half a second, let the replica continue. */
int wr_resume_soon(void *arg);
/* Stop the primary in order, and promote its replica. */
void wr_switch_over(void);

#endif
