/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNB_SERVERS_H
#define CNB_SERVERS_H

#include "bench.h"

/* The servers that a report starts for itself, in a temporary directory, on Unix sockets only. */

enum cnb_service {
	CNB_POSTGRESQL,
	CNB_PGBOUNCER, /* in front of that PostgreSQL */
	CNB_MARIADB,
	CNB_PGPOOL, /* in front of that PostgreSQL; it has no transaction mode */
	CNB_N_SERVICES
};

/* How many connections the servers accept. */
#define CNB_SERVER_CONNECTIONS 600

/* The pools that cenoted and PgBouncer have on each server. */
enum cnb_pool {
	CNB_POOL_HELD,
	CNB_POOL_TRANSACTION,
	CNB_POOL_RETAIL,
	CNB_N_POOLS
};

struct cnb_server_pool {
	const char *mode;
	uint32_t sessions;
	const char *names[CNB_N_SERVICES];
};

extern const struct cnb_server_pool cnb_server_pools[CNB_N_POOLS];

struct cnb_servers {
	char dir[64];
	struct {
		pid_t pid; /* 0: it does not run */
		char place[160]; /* for cnb_env */
		char version[64];
		char why[256]; /* why it does not run; "": it runs, or was not wanted */
	} services[CNB_N_SERVICES];
};

/* Start the servers that are wanted. One that is not installed, or does not start, is left out. 0; -1 with
 * the error set: there is no temporary directory. */
int cnb_servers_start(struct cnb_servers *ret_servers, const int wanted[CNB_N_SERVICES],
	struct cnb_error *ret_error);
/* Stop them and remove the directory. A second call does nothing. */
void cnb_servers_stop(struct cnb_servers *servers);
/* Write how libpq reaches a pool of PgBouncer. */
void cnb_pgbouncer_place(const struct cnb_servers *servers, enum cnb_pool pool,
	char *ret_place, size_t size);
/* Write the part of cenoted's configuration with its pools on a server: the pool for retail, or all
 * others. */
void cnb_servers_pools(const struct cnb_servers *servers, enum cnb_service service,
	int is_retail, char *ret_text, size_t size);

#endif
