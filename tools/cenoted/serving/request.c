/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Run one request: find its handler by its code, call the backend, and queue the last reply. It
 * owns s->request, and s->held after each request. Its owner calls it.
 */
#include "cached.h"

#include <string.h>

#include "core/sqlstate.h"
#include "shared/units.h"

/* A handler. Negative: the request failed, as backend.h says; s->diag has the reason. */
typedef int handler(struct cnd_serving *s, const struct cnp_msg *m);

static int
fail(struct cnd_serving *s, int status, const char *sqlstate, const char *why)
{
	cnc_diag_set(&s->diag, sqlstate, "%s", why);
	return status;
}

static int
reply_done(struct cnd_serving *s, const char *tag)
{
	struct cnp_done done = { .tag = cnp_str(tag), .affected = -1 };

	return s->sink.ops->done(&s->sink, &done);
}

/* ---- statements ---- */

/* Each result has at most max_rows rows, and stops after batch_rows. */
static void
set_bounds(struct cnd_serving_result *r, uint64_t max_rows, uint32_t batch_rows)
{
	r->max_rows = max_rows > 0 ? max_rows : UINT64_MAX;
	r->rows_left = r->max_rows;
	r->batch_rows = batch_rows;
	r->batch_left = batch_rows;
}

/* After a statement or a fetch that succeeded: remember how many rows its portal may still return. */
static void
settle_portal(struct cnd_serving *s, struct cnd_portal *portal)
{
	if (portal == NULL)
		return;
	portal->max_rows = s->result.max_rows;
	portal->rows_left = s->result.rows_left;
	portal->limits = s->result.limits;
	portal->limited = s->result.limited;
}

/* Check that the backend has a feature. `has_op` is 0 if it lacks the function for it. */
static int
need(struct cnd_serving *s, uint64_t feature, int has_op, const char *what)
{
	if ((s->backend->features & feature) && has_op)
		return CENOTE_OK;
	cnc_diag_set(&s->diag, CNC_SQLSTATE(UNSUPPORTED),
		"the %s backend of this pool has no %s", s->backend->name, what);
	return CENOTE_ERR_UNSUPPORTED;
}

/* Check that the pool has named statements, if the request needs them. Only statements have numbers;
 * portals always have names. */
static int
check_named(struct cnd_serving *s, uint32_t number, struct cnp_str name, uint8_t kind)
{
	if (kind > CNP_NAMED_PORTAL)
		return fail(s, CENOTE_ERR_PROTOCOL, CNC_SQLSTATE(PROTOCOL),
			"the kind must be statement or portal");
	return number == 0 || name.n > 0 || kind != CNP_NAMED_STATEMENT
		       ? need(s, CNP_FEATURE_NAMED_STATEMENTS, 1, "named statements")
		       : CENOTE_OK;
}

/* Find a statement or portal: by the client's number, or, if that is 0, by the server's name. */
static int
set_named(struct cnd_serving *s, struct cnd_named *which, uint32_t number,
	struct cnp_str name, uint8_t kind)
{
	int r = check_named(s, number, name, kind);

	*which = (struct cnd_named){
		.name = name, .kind = kind, .is_sync = s->request.is_sync
	};
	return r < 0 || number == 0 ? r
				    : cnd_statement_get(&s->statements, number,
					      &which->statement, &s->diag);
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
set_exec(struct cnd_serving *s, struct cnd_exec *exec, struct cnp_str params,
	uint64_t max_rows)
{
	struct cnc_value *values = NULL;
	int r;

	if (!are_formats(exec))
		return fail(
			s, CENOTE_ERR_PROTOCOL, CNC_SQLSTATE(PROTOCOL), "unknown format");
	if (exec->batch_rows > 0) {
		exec->portal = cnd_portal_make(&s->statements, s->server->running);
		if (exec->portal == NULL)
			return CENOTE_ERR_NOMEM;
	}
	set_bounds(&s->result, max_rows, exec->batch_rows);
	exec->max_rows = max_rows;
	exec->is_sync = s->request.is_sync;
	exec->params = NULL;
	exec->n_params = 0;
	if (params.n == 0)
		return CENOTE_OK;
	r = cnp_values_decode(params, &s->request.arena, &values, &exec->n_params);
	if (r == CENOTE_ERR_PROTOCOL)
		return fail(s, r, CNC_SQLSTATE(PROTOCOL), "malformed parameters");
	exec->params = values;
	/* without this feature, the content of a value in pieces never came */
	for (uint32_t i = 0; r == CENOTE_OK && i < exec->n_params; i++) {
		if (values[i].is_long)
			r = need(s, CNP_FEATURE_LONG_DATA, 1, "values in pieces");
	}
	return r;
}

static int
judge(struct cnd_serving *s, struct cnp_str *sql)
{
	const char *text = sql->p;
	int r = s->has_rules ? s->ops->judge(s, sql) : CENOTE_OK;

	if (r < 0 && s->backend->refused != NULL)
		s->backend->refused(s->session);
	if (r < 0)
		return r;
	if (s->has_rules)
		cnd_limits_start(s);
	if (sql->p != text)
		cnd_replay_changed(s, *sql);
	return cnd_read_only_enter(s);
}

static int
on_query(struct cnd_serving *s, const struct cnp_msg *m)
{
	const struct cnp_query *q = &m->as.query;
	struct cnd_exec exec = { .format = q->format,
		.is_simple = q->params.n == 0,
		.formats = q->formats,
		.batch_rows = q->batch_rows };
	struct cnp_str sql = q->sql;
	int r = judge(s, &sql);

	if (r == CENOTE_OK)
		r = set_exec(s, &exec, q->params, q->max_rows);
	if (r == CENOTE_OK && s->cached != NULL) {
		const struct cnd_question question = {
			.sql = sql, .params = q->params, .exec = &exec
		};

		r = cnd_cached_ask(s, &question);
	}
	if (r != CENOTE_OK)
		return r < 0 ? r : CENOTE_OK;
	r = s->backend->query(s->session, sql.p, sql.n, &exec, &s->sink);
	if (r == CENOTE_OK)
		settle_portal(s, exec.portal);
	return r;
}

int
cnd_request_set_types(
	struct cnd_serving *s, struct cnd_prepare *prepare, struct cnp_str types)
{
	uint32_t *ids;

	if (types.n == 0)
		return CENOTE_OK;
	if (types.n % 4 != 0 || types.n / 4 > CNC_BATCH_COLS_MAX)
		return fail(s, CENOTE_ERR_PROTOCOL, CNC_SQLSTATE(PROTOCOL),
			"malformed list of types");
	prepare->n_types = (uint32_t)(types.n / 4);
	ids = cnc_arena_alloc(&s->request.arena, prepare->n_types * sizeof(*ids));
	if (ids == NULL)
		return CENOTE_ERR_NOMEM;
	for (uint32_t i = 0; i < prepare->n_types; i++)
		ids[i] = cnc_get_u32((const uint8_t *)types.p + (size_t)4 * i);
	prepare->types = ids;
	return CENOTE_OK;
}

/* Whether the next request has come, and executes or describes the statement of this name. */
static int
is_next(const struct cnd_serving *s, struct cnp_str name)
{
	struct cnp_request next;
	uint32_t number = 0, statement = 1;
	struct cnp_str other = CNP_STR_NONE;
	size_t at = 0;

	if (cnp_server_peek(s->server, &at, &number, &next) != CENOTE_OK)
		return 0;
	if (next.msg.code == CNP_MSG_EXECUTE) {
		statement = next.msg.as.execute.statement;
		other = next.msg.as.execute.name;
	} else if (next.msg.code == CNP_MSG_DESCRIBE &&
		   next.msg.as.describe.kind == CNP_NAMED_STATEMENT) {
		statement = next.msg.as.describe.statement;
		other = next.msg.as.describe.name;
	}
	return statement == 0 && other.n == name.n &&
	       memcmp(other.p, name.p, name.n) == 0;
}

static int
on_prepare(struct cnd_serving *s, const struct cnp_msg *m)
{
	const struct cnp_prepare *p = &m->as.prepare;
	struct cnd_prepare prepare = { .is_sync = s->request.is_sync,
		.is_setup = s->result.is_quiet,
		.sql = p->sql,
		.name = p->name };
	int r;

	s->result.is_describing = true;
	r = check_named(s, p->statement, p->name, CNP_NAMED_STATEMENT);
	if (r == CENOTE_OK)
		r = judge(s, &prepare.sql);
	if (r == CENOTE_OK)
		r = cnd_request_set_types(s, &prepare, p->types);
	if (r < 0)
		return r;
	if (p->statement == 0) {
		prepare.is_next =
			prepare.is_setup && !s->replay.is_running && is_next(s, p->name);
		r = s->backend->statements->prepare(s->session, &prepare, &s->sink);
		if (r == CENOTE_OK)
			cnd_named_text_keep(s, p->name, prepare.sql);
	} else {
		r = cnd_statement_prepare(
			&s->statements, s->session, p->statement, &prepare, &s->sink);
	}
	if (s->has_rules && r == CENOTE_OK)
		cnd_limits_keep(s, p->statement, p->name);
	if (s->cached != NULL && r == CENOTE_OK)
		cnd_cached_prepared(s, p, &prepare);
	return r;
}

static int
on_describe(struct cnd_serving *s, const struct cnp_msg *m)
{
	const struct cnp_describe *d = &m->as.describe;
	struct cnd_named which;
	int r = set_named(s, &which, d->statement, d->name, d->kind);

	s->result.is_describing = true;
	return r < 0 ? r : s->backend->statements->describe(s->session, &which, &s->sink);
}

struct cnp_str
cnd_request_text(const struct cnd_serving *s, const struct cnd_named *which)
{
	const struct cnd_router_ops *router = s->backend->router;

	if (which->statement != NULL)
		return (struct cnp_str){ which->statement->sql, which->statement->len };
	return router != NULL ? router->text(s->session, which->name) : CNP_STR_NONE;
}

/*
 * A router chooses the target at each execution: a statement may be prepared outside of a transaction, and executed in one.
 * If rules change the text now, that has no effect, since the statement is already prepared.
 */
static int
judge_again(struct cnd_serving *s, const struct cnd_named *which)
{
	struct cnp_str sql;

	if (s->backend->router == NULL || !s->has_rules)
		return CENOTE_OK;
	sql = cnd_request_text(s, which);
	return judge(s, &sql);
}

/* Look for the answer in the pool's cache. CENOTE_DONE: it was there. */
static int
ask_execution(
	struct cnd_serving *s, const struct cnp_execute *e, const struct cnd_exec *exec)
{
	struct cnd_question q = { .params = e->params, .exec = exec, .is_execute = true };

	cnd_cached_recall(s, &q);
	return cnd_cached_ask(s, &q);
}

static int
on_execute(struct cnd_serving *s, const struct cnp_msg *m)
{
	const struct cnp_execute *e = &m->as.execute;
	struct cnd_exec exec = { .format = e->format,
		.columns_known = e->known,
		.formats = e->formats,
		.batch_rows = e->batch_rows };
	struct cnd_named which;
	int r = set_named(s, &which, e->statement, e->name, CNP_NAMED_STATEMENT);

	if (r == CENOTE_OK)
		r = judge_again(s, &which);
	if (r == CENOTE_OK)
		r = set_exec(s, &exec, e->params, e->max_rows);
	if (r < 0)
		return r;
	if (s->has_rules)
		cnd_limits_recall(s, &which);
	s->read_only.is_plain = which.statement != NULL && which.statement->is_plain;
	r = cnd_read_only_enter(s);
	if (r == CENOTE_OK && s->cached != NULL)
		r = ask_execution(s, e, &exec);
	if (r != CENOTE_OK)
		return r < 0 ? r : CENOTE_OK;
	/* the client counts them as used, even if the execution fails */
	cnd_statement_end_pieces(&s->statements, which.statement);
	r = s->backend->statements->execute(s->session, &which, &exec, &s->sink);
	if (r == CENOTE_OK)
		settle_portal(s, exec.portal);
	return r;
}

static int
on_close(struct cnd_serving *s, const struct cnp_msg *m)
{
	const struct cnp_close *c = &m->as.close;
	struct cnd_named which = {
		.name = c->name, .kind = c->kind, .is_sync = s->request.is_sync
	};
	int r = check_named(s, c->statement, c->name, c->kind);

	if (r == CENOTE_OK && c->statement == 0 && c->kind == CNP_NAMED_STATEMENT) {
		if (s->has_rules)
			cnd_limits_forget(s, c->name);
		if (s->cached != NULL)
			cnd_cached_closed(s, c->name);
		cnd_named_text_drop(s, c->name);
	}
	return r < 0 ? r
		     : cnd_statement_close(&s->statements, s->session, c->statement,
			       &which, &s->sink);
}

static int
on_function(struct cnd_serving *s, const struct cnp_msg *m)
{
	struct cnp_str no_text = { NULL, 0 };
	const struct cnp_function *f = &m->as.function;
	struct cnd_exec exec = { .format = f->format };
	int r = need(s, CNP_FEATURE_FUNCTIONS, s->backend->function != NULL,
		"calls of functions");

	if (r == CENOTE_OK)
		r = judge(s, &no_text);
	if (r == CENOTE_OK)
		r = set_exec(s, &exec, f->params, 0);
	if (r == CENOTE_OK && s->cached != NULL)
		cnd_cached_enter(s, &exec);
	return r < 0 ? r : s->backend->function(s->session, f->function, &exec, &s->sink);
}

static int
on_long_data(struct cnd_serving *s, const struct cnp_msg *m)
{
	const struct cnp_long_data *l = &m->as.long_data;
	const struct cnd_statement_ops *ops = s->backend->statements;
	struct cnd_statement *st;
	int r = need(
		s, CNP_FEATURE_LONG_DATA, ops->long_data != NULL, "values in pieces");

	if (r == CENOTE_OK)
		r = cnd_statement_get(&s->statements, l->statement, &st, &s->diag);
	if (r == CENOTE_OK)
		r = ops->long_data(s->session, st, l->param, l->data, &s->diag);
	if (r < 0)
		return r;
	cnd_statement_add_piece(&s->statements, st);
	return reply_done(s, "LONG DATA");
}

static int
on_fetch(struct cnd_serving *s, const struct cnp_msg *m)
{
	const struct cnp_fetch *f = &m->as.fetch;
	struct cnd_portal *p;
	int r = cnd_portal_get(&s->statements, f->portal, &p, &s->diag);

	if (r < 0)
		return r;
	set_bounds(&s->result, p->max_rows, f->batch_rows);
	s->result.rows_left = p->rows_left;
	if (s->has_rules)
		cnd_limits_continue(s, p);
	r = s->backend->statements->fetch(
		s->session, p, f->batch_rows, f->columns, &s->sink);
	if (r == CENOTE_OK)
		settle_portal(s, p);
	return r;
}

static int
on_close_portal(struct cnd_serving *s, const struct cnp_msg *m)
{
	cnd_portal_close(&s->statements, s->session, m->as.close_portal.portal);
	return reply_done(s, "CLOSE");
}

/* ---- transactions ---- */

static int
on_begin(struct cnd_serving *s, const struct cnp_msg *m)
{
	int r = cnd_read_only_enter(s);

	return r < 0 ? r
		     : s->backend->begin(s->session, m->as.begin.isolation,
			       m->as.begin.flags, &s->sink);
}

static int
on_commit(struct cnd_serving *s, const struct cnp_msg *m)
{
	int r = cnd_read_only_end_transaction(s);

	(void)m;
	return r < 0 ? r : s->backend->commit(s->session, &s->sink);
}

static int
on_rollback(struct cnd_serving *s, const struct cnp_msg *m)
{
	int r = cnd_read_only_end_transaction(s);

	(void)m;
	return r < 0 ? r : s->backend->rollback(s->session, &s->sink);
}

static int
on_savepoint(struct cnd_serving *s, const struct cnp_msg *m)
{
	const struct cnp_savepoint *p = &m->as.savepoint;

	if (p->action > 2)
		return fail(s, CENOTE_ERR_PROTOCOL, CNC_SQLSTATE(PROTOCOL),
			"unknown savepoint action");
	return s->backend->savepoint(
		s->session, p->action, p->name.p, p->name.n, &s->sink);
}

static int
on_autocommit(struct cnd_serving *s, const struct cnp_msg *m)
{
	s->held.is_manual = m->as.autocommit.on == 0;
	return s->backend->autocommit(s->session, m->as.autocommit.on != 0, &s->sink);
}

/* ---- the rest ---- */

static int
on_catalog(struct cnd_serving *s, const struct cnp_msg *m)
{
	return s->backend->catalog(s->session, &m->as.catalog, &s->sink);
}

static int
on_ping(struct cnd_serving *s, const struct cnp_msg *m)
{
	int r = s->backend->ping(s->session, &s->diag);

	(void)m;
	return r < 0 ? r : reply_done(s, "PING");
}

/* Tell the client about changed parameters. A server reports its changes itself, so this is for
 * parameters that only the backend knows. `only` names one parameter; NULL: all. */
static int
tell_parameters(struct cnd_serving *s, const char *only)
{
	const struct cnd_info *info = s->ops->info(s);
	int r = CENOTE_OK;

	for (size_t i = 0; i < info->n_parameters && r == CENOTE_OK; i++) {
		struct cnp_str name = cnp_str(info->parameters[i].key);
		struct cnp_str value = cnp_str(info->parameters[i].value);

		if ((only == NULL || strcmp(only, name.p) == 0) &&
			!cnd_sink_knows_parameter(s, name, value))
			r = s->sink.ops->parameter(&s->sink, name.p, value.p);
	}
	return r;
}

/* If only a new login makes the session fresh, log in: the client asked for a fresh session. */
static int
reset_or_log_in(struct cnd_serving *s)
{
	int r = s->backend->reset(s->session, &s->diag);

	if (r == CENOTE_OK && s->ops->start != NULL)
		r = s->ops->start(s);
	if (r == CENOTE_OK && s->backend->options_are_set != NULL)
		r = s->backend->options_are_set(s->session, &s->diag);
	if (r != CENOTE_ERR_UNSUPPORTED)
		return r;
	cnc_diag_clear(&s->diag);
	return s->ops->log_in_again(s);
}

static int
on_reset(struct cnd_serving *s, const struct cnp_msg *m)
{
	int r = reset_or_log_in(s);

	(void)m;
	/* a session that is half reset cannot be used */
	if (r < 0)
		return CENOTE_ERR_CONN;
	r = tell_parameters(s, NULL);
	return r < 0 ? r : reply_done(s, "RESET");
}

/* The session's facts differ until its reset. Returns `r`. */
static int
become_another(struct cnd_serving *s, int r)
{
	s->ops->facts_changed(s, r == CENOTE_OK);
	return r;
}

static int
on_change_user(struct cnd_serving *s, const struct cnp_msg *m)
{
	const struct cnp_change_user *c = &m->as.change_user;
	int r = need(s, CNP_FEATURE_CHANGE_USER, s->backend->change_user != NULL,
		"change of user");

	if (r == CENOTE_OK)
		r = become_another(s, s->backend->change_user(s->session, c, &s->sink));
	/* the password is in the receive buffer, which is not cleared for a long time */
	cnc_wipe((void *)(uintptr_t)c->password.p, c->password.n);
	return r;
}

static int
on_select_database(struct cnd_serving *s, const struct cnp_msg *m)
{
	struct cnp_str database = m->as.select_database.database;
	int r = need(s, CNP_FEATURE_SELECT_DATABASE, s->backend->select_database != NULL,
		"change of database");

	return r < 0 ? r
		     : become_another(s, s->backend->select_database(s->session,
						 database.p, database.n, &s->sink));
}

static int
on_set_option(struct cnd_serving *s, const struct cnp_msg *m)
{
	const struct cnp_set_option *o = &m->as.set_option;
	bool is_position = s->takes_position && strcmp(o->name.p, CNP_POSITION) == 0;
	int r = need(s, CNP_FEATURE_OPTIONS, s->backend->set_option != NULL,
		"options of a session");

	if (r == CENOTE_OK && is_position)
		r = s->ops->set_position(s, o->value);
	else if (r == CENOTE_OK)
		r = s->backend->set_option(s->session, o->name.p, o->value.p, &s->diag);
	if (r == CENOTE_ERR_ARG && strcmp(s->diag.sqlstate, "00000") == 0)
		cnc_diag_set(&s->diag, CNC_SQLSTATE(BAD_PARAMETER),
			"the %s backend has no option \"%s\", or not with this value",
			s->backend->name, o->name.p);
	if (r == CENOTE_OK && !is_position)
		r = tell_parameters(s, o->name.p);
	return r < 0 ? r : reply_done(s, "SET OPTION");
}

/* Requests for which cnp_server_finish_request() does everything. */
static int
on_nothing(struct cnd_serving *s, const struct cnp_msg *m)
{
	(void)m;
	s->result.is_done = true;
	return CENOTE_OK;
}

static int
on_suspend(struct cnd_serving *s, const struct cnp_msg *m)
{
	s->result.is_done = true;
	return s->ops->suspend(s, &m->as.suspend);
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

void
cnd_request_begin_answer(struct cnd_serving *s)
{
	s->result.is_done = false;
	s->result.done_flags = 0;
	s->result.is_describing = false;
	s->result.is_in_rows = false;
	s->result.has_columns = false;
	s->result.has_shown = false;
	s->result.answer.n = 0;
	s->result.n_rows = 0;
	s->result.limited = (struct cnd_limited){ .rows = 0 };
	set_bounds(&s->result, 0, 0);
}

static void
begin(struct cnd_serving *s, const struct cnp_request *req)
{
	s->result.is_quiet = req->number == 0;
	s->request.is_sync = (req->flags & CNP_FRAME_SYNC) != 0;
	s->result.is_limited = false;
	if (s->has_rules)
		cnd_limits_begin(s);
	cnd_read_only_begin(s);
	cnd_request_begin_answer(s);
	if (s->ahead.n == 0) {
		s->ahead.last = req->number;
		s->loss.ahead_may_commit = false;
	}
	cnd_loss_expect(s, &req->msg);
	if (s->tells_writes && !s->held.has_written)
		s->held.has_written = cnd_loss_may_write(s, &req->msg);
	s->replay.has_pieces = s->statements.n_pieced > 0;
	s->replay.is_unsafe = false;
	s->n_served += req->number != 0;
	if (s->cached != NULL)
		cnd_cached_begin(s, req);
	s->ops->begin(s, req);
}

/* Set an error if the backend gave none. */
static void
complete_diag(struct cnd_serving *s, int status, uint8_t code)
{
	char limit[CND_UNITS_TEXT_MAX];

	if (strcmp(s->diag.sqlstate, "00000") != 0)
		return;
	if (status == CENOTE_ERR_UNSUPPORTED)
		cnc_diag_set(&s->diag, CNC_SQLSTATE(UNSUPPORTED),
			"the %s backend of this pool cannot do %s", s->backend->name,
			cnp_msg_name(code));
	else if (status == CENOTE_ERR_NOMEM)
		cnc_diag_set(&s->diag, CNC_SQLSTATE(NO_MEMORY), "out of memory");
	else if (status == CENOTE_ERR_LIMIT && cnd_sink_bounds_rows(s))
		cnc_diag_set(&s->diag, CNC_SQLSTATE(LIMIT),
			"a row is longer than pool %s allows: max_row = %s", s->pool,
			cnd_size_text(s->max_row, limit));
	else if (status == CENOTE_ERR_LIMIT)
		cnc_diag_set(&s->diag, CNC_SQLSTATE(LIMIT),
			"a row or description is longer than the client's max_frame, or "
			"has too many columns");
	else
		cnc_diag_set(&s->diag, CNC_SQLSTATE(INTERNAL),
			"%s failed, and the %s backend did not say why",
			cnp_msg_name(code), s->backend->name);
}

static void
note_loss(struct cnd_serving *s, const char *in)
{
	s->is_lost = true;
	s->ops->lost(s, in);
}

static int
tell_error(struct cnd_serving *s)
{
	if (s->ops->retell != NULL)
		s->ops->retell(s);
	return cnp_server_error(s->server, &s->diag);
}

static int
report_failure(struct cnd_serving *s, int status, const struct cnp_msg *m)
{
	int r;

	complete_diag(s, status, m->code);
	cnd_sink_abort(s);
	s->ops->failed(s);
	if (s->cached != NULL)
		cnd_cached_failed(s);
	if (status == CENOTE_ERR_CONN) {
		note_loss(s, cnp_msg_name(m->code));
		cnd_loss_explain(s, m);
	}
	r = tell_error(s);
	cnc_diag_clear(&s->diag);
	return r;
}

void
cnd_request_state(const struct cnd_serving *s, struct cnd_state *ret_state)
{
	s->backend->state(s->session, ret_state);
	if (cnd_statements_have_pieces(&s->statements))
		ret_state->pins |= CENOTE_PIN_PREPARED;
}

bool
cnd_request_may_settle(const struct cnd_serving *s)
{
	return s->held.pins != 0 && (s->held.pins & ~s->backend->settled_pins) == 0 &&
	       s->held.tx == CENOTE_TX_IDLE && s->held.settled_at != s->n_served;
}

void
cnd_request_take_state(struct cnd_serving *s, struct cnd_state *ret_state)
{
	bool is_held;

	cnd_request_state(s, ret_state);
	s->held.tx = ret_state->tx;
	s->held.pins = ret_state->pins;
	s->held.is_over = ret_state->is_over;
	is_held = s->held.tx != CENOTE_TX_IDLE || s->held.pins != 0;
	s->ops->publish(s, is_held && !cnd_request_may_settle(s));
}

/* was_answered: the server ended the session right after the answer. Such a session cannot say whether a transaction is open,
 * but the request may show it. */
static int
finish(struct cnd_serving *s, const struct cnp_request *req, bool was_answered)
{
	struct cnd_state state = { .tx = CENOTE_TX_UNKNOWN, .carry = CNP_STR_NONE };
	uint8_t tx = s->held.tx;

	if (req->number != 0) {
		s->ops->end(s, req);
		s->held.is_ready = s->request.is_sync || req->msg.code == CNP_MSG_SYNC;
		if (s->held.is_ready) {
			s->loss.may_have_committed = false;
			cnd_read_only_synced(s);
		}
	}
	if (!s->is_lost && !s->is_suspending)
		cnd_request_take_state(s, &state);
	if (was_answered && state.tx == CENOTE_TX_UNKNOWN &&
		cnd_loss_left_no_transaction(s, tx, &req->msg))
		state.tx = s->held.tx = CENOTE_TX_IDLE;
	return cnp_server_finish_request(s->server, state.tx, state.pins, &state.carry);
}

/*
 * Run the synchronisation point after a request that ended with `status`. The answer to SYNC can
 * carry an error that happens here. A request with the flag has had its answer already, so the error
 * follows as the last message (returns 1).
 */
static int
synchronise(struct cnd_serving *s, const struct cnp_request *req, int status)
{
	int r;

	if (s->backend->sync == NULL || s->is_lost ||
		!(s->request.is_sync || req->msg.code == CNP_MSG_SYNC))
		return CENOTE_OK;
	r = s->backend->sync(s->session, &s->sink);
	if (r >= 0)
		return CENOTE_OK;
	if (s->is_gone)
		return CENOTE_ERR_CONN;
	if (req->msg.code == CNP_MSG_SYNC)
		return report_failure(s, r, &req->msg);
	/* the unit has failed already, and the client knows that */
	if (status < 0 && r != CENOTE_ERR_CONN) {
		cnc_diag_clear(&s->diag);
		return CENOTE_OK;
	}
	complete_diag(s, r, CNP_MSG_SYNC);
	note_loss(s, cnp_msg_name(CNP_MSG_SYNC));
	cnd_loss_explain(s, &req->msg);
	return 1;
}

/* READY follows: if the client may have written, and no transaction is open, tell it the server's position. Negative: the
 * session is lost, or its client has gone. */
static int
tell_writes(struct cnd_serving *s, const struct cnp_request *req)
{
	struct cnd_state state;
	int r;

	if (!s->held.has_written || s->is_lost || s->is_suspending ||
		!(s->request.is_sync || req->msg.code == CNP_MSG_SYNC))
		return CENOTE_OK;
	cnd_request_state(s, &state);
	if (state.tx != CENOTE_TX_IDLE)
		return CENOTE_OK;
	r = s->ops->committed(s);
	s->held.has_written = r < 0;
	/* a server that cannot answer now is asked again after the next request */
	return r == CENOTE_ERR_CONN || r == CENOTE_ERR_NOMEM ? CENOTE_ERR_CONN
							     : CENOTE_OK;
}

/* The server ended the session right behind the answer to the request, which is complete. */
static int
lose_after(struct cnd_serving *s, const struct cnp_request *req)
{
	int r = finish(s, req, true);

	return r < 0 ? r : cnd_request_lose_idle(s);
}

int
cnd_request_handle(struct cnd_serving *s, const struct cnp_msg *m)
{
	handler *handle = m->code < sizeof(handlers) / sizeof(handlers[0])
				  ? handlers[m->code]
				  : NULL;

	return handle != NULL ? handle(s, m) : CENOTE_ERR_UNSUPPORTED;
}

static int
run(struct cnd_serving *s, const struct cnp_request *req)
{
	uint8_t before = s->held.tx;
	int is_late = 0;
	int r;
	int q;

	begin(s, req);
	if (s->ahead.n == 0)
		cnd_ahead_give(s, req);
	if (s->ahead.n > 0)
		r = cnd_ahead_answer(s, req);
	else
		r = cnd_request_handle(s, &req->msg);
	r = cnd_replay_request(s, req, r);
	cnc_arena_finish(&s->request.arena);
	if (s->is_gone)
		return CENOTE_ERR_CONN;
	if (cnp_server_state(s->server) == CNP_SERVER_BROKEN)
		return CENOTE_ERR_PROTOCOL;
	if (r >= 0 && !s->result.is_done)
		r = fail(s, CENOTE_ERR_SERVER, CNC_SQLSTATE(INTERNAL),
			"the backend gave no answer");
	if (r == CENOTE_ERR_CONN && s->result.is_done)
		return lose_after(s, req);
	if (r < 0 && (r = cnd_move_request(s, req, r)) == CENOTE_DONE)
		return CENOTE_ERR_CONN;
	q = r < 0 ? report_failure(s, r, &req->msg) : CENOTE_OK;
	if (q == CENOTE_OK)
		q = is_late = synchronise(s, req, r);
	if (q == CENOTE_OK && tell_writes(s, req) < 0)
		return s->is_gone ? CENOTE_ERR_CONN : lose_after(s, req);
	if (q >= 0) {
		q = finish(s, req, false);
		cnd_replay_note(s, req, before, r);
	}
	if (q == CENOTE_OK && is_late > 0)
		q = tell_error(s);
	if (q < 0)
		return q;
	return r == CENOTE_ERR_PROTOCOL || s->is_lost ? CENOTE_ERR_CONN : CENOTE_OK;
}

int
cnd_request_run(struct cnd_serving *s, const struct cnp_request *req)
{
	int r = run(s, req);

	if (s->cached != NULL)
		cnd_cached_end(s, req, r);
	return r;
}

/* ---- while no request runs ---- */

int
cnd_request_lose_idle(struct cnd_serving *s)
{
	int holds_nothing =
		s->held.is_ready && s->held.tx == CENOTE_TX_IDLE && s->held.pins == 0;
	const struct cnc_diag *said = cnd_loss_has_words(&s->diag) ? &s->diag : NULL;

	complete_diag(s, CENOTE_ERR_CONN, CNP_MSG_SYNC);
	note_loss(s, "its idle time");
	/* nothing has begun since the client last got READY and held nothing: any other session
	 * will do, even for a request that it sends just now */
	if (holds_nothing && s->ops->may_move != NULL &&
		s->ops->may_move(s, CENOTE_ERR_CONN))
		holds_nothing = cnp_server_yield(s->server, CNP_YIELD_RELOAD, NULL) == 0;
	else if (holds_nothing)
		holds_nothing = cnp_server_yield_lost(s->server, said) == CENOTE_OK;
	if (!holds_nothing)
		(void)cnp_server_error(s->server, &s->diag);
	return CENOTE_ERR_CONN;
}

int
cnd_request_idle(struct cnd_serving *s)
{
	int r;

	cnc_diag_clear(&s->diag);
	s->ops->begin(s, NULL);
	s->result.is_in_rows = false;
	r = s->backend->idle(s->session, &s->sink);
	if (s->is_gone)
		return CENOTE_ERR_CONN;
	return r < 0 ? cnd_request_lose_idle(s) : CENOTE_OK;
}

int
cnd_request_settle(struct cnd_serving *s)
{
	uint32_t pins = s->held.pins;
	struct cnd_state state;
	int r;

	cnc_diag_clear(&s->diag);
	s->ops->begin(s, NULL);
	s->result.is_in_rows = false;
	r = s->backend->settle(s->session, &s->sink);
	s->held.settled_at = s->n_served;
	if (s->is_gone)
		return CENOTE_ERR_CONN;
	/* without memory, a notification may not have reached the client */
	if (r == CENOTE_ERR_CONN || r == CENOTE_ERR_NOMEM)
		return cnd_request_lose_idle(s);
	cnd_request_take_state(s, &state);
	if (s->cached != NULL)
		cnd_cached_settled(s, pins, &state);
	return CENOTE_OK;
}

void
cnd_request_forget_client(struct cnd_serving *s)
{
	s->loss.may_have_committed = false;
	s->ahead.n = 0;
	s->held.is_ready = false;
	s->held.is_manual = false;
	s->held.is_over = false;
	s->held.has_written = false;
	s->held.settled_at = 0;
	cnd_limits_forget_client(s);
	if (s->cached != NULL)
		cnd_cached_forget_client(s);
	cnd_read_only_synced(s);
	cnd_replay_forget(s);
	cnd_named_texts_forget(s);
}

void
cnd_serving_init(struct cnd_serving *s)
{
	cnd_statements_init(&s->statements, s->backend, s->host.mem);
	s->host.statements = &s->statements;
	s->host.forget = cnd_statements_forget;
	cnc_buf_init(&s->parameters, s->host.mem, CND_PARAMETERS_MAX);
	cnc_arena_init(&s->request.arena, s->host.mem);
	cnc_buf_init(&s->replay.steps, s->host.mem, CND_REPLAY_BYTES_MAX);
	cnc_diag_init(&s->diag, s->host.mem);
	s->sink = (struct cnd_sink){
		.ops = &cnd_sink_ops, .batch = &s->result.batch, .diag = &s->diag
	};
}

void
cnd_serving_finish(struct cnd_serving *s)
{
	cnd_limits_forget_client(s);
	cnd_cached_destroy(s);
	cnd_named_texts_forget(s);
	cnc_buf_finish(&s->parameters);
	cnc_arena_finish(&s->request.arena);
	cnc_buf_finish(&s->replay.steps);
	cnc_diag_finish(&s->diag);
}
