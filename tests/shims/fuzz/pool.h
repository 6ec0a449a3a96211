/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FZ_POOL_H
#define FZ_POOL_H

#include "support/cnt_daemon.h"

#include <pthread.h>
#include <stdint.h>

/* The pool "main" of the cenoted whose sockets are in run_dir, set up for random calls. */

/*
 * With CHECK_TLS programs reach it by TCP, with TLS.
 *
 * Its lines, with CHECK_CROWD others than the usual ones; what they need is there until fz_pool_remove(). NULL: it
 * was said why.
 */
const char *fz_pool_lines(const char *usual);
/* Set the environment for the running pool. By TCP this includes FZ_POOL_PID, because
 * such a socket does not know its maker. */
void fz_pool_enter(const struct cnt_daemon *daemon);
void fz_pool_remove(void);
/* Whether clients other than this process hold a session, or have left one in another
 * state. */
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
	struct cnt_daemon *daemon; /* the caller frees it */
	char *config; /* the previous value */
	pthread_t members[5];
	size_t n_members;
	int is_over;
};

void fz_others_start(struct fz_others *others, struct cnt_daemon *daemon);
/* Check that the connection moved to another session when the test asked for it. */
void fz_others_check(const struct fz_others *others);
void fz_others_stop(struct fz_others *others);

#endif
