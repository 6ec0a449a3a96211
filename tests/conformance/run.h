/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_RUN_H
#define CNT_RUN_H

#include "ways.h"

/* What the files share that run a case. */

struct stmt {
	const char *sql;
	cenote_stmt *handle;
};

struct run {
	const struct cnt_way *way;
	cenote_conn *conn;
	struct stmt *stmts;
	size_t n_stmts;
	int is_streamed; /* this step: operations never are */
	char *why;
	char notices[2048]; /* messages of this step, a line each */
	char notifications
		[2048]; /* "CHANNEL PAYLOAD" lines since the last that was looked at */
};

/* Repeat `call` while it wants to wait. */
#define RETRY(r, conn, call)                                                             \
	do {                                                                             \
		(r) = (call);                                                            \
	} while ((r) == CENOTE_AGAIN && cnt_wait_ready(conn) == 0)

/* Says why the case fails; -1. */
int cnt_failed(struct run *run, const char *what, int status);
/* Wait as a program with an event loop does. 0, or -1 when nothing happens for 30 s. */
int cnt_wait_ready(cenote_conn *conn);

/* The step's values; NULL when it has none. */
int cnt_make_params(
	struct run *run, const struct cnt_step *step, cenote_params **ret_params);
/* How the step wants its answer. */
void cnt_make_options(
	const struct run *run, const struct cnt_step *step, cenote_exec_options *ret);
/* The result of a call, and the results after it. */
int cnt_see_first(struct run *run, const struct cnt_step *step, cenote_result *res,
	struct cnt_seen_list *list);
/* All results of the oldest request. */
int cnt_see_results(
	struct run *run, const struct cnt_step *step, struct cnt_seen_list *list);
/* A step that is no statement. */
int cnt_run_op(struct run *run, const struct cnt_step *step, struct cnt_seen_list *list);

#endif
