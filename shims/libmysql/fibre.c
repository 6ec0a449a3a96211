/* SPDX-License-Identifier: BSD-2-Clause */
#include "fibre.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

/*
 * The operations of non-blocking functions on a session's fibre. wait.c leaves the fibre where its
 * operation would wait; the program's next call enters it again.
 */

/* The original suggests 60 kB; the shim's stack frames need more. */
#define STACK_SIZE ((size_t)256 * 1024)

static void
run(void *user)
{
	struct cmy_fibre *f = user;

	f->run(f);
}

struct cmy_fibre *
cmy_fibre_new(size_t size)
{
	struct cmy_fibre *f = calloc(1, sizeof(*f));

	if (f && cnc_fibre_init(
			 &f->fibre, size < STACK_SIZE ? STACK_SIZE : size, run, f) == 0)
		return f;
	free(f);
	return NULL;
}

void
cmy_fibre_free(struct cmy_fibre *f)
{
	if (f)
		cnc_fibre_finish(&f->fibre);
	free(f);
}

int
cmy_is_in_fibre(const struct cmy_session *s)
{
	return s->fibre && s->fibre->fibre.is_inside;
}

int
cmy_fibre_yield(struct cmy_fibre *f, short events, int timeout_ms)
{
	if (f->is_cancelled)
		return -1;
	f->wants = (events & POLLIN ? MYSQL_WAIT_READ : 0) |
		   (events & POLLOUT ? MYSQL_WAIT_WRITE : 0) |
		   (timeout_ms >= 0 ? MYSQL_WAIT_TIMEOUT : 0);
	f->timeout_ms = timeout_ms > 0 ? (unsigned)timeout_ms : 0;
	cnc_fibre_leave(&f->fibre);
	if (f->is_cancelled)
		return -1;
	return (f->ready & ~MYSQL_WAIT_TIMEOUT) != 0 || !(f->ready & MYSQL_WAIT_TIMEOUT);
}

int
cmy_fibre_resume(struct cmy_fibre *f, int ready, void *ret, size_t size)
{
	f->ready = ready;
	cnc_fibre_enter(&f->fibre);
	f->is_suspended = !f->fibre.is_over;
	if (f->is_suspended)
		return f->wants;
	f->timeout_ms = 0;
	if (ret)
		memcpy(ret, f->ret, size);
	return 0;
}

void
cmy_fibre_cancel(struct cmy_session *s)
{
	struct cmy_fibre *f = s->fibre;

	if (!f || !f->is_suspended)
		return;
	f->is_cancelled = 1;
	while (cmy_fibre_resume(f, 0, NULL, 0) != 0)
		;
	f->is_cancelled = 0;
}
