/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include <cenote/cenote.h>

#include "bench.h"

/* The handle is all there is. */
static cenote_conn *
conn_of(struct cnb_session *s)
{
	return (cenote_conn *)s;
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

static int
pooled_open(const struct cnb_env *env, struct cnb_session **ret_session,
	struct cnb_error *ret_error)
{
	cenote_conn *conn;
	int r;

	if (cenote_conn_create(NULL, &conn) < 0) {
		snprintf(ret_error->text, sizeof(ret_error->text), "out of memory");
		return -1;
	}
	r = cenote_conn_set_uri(conn, env->uri);
	if (r >= 0)
		r = cenote_connect(conn);
	if (r < 0) {
		failed(conn, r, ret_error);
		cenote_conn_destroy(conn);
		return -1;
	}
	*ret_session = (struct cnb_session *)conn;
	return 0;
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
	*ret_answer = (struct cnb_answer){ 0, 0 };
	read_values(res, ret_answer);
	cenote_result_destroy(res);
	return 0;
}

static void
pooled_close(struct cnb_session *s)
{
	cenote_conn_destroy(conn_of(s));
}

const struct cnb_target *
cnb_target_pooled(void)
{
	static const struct cnb_target target = {
		.name = "pooled",
		.about = "a session of a pool of cenoted, through libcenote",
		.is_pooled = 1,
		.open = pooled_open,
		.query = pooled_query,
		.close = pooled_close,
	};

	return &target;
}
