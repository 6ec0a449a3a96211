/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * Suspending and resuming sessions, and the status of the pools. A suspended session
 * waits at its worker for a client that has its token.
 */

/* "c1-" session "-" key "-" portal "-" batch_rows, in hexadecimal. */
#define TOKEN_FORMAT "c1-%016" PRIx64 "-%016" PRIx64 "-%08" PRIx32 "-%08" PRIx32
#define TOKEN_LEN    (3u + 16u + 1u + 16u + 1u + 8u + 1u + 8u)

static int
read_hex(const char *text, size_t digits, uint64_t *ret_value)
{
	uint64_t n = 0;

	for (size_t i = 0; i < digits; i++) {
		char c = text[i];

		if (c >= '0' && c <= '9')
			n = n << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			n = n << 4 | (uint64_t)(c - 'a' + 10);
		else
			return CENOTE_ERR_ARG;
	}
	*ret_value = n;
	return CENOTE_OK;
}

static int
read_token(const char *text, struct cn_token *ret_token)
{
	uint64_t portal, batch_rows;

	if (strlen(text) != TOKEN_LEN || strncmp(text, "c1-", 3) != 0 ||
		text[19] != '-' || text[36] != '-' || text[45] != '-' ||
		read_hex(text + 3, 16, &ret_token->session) < 0 ||
		read_hex(text + 20, 16, &ret_token->key) < 0 ||
		read_hex(text + 37, 8, &portal) < 0 ||
		read_hex(text + 46, 8, &batch_rows) < 0)
		return CENOTE_ERR_ARG;
	ret_token->portal = (uint32_t)portal;
	ret_token->batch_rows = (uint32_t)batch_rows;
	return CENOTE_OK;
}

static int
may_suspend(cenote_conn *conn, const cenote_result *res)
{
	if (conn->pipeline.n > conn->pipeline.n_finished)
		return cn_fail(conn, CENOTE_ERR_STATE, CNC_SQLSTATE(SEQUENCE),
			"requests are outstanding");
	if (res && (res->conn != conn || res->stream != CN_STREAM_PORTAL ||
			   res->epoch != conn->reattach.epoch))
		return cn_fail(conn, CENOTE_ERR_STATE, CNC_SQLSTATE(SEQUENCE),
			"only a streamed result with batch_rows that has rows left can "
			"be carried over");
	return CENOTE_OK;
}

static int
queue_suspend(cenote_conn *conn, uint32_t timeout_ms)
{
	struct cnp_msg m = { .code = CNP_MSG_SUSPEND };
	const struct cn_send send = { .msg = &m, .sync = CNP_FRAME_SYNC };

	conn->suspend.is_done = 0;
	m.as.suspend.timeout_ms = timeout_ms;
	return cn_request(conn, &send);
}

static int
wait_suspended(cenote_conn *conn)
{
	cenote_result *res;
	int r;

	r = cn_wait_for(conn, cn_has_answer);
	if (r != CENOTE_OK)
		return r;
	if (conn->suspend.is_done)
		return CENOTE_OK;
	r = cn_take_result(conn, &res);
	if (r != CENOTE_OK)
		return r;
	cenote_result_destroy(res);
	return CENOTE_ERR_PROTOCOL;
}

int
cenote_suspend(
	cenote_conn *conn, cenote_result *res, uint32_t timeout_ms, char *ret_token)
{
	struct cn_token token = { 0, 0, 0, 0 };
	int r;

	if (!conn || !ret_token)
		return CENOTE_ERR_ARG;
	r = cn_enter_attached(conn);
	if (r == CENOTE_OK)
		r = cn_call_begin(conn, CNP_MSG_SUSPEND);
	if (r == CENOTE_OK)
		r = may_suspend(conn, res);
	if (r == CENOTE_OK)
		r = cn_borrow_pause(conn);
	if (r == CENOTE_OK)
		r = queue_suspend(conn, timeout_ms);
	if (r < 0 || r == CENOTE_AGAIN)
		return r;
	r = cn_call_end(conn, CNP_MSG_SUSPEND, wait_suspended(conn));
	if (r != CENOTE_OK)
		return r;
	token = conn->suspend.token;
	if (res) {
		token.portal = res->portal;
		token.batch_rows = res->batch_rows;
	}
	(void)snprintf(ret_token, CENOTE_TOKEN_SIZE, TOKEN_FORMAT, token.session,
		token.key, token.portal, token.batch_rows);
	cenote_close(conn);
	return CENOTE_OK;
}

/* Make the result that was carried over, and request its columns and its next batch. */
static int
carried_result(cenote_conn *conn, cenote_result **ret_res)
{
	const struct cn_token *token = &conn->attach.token;
	struct cnp_msg m = { .code = CNP_MSG_FETCH };
	struct cn_send send = {
		.msg = &m,
		.effect = CNC_EFFECT_WRITE,
		.is_hidden = 1,
		.sync = CNP_FRAME_SYNC,
	};
	cenote_result *res;
	int r;

	r = cn_result_create(&conn->mem, CENOTE_RESULT_ROWS, NULL, &res);
	if (r < 0)
		return cn_nomem(conn);
	res->stream = CN_STREAM_FETCHING;
	res->portal = token->portal;
	res->batch_rows = token->batch_rows;
	res->epoch = conn->reattach.epoch;
	/* The token does not contain the statement: assume the worst. */
	res->effect = CNC_EFFECT_WRITE;
	m.as.fetch.portal = token->portal;
	m.as.fetch.batch_rows = token->batch_rows;
	/* Only the process that suspended the session has received the columns. */
	m.as.fetch.columns = 1;
	send.target = res;
	r = cn_request(conn, &send);
	if (r < 0) {
		cenote_result_destroy(res);
		return r;
	}
	res->request = cn_request_at(&conn->pipeline, conn->pipeline.n - 1)->number;
	cn_stream_link(conn, res);
	*ret_res = res;
	return CENOTE_OK;
}

static int
is_fetched(const cenote_conn *conn)
{
	return conn->pipeline.n == conn->pipeline.n_finished ||
	       cn_state(conn) != CN_READY;
}

/* The session is attached: wait for the columns of the result that was carried over. */
static int
finish_resume(cenote_conn *conn, cenote_result **ret_res)
{
	int r;

	if (conn->attach.token.portal == 0) {
		*ret_res = NULL;
		return CENOTE_OK;
	}
	if (!conn->suspend.resumed) {
		r = carried_result(conn, &conn->suspend.resumed);
		if (r < 0)
			return r;
	}
	r = cn_wait_for(conn, is_fetched);
	if (r != CENOTE_OK)
		return r;
	if (conn->suspend.resumed->stream == CN_STREAM_FAILED) {
		/* If there was no memory, there is no message. */
		if (conn->suspend.resumed->diag)
			cnc_diag_copy(&conn->diag.d, &conn->suspend.resumed->diag->d);
		r = conn->suspend.resumed->status;
		cenote_result_destroy(conn->suspend.resumed);
		conn->suspend.resumed = NULL;
		return r;
	}
	*ret_res = conn->suspend.resumed;
	conn->suspend.resumed = NULL;
	return CENOTE_OK;
}

int
cenote_resume(cenote_conn *conn, const char *token, cenote_result **ret_res)
{
	int r;

	if (!conn || !token || !ret_res)
		return CENOTE_ERR_ARG;
	if (!cn_call_goes_on(conn, CNP_MSG_RESUME)) {
		cnc_diag_clear(&conn->diag.d);
		r = read_token(token, &conn->attach.token);
		if (r < 0)
			return cn_fail(conn, r, CNC_SQLSTATE(BAD_PARAMETER),
				"this is not a token of cenote_suspend()");
	}
	if (!cn_call_goes_on(conn, CNP_MSG_FETCH)) {
		r = cn_connect(conn, CNP_OPEN_RESUME);
		if (r != CENOTE_OK)
			return cn_call_end(conn, CNP_MSG_RESUME, r);
	}
	r = cn_enter(conn);
	if (r == CENOTE_OK)
		r = finish_resume(conn, ret_res);
	return cn_call_end(conn, CNP_MSG_FETCH, r);
}

/* Ask on a separate connection, which is closed when the call returns. */
static int
ask_status(cenote_conn *own, const char *what, cenote_result **ret_res)
{
	struct cn_request *req;
	cenote_result *res;
	int r;

	own->pid = cn_pid(own);
	own->attach.what = what;
	r = cn_attach_begin(own, CNP_OPEN_STATUS, 0);
	if (r == CENOTE_OK)
		r = cn_request_one_shot(own, CNP_MSG_STATUS);
	if (r == CENOTE_OK)
		r = cn_wait_for(own, cn_has_answer);
	if (r < 0)
		return r;
	req = cn_request_at(&own->pipeline, 0);
	res = req->first;
	if (!res)
		return CENOTE_ERR_PROTOCOL;
	/* When this handle is destroyed, it frees any further results of the answer. */
	req->first = res->next;
	if (!req->first)
		req->last = NULL;
	res->next = NULL;
	*ret_res = res;
	return CENOTE_OK;
}

int
cenote_status(cenote_conn *conn, const char *what, cenote_result **ret_res)
{
	cenote_conn *own;
	int r;

	if (!conn || !what || !ret_res)
		return CENOTE_ERR_ARG;
	cnc_diag_clear(&conn->diag.d);
	r = cenote_conn_create(&conn->mem, &own);
	if (r < 0)
		return cn_nomem(conn);
	r = cn_options_copy(&own->options, &conn->options);
	if (r == CENOTE_OK)
		r = ask_status(own, what, ret_res);
	if (r < 0)
		cnc_diag_copy(&conn->diag.d, &own->diag.d);
	cenote_conn_destroy(own);
	return r;
}
