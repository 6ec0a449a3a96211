/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Oracle's library waits for the answer to a prepared statement and to a reset without calling any hook. During
 * that wait, a thread asks the host whether to stop, and stops the statement from a second connection. The session
 * and host belong to the thread while it looks, and otherwise to the caller: the two never run at the same time.
 */
#include <sys/eventfd.h>
#include <unistd.h>

#include "my.h"

static void
look(void *user)
{
	struct cnd_session *s = user;

	cnd_my_look(s, s->wait.done_fd);
	mysql_thread_end();
}

static int
start(struct cnd_session *s)
{
	s->wait.done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->wait.done_fd < 0)
		return CENOTE_ERR_NOMEM;
	if (cnd_watch_start(&s->wait.watch, look, s) == 0)
		return CENOTE_OK;
	(void)close(s->wait.done_fd);
	return CENOTE_ERR_NOMEM;
}

int
cnd_my_watch_begin(struct cnd_session *s)
{
	int r = CENOTE_OK;

	if (s->wait.is_hooked || !s->host->wait)
		return CENOTE_OK;
	if (!s->wait.watch.is_started)
		r = start(s);
	if (r == CENOTE_OK)
		cnd_watch_begin(&s->wait.watch);
	return r;
}

void
cnd_my_watch_end(struct cnd_session *s)
{
	eventfd_t n;

	if (!s->wait.watch.is_started)
		return;
	/* the thread has the lock while it looks */
	(void)eventfd_write(s->wait.done_fd, 1);
	cnd_watch_end(&s->wait.watch);
	(void)eventfd_read(s->wait.done_fd, &n);
}

void
cnd_my_watch_free(struct cnd_session *s)
{
	if (!s->wait.watch.is_started)
		return;
	cnd_watch_stop(&s->wait.watch);
	(void)close(s->wait.done_fd);
}
