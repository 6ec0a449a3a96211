/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LIB_FIXTURE_H
#define LIB_FIXTURE_H

#include "support/cnt_cmocka.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cenote/cenote.h>

#include "support/cnt_alloc.h"
#include "support/cnt_peer.h"

/* A pool that the test plays, and a connection to it whose memory is counted. */
struct fixture {
	struct cnt_peer peer;
	struct cnt_alloc alloc;
	cenote_conn *conn;
	size_t n_fds;
};

static inline size_t
count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	while (readdir(dir))
		n++;
	(void)closedir(dir);
	return n;
}

static inline int
setup_peer(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	(void)unsetenv("CENOTE_SERVER");
	/* The module may have been built or not. Only the test of loans wants it. */
	(void)setenv("CENOTE_BORROW", "no", 0);
	cnt_alloc_init(&f->alloc, 0);
	f->n_fds = count_fds();
	if (cnt_peer_create(&f->peer) < 0)
		return -1;
	if (cenote_conn_create(&f->alloc.mem, &f->conn) < 0 ||
		cenote_conn_set_uri(f->conn, f->peer.uri) < 0)
		return -1;
	*state = f;
	return 0;
}

/* Setup: the peer runs in a thread, and the connection is attached. */
static inline int
setup_connected(void **state)
{
	struct fixture *f;

	if (setup_peer(state) < 0)
		return -1;
	f = *state;
	if (cnt_peer_start(&f->peer) < 0 || cenote_connect(f->conn) < 0)
		return -1;
	return 0;
}

static inline int
teardown(void **state)
{
	struct fixture *f = *state;

	cenote_conn_destroy(f->conn);
	cnt_peer_destroy(&f->peer);
	assert_int_equal(cnt_alloc_leaks(&f->alloc), 0);
	assert_int_equal(count_fds(), f->n_fds);
	free(f);
	return 0;
}

static inline const char *
message_of(const struct fixture *f)
{
	return cenote_diag_message(cenote_conn_diag(f->conn));
}

static inline const char *
sqlstate_of(const struct fixture *f)
{
	return cenote_diag_sqlstate(cenote_conn_diag(f->conn));
}

/* Run a statement whose result does not matter. */
static inline int
run(struct fixture *f, const char *sql)
{
	cenote_result *res;
	int r = cenote_query(f->conn, sql, CENOTE_NTS, NULL, NULL, &res);

	if (r == CENOTE_OK)
		cenote_result_destroy(res);
	return r;
}

static inline void
send_query(struct fixture *f, const char *sql)
{
	assert_ok(cenote_send_query(f->conn, sql, CENOTE_NTS, NULL, NULL));
}

/* Send a query that is a unit of the pipeline by itself. */
static inline void
send_unit(struct fixture *f, const char *sql)
{
	send_query(f, sql);
	assert_ok(cenote_send_sync(f->conn));
}

static inline cenote_stmt *
create_stmt(struct fixture *f, const char *sql)
{
	cenote_stmt *stmt;

	assert_ok(cenote_stmt_create(f->conn, sql, CENOTE_NTS, &stmt));
	return stmt;
}

static inline void
execute(cenote_stmt *stmt)
{
	cenote_result *res;

	assert_ok(cenote_stmt_execute(stmt, NULL, NULL, &res));
	cenote_result_destroy(res);
}

/* Destroy `res`, which must be the last result of its request. */
static inline void
finish_request(struct fixture *f, cenote_result *res)
{
	cenote_result_destroy(res);
	assert_int_equal(cenote_get_result(f->conn, &res), CENOTE_DONE);
}

/* Take the only result of the oldest request, which must be of this kind. */
static inline void
take_kind(struct fixture *f, int kind)
{
	cenote_result *res;

	assert_ok(cenote_get_result(f->conn, &res));
	assert_int_equal(cenote_result_kind(res), kind);
	finish_request(f, res);
}

/* The value as an integer; the test fails if the value is not an integer. */
static inline int64_t
int_at(const cenote_result *res, uint64_t row, uint32_t col)
{
	int64_t n;

	assert_ok(cenote_result_int64(res, row, col, &n));
	return n;
}

#endif
