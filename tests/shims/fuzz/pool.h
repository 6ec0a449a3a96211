/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FZ_POOL_H
#define FZ_POOL_H

#include <pthread.h>
#include <stdint.h>

/* The pool "main" of the cenoted whose sockets are in run_dir, as random calls find it. */

/* How often a session was taken back from one who went on with another. */
int64_t fz_pool_yields(const char *run_dir);
/* Whether a session is held, or is not as new, behind others than this process. */
int fz_pool_is_used(const char *run_dir);

/*
 * Clients that come and go without end: of three sessions (one more than a driver keeps, since it connects before it gives the
 * former connection up) one is always waited for. With `mode = transaction` whoever holds nothing
 * gives his back behind each transaction, and goes on with another one.
 */
struct fz_crowd {
	const char *run_dir; /* the caller's */
	pthread_t members[4];
	int is_over;
};

void fz_crowd_start(struct fz_crowd *crowd, const char *run_dir);
void fz_crowd_stop(struct fz_crowd *crowd);

#endif
