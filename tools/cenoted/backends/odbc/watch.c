/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cancelling. ODBC's functions block, and no driver that Debian has runs them asynchronously. But another
 * thread may call SQLCancel() while one runs. So each session has a thread that watches the driver's
 * functions. While one runs, the thread asks the host whether to stop, and if so cancels it.
 *
 * SQLCancel() itself may block (MariaDB's driver opens a connection for it), so it runs in a thread of its
 * own. If the server neither obeys nor ends within OBEY_MS, the thread shuts the driver's sockets down. The
 * driver's function then fails, and the session is lost. If the driver's function still does not return, the
 * worker ends.
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

	/* a login has no statement to stop, and driver_connect() has already listed the sockets */
	w->obey_until_ms = cnd_clock_ms() + (w->is_login ? 0 : OBEY_MS);
	if (!w->is_login)
		cnd_od_sockets_list(&w->before);
	if (w->running)
		w->is_cancelling =
			pthread_create(&w->canceller, NULL, run_canceller, s) == 0;
}

/* Shut down the driver's sockets from the login, and those that it opened since the cancelling began. */
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

/* The driver does not return even now, so the worker would hang for ever. It ends, and the master starts
 * another one. */
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
	/* a late SQLCancel() must not hit the next statement */
	if (w->is_cancelling)
		(void)pthread_join(w->canceller, NULL);
	w->is_cancelling = 0;
	if (w->is_cut)
		s->is_lost = 1;
}
