/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "my.h"

/*
 * Oracle's library waits for the answer to a prepared statement and to a reset without asking anybody. While it
 * does, a thread asks the host in its place, and stops the statement from a second connection. Session and host
 * belong to the thread from LOOK_AFTER_MS after a call's begin to its end, and else to the one that calls: they
 * never run at the same time.
 */

/* Most calls are over before anybody has to ask. */
#define LOOK_AFTER_MS 20

struct cnd_my_watch {
	struct cnd_session *s;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	uint64_t n_calls;
	int done_fd; /* readable when the call is over */
	uint8_t is_in_call;
	uint8_t is_asleep; /* until it is woken */
	uint8_t is_ended;
};

/* With the lock: until the time is up or somebody wakes it. */
static void
doze(struct cnd_my_watch *w)
{
	struct timespec until;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += LOOK_AFTER_MS * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_nsec -= 1000000000L;
		until.tv_sec++;
	}
	(void)pthread_cond_timedwait(&w->wake, &w->lock, &until);
}

static void *
watch(void *user)
{
	struct cnd_my_watch *w = user;
	uint64_t seen = 0;

	(void)pthread_mutex_lock(&w->lock);
	while (!w->is_ended) {
		if (w->is_in_call && seen == w->n_calls) {
			/* it goes on since we dozed */
			cnd_my_look(w->s, w->done_fd);
			w->is_in_call = 0;
		} else if (seen != w->n_calls) {
			seen = w->n_calls;
			doze(w);
		} else {
			w->is_asleep = 1;
			(void)pthread_cond_wait(&w->wake, &w->lock);
			w->is_asleep = 0;
		}
	}
	(void)pthread_mutex_unlock(&w->lock);
	mysql_thread_end();
	return NULL;
}

static int
start(struct cnd_my_watch *w)
{
	pthread_condattr_t attr;
	int r;

	w->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->done_fd < 0)
		return -1;
	(void)pthread_mutex_init(&w->lock, NULL);
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&w->wake, &attr);
	(void)pthread_condattr_destroy(&attr);
	r = pthread_create(&w->thread, NULL, watch, w);
	if (r == 0)
		return 0;
	(void)pthread_cond_destroy(&w->wake);
	(void)pthread_mutex_destroy(&w->lock);
	(void)close(w->done_fd);
	return -1;
}

int
cnd_my_watch_begin(struct cnd_session *s)
{
	struct cnd_my_watch *w = s->watch;

	if (s->is_hooked || !s->host->wait)
		return CENOTE_OK;
	if (!w) {
		w = cnc_calloc(s->mem, 1, sizeof(*w));
		if (!w)
			return CENOTE_ERR_NOMEM;
		w->s = s;
		if (start(w) < 0) {
			cnc_free(s->mem, w);
			return CENOTE_ERR_NOMEM;
		}
		s->watch = w;
	}
	(void)pthread_mutex_lock(&w->lock);
	w->n_calls++;
	w->is_in_call = 1;
	if (w->is_asleep)
		(void)pthread_cond_signal(&w->wake);
	(void)pthread_mutex_unlock(&w->lock);
	return CENOTE_OK;
}

void
cnd_my_watch_end(struct cnd_session *s)
{
	struct cnd_my_watch *w = s->watch;
	eventfd_t n;

	if (!w)
		return;
	/* whoever looks has the lock until then */
	(void)eventfd_write(w->done_fd, 1);
	(void)pthread_mutex_lock(&w->lock);
	w->is_in_call = 0;
	(void)eventfd_read(w->done_fd, &n);
	(void)pthread_mutex_unlock(&w->lock);
}

void
cnd_my_watch_free(struct cnd_session *s)
{
	struct cnd_my_watch *w = s->watch;

	if (!w)
		return;
	s->watch = NULL;
	(void)pthread_mutex_lock(&w->lock);
	w->is_ended = 1;
	(void)pthread_cond_signal(&w->wake);
	(void)pthread_mutex_unlock(&w->lock);
	(void)pthread_join(w->thread, NULL);
	(void)pthread_cond_destroy(&w->wake);
	(void)pthread_mutex_destroy(&w->lock);
	(void)close(w->done_fd);
	cnc_free(s->mem, w);
}
