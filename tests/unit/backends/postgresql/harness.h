/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_POSTGRESQL_HARNESS_H
#define CNT_POSTGRESQL_HARNESS_H

#include "support/cnt_backend.h"
#include "support/cnt_server.h"

/*
 * The PostgreSQL backend on a real server (support/cnt_backend.h). Its transcript has, besides:
 *
 *     params INT64 TEXT
 *     copy-in text 2, copy-out text 2, data …, copied
 *     notification CHANNEL PAYLOAD, parameter NAME VALUE
 *     error 42P01 no such table: t  (then, where set: position=N)
 */
struct pg {
	const struct cnd_backend *b;
	struct cnd_session *s;
	struct cnd_host host;
	struct cnc_diag diag;
	struct cnd_option options[12];
	size_t n_options;
	char run_dir[CNT_SERVER_PATH_MAX];
	char port[16];
	/* How the next requests are run. */
	uint8_t format;
	struct cnp_str formats;
	uint8_t is_extended; /* queries in the extended form */
	uint8_t no_sync; /* the request is not the last of its unit */
	uint32_t batch_rows;
	uint64_t max_rows;
	uint32_t portal; /* grows with each request */
	/* The host says so at the n-th wait without anything to read; 0 never. */
	int interrupt_at;
	int interrupt_with; /* CENOTE_ERR_SERVER or CENOTE_ERR_CONN */
	int n_waits;
	int stop_at_question; /* the host says so when it is asked that often; 0 never */
	int n_questions;
	int stopped;
	const struct cenote_allocator *mem; /* NULL: the default */
	int count_only; /* rows and data are counted, not written down */
	uint64_t n_bytes;
	uint64_t fail_rows_at; /* the sink refuses the n-th row */
	int last; /* status of the last request */
	int has_relogged; /* the last reset ended the session, and a new one was logged in */
	/* What copy_read() gives, piece by piece; NULL: the end. */
	const char *const *pieces;
	int gives_up; /* … and then CopyFail */
	int waits_for_server; /* … and before the end, until the server has something to say */
	struct cnt_transcript seen;
};

/* One server for all tests of a program: for cmocka's group setup and teardown. */
extern struct cnt_server pg_server;
int pg_group_setup(void **state);
int pg_group_teardown(void **state);
/* *state is a struct pg that is logged in. */
int pg_test_setup(void **state);
int pg_test_teardown(void **state);

/* No session yet; the server's options. */
void pg_setup(struct pg *t);
void pg_teardown(struct pg *t);
void pg_option(struct pg *t, const char *key, const char *value);
/* The status; a failure's words are in t->diag. */
int pg_login(struct pg *t);
void pg_logout(struct pg *t);

/* Each returns the transcript of what came; valid until the next. */
const char *pg_query(struct pg *t, const char *sql);
const char *pg_query_with(
	struct pg *t, const char *sql, const struct cnc_value *params, uint32_t n);
const char *pg_prepare(
	struct pg *t, uint32_t statement, const char *name, const char *sql);
const char *pg_describe(struct pg *t, uint32_t statement, const char *name, int kind);
const char *pg_execute(struct pg *t, uint32_t statement, const char *name, int known,
	const struct cnc_value *params, uint32_t n);
const char *pg_close(struct pg *t, uint32_t statement, const char *name, int kind);
const char *pg_fetch(struct pg *t, uint32_t portal, uint32_t batch_rows);
void pg_close_portal(struct pg *t, uint32_t portal);
const char *pg_begin(struct pg *t, uint8_t isolation, uint32_t flags);
const char *pg_commit(struct pg *t);
const char *pg_rollback(struct pg *t);
const char *pg_savepoint(struct pg *t, uint8_t action, const char *name);
const char *pg_autocommit(struct pg *t, int on);
const char *pg_function(
	struct pg *t, uint32_t function, const struct cnc_value *params, uint32_t n);
/* NULL: not given. */
const char *pg_catalog(struct pg *t, uint8_t kind, const char *schema, const char *object,
	const char *column, const char *types);
const char *pg_sync(struct pg *t);
const char *pg_idle(struct pg *t);
const char *pg_reset(struct pg *t);

/* "idle pins=0", "open pins=16", "failed pins=3", "unknown …"; without what functions may have left:
 * test_scan.c is about that. */
const char *pg_state(struct pg *t);

#endif
