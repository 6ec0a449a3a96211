/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CN_CACHE_H
#define CN_CACHE_H

#include "conn.h"

/* The cache of results in files, which the options `cache` and `cache_ttl` switch on. cache.c says when it is used. If
 * anything in it fails, the server answers the request. */

/* A request that is about to be queued. */
struct cn_question {
	const struct cnp_msg *msg; /* QUERY or EXECUTE */
	const cenote_stmt *stmt; /* EXECUTE */
	const cenote_exec_options *options;
	uint8_t reach; /* enum cnc_reach, from cn_cache_reach() */
};

/* A result that is being copied for a file, while the program gets it (struct cn_request). */
struct cn_keep;

/* What a text can change: enum cnc_reach. CNC_REACH_NONE if the option is not set. */
uint8_t cn_cache_reach(const cenote_conn *conn, const char *sql, size_t len);
/* What the statement's text can change: enum cnc_reach. The text is read only once. CNC_REACH_NONE if the option is not set. */
uint8_t cn_cache_stmt_reach(cenote_stmt *stmt);
/* Look for the answer in a file. The caller gives it to cn_request_answered(). NULL: the server must answer. Then *ret_keep is
 * the place for a copy of its answer, which the caller gives to the request; or NULL, if the answer is not to be kept. */
cenote_result *cn_cache_ask(
	cenote_conn *conn, const struct cn_question *question, struct cn_keep **ret_keep);

/* Make a result from a file a stream: all its rows come in one batch, the last one. */
void cn_cache_make_stream(cenote_result *res);

/* A session begins. `is_known`: it is a fresh one. If it is not, nobody knows its settings, and the cache is not used until a
 * reset. */
void cn_cache_session_begins(cenote_conn *conn, int is_known);
/* A PREPARE of the statement is being queued. */
void cn_cache_prepared(cenote_stmt *stmt);
/* The program wants to see what another connection has written up to a position: older results are not used. */
void cn_cache_position_given(cenote_conn *conn);
/* A request is queued: note what it may change. */
void cn_cache_note(cenote_conn *conn, const struct cn_send *send);

/* Copy the server's answer into req->keep while it comes. If req->keep is NULL, these functions do nothing. If the result cannot
 * be kept, they free req->keep and set it to NULL. */
void cn_keep_begin(struct cn_request *req, const struct cn_columns *columns);
void cn_keep_rows(struct cn_request *req, const uint8_t *batch, size_t len);
void cn_keep_end(struct cn_request *req, const cenote_result *res);
void cn_keep_drop(struct cn_request *req);
void cn_keep_free(struct cn_keep *keep);
/* The request failed or was dropped: nobody knows what it has changed. */
void cn_cache_failed(cenote_conn *conn, struct cn_request *req);
/* The request is finished: write its result to the file, and note the time if the request may have written data. */
void cn_cache_finished(cenote_conn *conn, struct cn_request *req);

#endif
