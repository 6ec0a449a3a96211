/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cancelling. ODBC's functions block, and no driver that Debian has runs them asynchronously; but
 * SQLCancel() may be called from another thread while one runs. So each session has a thread that looks whether a
 * function of the driver goes on, asks the host then whether to stop, and cancels it.
 *
 * SQLCancel() itself may block (MariaDB's driver opens a connection for it), so it runs in a thread of its own. A
 * server that neither obeys nor ends within OBEY_MS has the driver's sockets shut down: the driver's function
 * then fails, and the session is lost. A driver that hangs without a server ends with its worker.
 */
#include <errno.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "odbc.h"

#define OBEY_MS 10000

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
	w->obey_until_ms = cnd_clock_ms() + (w->is_login ? 0 : OBEY_MS);
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
		w->die_at_ms = cnd_clock_ms() + OBEY_MS;
		if (!w->is_login)
			s->host->log(s->host, LOG_WARNING,
				"the server did not stop a statement: its connection is "
				"closed");
	}
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

static void
look(void *user)
{
	struct cnd_session *s = user;
	struct cnd_od_watch *w = &s->watch;

	if (s->stop == 0 && s->diag) {
		s->stop = s->host->interrupted(s->host, s->diag);
		if (s->stop < 0)
			cancel(s);
		else
			s->stop = 0;
	}
	if (s->stop < 0 && cnd_clock_ms() >= w->obey_until_ms)
		cut(s);
	if (w->is_cut && cnd_clock_ms() >= w->die_at_ms)
		die(s);
}

int
cnd_od_watch_start(struct cnd_session *s)
{
	int r = cnd_watch_start(&s->watch.thread, look, s);

	if (r == 0)
		return CENOTE_OK;
	cnc_diag_set(s->diag, CNC_SQLSTATE(RESOURCES),
		"cannot start the thread that watches the driver: %s", strerror(r));
	return CENOTE_ERR_CONN;
}

void
cnd_od_call_begin(struct cnd_session *s, SQLHSTMT running)
{
	s->watch.running = running;
	cnd_watch_begin(&s->watch.thread);
}

void
cnd_od_call_end(struct cnd_session *s)
{
	struct cnd_od_watch *w = &s->watch;

	cnd_watch_end(&w->thread);
	/* a cancelling that is late must not hit what comes next */
	if (w->is_cancelling)
		(void)pthread_join(w->canceller, NULL);
	w->is_cancelling = 0;
	if (w->is_cut)
		s->is_lost = 1;
}
