/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_BACKEND_H
#define CNT_BACKEND_H

#include "support/cnt_cmocka.h"
#include "tools/cenoted/backends/backend.h"
#include "tools/cenoted/serving/statements.h"

/*
 * A backend without a daemon: the module is loaded as cenoted loads it, and its answers are written
 * as text, one line per event:
 *
 *     columns a:INT64 b:TEXT        (a '=' in front of the list: the client knows them)
 *     row 1|x|NULL
 *     notice 01000 …
 *     done SELECT 1                 (then, where set: affected=N id=N warnings=N more-rows
 *                                    more-results limited empty output)
 *
 * The tests of a backend write its other answers, and the end of a failed request.
 */

/* Find a symbol that the module, or a library that it needs, exports. NULL: there is none. */
void *cnt_backend_symbol(const char *module, const char *name);
const struct cnd_backend *cnt_backend_load(const char *module);
/* Log in and attach, like a worker for its first client. */
int cnt_backend_login(const struct cnd_backend *b, const struct cnd_host *host,
	const struct cnd_server_spec *spec, struct cnd_session **ret_session,
	struct cnc_diag *ret_diag);
/* Reset and attach, like a worker for its next client. */
int cnt_backend_reset(
	const struct cnd_backend *b, struct cnd_session *s, struct cnc_diag *ret_diag);
/* A host's log that drops everything. */
void cnt_backend_log(const struct cnd_host *host, int level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Options for running a request. */
struct cnt_request {
	uint32_t batch_rows; /* 0: no bound */
	uint64_t max_rows; /* for each result; 0: no bound */
	int count_only; /* count the rows, but do not write them down */
	int is_describing; /* no rows follow the columns */
	/* The sink refuses this row of a result, counted from 1; 0: none. */
	uint64_t fail_at;
	int fail_with;
};

struct cnt_transcript {
	struct cnd_sink sink;
	char *log; /* the events of the request as text, ends with 0 */
	size_t log_len, log_cap;
	uint64_t n_rows; /* rows of the request */
	size_t longest; /* bytes of the longest batch of all requests */
	struct cnd_statements statements; /* statements and portals, as in a worker */
	/* The rest belongs to cnt_backend.c. */
	struct cnt_request request;
	struct cnc_batch batch;
	struct cnc_buf out;
	int in_result; /* columns() was called, done() was not */
	uint32_t n_columns;
	uint64_t rows_in_result;
};

/* `ops`: the functions below, and those of the backend's test, whose sink is
 * `seen.sink`. `max`: the bytes of a batch. */
void cnt_transcript_init(struct cnt_transcript *t, const struct cnd_sink_ops *ops,
	struct cnc_diag *diag, size_t max);
void cnt_transcript_finish(struct cnt_transcript *t);
/* Give the host a table of statements and portals. The requests below find them there by number. */
void cnt_transcript_lend(
	struct cnt_transcript *t, const struct cnd_backend *b, struct cnd_host *host);
int cnt_prepare(struct cnt_transcript *t, struct cnd_session *s, uint32_t number,
	struct cnd_prepare *prepare);
/* `number` finds the statement and fills `which`. With number 0, `which` is used as it is. */
int cnt_describe(struct cnt_transcript *t, struct cnd_session *s, uint32_t number,
	struct cnd_named *which);
int cnt_execute(struct cnt_transcript *t, struct cnd_session *s, uint32_t number,
	struct cnd_named *which, const struct cnd_exec *exec);
/* The portal for a cnd_exec; NULL if batch_rows is 0. */
struct cnd_portal *cnt_portal(
	struct cnt_transcript *t, uint32_t number, uint32_t batch_rows);
int cnt_fetch(struct cnt_transcript *t, struct cnd_session *s, uint32_t portal,
	uint32_t batch_rows, int send_columns);
void cnt_transcript_begin(struct cnt_transcript *t, const struct cnt_request *request);
/* After a failed request: write the rows that came before the failure. */
void cnt_transcript_break(struct cnt_transcript *t);

void cnt_say(struct cnt_transcript *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void cnt_say_bytes(struct cnt_transcript *t, const char *p, size_t n);
const char *cnt_type_name(uint32_t type);

struct cnt_transcript *cnt_transcript_of(struct cnd_sink *sink);
int cnt_on_params(struct cnd_sink *sink, const struct cnp_param *params, uint32_t n);
int cnt_on_columns(
	struct cnd_sink *sink, const struct cnp_column *columns, uint32_t n, int known);
int cnt_on_row_done(struct cnd_sink *sink);
int cnt_on_done(struct cnd_sink *sink, const struct cnp_done *done);
int cnt_on_notice(struct cnd_sink *sink, const struct cnc_diag *notice);

#endif
