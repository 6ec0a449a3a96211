/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cancel the running request, through libpq. stream.c calls this file.
 */
#include <fcntl.h>
#include <libpq-fe.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "session.h"

/*
 * A cancel needs its own connection, on which libpq waits without a limit. So a thread sends the
 * cancel. The thread owns this struct, and is left behind if the server does not answer.
 */
struct cancel_job {
	PGcancel *cancel;
	int done_fd;
};

static void *
run_cancel(void *user)
{
	struct cancel_job *job = user;
	char why[256];
	uint64_t one = 1;

	(void)PQcancel(job->cancel, why, sizeof(why));
	PQfreeCancel(job->cancel);
	(void)!write(job->done_fd, &one, sizeof(one));
	(void)close(job->done_fd);
	free(job);
	return NULL;
}

/* Returns a descriptor that becomes readable when the cancel is done; -1: failed. */
static int
start_cancel(struct cnd_session *s)
{
	struct cancel_job *job = calloc(1, sizeof(*job));
	pthread_t thread;
	int fd = eventfd(0, EFD_CLOEXEC);

	if (job == NULL || fd < 0)
		goto fail;
	job->cancel = PQgetCancel(s->conn);
	job->done_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (job->cancel == NULL || job->done_fd < 0 ||
		pthread_create(&thread, NULL, run_cancel, job) != 0) {
		if (job->done_fd >= 0)
			(void)close(job->done_fd);
		PQfreeCancel(job->cancel);
		goto fail;
	}
	(void)pthread_detach(thread);
	return fd;
fail:
	free(job);
	if (fd >= 0)
		(void)close(fd);
	return -1;
}

/* Wait for the end of the cancel, which could otherwise hit the next request. */
int
cnd_pg_cancel(struct cnd_session *s, int timeout_ms)
{
	int fd = start_cancel(s);
	int events;

	if (fd < 0) {
		s->host->log(s->host, 5, "cannot cancel at %s", s->server);
		return CENOTE_ERR_CONN;
	}
	events = s->host->pause(s->host, fd, POLLIN, timeout_ms);
	(void)close(fd);
	return events == 0 ? CENOTE_ERR_TIMEOUT : CENOTE_OK;
}
