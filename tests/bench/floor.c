/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * The floor under the figures of cenote-bench on a machine: the system calls of a client and of a
 * worker on their fast path, with nothing behind them, and with a process that does those of a
 * PostgreSQL server. All on one CPU; microseconds of CPU of all processes per operation, best and
 * median of the rounds.
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
/* From a worker to PostgreSQL, and back. */
#define SERVER_BYTES   14
#define SERVED_BYTES   66

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
	struct pollfd p = { fd, POLLIN, 0 };
	char bytes[512] = { 0 };

	need(send(fd, bytes, request, MSG_NOSIGNAL) == (ssize_t)request, "send");
	need(poll(&p, 1, -1) == 1, "poll");
	need(recv(fd, bytes, answer, MSG_DONTWAIT) == (ssize_t)answer, "recv");
}

/* Wait as a worker does: it has its server to look at, too. */
static int
take(int fd, int other)
{
	struct pollfd p[2] = { { fd, POLLIN, 0 }, { other, POLLRDHUP, 0 } };
	struct timespec limit = { 60, 0 };
	char bytes[512];

	need(ppoll(p, 2, &limit, NULL) == 1, "ppoll");
	return recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0 ? 0 : -1;
}

static int
give(int fd, size_t size)
{
	char bytes[512] = { 0 };

	return send(fd, bytes, size, MSG_NOSIGNAL) == (ssize_t)size ? 0 : -1;
}

/* One request: taken, carried out by the server if there is one, answered. */
static int
answer(int fd, int server)
{
	if (take(fd, server) < 0)
		return -1;
	if (server >= 0)
		need(give(server, SERVER_BYTES) == 0 && take(server, fd) == 0, "server");
	return give(fd, ANSWER_BYTES);
}

/* The opening has mostly come when its client is taken. */
static int
answer_attach(int fd, int server)
{
	char bytes[512];

	if (recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) <= 0 && take(fd, server) < 0)
		return -1;
	return give(fd, ATTACHED_BYTES);
}

/* The next client, who may be there already. */
static int
take_client(int listener, int ep)
{
	struct epoll_event event;
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) < 0) {
		need(errno == EAGAIN, "accept4");
		need(epoll_pwait(ep, &event, 1, -1, NULL) == 1, "epoll_pwait");
	}
	return fd;
}

/* As PostgreSQL does: it looks for more before it waits. */
static void
be_server(int fd)
{
	struct epoll_event event = { .events = EPOLLIN };
	char bytes[512];
	int ep;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ep = epoll_create1(EPOLL_CLOEXEC);
	need(ep >= 0 && epoll_ctl(ep, EPOLL_CTL_ADD, fd, &event) == 0, "epoll");
	for (;;) {
		need(epoll_wait(ep, &event, 1, -1) == 1, "epoll_wait");
		while (recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
			need(give(fd, SERVED_BYTES) == 0, "send");
	}
}

static void
be_worker(int listener, int server)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLEXCLUSIVE };
	int ep, fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ep = epoll_create1(EPOLL_CLOEXEC);
	need(ep >= 0 && epoll_ctl(ep, EPOLL_CTL_ADD, listener, &event) == 0, "epoll");
	for (;;) {
		struct ucred peer;
		socklen_t len = sizeof(peer);

		fd = take_client(listener, ep);
		need(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0, "peer");
		if (answer_attach(fd, server) == 0) {
			while (answer(fd, server) == 0)
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

/* The processes that work; 0: there is no server. */
struct crew {
	pid_t worker, server;
};

static int64_t
all_cpu_ns(const struct crew *crew)
{
	return cpu_ns(getpid()) + cpu_ns(crew->worker) +
	       (crew->server > 0 ? cpu_ns(crew->server) : 0);
}

static void
measure(const struct sockaddr_un *address, const struct crew *crew, int is_held,
	const char *what)
{
	double us[ROUNDS];
	int round, i, fd = is_held ? attach(address) : -1;

	for (round = 0; round < ROUNDS; round++) {
		int64_t start = all_cpu_ns(crew), end;

		for (i = 0; i < OPERATIONS; i++) {
			if (!is_held)
				fd = attach(address);
			exchange(fd, QUERY_BYTES, ANSWER_BYTES);
			if (!is_held)
				close(fd);
		}
		usleep(2000);
		end = all_cpu_ns(crew);
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

static void
start(struct crew *crew, int listener, int with_server)
{
	int fds[2] = { -1, -1 };

	*crew = (struct crew){ 0, 0 };
	if (with_server) {
		need(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0,
			"socketpair");
		crew->server = fork();
		need(crew->server >= 0, "fork");
		if (crew->server == 0)
			be_server(fds[1]);
		close(fds[1]);
	}
	crew->worker = fork();
	need(crew->worker >= 0, "fork");
	if (crew->worker == 0)
		be_worker(listener, fds[0]);
	if (with_server)
		close(fds[0]);
}

static void
stop(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void
measure_both(const struct sockaddr_un *address, int listener, int with_server)
{
	struct crew crew;

	start(&crew, listener, with_server);
	puts(with_server ? "with a server behind the worker" : "client and worker");
	measure(address, &crew, 0, "  connect + request + disconnect");
	measure(address, &crew, 1, "  request on a held connection");
	stop(crew.worker);
	stop(crew.server);
}

int
main(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char dir[] = "/tmp/cenote-floor.XXXXXX";
	int listener;

	pin();
	need(mkdtemp(dir) != NULL, dir);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", dir);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	need(listener >= 0 &&
			bind(listener, (struct sockaddr *)&address, sizeof(address)) ==
				0 &&
			listen(listener, 64) == 0,
		address.sun_path);
	measure_both(&address, listener, 0);
	measure_both(&address, listener, 1);
	unlink(address.sun_path);
	rmdir(dir);
	return 0;
}
