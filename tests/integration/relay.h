/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RELAY_H
#define RELAY_H

#include <pthread.h>
#include <stddef.h>

/* A man in the middle of a unix socket. It passes on the bytes of one connection in both
 * directions, except where a test changes or withholds some of them. */
enum relay_trick {
	RELAY_PASS,
	RELAY_CUT, /* close everything before byte `at` */
	RELAY_CHANGE, /* change byte `at` */
	RELAY_INSERT /* send two other bytes before byte `at` */
};

struct relay {
	char dir[96]; /* the directory of its socket: dir/main.sock */
	char to[160]; /* the pool's socket */
	int listen_fd;
	pthread_t thread;
	/* for the next connection; direction 0: to the pool */
	int direction;
	enum relay_trick trick;
	size_t at;
	size_t passed[2]; /* bytes of the last connection, in each direction */
};

/* Returns 0, or -1. */
int relay_start(struct relay *r, const char *dir, const char *to);
/* Set the trick for the next connection. Call this while no connection is open. */
void relay_set(struct relay *r, int direction, enum relay_trick trick, size_t at);
void relay_stop(struct relay *r);

#endif
