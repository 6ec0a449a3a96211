/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_WATCH_H
#define CND_WATCH_H

#include <pthread.h>
#include <stdint.h>

/*
 * A thread that watches blocking calls of a client library. It looks at a call that lasts a tick or longer.
 * It holds the lock while it looks, and a call ends only with the lock. So the two threads use no data at
 * once, if the caller does not touch the watch's data during a call.
 */
struct cnd_watch {
	void (*look)(void *user);
	void *user;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	uint64_t n_calls;
	uint8_t is_started;
	uint8_t is_ending;
	uint8_t is_in_call;
	uint8_t is_asleep; /* sleeps until a call begins */
};

/* The thread calls `look` at each tick of a call. Returns 0, or an errno. */
int cnd_watch_start(struct cnd_watch *w, void (*look)(void *user), void *user);
/* Does nothing if the thread was not started. */
void cnd_watch_stop(struct cnd_watch *w);
/* Call these before and after each blocking call. */
void cnd_watch_begin(struct cnd_watch *w);
void cnd_watch_end(struct cnd_watch *w);

#endif
