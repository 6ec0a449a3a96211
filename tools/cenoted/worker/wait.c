/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a worker waits. Signals are blocked at all times except while waiting, so nothing is
 * interrupted half-way. The only signals are SIGTERM, and the master's SIGUSR1, after which the
 * worker reads its order on the scoreboard. All files of the worker call this one.
 */
#include "worker.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "loop.h"
#include "shared/log.h"

static volatile sig_atomic_t is_terminated;

static void
on_signal(int number)
{
	if (number == SIGTERM)
		is_terminated = 1;
}

void
cnd_worker_set_signals(sigset_t *ret_waiting_mask)
{
	struct sigaction act = { .sa_handler = on_signal };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGUSR1);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigemptyset(ret_waiting_mask);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGUSR1, &act, NULL);
	/* a terminal sends these to every process; the worker acts on the master's orders only */
	sigaction(SIGINT, &ignore, NULL);
	sigaction(SIGHUP, &ignore, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}

bool
cnd_worker_is_terminated(void)
{
	return is_terminated != 0;
}

uint32_t
cnd_worker_order(const struct cnd_worker *w)
{
	uint32_t order = atomic_load_explicit(
		&cnd_slot_head(w->board, w->slot_index)->order, memory_order_relaxed);

	if (order == CND_ORDER_KILL)
		return cnd_worker_is_killed(w) ? CND_ORDER_NOW : CND_ORDER_RELOAD;
	return order == CND_ORDER_NONE && is_terminated ? CND_ORDER_RELOAD : order;
}

bool
cnd_worker_is_killed(const struct cnd_worker *w)
{
	const struct cnd_slot_head *head = cnd_slot_head(w->board, w->slot_index);

	return head->order == CND_ORDER_KILL &&
	       head->kill_generation == w->slot->generation;
}

const char *
cnd_worker_why_now(const struct cnd_worker *w)
{
	return cnd_worker_is_killed(w) ? "an administrator ended the session"
				       : "cenoted is ending";
}

void
cnd_worker_watch(struct cnd_worker *w, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (w->seat != NULL)
		cnd_seat_watch(w->seat, fd);
	else if (epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		cnd_fatal("epoll: %s", strerror(errno));
}

void
cnd_worker_unwatch(struct cnd_worker *w, int fd)
{
	if (w->seat != NULL)
		cnd_seat_unwatch(w->seat, fd);
	else
		(void)epoll_ctl(w->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

int
cnd_worker_poll(struct cnd_worker *w, struct pollfd *fds, nfds_t n, int64_t until_ms)
{
	struct timespec left = { 0, 0 };
	int r;

	if (w->seat != NULL)
		return cnd_seat_poll(w->seat, fds, n, until_ms);
	if (until_ms != CND_NEVER) {
		int64_t ms = until_ms - cnd_now_ms();

		if (ms < 0)
			ms = 0;
		left.tv_sec = (time_t)(ms / 1000);
		left.tv_nsec = (long)(ms % 1000) * 1000000;
	}
	r = ppoll(fds, n, until_ms != CND_NEVER ? &left : NULL, &w->waiting_mask);
	if (r > 0)
		return r;
	for (nfds_t i = 0; i < n; i++)
		fds[i].revents = 0;
	return 0;
}

int
cnd_worker_wait(struct cnd_worker *w, int fd, int events, int64_t until_ms)
{
	struct pollfd poll = { .fd = fd, .events = (short)events };

	cnd_worker_poll(w, &poll, fd >= 0, until_ms);
	return poll.revents;
}
