/* SPDX-License-Identifier: BSD-2-Clause */
/* All requests except those on prepared statements. For each of them, libcenote has the same request. This file owns nothing. */
#include <string.h>

#include "backends/common/answer.h"
#include "router.h"

/* ---- values ---- */

static int
add_value(cenote_params *params, const struct cnc_value *v)
{
	if (v->is_long)
		return cenote_params_add_long(params, v->type);
	if (v->is_native)
		return cenote_params_add_native(params, v->native_type, v->format,
			v->is_null ? NULL : v->bytes, v->len);
	if (v->is_null)
		return cenote_params_add_null(params);
	switch (v->type) {
	case CENOTE_TYPE_NULL:
		return cenote_params_add_null(params);
	case CENOTE_TYPE_BOOL:
		return cenote_params_add_bool(params, v->as.i64 != 0);
	case CENOTE_TYPE_INT64:
		return cenote_params_add_int64(params, v->as.i64);
	case CENOTE_TYPE_UINT64:
		return cenote_params_add_uint64(params, v->as.u64);
	case CENOTE_TYPE_DOUBLE:
		return cenote_params_add_double(params, v->as.f64);
	case CENOTE_TYPE_DECIMAL:
		return cenote_params_add_decimal(params, v->bytes, v->len);
	case CENOTE_TYPE_BYTES:
		return cenote_params_add_bytes(params, v->bytes, v->len);
	case CENOTE_TYPE_DATE:
		return cenote_params_add_date(params, &v->as.date);
	case CENOTE_TYPE_TIME:
		return cenote_params_add_time(params, &v->as.time);
	case CENOTE_TYPE_TIMESTAMP:
		return cenote_params_add_timestamp(params, &v->as.timestamp);
	default:
		return cenote_params_add_text(params, v->bytes, v->len);
	}
}

int
cnd_rt_params(struct cnd_session *s, const struct cnd_exec *exec, bool is_simple,
	cenote_params **ret_params)
{
	cenote_params *params = NULL;
	int r = CENOTE_OK;

	*ret_params = NULL;
	if (is_simple)
		return CENOTE_OK;
	r = cenote_params_create(s->mem, &params);
	for (uint32_t i = 0; i < exec->n_params && r == CENOTE_OK; i++)
		r = add_value(params, &exec->params[i]);
	if (r == CENOTE_OK)
		*ret_params = params;
	else
		cenote_params_destroy(params);
	return r;
}

cenote_exec_options
cnd_rt_options(const struct cnd_exec *exec)
{
	cenote_exec_options o = CENOTE_EXEC_OPTIONS_INIT;

	o.format = exec->format;
	o.stream = 1;
	o.batch_rows = exec->portal != NULL ? exec->batch_rows : 0;
	o.max_rows = exec->max_rows;
	o.formats = (const uint8_t *)exec->formats.p;
	o.n_formats = exec->formats.n;
	return o;
}

/* In a unit, libcenote would keep the request until the synchronisation point. */
int
cnd_rt_send_off(struct cnd_session *s, int r)
{
	return r == CENOTE_OK && s->at->is_in_unit ? cenote_flush(s->at->conn) : r;
}

/* Write a request that was queued with the result `r`, and pass its results on. */
static int
finish(struct cnd_session *s, int r, struct cnd_sink *sink, const struct cnd_exec *exec)
{
	r = cnd_rt_send_off(s, r);
	return r < 0 ? cnd_rt_fail(s, s->at, r, sink->diag)
		     : cnd_rt_deliver(s, sink, exec != NULL ? exec->portal : NULL, NULL);
}

int
cnd_rt_query(struct cnd_session *s, const char *sql, size_t len,
	const struct cnd_exec *exec, struct cnd_sink *sink)
{
	cenote_exec_options o = cnd_rt_options(exec);
	cenote_params *params;
	int r = cnd_rt_choose(s, sink, exec->is_sync);

	if (r < 0)
		return r;
	r = cnd_rt_params(s, exec, exec->is_simple, &params);
	if (r == CENOTE_OK) {
		CND_RT_AWAIT(r, s, s->at,
			cenote_send_query(s->at->conn, sql, len, params, &o));
		r = finish(s, r, sink, exec);
	}
	cenote_params_destroy(params);
	return cnd_rt_leave(s, r, sql, len);
}

int
cnd_rt_function(struct cnd_session *s, uint32_t function, const struct cnd_exec *exec,
	struct cnd_sink *sink)
{
	cenote_params *params;
	int r = cnd_rt_choose(s, sink, exec->is_sync);

	if (r < 0)
		return r;
	r = cnd_rt_params(s, exec, false, &params);
	if (r == CENOTE_OK) {
		CND_RT_AWAIT(r, s, s->at,
			cenote_send_function(
				s->at->conn, function, params, exec->format));
		if (r == CENOTE_OK)
			r = cenote_set_stream(s->at->conn);
		r = finish(s, r, sink, NULL);
	}
	cenote_params_destroy(params);
	return cnd_rt_leave(s, r, NULL, 0);
}

/* ---- transactions ---- */

int
cnd_rt_begin(
	struct cnd_session *s, uint8_t isolation, uint32_t flags, struct cnd_sink *sink)
{
	int r = cnd_rt_enter(s, NULL, sink, true);

	if (r < 0)
		return r;
	CND_RT_AWAIT(r, s, s->at, cenote_send_begin(s->at->conn, isolation, flags));
	return cnd_rt_leave(s, finish(s, r, sink, NULL), NULL, 0);
}

int
cnd_rt_commit(struct cnd_session *s, struct cnd_sink *sink)
{
	int r = cnd_rt_enter(s, NULL, sink, true);

	if (r < 0)
		return r;
	CND_RT_AWAIT(r, s, s->at, cenote_send_commit(s->at->conn));
	return cnd_rt_leave(s, finish(s, r, sink, NULL), NULL, 0);
}

int
cnd_rt_rollback(struct cnd_session *s, struct cnd_sink *sink)
{
	int r = cnd_rt_enter(s, NULL, sink, true);

	if (r < 0)
		return r;
	CND_RT_AWAIT(r, s, s->at, cenote_send_rollback(s->at->conn));
	return cnd_rt_leave(s, finish(s, r, sink, NULL), NULL, 0);
}

/* For the requests below, libcenote has only functions that wait for the answer. Such a request ends the unit, if one is open. */
static int
finish_call(struct cnd_session *s, int r, const char *tag, struct cnd_sink *sink)
{
	r = r < 0 ? cnd_rt_fail(s, s->at, r, sink->diag) : cnd_done(sink, tag, 0);
	return cnd_rt_leave(s, r, NULL, 0);
}

/* Let a request of the unit fail at the target. Then the synchronization point undoes the unit if the server has such units, as if the
 * refused request had failed there. A transaction from before the unit stays open. */
static int
undo_unit(struct cnd_session *s, struct cnd_rt_target *t)
{
	int r;

	if (!t->is_refused || t->had_tx)
		return CENOTE_OK;
	CND_RT_AWAIT(r, s, t,
		cenote_send_describe_named(t->conn, CENOTE_NAMED_STATEMENT,
			"a request was refused, so the others are undone"));
	r = cnd_rt_send_off(s, r);
	return r == CENOTE_OK ? cnd_rt_drop(s, t, NULL) : CENOTE_OK;
}

/* End the unit of requests at this target, with a synchronisation point. */
static int
end_unit(struct cnd_session *s, struct cnd_rt_target *t, struct cnc_diag *diag)
{
	int r, failed;

	if (!t->is_in_unit)
		return CENOTE_OK;
	cnd_rt_tell_early(s, SIZE_MAX);
	/* the answer to the synchronization point that has gone ahead */
	r = t->has_sync ? cnd_rt_drop(s, t, diag) : CENOTE_OK;
	t->has_sync = false;
	failed = r;
	if (r != CENOTE_ERR_CONN)
		r = undo_unit(s, t);
	if (r == CENOTE_ERR_CONN)
		return r;
	CND_RT_AWAIT(r, s, t, cenote_pipeline_end(t->conn));
	t->is_in_unit = false;
	return r < 0 ? cnd_rt_fail(s, t, r, diag) : failed;
}

static int
enter_call(struct cnd_session *s, struct cnd_sink *sink)
{
	int r = cnd_rt_enter(s, NULL, sink, true);

	return r < 0 ? r : end_unit(s, s->at, sink->diag);
}

int
cnd_rt_savepoint(struct cnd_session *s, uint8_t action, const char *name, size_t len,
	struct cnd_sink *sink)
{
	static int (*const calls[])(cenote_conn * conn, const char *name) = {
		cenote_savepoint, cenote_release, cenote_rollback_to
	};
	int r = enter_call(s, sink);

	(void)len;
	if (r < 0)
		return r;
	CND_RT_AWAIT(r, s, s->at, calls[action](s->at->conn, name));
	return finish_call(s, r, cnd_savepoint_tag(action), sink);
}

int
cnd_rt_autocommit(struct cnd_session *s, int on, struct cnd_sink *sink)
{
	int r = enter_call(s, sink);

	if (r < 0)
		return r;
	CND_RT_AWAIT(r, s, s->at, cenote_set_autocommit(s->at->conn, on));
	if (r == CENOTE_OK)
		s->is_manual = s->at->is_manual = !on;
	return finish_call(s, r, "SET", sink);
}

int
cnd_rt_change_user(
	struct cnd_session *s, const struct cnp_change_user *to, struct cnd_sink *sink)
{
	int r = enter_call(s, sink);

	if (r < 0)
		return r;
	CND_RT_AWAIT(r, s, s->at,
		cenote_change_user(s->at->conn, to->user.p,
			to->password.n > 0 ? to->password.p : NULL,
			to->database.n > 0 ? to->database.p : NULL));
	/* the sessions at the other targets still have the former user */
	if (r == CENOTE_OK && s->n_targets > 1)
		s->bound = s->at;
	return finish_call(s, r, "CHANGE USER", sink);
}

int
cnd_rt_select_database(
	struct cnd_session *s, const char *database, size_t len, struct cnd_sink *sink)
{
	int r = enter_call(s, sink);

	(void)len;
	if (r < 0)
		return r;
	CND_RT_AWAIT(r, s, s->at, cenote_select_database(s->at->conn, database));
	if (r == CENOTE_OK && s->n_targets > 1)
		s->bound = s->at;
	return finish_call(s, r, "USE", sink);
}

/* ---- the rest ---- */

int
cnd_rt_catalog(
	struct cnd_session *s, const struct cnp_catalog *filter, struct cnd_sink *sink)
{
	cenote_catalog_filter f = CENOTE_CATALOG_FILTER_INIT;
	const struct {
		const char **to;
		struct cnp_str from;
	} fields[] = { { &f.catalog, filter->catalog }, { &f.schema, filter->schema },
		{ &f.object, filter->object }, { &f.column, filter->column },
		{ &f.types, filter->types } };
	int r = cnd_rt_enter(s, NULL, sink, true);

	if (r < 0)
		return r;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (filter->given & (1u << i))
			*fields[i].to = fields[i].from.p;
	}
	CND_RT_AWAIT(r, s, s->at, cenote_send_catalog(s->at->conn, filter->kind, &f));
	if (r == CENOTE_OK)
		r = cenote_set_stream(s->at->conn);
	return cnd_rt_leave(s, finish(s, r, sink, NULL), NULL, 0);
}

int
cnd_rt_sync(struct cnd_session *s, struct cnd_sink *sink)
{
	int r = CENOTE_OK;

	s->sink = sink;
	s->stopped = CENOTE_OK;
	for (size_t i = 0; i < s->n_targets && r == CENOTE_OK; i++) {
		struct cnd_rt_target *t = &s->targets[i];

		if (!t->is_attached || !t->is_in_unit)
			continue;
		s->at = t;
		r = cnd_rt_leave(s, end_unit(s, t, sink->diag), NULL, 0);
	}
	s->sink = NULL;
	return r;
}
