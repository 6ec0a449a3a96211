/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_HOST_H
#define CNT_HOST_H

#include <signal.h>
#include <stdio.h>
#include <sys/types.h>

/* What a shim is to leave alone in the process that it is a guest of. */

#define CNT_HOST_FDS     256
#define CNT_HOST_SIGNALS 32

struct cnt_host {
	struct sigaction actions[CNT_HOST_SIGNALS];
	sigset_t blocked;
	char locale[256];
	char **env;
	size_t n_env, env_bytes;
	mode_t mask;
};

/* Which descriptors are open. */
void cnt_host_list_fds(char ret_open[CNT_HOST_FDS]);

/* Signals, locale, environment and umask; SIGPIPE is given a handler of ours before, so that there is
 * something to be changed. */
void cnt_host_look(struct cnt_host *ret_host);
/* They are as they were; the test fails if not. SIGPIPE has its default again. */
void cnt_host_assert_same(const struct cnt_host *before);

/* Both outputs, into a file. */
struct cnt_capture {
	FILE *file;
	int out, err;
};
void cnt_capture_begin(struct cnt_capture *ret_capture);
/* How many bytes were written meanwhile. */
long cnt_capture_end(struct cnt_capture *capture);

#endif
