/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNB_SERVERS_H
#define CNB_SERVERS_H

#include "bench.h"

/* The servers that a report starts for itself, in a temporary directory, on Unix sockets only. */

enum cnb_service {
	CNB_POSTGRESQL,
	CNB_PGBOUNCER, /* in front of that PostgreSQL */
	CNB_MARIADB,
	CNB_N_SERVICES
};

/* As many connections as the servers take. */
#define CNB_SERVER_CONNECTIONS 600

/* The sessions of the pools, of cenoted and of PgBouncer: in the mode session, in the mode transaction,
 * and for retail. */
#define CNB_SESSIONS_HELD        4
#define CNB_SESSIONS_TRANSACTION 8
#define CNB_SESSIONS_RETAIL      16

struct cnb_servers {
	char dir[64];
	struct {
		pid_t pid; /* 0: it does not run */
		char place[160]; /* for cnb_env */
		char version[64];
		char why[256]; /* it does not run; "": it was not wanted */
	} services[CNB_N_SERVICES];
};

/* Start those of `wanted` that are installed. One that is not, or that does not start, is left out. */
int cnb_servers_start(struct cnb_servers *ret_servers, const int wanted[CNB_N_SERVICES],
	struct cnb_error *ret_error);
/* Stop them and remove the directory. A second call does nothing. */
void cnb_servers_stop(struct cnb_servers *servers);
/* PgBouncer's place for the pool with that name. */
void cnb_pgbouncer_place(const struct cnb_servers *servers, const char *pool,
	char *ret_place, size_t size);
/* The pools of cenoted on a server, for its configuration: with `is_retail` that for retail, else the
 * others. */
void cnb_servers_pools(const struct cnb_servers *servers, enum cnb_service service,
	int is_retail, char *ret_text, size_t size);

#endif
