/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "odbc.h"

/*
 * Cancelling. ODBC's functions block, and no driver that Debian has runs them asynchronously; but
 * SQLCancel() may be called from another thread while one runs. So each session has a thread that looks every
 * TICK_MS whether a function of the driver runs, asks the host then whether to stop, and cancels it.
 *
 * Whoever has the mutex may use the host. The worker's thread gives it up for the time of a call: what it
 * did before has happened by then, and it goes on only when the watch is not looking any more. So
 * host and diagnostics are never used by two threads at once.
 *
 * SQLCancel() itself may block (MariaDB's driver opens a connection for it), so it runs in a thread of its own. A
 * server that neither obeys nor ends within OBEY_MS has the driver's sockets shut down: the driver's function
 * then fails, and the session is lost. A driver that hangs without a server ends with its worker.
 */
#define TICK_MS 10
#define OBEY_MS 10000
/* Ticks without a call until the watch sleeps. */
#define DROWSY  100u

static int64_t
now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void *
run_canceller(void *user)
{
	struct cnd_session *s = user;

	(void)SQLCancel(s->watch.running);
	return NULL;
}

static void
cancel(struct cnd_session *s)
{
	struct cnd_od_watch *w = &s->watch;

	/* a login has nothing to stop but itself; connecting has listed what was there before */
	w->obey_until_ms = now_ms() + (w->is_login ? 0 : OBEY_MS);
	if (!w->is_login)
		cnd_od_sockets_list(&w->before);
	if (w->running)
		w->is_cancelling =
			pthread_create(&w->canceller, NULL, run_canceller, s) == 0;
}

/* The driver's sockets of the login, and those that it opened since the cancelling began. */
static void
cut(struct cnd_session *s)
{
	struct cnd_od_watch *w = &s->watch;
	struct cnd_od_sockets now, added;

	cnd_od_sockets_list(&now);
	cnd_od_sockets_new(&w->before, &now, &added);
	cnd_od_sockets_cut(&w->own);
	cnd_od_sockets_cut(&added);
	if (!w->is_cut) {
		w->die_at_ms = now_ms() + OBEY_MS;
		if (!w->is_login)
			s->host->log(s->host, LOG_WARNING,
				"the server did not stop a statement: its connection is "
				"closed");
	}
	w->obey_until_ms = now_ms() + TICK_MS;
	w->is_cut = 1;
}

/* A driver that does not return even then keeps the worker for ever: it ends, and another one is started. */
static void
die(struct cnd_session *s)
{
	s->host->log(s->host, LOG_ERR,
		"a function of the driver %s does not return: this worker ends",
		s->driver);
	_exit(1);
}

/* A call runs. */
static void
look(struct cnd_session *s)
{
	struct cnd_od_watch *w = &s->watch;

	if (s->stop == 0 && s->diag) {
		s->stop = s->host->interrupted(s->host, s->diag);
		if (s->stop < 0)
			cancel(s);
		else
			s->stop = 0;
	}
	if (s->stop < 0 && now_ms() >= w->obey_until_ms)
		cut(s);
	if (w->is_cut && now_ms() >= w->die_at_ms)
		die(s);
}

static void
sleep_a_tick(struct cnd_od_watch *w)
{
	struct timespec until;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += TICK_MS * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_nsec -= 1000000000L;
		until.tv_sec++;
	}
	(void)pthread_cond_timedwait(&w->wake, &w->mutex, &until);
}

static void *
run_watch(void *user)
{
	struct cnd_session *s = user;
	struct cnd_od_watch *w = &s->watch;
	uint64_t seen = 0;
	unsigned quiet = 0;

	(void)pthread_mutex_lock(&w->mutex);
	while (!w->is_ending) {
		quiet = w->is_armed || w->n_calls != seen ? 0 : quiet + 1;
		seen = w->n_calls;
		if (quiet < DROWSY) {
			sleep_a_tick(w);
		} else {
			w->is_asleep = 1;
			(void)pthread_cond_wait(&w->wake, &w->mutex);
			w->is_asleep = 0;
		}
		if (w->is_armed)
			look(s);
	}
	(void)pthread_mutex_unlock(&w->mutex);
	return NULL;
}

int
cnd_od_watch_start(struct cnd_session *s)
{
	struct cnd_od_watch *w = &s->watch;
	pthread_condattr_t attributes;
	int r;

	(void)pthread_mutex_init(&w->mutex, NULL);
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&w->wake, &attributes);
	(void)pthread_condattr_destroy(&attributes);
	r = pthread_create(&w->thread, NULL, run_watch, s);
	if (r != 0) {
		cnc_diag_set(s->diag, CNC_SQLSTATE(RESOURCES),
			"cannot start the thread that watches the driver: %s",
			strerror(r));
		(void)pthread_mutex_destroy(&w->mutex);
		(void)pthread_cond_destroy(&w->wake);
		return CENOTE_ERR_CONN;
	}
	w->is_started = 1;
	return CENOTE_OK;
}

void
cnd_od_watch_stop(struct cnd_session *s)
{
	struct cnd_od_watch *w = &s->watch;

	if (!w->is_started)
		return;
	(void)pthread_mutex_lock(&w->mutex);
	w->is_ending = 1;
	(void)pthread_cond_signal(&w->wake);
	(void)pthread_mutex_unlock(&w->mutex);
	(void)pthread_join(w->thread, NULL);
	(void)pthread_mutex_destroy(&w->mutex);
	(void)pthread_cond_destroy(&w->wake);
	w->is_started = 0;
}

void
cnd_od_call_begin(struct cnd_session *s, SQLHSTMT running)
{
	struct cnd_od_watch *w = &s->watch;

	(void)pthread_mutex_lock(&w->mutex);
	w->running = running;
	w->is_armed = 1;
	w->n_calls++;
	if (w->is_asleep)
		(void)pthread_cond_signal(&w->wake);
	(void)pthread_mutex_unlock(&w->mutex);
}

void
cnd_od_call_end(struct cnd_session *s)
{
	struct cnd_od_watch *w = &s->watch;
	int has_canceller;

	(void)pthread_mutex_lock(&w->mutex);
	w->is_armed = 0;
	has_canceller = w->is_cancelling;
	w->is_cancelling = 0;
	(void)pthread_mutex_unlock(&w->mutex);
	/* a cancelling that is late must not hit what comes next */
	if (has_canceller)
		(void)pthread_join(w->canceller, NULL);
	if (w->is_cut)
		s->is_lost = 1;
}
