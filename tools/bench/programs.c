/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the programs of servers and runs them. servers.c, daemon.c and the report's files call it. It
 * owns no state.
 */
#include "programs.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ------------------------------------------------------ where programs are -- */

static int
is_program(const char *path)
{
	return access(path, X_OK) == 0;
}

/* The last that matches: the newest version. */
static int
find_by_pattern(const char *pattern, char *ret_path, size_t size)
{
	glob_t found;
	int is_found = 0;

	if (glob(pattern, 0, NULL, &found) != 0)
		return 0;
	if (found.gl_pathc > 0 && is_program(found.gl_pathv[found.gl_pathc - 1]))
		is_found = (size_t)snprintf(ret_path, size, "%s",
				   found.gl_pathv[found.gl_pathc - 1]) < size;
	globfree(&found);
	return is_found;
}

void
cnb_program_find(const char *name, char *ret_path, size_t size)
{
	static const char *const places[] = { "/usr/lib/postgresql/*/bin", "/usr/sbin",
		"/usr/local/sbin", "/usr/local/bin", "/usr/bin", "/usr/libexec" };
	const char *path = getenv("PATH"), *end;
	char pattern[512];
	size_t i;

	/* Debian has PostgreSQL's programs outside of PATH, and wrappers in PATH. */
	snprintf(pattern, sizeof(pattern), "%s/%s", places[0], name);
	if (find_by_pattern(pattern, ret_path, size))
		return;
	for (; path != NULL; path = *end == '\0' ? NULL : end + 1) {
		end = strchrnul(path, ':');
		if ((size_t)snprintf(ret_path, size, "%.*s/%s", (int)(end - path), path,
			    name) < size &&
			is_program(ret_path))
			return;
	}
	for (i = 1; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(pattern, sizeof(pattern), "%s/%s", places[i], name);
		if (find_by_pattern(pattern, ret_path, size))
			return;
	}
	ret_path[0] = '\0';
}

/* ---------------------------------------------------------------- commands -- */

const struct passwd *
cnb_server_user(void)
{
	static const char *const names[] = { "postgres", "nobody" };
	const struct passwd *user = NULL;
	size_t i;

	if (geteuid() != 0)
		return NULL;
	for (i = 0; user == NULL && i < sizeof(names) / sizeof(names[0]); i++)
		user = getpwnam(names[i]);
	return user;
}

int
cnb_command_find(struct cnb_command *ret_command, const char *name, const char *dir,
	struct cnb_error *ret_error)
{
	struct cnb_command *c = ret_command;

	memset(c, 0, sizeof(*c));
	c->name = name;
	snprintf(c->log, sizeof(c->log), "%s/%s.log", dir, name);
	cnb_program_find(name, c->program, sizeof(c->program));
	if (c->program[0] != '\0') {
		cnb_command_add(c, "%s", c->program);
		return 0;
	}
	snprintf(ret_error->text, sizeof(ret_error->text), "%s is not installed", name);
	return -1;
}

void
cnb_command_add(struct cnb_command *c, const char *format, ...)
{
	size_t left = sizeof(c->bytes) - c->used;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(c->bytes + c->used, left, format, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= left || c->n == CNB_MAX_ARGS) {
		c->is_too_long = 1;
		return;
	}
	c->args[c->n++] = c->bytes + c->used;
	c->used += (size_t)n + 1;
}

static void
become(const struct passwd *user)
{
	if (user == NULL)
		return;
	if (initgroups(user->pw_name, user->pw_gid) < 0 || setgid(user->pw_gid) < 0 ||
		setuid(user->pw_uid) < 0)
		_exit(127);
}

pid_t
cnb_command_start(const struct cnb_command *c)
{
	const struct passwd *user = cnb_server_user();
	pid_t parent = getpid(), pid;
	int fd;

	if (c->is_too_long)
		return -1;
	fd = open(c->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	pid = fork();
	if (pid != 0) {
		if (fd >= 0)
			close(fd);
		return pid;
	}
	/* Ctrl-C is for this program, which stops its servers. */
	setpgid(0, 0);
	become(user);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0 ||
		chdir("/") < 0)
		_exit(127);
	execv(c->program, c->args);
	_exit(127);
}

int
cnb_command_run(const struct cnb_command *c, struct cnb_error *ret_error)
{
	pid_t pid = cnb_command_start(c);
	int status = -1;

	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return cnb_command_failed(c, "failed", ret_error);
}

int
cnb_command_failed(
	const struct cnb_command *c, const char *what, struct cnb_error *ret_error)
{
	char line[256], last[256] = "it said nothing";
	FILE *f = fopen(c->log, "re");

	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] != '\0')
			snprintf(last, sizeof(last), "%s", line);
	}
	if (f != NULL)
		fclose(f);
	snprintf(ret_error->text, sizeof(ret_error->text), "%s %s: %s", c->name, what,
		last);
	return -1;
}
