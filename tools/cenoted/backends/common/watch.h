/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_WATCH_H
#define CND_WATCH_H

#include <pthread.h>
#include <stdint.h>

/*
 * A thread beside a client library whose calls wait without asking anybody: it looks after those that go on for a
 * tick or more. It looks with the lock, and a call is over only when it does not look any more, so that the two
 * threads never use the same thing at once, if the one that calls leaves alone what the other looks at.
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
	uint8_t is_asleep; /* until it is woken */
};

/* `look` is called at each tick of a call. 0, or an errno. */
int cnd_watch_start(struct cnd_watch *w, void (*look)(void *user), void *user);
/* Nothing if it was not started. */
void cnd_watch_stop(struct cnd_watch *w);
/* Around a call. */
void cnd_watch_begin(struct cnd_watch *w);
void cnd_watch_end(struct cnd_watch *w);

#endif
