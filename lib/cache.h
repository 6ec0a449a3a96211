/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CN_CACHE_H
#define CN_CACHE_H

#include "conn.h"

/* The cache of results in files, which the options `cache` and `cache_ttl` switch on. cache.c says when it is used. Whatever
 * fails in it, the server answers the request as without a cache. */

/* A request that is about to be queued. */
struct cn_question {
	const struct cnp_msg *msg; /* QUERY or EXECUTE */
	const cenote_stmt *stmt; /* EXECUTE */
	const cenote_exec_options *options;
	uint8_t reach; /* enum cnc_reach, from cn_cache_reach() */
};

/* A result that is being copied for a file, while the program gets it (struct cn_request). */
struct cn_keep;

/* The reach of a text; CNC_REACH_NONE without the option. */
uint8_t cn_cache_reach(const cenote_conn *conn, const char *sql, size_t len);
/* The reach of the statement's text, which is read once. CNC_REACH_NONE without the option. */
uint8_t cn_cache_stmt_reach(cenote_stmt *stmt);
/* The answer, if a file has it: give it to cn_request_answered(). NULL: ask the server; *ret_keep is NULL, or belongs to the
 * caller, who gives it to the request. */
cenote_result *cn_cache_ask(
	cenote_conn *conn, const struct cn_question *question, struct cn_keep **ret_keep);

/* Make a result from a file a stream: all its rows come in one batch, the last one. */
void cn_cache_make_stream(cenote_result *res);

/* The state of the session that the cache knows. */
void cn_cache_session_begins(cenote_conn *conn, int is_known);
/* A PREPARE of the statement is being queued. */
void cn_cache_prepared(cenote_stmt *stmt);
/* The program wants to see what another connection has written up to a position: older results are not used. */
void cn_cache_position_given(cenote_conn *conn);
/* A request is queued: note what it may change. */
void cn_cache_note(cenote_conn *conn, const struct cn_send *send);

/* The answer to a request with `keep` comes. These functions drop req->keep if the result cannot be kept. */
void cn_keep_begin(struct cn_request *req, const struct cn_columns *columns);
void cn_keep_rows(struct cn_request *req, const uint8_t *batch, size_t len);
/* `res` NULL: the program does not take the result. */
void cn_keep_end(struct cn_request *req, const cenote_result *res);
void cn_keep_drop(struct cn_request *req);
void cn_keep_free(struct cn_keep *keep);
/* The request failed, so it is not sure what it has changed. */
void cn_cache_failed(cenote_conn *conn, struct cn_request *req);
/* The request is finished: write the file, and note whether it wrote. */
void cn_cache_finished(cenote_conn *conn, struct cn_request *req);

#endif
