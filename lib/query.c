/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include <string.h>

/*
 * The public calls that make requests. Each exists twice: cenote_send_…() queues, and the
 * blocking form is that and taking the results. A blocking form that was left with
 * CENOTE_AGAIN is known by conn->call, and queues nothing when it is called again.
 */

size_t
cn_text_len(const char *text, size_t len)
{
	return len == CENOTE_NTS ? strlen(text) : len;
}

int
cn_exec_options(cenote_conn *conn, const cenote_exec_options *options,
	cenote_exec_options *ret_options)
{
	static const cenote_exec_options none = CENOTE_EXEC_OPTIONS_INIT;

	if (!options) {
		*ret_options = none;
		return CENOTE_OK;
	}
	if (options->size != sizeof(*options) || options->stream > 1 ||
		options->format > CENOTE_FORMAT_BINARY || options->reserved != 0 ||
		(options->batch_rows > 0 && !options->stream))
		return cn_fail(conn, CENOTE_ERR_ARG, CNC_SQLSTATE(BAD_PARAMETER),
			"cenote_exec_options: size, format, stream or batch_rows is not "
			"allowed (batch_rows needs stream)");
	*ret_options = *options;
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
	conn->call = 0;
	return cn_take(conn, ret_res);
}

static uint8_t
sync_flag(const cenote_conn *conn, int is_call)
{
	return conn->in_pipeline && !is_call ? 0 : CNP_FRAME_SYNC;
}

/* Entry of the calls that only queue. */
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
		.sync = sync_flag(conn, is_call),
		.options = &exec,
	};
	int r;

	r = cn_exec_options(conn, options, &exec);
	if (r < 0)
		return r;
	m.as.query.sql.p = sql;
	m.as.query.sql.n = cn_text_len(sql, len);
	m.as.query.format = (uint8_t)exec.format;
	m.as.query.batch_rows = exec.batch_rows;
	m.as.query.max_rows = exec.max_rows;
	m.as.query.params = cn_params_blob(params);
	send.effect = cnc_sql_effect(sql, m.as.query.sql.n);
	return cn_request(conn, &send);
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
	if (r < 0)
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
	if (conn->in_pipeline)
		return cn_fail(conn, CENOTE_ERR_STATE, CNC_SQLSTATE(SEQUENCE),
			"the pipeline was begun already");
	r = cn_may_send(conn);
	if (r < 0)
		return r;
	conn->in_pipeline = 1;
	return CENOTE_OK;
}

int
cenote_pipeline_end(cenote_conn *conn)
{
	int r;

	if (!conn)
		return CENOTE_ERR_ARG;
	r = cn_enter(conn);
	if (r < 0)
		return r;
	if (!conn->in_pipeline)
		return cn_fail(conn, CENOTE_ERR_STATE, CNC_SQLSTATE(SEQUENCE),
			"no pipeline was begun");
	r = cn_end_former(conn);
	if (r < 0)
		return r;
	/* Behind an error everything is skipped up to a synchronisation point: make
	 * sure of one. */
	if (conn->needs_sync && cn_state(conn) != CN_LOST) {
		r = cn_send_sync(conn, 1);
		if (r < 0)
			return r;
	}
	conn->in_pipeline = 0;
	return cn_sent(conn);
}

int
cenote_send_sync(cenote_conn *conn)
{
	int r = enter_send(conn);

	if (r == CENOTE_OK)
		r = cn_send_sync(conn, 0);
	return r < 0 ? r : cn_sent(conn);
}

/* --------------------------------------------------------------- transactions ----- */

static int
queue_command(cenote_conn *conn, const struct cnp_msg *m, uint8_t effect, int is_call)
{
	const struct cn_send send = {
		.msg = m,
		.effect = effect,
		.sync = sync_flag(conn, is_call),
	};

	return cn_request(conn, &send);
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
	if (r < 0)
		return r;
	return cn_call_end(conn, m->code, cn_take_command(conn));
}

int
cenote_ping(cenote_conn *conn)
{
	const struct cnp_msg m = { .code = CNP_MSG_PING };

	return call_command(conn, &m, CNC_EFFECT_NONE);
}

int
cenote_reset(cenote_conn *conn)
{
	const struct cnp_msg m = { .code = CNP_MSG_RESET };

	return call_command(conn, &m, CNC_EFFECT_NONE);
}

/* CENOTE_OK, or CENOTE_ERR_ARG for values that do not fit the message. */
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
	/* SQLite: releasing the outermost savepoint commits. */
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

/* ------------------------------------------------------------------- catalog ----- */

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
	r = cn_enter_attached(conn);
	if (r == CENOTE_OK)
		r = cn_call_begin(conn, CNP_MSG_CATALOG);
	if (r == CENOTE_OK)
		r = fill_catalog(conn, kind, filter, &m);
	if (r == CENOTE_OK)
		r = queue_command(conn, &m, CNC_EFFECT_NONE, 1);
	if (r < 0)
		return r;
	return cn_call_end(conn, CNP_MSG_CATALOG, cn_take_result(conn, ret_res));
}
