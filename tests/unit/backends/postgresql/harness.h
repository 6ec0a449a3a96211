/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_POSTGRESQL_HARNESS_H
#define CNT_POSTGRESQL_HARNESS_H

#include "tests/unit/backends/session.h"
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
	struct cnt_session base;
	char run_dir[CNT_SERVER_PATH_MAX];
	char port[16];
	/* The host stops the request at the n-th wait that has nothing to read; 0: never. */
	int interrupt_at;
	int interrupt_with; /* CENOTE_ERR_SERVER or CENOTE_ERR_CONN */
	int n_waits;
	/* the host stops the request at its n-th question; 0: never */
	int stop_at_question;
	int n_questions;
	int stopped;
	uint64_t n_bytes;
	int has_relogged; /* the last reset ended the session, and a new one was logged in */
	/* The pieces that copy_read() returns; a NULL ends the list. */
	const char *const *pieces;
	int gives_up; /* after the pieces, the client gives up (CopyFail) */
	/* after the pieces, wait so many times for a message of the server */
	int waits_for_server;
};

/* One server for all tests of a program: for cmocka's group setup and teardown. */
extern struct cnt_server pg_server;
int pg_group_setup(void **state);
int pg_group_teardown(void **state);
/* For cmocka: *state is a struct pg that is logged in. */
int pg_test_setup(void **state);
int pg_test_teardown(void **state);

/* Prepare `t` with the options for pg_server, but without a session. */
void pg_setup(struct pg *t);

/* Each returns the transcript of its request, valid until the next request. */
void pg_close_portal(struct pg *t, uint32_t portal);
const char *pg_function(
	struct pg *t, uint32_t function, const struct cnc_value *params, uint32_t n);
/* NULL: no such filter. */
const char *pg_catalog(struct pg *t, uint8_t kind, const char *schema, const char *object,
	const char *column, const char *types);
const char *pg_sync(struct pg *t);
const char *pg_idle(struct pg *t);
int pg_settle(struct pg *t);
const char *pg_reset(struct pg *t);

/* "idle pins=0", "open pins=16", "failed pins=3", "unknown …". CENOTE_PIN_FUNCTION is left out:
 * test_scan.c tests it. */
const char *pg_state(struct pg *t);

/* The requests that all backends have: session.h says what they do. */
#define pg_option(t, key, value)      cnt_session_option(&(t)->base, key, value)
#define pg_login(t)                   cnt_session_login(&(t)->base)
#define pg_teardown(t)                cnt_session_finish(&(t)->base)
#define pg_logout(t)                  cnt_session_logout(&(t)->base)
#define pg_query(t, sql)              cnt_session_query(&(t)->base, sql, NULL, 0)
#define pg_query_with(t, ...)         cnt_session_query(&(t)->base, __VA_ARGS__)
#define pg_prepare(t, ...)            cnt_session_prepare(&(t)->base, __VA_ARGS__)
#define pg_describe(t, ...)           cnt_session_describe(&(t)->base, __VA_ARGS__)
#define pg_execute(t, ...)            cnt_session_execute(&(t)->base, __VA_ARGS__)
#define pg_close(t, ...)              cnt_session_close(&(t)->base, __VA_ARGS__)
#define pg_fetch(t, portal, n)        cnt_session_fetch(&(t)->base, portal, n, 0)
#define pg_begin(t, isolation, flags) cnt_session_begin(&(t)->base, isolation, flags)
#define pg_commit(t)                  cnt_session_commit(&(t)->base)
#define pg_rollback(t)                cnt_session_rollback(&(t)->base)
#define pg_savepoint(t, action, name) cnt_session_savepoint(&(t)->base, action, name)
#define pg_autocommit(t, on)          cnt_session_autocommit(&(t)->base, on)

#endif
