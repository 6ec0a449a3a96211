/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The target pooled: libcenote. targets.c lists it.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cenote/cenote.h>

#include "bench.h"

struct session {
	cenote_conn *conn;
	cenote_stmt *stmt;
};

static struct session *
session_of(struct cnb_session *s)
{
	return (struct session *)s;
}

static cenote_conn *
conn_of(struct cnb_session *s)
{
	return session_of(s)->conn;
}

static int
failed(cenote_conn *conn, int status, struct cnb_error *ret_error)
{
	const cenote_diag *diag = cenote_conn_diag(conn);

	snprintf(ret_error->text, sizeof(ret_error->text), "%s (SQLSTATE %s, %s)",
		cenote_diag_message(diag), cenote_diag_sqlstate(diag),
		cenote_status_name(status));
	return -1;
}

static void
pooled_close(struct cnb_session *cs)
{
	struct session *s = session_of(cs);

	if (s == NULL)
		return;
	cenote_stmt_destroy(s->stmt);
	cenote_conn_destroy(s->conn);
	free(s);
}

int
cnb_pooled_open(const struct cnb_env *env, const char *options,
	struct cnb_session **ret_session, struct cnb_error *ret_error)
{
	const char *uri = env->places[CNB_PLACE_POOL];
	struct session *s = calloc(1, sizeof(*s));
	char whole[512];
	int r;

	if (s == NULL || cenote_conn_create(NULL, &s->conn) < 0) {
		snprintf(ret_error->text, sizeof(ret_error->text), "out of memory");
		free(s);
		return -1;
	}
	if (*options != '\0') {
		snprintf(whole, sizeof(whole), "%s%c%s", uri,
			strchr(uri, '?') != NULL ? '&' : '?', options);
		uri = whole;
	}
	r = cenote_conn_set_uri(s->conn, uri);
	if (r >= 0)
		r = cenote_connect(s->conn);
	if (r < 0) {
		failed(s->conn, r, ret_error);
		pooled_close((struct cnb_session *)s);
		return -1;
	}
	*ret_session = (struct cnb_session *)s;
	return 0;
}

static int
pooled_open(const struct cnb_env *env, struct cnb_session **ret_session,
	struct cnb_error *ret_error)
{
	return cnb_pooled_open(env, "", ret_session, ret_error);
}

void
cnb_pooled_tell_tls(struct cnb_session *s, char *ret_text, size_t size)
{
	static const char *const facts[] = { "version", "cipher", "group" };
	size_t n = 0;

	ret_text[0] = '\0';
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		const char *fact = cenote_tls_info(conn_of(s), CENOTE_HOP_POOL, facts[i]);

		if (fact != NULL && n < size)
			n += (size_t)snprintf(
				ret_text + n, size - n, "%s%s", n > 0 ? " " : "", fact);
	}
}

static void
read_values(const cenote_result *res, struct cnb_answer *answer)
{
	uint64_t n_rows = cenote_result_n_rows(res), row;
	uint32_t n_columns = cenote_result_n_columns(res), col;

	for (row = 0; row < n_rows; row++) {
		for (col = 0; col < n_columns; col++) {
			size_t len = 0;

			if (cenote_result_text(res, row, col, &len) != NULL)
				answer->bytes += len;
		}
	}
	answer->rows += n_rows;
}

/* 1: a non-blocking handle would wait. */
static int
pooled_query(struct cnb_session *s, const char *sql, struct cnb_answer *ret_answer,
	struct cnb_error *ret_error)
{
	cenote_conn *conn = conn_of(s);
	cenote_result *res;
	int r;

	r = cenote_query(conn, sql, CENOTE_NTS, NULL, NULL, &res);
	if (r < 0)
		return failed(conn, r, ret_error);
	if (r == CENOTE_AGAIN)
		return 1;
	*ret_answer = (struct cnb_answer){ 0, 0 };
	read_values(res, ret_answer);
	cenote_result_destroy(res);
	return 0;
}

static int
pooled_stream(struct cnb_session *s, const char *sql, struct cnb_answer *ret_answer,
	struct cnb_error *ret_error)
{
	cenote_exec_options options = CENOTE_EXEC_OPTIONS_INIT;
	cenote_conn *conn = conn_of(s);
	cenote_result *res;
	int r;

	options.stream = 1;
	r = cenote_query(conn, sql, CENOTE_NTS, NULL, &options, &res);
	if (r < 0)
		return failed(conn, r, ret_error);
	*ret_answer = (struct cnb_answer){ 0, 0 };
	while ((r = cenote_result_next(res)) == CENOTE_ROW)
		read_values(res, ret_answer);
	cenote_result_destroy(res);
	return r < 0 ? failed(conn, r, ret_error) : 0;
}

static int
pooled_try_query(struct cnb_session *s, const char *sql, struct pollfd *ret_wait,
	struct cnb_answer *ret_answer, struct cnb_error *ret_error)
{
	cenote_conn *conn = conn_of(s);
	int r = cenote_set_nonblocking(conn, CENOTE_NONBLOCKING);
	int wants;

	if (r < 0)
		return failed(conn, r, ret_error);
	r = pooled_query(s, sql, ret_answer, ret_error);
	if (r <= 0)
		return r;
	wants = cenote_wants(conn);
	*ret_wait = (struct pollfd){ cenote_fd(conn),
		(short)((wants & CENOTE_WANTS_READ ? POLLIN : 0) |
			(wants & CENOTE_WANTS_WRITE ? POLLOUT : 0)),
		0 };
	return 1;
}

static int
pooled_prepare(struct cnb_session *cs, const char *sql, struct cnb_error *ret_error)
{
	struct session *s = session_of(cs);
	int r = cenote_stmt_create(s->conn, sql, CENOTE_NTS, &s->stmt);

	if (r >= 0)
		r = cenote_stmt_prepare(s->stmt);
	return r < 0 ? failed(s->conn, r, ret_error) : 0;
}

static int
pooled_execute(struct cnb_session *cs, struct cnb_answer *ret_answer,
	struct cnb_error *ret_error)
{
	struct session *s = session_of(cs);
	cenote_result *res;
	int r = cenote_stmt_execute(s->stmt, NULL, NULL, &res);

	if (r < 0)
		return failed(s->conn, r, ret_error);
	*ret_answer = (struct cnb_answer){ 0, 0 };
	read_values(res, ret_answer);
	cenote_result_destroy(res);
	return 0;
}

/* Take the results of a request. CENOTE_DONE: all arrived, without an error. */
static int
take_results(cenote_conn *conn, struct cnb_answer *answer, struct cnb_error *ret_error)
{
	cenote_result *res;
	int r, kind = CENOTE_RESULT_COMMAND;

	while ((r = cenote_get_result(conn, &res)) == CENOTE_OK) {
		kind = cenote_result_kind(res);
		if (kind == CENOTE_RESULT_ERROR)
			snprintf(ret_error->text, sizeof(ret_error->text), "%s",
				cenote_diag_message(cenote_result_diag(res)));
		read_values(res, answer);
		cenote_result_destroy(res);
		if (kind == CENOTE_RESULT_ERROR)
			return CENOTE_ERR_SERVER;
	}
	if (r != CENOTE_DONE)
		failed(conn, r, ret_error);
	return r;
}

static int
pooled_pipeline(struct cnb_session *cs, const char *sql, uint32_t n,
	struct cnb_answer *ret_answer, struct cnb_error *ret_error)
{
	cenote_conn *conn = conn_of(cs);
	uint32_t i;
	int r = cenote_pipeline_begin(conn);

	*ret_answer = (struct cnb_answer){ 0, 0 };
	for (i = 0; r >= 0 && i < n; i++)
		r = cenote_send_query(conn, sql, CENOTE_NTS, NULL, NULL);
	if (r >= 0)
		r = cenote_send_sync(conn);
	if (r < 0)
		return failed(conn, r, ret_error);
	for (i = 0; i < n + 1; i++) {
		if (take_results(conn, ret_answer, ret_error) != CENOTE_DONE)
			return -1;
	}
	r = cenote_pipeline_end(conn);
	return r < 0 ? failed(conn, r, ret_error) : 0;
}

static int
pooled_copy_in(struct cnb_session *cs, const char *sql, const char *bytes, size_t len,
	struct cnb_error *ret_error)
{
	struct cnb_answer none = { 0, 0 };
	cenote_conn *conn = conn_of(cs);
	cenote_result *res;
	int r = cenote_send_query(conn, sql, CENOTE_NTS, NULL, NULL);

	if (r >= 0)
		r = cenote_get_result(conn, &res);
	if (r != CENOTE_OK)
		return failed(conn, r, ret_error);
	if (cenote_result_kind(res) != CENOTE_RESULT_COPY_IN) {
		snprintf(ret_error->text, sizeof(ret_error->text),
			"no copy was begun: %s",
			cenote_diag_message(cenote_result_diag(res)));
		cenote_result_destroy(res);
		return -1;
	}
	r = cenote_copy_put(conn, bytes, len);
	if (r >= 0)
		r = cenote_copy_end(conn, NULL);
	/* The copy is open only as long as its result exists. */
	cenote_result_destroy(res);
	if (r < 0)
		return failed(conn, r, ret_error);
	return take_results(conn, &none, ret_error) == CENOTE_DONE ? 0 : -1;
}

const struct cnb_target *
cnb_target_pooled(void)
{
	static const struct cnb_target target = {
		.name = "pooled",
		.about = "a session of a pool of cenoted, through libcenote",
		.place = CNB_PLACE_POOL,
		.open = pooled_open,
		.query = pooled_query,
		.prepare = pooled_prepare,
		.execute = pooled_execute,
		.pipeline = pooled_pipeline,
		.stream = pooled_stream,
		.try_query = pooled_try_query,
		.copy_in = pooled_copy_in,
		.close = pooled_close,
	};

	return &target;
}
