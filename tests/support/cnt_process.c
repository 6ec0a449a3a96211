/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUN_S 180

int64_t
cnt_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void
cnt_pause_ms(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

const char *
cnt_env_or(const char *name, const char *fallback)
{
	const char *value = getenv(name);

	return value && *value ? value : fallback;
}

/* ------------------------------------------------------------------ processes ----- */

int
cnt_is_running(pid_t child)
{
	siginfo_t si = { 0 };

	/* WNOWAIT: the status stays for a later waitpid(). */
	return child > 0 &&
	       waitid(P_PID, (id_t)child, &si, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       si.si_pid == 0;
}

/* Read state and parent from a file like /proc/PID/stat; 'Z' and 0 if there is no such file. */
static char
read_stat(const char *path, int *ret_parent)
{
	char text[512];
	const char *p;
	char state = 'Z';
	FILE *f = fopen(path, "re");

	*ret_parent = 0;
	if (!f)
		return state;
	/* The name in brackets may contain anything, but the text after the last bracket has a
	 * fixed form. */
	if (fgets(text, sizeof(text), f) && (p = strrchr(text, ')')) != NULL)
		sscanf(p, ") %c %d", &state, ret_parent);
	fclose(f);
	return state;
}

/* The parent of a process; 0 if the process has gone, or only waits to be reaped. */
static pid_t
parent_of(pid_t pid)
{
	char path[64];
	int parent;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return read_stat(path, &parent) == 'Z' ? 0 : (pid_t)parent;
}

int
cnt_is_stopped(pid_t pid)
{
	char path[320];
	const struct dirent *e;
	int parent, is_stopped = 1;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while (is_stopped && (e = readdir(dir)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(
			path, sizeof(path), "/proc/%d/task/%s/stat", (int)pid, e->d_name);
		is_stopped = read_stat(path, &parent) == 'T';
	}
	closedir(dir);
	return is_stopped;
}

/* Read the lists of children in /proc. To look at each process of the machine would cost much
 * more. */
size_t
cnt_children_of(pid_t parent, pid_t *ret_pids, size_t max)
{
	char path[320];
	const struct dirent *e;
	size_t n = 0;
	DIR *dir;
	int pid;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)parent);
	dir = opendir(path);
	while (dir && (e = readdir(dir)) != NULL) {
		FILE *f;

		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/children", (int)parent,
			e->d_name);
		f = fopen(path, "re");
		while (f && n < max && fscanf(f, "%d", &pid) == 1) {
			if (parent_of(pid) == parent)
				ret_pids[n++] = pid;
		}
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
	return n;
}

static int
has_name(pid_t pid, const char *wanted)
{
	char path[64], name[32] = "";
	int is_read;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	is_read = fgets(name, sizeof(name), f) != NULL;
	fclose(f);
	name[strcspn(name, "\n")] = '\0';
	return is_read && strcmp(name, wanted) == 0;
}

pid_t
cnt_child_named(pid_t parent, const char *name)
{
	pid_t pids[64];
	size_t n = cnt_children_of(parent, pids, sizeof(pids) / sizeof(pids[0]));

	for (size_t i = 0; i < n; i++) {
		if (has_name(pids[i], name))
			return pids[i];
	}
	return 0;
}

/* ----------------------------------------------------------------------- files ----- */

static int
remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path) < 0 && errno != ENOENT ? -1 : 0;
}

void
cnt_remove_tree(const char *path)
{
	nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* -------------------------------------------------------------------- commands ----- */

int
cnt_become(uid_t uid, gid_t gid)
{
	if (uid == 0)
		return 0;
	return setgroups(0, NULL) < 0 || setgid(gid) < 0 || setuid(uid) < 0 ? -1 : 0;
}

void
cnt_clean_environment(void)
{
	static const char *const names[] = { "PGDATA", "PGHOST", "PGPORT", "PGUSER",
		"PGDATABASE", "PGPASSWORD", "PGPASSFILE", "PGOPTIONS", "PGSERVICE",
		"PGSSLMODE", "PGCLIENTENCODING", "PGTZ", "PGDATESTYLE", "MYSQL_HOST",
		"MYSQL_PWD", "MYSQL_TCP_PORT", "MYSQL_UNIX_PORT", "MYSQL_HOME",
		"LD_PRELOAD", "LD_LIBRARY_PATH" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("TZ", "UTC", 1);
}

/* Runs in the child: does not return. */
static void
exec_command(const struct cnt_command *c, int in, int out, int err)
{
	/* The alarm stays over exec: a server that does not answer must not stop the tests. */
	alarm(RUN_S);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	closefrom(STDERR_FILENO + 1);
	cnt_clean_environment();
	if (cnt_become(c->uid, c->gid) == 0)
		execvp(c->argv[0], (char *const *)c->argv);
	fprintf(stderr, "%s: %s\n", c->argv[0], strerror(errno));
	_exit(127);
}

static void
show(const char *program, int fd)
{
	char text[4096];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	char *line, *rest = NULL;

	text[n > 0 ? n : 0] = '\0';
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		fprintf(stderr, "# %s: %s\n", program, line);
}

static void
take_output(const struct cnt_command *c, int fd)
{
	ssize_t n;

	if (c->size == 0)
		return;
	n = pread(fd, c->output, c->size - 1, 0);
	while (n > 0 && c->output[n - 1] == '\n')
		n--;
	c->output[n > 0 ? n : 0] = '\0';
}

int
cnt_run(const struct cnt_command *c)
{
	const char *slash = strrchr(c->argv[0], '/');
	const char *program = slash ? slash + 1 : c->argv[0];
	size_t len = c->input ? strlen(c->input) : 0;
	int in = memfd_create("input", MFD_CLOEXEC);
	int out = memfd_create("output", MFD_CLOEXEC);
	int err = memfd_create("errors", MFD_CLOEXEC);
	int status = -1;
	pid_t pid = -1;

	if (in >= 0 && out >= 0 && err >= 0 && write(in, c->input, len) == (ssize_t)len &&
		lseek(in, 0, SEEK_SET) == 0) {
		fflush(NULL);
		pid = fork();
		if (pid == 0)
			exec_command(c, in, out, err);
	}
	if (pid < 0)
		perror(program);
	else if (waitpid(pid, &status, 0) != pid)
		status = -1;
	take_output(c, out);
	if (status != 0) {
		show(program, out);
		show(program, err);
		fprintf(stderr, "# %s ended with wait status 0x%x\n", program,
			(unsigned)status);
	}
	close(in);
	close(out);
	close(err);
	return status == 0 ? 0 : -1;
}
