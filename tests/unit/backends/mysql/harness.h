/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_MYSQL_HARNESS_H
#define CNT_MYSQL_HARNESS_H

#include "support/cnt_server.h"

#include "core/mem.h"
#include "support/cnt_backend.h"

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
	const struct cnd_backend *b;
	struct cnd_session *s;
	struct cnd_host host;
	struct cnc_diag diag;
	struct cnd_option options[24];
	size_t n_options;
	const char *settings; /* that a client wants of the login */
	/* How the next requests are run. */
	uint8_t format;
	const char *formats; /* NULL: none */
	uint32_t batch_rows;
	uint64_t max_rows;
	uint8_t is_extended;
	uint32_t portal; /* grows with each request */
	/* The host says stop, with this status, so long after the request began; 0 never. */
	int64_t stop_after_ms;
	int stop_status;
	int64_t began_ms;
	int stopped;
	/* What the client sends of a file; NULL: it refuses. */
	const char *file;
	size_t file_len, file_at, file_piece;
	const struct cenote_allocator *mem; /* NULL: the default */
	int count_only; /* rows are counted, not written down */
	unsigned rest_ms; /* before the rows are read */
	uint64_t sink_fails_at; /* the n-th row: CENOTE_ERR_LIMIT; 0 never */
	int last; /* status of the last request */
	uint32_t status; /* the server's, of the last done */
	struct cnt_transcript seen;
};

/* Of all tests of the program; started by my_main(). */
extern struct cnt_server my_server;

/* Start the server, run the tests, stop it: what main() returns. `flags`: CNT_SERVER_TCP or 0. */
int my_main(const struct CMUnitTest *tests, size_t n, const char *name, unsigned flags);

/* No session yet; no options but those that the test gives. */
void my_init(struct my *t);
void my_finish(struct my *t);
void my_option(struct my *t, const char *key, const char *value);
/* The options of the user app over the unix socket, in the database app. */
void my_app(struct my *t);
/* 0 or the status; a failure's words are in t->diag. */
int my_login(struct my *t);
void my_logout(struct my *t);
/* For cmocka: *state is a struct my that is logged in as app. */
int my_setup(void **state);
int my_teardown(void **state);

/* Each returns the transcript of what came; valid until the next. */
const char *my_query(struct my *t, const char *sql);
const char *my_query_with(
	struct my *t, const char *sql, const struct cnc_value *params, uint32_t n);
const char *my_prepare(struct my *t, uint32_t statement, const char *sql);
const char *my_describe(struct my *t, uint32_t statement);
const char *my_execute(struct my *t, uint32_t statement, int known,
	const struct cnc_value *params, uint32_t n);
const char *my_close(struct my *t, uint32_t statement);
const char *my_fetch(
	struct my *t, uint32_t portal, uint32_t batch_rows, int send_columns);
const char *my_begin(struct my *t, uint8_t isolation, uint32_t flags);
const char *my_commit(struct my *t);
const char *my_rollback(struct my *t);
const char *my_savepoint(struct my *t, uint8_t action, const char *name);
const char *my_autocommit(struct my *t, int on);
const char *my_select_database(struct my *t, const char *name);
const char *my_change_user(
	struct my *t, const char *user, const char *password, const char *database);
const char *my_catalog(struct my *t, const struct cnp_catalog *filter);
const char *my_long_data(
	struct my *t, uint32_t statement, uint16_t param, const void *data, size_t len);
/* "ok", or the error. */
const char *my_set_option(struct my *t, const char *name, const char *value);

/* "idle", "open"; and the pins. */
const char *my_tx(struct my *t);
uint32_t my_pins(struct my *t);
int my_reset(struct my *t);
/* As a client that comes from another session with this; and what it has for the next. */
int my_attach(struct my *t, const void *carry, size_t len);
struct cnp_str my_carry(struct my *t);
int my_settle(struct my *t);
/* One value of one row, asked for by a query in text. */
const char *my_value(struct my *t, const char *sql);

struct cnc_value my_int(int64_t v);
struct cnc_value my_text(const char *text);

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

#endif
