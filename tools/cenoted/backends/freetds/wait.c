/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ct-library waits by itself. It does not tell what it waits for, and lets its caller look only
 * once a second. So we wait on the socket ourselves for the first byte of an answer. From then on
 * the server rarely pauses, and a look once a second is good enough.
 */
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "../common/watch.h"
#include "tds.h"

/* How long the server may take to obey a stop. Some servers read it only after the statement. */
#define OBEY_MS 3000
/* How long the server may take to undo a statement that was stopped. */
#define DEAF_MS 30000

/* ---- the connection's descriptor, which ct-library does not tell ---- */

static int
is_tcp(int fd)
{
	struct sockaddr_storage peer = { .ss_family = AF_UNSPEC };
	socklen_t len = sizeof(peer);

	return getpeername(fd, (struct sockaddr *)&peer, &len) == 0 &&
	       (peer.ss_family == AF_INET || peer.ss_family == AF_INET6);
}

void
cnd_tds_note_fds(struct cnd_tds_fds *fds)
{
	for (unsigned fd = 0; fd < CND_TDS_FDS_MAX; fd++)
		fds->is_open[fd] = fcntl((int)fd, F_GETFD) >= 0;
}

int
cnd_tds_find_fd(const struct cnd_tds_fds *before)
{
	for (unsigned fd = 0; fd < CND_TDS_FDS_MAX; fd++) {
		if (!before->is_open[fd] && is_tcp((int)fd))
			return (int)fd;
	}
	return -1;
}

/* ---- waiting ---- */

void
cnd_tds_aside_begin(struct cnd_session *s, struct cnd_tds_aside *a, int is_deaf)
{
	a->diag = s->diag;
	a->sink = s->sink;
	cnc_diag_init(&a->own, NULL);
	s->diag = &a->own;
	s->sink = NULL;
	s->stop = 0;
	s->is_stopping = 0;
	s->deaf_until_ms = is_deaf ? cnd_clock_ms() + DEAF_MS : 0;
}

void
cnd_tds_aside_end(struct cnd_session *s, struct cnd_tds_aside *a)
{
	s->diag = a->diag;
	s->sink = a->sink;
	s->deaf_until_ms = 0;
	cnc_diag_finish(&a->own);
}

/* Close the connection if the server does not stop in time. */
static void
cut(void *user)
{
	struct cnd_session *s = user;

	if (cnd_clock_ms() >= s->obey_until_ms && s->fd >= 0)
		(void)shutdown(s->fd, SHUT_RDWR);
}

/* Cancel, and wait for the server's answer. The server may send without end before its answer, and
 * the library does not return then. */
static void
cancel_all(struct cnd_session *s)
{
	struct cnd_watch guard;
	int is_guarded = cnd_watch_start(&guard, cut, s) == 0;

	if (is_guarded)
		cnd_watch_begin(&guard);
	(void)ct_cancel(NULL, s->cmd, CS_CANCEL_ALL);
	if (is_guarded)
		cnd_watch_end(&guard);
	cnd_watch_stop(&guard);
}

static void
begin_to_stop(struct cnd_session *s, CS_INT how)
{
	if (s->is_stopping || !s->cmd)
		return;
	s->is_stopping = 1;
	s->obey_until_ms = cnd_clock_ms() + OBEY_MS;
	if (how == CS_CANCEL_ALL)
		cancel_all(s);
	else
		(void)ct_cancel(NULL, s->cmd, how);
}

int
cnd_tds_await(struct cnd_session *s)
{
	int ms = s->opt.timeout > 0 ? (int)s->opt.timeout * 1000 : -1;
	int r;

	s->silent_since_ms = cnd_clock_ms();
	if (s->fd < 0 || s->deaf_until_ms)
		return CENOTE_OK;
	r = s->host->wait(s->host, s->fd, POLLIN, ms, s->diag);
	if (r > 0)
		return CENOTE_OK;
	if (r < 0) {
		s->stop = r;
		begin_to_stop(s, CS_CANCEL_ALL);
	} else {
		s->is_silent = 1;
		s->is_lost = 1;
	}
	return cnd_tds_failed(s);
}

int
cnd_tds_interrupted(struct cnd_session *s)
{
	int r;

	if (s->stop < 0)
		return s->stop;
	if (s->deaf_until_ms) {
		if (cnd_clock_ms() < s->deaf_until_ms)
			return CENOTE_OK;
		s->is_lost = 1;
		return cnd_tds_failed(s);
	}
	r = s->host->interrupted(s->host, s->diag);
	if (r >= 0)
		return CENOTE_OK;
	s->stop = r;
	begin_to_stop(s, CS_CANCEL_ALL);
	return cnd_tds_failed(s);
}

void
cnd_tds_on_message(struct cnd_session *s)
{
	int r;

	if (s->is_logging_in || !s->cmd || s->deaf_until_ms)
		return;
	if (s->is_stopping) {
		cut(s);
		return;
	}
	r = s->stop < 0 ? s->stop : s->host->interrupted(s->host, s->diag);
	if (r >= 0)
		return;
	s->stop = r;
	begin_to_stop(s, CS_CANCEL_ATTN);
}

static int
is_too_silent(struct cnd_session *s)
{
	return s->opt.timeout > 0 &&
	       cnd_clock_ms() - s->silent_since_ms > (int64_t)s->opt.timeout * 1000;
}

CS_RETCODE
cnd_tds_on_silence(struct cnd_session *s)
{
	int r;

	if (s->is_logging_in)
		return CS_FAIL;
	if (s->deaf_until_ms)
		return cnd_clock_ms() < s->deaf_until_ms ? CS_SUCCEED : CS_FAIL;
	if (s->stop == 0) {
		r = s->host->interrupted(s->host, s->diag);
		s->stop = r < 0 ? r : 0;
		if (s->stop < 0)
			begin_to_stop(s, CS_CANCEL_ATTN);
	}
	if (s->is_stopping)
		return cnd_clock_ms() < s->obey_until_ms ? CS_SUCCEED : CS_FAIL;
	s->is_silent = (uint8_t)is_too_silent(s);
	return s->is_silent || s->stop < 0 ? CS_FAIL : CS_SUCCEED;
}
