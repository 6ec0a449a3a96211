/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_PROCESS_H
#define CNT_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Processes and files for the tests' daemons and servers. */

int64_t cnt_now_ms(void);
void cnt_pause_ms(long ms);
/* The value in the environment, or else the default. */
const char *cnt_env_or(const char *name, const char *fallback);

/* Whether a child of ours still runs. This does not reap it. */
int cnt_is_running(pid_t child);
/* Whether every thread of a process has stopped after SIGSTOP: kill() does not wait for that. */
int cnt_is_stopped(pid_t pid);
/* The children of `parent` that have not ended. Returns how many were written. */
size_t cnt_children_of(pid_t parent, pid_t *ret_pids, size_t max);
/* One of those, with this name; 0: there is none. */
pid_t cnt_child_named(pid_t parent, const char *name);

/* Remove a directory with its content. */
void cnt_remove_tree(const char *path);

struct cnt_command {
	/* Ends with NULL; argv[0] is a path, or searched in PATH. */
	const char *const *argv;
	const char *input; /* its standard input; NULL: nothing */
	uid_t uid; /* the user to run it as; 0: the user of the test */
	gid_t gid;
	char *output; /* its standard output goes here, truncated if necessary */
	size_t size; /* 0: no bound */
};

/* Run a program to its end, at most 60 s, with cnt_clean_environment(). 0 if its status was 0;
 * otherwise -1, after copying its output to standard error. */
int cnt_run(const struct cnt_command *command);

/* In a forked child: give up root for good. -1 if that fails. */
int cnt_become(uid_t uid, gid_t gid);

/* Remove from the environment what a server or its client must not find: the user's own settings,
 * and libraries that would replace the program's own. */
void cnt_clean_environment(void);

#endif
