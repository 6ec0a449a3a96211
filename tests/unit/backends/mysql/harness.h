/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_MYSQL_HARNESS_H
#define CNT_MYSQL_HARNESS_H

#include "support/cnt_server.h"

#include "core/mem.h"
#include "tests/unit/backends/session.h"

/*
 * The MySQL backend on a real server (support/cnt_backend.h). Its transcript has, besides:
 *
 *     params ? ?
 *     file NAME                     (of LOAD DATA LOCAL: what was asked for)
 *     parameter NAME=VALUE
 *     error 42S02 native …
 *
 * MY_LIBRARY_IS_ORACLES is 1 where the backend is built with libmysqlclient.
 */
struct my {
	struct cnt_session base;
	const char *formats; /* digits, one for each column; NULL: base.format for all */
	/* The host stops a request after so many milliseconds with `stop_status`; 0: never. */
	int64_t stop_after_ms;
	int stop_status;
	int64_t began_ms;
	int stopped;
	/* The file that the client sends, in pieces of `file_piece` bytes; NULL: the client
	 * refuses. */
	const char *file;
	size_t file_len, file_at, file_piece;
	unsigned rest_ms; /* pause before the rows are read */
	uint32_t status; /* server status of the last DONE */
};

/* One server for all tests of the program; my_main() starts it. */
extern struct cnt_server my_server;

/* Start the server, run the tests, stop the server. Returns what main() returns. `flags`:
 * CNT_SERVER_TCP or 0. */
int my_main(const struct CMUnitTest *tests, size_t n, const char *name, unsigned flags);

/* Prepare `t` without a session and without options. */
void my_init(struct my *t);
/* The options of the user app over the unix socket, in the database app. */
void my_app(struct my *t);
/* Returns the status; the message of a failure is in t->base.diag. */
int my_login(struct my *t);
/* For cmocka: *state is a struct my that is logged in as app. */
int my_setup(void **state);
int my_teardown(void **state);

/* Each returns the transcript of its request, valid until the next request. */
const char *my_query(struct my *t, const char *sql);
const char *my_query_with(
	struct my *t, const char *sql, const struct cnc_value *params, uint32_t n);
const char *my_select_database(struct my *t, const char *name);
const char *my_change_user(
	struct my *t, const char *user, const char *password, const char *database);
const char *my_long_data(
	struct my *t, uint32_t statement, uint16_t param, const void *data, size_t len);
/* Returns "ok" or the error. */
const char *my_set_option(struct my *t, const char *name, const char *value);

/* The transaction, "idle" or "open", and the pins. */
const char *my_tx(struct my *t);
uint32_t my_pins(struct my *t);
/* Attach a client that brings `carry` from another session; get what the client takes to its
 * next session. */
int my_attach(struct my *t, const void *carry, size_t len);
struct cnp_str my_carry(struct my *t);
int my_settle(struct my *t);
/* The value of a text query that gives one row of one column. */
const char *my_value(struct my *t, const char *sql);

#define assert_prefix(text, prefix)                                                      \
	do {                                                                             \
		const char *a_ = (text), *b_ = (prefix);                                 \
		if (strncmp(a_, b_, strlen(b_)) != 0)                                    \
			fail_msg("\"%s\" does not begin with \"%s\"", a_, b_);           \
	} while (0)
#define assert_contains(text, part)                                                      \
	do {                                                                             \
		const char *a_ = (text), *b_ = (part);                                   \
		if (!strstr(a_, b_))                                                     \
			fail_msg("\"%s\" is not in \"%s\"", b_, a_);                     \
	} while (0)

/* The requests that all backends have: session.h says what they do. */
#define my_option(t, key, value)      cnt_session_option(&(t)->base, key, value)
#define my_finish(t)                  cnt_session_finish(&(t)->base)
#define my_logout(t)                  cnt_session_logout(&(t)->base)
#define my_prepare(t, statement, sql) cnt_session_prepare(&(t)->base, statement, "", sql)
#define my_describe(t, statement)     cnt_session_describe(&(t)->base, statement, "", 0)
#define my_execute(t, statement, ...)                                                    \
	cnt_session_execute(&(t)->base, statement, "", __VA_ARGS__)
#define my_close(t, statement)          cnt_session_close(&(t)->base, statement, "", 0)
#define my_fetch(t, portal, n, columns) cnt_session_fetch(&(t)->base, portal, n, columns)
#define my_begin(t, isolation, flags)   cnt_session_begin(&(t)->base, isolation, flags)
#define my_commit(t)                    cnt_session_commit(&(t)->base)
#define my_rollback(t)                  cnt_session_rollback(&(t)->base)
#define my_savepoint(t, action, name)   cnt_session_savepoint(&(t)->base, action, name)
#define my_autocommit(t, on)            cnt_session_autocommit(&(t)->base, on)
#define my_catalog(t, filter)           cnt_session_catalog(&(t)->base, filter)
#define my_reset(t)                     cnt_session_reset(&(t)->base)

#endif
