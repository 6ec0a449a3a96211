/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_SQLITE_HARNESS_H
#define CNT_SQLITE_HARNESS_H

#include "tests/unit/backends/session.h"

/*
 * The SQLite backend (support/cnt_backend.h). Its transcript has, besides:
 *
 *     params :a ?
 *     error 42P01 no such table: t  (then, where set: position=N hint=…)
 */
struct sq {
	struct cnt_session base;
	char dir[64];
	char path[96];
	/* The host cancels at the n-th question; 0: never. */
	uint64_t interrupt_at;
	uint64_t n_questions;
};

/* The symbol of this name in the module or in a library that the module needs; NULL: not there. */
void *sq_symbol(const char *name);
/* Make a temporary directory and set the option `path`; there is no session yet. */
void sq_setup(struct sq *t);
void sq_teardown(struct sq *t);
/* For cmocka: *state is a struct sq that is logged in. */
int sq_test_setup(void **state);
int sq_test_teardown(void **state);
/* Another session of the same file and options, for comparison. */
void sq_sibling(struct sq *t, struct sq *ret_other);

/* Returns the transcript of the request, valid until the next request. */
const char *sq_catalog(struct sq *t, const struct cnp_catalog *filter);

/* "idle pins=0", "open pins=16", "failed pins=3". */
const char *sq_state(struct sq *t);

/* The requests that all backends have: session.h says what they do. */
#define sq_option(t, key, value)      cnt_session_option(&(t)->base, key, value)
#define sq_login(t)                   cnt_session_login(&(t)->base)
#define sq_logout(t)                  cnt_session_logout(&(t)->base)
#define sq_query(t, sql)              cnt_session_query(&(t)->base, sql, NULL, 0)
#define sq_query_with(t, ...)         cnt_session_query(&(t)->base, __VA_ARGS__)
#define sq_prepare(t, statement, sql) cnt_session_prepare(&(t)->base, statement, "", sql)
#define sq_describe(t, statement)     cnt_session_describe(&(t)->base, statement, "", 0)
#define sq_execute(t, statement, ...)                                                    \
	cnt_session_execute(&(t)->base, statement, "", __VA_ARGS__)
#define sq_close(t, statement)        cnt_session_close(&(t)->base, statement, "", 0)
#define sq_fetch(t, portal, n)        cnt_session_fetch(&(t)->base, portal, n, 0)
#define sq_begin(t, isolation, flags) cnt_session_begin(&(t)->base, isolation, flags)
#define sq_commit(t)                  cnt_session_commit(&(t)->base)
#define sq_rollback(t)                cnt_session_rollback(&(t)->base)
#define sq_savepoint(t, action, name) cnt_session_savepoint(&(t)->base, action, name)
#define sq_autocommit(t, on)          cnt_session_autocommit(&(t)->base, on)
#define sq_reset(t)                   cnt_session_reset(&(t)->base)

#endif
