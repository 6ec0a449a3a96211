/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Run one request: find its handler by its code, call the backend, and queue the last reply. It
 * owns w->request, and w->held after each request. client.c calls it.
 */
#include "worker/worker.h"

#include <string.h>

#include "core/sqlstate.h"
#include "shared/log.h"
#include "shared/units.h"

/* How long a suspended session waits for the door to know its worker. */
#define DOOR_MS 5000

/* A handler. Negative: the request failed, as backend.h says; w->diag has the reason. */
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

/* ---- statements ---- */

/* Each result has at most max_rows rows, and stops after batch_rows. */
static void
set_bounds(struct cnd_worker_result *r, uint64_t max_rows, uint32_t batch_rows)
{
	r->max_rows = max_rows > 0 ? max_rows : UINT64_MAX;
	r->rows_left = r->max_rows;
	r->batch_rows = batch_rows;
	r->batch_left = batch_rows;
}

/* After a statement or a fetch that succeeded: remember how many rows its portal may still return. */
static void
settle_portal(struct cnd_worker *w, struct cnd_portal *portal)
{
	if (portal == NULL)
		return;
	portal->max_rows = w->result.max_rows;
	portal->rows_left = w->result.rows_left;
}

/* Check that the backend has a feature. `has_op` is 0 if it lacks the function for it. */
static int
need(struct cnd_worker *w, uint64_t feature, int has_op, const char *what)
{
	if ((w->backend->features & feature) && has_op)
		return CENOTE_OK;
	cnc_diag_set(&w->diag, CNC_SQLSTATE(UNSUPPORTED),
		"the %s backend of this pool has no %s", w->backend->name, what);
	return CENOTE_ERR_UNSUPPORTED;
}

/* Check that the pool has named statements, if the request needs them. Only statements have numbers;
 * portals always have names. */
static int
check_named(struct cnd_worker *w, uint32_t number, struct cnp_str name, uint8_t kind)
{
	if (kind > CNP_NAMED_PORTAL)
		return fail(w, CENOTE_ERR_PROTOCOL, CNC_SQLSTATE(PROTOCOL),
			"the kind must be statement or portal");
	return number == 0 || name.n > 0 || kind != CNP_NAMED_STATEMENT
		       ? need(w, CNP_FEATURE_NAMED_STATEMENTS, 1, "named statements")
		       : CENOTE_OK;
}

/* Find a statement or portal: by the client's number, or, if that is 0, by the server's name. */
static int
set_named(struct cnd_worker *w, struct cnd_named *which, uint32_t number,
	struct cnp_str name, uint8_t kind)
{
	int r = check_named(w, number, name, kind);

	*which = (struct cnd_named){
		.name = name, .kind = kind, .is_sync = w->request.is_sync
	};
	return r < 0 || number == 0 ? r
				    : cnd_statement_get(&w->statements, number,
					      &which->statement, &w->diag);
}

static int
are_formats(const struct cnd_exec *exec)
{
	for (size_t i = 0; i < exec->formats.n; i++) {
		if ((uint8_t)exec->formats.p[i] > CENOTE_FORMAT_BINARY)
			return 0;
	}
	return exec->format <= CENOTE_FORMAT_BINARY &&
	       exec->formats.n <= CNC_BATCH_COLS_MAX;
}

static int
set_exec(struct cnd_worker *w, struct cnd_exec *exec, struct cnp_str params,
	uint64_t max_rows)
{
	struct cnc_value *values = NULL;
	int r;

	if (!are_formats(exec))
		return fail(
			w, CENOTE_ERR_PROTOCOL, CNC_SQLSTATE(PROTOCOL), "unknown format");
	if (exec->batch_rows > 0) {
		exec->portal = cnd_portal_make(&w->statements, w->client.server.running);
		if (exec->portal == NULL)
			return CENOTE_ERR_NOMEM;
	}
	set_bounds(&w->result, max_rows, exec->batch_rows);
	exec->max_rows = max_rows;
	exec->is_sync = w->request.is_sync;
	exec->params = NULL;
	exec->n_params = 0;
	if (params.n == 0)
		return CENOTE_OK;
	r = cnp_values_decode(params, &w->request.arena, &values, &exec->n_params);
	if (r == CENOTE_ERR_PROTOCOL)
		return fail(w, r, CNC_SQLSTATE(PROTOCOL), "malformed parameters");
	exec->params = values;
	/* without this feature, the content of a value in pieces never came */
	for (uint32_t i = 0; r == CENOTE_OK && i < exec->n_params; i++) {
		if (values[i].is_long)
			r = need(w, CNP_FEATURE_LONG_DATA, 1, "values in pieces");
	}
	return r;
}

static int
on_query(struct cnd_worker *w, const struct cnp_msg *m)
{
	const struct cnp_query *q = &m->as.query;
	struct cnd_exec exec = { .format = q->format,
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

int
cnd_request_set_types(
	struct cnd_worker *w, struct cnd_prepare *prepare, struct cnp_str types)
{
	uint32_t *ids;

	if (types.n == 0)
		return CENOTE_OK;
	if (types.n % 4 != 0 || types.n / 4 > CNC_BATCH_COLS_MAX)
		return fail(w, CENOTE_ERR_PROTOCOL, CNC_SQLSTATE(PROTOCOL),
			"malformed list of types");
	prepare->n_types = (uint32_t)(types.n / 4);
	ids = cnc_arena_alloc(&w->request.arena, prepare->n_types * sizeof(*ids));
	if (ids == NULL)
		return CENOTE_ERR_NOMEM;
	for (uint32_t i = 0; i < prepare->n_types; i++)
		ids[i] = cnc_get_u32((const uint8_t *)types.p + (size_t)4 * i);
	prepare->types = ids;
	return CENOTE_OK;
}

static int
on_prepare(struct cnd_worker *w, const struct cnp_msg *m)
{
	const struct cnp_prepare *p = &m->as.prepare;
	struct cnd_prepare prepare = {
		.is_sync = w->request.is_sync, .sql = p->sql, .name = p->name
	};
	int r;

	w->result.is_describing = true;
	r = check_named(w, p->statement, p->name, CNP_NAMED_STATEMENT);
	if (r == CENOTE_OK)
		r = cnd_request_set_types(w, &prepare, p->types);
	if (r < 0)
		return r;
	if (p->statement == 0)
		return w->backend->statements->prepare(w->session, &prepare, &w->sink);
	return cnd_statement_prepare(
		&w->statements, w->session, p->statement, &prepare, &w->sink);
}

static int
on_describe(struct cnd_worker *w, const struct cnp_msg *m)
{
	const struct cnp_describe *d = &m->as.describe;
	struct cnd_named which;
	int r = set_named(w, &which, d->statement, d->name, d->kind);

	w->result.is_describing = true;
	return r < 0 ? r : w->backend->statements->describe(w->session, &which, &w->sink);
}

static int
on_execute(struct cnd_worker *w, const struct cnp_msg *m)
{
	const struct cnp_execute *e = &m->as.execute;
	struct cnd_exec exec = { .format = e->format,
		.columns_known = e->known,
		.formats = e->formats,
		.batch_rows = e->batch_rows };
	struct cnd_named which;
	int r = set_named(w, &which, e->statement, e->name, CNP_NAMED_STATEMENT);

	if (r == CENOTE_OK)
		r = set_exec(w, &exec, e->params, e->max_rows);
	if (r < 0)
		return r;
	/* the client counts them as used, even if the execution fails */
	cnd_statement_end_pieces(&w->statements, which.statement);
	r = w->backend->statements->execute(w->session, &which, &exec, &w->sink);
	if (r == CENOTE_OK)
		settle_portal(w, exec.portal);
	return r;
}

static int
on_close(struct cnd_worker *w, const struct cnp_msg *m)
{
	const struct cnp_close *c = &m->as.close;
	struct cnd_named which = {
		.name = c->name, .kind = c->kind, .is_sync = w->request.is_sync
	};
	int r = check_named(w, c->statement, c->name, c->kind);

	return r < 0 ? r
		     : cnd_statement_close(&w->statements, w->session, c->statement,
			       &which, &w->sink);
}

static int
on_function(struct cnd_worker *w, const struct cnp_msg *m)
{
	const struct cnp_function *f = &m->as.function;
	struct cnd_exec exec = { .format = f->format };
	int r = need(w, CNP_FEATURE_FUNCTIONS, w->backend->function != NULL,
		"calls of functions");

	if (r == CENOTE_OK)
		r = set_exec(w, &exec, f->params, 0);
	return r < 0 ? r : w->backend->function(w->session, f->function, &exec, &w->sink);
}

static int
on_long_data(struct cnd_worker *w, const struct cnp_msg *m)
{
	const struct cnp_long_data *l = &m->as.long_data;
	const struct cnd_statement_ops *ops = w->backend->statements;
	struct cnd_statement *st;
	int r = need(
		w, CNP_FEATURE_LONG_DATA, ops->long_data != NULL, "values in pieces");

	if (r == CENOTE_OK)
		r = cnd_statement_get(&w->statements, l->statement, &st, &w->diag);
	if (r == CENOTE_OK)
		r = ops->long_data(w->session, st, l->param, l->data, &w->diag);
	if (r < 0)
		return r;
	cnd_statement_add_piece(&w->statements, st);
	return reply_done(w, "LONG DATA");
}

static int
on_fetch(struct cnd_worker *w, const struct cnp_msg *m)
{
	const struct cnp_fetch *f = &m->as.fetch;
	struct cnd_portal *p;
	int r = cnd_portal_get(&w->statements, f->portal, &p, &w->diag);

	if (r < 0)
		return r;
	set_bounds(&w->result, p->max_rows, f->batch_rows);
	w->result.rows_left = p->rows_left;
	r = w->backend->statements->fetch(
		w->session, p, f->batch_rows, f->columns, &w->sink);
	if (r == CENOTE_OK)
		settle_portal(w, p);
	return r;
}

static int
on_close_portal(struct cnd_worker *w, const struct cnp_msg *m)
{
	cnd_portal_close(&w->statements, w->session, m->as.close_portal.portal);
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
	(void)m;
	return w->backend->commit(w->session, &w->sink);
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
			"unknown savepoint action");
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

/* Tell the client about changed parameters. A server reports its changes itself, so this is for
 * parameters that only the backend knows. `only` names one parameter; NULL: all. */
static int
tell_parameters(struct cnd_worker *w, const char *only)
{
	int r = CENOTE_OK;

	w->backend->info(w->session, &w->login.info);
	for (size_t i = 0; i < w->login.info.n_parameters && r == CENOTE_OK; i++) {
		struct cnp_str name = cnp_str(w->login.info.parameters[i].key);
		struct cnp_str value = cnp_str(w->login.info.parameters[i].value);

		if ((only == NULL || strcmp(only, name.p) == 0) &&
			!cnd_sink_knows_parameter(&w->login, name, value))
			r = w->sink.ops->parameter(&w->sink, name.p, value.p);
	}
	return r;
}

/* If only a new login makes the session fresh, log in: the client asked for a fresh session. */
static int
reset_or_log_in(struct cnd_worker *w)
{
	static const struct cnp_str nothing = { "", 0 };
	int r = w->backend->reset(w->session, &w->diag);

	if (r == CENOTE_OK && w->backend->drop_options != NULL)
		r = w->backend->drop_options(w->session, &w->diag);
	if (r != CENOTE_ERR_UNSUPPORTED)
		return r;
	cnc_diag_clear(&w->diag);
	atomic_fetch_add_explicit(&w->pool->relogins, 1, memory_order_relaxed);
	cnd_logout(w);
	r = cnd_login(w);
	/* the client knows no parameters of the new session yet */
	cnc_buf_clear(&w->login.parameters, CND_PARAMETERS_MAX);
	w->login.info.changes = 0;
	return r < 0 ? r : w->backend->attach(w->session, &nothing, &w->diag);
}

static int
on_reset(struct cnd_worker *w, const struct cnp_msg *m)
{
	int r = reset_or_log_in(w);

	(void)m;
	/* a session that is half reset cannot be used */
	if (r < 0)
		return CENOTE_ERR_CONN;
	r = tell_parameters(w, NULL);
	return r < 0 ? r : reply_done(w, "RESET");
}

/* Note that the session's facts differ until its reset. Returns `r`. */
static int
become_another(struct cnd_worker *w, int r)
{
	if (r == CENOTE_OK)
		cnd_login_take_info(w);
	w->login.is_info_stale = true;
	return r;
}

static int
on_change_user(struct cnd_worker *w, const struct cnp_msg *m)
{
	const struct cnp_change_user *c = &m->as.change_user;
	int r = need(w, CNP_FEATURE_CHANGE_USER, w->backend->change_user != NULL,
		"change of user");

	if (r == CENOTE_OK)
		r = become_another(w, w->backend->change_user(w->session, c, &w->sink));
	/* the password is in the receive buffer, which is not cleared for a long time */
	cnc_wipe((void *)(uintptr_t)c->password.p, c->password.n);
	return r;
}

static int
on_select_database(struct cnd_worker *w, const struct cnp_msg *m)
{
	struct cnp_str database = m->as.select_database.database;
	int r = need(w, CNP_FEATURE_SELECT_DATABASE, w->backend->select_database != NULL,
		"change of database");

	return r < 0 ? r
		     : become_another(w, w->backend->select_database(w->session,
						 database.p, database.n, &w->sink));
}

static int
on_set_option(struct cnd_worker *w, const struct cnp_msg *m)
{
	const struct cnp_set_option *o = &m->as.set_option;
	int r = need(w, CNP_FEATURE_OPTIONS, w->backend->set_option != NULL,
		"options of a session");

	if (r == CENOTE_OK)
		r = w->backend->set_option(w->session, o->name.p, o->value.p, &w->diag);
	if (r == CENOTE_ERR_ARG && strcmp(w->diag.sqlstate, "00000") == 0)
		cnc_diag_set(&w->diag, CNC_SQLSTATE(BAD_PARAMETER),
			"the %s backend has no option \"%s\", or not with this value",
			w->backend->name, o->name.p);
	if (r == CENOTE_OK)
		r = tell_parameters(w, o->name.p);
	return r < 0 ? r : reply_done(w, "SET OPTION");
}

/* Requests for which cnp_server_finish_request() does everything. */
static int
on_nothing(struct cnd_worker *w, const struct cnp_msg *m)
{
	(void)m;
	w->result.is_done = true;
	return CENOTE_OK;
}

/* Wait until the door knows this worker. The next client may come by the door. On a busy machine, the
 * door may not have read the master's message about this worker yet; then it would refuse that
 * client. */
static void
await_door(struct cnd_worker *w)
{
	const int64_t until = cnd_now_ms() + DOOR_MS;

	while (!atomic_load(&w->slot->is_known) && cnd_worker_order(w) != CND_ORDER_NOW &&
		cnd_now_ms() < until)
		cnd_worker_wait(w, -1, 0, cnd_now_ms() + 1);
}

static int
on_suspend(struct cnd_worker *w, const struct cnp_msg *m)
{
	struct cnp_msg reply = { .code = CNP_MSG_SUSPENDED };
	int64_t ms = w->config->suspend_timeout_ms;
	int r;

	if (ms == 0)
		return fail(w, CENOTE_ERR_UNSUPPORTED, CNC_SQLSTATE(UNSUPPORTED),
			"the pool does not allow suspended sessions (suspend_timeout is "
			"0)");
	if (m->as.suspend.timeout_ms > 0 && m->as.suspend.timeout_ms < ms)
		ms = m->as.suspend.timeout_ms;
	if (ms > UINT32_MAX)
		ms = UINT32_MAX;
	await_door(w);
	/* The lent session's key ends here; the new key is the right to resume. The new number is
	 * also random: it brings a client with TLS to this worker before the worker sees the key. */
	cnd_worker_drop_key(w);
	atomic_store(&w->slot->generation, (uint32_t)cnd_worker_random(&w->random));
	cnd_worker_make_key(w);
	reply.as.suspended.session =
		cnd_session_number(w->slot_index, w->slot->generation);
	reply.as.suspended.key = w->key;
	reply.as.suspended.timeout_ms = (uint32_t)ms;
	r = cnp_server_reply(&w->client.server, &reply, 0);
	w->client.suspended_until_ms = cnd_now_ms() + ms;
	w->client.is_suspending = r == CENOTE_OK;
	w->result.is_done = true;
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
	[CNP_MSG_FUNCTION] = on_function,
	[CNP_MSG_LONG_DATA] = on_long_data,
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
	[CNP_MSG_CHANGE_USER] = on_change_user,
	[CNP_MSG_SELECT_DATABASE] = on_select_database,
	[CNP_MSG_SET_OPTION] = on_set_option,
};

/* ---- running one ---- */

static void
begin(struct cnd_worker *w, const struct cnp_request *req)
{
	w->result.is_quiet = req->number == 0;
	w->result.is_done = false;
	w->result.done_flags = 0;
	w->result.is_describing = false;
	w->result.is_in_rows = false;
	w->request.is_sync = (req->flags & CNP_FRAME_SYNC) != 0;
	set_bounds(&w->result, 0, 0);
	cnd_host_begin(&w->stop, w->config->query_timeout_ms, "query_timeout");
	if (w->ahead.n == 0) {
		w->ahead.last = req->number;
		w->loss.ahead_may_commit = false;
	}
	cnd_loss_expect(w, &req->msg);
	w->client.n_served += req->number != 0;
	atomic_store_explicit(&w->slot->request, req->number, memory_order_relaxed);
}

/* Set an error if the backend gave none. */
static void
complete_diag(struct cnd_worker *w, int status, uint8_t code)
{
	char limit[CND_UNITS_TEXT_MAX];

	if (strcmp(w->diag.sqlstate, "00000") != 0)
		return;
	if (status == CENOTE_ERR_UNSUPPORTED)
		cnc_diag_set(&w->diag, CNC_SQLSTATE(UNSUPPORTED),
			"the %s backend of this pool cannot do %s", w->backend->name,
			cnp_msg_name(code));
	else if (status == CENOTE_ERR_NOMEM)
		cnc_diag_set(&w->diag, CNC_SQLSTATE(NO_MEMORY), "out of memory");
	else if (status == CENOTE_ERR_LIMIT && cnd_sink_bounds_rows(w))
		cnc_diag_set(&w->diag, CNC_SQLSTATE(LIMIT),
			"a row is longer than pool %s allows: max_row = %s",
			w->config->name, cnd_size_text(w->config->max_row, limit));
	else if (status == CENOTE_ERR_LIMIT)
		cnc_diag_set(&w->diag, CNC_SQLSTATE(LIMIT),
			"a row or description is longer than the client's max_frame, or "
			"has too many columns");
	else
		cnc_diag_set(&w->diag, CNC_SQLSTATE(INTERNAL),
			"%s failed, and the %s backend did not say why",
			cnp_msg_name(code), w->backend->name);
}

static void
note_loss(struct cnd_worker *w, const char *in)
{
	/* other errors of a server may contain a client's data */
	const char *why = strncmp(w->diag.sqlstate, "08", 2) == 0 ? w->diag.message : "";

	w->login.is_lost = true;
	cnd_log(LOG_NOTICE, "the session was lost in %s (SQLSTATE %s)%s%s", in,
		w->diag.sqlstate, *why ? ": " : "", why);
}

static int
report_failure(struct cnd_worker *w, int status, const struct cnp_msg *m)
{
	int r;

	complete_diag(w, status, m->code);
	cnd_sink_abort(w);
	atomic_store_explicit(
		&w->slot->errors, w->slot->errors + 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&w->pool->errors, 1, memory_order_relaxed);
	if (status == CENOTE_ERR_CONN) {
		note_loss(w, cnp_msg_name(m->code));
		cnd_loss_explain(w, m);
	}
	r = cnp_server_error(&w->client.server, &w->diag);
	cnc_diag_clear(&w->diag);
	return r;
}

void
cnd_request_state(const struct cnd_worker *w, struct cnd_state *ret_state)
{
	w->backend->state(w->session, ret_state);
	if (cnd_statements_have_pieces(&w->statements))
		ret_state->pins |= CENOTE_PIN_PREPARED;
}

void
cnd_request_take_state(struct cnd_worker *w, struct cnd_state *ret_state)
{
	uint32_t pins;

	cnd_request_state(w, ret_state);
	w->held.tx = ret_state->tx;
	w->held.pins = ret_state->pins;
	/* a pin that settle() may still clear does not hold the session for certain */
	pins = w->held.pins;
	if (w->backend->settle != NULL && w->held.settled_at != w->client.n_served)
		pins &= ~(uint32_t)CENOTE_PIN_FUNCTION;
	atomic_store_explicit(&w->slot->tx, w->held.tx, memory_order_relaxed);
	atomic_store_explicit(&w->slot->pins, w->held.pins, memory_order_relaxed);
	atomic_store_explicit(&w->slot->is_held,
		w->held.tx != CENOTE_TX_IDLE || pins != 0, memory_order_relaxed);
}

static int
finish(struct cnd_worker *w, const struct cnp_request *req)
{
	struct cnd_state state = { CENOTE_TX_UNKNOWN, 0, CNP_STR_NONE };

	if (req->number != 0) {
		atomic_store_explicit(
			&w->slot->finished, req->number, memory_order_release);
		atomic_store_explicit(
			&w->slot->requests, w->slot->requests + 1, memory_order_relaxed);
		atomic_fetch_add_explicit(&w->pool->requests, 1, memory_order_relaxed);
		w->held.is_ready = w->request.is_sync || req->msg.code == CNP_MSG_SYNC;
		if (w->held.is_ready)
			w->loss.may_have_committed = false;
	}
	if (!w->login.is_lost && !w->client.is_suspending)
		cnd_request_take_state(w, &state);
	return cnp_server_finish_request(
		&w->client.server, state.tx, state.pins, &state.carry);
}

/*
 * Run the synchronisation point after a request that ended with `status`. The answer to SYNC can
 * carry an error that happens here. A request with the flag has had its answer already, so the error
 * follows as the last message (returns 1).
 */
static int
synchronise(struct cnd_worker *w, const struct cnp_request *req, int status)
{
	int r;

	if (w->backend->sync == NULL || w->login.is_lost ||
		!(w->request.is_sync || req->msg.code == CNP_MSG_SYNC))
		return CENOTE_OK;
	r = w->backend->sync(w->session, &w->sink);
	if (r >= 0)
		return CENOTE_OK;
	if (w->client.is_gone)
		return CENOTE_ERR_CONN;
	if (req->msg.code == CNP_MSG_SYNC)
		return report_failure(w, r, &req->msg);
	/* the unit has failed already, and the client knows that */
	if (status < 0 && r != CENOTE_ERR_CONN) {
		cnc_diag_clear(&w->diag);
		return CENOTE_OK;
	}
	complete_diag(w, r, CNP_MSG_SYNC);
	note_loss(w, cnp_msg_name(CNP_MSG_SYNC));
	cnd_loss_explain(w, &req->msg);
	return 1;
}

/* The server ended the session right behind the answer to the request, which is complete. */
static int
lose_after(struct cnd_worker *w, const struct cnp_request *req)
{
	int r = finish(w, req);

	return r < 0 ? r : cnd_request_lose_idle(w);
}

int
cnd_request_run(struct cnd_worker *w, const struct cnp_request *req)
{
	uint8_t code = req->msg.code;
	handler *handle =
		code < sizeof(handlers) / sizeof(handlers[0]) ? handlers[code] : NULL;
	int is_late = 0;
	int r;
	int q;

	begin(w, req);
	if (w->ahead.n == 0)
		cnd_ahead_give(w, req);
	if (w->ahead.n > 0)
		r = cnd_ahead_answer(w, req);
	else
		r = handle != NULL ? handle(w, &req->msg) : CENOTE_ERR_UNSUPPORTED;
	cnc_arena_finish(&w->request.arena);
	cnd_pace_end(&w->pace);
	if (w->client.is_gone)
		return CENOTE_ERR_CONN;
	if (cnp_server_state(&w->client.server) == CNP_SERVER_BROKEN)
		return CENOTE_ERR_PROTOCOL;
	if (r >= 0 && !w->result.is_done)
		r = fail(w, CENOTE_ERR_SERVER, CNC_SQLSTATE(INTERNAL),
			"the backend gave no answer");
	if (r == CENOTE_ERR_CONN && w->result.is_done)
		return lose_after(w, req);
	q = r < 0 ? report_failure(w, r, &req->msg) : CENOTE_OK;
	if (q == CENOTE_OK)
		q = is_late = synchronise(w, req, r);
	if (q >= 0)
		q = finish(w, req);
	if (q == CENOTE_OK && is_late > 0)
		q = cnp_server_error(&w->client.server, &w->diag);
	if (q < 0)
		return q;
	return r == CENOTE_ERR_PROTOCOL || w->login.is_lost ? CENOTE_ERR_CONN : CENOTE_OK;
}

/* ---- while no request runs ---- */

int
cnd_request_lose_idle(struct cnd_worker *w)
{
	int holds_nothing =
		w->held.is_ready && w->held.tx == CENOTE_TX_IDLE && w->held.pins == 0;
	const struct cnc_diag *said = cnd_loss_has_words(&w->diag) ? &w->diag : NULL;

	complete_diag(w, CENOTE_ERR_CONN, CNP_MSG_SYNC);
	note_loss(w, "its idle time");
	/* nothing has begun since the client last got READY and held nothing: any other session
	 * will do, even for a request that it sends just now */
	if (!holds_nothing || cnp_server_yield_lost(&w->client.server, said) != CENOTE_OK)
		(void)cnp_server_error(&w->client.server, &w->diag);
	return CENOTE_ERR_CONN;
}

int
cnd_request_idle(struct cnd_worker *w)
{
	int r;

	cnc_diag_clear(&w->diag);
	cnd_host_begin_service(w);
	w->result.is_in_rows = false;
	r = w->backend->idle(w->session, &w->sink);
	if (w->client.is_gone)
		return CENOTE_ERR_CONN;
	return r < 0 ? cnd_request_lose_idle(w) : CENOTE_OK;
}

void
cnd_request_forget_client(struct cnd_worker *w)
{
	w->loss.may_have_committed = false;
	w->ahead.n = 0;
	w->held.is_ready = false;
	w->held.settled_at = 0;
	w->held.settled_ms = INT32_MIN;
	w->held.settle_due_ms = CND_NEVER;
}

void
cnd_request_init(struct cnd_worker *w)
{
	w->sink = (struct cnd_sink){
		.ops = &cnd_sink_ops, .batch = &w->result.batch, .diag = &w->diag
	};
}
