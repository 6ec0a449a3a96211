/* SPDX-License-Identifier: BSD-2-Clause */
#include "cache.h"

#include <string.h>

/*
 * The public calls that prepare, describe and execute a statement, and send its long values. stmt.c has the
 * statement itself.
 */

static int
enter(cenote_stmt *stmt)
{
	if (!stmt)
		return CENOTE_ERR_ARG;
	return stmt->conn ? cn_enter_attached(stmt->conn) : CENOTE_ERR_STATE;
}

static int
queue_prepare(cenote_stmt *stmt, uint8_t sync, int is_hidden)
{
	struct cnp_msg m;
	const struct cn_send send = {
		.msg = &m,
		.is_hidden = is_hidden != 0,
		.sync = sync,
		.stmt = stmt,
	};
	int r;

	if (stmt->is_foreign)
		return cn_fail(stmt->conn, CENOTE_ERR_STATE, CNC_SQLSTATE(SEQUENCE),
			"a handle of cenote_stmt_by_name() cannot be prepared");
	cn_stmt_fill_prepare(stmt, &m);
	r = cn_request(stmt->conn, &send);
	if (r < 0)
		return r;
	stmt->is_queued = 1;
	stmt->has_long_data = 0;
	/* Without a session it will be prepared on the next one, whose epoch is not
	 * known yet. */
	stmt->epoch = cn_state(stmt->conn) == CN_READY ? stmt->conn->reattach.epoch : 0;
	cn_cache_prepared(stmt);
	return CENOTE_OK;
}

static void
fill_execute(const cenote_stmt *stmt, const cenote_params *params,
	const cenote_exec_options *exec, struct cnp_msg *m)
{
	*m = (struct cnp_msg){ .code = CNP_MSG_EXECUTE };
	m->as.execute.statement = stmt->name ? 0 : stmt->id;
	m->as.execute.name = cnp_str(stmt->name);
	m->as.execute.formats.p = (const char *)exec->formats;
	m->as.execute.formats.n = exec->n_formats;
	m->as.execute.format = (uint8_t)exec->format;
	m->as.execute.batch_rows = exec->batch_rows;
	m->as.execute.max_rows = exec->max_rows;
	m->as.execute.params = cn_params_blob(params);
}

static int
queue_execute(cenote_stmt *stmt, struct cnp_msg *m, const struct cn_question *question,
	uint8_t sync, struct cn_keep *keep)
{
	const cenote_exec_options *exec = question->options;
	struct cn_send send = {
		.msg = m,
		.reach = question->reach,
		.keep = keep,
		.effect = stmt->effect,
		.is_use = cn_changes_meaning(stmt->conn, stmt->sql, stmt->len),
		.sync = sync,
		.stmt = stmt,
		.options = exec,
	};
	/* Use only columns that this session has described: before it, the table may have had other
	 * columns. And in SQL, the name may be given to another statement. */
	int is_known = !stmt->name && exec->n_formats == 0 && stmt->is_prepared &&
		       !stmt->is_queued && stmt->columns &&
		       stmt->columns_epoch == stmt->conn->reattach.epoch &&
		       stmt->format == exec->format;
	int r;

	if (!stmt->is_queued) {
		r = cn_stmt_ensure(stmt);
		if (r < 0)
			return r;
	}
	send.columns = is_known ? stmt->columns : NULL;
	m->as.execute.known = is_known != 0;
	r = cn_request(stmt->conn, &send);
	if (r == CENOTE_OK)
		stmt->has_long_data = 0;
	return r;
}

/* Take the answer from the cache, or queue the execution. With `may_prepare`, prepare the statement in the same write if it is
 * not prepared yet. If PREPARE fails, the execution reports that error. */
static int
answer_or_queue(cenote_stmt *stmt, const cenote_params *params,
	const cenote_exec_options *exec, uint8_t sync, int may_prepare)
{
	struct cnp_msg m;
	struct cn_question question = {
		.msg = &m,
		.stmt = stmt,
		.options = exec,
		.reach = cn_cache_stmt_reach(stmt),
	};
	struct cn_keep *keep;
	cenote_result *res;
	int r;

	fill_execute(stmt, params, exec, &m);
	res = cn_cache_ask(stmt->conn, &question, &keep);
	if (res)
		return cn_request_answered(stmt->conn, m.code, res);
	r = may_prepare && !stmt->is_prepared && !stmt->is_queued
		    ? queue_prepare(stmt, 0, 1)
		    : CENOTE_OK;
	if (r == CENOTE_OK)
		r = queue_execute(stmt, &m, &question, sync, keep);
	if (r < 0)
		cn_keep_free(keep);
	return r;
}

int
cenote_send_prepare(cenote_stmt *stmt)
{
	int r = enter(stmt);

	if (r == CENOTE_OK)
		r = cn_may_send(stmt->conn);
	if (r == CENOTE_OK)
		r = queue_prepare(stmt, cn_sync_flag(stmt->conn, NULL), 0);
	return r < 0 ? r : cn_sent(stmt->conn);
}

static int
not_prepared(const cenote_stmt *stmt)
{
	if (stmt->is_prepared || stmt->is_queued)
		return CENOTE_OK;
	return cn_fail(stmt->conn, CENOTE_ERR_STATE, CNC_SQLSTATE(SEQUENCE),
		"the statement is not prepared: call cenote_stmt_prepare() or "
		"cenote_send_prepare() first");
}

int
cenote_send_describe(cenote_stmt *stmt)
{
	struct cnp_msg m = { .code = CNP_MSG_DESCRIBE };
	struct cn_send send = { .msg = &m, .stmt = stmt };
	int r = enter(stmt);

	if (r == CENOTE_OK)
		r = cn_may_send(stmt->conn);
	if (r == CENOTE_OK)
		r = not_prepared(stmt);
	if (r == CENOTE_OK && !stmt->is_queued)
		r = cn_stmt_ensure(stmt);
	if (r < 0)
		return r;
	m.as.describe.statement = stmt->name ? 0 : stmt->id;
	m.as.describe.name = cnp_str(stmt->name);
	send.sync = cn_sync_flag(stmt->conn, NULL);
	r = cn_request(stmt->conn, &send);
	return r < 0 ? r : cn_sent(stmt->conn);
}

int
cenote_send_execute(cenote_stmt *stmt, const cenote_params *params,
	const cenote_exec_options *options)
{
	cenote_exec_options exec;
	int r = enter(stmt);

	if (r == CENOTE_OK)
		r = cn_may_send(stmt->conn);
	if (r == CENOTE_OK)
		r = not_prepared(stmt);
	if (r == CENOTE_OK)
		r = cn_exec_options(stmt->conn, options, &exec);
	if (r == CENOTE_OK)
		r = answer_or_queue(
			stmt, params, &exec, cn_sync_flag(stmt->conn, &exec), 0);
	return r < 0 ? r : cn_sent(stmt->conn);
}

int
cenote_stmt_prepare(cenote_stmt *stmt)
{
	int r = enter(stmt);

	if (r == CENOTE_OK)
		r = cn_call_begin(stmt->conn, CNP_MSG_PREPARE);
	if (r == CENOTE_OK)
		r = queue_prepare(stmt, CNP_FRAME_SYNC, 0);
	if (r < 0 || r == CENOTE_AGAIN)
		return r;
	return cn_call_end(stmt->conn, CNP_MSG_PREPARE, cn_take_command(stmt->conn));
}

int
cenote_stmt_execute(cenote_stmt *stmt, const cenote_params *params,
	const cenote_exec_options *options, cenote_result **ret_res)
{
	cenote_exec_options exec;
	int r;

	if (!ret_res)
		return CENOTE_ERR_ARG;
	r = enter(stmt);
	if (r == CENOTE_OK)
		r = cn_call_begin(stmt->conn, CNP_MSG_EXECUTE);
	if (r == CENOTE_OK)
		r = cn_exec_options(stmt->conn, options, &exec);
	if (r == CENOTE_OK)
		r = answer_or_queue(stmt, params, &exec, CNP_FRAME_SYNC, 1);
	if (r < 0 || r == CENOTE_AGAIN)
		return r;
	return cn_call_end(
		stmt->conn, CNP_MSG_EXECUTE, cn_take_result(stmt->conn, ret_res));
}

/* A long value is sent in frames of at most this many bytes. */
#define LONG_DATA_MAX 65536u

/* Queue all of it or nothing, so that the program can repeat the call when there was
 * no memory. */
static int
queue_pieces(cenote_conn *conn, struct cnp_msg *m, const char *bytes, size_t len)
{
	size_t most = cn_piece_max(conn, LONG_DATA_MAX);
	size_t frames = (len / most + 1) * (CNP_FRAME_HEADER + CN_PIECE_OVERHEAD);
	uint8_t *room;
	int r = cnc_buf_reserve(&conn->session.out, len + frames + 1, &room);

	if (r < 0)
		return r;
	do {
		m->as.long_data.data.p = bytes;
		m->as.long_data.data.n = len < most ? len : most;
		r = cnp_client_request(&conn->session, m, 0, 1, NULL);
		bytes += m->as.long_data.data.n;
		len -= m->as.long_data.data.n;
	} while (r == CENOTE_OK && len > 0);
	return r;
}

int
cenote_send_long_data(cenote_stmt *stmt, uint32_t param, const void *data, size_t len)
{
	struct cnp_msg m = { .code = CNP_MSG_LONG_DATA };
	int r = param > UINT16_MAX || (!data && len > 0) ? CENOTE_ERR_ARG : enter(stmt);

	if (r == CENOTE_OK)
		r = not_prepared(stmt);
	if (r == CENOTE_OK && !stmt->is_queued)
		r = cn_stmt_ensure(stmt);
	if (r < 0)
		return r;
	m.as.long_data.statement = stmt->id;
	m.as.long_data.param = (uint16_t)param;
	if (!stmt->has_long_data)
		stmt->long_before = stmt->conn->session.next_request;
	stmt->has_long_data = 1;
	r = queue_pieces(stmt->conn, &m, data, len);
	if (r < 0)
		return r == CENOTE_ERR_NOMEM ? cn_nomem(stmt->conn) : r;
	/* Without a session, the pieces wait for the session on which the statement is executed. */
	return cn_state(stmt->conn) == CN_READY ? cn_sent(stmt->conn) : CENOTE_OK;
}
