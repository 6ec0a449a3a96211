/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_RUN_H
#define CNT_RUN_H

#include "ways.h"

/* Shared by the files that run a case. */

struct stmt {
	const char *sql;
	cenote_stmt *handle;
};

struct run {
	const struct cnt_way *way;
	cenote_conn *conn;
	struct stmt *stmts;
	size_t n_stmts;
	/* Whether rows come in batches in this step; only `execute` can stream. */
	int is_streamed;
	char *why;
	char notices[2048]; /* notices of this step, one per line */
	/* "CHANNEL PAYLOAD" lines that no step has checked yet. */
	char notifications[2048];
};

/* Repeat `call` while it returns CENOTE_AGAIN. */
#define RETRY(r, conn, call)                                                             \
	do {                                                                             \
		(r) = (call);                                                            \
	} while ((r) == CENOTE_AGAIN && cnt_wait_ready(conn) == 0)

/* Write down why the case fails. Returns -1. */
int cnt_failed(struct run *run, const char *what, int status);
/* Wait as a program with an event loop does. 0, or -1 when nothing happens for 30 s. */
int cnt_wait_ready(cenote_conn *conn);

/* Make the step's parameters. NULL if the step has none and does not ask for the extended form. */
int cnt_make_params(
	struct run *run, const struct cnt_step *step, cenote_params **ret_params);
/* Set the options that the step asks for. */
void cnt_make_options(
	const struct run *run, const struct cnt_step *step, cenote_exec_options *ret);
/* Record the result of a call and the results after it. */
int cnt_see_first(struct run *run, const struct cnt_step *step, cenote_result *res,
	struct cnt_seen_list *list);
/* Record all results of the oldest request. */
int cnt_see_results(
	struct run *run, const struct cnt_step *step, struct cnt_seen_list *list);
/* Run a step that is an operation instead of a statement. */
int cnt_run_op(struct run *run, const struct cnt_step *step, struct cnt_seen_list *list);

#endif
