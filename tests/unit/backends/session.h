/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_SESSION_H
#define CNT_SESSION_H

#include "support/cnt_backend.h"

/*
 * One session of a backend, without a daemon. The harness of each backend has it as its first member,
 * `base`, and adds its sink, its host's answers and its line for errors. A request function returns
 * the transcript of what came (support/cnt_backend.h), valid until the next request.
 */
struct cnt_session {
	const struct cnd_backend *b;
	struct cnd_session *s;
	struct cnd_host host;
	struct cnc_diag diag;
	struct cnd_option options[24];
	size_t n_options;
	const char *settings; /* that a client wants for its login */
	const struct cenote_allocator *mem; /* NULL: the default */
	/* How the next requests run. */
	uint8_t format;
	struct cnp_str formats; /* format of each column; empty: `format` for all */
	uint8_t is_extended; /* queries in the extended form */
	uint8_t no_sync; /* the request is not the last of its unit */
	uint32_t batch_rows;
	uint64_t max_rows;
	int count_only; /* count rows, do not write them down */
	uint64_t fail_rows_at; /* the sink refuses the n-th row; 0: never */
	int fail_rows_with;
	/* Results of the last request. */
	uint32_t portal; /* number of the last portal */
	int last; /* status of the last request */
	struct cnt_transcript seen;
	/* Set by the harness: `before` runs before each request, or is NULL; `say_error` writes
	 * an error's line. */
	void (*before)(struct cnt_session *t);
	void (*say_error)(struct cnt_session *t, int r);
};

/* Prepare `t`, which is zeroed, without a session or options. `batch_max` is the largest batch
 * in bytes; `interrupted` and `wait` are functions of the host. */
void cnt_session_init(struct cnt_session *t, const char *module,
	const struct cnd_sink_ops *ops, size_t batch_max,
	int (*interrupted)(const struct cnd_host *, struct cnc_diag *),
	int (*wait)(const struct cnd_host *, int, short, int, struct cnc_diag *));
void cnt_session_finish(struct cnt_session *t);
void cnt_session_option(struct cnt_session *t, const char *key, const char *value);
/* Returns the status; the message of a failure is in t->diag. */
int cnt_session_login(struct cnt_session *t);
void cnt_session_logout(struct cnt_session *t);

/* For requests that have no function below: call these before and after the call of the backend. */
struct cnd_exec cnt_session_start(
	struct cnt_session *t, const struct cnc_value *params, uint32_t n);
const char *cnt_session_end(struct cnt_session *t, int r);

const char *cnt_session_query(struct cnt_session *t, const char *sql,
	const struct cnc_value *params, uint32_t n);
const char *cnt_session_prepare(
	struct cnt_session *t, uint32_t statement, const char *name, const char *sql);
const char *cnt_session_describe(
	struct cnt_session *t, uint32_t statement, const char *name, int kind);
const char *cnt_session_execute(struct cnt_session *t, uint32_t statement,
	const char *name, int known, const struct cnc_value *params, uint32_t n);
const char *cnt_session_close(
	struct cnt_session *t, uint32_t statement, const char *name, int kind);
const char *cnt_session_fetch(
	struct cnt_session *t, uint32_t portal, uint32_t batch_rows, int send_columns);
const char *cnt_session_begin(struct cnt_session *t, uint8_t isolation, uint32_t flags);
const char *cnt_session_commit(struct cnt_session *t);
const char *cnt_session_rollback(struct cnt_session *t);
const char *cnt_session_savepoint(
	struct cnt_session *t, uint8_t action, const char *name);
const char *cnt_session_autocommit(struct cnt_session *t, int on);
const char *cnt_session_catalog(struct cnt_session *t, const struct cnp_catalog *filter);
int cnt_session_reset(struct cnt_session *t);

/* Run a query and compare its transcript with `answer`. */
#define assert_answer(t, sql, answer)                                                    \
	assert_string_equal(cnt_session_query(&(t)->base, sql, NULL, 0), answer)

struct cnc_value cnt_int(int64_t v);
struct cnc_value cnt_text(const char *text);

#endif
