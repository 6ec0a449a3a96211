/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ctrl-C, and waiting that Ctrl-C can end. Every file that waits calls it. The state is a flag that
 * the signal handler sets.
 */
#include "interrupt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t is_pending;

static void
handle_interrupt(int signo)
{
	(void)signo;
	is_pending = 1;
}

static void
handle_nothing(int signo)
{
	(void)signo;
}

void
interrupt_init(void)
{
	struct sigaction action = { .sa_handler = handle_interrupt };

	(void)sigaction(SIGINT, &action, NULL);
	/* A handler, not SIG_IGN: programs that we start get the default again. */
	action.sa_handler = handle_nothing;
	(void)sigaction(SIGPIPE, &action, NULL);
}

int
interrupt_is_pending(void)
{
	return is_pending;
}

void
interrupt_clear(void)
{
	is_pending = 0;
}

static int
wait_for(struct pollfd *fds, nfds_t n_fds, int timeout_ms)
{
	struct timespec limit = { timeout_ms / 1000, timeout_ms % 1000 * 1000000L };
	sigset_t block, before;
	int n = -1;

	(void)sigemptyset(&block);
	(void)sigaddset(&block, SIGINT);
	(void)sigprocmask(SIG_BLOCK, &block, &before);
	if (!is_pending)
		n = ppoll(fds, n_fds, timeout_ms < 0 ? NULL : &limit, &before);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	if (is_pending)
		return -1;
	/* Another signal came, such as a change of the window's size. The caller checks again, as
	 * after a timeout. */
	return n > 0 ? 1 : 0;
}

int
interrupt_wait(int fd, short events, int timeout_ms)
{
	struct pollfd pfd = { .fd = fd, .events = events };

	return wait_for(&pfd, 1, timeout_ms);
}

int
interrupt_wait_both(int fd, int second, int *ret_second)
{
	struct pollfd fds[2] = { { .fd = fd, .events = POLLIN },
		{ .fd = second, .events = POLLIN } };
	int r = wait_for(fds, 2, -1);

	*ret_second = r > 0 && fds[1].revents != 0;
	return r > 0 ? fds[0].revents != 0 || *ret_second : r;
}

_Noreturn void
interrupt_die(int signo)
{
	(void)signal(signo, SIG_DFL);
	(void)raise(signo);
	_exit(128 + signo);
}
