/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Linux only (/proc and CPU affinity). Processes, their CPU time, and binding them to a CPU.
 * measure.c and main.c call it. It has no state.
 */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

static int64_t
to_ns(const struct timespec *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

int64_t
cnb_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return to_ns(&t);
}

int64_t
cnb_own_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return to_ns(&t);
}

/* ---------------------------------------------------------------- processes ----- */

struct parentage {
	pid_t pid, parent;
	int is_ours;
};

/* Read /proc/PID/stat from its third field on. The second field is a name that may contain anything,
 * even ") R 1". NULL: there is no such process. */
static const char *
read_stat(long pid, char *text, size_t size)
{
	char path[40], *p;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	f = fopen(path, "re");
	if (f == NULL)
		return NULL;
	n = fread(text, 1, size - 1, f);
	fclose(f);
	text[n] = '\0';
	p = strrchr(text, ')');
	return p != NULL && strlen(p) > 2 ? p + 2 : NULL;
}

/* The parent of a process; 0: there is no such process. */
static pid_t
parent_of(long pid)
{
	char text[512];
	const char *p = read_stat(pid, text, sizeof(text));

	return p != NULL && strlen(p) > 2 ? (pid_t)strtol(p + 2, NULL, 10) : 0;
}

/* All processes of the machine with their parents. */
static int
read_processes(struct parentage **ret_all, size_t *ret_n)
{
	struct parentage *all = NULL, *grown;
	size_t n = 0, room = 0;
	struct dirent *entry;
	DIR *dir;

	dir = opendir("/proc");
	if (dir == NULL)
		return -1;
	while ((entry = readdir(dir)) != NULL) {
		long pid = strtol(entry->d_name, NULL, 10);

		if (pid <= 0)
			continue;
		if (n == room) {
			room = room == 0 ? 256 : 2 * room;
			grown = realloc(all, room * sizeof(*all));
			if (grown == NULL) {
				free(all);
				closedir(dir);
				return -1;
			}
			all = grown;
		}
		all[n++] = (struct parentage){ (pid_t)pid, parent_of(pid), 0 };
	}
	closedir(dir);
	*ret_all = all;
	*ret_n = n;
	return 0;
}

static int
is_ours(const struct parentage *all, size_t n, pid_t pid)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (all[i].pid == pid)
			return all[i].is_ours;
	}
	return 0;
}

/* Mark `root` and its descendants, one generation after the other. */
static size_t
mark_family(struct parentage *all, size_t n, pid_t root)
{
	size_t i, n_marked = 0, n_before;

	do {
		n_before = n_marked;
		for (i = 0; i < n; i++) {
			if (all[i].is_ours)
				continue;
			if (all[i].pid != root && !is_ours(all, n, all[i].parent))
				continue;
			all[i].is_ours = 1;
			n_marked++;
		}
	} while (n_marked != n_before);
	return n_marked;
}

static int
compare_pids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

int
cnb_procs_find(pid_t root, struct cnb_procs *ret_procs)
{
	struct parentage *all;
	size_t n, n_marked, i, k = 0;
	pid_t *pids;

	if (read_processes(&all, &n) < 0)
		return -1;
	n_marked = mark_family(all, n, root);
	pids = n_marked > 0 ? malloc(n_marked * sizeof(*pids)) : NULL;
	for (i = 0; pids != NULL && i < n; i++) {
		if (all[i].is_ours)
			pids[k++] = all[i].pid;
	}
	free(all);
	if (pids == NULL) {
		errno = n_marked > 0 ? ENOMEM : ESRCH;
		return -1;
	}
	qsort(pids, k, sizeof(*pids), compare_pids);
	*ret_procs = (struct cnb_procs){ pids, k };
	return 0;
}

void
cnb_procs_finish(struct cnb_procs *procs)
{
	free(procs->pids);
	*procs = (struct cnb_procs){ NULL, 0 };
}

/* Read the CPU time that the processes have used. 0; 1: one of them has ended. */
static int
measure_cpu(const struct cnb_procs *procs, int64_t *ret_ns)
{
	struct timespec t;
	clockid_t clock;
	int64_t sum = 0;
	size_t i;

	/* This clock counts nanoseconds of all threads. /proc/PID/stat counts ticks. */
	for (i = 0; i < procs->n; i++) {
		if (clock_getcpuclockid(procs->pids[i], &clock) != 0 ||
			clock_gettime(clock, &t) < 0)
			return 1;
		sum += to_ns(&t);
	}
	*ret_ns = sum;
	return 0;
}

int
cnb_procs_equal(const struct cnb_procs *a, const struct cnb_procs *b)
{
	return a->n == b->n &&
	       (a->n == 0 || memcmp(a->pids, b->pids, a->n * sizeof(*a->pids)) == 0);
}

/* CPU time of a process's ended descendants: fields 16 and 17. -1: the process has ended. */
static int64_t
ended_children_ns(pid_t pid)
{
	char text[512];
	const char *p = read_stat(pid, text, sizeof(text));
	int64_t ticks;
	int field;
	char *end;

	for (field = 3; p != NULL && field < 16; field++) {
		p = strchr(p, ' ');
		p = p != NULL ? p + 1 : NULL;
	}
	if (p == NULL)
		return -1;
	ticks = strtoll(p, &end, 10);
	ticks += strtoll(end, NULL, 10);
	return ticks * (1000000000 / sysconf(_SC_CLK_TCK));
}

/* Add the CPU time of the processes and of their ended descendants. 0; 1: one of them has ended. */
static int
sum_family(const struct cnb_procs *procs, int64_t *ret_ns)
{
	int64_t sum, ended;
	size_t i;

	if (measure_cpu(procs, &sum) != 0)
		return 1;
	for (i = 0; i < procs->n; i++) {
		ended = ended_children_ns(procs->pids[i]);
		if (ended < 0)
			return 1;
		sum += ended;
	}
	*ret_ns = sum;
	return 0;
}

int
cnb_family_cpu(pid_t root, int64_t *ret_ns)
{
	struct cnb_procs procs;
	int i, r;

	/* A process that ends during the count would count twice, or not at all: count again. */
	for (i = 0; i < 100; i++) {
		if (cnb_procs_find(root, &procs) < 0)
			return -1;
		r = sum_family(&procs, ret_ns);
		cnb_procs_finish(&procs);
		if (r == 0)
			return 0;
	}
	errno = EAGAIN;
	return -1;
}

/* The memory of a process, with its part of shared pages, in KiB. 0: unknown, or it has ended. */
static int64_t
memory_of(pid_t pid)
{
	char path[48], line[128];
	long kib = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/smaps_rollup", (long)pid);
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, "Pss:", 4) == 0)
			kib = strtol(line + 4, NULL, 10);
	}
	fclose(f);
	return kib;
}

int
cnb_family_memory(pid_t root, int64_t *ret_kib)
{
	struct cnb_procs procs;
	int64_t sum = 0;
	size_t i;

	if (cnb_procs_find(root, &procs) < 0)
		return -1;
	for (i = 0; i < procs.n; i++)
		sum += memory_of(procs.pids[i]);
	cnb_procs_finish(&procs);
	*ret_kib = sum;
	return 0;
}

/* ----------------------------------------------------------------- affinity ----- */

/* Bind all threads of a process. MariaDB has many. */
static void
bind_threads(pid_t pid, const cpu_set_t *cpus)
{
	struct dirent *entry;
	char path[40];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%ld/task", (long)pid);
	dir = opendir(path);
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);

		if (thread > 0)
			(void)sched_setaffinity(thread, sizeof(*cpus), cpus);
	}
	if (dir != NULL)
		closedir(dir);
}

void
cnb_family_bind(pid_t root, const cpu_set_t *cpus)
{
	struct cnb_procs procs;
	size_t i;

	if (cnb_procs_find(root, &procs) < 0)
		return;
	for (i = 0; i < procs.n; i++)
		bind_threads(procs.pids[i], cpus);
	cnb_procs_finish(&procs);
}

int
cnb_pin(int cpu, int *ret_cpu, struct cnb_error *ret_error)
{
	cpu_set_t set;
	int i;

	if (cpu < 0) {
		if (sched_getaffinity(0, sizeof(set), &set) < 0)
			goto failed;
		/* The first CPU gets most interrupts. */
		for (i = 0; i < CPU_SETSIZE; i++) {
			if (CPU_ISSET(i, &set))
				cpu = i;
		}
	}
	CPU_ZERO(&set);
	if (cpu >= 0 && cpu < CPU_SETSIZE)
		CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		goto failed;
	*ret_cpu = cpu;
	return 0;

failed:
	snprintf(ret_error->text, sizeof(ret_error->text), "cannot bind to CPU %d: %s",
		cpu, strerror(errno));
	return -1;
}
