/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_POOL_H
#define CNT_POOL_H

#include "support/cnt_daemon.h"
#include "support/cnt_server.h"

/* A pool "main" whose backend is given by name, for tests that are the same for every backend. */
struct cnt_pool {
	const char *backend; /* sqlite, postgresql, mysql or freetds; or an ODBC driver */
	struct cnt_server server; /* for PostgreSQL and MariaDB */
	struct cnt_daemon daemon;
};

/* Start the server, if the backend has one, and a cenoted with at most n_sessions sessions. If the
 * server is not installed, end the program as a skipped test. 0; or -1, with nothing left
 * behind. */
int cnt_pool_start(struct cnt_pool *p, const char *backend, unsigned n_sessions);
/* Returns 0 if cenoted ended well. */
int cnt_pool_stop(struct cnt_pool *p);

#endif
