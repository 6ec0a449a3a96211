/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_CACHED_H
#define CND_CACHED_H

#include "serving.h"
#include "shared/result_cache.h"

/*
 * The pool's cache of results, as one client's requests use it. request.c, sink.c and attach.c call these functions only if
 * s->cached is not NULL. docs/pool-cache.md says when a result is kept, and when it is used.
 */

/* What a prepared statement touches, and what its key needs. */
struct cnd_plan;

/* A statement that is about to run. */
struct cnd_question {
	struct cnp_str sql;
	struct cnp_str types; /* of its parameters, as in PREPARE */
	struct cnp_str params; /* as in QUERY and EXECUTE */
	const struct cnd_exec *exec;
	bool is_execute;
};

/* Sets s->cached. `counts`: in the pool's record; slot: of the worker. CENOTE_ERR_NOMEM. */
int cnd_cached_create(struct cnd_serving *s, const struct cnd_cache *cache,
	struct cnd_cache_counts *counts, uint32_t slot);
void cnd_cached_destroy(struct cnd_serving *s);

/* The client has gone. */
void cnd_cached_forget_client(struct cnd_serving *s);
/* A client gets the session. */
void cnd_cached_attach(struct cnd_serving *s, const struct cnp_attach *m);
/* The server was asked what the session holds. pins: those before; state: its answer. */
void cnd_cached_settled(
	struct cnd_serving *s, uint32_t pins, const struct cnd_state *state);

/* A request begins. */
void cnd_cached_begin(struct cnd_serving *s, const struct cnp_request *req);
/* For the owner's judge(): what the statement touches, and for how long a rule keeps its result; 0: none does. */
void cnd_cached_judged(
	struct cnd_serving *s, const struct cnd_touch *touch, uint64_t ttl_ms);
/* The request executes a prepared statement: recall what was judged. Sets q->sql and q->types. */
void cnd_cached_recall(struct cnd_serving *s, struct cnd_question *q);
/* The statement is about to reach the server. From now on, nobody reads from the cache what it may change. */
void cnd_cached_enter(struct cnd_serving *s, const struct cnd_exec *exec);
/* The same; and look for its answer. CENOTE_DONE: the client got it. CENOTE_OK: ask the server. Negative: it could not be sent. */
int cnd_cached_ask(struct cnd_serving *s, const struct cnd_question *q);
/* The request has prepared a statement, with this text. */
void cnd_cached_prepared(struct cnd_serving *s, const struct cnp_prepare *m,
	const struct cnd_prepare *prepare);
/* The statement of this name is closed. */
void cnd_cached_closed(struct cnd_serving *s, struct cnp_str name);
/* The request has failed. */
void cnd_cached_failed(struct cnd_serving *s);
/* The request is done, and its answer is not sent yet. Negative: the client or the session has gone. */
void cnd_cached_end(struct cnd_serving *s, const struct cnp_request *req, int status);

/* For sink.c: the answer comes from the server. */
void cnd_cached_columns(
	struct cnd_serving *s, const struct cnp_column *columns, uint32_t n);
/* The batch is complete. */
void cnd_cached_rows(struct cnd_serving *s);
void cnd_cached_done(struct cnd_serving *s, const struct cnp_done *done);
/* The answer has more than rows: do not keep it. */
void cnd_cached_drop(struct cnd_serving *s);

#endif
