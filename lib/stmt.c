/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include <string.h>

/*
 * A statement belongs to the connection, not to a session: its number is chosen here, and
 * `epoch` says in which attach it was last prepared. One that is used in a later attach
 * is prepared first, as a set-up request, in the same write. Requests count it, so that
 * it can still be prepared for them on another session when the program has destroyed its
 * handle.
 */

static void
free_stmt(cenote_stmt *stmt)
{
	struct cenote_allocator mem = stmt->mem;

	cn_columns_unref(stmt->columns);
	cnc_arena_finish(&stmt->params_arena);
	cnc_free(&mem, stmt->sql);
	cnc_free(&mem, stmt->name);
	cnc_free(&mem, stmt->types);
	cnc_free(&mem, stmt);
}

int
cenote_stmt_create(cenote_conn *conn, const char *sql, size_t len, cenote_stmt **ret_stmt)
{
	cenote_stmt *s;

	if (!conn || !sql || !ret_stmt)
		return CENOTE_ERR_ARG;
	s = cnc_calloc(&conn->mem, 1, sizeof(*s));
	if (!s)
		return CENOTE_ERR_NOMEM;
	s->mem = conn->mem;
	cnc_arena_init(&s->params_arena, &s->mem);
	s->len = cn_text_len(sql, len);
	s->sql = cnc_strndup(&s->mem, sql, s->len);
	if (!s->sql) {
		free_stmt(s);
		return CENOTE_ERR_NOMEM;
	}
	s->refs = 1;
	s->effect = cnc_sql_effect(sql, s->len);
	s->conn = conn;
	s->id = conn->next_stmt++;
	s->next = conn->stmts;
	conn->stmts = s;
	*ret_stmt = s;
	return CENOTE_OK;
}

int
cenote_stmt_by_name(cenote_conn *conn, const char *name, cenote_stmt **ret_stmt)
{
	cenote_stmt *s;
	int r;

	if (!name || !ret_stmt)
		return CENOTE_ERR_ARG;
	r = cenote_stmt_create(conn, "", 0, &s);
	if (r < 0)
		return r;
	r = cenote_stmt_set_name(s, name);
	if (r < 0) {
		cenote_stmt_destroy(s);
		return r;
	}
	s->is_foreign = 1;
	s->is_prepared = 1;
	/* nobody knows what it does */
	s->effect = CNC_EFFECT_COMMIT;
	*ret_stmt = s;
	return CENOTE_OK;
}

static int
may_change(const cenote_stmt *stmt)
{
	if (!stmt)
		return CENOTE_ERR_ARG;
	return stmt->is_prepared || stmt->is_queued || !stmt->conn ? CENOTE_ERR_STATE
								   : CENOTE_OK;
}

int
cenote_stmt_set_name(cenote_stmt *stmt, const char *name)
{
	char *copy = NULL;
	int r = may_change(stmt);

	if (r < 0)
		return r;
	if (name) {
		copy = cnc_strndup(&stmt->mem, name, strlen(name));
		if (!copy)
			return CENOTE_ERR_NOMEM;
	}
	cnc_free(&stmt->mem, stmt->name);
	stmt->name = copy;
	return CENOTE_OK;
}

int
cenote_stmt_set_param_types(cenote_stmt *stmt, const uint32_t *types, uint32_t n)
{
	char *blob = NULL;
	int r = n > UINT16_MAX || (n > 0 && !types) ? CENOTE_ERR_ARG : may_change(stmt);

	if (r < 0)
		return r;
	if (n > 0) {
		blob = cnc_calloc(&stmt->mem, n, 4);
		if (!blob)
			return CENOTE_ERR_NOMEM;
	}
	for (uint32_t i = 0; i < n; i++)
		cnc_put_u32((uint8_t *)blob + (size_t)i * 4, types[i]);
	cnc_free(&stmt->mem, stmt->types);
	stmt->types = blob;
	stmt->types_len = (size_t)n * 4;
	return CENOTE_OK;
}

cenote_stmt *
cn_stmt_ref(cenote_stmt *stmt)
{
	if (stmt)
		stmt->refs++;
	return stmt;
}

static void
leave_conn(cenote_stmt *stmt)
{
	struct cnp_msg m = { .code = CNP_MSG_CLOSE };
	cenote_conn *conn = stmt->conn;
	cenote_stmt **at = &conn->stmts;

	while (*at != stmt)
		at = &(*at)->next;
	*at = stmt->next;
	m.as.close.statement = stmt->id;
	/* Without memory it stays prepared until the session is given back. */
	if (!stmt->name && stmt->epoch == conn->reattach.epoch && conn->pid == cn_pid(conn))
		(void)cn_setup(conn, &m);
}

void
cn_stmt_unref(cenote_stmt *stmt)
{
	if (!stmt || --stmt->refs > 0)
		return;
	if (stmt->conn)
		leave_conn(stmt);
	free_stmt(stmt);
}

void
cenote_stmt_destroy(cenote_stmt *stmt)
{
	cn_stmt_unref(stmt);
}

/* ---------------------------------------------------------------- preparing ----- */

static void
fill_prepare(const cenote_stmt *stmt, struct cnp_msg *m)
{
	*m = (struct cnp_msg){ .code = CNP_MSG_PREPARE };
	m->as.prepare.statement = stmt->name ? 0 : stmt->id;
	m->as.prepare.name = cnp_str(stmt->name);
	m->as.prepare.types.p = stmt->types;
	m->as.prepare.types.n = stmt->types_len;
	m->as.prepare.sql.p = stmt->sql;
	m->as.prepare.sql.n = stmt->len;
}

/* Prepare it on this session without asking for the answer. */
static int
prepare_again(cenote_stmt *stmt)
{
	struct cnp_msg m;
	int r;

	fill_prepare(stmt, &m);
	r = cnp_client_request(&stmt->conn->session, &m, 0, 1, NULL);
	if (r < 0)
		return r == CENOTE_ERR_NOMEM ? cn_nomem(stmt->conn) : r;
	stmt->epoch = stmt->conn->reattach.epoch;
	return CENOTE_OK;
}

int
cn_is_restored(const cenote_conn *conn)
{
	int is_attaching =
		cn_state(conn) == CN_CONNECTING || cn_state(conn) == CN_ATTACHING;

	return cn_state(conn) == CN_READY || (is_attaching && conn->attach.is_restored);
}

int
cn_stmt_ensure(cenote_stmt *stmt)
{
	cenote_conn *conn = stmt->conn;

	/* What has a name is the program's own to prepare again. */
	if (stmt->name || stmt->epoch == conn->reattach.epoch || !cn_is_restored(conn))
		return CENOTE_OK;
	return prepare_again(stmt);
}

int
cn_stmts_restore(cenote_conn *conn)
{
	int r = CENOTE_OK;

	for (cenote_stmt *s = conn->stmts; s && r == CENOTE_OK; s = s->next) {
		if (s->is_prepared && !s->name && !s->is_foreign &&
			s->epoch != conn->reattach.epoch)
			r = prepare_again(s);
	}
	return r;
}

static int
restore_request(cenote_conn *conn, struct cn_request *req)
{
	int r = req->is_use ? cn_stmts_restore(conn) : CENOTE_OK;

	if (r < 0)
		return r;
	/* Another session may describe it otherwise. */
	cn_columns_unref(req->columns);
	req->columns = NULL;
	if (!req->stmt || req->stmt->name || req->stmt->epoch == conn->reattach.epoch)
		return CENOTE_OK;
	/* Its own PREPARE goes before what uses it. */
	if (req->code == CNP_MSG_PREPARE) {
		req->stmt->epoch = conn->reattach.epoch;
		return CENOTE_OK;
	}
	return prepare_again(req->stmt);
}

int
cn_session_restore(cenote_conn *conn)
{
	struct cnp_msg m = { .code = CNP_MSG_AUTOCOMMIT };
	int r = CENOTE_OK;

	/* A setting of the program's, not of a session's: or a write would commit at once. */
	if (conn->reattach.is_autocommit_off) {
		m.as.autocommit.on = 0;
		r = cnp_client_request(&conn->session, &m, 0, 1, NULL);
	}
	for (size_t i = conn->pipeline.n_finished; i < conn->pipeline.n && r == CENOTE_OK; i++)
		r = restore_request(conn, cn_request_at(&conn->pipeline, i));
	/* pieces of long values wait for their execution */
	for (cenote_stmt *s = conn->stmts; s && r == CENOTE_OK; s = s->next) {
		if (s->has_long_data && s->epoch != conn->reattach.epoch)
			r = prepare_again(s);
	}
	return r == CENOTE_ERR_NOMEM ? cn_nomem(conn) : r;
}

void
cn_stmt_described(cenote_stmt *stmt, struct cn_columns *columns, uint8_t format)
{
	struct cn_columns *old = stmt->columns;

	stmt->columns = cn_columns_ref(columns);
	stmt->columns_epoch = stmt->conn ? stmt->conn->reattach.epoch : 0;
	stmt->format = format;
	cn_columns_unref(old);
}

int
cn_params_decode(const struct cenote_allocator *mem, const uint8_t *payload, size_t len,
	struct cnc_arena *arena, struct cnp_param **params, uint32_t *n)
{
	struct cnc_arena fresh;
	int r;

	/* In an arena of its own: without memory the old description stays. */
	cnc_arena_init(&fresh, mem);
	r = cnp_params_decode(payload, len, &fresh, params, n);
	if (r < 0) {
		cnc_arena_finish(&fresh);
		return r;
	}
	cnc_arena_finish(arena);
	*arena = fresh;
	return CENOTE_OK;
}

int
cn_stmt_params(cenote_stmt *stmt, const uint8_t *payload, size_t len)
{
	int r = cn_params_decode(&stmt->mem, payload, len, &stmt->params_arena,
		&stmt->params, &stmt->n_params);

	if (r < 0)
		return r;
	/* COLUMNS follows if it gives rows. */
	cn_columns_unref(stmt->columns);
	stmt->columns = NULL;
	return CENOTE_OK;
}

/* ------------------------------------------------------------------ sending ----- */

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
	fill_prepare(stmt, &m);
	r = cn_request(stmt->conn, &send);
	if (r < 0)
		return r;
	stmt->is_queued = 1;
	/* With no session it goes to the next one, whose epoch is not known yet. */
	stmt->epoch = cn_state(stmt->conn) == CN_READY ? stmt->conn->reattach.epoch : 0;
	return CENOTE_OK;
}

static int
queue_execute(cenote_stmt *stmt, const cenote_params *params,
	const cenote_exec_options *exec, uint8_t sync)
{
	struct cnp_msg m = { .code = CNP_MSG_EXECUTE };
	struct cn_send send = {
		.msg = &m,
		.effect = stmt->effect,
		.sync = sync,
		.stmt = stmt,
		.options = exec,
	};
	/* Only what this very session described: before it the table may have been another. What a
	 * name stands for may change by SQL. */
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
	m.as.execute.statement = stmt->name ? 0 : stmt->id;
	m.as.execute.name = cnp_str(stmt->name);
	m.as.execute.formats.p = (const char *)exec->formats;
	m.as.execute.formats.n = exec->n_formats;
	m.as.execute.known = is_known != 0;
	m.as.execute.format = (uint8_t)exec->format;
	m.as.execute.batch_rows = exec->batch_rows;
	m.as.execute.max_rows = exec->max_rows;
	m.as.execute.params = cn_params_blob(params);
	r = cn_request(stmt->conn, &send);
	if (r == CENOTE_OK)
		stmt->has_long_data = 0;
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
		r = queue_execute(stmt, params, &exec, cn_sync_flag(stmt->conn, &exec));
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

/* Prepare and execute in one write: if the first fails, its error is the second's. */
static int
queue_both(cenote_stmt *stmt, const cenote_params *params,
	const cenote_exec_options *options)
{
	cenote_exec_options exec;
	int r;

	r = cn_exec_options(stmt->conn, options, &exec);
	if (r == CENOTE_OK && !stmt->is_prepared && !stmt->is_queued)
		r = queue_prepare(stmt, 0, 1);
	if (r == CENOTE_OK)
		r = queue_execute(stmt, params, &exec, CNP_FRAME_SYNC);
	return r;
}

int
cenote_stmt_execute(cenote_stmt *stmt, const cenote_params *params,
	const cenote_exec_options *options, cenote_result **ret_res)
{
	int r;

	if (!ret_res)
		return CENOTE_ERR_ARG;
	r = enter(stmt);
	if (r == CENOTE_OK)
		r = cn_call_begin(stmt->conn, CNP_MSG_EXECUTE);
	if (r == CENOTE_OK)
		r = queue_both(stmt, params, options);
	if (r < 0 || r == CENOTE_AGAIN)
		return r;
	return cn_call_end(
		stmt->conn, CNP_MSG_EXECUTE, cn_take_result(stmt->conn, ret_res));
}

/* Long values go in frames of at most so many bytes. */
#define LONG_DATA_MAX 65536u

/* All of it or nothing: who had no memory may say it again. */
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
	stmt->has_long_data = 1;
	r = queue_pieces(stmt->conn, &m, data, len);
	if (r < 0)
		return r == CENOTE_ERR_NOMEM ? cn_nomem(stmt->conn) : r;
	/* With no session it waits for the one that the execution gets. */
	return cn_state(stmt->conn) == CN_READY ? cn_sent(stmt->conn) : CENOTE_OK;
}

/* ------------------------------------------------------------------ reading ----- */

uint32_t
cenote_stmt_n_params(const cenote_stmt *stmt)
{
	return stmt ? stmt->n_params : 0;
}

int
cenote_stmt_param_type(const cenote_stmt *stmt, uint32_t i)
{
	return i < cenote_stmt_n_params(stmt) ? stmt->params[i].type : CENOTE_TYPE_NULL;
}

uint32_t
cenote_stmt_param_native_type(const cenote_stmt *stmt, uint32_t i)
{
	return i < cenote_stmt_n_params(stmt) ? stmt->params[i].native_type : 0;
}

const char *
cenote_stmt_param_name(const cenote_stmt *stmt, uint32_t i)
{
	return i < cenote_stmt_n_params(stmt) ? stmt->params[i].name.p : "";
}

uint32_t
cenote_stmt_n_columns(const cenote_stmt *stmt)
{
	return stmt && stmt->columns ? stmt->columns->n : 0;
}

const cenote_column *
cenote_stmt_column(const cenote_stmt *stmt, uint32_t col)
{
	if (col >= cenote_stmt_n_columns(stmt))
		return NULL;
	return (const cenote_column *)&stmt->columns->list[col];
}
