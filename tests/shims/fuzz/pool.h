/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FZ_POOL_H
#define FZ_POOL_H

#include "support/cnt_daemon.h"

#include <pthread.h>
#include <stdint.h>

/* The pool "main" of the cenoted whose sockets are in run_dir, set up for random calls. */

/*
 * The pool's configuration lines: `usual`, or other lines with CHECK_CROWD. With CHECK_TLS, programs
 * connect over TCP with TLS. The files that the lines name exist until fz_pool_remove(). Returns NULL
 * after an error, which it prints.
 */
const char *fz_pool_lines(const char *usual);
/* Set the environment for the running pool. With CHECK_TLS this includes FZ_POOL_PID, because a
 * TCP socket does not tell which process made it. */
void fz_pool_enter(const struct cnt_daemon *daemon);
void fz_pool_remove(void);
/* Whether a worker is in use, other than by this process. */
int fz_pool_is_used(const char *run_dir);

/*
 * Clients and configuration changes that move sessions from one connection to another. The environment selects them:
 *
 * CHECK_CROWD    clients connect and disconnect all the time. There are three sessions, and one client always waits for one. (A
 *                driver keeps two, but connects before it closes its former connection.) With `mode = transaction` a
 *                connection without state gives its session back after each transaction
 * CHECK_RELOADS  the pool changes all the time, and its workers are replaced, in each mode. The pool must be the last
 *                section of the configuration
 */
struct fz_others {
	struct cnt_daemon *daemon; /* the caller frees it */
	char *config; /* the configuration before CHECK_RELOADS changes it; else NULL */
	pthread_t members[5];
	size_t n_members;
	int is_over;
};

void fz_others_start(struct fz_others *others, struct cnt_daemon *daemon);
/* Check that the pool has moved sessions between clients. Does nothing without CHECK_CROWD and
 * CHECK_RELOADS. */
void fz_others_check(const struct fz_others *others);
void fz_others_stop(struct fz_others *others);

#endif
