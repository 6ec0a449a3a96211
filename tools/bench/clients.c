/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clients of a measurement: one or a crowd in this process, or many processes that start
 * together and report back, each with one client or a crowd. measure.c and report_case.c call it. The
 * state is struct cnb_crew.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

/* A client's report from its process. */
struct report {
	int failed;
	int64_t start_ns, end_ns;
	struct cnb_work work;
	struct cnb_error error;
};

struct member {
	pid_t pid;
	int fd; /* carries the client's reports, and the message to start */
};

struct cnb_crew {
	struct cnb_run run; /* for the single client in this process */
	struct cnb_crowd *crowd; /* or NULL */
	const struct cnb_options *options;
	uint64_t operations;
	uint32_t n_members; /* 0: the single client is in this process */
	struct member members[];
};

/* Open the session of a single client, or those of a crowd of `n_clients`. */
static int
begin(struct cnb_crew *crew, uint32_t n_clients, struct cnb_error *ret_error)
{
	struct cnb_run *run = &crew->run;
	double think_ms = crew->options->think_ms;
	int r;

	if (run->workload->is_crowd) {
		if (think_ms < 0)
			think_ms = run->workload->think_ms;
		return cnb_crowd_begin(run, n_clients, (int64_t)(think_ms * 1e6),
			crew->options->crowd_s > 0, &crew->crowd, ret_error);
	}
	r = run->workload->begin != NULL ? run->workload->begin(run) : 0;
	if (r < 0)
		*ret_error = run->error;
	return r;
}

static void
end(struct cnb_crew *crew)
{
	cnb_run_close(&crew->run);
	cnb_crowd_end(crew->crowd);
}

static void
work_alone(struct cnb_run *run, uint64_t operations, struct report *ret_report)
{
	int64_t cpu_ns, start_ns;
	uint64_t i;

	cpu_ns = cnb_own_cpu_ns();
	ret_report->start_ns = ret_report->end_ns = cnb_now_ns();
	for (i = 0; i < operations; i++) {
		start_ns = ret_report->end_ns;
		if (run->workload->operation(run) < 0) {
			ret_report->failed = 1;
			ret_report->error = run->error;
			break;
		}
		ret_report->end_ns = cnb_now_ns();
		cnb_latency_add(&ret_report->work.latency, ret_report->end_ns - start_ns);
	}
	ret_report->work.cpu_ns = cnb_own_cpu_ns() - cpu_ns;
	ret_report->work.wall_ns = ret_report->end_ns - ret_report->start_ns;
}

static void
work(struct cnb_crew *crew, struct report *ret_report)
{
	memset(ret_report, 0, sizeof(*ret_report));
	if (crew->crowd == NULL) {
		work_alone(&crew->run, crew->operations, ret_report);
		return;
	}
	ret_report->start_ns = cnb_now_ns();
	ret_report->failed = cnb_crowd_work(crew->crowd, crew->operations,
				     (int64_t)(crew->options->crowd_s * 1e9),
				     &ret_report->work, &ret_report->error) < 0;
	ret_report->end_ns = cnb_now_ns();
}

/* --------------------------------------------------------- a process of its own -- */

static int
send_all(int fd, const void *bytes, size_t len)
{
	ssize_t n;

	do
		n = send(fd, bytes, len, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)len ? 0 : -1;
}

/* The sockets keep messages apart: a message arrives complete or not at all. */
static int
receive(int fd, void *bytes, size_t len)
{
	ssize_t n;

	do
		n = recv(fd, bytes, len, 0);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)len ? 0 : -1;
}

static void
be_client(int fd, struct cnb_crew *crew, uint32_t n_clients)
{
	struct report report = { 0 };
	char go;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	report.failed = begin(crew, n_clients, &report.error) < 0;
	if (send_all(fd, &report, sizeof(report)) < 0 || report.failed ||
		receive(fd, &go, 1) < 0)
		return;
	work(crew, &report);
	(void)send_all(fd, &report, sizeof(report));
	/* Keep the session until the end, so that no measurement includes closing it. */
	(void)receive(fd, &go, 1);
	end(crew);
}

static int
start_member(struct cnb_crew *crew, struct member *m, uint32_t n_clients)
{
	int fds[2];
	uint32_t i;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -1;
	m->pid = fork();
	if (m->pid == 0) {
		for (i = 0; i < crew->n_members; i++)
			close(crew->members[i].fd);
		close(fds[0]);
		crew->n_members = 0;
		be_client(fds[1], crew, n_clients);
		_exit(0);
	}
	close(fds[1]);
	if (m->pid < 0) {
		close(fds[0]);
		return -1;
	}
	m->fd = fds[0];
	return 0;
}

static int
take_report(struct member *m, struct report *ret_report, struct cnb_error *ret_error)
{
	if (receive(m->fd, ret_report, sizeof(*ret_report)) < 0) {
		snprintf(ret_error->text, sizeof(ret_error->text),
			"client process %ld ended early", (long)m->pid);
		return -1;
	}
	if (ret_report->failed) {
		*ret_error = ret_report->error;
		return -1;
	}
	return 0;
}

static int
start_members(struct cnb_crew *crew, uint32_t n_clients, uint32_t n_processes,
	struct cnb_error *ret_error)
{
	struct report report;
	uint32_t i, from;

	for (i = 0; i < n_processes; i++) {
		from = (uint32_t)((uint64_t)n_clients * i / n_processes);
		crew->run.number = from;
		if (start_member(crew, &crew->members[i],
			    (uint32_t)((uint64_t)n_clients * (i + 1) / n_processes) -
				    from) < 0) {
			snprintf(ret_error->text, sizeof(ret_error->text),
				"cannot start client %u: %s", i + 1, strerror(errno));
			return -1;
		}
		crew->n_members++;
	}
	for (i = 0; i < n_processes; i++) {
		if (take_report(&crew->members[i], &report, ret_error) < 0)
			return -1;
	}
	return 0;
}

static int
work_members(
	struct cnb_crew *crew, struct cnb_work *ret_work, struct cnb_error *ret_error)
{
	int64_t start_ns = INT64_MAX, end_ns = 0;
	struct report report;
	uint32_t i;

	memset(ret_work, 0, sizeof(*ret_work));
	for (i = 0; i < crew->n_members; i++)
		(void)send_all(crew->members[i].fd, "", 1);
	for (i = 0; i < crew->n_members; i++) {
		if (take_report(&crew->members[i], &report, ret_error) < 0)
			return -1;
		if (report.start_ns < start_ns)
			start_ns = report.start_ns;
		if (report.end_ns > end_ns)
			end_ns = report.end_ns;
		ret_work->cpu_ns += report.work.cpu_ns;
		ret_work->n_operations += report.work.n_operations;
		ret_work->measured_ns = report.work.measured_ns;
		ret_work->n_refused += report.work.n_refused;
		if (report.work.n_refused > 0)
			ret_work->refusal = report.work.refusal;
		cnb_latency_merge(&ret_work->latency, &report.work.latency);
	}
	ret_work->wall_ns = end_ns - start_ns;
	return 0;
}

/* -------------------------------------------------------------------- the crew -- */

int
cnb_crew_begin(const struct cnb_run *pattern, const struct cnb_options *options,
	uint64_t operations, struct cnb_crew **ret_crew, struct cnb_error *ret_error)
{
	uint32_t n_clients = options->clients, n_processes;
	struct cnb_crew *crew;
	int r;

	n_processes = pattern->workload->is_crowd ? options->processes : n_clients;
	if (n_processes > n_clients)
		n_processes = n_clients;
	crew = calloc(1, sizeof(*crew) + n_processes * sizeof(crew->members[0]));
	if (crew == NULL) {
		snprintf(ret_error->text, sizeof(ret_error->text), "out of memory");
		return -1;
	}
	crew->run = *pattern;
	crew->run.script.random = 1;
	crew->options = options;
	crew->operations = operations;
	if (n_processes > 1)
		r = start_members(crew, n_clients, n_processes, ret_error);
	else
		r = begin(crew, n_clients, ret_error);
	if (r < 0) {
		cnb_crew_end(crew);
		return -1;
	}
	*ret_crew = crew;
	return 0;
}

int
cnb_crew_work(
	struct cnb_crew *crew, struct cnb_work *ret_work, struct cnb_error *ret_error)
{
	struct report report;

	if (crew->n_members > 0)
		return work_members(crew, ret_work, ret_error);
	work(crew, &report);
	if (report.failed) {
		*ret_error = report.error;
		return -1;
	}
	*ret_work = report.work;
	return 0;
}

void
cnb_crew_end(struct cnb_crew *crew)
{
	uint32_t i;

	if (crew == NULL)
		return;
	for (i = 0; i < crew->n_members; i++)
		close(crew->members[i].fd);
	for (i = 0; i < crew->n_members; i++) {
		while (waitpid(crew->members[i].pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	end(crew);
	free(crew);
}
