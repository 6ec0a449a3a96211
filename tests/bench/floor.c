/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * The floor under the figures of cenote-bench on a machine: the system calls of a client and of a
 * worker on their fast path, with nothing behind them. Two processes on one CPU; microseconds of
 * CPU of both per operation, best and median of the rounds.
 *
 *   floor        both ways
 */

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS         21
#define OPERATIONS     4000
/* Sizes as on the wire: opening and attach; hello, attached, ready; query; its answer. */
#define ATTACH_BYTES   160
#define ATTACHED_BYTES 200
#define QUERY_BYTES    48
#define ANSWER_BYTES   160

static void
need(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t
cpu_ns(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	need(clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &t) == 0,
		"CPU clock");
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void
exchange(int fd, size_t request, size_t answer)
{
	char bytes[512] = { 0 };

	need(send(fd, bytes, request, MSG_NOSIGNAL) == (ssize_t)request, "send");
	need(recv(fd, bytes, answer, 0) == (ssize_t)answer, "recv");
}

/* One request: wait as a worker does (it has more to look at than this socket), take, answer. */
static int
answer(int fd, size_t size)
{
	struct pollfd p = { fd, POLLIN, 0 };
	struct timespec limit = { 60, 0 };
	char bytes[512] = { 0 };

	need(ppoll(&p, 1, &limit, NULL) == 1, "ppoll");
	if (recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) <= 0)
		return -1;
	return send(fd, bytes, size, MSG_NOSIGNAL) == (ssize_t)size ? 0 : -1;
}

static void
be_worker(int listener)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLEXCLUSIVE };
	int ep, fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ep = epoll_create1(EPOLL_CLOEXEC);
	need(ep >= 0 && epoll_ctl(ep, EPOLL_CTL_ADD, listener, &event) == 0, "epoll");
	for (;;) {
		struct ucred peer;
		socklen_t len = sizeof(peer);

		need(epoll_pwait(ep, &event, 1, -1, NULL) == 1, "epoll_pwait");
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		need(fd >= 0, "accept4");
		need(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0, "peer");
		if (answer(fd, ATTACHED_BYTES) == 0) {
			while (answer(fd, ANSWER_BYTES) == 0)
				;
		}
		close(fd);
	}
}

static int
attach(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	need(fd >= 0, "socket");
	need(connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0,
		"connect");
	exchange(fd, ATTACH_BYTES, ATTACHED_BYTES);
	return fd;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
report(const char *what, double *us)
{
	qsort(us, ROUNDS, sizeof(*us), compare);
	printf("%-32s median %6.2f  best %6.2f\n", what, us[ROUNDS / 2], us[0]);
}

static void
measure(const struct sockaddr_un *address, pid_t worker, int is_held, const char *what)
{
	double us[ROUNDS];
	int round, i, fd = is_held ? attach(address) : -1;

	for (round = 0; round < ROUNDS; round++) {
		int64_t start = cpu_ns(getpid()) + cpu_ns(worker), end;

		for (i = 0; i < OPERATIONS; i++) {
			if (!is_held)
				fd = attach(address);
			exchange(fd, QUERY_BYTES, ANSWER_BYTES);
			if (!is_held)
				close(fd);
		}
		usleep(2000);
		end = cpu_ns(getpid()) + cpu_ns(worker);
		us[round] = (double)(end - start) / OPERATIONS / 1e3;
	}
	if (is_held)
		close(fd);
	report(what, us);
}

static void
pin(void)
{
	cpu_set_t set;
	int i, last = 0;

	need(sched_getaffinity(0, sizeof(set), &set) == 0, "sched_getaffinity");
	for (i = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &set))
			last = i;
	}
	CPU_ZERO(&set);
	CPU_SET(last, &set);
	need(sched_setaffinity(0, sizeof(set), &set) == 0, "sched_setaffinity");
}

int
main(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char dir[] = "/tmp/cenote-floor.XXXXXX";
	int listener;
	pid_t worker;

	pin();
	need(mkdtemp(dir) != NULL, dir);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", dir);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	need(listener >= 0 &&
			bind(listener, (struct sockaddr *)&address, sizeof(address)) ==
				0 &&
			listen(listener, 64) == 0,
		address.sun_path);
	worker = fork();
	need(worker >= 0, "fork");
	if (worker == 0)
		be_worker(listener);
	measure(&address, worker, 0, "connect + request + disconnect");
	measure(&address, worker, 1, "request on a held connection");
	kill(worker, SIGKILL);
	waitpid(worker, NULL, 0);
	unlink(address.sun_path);
	rmdir(dir);
	return 0;
}
