/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_SEEN_H
#define CNT_SEEN_H

#include "case.h"

#include <cenote/cenote.h>

#define CNT_WHY_MAX 400u

/* One result of a request, in the same form for every way of running it. */
struct cnt_seen {
	int is_error;
	int status; /* what the failed call returned; 0 if there is no error */
	struct cnt_column *columns;
	size_t n_columns;
	struct cnt_row *rows;
	size_t n_rows;
	char tag[64];
	int64_t affected;
	uint64_t insert_id;
	char sqlstate[6];
	char message[512];
	char position[16];
	int32_t native;
	uint32_t flags; /* enum cenote_result_flag */
	struct cnt_bytes copy_out;
	char params[128];
};

struct cnt_seen_list {
	struct cnt_seen *items;
	size_t n;
	int tx; /* transaction state after the step; CNT_TX_UNSEEN if the way cannot see it */
	uint32_t pins;
	char notices[2048]; /* notices of this step, one per line; empty in a pipeline */
};

#define CNT_TX_UNSEEN (-1)

struct cnt_seen *cnt_seen_add(struct cnt_seen_list *list);
void cnt_seen_columns(struct cnt_seen *seen, const cenote_result *res);
void cnt_seen_rows(struct cnt_seen *seen, const cenote_result *res);
/* Add a piece of a copy out. */
void cnt_seen_copied(struct cnt_seen *seen, const char *data, size_t len);
/* Take the parameters from a description. */
void cnt_seen_params(struct cnt_seen *seen, const cenote_result *res);
/* Take the tag and the counts; call it after the last row was taken. */
void cnt_seen_totals(struct cnt_seen *seen, const cenote_result *res);
void cnt_seen_error(struct cnt_seen *seen, int status, const cenote_diag *diag);
void cnt_seen_finish(struct cnt_seen_list *list);

/* 0 if the results are what the step expects, otherwise -1 with the reason in ret_why. */
int cnt_seen_compare(const struct cnt_seen_list *list, const struct cnt_step *step,
	int is_streamed, char ret_why[CNT_WHY_MAX]);

#endif
