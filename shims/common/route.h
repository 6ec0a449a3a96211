/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CSH_ROUTE_H
#define CSH_ROUTE_H

#include <stddef.h>

/*
 * The choice of a pool for a shim's connection. CENOTE_POOL sets it for the whole process.
 * Otherwise the first matching line in the shim's section of client.conf sets it:
 *
 * POOL = HOST:PORT/DBNAME/USER (a shell pattern; POOL may be "direct")
 *
 * A connection that matches no line is not pooled. Without the section, the pool has the name of
 * the database.
 */

struct csh_target {
	const char *section; /* section of client.conf: "libpq", "mysql" */
	const char *host;
	const char *port;
	const char *dbname;
	const char *user;
	const char *fallback; /* the pool's name if nothing else sets one */
};

struct csh_choice {
	char pool[256]; /* "direct": not pooled */
	char error[512]; /* why there is no choice; one line */
};

/*
 * The value of an environment variable. NULL if it is not set or empty, or if the program has more
 * rights than its user (setuid, file capabilities): that user must not decide where its connections
 * and passwords go.
 */
const char *csh_variable(const char *name);

/* Does CENOTE_FALLBACK allow a direct connection when cenoted cannot be reached? */
int csh_may_fall_back(void);

/* Does CENOTE_SERVER name a cenoted that is reached by TCP? */
int csh_is_remote(void);

/*
 * Has this pool asked for a password on a local socket before? If so, the shim sends the password
 * at once; otherwise a connection first tries without a password. The process remembers only the
 * last pool that asked.
 */
int csh_login_was_wanted(const char *pool);
void csh_login_is_wanted(const char *pool);

/* Choose the pool. 0; -1: client.conf exists but has an error, which `error` explains. */
int csh_choose(const struct csh_target *target, struct csh_choice *ret_choice);

#endif
