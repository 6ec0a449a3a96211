/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WITH_POOL_H
#define WITH_POOL_H

#include <cenote/cenote.h>

#include "support/cnt_cmocka.h"
#include "support/cnt_daemon.h"
#include "support/cnt_server.h"

/* What the tests of cenoted share: clients that fail the test if a step fails that must succeed,
 * and a look at the scoreboard. Every wait ends after 20 s. */

/* The daemon of the running test. */
extern struct cnt_daemon wp_daemon;

#define WP_POOL(lines) CNT_DAEMON_GLOBAL CNT_DAEMON_POOL lines
void wp_start(const char *config);
/* End the daemon, if it runs, and remove its directory. Returns 0 if it ended well and no process
 * of it complained of a bug. */
int wp_teardown(void **state);

/* A handle for the pool, not connected. `pool` NULL: main. */
cenote_conn *wp_handle(const char *pool);
/* A handle that is attached. */
cenote_conn *wp_attach(const char *pool);
/* Try to connect. Returns the status; the caller destroys the handle. */
int wp_try(const char *pool, cenote_conn **ret_conn);
/* No session of the pool is free for another client, who waits for 300 ms. */
void wp_expect_none_free(const char *pool);
/* Run a statement that must work. */
void wp_exec(cenote_conn *conn, const char *sql);
/* The first value of a statement that must work, in a buffer that the next call uses again. */
const char *wp_value(cenote_conn *conn, const char *sql);
/* The status of a statement that may fail. */
int wp_status_of(cenote_conn *conn, const char *sql);
/* Run a text of any number of statements, and read all results. Returns CENOTE_OK, or the status of the first failure. */
int wp_run_text(cenote_conn *conn, const char *sql);
const char *wp_sqlstate(const cenote_conn *conn);
const char *wp_message(const cenote_conn *conn);

/* An empty list of parameters. */
cenote_params *wp_params(void);
/* The next result, which must be of this kind. With kind 0 there must be no result; returns
 * NULL. */
cenote_result *wp_next_result(cenote_conn *conn, int kind);

pid_t wp_worker_pid(cenote_conn *conn);
/* The process id of a worker of this pool; NULL: main. */
pid_t wp_worker_of(const char *pool);
/* Wait for a child of cenoted with this name. Returns its process id. */
pid_t wp_await_child(const char *name);

/* From wp_memory_watch() on, the session's worker and this process may use at most 8 MB more at
 * their peak. Skips the test if the kernel does not report that. */
struct wp_memory {
	pid_t pids[2];
	long before[2];
};
void wp_memory_watch(struct wp_memory *m, cenote_conn *conn);
void wp_memory_expect_little(const struct wp_memory *m, const char *what);

/* A number from the status of a pool. */
int64_t wp_pool_number(const char *pool, const char *column);
/* Wait until that number has this value. */
void wp_await(const char *pool, const char *column, int64_t wanted);
/* Wait until the log has the text. */
void wp_await_log(const char *text);
/* Wait until this file of the daemon's directory has content: cenoted writes its pid file after it has opened its sockets. */
void wp_await_file(const char *name);
int wp_log_has(const char *text);
/* Whether a line of the log has both texts. */
int wp_log_has_line(const char *text, const char *other);
/* The peak of a process's memory; -1: not known. */
long wp_peak_kb(pid_t pid);
int64_t wp_now_ms(void);
/* How far the clock that cenoted reads may be behind: it counts the kernel's ticks, and a busy
 * machine loses some. */
#define WP_CLOCK_MS 50
void wp_pause_ms(int ms);

/* Fork a child that runs f(arg) and exits with its result. It has none of the parent's descriptors,
 * so it keeps no session of the parent open. `keep` becomes its descriptor WP_KEPT; -1: none. */
#define WP_KEPT 3
pid_t wp_fork(int (*f)(void *arg), void *arg, int keep);
/* Wait for the child. Returns its exit status, or -1 if it ended otherwise. */
int wp_join(pid_t pid);

#endif
