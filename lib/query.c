/* SPDX-License-Identifier: BSD-2-Clause */
#include "cache.h"

#include <string.h>

/*
 * The public calls that make requests, pipelines and transactions among them. Each exists
 * twice: cenote_send_…() queues a request, and the blocking form also takes the result.
 *
 * A blocking form that returned CENOTE_AGAIN is remembered in conn->pipeline.call. When
 * the program repeats the call, nothing is queued again.
 */

/* The size of the structure before the member `formats` was added. */
#define EXEC_SIZE_FIRST offsetof(cenote_exec_options, formats)

static int
are_formats(const uint8_t *formats, size_t n)
{
	if (n > 0 && (!formats || n > UINT16_MAX))
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (formats[i] > CENOTE_FORMAT_BINARY)
			return 0;
	}
	return 1;
}

int
cn_exec_options(cenote_conn *conn, const cenote_exec_options *options,
	cenote_exec_options *ret_options)
{
	cenote_exec_options o = CENOTE_EXEC_OPTIONS_INIT;

	if (options && (options->size == sizeof(o) || options->size == EXEC_SIZE_FIRST))
		memcpy(&o, options, options->size);
	else if (options)
		o.stream = UINT32_MAX;
	if (o.stream > 1 || o.format > CENOTE_FORMAT_BINARY || o.sync > 1 ||
		(o.batch_rows > 0 && !o.stream) || !are_formats(o.formats, o.n_formats))
		return cn_fail(conn, CENOTE_ERR_ARG, CNC_SQLSTATE(BAD_PARAMETER),
			"cenote_exec_options: size, format, stream, batch_rows, sync "
			"or formats is not allowed (batch_rows needs stream)");
	o.size = sizeof(o);
	*ret_options = o;
	return CENOTE_OK;
}

int
cenote_get_result(cenote_conn *conn, cenote_result **ret_res)
{
	int r;

	if (!conn || !ret_res)
		return CENOTE_ERR_ARG;
	r = cn_enter(conn);
	if (r < 0)
		return r;
	conn->pipeline.call = 0;
	return cn_take(conn, ret_res);
}

uint8_t
cn_sync_flag(const cenote_conn *conn, const cenote_exec_options *options)
{
	return conn->pipeline.is_begun && (!options || !options->sync) ? 0
								       : CNP_FRAME_SYNC;
}

/* The checks of the calls that only queue. */
static int
enter_send(cenote_conn *conn)
{
	int r;

	if (!conn)
		return CENOTE_ERR_ARG;
	r = cn_enter_attached(conn);
	return r < 0 ? r : cn_may_send(conn);
}

static int
queue_query(cenote_conn *conn, const char *sql, size_t len, const cenote_params *params,
	const cenote_exec_options *options, int is_call)
{
	cenote_exec_options exec = CENOTE_EXEC_OPTIONS_INIT;
	struct cnp_msg m = { .code = CNP_MSG_QUERY };
	struct cn_send send = {
		.msg = &m,
		.options = &exec,
	};
	struct cn_question question = { .msg = &m, .options = &exec };
	cenote_result *res;
	int r;

	r = cn_exec_options(conn, options, &exec);
	if (r < 0)
		return r;
	send.sync = is_call ? CNP_FRAME_SYNC : cn_sync_flag(conn, &exec);
	m.as.query.sql.p = sql;
	m.as.query.sql.n = cn_text_len(sql, len);
	m.as.query.format = (uint8_t)exec.format;
	m.as.query.batch_rows = exec.batch_rows;
	m.as.query.max_rows = exec.max_rows;
	m.as.query.params = cn_params_blob(params);
	m.as.query.formats.p = (const char *)exec.formats;
	m.as.query.formats.n = exec.n_formats;
	send.effect = cnc_sql_effect(sql, m.as.query.sql.n);
	send.is_use = conn->stmts && cn_changes_meaning(conn, sql, m.as.query.sql.n);
	send.reach = cn_cache_reach(conn, sql, m.as.query.sql.n);
	question.reach = send.reach;
	res = cn_cache_ask(conn, &question, &send.keep);
	if (res)
		return cn_request_answered(conn, m.code, res);
	r = cn_request(conn, &send);
	if (r < 0)
		cn_keep_free(send.keep);
	return r;
}

int
cenote_send_query(cenote_conn *conn, const char *sql, size_t len,
	const cenote_params *params, const cenote_exec_options *options)
{
	int r = sql ? enter_send(conn) : CENOTE_ERR_ARG;

	if (r == CENOTE_OK)
		r = queue_query(conn, sql, len, params, options, 0);
	return r < 0 ? r : cn_sent(conn);
}

int
cenote_query(cenote_conn *conn, const char *sql, size_t len, const cenote_params *params,
	const cenote_exec_options *options, cenote_result **ret_res)
{
	int r;

	if (!conn || !sql || !ret_res)
		return CENOTE_ERR_ARG;
	r = cn_enter_attached(conn);
	if (r == CENOTE_OK)
		r = cn_call_begin(conn, CNP_MSG_QUERY);
	if (r == CENOTE_OK)
		r = queue_query(conn, sql, len, params, options, 1);
	if (r < 0 || r == CENOTE_AGAIN)
		return r;
	return cn_call_end(conn, CNP_MSG_QUERY, cn_take_result(conn, ret_res));
}

int
cenote_pipeline_begin(cenote_conn *conn)
{
	int r;

	if (!conn)
		return CENOTE_ERR_ARG;
	r = cn_enter_attached(conn);
	if (r < 0)
		return r;
	if (conn->pipeline.is_begun)
		return cn_fail(conn, CENOTE_ERR_STATE, CNC_SQLSTATE(SEQUENCE),
			"the pipeline was begun already");
	r = cn_may_send(conn);
	if (r < 0)
		return r;
	conn->pipeline.is_begun = 1;
	return CENOTE_OK;
}

/* The checks of the calls that leave a pipeline. */
static int
enter_end(cenote_conn *conn)
{
	int r;

	if (!conn)
		return CENOTE_ERR_ARG;
	r = cn_enter(conn);
	if (r < 0)
		return r;
	if (!conn->pipeline.is_begun)
		return cn_fail(conn, CENOTE_ERR_STATE, CNC_SQLSTATE(SEQUENCE),
			"no pipeline was begun");
	return cn_end_former(conn);
}

int
cenote_pipeline_leave(cenote_conn *conn)
{
	int r = enter_end(conn);

	if (r < 0)
		return r;
	conn->pipeline.is_begun = 0;
	return CENOTE_OK;
}

int
cenote_pipeline_end(cenote_conn *conn)
{
	int r = enter_end(conn);

	if (r < 0)
		return r;
	/* After an error, requests up to the next synchronisation point are skipped. And without
	 * such a point, it is not sure that anything is committed. So make sure that there is one. */
	r = cn_sync(conn);
	if (r != CENOTE_AGAIN)
		conn->pipeline.is_begun = 0;
	return r;
}

int
cenote_flush(cenote_conn *conn)
{
	int r;

	if (!conn)
		return CENOTE_ERR_ARG;
	r = cn_enter_attached(conn);
	if (r == CENOTE_OK)
		r = cn_want_answers(conn);
	return r < 0 ? r : cn_push(conn);
}

int
cenote_set_stream(cenote_conn *conn)
{
	struct cn_request *req;

	if (!conn)
		return CENOTE_ERR_ARG;
	req = conn->pipeline.n > 0 ? cn_request_at(&conn->pipeline, conn->pipeline.n - 1)
				   : NULL;
	if (req && req->first && req->first->flags & CENOTE_RESULT_FLAG_SAVED) {
		cn_cache_make_stream(req->first);
		return CENOTE_OK;
	}
	if (!req || req->is_hidden || req->is_finished || req->first || req->building)
		return cn_fail(conn, CENOTE_ERR_STATE, CNC_SQLSTATE(SEQUENCE),
			"no request waits for the beginning of its answer");
	req->is_stream = 1;
	return CENOTE_OK;
}

int
cenote_send_sync(cenote_conn *conn)
{
	int r = enter_send(conn);

	if (r == CENOTE_OK)
		r = cn_send_sync(conn, 0);
	return r < 0 ? r : cn_sent(conn);
}

/* The name of the statement that the request describes or closes; NULL: none. */
static const char *
name_in(const struct cnp_msg *m)
{
	if (m->code == CNP_MSG_DESCRIBE && m->as.describe.kind == CENOTE_NAMED_STATEMENT)
		return m->as.describe.name.p;
	if (m->code == CNP_MSG_CLOSE && m->as.close.kind == CENOTE_NAMED_STATEMENT)
		return m->as.close.name.p;
	return NULL;
}

static int
queue_command(cenote_conn *conn, const struct cnp_msg *m, uint8_t effect, int is_call)
{
	struct cn_send send = {
		.msg = m,
		.effect = effect,
		.sync = is_call ? CNP_FRAME_SYNC : cn_sync_flag(conn, NULL),
	};
	const char *name = name_in(m);
	int r = CENOTE_OK;

	if (name)
		r = cenote_stmt_by_name(conn, name, &send.stmt);
	if (r < 0)
		return cn_nomem(conn);
	r = cn_request(conn, &send);
	cn_stmt_unref(send.stmt);
	return r;
}

static int
send_command(cenote_conn *conn, const struct cnp_msg *m, uint8_t effect)
{
	int r = enter_send(conn);

	if (r == CENOTE_OK)
		r = queue_command(conn, m, effect, 0);
	return r < 0 ? r : cn_sent(conn);
}

static int
call_command(cenote_conn *conn, const struct cnp_msg *m, uint8_t effect)
{
	int r;

	if (!conn)
		return CENOTE_ERR_ARG;
	r = cn_enter_attached(conn);
	if (r == CENOTE_OK)
		r = cn_call_begin(conn, m->code);
	if (r == CENOTE_OK)
		r = queue_command(conn, m, effect, 1);
	if (r < 0 || r == CENOTE_AGAIN)
		return r;
	return cn_call_end(conn, m->code, cn_take_command(conn));
}

/* As call_command(), for a request that gives a result. */
static int
call_result(cenote_conn *conn, const struct cnp_msg *m, uint8_t effect,
	cenote_result **ret_res)
{
	int r;

	if (!conn || !ret_res)
		return CENOTE_ERR_ARG;
	r = cn_enter_attached(conn);
	if (r == CENOTE_OK)
		r = cn_call_begin(conn, m->code);
	if (r == CENOTE_OK)
		r = queue_command(conn, m, effect, 1);
	if (r < 0 || r == CENOTE_AGAIN)
		return r;
	return cn_call_end(conn, m->code, cn_take_result(conn, ret_res));
}

int
cenote_ping(cenote_conn *conn)
{
	const struct cnp_msg m = { .code = CNP_MSG_PING };

	return call_command(conn, &m, CNC_EFFECT_NONE);
}

int
cenote_send_ping(cenote_conn *conn)
{
	const struct cnp_msg m = { .code = CNP_MSG_PING };

	return send_command(conn, &m, CNC_EFFECT_NONE);
}

int
cenote_reset(cenote_conn *conn)
{
	const struct cnp_msg m = { .code = CNP_MSG_RESET };

	return call_command(conn, &m, CNC_EFFECT_NONE);
}

/* CENOTE_OK, or CENOTE_ERR_ARG if the values do not fit the message. */
static int
fill_begin(struct cnp_msg *m, uint32_t isolation, uint32_t flags)
{
	if (isolation > UINT8_MAX)
		return CENOTE_ERR_ARG;
	m->as.begin.isolation = (uint8_t)isolation;
	m->as.begin.flags = flags;
	return CENOTE_OK;
}

int
cenote_begin(cenote_conn *conn, uint32_t isolation, uint32_t flags)
{
	struct cnp_msg m = { .code = CNP_MSG_BEGIN };
	int r = fill_begin(&m, isolation, flags);

	return r < 0 ? r : call_command(conn, &m, CNC_EFFECT_NONE);
}

int
cenote_send_begin(cenote_conn *conn, uint32_t isolation, uint32_t flags)
{
	struct cnp_msg m = { .code = CNP_MSG_BEGIN };
	int r = fill_begin(&m, isolation, flags);

	return r < 0 ? r : send_command(conn, &m, CNC_EFFECT_NONE);
}

int
cenote_commit(cenote_conn *conn)
{
	const struct cnp_msg m = { .code = CNP_MSG_COMMIT };

	return call_command(conn, &m, CNC_EFFECT_COMMIT);
}

int
cenote_send_commit(cenote_conn *conn)
{
	const struct cnp_msg m = { .code = CNP_MSG_COMMIT };

	return send_command(conn, &m, CNC_EFFECT_COMMIT);
}

int
cenote_rollback(cenote_conn *conn)
{
	const struct cnp_msg m = { .code = CNP_MSG_ROLLBACK };

	return call_command(conn, &m, CNC_EFFECT_NONE);
}

int
cenote_send_rollback(cenote_conn *conn)
{
	const struct cnp_msg m = { .code = CNP_MSG_ROLLBACK };

	return send_command(conn, &m, CNC_EFFECT_NONE);
}

static int
savepoint(cenote_conn *conn, uint8_t action, const char *name)
{
	struct cnp_msg m = { .code = CNP_MSG_SAVEPOINT };

	if (!name)
		return CENOTE_ERR_ARG;
	m.as.savepoint.action = action;
	m.as.savepoint.name = cnp_str(name);
	/* SQLite commits when the outermost savepoint is released. */
	return call_command(conn, &m, action == 1 ? CNC_EFFECT_COMMIT : CNC_EFFECT_NONE);
}

int
cenote_savepoint(cenote_conn *conn, const char *name)
{
	return savepoint(conn, 0, name);
}

int
cenote_release(cenote_conn *conn, const char *name)
{
	return savepoint(conn, 1, name);
}

int
cenote_rollback_to(cenote_conn *conn, const char *name)
{
	return savepoint(conn, 2, name);
}

int
cenote_set_autocommit(cenote_conn *conn, int on)
{
	struct cnp_msg m = { .code = CNP_MSG_AUTOCOMMIT };

	m.as.autocommit.on = on != 0;
	return call_command(conn, &m, CNC_EFFECT_NONE);
}

static int
fill_catalog(cenote_conn *conn, uint32_t kind, const cenote_catalog_filter *filter,
	struct cnp_msg *m)
{
	static const cenote_catalog_filter none = CENOTE_CATALOG_FILTER_INIT;
	struct cnp_catalog *c = &m->as.catalog;

	filter = filter ? filter : &none;
	if (filter->size != sizeof(*filter) || kind < CENOTE_CATALOG_DATABASES ||
		kind > UINT8_MAX)
		return cn_fail(conn, CENOTE_ERR_ARG, CNC_SQLSTATE(BAD_PARAMETER),
			"catalog: no such kind, or the filter's size is wrong");
	c->kind = (uint8_t)kind;
	c->given =
		(uint8_t)((filter->catalog != NULL) | (filter->schema != NULL) << 1 |
			  (filter->object != NULL) << 2 | (filter->column != NULL) << 3 |
			  (filter->types != NULL) << 4);
	c->catalog = cnp_str(filter->catalog ? filter->catalog : "");
	c->schema = cnp_str(filter->schema ? filter->schema : "");
	c->object = cnp_str(filter->object ? filter->object : "");
	c->column = cnp_str(filter->column ? filter->column : "");
	c->types = cnp_str(filter->types ? filter->types : "");
	return CENOTE_OK;
}

int
cenote_send_catalog(cenote_conn *conn, uint32_t kind, const cenote_catalog_filter *filter)
{
	struct cnp_msg m = { .code = CNP_MSG_CATALOG };
	int r = enter_send(conn);

	if (r == CENOTE_OK)
		r = fill_catalog(conn, kind, filter, &m);
	if (r == CENOTE_OK)
		r = queue_command(conn, &m, CNC_EFFECT_NONE, 0);
	return r < 0 ? r : cn_sent(conn);
}

int
cenote_catalog(cenote_conn *conn, uint32_t kind, const cenote_catalog_filter *filter,
	cenote_result **ret_res)
{
	struct cnp_msg m = { .code = CNP_MSG_CATALOG };
	int r;

	if (!conn || !ret_res)
		return CENOTE_ERR_ARG;
	cnc_diag_clear(&conn->diag.d);
	r = fill_catalog(conn, kind, filter, &m);
	return r < 0 ? r : call_result(conn, &m, CNC_EFFECT_NONE, ret_res);
}

static int
fill_function(struct cnp_msg *m, uint32_t function, const cenote_params *params,
	uint32_t format)
{
	if (format > CENOTE_FORMAT_BINARY)
		return CENOTE_ERR_ARG;
	m->as.function.function = function;
	m->as.function.format = (uint8_t)format;
	m->as.function.params = cn_params_blob(params);
	return CENOTE_OK;
}

int
cenote_send_function(cenote_conn *conn, uint32_t function, const cenote_params *params,
	uint32_t format)
{
	struct cnp_msg m = { .code = CNP_MSG_FUNCTION };
	int r = fill_function(&m, function, params, format);

	return r < 0 ? r : send_command(conn, &m, CNC_EFFECT_WRITE);
}

int
cenote_function(cenote_conn *conn, uint32_t function, const cenote_params *params,
	uint32_t format, cenote_result **ret_res)
{
	struct cnp_msg m = { .code = CNP_MSG_FUNCTION };
	int r = fill_function(&m, function, params, format);

	return r < 0 ? r : call_result(conn, &m, CNC_EFFECT_WRITE, ret_res);
}

static int
fill_describe(struct cnp_msg *m, uint32_t kind, const char *name)
{
	if (kind > CENOTE_NAMED_PORTAL || !name)
		return CENOTE_ERR_ARG;
	*m = (struct cnp_msg){ .code = CNP_MSG_DESCRIBE };
	m->as.describe.kind = (uint8_t)kind;
	m->as.describe.name = cnp_str(name);
	return CENOTE_OK;
}

int
cenote_describe_named(
	cenote_conn *conn, uint32_t kind, const char *name, cenote_result **ret_res)
{
	struct cnp_msg m;
	int r = fill_describe(&m, kind, name);

	return r < 0 ? r : call_result(conn, &m, CNC_EFFECT_NONE, ret_res);
}

int
cenote_send_describe_named(cenote_conn *conn, uint32_t kind, const char *name)
{
	struct cnp_msg m;
	int r = fill_describe(&m, kind, name);

	return r < 0 ? r : send_command(conn, &m, CNC_EFFECT_NONE);
}

static int
fill_close(struct cnp_msg *m, uint32_t kind, const char *name)
{
	if (kind > CENOTE_NAMED_PORTAL || !name)
		return CENOTE_ERR_ARG;
	*m = (struct cnp_msg){ .code = CNP_MSG_CLOSE };
	m->as.close.kind = (uint8_t)kind;
	m->as.close.name = cnp_str(name);
	return CENOTE_OK;
}

int
cenote_close_named(cenote_conn *conn, uint32_t kind, const char *name)
{
	struct cnp_msg m;
	int r = fill_close(&m, kind, name);

	return r < 0 ? r : call_command(conn, &m, CNC_EFFECT_NONE);
}

int
cenote_send_close_named(cenote_conn *conn, uint32_t kind, const char *name)
{
	struct cnp_msg m;
	int r = fill_close(&m, kind, name);

	return r < 0 ? r : send_command(conn, &m, CNC_EFFECT_NONE);
}

int
cenote_change_user(
	cenote_conn *conn, const char *user, const char *password, const char *database)
{
	struct cnp_msg m = { .code = CNP_MSG_CHANGE_USER };

	if (!user)
		return CENOTE_ERR_ARG;
	m.as.change_user.user = cnp_str(user);
	m.as.change_user.password = cnp_str(password);
	m.as.change_user.database = cnp_str(database);
	return call_command(conn, &m, CNC_EFFECT_NONE);
}

int
cenote_select_database(cenote_conn *conn, const char *database)
{
	struct cnp_msg m = { .code = CNP_MSG_SELECT_DATABASE };

	if (!database)
		return CENOTE_ERR_ARG;
	m.as.select_database.database = cnp_str(database);
	return call_command(conn, &m, CNC_EFFECT_NONE);
}

static int
keep_option(cenote_conn *conn, const char *name, const char *value)
{
	int r = cn_pairs_set(
		&conn->mem, &conn->reattach.options, name, value, CN_SESSION_OPTIONS_MAX);

	if (r == CENOTE_ERR_NOMEM)
		return cn_nomem(conn);
	if (r < 0)
		return cn_fail(conn, r, CNC_SQLSTATE(LIMIT),
			"the options of the session are more than 8 kB");
	if (strcmp(name, CNP_POSITION) == 0)
		cn_cache_position_given(conn);
	return CENOTE_OK;
}

int
cenote_set_session_option(cenote_conn *conn, const char *name, const char *value)
{
	struct cnp_msg m = { .code = CNP_MSG_SET_OPTION };
	int is_open = conn && cn_state(conn) != CN_CLOSED && cn_state(conn) != CN_LOST;
	int r;

	if (!conn || !name || (is_open && !value))
		return CENOTE_ERR_ARG;
	if (!is_open) {
		cnc_diag_clear(&conn->diag.d);
		if (value)
			return keep_option(conn, name, value);
		cn_pairs_remove(&conn->mem, &conn->reattach.options, name);
		return CENOTE_OK;
	}
	m.as.set_option.name = cnp_str(name);
	m.as.set_option.value = cnp_str(value);
	r = call_command(conn, &m, CNC_EFFECT_NONE);
	return r == CENOTE_OK ? keep_option(conn, name, value) : r;
}
