/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_HOST_H
#define CNT_HOST_H

#include <signal.h>
#include <stdio.h>
#include <sys/types.h>

/* What a shim must not change in its host process. */

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

/* List the open descriptors. */
void cnt_host_list_fds(char ret_open[CNT_HOST_FDS]);

/* Note signals, locale, environment and umask. SIGPIPE gets a handler first, so that a
 * change would show. */
void cnt_host_look(struct cnt_host *ret_host);
/* Fail the test if signals, locale, environment or umask have changed. SIGPIPE gets its default
 * again. */
void cnt_host_assert_same(const struct cnt_host *before);

/* Standard output and error, redirected to a file. */
struct cnt_capture {
	FILE *file;
	int out, err;
};
void cnt_capture_begin(struct cnt_capture *ret_capture);
/* End the redirection. Returns the number of bytes that were written. */
long cnt_capture_end(struct cnt_capture *capture);

#endif
