/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread that watches blocking calls of a client library. It owns the thread and its lock. The watch.c of a
 * backend calls it around such calls.
 */
#include "watch.h"

#include <time.h>

#define TICK_MS 10
/* Ticks without a call until the thread sleeps. */
#define DROWSY  100u

/* Call it with the lock held. Waits until the tick is over or another thread wakes this one. */
static void
sleep_a_tick(struct cnd_watch *w)
{
	struct timespec until;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += TICK_MS * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_nsec -= 1000000000L;
		until.tv_sec++;
	}
	(void)pthread_cond_timedwait(&w->wake, &w->lock, &until);
}

static void
sleep_until_woken(struct cnd_watch *w)
{
	w->is_asleep = 1;
	(void)pthread_cond_wait(&w->wake, &w->lock);
	w->is_asleep = 0;
}

static void *
run(void *user)
{
	struct cnd_watch *w = user;
	uint64_t seen = 0;
	unsigned quiet = 0;

	(void)pthread_mutex_lock(&w->lock);
	while (!w->is_ending) {
		quiet = w->is_in_call || w->n_calls != seen ? 0 : quiet + 1;
		seen = w->n_calls;
		if (quiet < DROWSY)
			sleep_a_tick(w);
		else
			sleep_until_woken(w);
		if (w->is_in_call && w->n_calls == seen)
			w->look(w->user);
	}
	(void)pthread_mutex_unlock(&w->lock);
	return NULL;
}

static void
destroy(struct cnd_watch *w)
{
	(void)pthread_cond_destroy(&w->wake);
	(void)pthread_mutex_destroy(&w->lock);
}

int
cnd_watch_start(struct cnd_watch *w, void (*look)(void *user), void *user)
{
	pthread_condattr_t attr;
	int r;

	*w = (struct cnd_watch){ .look = look, .user = user };
	(void)pthread_mutex_init(&w->lock, NULL);
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&w->wake, &attr);
	(void)pthread_condattr_destroy(&attr);
	r = pthread_create(&w->thread, NULL, run, w);
	if (r == 0)
		w->is_started = 1;
	else
		destroy(w);
	return r;
}

void
cnd_watch_stop(struct cnd_watch *w)
{
	if (!w->is_started)
		return;
	(void)pthread_mutex_lock(&w->lock);
	w->is_ending = 1;
	(void)pthread_cond_signal(&w->wake);
	(void)pthread_mutex_unlock(&w->lock);
	(void)pthread_join(w->thread, NULL);
	destroy(w);
	w->is_started = 0;
}

void
cnd_watch_begin(struct cnd_watch *w)
{
	(void)pthread_mutex_lock(&w->lock);
	w->n_calls++;
	w->is_in_call = 1;
	if (w->is_asleep)
		(void)pthread_cond_signal(&w->wake);
	(void)pthread_mutex_unlock(&w->lock);
}

void
cnd_watch_end(struct cnd_watch *w)
{
	(void)pthread_mutex_lock(&w->lock);
	w->is_in_call = 0;
	(void)pthread_mutex_unlock(&w->lock);
}
