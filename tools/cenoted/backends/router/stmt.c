/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prepared statements. A statement with a number has a handle of libcenote for each target that has it. A statement that has only a
 * name has none. This file keeps the text of both kinds, to prepare them at other targets, too. It owns struct cnd_rt_stmt and
 * s->named.
 */
#include <string.h>

#include "backends/common/answer.h"
#include "router.h"

static uint64_t
bit_of(const struct cnd_session *s, const struct cnd_rt_target *t)
{
	return UINT64_C(1) << (t - s->targets);
}

/* ---- how a statement was prepared ---- */

static void
finish_text(struct cnd_session *s, struct cnd_rt_text *t)
{
	cnc_free(s->mem, t->name);
	cnc_free(s->mem, t->sql);
	cnc_free(s->mem, t->types);
}

/* A statement without a number has a name, which may be empty. */
static bool
has_name(const struct cnd_prepare *p)
{
	return p->statement == NULL || p->name.n > 0;
}

/* Keep a copy. CENOTE_ERR_NOMEM: finish_text() still has to free a part of it. */
static int
init_text(struct cnd_session *s, struct cnd_rt_text *t, const struct cnd_prepare *p)
{
	*t = (struct cnd_rt_text){
		.name = has_name(p) ? cnc_strndup(s->mem, p->name.p, p->name.n) : NULL,
		.sql = cnc_strndup(s->mem, p->sql.p, p->sql.n),
		.len = p->sql.n,
		.types = cnc_calloc(s->mem, p->n_types + 1u, sizeof(*t->types)),
		.n_types = p->n_types,
	};
	if (t->sql == NULL || t->types == NULL || (has_name(p) && t->name == NULL))
		return CENOTE_ERR_NOMEM;
	if (p->n_types > 0)
		memcpy(t->types, p->types, p->n_types * sizeof(*t->types));
	return CENOTE_OK;
}

/* ---- statements with a name and no number ---- */

static bool
is_named(const struct cnd_rt_named *n, struct cnp_str name)
{
	return strlen(n->text.name) == name.n &&
	       memcmp(n->text.name, name.p, name.n) == 0;
}

static struct cnd_rt_named *
find_named(const struct cnd_session *s, struct cnp_str name)
{
	for (struct cnd_rt_named *n = s->named; n != NULL; n = n->next) {
		if (is_named(n, name))
			return n;
	}
	return NULL;
}

static void
free_named(struct cnd_session *s, struct cnd_rt_named *n)
{
	finish_text(s, &n->text);
	cnc_free(s->mem, n);
}

static void
drop_named(struct cnd_session *s, struct cnp_str name)
{
	for (struct cnd_rt_named **at = &s->named; *at != NULL; at = &(*at)->next) {
		struct cnd_rt_named *n = *at;

		if (!is_named(n, name))
			continue;
		*at = n->next;
		free_named(s, n);
		return;
	}
}

void
cnd_rt_forget_named(struct cnd_session *s)
{
	while (s->named != NULL) {
		struct cnd_rt_named *next = s->named->next;

		free_named(s, s->named);
		s->named = next;
	}
}

struct cnp_str
cnd_rt_text_of(const struct cnd_session *s, struct cnp_str name)
{
	const struct cnd_rt_named *n = find_named(s, name);

	return n != NULL ? (struct cnp_str){ n->text.sql, n->text.len } : CNP_STR_NONE;
}

/* With one target, no other target ever needs the text. */
static int
keep_named(struct cnd_session *s, const struct cnd_prepare *p)
{
	struct cnd_rt_named *n;

	if (s->n_targets == 1)
		return CENOTE_OK;
	drop_named(s, p->name);
	n = cnc_calloc(s->mem, 1, sizeof(*n));
	if (n == NULL)
		return CENOTE_ERR_NOMEM;
	n->has = bit_of(s, s->at);
	if (init_text(s, &n->text, p) < 0) {
		free_named(s, n);
		return CENOTE_ERR_NOMEM;
	}
	n->next = s->named;
	s->named = n;
	return CENOTE_OK;
}

/* ---- preparing ---- */

static int
make_handle(struct cnd_session *s, struct cnp_str sql, const char *name,
	const uint32_t *types, uint32_t n_types, cenote_stmt **ret_handle)
{
	cenote_stmt *handle = NULL;
	int r = cenote_stmt_create(s->at->conn, sql.p, sql.n, &handle);

	if (r == CENOTE_OK && name != NULL)
		r = cenote_stmt_set_name(handle, name);
	if (r == CENOTE_OK && n_types > 0)
		r = cenote_stmt_set_param_types(handle, types, n_types);
	if (r == CENOTE_OK)
		CND_RT_AWAIT(r, s, s->at, cenote_send_prepare(handle));
	r = cnd_rt_send_off(s, r);
	if (r == CENOTE_OK)
		*ret_handle = handle;
	else
		cenote_stmt_destroy(handle);
	return r;
}

/* Prepare at s->at what the client has prepared at another target. */
static int
prepare_quietly(struct cnd_session *s, const struct cnd_rt_text *t,
	cenote_stmt **ret_handle, struct cnc_diag *diag)
{
	cenote_stmt *handle = NULL;
	int r = make_handle(s, (struct cnp_str){ t->sql, t->len }, t->name, t->types,
		t->n_types, &handle);

	r = r < 0 ? cnd_rt_fail(s, s->at, r, diag) : cnd_rt_drop(s, s->at, diag);
	if (r == CENOTE_OK)
		*ret_handle = handle;
	else
		cenote_stmt_destroy(handle);
	return r;
}

static void
free_stmt(struct cnd_session *s, struct cnd_rt_stmt *st)
{
	for (size_t i = 0; i < s->n_targets; i++)
		cenote_stmt_destroy(st->handles[i]);
	finish_text(s, &st->text);
	cnc_free(s->mem, st);
}

static void
forget(struct cnd_session *s, struct cnd_statement *statement)
{
	if (statement->own != NULL)
		free_stmt(s, statement->own);
	statement->own = NULL;
}

static struct cnd_rt_stmt *
make_stmt(struct cnd_session *s, const struct cnd_prepare *p)
{
	struct cnd_rt_stmt *st = cnc_calloc(s->mem, 1, sizeof(*st));

	if (st == NULL || init_text(s, &st->text, p) == CENOTE_OK)
		return st;
	free_stmt(s, st);
	return NULL;
}

/* A set-up request replaces a statement of the same name. */
static int
close_first(struct cnd_session *s, const struct cnd_prepare *p, struct cnc_diag *diag)
{
	int r;

	if (!p->is_setup || p->name.n == 0)
		return CENOTE_OK;
	CND_RT_AWAIT(r, s, s->at,
		cenote_send_close_named(s->at->conn, CENOTE_NAMED_STATEMENT, p->name.p));
	r = cnd_rt_send_off(s, r);
	return r < 0 ? cnd_rt_fail(s, s->at, r, diag) : cnd_rt_drop(s, s->at, diag);
}

/* The statement's handle at s->at, if the client prepares the same text again, in order to drop a value of which it has sent pieces; NULL:
 * otherwise. */
static cenote_stmt *
pieced(const struct cnd_session *s, const struct cnd_prepare *p)
{
	const struct cnd_rt_stmt *st = p->statement != NULL ? p->statement->own : NULL;

	return st != NULL && st->pieces == s->at && st->text.len == p->sql.n &&
			       memcmp(st->text.sql, p->sql.p, p->sql.n) == 0
		       ? st->handles[s->at - s->targets]
		       : NULL;
}

/* The target must know that this is the same statement: it may be in a database now where the text cannot be prepared. */
static int
prepare_pieced(struct cnd_session *s, const struct cnd_prepare *p, cenote_stmt *handle,
	struct cnd_sink *sink)
{
	struct cnd_rt_stmt *st = p->statement->own;
	uint64_t sent = 0;
	int r;

	CND_RT_AWAIT(r, s, s->at, cenote_send_prepare(handle));
	r = cnd_rt_send_off(s, r);
	r = r < 0 ? cnd_rt_fail(s, s->at, r, sink->diag)
		  : cnd_rt_deliver(s, sink, NULL, &sent);
	if (r == CENOTE_OK) {
		st->pieces = NULL;
		p->statement->sent = sent;
	}
	return r;
}

static int
prepare_at(struct cnd_session *s, const struct cnd_prepare *p, struct cnd_sink *sink)
{
	struct cnd_rt_stmt *st = NULL;
	cenote_stmt *handle = NULL;
	uint64_t sent = 0;
	cenote_stmt *same = pieced(s, p);
	int r = close_first(s, p, sink->diag);

	if (r < 0)
		return r;
	if (same != NULL)
		return prepare_pieced(s, p, same, sink);
	if (p->statement != NULL && (st = make_stmt(s, p)) == NULL)
		return CENOTE_ERR_NOMEM;
	r = make_handle(
		s, p->sql, has_name(p) ? p->name.p : NULL, p->types, p->n_types, &handle);
	r = r < 0 ? cnd_rt_fail(s, s->at, r, sink->diag)
		  : cnd_rt_deliver(s, sink, NULL, &sent);
	if (r == CENOTE_OK && st == NULL)
		r = keep_named(s, p);
	/* a statement with a name stays without its handle, until it is closed */
	if (st == NULL) {
		cenote_stmt_destroy(handle);
		return r;
	}
	st->handles[s->at - s->targets] = handle;
	if (r == CENOTE_OK) {
		forget(s, p->statement);
		p->statement->own = st;
		p->statement->sent = sent;
	} else {
		free_stmt(s, st);
	}
	return r;
}

static int
prepare(struct cnd_session *s, const struct cnd_prepare *p, struct cnd_sink *sink)
{
	int r = cnd_rt_choose(s, sink, p->is_sync);

	return r < 0 ? r : cnd_rt_leave(s, prepare_at(s, p, sink), NULL, 0);
}

/* ---- using ---- */

/* Get the handle of the statement at s->at, and prepare it there if that target does not have it. *ret_is_own: the caller destroys
 * the handle. */
static int
get_handle(struct cnd_session *s, const struct cnd_named *which, cenote_stmt **ret_handle,
	bool *ret_is_own, struct cnc_diag *diag)
{
	struct cnd_rt_stmt *st = which->statement != NULL ? which->statement->own : NULL;
	struct cnd_rt_named *n;
	cenote_stmt *handle = NULL;
	int r = CENOTE_OK;

	*ret_is_own = st == NULL;
	if (st != NULL) {
		cenote_stmt **at = &st->handles[s->at - s->targets];

		if (*at == NULL)
			r = prepare_quietly(s, &st->text, at, diag);
		*ret_handle = *at;
		return r;
	}
	n = find_named(s, which->name);
	if (n != NULL && (n->has & bit_of(s, s->at)) == 0) {
		r = prepare_quietly(s, &n->text, &handle, diag);
		if (r < 0)
			return r;
		cenote_stmt_destroy(handle);
		n->has |= bit_of(s, s->at);
	}
	r = cenote_stmt_by_name(s->at->conn, which->name.p, ret_handle);
	return r < 0 ? cnd_rt_fail(s, s->at, r, diag) : CENOTE_OK;
}

cenote_stmt *
cnd_rt_handle_here(
	struct cnd_session *s, const struct cnd_named *which, cenote_stmt **ret_own)
{
	const struct cnd_rt_stmt *st =
		which->statement != NULL ? which->statement->own : NULL;
	const struct cnd_rt_named *n;

	if (st != NULL)
		return st->pieces == NULL ? st->handles[s->at - s->targets] : NULL;
	n = find_named(s, which->name);
	if ((n != NULL && (n->has & bit_of(s, s->at)) == 0) ||
		cenote_stmt_by_name(s->at->conn, which->name.p, ret_own) < 0)
		return NULL;
	return *ret_own;
}

/* The first target that has the statement; NULL: none. */
static struct cnd_rt_target *
home_of(struct cnd_session *s, const struct cnd_named *which)
{
	const struct cnd_rt_stmt *st =
		which->statement != NULL ? which->statement->own : NULL;
	const struct cnd_rt_named *n;

	for (size_t i = 0; st != NULL && i < s->n_targets; i++) {
		if (st->handles[i] != NULL)
			return &s->targets[i];
	}
	n = st == NULL ? find_named(s, which->name) : NULL;
	for (size_t i = 0; n != NULL && i < s->n_targets; i++) {
		if (n->has & bit_of(s, &s->targets[i]))
			return &s->targets[i];
	}
	return NULL;
}

static int
execute_at(struct cnd_session *s, const struct cnd_named *which,
	const struct cnd_exec *exec, struct cnd_sink *sink)
{
	cenote_exec_options o = cnd_rt_options(exec);
	uint64_t sent = which->statement != NULL ? which->statement->sent : 0;
	bool is_own = false;
	cenote_stmt *handle = NULL;
	cenote_params *params = NULL;
	int r = get_handle(s, which, &handle, &is_own, sink->diag);

	if (r < 0)
		return r;
	r = cnd_rt_params(s, exec, false, &params);
	if (r == CENOTE_OK) {
		CND_RT_AWAIT(r, s, s->at, cenote_send_execute(handle, params, &o));
		r = cnd_rt_send_off(s, r);
		if (!exec->columns_known)
			sent = 0;
		r = r < 0 ? cnd_rt_fail(s, s->at, r, sink->diag)
			  : cnd_rt_deliver(s, sink, exec->portal, &sent);
		if (which->statement != NULL && sent != 0)
			which->statement->sent = sent;
	}
	cenote_params_destroy(params);
	if (is_own)
		cenote_stmt_destroy(handle);
	return r;
}

static int
execute(struct cnd_session *s, const struct cnd_named *which, const struct cnd_exec *exec,
	struct cnd_sink *sink)
{
	struct cnd_rt_stmt *st = which->statement != NULL ? which->statement->own : NULL;
	int r;

	if (st != NULL && st->pieces != NULL)
		r = cnd_rt_enter(s, st->pieces, sink, exec->is_sync);
	else
		r = cnd_rt_choose(s, sink, exec->is_sync);
	if (r < 0)
		return r;
	if (st != NULL)
		st->pieces = NULL;
	return cnd_rt_leave(s, execute_at(s, which, exec, sink), NULL, 0);
}

static int
describe_at(struct cnd_session *s, const struct cnd_named *which, struct cnd_sink *sink)
{
	uint64_t sent = 0;
	bool is_own;
	cenote_stmt *handle = NULL;
	int r;

	if (which->statement == NULL) {
		CND_RT_AWAIT(r, s, s->at,
			cenote_send_describe_named(
				s->at->conn, which->kind, which->name.p));
	} else {
		r = get_handle(s, which, &handle, &is_own, sink->diag);
		if (r < 0)
			return r;
		CND_RT_AWAIT(r, s, s->at, cenote_send_describe(handle));
	}
	r = cnd_rt_send_off(s, r);
	r = r < 0 ? cnd_rt_fail(s, s->at, r, sink->diag)
		  : cnd_rt_deliver(s, sink, NULL, &sent);
	if (which->statement != NULL && sent != 0)
		which->statement->sent = sent;
	return r;
}

static int
describe(struct cnd_session *s, const struct cnd_named *which, struct cnd_sink *sink)
{
	struct cnd_rt_target *t = cnd_rt_holder(s) != NULL ? NULL : home_of(s, which);
	int r = cnd_rt_enter(s, t, sink, which->is_sync);

	return r < 0 ? r : cnd_rt_leave(s, describe_at(s, which, sink), NULL, 0);
}

static int
close_at(struct cnd_session *s, const struct cnd_named *which, struct cnd_sink *sink)
{
	int r;

	CND_RT_AWAIT(r, s, s->at,
		cenote_send_close_named(s->at->conn, which->kind, which->name.p));
	r = cnd_rt_send_off(s, r);
	return r < 0 ? cnd_rt_fail(s, s->at, r, sink->diag)
		     : cnd_rt_deliver(s, sink, NULL, NULL);
}

/* The worker calls forget() for a statement with a number. This destroys its handles, and libcenote closes the statement at the target
 * with its next request there. */
static int
close_statement(
	struct cnd_session *s, const struct cnd_named *which, struct cnd_sink *sink)
{
	struct cnd_rt_target *t = NULL;
	int r;

	if (which->statement != NULL && which->name.n == 0)
		return cnd_done(sink, "CLOSE", 0);
	if (cnd_rt_holder(s) == NULL && which->kind == CNP_NAMED_STATEMENT)
		t = home_of(s, which);
	r = cnd_rt_enter(s, t, sink, which->is_sync);
	if (r < 0)
		return r;
	r = cnd_rt_leave(s, close_at(s, which, sink), NULL, 0);
	if (r == CENOTE_OK && which->kind == CNP_NAMED_STATEMENT)
		drop_named(s, which->name);
	return r;
}

static int
long_data(struct cnd_session *s, struct cnd_statement *statement, uint16_t param,
	struct cnp_str data, struct cnc_diag *ret_diag)
{
	struct cnd_rt_stmt *st = statement->own;
	const struct cnd_named which = { .statement = statement };
	struct cnd_rt_target *t = st->pieces != NULL ? st->pieces : home_of(s, &which);
	int r;

	if (t == NULL)
		return CENOTE_ERR_UNSUPPORTED;
	s->at = t;
	r = cenote_send_long_data(st->handles[t - s->targets], param, data.p, data.n);
	if (r < 0)
		return cnd_rt_fail(s, t, r, ret_diag);
	st->pieces = t;
	return CENOTE_OK;
}

const struct cnd_statement_ops cnd_rt_statement_ops = {
	.prepare = prepare,
	.describe = describe,
	.execute = execute,
	.close = close_statement,
	.forget = forget,
	.long_data = long_data,
	.fetch = cnd_rt_fetch,
	.close_portal = cnd_rt_close_portal,
	.forget_portal = cnd_rt_close_portal,
};
