/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_DAEMON_H
#define CNT_DAEMON_H

#include "support/cnt_process.h"

#include <sys/types.h>

#define CNT_PATH_MAX 96u

/*
 * A real cenoted for a test, with a temporary directory and a configuration of its own. It ends
 * with all its processes when the test ends, even if the test is killed.
 *
 * The program is that of this build; CNT_CENOTED and CNT_BACKEND_DIR in the environment name
 * others.
 */
struct cnt_daemon {
	char dir[CNT_PATH_MAX]; /* temporary: cenoted.conf, main.db, log, run/ */
	char run_dir[CNT_PATH_MAX]; /* dir/run */
	char uri[CNT_PATH_MAX + 64]; /* cenote:///main?run_dir=… */
	char db[CNT_PATH_MAX]; /* dir/main.db */
	char backends[CNT_PATH_MAX]; /* dir/backends: every backend of this build */
	char conf[CNT_PATH_MAX]; /* dir/cenoted.conf */
	char log[CNT_PATH_MAX]; /* dir/log: cenoted's standard error */
	pid_t pid; /* the master's process id and process group; 0: cenoted does not run */
};

/*
 * Placeholders of CNT_DAEMON_CONFIG: @DIR@ the temporary directory, @USER@ the user who runs the
 * test, @BACKENDS@ the directory of the backend modules, @LINES@ the value of CNT_DAEMON_LINES in
 * the environment. With CNT_LENDS in the environment, pools of PostgreSQL lend their sessions. With CNT_CACHES, pools keep the
 * results of their queries (docs/pool-cache.md). With CNT_ROUTER, clients reach
 * the pool "main" through a router.
 */
/* LeakSanitizer starts a process that looks at the tested process and its files in /proc, so the
 * sandbox is off. */
#if defined(__SANITIZE_ADDRESS__)
#define CNT_DAEMON_SANDBOX "seccomp = off\nlandlock = off\ncore_dumps = yes\n"
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CNT_DAEMON_SANDBOX "seccomp = off\nlandlock = off\ncore_dumps = yes\n"
#endif
#endif
/* Tests look at cenoted's processes in /proc, also when they do not run as root. Without core
 * dumps, only root could. */
#ifndef CNT_DAEMON_SANDBOX
#define CNT_DAEMON_SANDBOX "seccomp = auto\nlandlock = auto\ncore_dumps = yes\n"
#endif
#define CNT_DAEMON_GLOBAL                                                                \
	"[cenoted]\n"                                                                    \
	"user = @USER@\n"                                                                \
	"run_dir = @DIR@/run\n"                                                          \
	"backend_dir = @BACKENDS@\n"                                                     \
	"log = stderr\n" CNT_DAEMON_SANDBOX "@LINES@"
#define CNT_DAEMON_POOL                                                                  \
	"\n[pool main]\n"                                                                \
	"backend = sqlite\n"                                                             \
	"server = path=@DIR@/main.db\n"
/* The default: CNT_DAEMON_GLOBAL CNT_DAEMON_POOL "sessions = 1..4\n". Join such strings to make
 * your own. */
#define CNT_DAEMON_CONFIG CNT_DAEMON_GLOBAL CNT_DAEMON_POOL "sessions = 1..4\n"

/*
 * Make the directory, write the configuration (NULL: the default; placeholders are replaced) and
 * start cenoted. Returns when the socket of each pool accepts connections: 0; or -1, with a message
 * and cenoted's log on standard error, and nothing left behind.
 */
int cnt_daemon_start(struct cnt_daemon *d, const char *config);
/* The two halves of cnt_daemon_start(), for a test that looks at the daemon or restarts it. */
int cnt_daemon_create(struct cnt_daemon *d, const char *config);
int cnt_daemon_run(struct cnt_daemon *d);
/* Replace the configuration file at once, so that nobody reads half of one. The daemon gets no
 * signal. */
int cnt_daemon_configure(struct cnt_daemon *d, const char *config);

/*
 * Imitate a daemon in a directory that cnt_daemon_create() made: the socket of a pool "main", with
 * as many waiting clients as it allows. It accepts one client after jam_ms, and ends 200 ms later.
 * Returns the process that does this, or -1.
 */
pid_t cnt_daemon_jam(const struct cnt_daemon *d, unsigned jam_ms);

/*
 * Send SIGTERM, then wait until the daemon and its children have ended. 0 if it ended with status 0
 * within 20 s and left no process behind; otherwise -1, and the rest is killed. The directory
 * stays.
 */
int cnt_daemon_end(struct cnt_daemon *d);
/* Call cnt_daemon_end(), show the log if that failed, and remove the directory. */
int cnt_daemon_stop(struct cnt_daemon *d);
/* Whether the master still runs. */
int cnt_daemon_is_alive(struct cnt_daemon *d);
/* Get the process ids of the master's children (workers, door, helpers). Returns how many were
 * written. */
size_t cnt_daemon_children(const struct cnt_daemon *d, pid_t *ret_pids, size_t max);
/* Copy the log to standard error, with a mark on each line. */
void cnt_daemon_show_log(const struct cnt_daemon *d);

#endif
