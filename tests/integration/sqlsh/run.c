/* SPDX-License-Identifier: BSD-2-Clause */
#include "run.h"
#include "support/cnt_cmocka.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARGS_MAX     32
#define RUN_LIMIT_S  60
#define LOOK_LIMIT_S 20

const char *
run_path(const struct cnt_daemon *d, const char *name)
{
	static char paths[4][256];
	static unsigned next;
	char *path = paths[next++ % 4];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", d->dir, name);
	return path;
}

void
run_write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
	assert_int_equal(fclose(file), 0);
}

char *
run_read_file(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t cap = 0;
	ssize_t n;

	assert_non_null(file);
	/* Read the whole file: no text in it has this byte. */
	n = getdelim(&text, &cap, '\1', file);
	(void)fclose(file);
	if (n < 0) {
		free(text);
		text = strdup("");
	}
	assert_non_null(text);
	return text;
}

const char *
run_program(void)
{
	const char *path = getenv("CNT_SQLSH");

	return path ? path : CNT_DEFAULT_SQLSH;
}

static void
open_as(const char *path, int flags, int fd)
{
	int opened = open(path, flags, 0600);

	if (opened < 0 || dup2(opened, fd) < 0)
		_exit(99);
	(void)close(opened);
}

static int
exit_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static _Noreturn void
exec_sqlsh(struct cnt_daemon *d, const char *input, char **argv)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (input)
		run_write_file(run_path(d, "stdin"), input);
	open_as(input ? run_path(d, "stdin") : "/dev/null", O_RDONLY, STDIN_FILENO);
	open_as(run_path(d, "stdout"), O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
	open_as(run_path(d, "stderr"), O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
	(void)alarm(RUN_LIMIT_S);
	(void)execv(run_program(), argv);
	_exit(99);
}

void
run_sqlsh(struct run *r, struct cnt_daemon *d, const char *input, ...)
{
	char *argv[ARGS_MAX] = { (char *)(uintptr_t) "sqlsh", d->uri };
	struct rusage usage;
	size_t n = 2;
	va_list ap;
	pid_t pid;
	int status;

	va_start(ap, input);
	while (n < ARGS_MAX - 1 && (argv[n] = va_arg(ap, char *)) != NULL)
		n++;
	va_end(ap);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		exec_sqlsh(d, input, argv);
	assert_int_equal(wait4(pid, &status, 0, &usage), pid);
	r->status = exit_status(status);
	r->max_rss_kb = usage.ru_maxrss;
	r->out = run_read_file(run_path(d, "stdout"));
	r->err = run_read_file(run_path(d, "stderr"));
	if (r->status == 128 + SIGALRM)
		fail_msg("sqlsh did not end; it wrote %s", r->err);
}

void
run_at_home(const struct cnt_daemon *d)
{
	static const char *const unset[] = { "CENOTE_SERVER", "NO_COLOR",
		"XDG_RUNTIME_DIR" };

	(void)setenv("HOME", d->dir, 1);
	(void)setenv("XDG_STATE_HOME", run_path(d, "state"), 1);
	(void)setenv("XDG_CONFIG_HOME", run_path(d, "config"), 1);
	(void)setenv("PAGER", "", 1);
	for (size_t i = 0; i < CNT_COUNT(unset); i++)
		(void)unsetenv(unset[i]);
}

void
run_finish(struct run *r)
{
	free(r->out);
	free(r->err);
}

void
terminal_start(struct terminal *t, const char *uri)
{
	terminal_start_with(t, uri, NULL);
}

void
terminal_start_with(struct terminal *t, const char *uri, const char *argument)
{
	struct winsize size = { .ws_row = 24, .ws_col = 100 };

	*t = (struct terminal){ 0 };
	t->pid = forkpty(&t->fd, NULL, NULL, &size);
	assert_true(t->pid >= 0);
	if (t->pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)setenv("TERM", "xterm", 1);
		(void)alarm(RUN_LIMIT_S);
		(void)execl(run_program(), "sqlsh", uri, argument, (char *)NULL);
		_exit(99);
	}
	(void)fcntl(t->fd, F_SETFD, FD_CLOEXEC);
}

void
terminal_open(struct terminal *t, const char *uri)
{
	terminal_start(t, uri);
	terminal_expect(t, "main=> ");
}

void
terminal_send(struct terminal *t, const char *keys)
{
	assert_int_equal(write(t->fd, keys, strlen(keys)), strlen(keys));
}

/* Returns 0 when the output has ended, or when nothing came in time. */
static int
look(struct terminal *t, int timeout_ms)
{
	struct pollfd pfd = { .fd = t->fd, .events = POLLIN };
	char buffer[4096];
	ssize_t n = -1;

	if (poll(&pfd, 1, timeout_ms) > 0)
		n = read(t->fd, buffer, sizeof(buffer));
	if (n <= 0)
		return 0;
	t->seen = realloc(t->seen, t->len + (size_t)n + 1);
	assert_non_null(t->seen);
	memcpy(t->seen + t->len, buffer, (size_t)n);
	t->len += (size_t)n;
	t->seen[t->len] = '\0';
	return 1;
}

void
terminal_expect(struct terminal *t, const char *text)
{
	terminal_expect_without(t, text, NULL);
}

void
terminal_expect_without(struct terminal *t, const char *text, const char *never)
{
	time_t limit = time(NULL) + LOOK_LIMIT_S;
	char *found;

	while (!t->seen || !(found = strstr(t->seen, text))) {
		if (time(NULL) > limit || !look(t, 1000)) {
			if (time(NULL) <= limit && waitpid(t->pid, NULL, WNOHANG) == 0)
				continue;
			(void)kill(t->pid, SIGKILL);
			fail_msg("\"%s\" did not come, but: %s", text,
				t->seen ? t->seen : "nothing");
			return;
		}
	}
	*found = '\0';
	if (never && strstr(t->seen, never))
		fail_msg("\"%s\" came: %s", never, t->seen);
	found += strlen(text);
	t->len -= (size_t)(found - t->seen);
	memmove(t->seen, found, t->len + 1);
}

int
terminal_end(struct terminal *t)
{
	int status;

	while (look(t, LOOK_LIMIT_S * 1000))
		continue;
	assert_int_equal(waitpid(t->pid, &status, 0), t->pid);
	(void)close(t->fd);
	free(t->seen);
	return exit_status(status);
}

void
terminal_close(struct terminal *t)
{
	terminal_send(t, "\004");
	assert_int_equal(terminal_end(t), 0);
}
