/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CSH_ROUTE_H
#define CSH_ROUTE_H

#include <stddef.h>

/*
 * Which pool a connection of a shim goes to. CENOTE_POOL says it for all of a process; else the first line that fits
 * of the shim's section of client.conf,
 *
 *     POOL = HOST:PORT/DBNAME/USER          a pattern of the shell; POOL may be "direct"
 *
 * and what no line fits is not pooled. Without such a section the pool is named as the database is.
 */

struct csh_target {
	const char *section; /* of client.conf: "libpq", "mysql" */
	const char *host;
	const char *port;
	const char *dbname;
	const char *user;
	const char *fallback; /* the pool's name, where nothing says another */
};

struct csh_choice {
	char pool[256]; /* "direct": not pooled */
	char error[512]; /* why there is no choice; no line's end */
};

/* The value of an environment variable. NULL if it is not set or empty, or if the program has more rights than its
 * user (setuid, file capabilities): that user must not say where its connections and passwords go. */
const char *csh_variable(const char *name);

/* Whether CENOTE_FALLBACK lets a connection go to the server when cenoted cannot be reached. */
int csh_may_fall_back(void);

/* Whether CENOTE_SERVER says that cenoted is reached by TCP. */
int csh_is_remote(void);

/* Whether this pool, on a local socket, has asked for a password before: it is then given at once. For the life of the
 * process, and of the pool that asked last; else a connection first tries to do without. */
int csh_login_was_wanted(const char *pool);
void csh_login_is_wanted(const char *pool);

/* 0; -1: client.conf is there and wrong, and the reason is in `error`. */
int csh_choose(const struct csh_target *target, struct csh_choice *ret_choice);

#endif
