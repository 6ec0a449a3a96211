/* SPDX-License-Identifier: BSD-2-Clause */
#include "worker.h"

#include <string.h>

#include "core/sqlstate.h"
#include "log.h"

/* One request: a handler each, found by its code. Negative: it failed, as backend.h says; the
 * diagnostics of the worker tell why. */
typedef int handler(struct cnd_worker *w, const struct cnp_msg *m);

static int
fail(struct cnd_worker *w, int status, const char *sqlstate, const char *why)
{
	cnc_diag_set(&w->diag, sqlstate, "%s", why);
	return status;
}

static int
reply_done(struct cnd_worker *w, const char *tag)
{
	struct cnp_done done = { .tag = cnp_str(tag), .affected = -1 };

	return w->sink.ops->done(&w->sink, &done);
}

/* ---- portals with a bound on their rows ---- */

static struct cnd_portal *
find_portal(struct cnd_worker *w, uint32_t portal)
{
	for (size_t i = 0; i < CND_PORTALS; i++) {
		if (w->portals[i].portal == portal)
			return &w->portals[i];
	}
	return NULL;
}

static void
forget_portal(struct cnd_worker *w, uint32_t portal)
{
	struct cnd_portal *p = portal != 0 ? find_portal(w, portal) : NULL;

	if (p != NULL)
		p->portal = 0;
}

/* A request stopped at batch_rows: remember how many rows the portal may still give. */
static void
keep_portal(struct cnd_worker *w, uint32_t portal)
{
	struct cnd_portal *p = find_portal(w, portal);

	if (p == NULL)
		p = find_portal(w, 0);
	if (p != NULL)
		*p = (struct cnd_portal){ portal, w->max_rows, w->rows_left };
}

/* Behind a statement or a fetch that went well. */
static void
settle_portal(struct cnd_worker *w, uint32_t portal)
{
	if ((w->done_flags & CNP_DONE_MORE_ROWS) && w->rows_left != UINT64_MAX)
		keep_portal(w, portal);
	else
		forget_portal(w, portal);
}

/* ---- statements ---- */

/* Of each result: at most so many rows, and a stop after so many. */
static void
set_bounds(struct cnd_worker *w, uint64_t max_rows, uint32_t batch_rows)
{
	w->max_rows = max_rows > 0 ? max_rows : UINT64_MAX;
	w->rows_left = w->max_rows;
	w->batch_rows = batch_rows;
	w->batch_left = batch_rows;
}

/* What only some servers have. */
static int
need(struct cnd_worker *w, uint64_t feature, const char *what)
{
	if (w->backend->features & feature)
		return CENOTE_OK;
	cnc_diag_set(&w->diag, CNC_SQLSTATE(UNSUPPORTED),
		"the %s backend of this pool has no %s", w->backend->name, what);
	return CENOTE_ERR_UNSUPPORTED;
}

static int
set_exec(struct cnd_worker *w, struct cnd_exec *exec, struct cnp_str params,
	uint64_t max_rows)
{
	struct cnc_value *values = NULL;
	int r;

	if (exec->format > CENOTE_FORMAT_BINARY)
		return fail(w, CENOTE_ERR_PROTOCOL, CNC_SQLSTATE(PROTOCOL),
			"there is no such format");
	if (max_rows > 0 && exec->batch_rows > 0 && find_portal(w, 0) == NULL)
		return fail(w, CENOTE_ERR_SERVER, CNC_SQLSTATE(LIMIT),
			"too many open portals with max_rows; at most 16");
	set_bounds(w, max_rows, exec->batch_rows);
	exec->max_rows = max_rows;
	exec->params = NULL;
	exec->n_params = 0;
	if (params.n == 0)
		return CENOTE_OK;
	r = cnp_values_decode(params, &w->arena, &values, &exec->n_params);
	if (r == CENOTE_ERR_PROTOCOL)
		return fail(w, r, CNC_SQLSTATE(PROTOCOL), "malformed parameters");
	exec->params = values;
	return r;
}

static int
on_query(struct cnd_worker *w, const struct cnp_msg *m)
{
	const struct cnp_query *q = &m->as.query;
	struct cnd_exec exec = { .portal = w->server.running,
		.format = q->format,
		.is_simple = q->params.n == 0,
		.formats = q->formats,
		.batch_rows = q->batch_rows };
	int r = set_exec(w, &exec, q->params, q->max_rows);

	if (r < 0)
		return r;
	r = w->backend->query(w->session, q->sql.p, q->sql.n, &exec, &w->sink);
	if (r == CENOTE_OK)
		settle_portal(w, exec.portal);
	return r;
}

static int
on_prepare(struct cnd_worker *w, const struct cnp_msg *m)
{
	const struct cnp_prepare *p = &m->as.prepare;
	struct cnd_prepare prepare = {
		.statement = p->statement, .sql = p->sql, .name = p->name
	};
	int r;

	w->is_describing = 1;
	r = p->name.n > 0 || p->statement == 0
		    ? need(w, CNP_FEATURE_NAMED_STATEMENTS, "named statements")
		    : CENOTE_OK;
	return r < 0 ? r : w->backend->prepare(w->session, &prepare, &w->sink);
}

static int
on_describe(struct cnd_worker *w, const struct cnp_msg *m)
{
	const struct cnp_describe *d = &m->as.describe;
	struct cnd_named which = { d->statement, d->name };

	w->is_describing = 1;
	return w->backend->describe(w->session, &which, d->kind, &w->sink);
}

static int
on_execute(struct cnd_worker *w, const struct cnp_msg *m)
{
	const struct cnp_execute *e = &m->as.execute;
	struct cnd_exec exec = { .portal = w->server.running,
		.format = e->format,
		.columns_known = e->known,
		.formats = e->formats,
		.batch_rows = e->batch_rows };
	struct cnd_named which = { e->statement, e->name };
	int r = set_exec(w, &exec, e->params, e->max_rows);

	if (r < 0)
		return r;
	r = w->backend->execute(w->session, &which, &exec, &w->sink);
	if (r == CENOTE_OK)
		settle_portal(w, exec.portal);
	return r;
}

static int
on_close(struct cnd_worker *w, const struct cnp_msg *m)
{
	const struct cnp_close *c = &m->as.close;
	struct cnd_named which = { c->statement, c->name };

	return w->backend->close(w->session, &which, c->kind, &w->sink);
}

static int
on_fetch(struct cnd_worker *w, const struct cnp_msg *m)
{
	const struct cnp_fetch *f = &m->as.fetch;
	const struct cnd_portal *p = f->portal != 0 ? find_portal(w, f->portal) : NULL;
	int r;

	set_bounds(w, p != NULL ? p->max_rows : 0, f->batch_rows);
	if (p != NULL)
		w->rows_left = p->rows_left;
	r = w->backend->fetch(w->session, f->portal, f->batch_rows, f->columns, &w->sink);
	if (r == CENOTE_OK)
		settle_portal(w, f->portal);
	return r;
}

static int
on_close_portal(struct cnd_worker *w, const struct cnp_msg *m)
{
	forget_portal(w, m->as.close_portal.portal);
	w->backend->close_portal(w->session, m->as.close_portal.portal);
	return reply_done(w, "CLOSE");
}

/* ---- transactions ---- */

static int
on_begin(struct cnd_worker *w, const struct cnp_msg *m)
{
	return w->backend->begin(
		w->session, m->as.begin.isolation, m->as.begin.flags, &w->sink);
}

static int
on_commit(struct cnd_worker *w, const struct cnp_msg *m)
{
	int r = w->backend->commit(w->session, &w->sink);

	(void)m;
	/* the server may or may not have done it before it was lost */
	if (r == CENOTE_ERR_CONN && !w->is_client_gone) {
		char why[CNC_DIAG_MESSAGE_MAX];

		memcpy(why, w->diag.message, sizeof(why));
		cnc_diag_set(&w->diag, CNC_SQLSTATE(OUTCOME_UNKNOWN),
			"the session was lost in COMMIT, its outcome is unknown: %s",
			why);
	}
	return r;
}

static int
on_rollback(struct cnd_worker *w, const struct cnp_msg *m)
{
	(void)m;
	return w->backend->rollback(w->session, &w->sink);
}

static int
on_savepoint(struct cnd_worker *w, const struct cnp_msg *m)
{
	const struct cnp_savepoint *s = &m->as.savepoint;

	if (s->action > 2)
		return fail(w, CENOTE_ERR_PROTOCOL, CNC_SQLSTATE(PROTOCOL),
			"there is no such savepoint action");
	return w->backend->savepoint(
		w->session, s->action, s->name.p, s->name.n, &w->sink);
}

static int
on_autocommit(struct cnd_worker *w, const struct cnp_msg *m)
{
	return w->backend->autocommit(w->session, m->as.autocommit.on != 0, &w->sink);
}

/* ---- the rest ---- */

static int
on_catalog(struct cnd_worker *w, const struct cnp_msg *m)
{
	return w->backend->catalog(w->session, &m->as.catalog, &w->sink);
}

static int
on_ping(struct cnd_worker *w, const struct cnp_msg *m)
{
	int r = w->backend->ping(w->session, &w->diag);

	(void)m;
	return r < 0 ? r : reply_done(w, "PING");
}

static int
on_reset(struct cnd_worker *w, const struct cnp_msg *m)
{
	int r = w->backend->reset(w->session, &w->diag);

	(void)m;
	memset(w->portals, 0, sizeof(w->portals));
	/* half reset is no state to go on from */
	return r < 0 ? CENOTE_ERR_CONN : reply_done(w, "RESET");
}

/* All they need is cnp_server_finish_request(). */
static int
on_nothing(struct cnd_worker *w, const struct cnp_msg *m)
{
	(void)m;
	w->is_done = 1;
	return CENOTE_OK;
}

static int
on_suspend(struct cnd_worker *w, const struct cnp_msg *m)
{
	struct cnp_msg reply = { .code = CNP_MSG_SUSPENDED };
	int64_t ms = w->config->suspend_timeout_ms;
	int r;

	if (ms == 0)
		return fail(w, CENOTE_ERR_UNSUPPORTED, CNC_SQLSTATE(UNSUPPORTED),
			"the pool does not keep suspended sessions (suspend_timeout is "
			"0)");
	if (m->as.suspend.timeout_ms > 0 && m->as.suspend.timeout_ms < ms)
		ms = m->as.suspend.timeout_ms;
	if (ms > UINT32_MAX)
		ms = UINT32_MAX;
	/* the key of the lent session ends with it; this one is the right to resume */
	atomic_store(&w->slot->key, cnd_worker_key(w));
	reply.as.suspended.session =
		cnd_session_number(w->slot_index, w->slot->generation);
	reply.as.suspended.key = w->slot->key;
	reply.as.suspended.timeout_ms = (uint32_t)ms;
	r = cnp_server_reply(&w->server, &reply, 0);
	w->suspended_until_ms = cnd_now_ms() + ms;
	w->is_suspending = r == CENOTE_OK;
	w->is_done = 1;
	return r;
}

static handler *const handlers[] = {
	[CNP_MSG_QUERY] = on_query,
	[CNP_MSG_PREPARE] = on_prepare,
	[CNP_MSG_DESCRIBE] = on_describe,
	[CNP_MSG_EXECUTE] = on_execute,
	[CNP_MSG_CLOSE] = on_close,
	[CNP_MSG_FETCH] = on_fetch,
	[CNP_MSG_CLOSE_PORTAL] = on_close_portal,
	[CNP_MSG_BEGIN] = on_begin,
	[CNP_MSG_COMMIT] = on_commit,
	[CNP_MSG_ROLLBACK] = on_rollback,
	[CNP_MSG_SAVEPOINT] = on_savepoint,
	[CNP_MSG_AUTOCOMMIT] = on_autocommit,
	[CNP_MSG_CATALOG] = on_catalog,
	[CNP_MSG_PING] = on_ping,
	[CNP_MSG_RESET] = on_reset,
	[CNP_MSG_SYNC] = on_nothing,
	[CNP_MSG_DETACH] = on_nothing,
	[CNP_MSG_SUSPEND] = on_suspend,
};

/* ---- running one ---- */

static void
begin(struct cnd_worker *w, const struct cnp_request *req)
{
	w->is_quiet = req->number == 0;
	w->is_done = 0;
	w->done_flags = 0;
	w->is_describing = 0;
	w->is_in_rows = 0;
	w->stopped = 0;
	set_bounds(w, 0, 0);
	w->limit_ms = w->config->query_timeout_ms > 0
			      ? cnd_now_ms() + w->config->query_timeout_ms
			      : CND_NEVER;
	w->n_served += req->number != 0;
	atomic_store_explicit(&w->slot->request, req->number, memory_order_relaxed);
}

/* What a failure is called where the backend gave it no name. */
static void
complete_diag(struct cnd_worker *w, int status, uint8_t code)
{
	if (strcmp(w->diag.sqlstate, "00000") != 0)
		return;
	if (status == CENOTE_ERR_UNSUPPORTED)
		cnc_diag_set(&w->diag, CNC_SQLSTATE(UNSUPPORTED),
			"the %s backend of this pool cannot do %s", w->backend->name,
			cnp_msg_name(code));
	else if (status == CENOTE_ERR_NOMEM)
		cnc_diag_set(&w->diag, CNC_SQLSTATE(NO_MEMORY), "out of memory");
	else if (status == CENOTE_ERR_LIMIT)
		cnc_diag_set(&w->diag, CNC_SQLSTATE(LIMIT),
			"a row or description is longer than the client's max_frame, or "
			"has too many columns");
	else
		cnc_diag_set(&w->diag, CNC_SQLSTATE(INTERNAL),
			"%s failed, and the %s backend did not say why",
			cnp_msg_name(code), w->backend->name);
}

static int
report_failure(struct cnd_worker *w, int status, uint8_t code)
{
	int r;

	complete_diag(w, status, code);
	cnd_sink_abort(w);
	atomic_store_explicit(
		&w->slot->errors, w->slot->errors + 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&w->pool->errors, 1, memory_order_relaxed);
	if (status == CENOTE_ERR_CONN) {
		w->is_session_lost = 1;
		cnd_log(LOG_NOTICE, "the session was lost in %s (SQLSTATE %s)",
			cnp_msg_name(code), w->diag.sqlstate);
	}
	r = cnp_server_error(&w->server, &w->diag);
	cnc_diag_clear(&w->diag);
	return r;
}

static int
finish(struct cnd_worker *w, const struct cnp_request *req)
{
	struct cnd_state state = { CENOTE_TX_IDLE, 0, CNP_STR_NONE };

	if (req->number != 0) {
		atomic_store_explicit(
			&w->slot->finished, req->number, memory_order_release);
		atomic_store_explicit(
			&w->slot->requests, w->slot->requests + 1, memory_order_relaxed);
		atomic_fetch_add_explicit(&w->pool->requests, 1, memory_order_relaxed);
	}
	if (w->is_session_lost)
		state.tx = CENOTE_TX_UNKNOWN;
	else if (!w->is_suspending)
		w->backend->state(w->session, &state);
	atomic_store_explicit(&w->slot->is_held,
		state.tx != CENOTE_TX_IDLE || state.pins != 0, memory_order_relaxed);
	return cnp_server_finish_request(&w->server, state.tx, state.pins, &state.carry);
}

int
cnd_request_run(struct cnd_worker *w, const struct cnp_request *req)
{
	uint8_t code = req->msg.code;
	handler *handle =
		code < sizeof(handlers) / sizeof(handlers[0]) ? handlers[code] : NULL;
	int r;
	int q;

	begin(w, req);
	r = handle != NULL ? handle(w, &req->msg) : CENOTE_ERR_UNSUPPORTED;
	cnc_arena_finish(&w->arena);
	if (w->is_client_gone)
		return CENOTE_ERR_CONN;
	if (r >= 0 && !w->is_done)
		r = fail(w, CENOTE_ERR_SERVER, CNC_SQLSTATE(INTERNAL),
			"the backend gave no answer");
	q = r < 0 ? report_failure(w, r, code) : CENOTE_OK;
	if (q == CENOTE_OK)
		q = finish(w, req);
	if (q < 0)
		return q;
	return r == CENOTE_ERR_PROTOCOL || w->is_session_lost ? CENOTE_ERR_CONN
							      : CENOTE_OK;
}

void
cnd_request_init(struct cnd_worker *w)
{
	w->sink = (struct cnd_sink){
		.ops = &cnd_sink_ops, .batch = &w->batch, .diag = &w->diag
	};
}
