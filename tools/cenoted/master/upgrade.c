/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Upgrade in place; upgrade.h says how. The new cenoted gets its descriptors from number 3 on. A variable of the environment says
 * what they are. master.c and admin_commands.c call this file.
 */
#include "upgrade.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "master_internal.h"
#include "shared/log.h"

#define VARIABLE    "CENOTE_UPGRADE"
/* How long the new cenoted may take to be ready. */
#define START_MS    30000
/* The sockets of all pools, and those of both kinds of listeners. */
#define SOCKETS_MAX (CND_POOL_RECORD + 2 * CND_LISTENERS_MAX)
#define FIRST       3
/* The exit status of a process that could not become the new cenoted. */
#define NOT_RUN     127

static struct {
	pid_t pid; /* 0: no upgrade is under way */
	int ready_fd; /* -1: none */
	int64_t until_ms; /* when it must be ready */
	bool has_ended;
	bool was_not_run; /* it has ended because the program could not be executed */
} upgrade = { .ready_fd = -1 };

/* ---- the old one ---- */

/* What the new cenoted gets. */
struct descriptors {
	int fds[2 + SOCKETS_MAX]; /* the pipe, the pid file, the sockets */
	/* who opened each socket: 'o' or 'm', see upgrade.h */
	char owners[SOCKETS_MAX + 1];
	size_t n;
};

static void
add_socket(struct descriptors *l, int fd, bool is_managers)
{
	if (fd < 0)
		return;
	l->owners[l->n - 2] = is_managers ? 'm' : 'o';
	l->fds[l->n++] = fd;
}

static void
add_listeners(struct descriptors *l, const struct cnd_listeners *from)
{
	/* who opened it does not matter for a TCP socket: it has no name to remove */
	for (size_t i = 0; i < CND_LISTENERS_MAX; i++)
		add_socket(l, from->list[i].fd, false);
}

static void
collect(struct descriptors *l, int ready_fd)
{
	memset(l, 0, sizeof(*l));
	l->fds[0] = ready_fd;
	l->fds[1] = cnd_the_master.pid_file;
	l->n = 2;
	for (size_t i = 0; i < CND_POOL_RECORD; i++) {
		const struct cnd_pool *p = &cnd_the_master.pools[i];

		if (p->config != NULL)
			add_socket(l, p->listen_fd, p->is_inherited);
	}
	add_listeners(l, &cnd_the_master.listeners);
	add_listeners(l, &cnd_the_master.stats_listeners);
}

/* Give the descriptors the numbers from FIRST on. First move all of them to higher numbers, so that none is overwritten. */
static int
lay_out(struct descriptors *l)
{
	for (size_t i = 0; i < l->n; i++) {
		if (l->fds[i] < 0)
			continue;
		l->fds[i] = fcntl(l->fds[i], F_DUPFD_CLOEXEC, FIRST + (int)l->n);
		if (l->fds[i] < 0)
			return -1;
	}
	for (size_t i = 0; i < l->n; i++) {
		int number = FIRST + (int)i;

		/* dup2() leaves the new number open at exec */
		if (l->fds[i] < 0)
			(void)fcntl(number, F_SETFD, FD_CLOEXEC);
		else if (dup2(l->fds[i], number) < 0)
			return -1;
	}
	return 0;
}

_Noreturn static void
become_new(struct descriptors *l)
{
	char file[4096], text[sizeof(l->owners) + 32];
	char *const words[] = { cnd_the_master.program, (char[]){ "-c" }, file, NULL };
	sigset_t none;

	(void)snprintf(file, sizeof(file), "%s", cnd_the_master.config->path);
	(void)snprintf(text, sizeof(text), "%d %s", l->fds[1] >= 0, l->owners);
	sigemptyset(&none);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)signal(SIGXFSZ, SIG_DFL);
	(void)signal(SIGUSR1, SIG_DFL);
	/* lay_out() may overwrite the descriptor of the log, so log nothing from here on */
	if (setenv(VARIABLE, text, 1) == 0 &&
		sigprocmask(SIG_SETMASK, &none, NULL) == 0 && lay_out(l) == 0)
		(void)execv(words[0], words);
	_exit(NOT_RUN);
}

static bool
is_any_paused(void)
{
	for (size_t i = 0; i < CND_POOL_RECORD; i++) {
		const struct cnd_pool *p = &cnd_the_master.pools[i];

		if (p->config != NULL && cnd_master_head(p)->is_paused)
			return true;
	}
	return false;
}

const char *
cnd_upgrade_begin(void)
{
	struct descriptors l;
	int fds[2];

	if (upgrade.pid != 0)
		return "an upgrade is under way";
	if (cnd_the_master.program[0] == '\0')
		return "the path of the program is not known";
	/* the new cenoted would not know of the pause */
	if (is_any_paused())
		return "a pool is paused: resume it first";
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return "out of descriptors";
	collect(&l, fds[1]);
	upgrade.pid = fork();
	if (upgrade.pid == 0)
		become_new(&l);
	close(fds[1]);
	if (upgrade.pid < 0) {
		close(fds[0]);
		upgrade.pid = 0;
		return "no process can be started now";
	}
	upgrade.ready_fd = fds[0];
	upgrade.until_ms = cnd_now_ms() + START_MS;
	cnd_log(LOG_NOTICE, "upgrade: started %s as process %d", cnd_the_master.program,
		(int)upgrade.pid);
	return NULL;
}

int
cnd_upgrade_fd(void)
{
	return upgrade.ready_fd;
}

static void
end_upgrade(void)
{
	close(upgrade.ready_fd);
	upgrade.ready_fd = -1;
	upgrade.pid = 0;
	upgrade.has_ended = upgrade.was_not_run = false;
}

void
cnd_upgrade_bury(pid_t pid, int status)
{
	if (pid != upgrade.pid)
		return;
	upgrade.has_ended = true;
	upgrade.was_not_run = WIFEXITED(status) && WEXITSTATUS(status) == NOT_RUN;
}

static const char *
fail(const char *why)
{
	int status = 0;

	/* it has not said that it is ready, so it serves nobody */
	(void)kill(upgrade.pid, SIGKILL);
	if (!upgrade.has_ended && waitpid(upgrade.pid, &status, 0) == upgrade.pid)
		cnd_upgrade_bury(upgrade.pid, status);
	if (upgrade.was_not_run)
		why = "could not be executed";
	cnd_log(LOG_ERR, "upgrade: the new cenoted (%s) %s; this one goes on",
		cnd_the_master.program, why);
	end_upgrade();
	return why;
}

int64_t
cnd_upgrade_look(int64_t now, struct cnd_upgrade_news *ret_news)
{
	char byte;
	ssize_t n;

	*ret_news = (struct cnd_upgrade_news){ .successor = 0 };
	if (upgrade.pid == 0)
		return CND_NEVER;
	n = read(upgrade.ready_fd, &byte, 1);
	if (n == 1) {
		ret_news->successor = upgrade.pid;
		end_upgrade();
	} else if (n == 0) {
		ret_news->why = fail("did not start: see the log");
	} else if (now >= upgrade.until_ms) {
		ret_news->why = fail("was not ready in time: see the log");
	}
	return upgrade.pid != 0 ? upgrade.until_ms : CND_NEVER;
}

/* ---- the new one ---- */

bool
cnd_upgrade_take(struct cnd_upgrade_handover *ret_handover)
{
	static char owners[SOCKETS_MAX + 1];
	const char *text = getenv(VARIABLE);

	if (text == NULL || (text[0] != '0' && text[0] != '1') || text[1] != ' ' ||
		strspn(text + 2, "om") != strlen(text + 2) ||
		strlen(text + 2) >= sizeof(owners))
		return false;
	(void)snprintf(owners, sizeof(owners), "%s", text + 2);
	*ret_handover = (struct cnd_upgrade_handover){ .ready_fd = FIRST,
		.pid_file = text[0] == '1' ? FIRST + 1 : -1,
		.first = FIRST + 2,
		.n = (int)strlen(owners),
		.owners = owners };
	(void)unsetenv(VARIABLE);
	for (int fd = FIRST; fd < ret_handover->first + ret_handover->n; fd++)
		(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	return true;
}
