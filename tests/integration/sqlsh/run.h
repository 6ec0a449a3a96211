/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_TEST_RUN_H
#define SQLSH_TEST_RUN_H

#include <sys/types.h>

#include "support/cnt_daemon.h"

/* A run of sqlsh that has ended: its status and its output. */
struct run {
	int status; /* exit status, or 128 and the signal's number */
	char *out;
	char *err;
	long max_rss_kb;
};

/* Run sqlsh on the daemon's pool. `input` is its standard input (NULL: none); the arguments after
 * the pool end with NULL. Fails the test if it takes longer than a minute. */
void run_sqlsh(struct run *r, struct cnt_daemon *d, const char *input, ...)
	__attribute__((sentinel));
void run_finish(struct run *r);

/* Run sqlsh, and compare its status and output. */
#define assert_runs(daemon, want_status, want_out, want_err, ...)                        \
	do {                                                                             \
		struct run assert_run;                                                   \
		run_sqlsh(&assert_run, daemon, NULL, __VA_ARGS__, NULL);                 \
		assert_string_equal(assert_run.err, want_err);                           \
		assert_string_equal(assert_run.out, want_out);                           \
		assert_int_equal(assert_run.status, want_status);                        \
		run_finish(&assert_run);                                                 \
	} while (0)

/* The sqlsh of this build, or $CNT_SQLSH. */
const char *run_program(void);
/* The path of a file in the daemon's directory; static, valid for the next three calls. */
const char *run_path(const struct cnt_daemon *d, const char *name);
/* From now on sqlsh has its home in the daemon's directory, and no settings of the user who runs the test. */
void run_at_home(const struct cnt_daemon *d);
void run_write_file(const char *path, const char *text);
char *run_read_file(const char *path);

/* sqlsh on a terminal. */
struct terminal {
	pid_t pid;
	int fd;
	char *seen; /* the output since the last terminal_expect() */
	size_t len;
};

void terminal_start(struct terminal *t, const char *uri);
/* The same, with one more argument. */
void terminal_start_with(struct terminal *t, const char *uri, const char *argument);
/* Start sqlsh, and wait for the prompt of the pool main. */
void terminal_open(struct terminal *t, const char *uri);
void terminal_send(struct terminal *t, const char *keys);
/* Wait until sqlsh writes this text. After a while, fail the test and show what it wrote. */
void terminal_expect(struct terminal *t, const char *text);
/* The same, but fail the test if `never` comes first. */
void terminal_expect_without(struct terminal *t, const char *text, const char *never);
/* Wait until sqlsh ends. Returns its status as in struct run. */
int terminal_end(struct terminal *t);
/* Leave sqlsh by Ctrl-D. Its status must be 0. */
void terminal_close(struct terminal *t);

#endif
