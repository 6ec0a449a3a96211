/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process for the key `notify`: it looks at the scoreboard each second (watch.c), and reports events by a command, or by a
 * request (webhook.c). The master forks it (master_children.c). Its only state is what it has reported.
 */
#include "alerts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/log.h"
#include "shared/priv.h"
#include "watch.h"

#define LOOK_MS    1000
#define COMMAND_MS 30000 /* a command that takes longer is killed */
#define PAUSE_MS   20

const char *
cnd_alerts_lack(const char *notify)
{
	return *notify == '/' ? NULL : cnd_webhook_lacks();
}

/* ---- a command ---- */

/* Wait for the command, and kill it with its children if it takes too long. */
static void
await_command(pid_t pid)
{
	int64_t until = cnd_now_ms() + COMMAND_MS;
	int status = 0;
	pid_t ended;

	while ((ended = waitpid(pid, &status, WNOHANG)) == 0 && cnd_now_ms() < until)
		(void)poll(NULL, 0, PAUSE_MS);
	if (ended == 0) {
		(void)kill(-pid, SIGKILL);
		(void)waitpid(pid, &status, 0);
		cnd_log(LOG_WARNING, "notify: the command took more than %d s",
			COMMAND_MS / 1000);
	} else if (status != 0) {
		cnd_log(LOG_WARNING, "notify: the command failed with %s %d",
			WIFEXITED(status) ? "status" : "signal",
			WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	}
}

/* Runs in the child. The kernel kills this shell when its parent ends, so that it does not outlive cenoted. */
_Noreturn static void
become_command(const char *command)
{
	int null = open("/dev/null", O_RDWR);

	(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (null >= 0) {
		(void)dup2(null, STDIN_FILENO);
		(void)dup2(null, STDOUT_FILENO);
	}
	(void)close_range(STDERR_FILENO + 1, ~0u, 0);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)signal(SIGXFSZ, SIG_DFL);
	(void)signal(SIGINT, SIG_DFL);
	(void)signal(SIGHUP, SIG_DFL);
	(void)signal(SIGUSR1, SIG_DFL);
	(void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static void
run_command(const char *command, const struct cnd_alert *alert, const char *json)
{
	pid_t pid;

	setenv("CENOTE_EVENT", cnd_event_name(alert->event), 1);
	setenv("CENOTE_POOL", alert->pool, 1);
	setenv("CENOTE_TEXT", alert->text, 1);
	setenv("CENOTE_JSON", json, 1);
	pid = fork();
	if (pid == 0)
		become_command(command);
	if (pid < 0)
		cnd_log(LOG_WARNING, "notify: %s", strerror(errno));
	else
		await_command(pid);
}

/* ---- reports ---- */

/* The texts have no character that JSON escapes: names of pools are letters, digits, _, - and . */
static void
deliver(void *user, const struct cnd_alert *alert)
{
	const char *notify = user, *fault;
	char host[256] = "", json[768];

	(void)gethostname(host, sizeof(host) - 1);
	for (char *p = host; *p != '\0'; p++) {
		if (*p == '"' || *p == '\\' || (unsigned char)*p < ' ')
			*p = '_';
	}
	snprintf(json, sizeof(json),
		"{\"event\":\"%s\",\"pool\":\"%s\",\"text\":\"%s\",\"host\":\"%s\"}",
		cnd_event_name(alert->event), alert->pool, alert->text, host);
	cnd_log(LOG_NOTICE, "notify: %s", alert->text);
	if (*notify == '/') {
		run_command(notify, alert, json);
		return;
	}
	fault = cnd_webhook_send(notify, json);
	if (fault != NULL)
		cnd_log(LOG_WARNING, "notify: the request failed: %s", fault);
}

/* ---- life ---- */

/* Unlike other processes, this one enters no sandbox, since that would forbid the command. It reads nothing that a client sent. */
void
cnd_alerts_run(const struct cnd_child *child)
{
	static struct cnd_watch watch;
	const struct cnd_config *c = child->config;
	int64_t started_ms = cnd_now_ms();

	cnd_log_set_role("alerts", NULL);
	cnd_child_set_signals();
	cnd_priv_give_up(c->uid, c->gid, c->user, child->master, "cenoted-alerts");
	cnd_pool_configs_forget(c, NULL);
	for (;;) {
		cnd_watch_look(&watch, child->board, c, started_ms, cnd_now_ms(), deliver,
			c->notify);
		(void)poll(NULL, 0, LOOK_MS);
	}
}
