/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prepared statements. A statement that the client numbers has a handle of libcenote at each target that has run it. Of a
 * statement that has a name only, this file keeps the text, so that other targets can get it. It owns struct cnd_rt_stmt and
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

/* ---- statements with a name only ---- */

static struct cnd_rt_named *
find_named(const struct cnd_session *s, struct cnp_str name)
{
	for (struct cnd_rt_named *n = s->named; n != NULL; n = n->next) {
		if (strlen(n->name) == name.n && memcmp(n->name, name.p, name.n) == 0)
			return n;
	}
	return NULL;
}

static void
free_named(struct cnd_session *s, struct cnd_rt_named *n)
{
	cnc_free(s->mem, n->name);
	cnc_free(s->mem, n->sql);
	cnc_free(s->mem, n->types);
	cnc_free(s->mem, n);
}

static void
drop_named(struct cnd_session *s, struct cnp_str name)
{
	for (struct cnd_rt_named **at = &s->named; *at != NULL; at = &(*at)->next) {
		struct cnd_rt_named *n = *at;

		if (strlen(n->name) != name.n || memcmp(n->name, name.p, name.n) != 0)
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
cnd_rt_text(const struct cnd_session *s, struct cnp_str name)
{
	const struct cnd_rt_named *n = find_named(s, name);

	return n != NULL ? (struct cnp_str){ n->sql, n->len } : CNP_STR_NONE;
}

/* With one target nobody asks for the text. */
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
	n->name = cnc_strndup(s->mem, p->name.p, p->name.n);
	n->sql = cnc_strndup(s->mem, p->sql.p, p->sql.n);
	n->len = p->sql.n;
	n->types = cnc_calloc(s->mem, p->n_types + 1u, sizeof(*n->types));
	n->n_types = p->n_types;
	n->has = bit_of(s, s->at);
	if (n->name == NULL || n->sql == NULL || n->types == NULL) {
		free_named(s, n);
		return CENOTE_ERR_NOMEM;
	}
	if (p->n_types > 0)
		memcpy(n->types, p->types, p->n_types * sizeof(*n->types));
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
	if (r == CENOTE_OK && s->at->is_in_unit)
		r = cenote_flush(s->at->conn);
	if (r == CENOTE_OK)
		*ret_handle = handle;
	else
		cenote_stmt_destroy(handle);
	return r;
}

/* Prepare at s->at what the client has prepared at another target. */
static int
prepare_quietly(struct cnd_session *s, struct cnp_str sql, const char *name,
	const uint32_t *types, uint32_t n_types, cenote_stmt **ret_handle,
	struct cnc_diag *diag)
{
	cenote_stmt *handle = NULL;
	int r = make_handle(s, sql, name, types, n_types, &handle);

	r = r < 0 ? cnd_rt_fail(s, s->at, r, diag) : cnd_rt_drop(s, s->at, diag);
	if (r == CENOTE_OK)
		*ret_handle = handle;
	else
		cenote_stmt_destroy(handle);
	return r;
}

static void
forget(struct cnd_session *s, struct cnd_statement *statement)
{
	struct cnd_rt_stmt *st = statement->own;

	if (st == NULL)
		return;
	for (size_t i = 0; i < s->n_targets; i++)
		cenote_stmt_destroy(st->handles[i]);
	cnc_free(s->mem, st->sql);
	cnc_free(s->mem, st->name);
	cnc_free(s->mem, st->types);
	cnc_free(s->mem, st);
	statement->own = NULL;
}

static struct cnd_rt_stmt *
make_stmt(struct cnd_session *s, const struct cnd_prepare *p)
{
	struct cnd_rt_stmt *st = cnc_calloc(s->mem, 1, sizeof(*st));

	if (st == NULL)
		return NULL;
	st->sql = cnc_strndup(s->mem, p->sql.p, p->sql.n);
	st->len = p->sql.n;
	st->types = cnc_calloc(s->mem, p->n_types + 1u, sizeof(*st->types));
	st->n_types = p->n_types;
	if (p->name.n > 0)
		st->name = cnc_strndup(s->mem, p->name.p, p->name.n);
	if (p->n_types > 0 && st->types != NULL)
		memcpy(st->types, p->types, p->n_types * sizeof(*st->types));
	if (st->sql == NULL || st->types == NULL || (p->name.n > 0 && st->name == NULL)) {
		struct cnd_statement holder = { .own = st };

		forget(s, &holder);
		return NULL;
	}
	return st;
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
	if (r == CENOTE_OK && s->at->is_in_unit)
		r = cenote_flush(s->at->conn);
	return r < 0 ? cnd_rt_fail(s, s->at, r, diag) : cnd_rt_drop(s, s->at, diag);
}

static int
prepare_at(struct cnd_session *s, const struct cnd_prepare *p, struct cnd_sink *sink)
{
	const char *name = p->statement == NULL || p->name.n > 0 ? p->name.p : NULL;
	struct cnd_rt_stmt *st = NULL;
	cenote_stmt *handle = NULL;
	uint64_t sent = 0;
	int r = close_first(s, p, sink->diag);

	if (r < 0)
		return r;
	if (p->statement != NULL && (st = make_stmt(s, p)) == NULL)
		return CENOTE_ERR_NOMEM;
	r = make_handle(s, p->sql, name, p->types, p->n_types, &handle);
	r = r < 0 ? cnd_rt_fail(s, s->at, r, sink->diag)
		  : cnd_rt_deliver(s, sink, NULL, &sent);
	if (r == CENOTE_OK && st == NULL)
		r = keep_named(s, p);
	/* a statement with a name belongs to the connection, so it stays */
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
		struct cnd_statement holder = { .own = st };

		forget(s, &holder);
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

/* The handle of the statement at s->at, which is prepared there if needed. *ret_is_own: the caller destroys it. */
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
			r = prepare_quietly(s, (struct cnp_str){ st->sql, st->len },
				st->name, st->types, st->n_types, at, diag);
		*ret_handle = *at;
		return r;
	}
	n = find_named(s, which->name);
	if (n != NULL && (n->has & bit_of(s, s->at)) == 0) {
		r = prepare_quietly(s, (struct cnp_str){ n->sql, n->len }, n->name,
			n->types, n->n_types, &handle, diag);
		if (r < 0)
			return r;
		cenote_stmt_destroy(handle);
		n->has |= bit_of(s, s->at);
	}
	r = cenote_stmt_by_name(s->at->conn, which->name.p, ret_handle);
	return r < 0 ? cnd_rt_fail(s, s->at, r, diag) : CENOTE_OK;
}

/* The pieces of a long value are at one target, and so is a statement that is only described. */
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
		if (r == CENOTE_OK && s->at->is_in_unit)
			r = cenote_flush(s->at->conn);
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
	if (r == CENOTE_OK && s->at->is_in_unit)
		r = cenote_flush(s->at->conn);
	r = r < 0 ? cnd_rt_fail(s, s->at, r, sink->diag)
		  : cnd_rt_deliver(s, sink, NULL, &sent);
	if (which->statement != NULL && sent != 0)
		which->statement->sent = sent;
	return r;
}

static int
describe(struct cnd_session *s, const struct cnd_named *which, struct cnd_sink *sink)
{
	struct cnd_rt_target *t = cnd_rt_is_bound(s) ? NULL : home_of(s, which);
	int r = cnd_rt_enter(s, t, sink, which->is_sync);

	return r < 0 ? r : cnd_rt_leave(s, describe_at(s, which, sink), NULL, 0);
}

static int
close_at(struct cnd_session *s, const struct cnd_named *which, struct cnd_sink *sink)
{
	int r;

	CND_RT_AWAIT(r, s, s->at,
		cenote_send_close_named(s->at->conn, which->kind, which->name.p));
	if (r == CENOTE_OK && s->at->is_in_unit)
		r = cenote_flush(s->at->conn);
	return r < 0 ? cnd_rt_fail(s, s->at, r, sink->diag)
		     : cnd_rt_deliver(s, sink, NULL, NULL);
}

/* A statement with a number ends with its handles, which libcenote tells the target with the next request. */
static int
close_statement(
	struct cnd_session *s, const struct cnd_named *which, struct cnd_sink *sink)
{
	struct cnd_rt_target *t = NULL;
	int r;

	if (which->statement != NULL && which->name.n == 0)
		return cnd_done(sink, "CLOSE", 0);
	if (!cnd_rt_is_bound(s) && which->kind == CNP_NAMED_STATEMENT)
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
