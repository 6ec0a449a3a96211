/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FZ_POOL_H
#define FZ_POOL_H

#include "support/cnt_daemon.h"

#include <pthread.h>
#include <stdint.h>

/* The pool "main" of the cenoted whose sockets are in run_dir, as random calls find it. */

/*
 * With CHECK_TLS programs reach it by TCP, with TLS.
 *
 * Its lines, with CHECK_CROWD others than the usual ones; what they need is there until fz_pool_remove(). NULL: it
 * was said why.
 */
const char *fz_pool_lines(const char *usual);
/* When it runs: what the environment has of it is right; by TCP also FZ_POOL_PID, since no such socket knows who made it. */
void fz_pool_enter(const struct cnt_daemon *daemon);
void fz_pool_remove(void);
/* Whether a session is held, or is not as new, behind others than this process. */
int fz_pool_is_used(const char *run_dir);

/*
 * What takes sessions from who holds nothing and gives him another, as the environment wants it:
 *
 * CHECK_CROWD    clients that come and go without end: of three sessions (one more than a driver keeps, since it connects before
 *                it gives the former connection up) one is always waited for. With `mode = transaction` whoever
 *                holds nothing gives his back behind each transaction
 * CHECK_RELOADS  the pool, which is the last thing in the configuration, is changed without end, and its
 *                workers are replaced, in each mode
 */
struct fz_others {
	struct cnt_daemon *daemon; /* the caller's */
	char *config; /* as it was */
	pthread_t members[5];
	size_t n_members;
	int is_over;
};

void fz_others_start(struct fz_others *others, struct cnt_daemon *daemon);
/* That sessions were exchanged, if they were to be. */
void fz_others_check(const struct fz_others *others);
void fz_others_stop(struct fz_others *others);

#endif
