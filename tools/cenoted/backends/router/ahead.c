/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends the requests of a unit to their target together, in one write, and passes the answers on one by one. All of them go to
 * the target that the unit has. It must have everything that the router repeats there for a client, so that nothing comes
 * between two of them. The worker (serving/ahead.c) offers the requests and asks for the answers. This file owns s->ahead.
 *
 * A request for which the router would have to do something else at the target, too, is not taken: it runs in its turn.
 */
#include <string.h>
#include <strings.h>

#include "core/sql.h"
#include "router.h"

/* About as much as a socket takes while its reader is busy. */
#define BYTES_MAX 32768u

/* ---- taking requests ---- */

/* The target of all these requests. NULL: the next request must run in its turn, since the target needs something first. */
static struct cnd_rt_target *
target_of(const struct cnd_session *s)
{
	struct cnd_rt_target *t = s->n_targets == 1 ? s->targets : cnd_rt_holder(s);

	if (t == NULL || !t->is_attached || t->has_sync)
		return NULL;
	return s->n_targets == 1 || t->is_in_unit ? t : NULL;
}

/* Whether the text may be a copy, during which the target reads nothing else. */
static bool
may_copy(struct cnp_str sql)
{
	return strcasestr(sql.p, "copy") != NULL || strcasestr(sql.p, "load") != NULL;
}

static size_t
size_of(const struct cnd_ahead *what)
{
	size_t n = what->sql.n + 64;

	if (what->prepare != NULL)
		n += what->prepare->sql.n;
	for (uint32_t i = 0; what->exec != NULL && i < what->exec->n_params; i++)
		n += what->exec->params[i].len + 16u;
	return n;
}

static int
send_query(struct cnd_session *s, const struct cnd_ahead *what)
{
	cenote_exec_options o = cnd_rt_options(what->exec);
	cenote_params *params;
	int r = CENOTE_AGAIN;

	if (may_copy(what->sql))
		return CENOTE_AGAIN;
	if (cnd_rt_params(s, what->exec, what->exec->is_simple, &params) == CENOTE_OK)
		r = cenote_send_query(s->at->conn, what->sql.p, what->sql.n, params, &o);
	cenote_params_destroy(params);
	return r;
}

static int
send_execute(struct cnd_session *s, const struct cnd_ahead *what, struct cnd_rt_ahead *a)
{
	cenote_exec_options o = cnd_rt_options(what->exec);
	cenote_params *params = NULL;
	cenote_stmt *handle = cnd_rt_handle_here(s, what->which, &a->handle);
	int r = CENOTE_AGAIN;

	if (handle != NULL && cnd_rt_params(s, what->exec, false, &params) == CENOTE_OK)
		r = cenote_send_execute(handle, params, &o);
	cenote_params_destroy(params);
	a->statement = what->which->statement;
	a->is_known = what->exec->columns_known;
	return r;
}

/* The router notes a statement's name for its other targets. So it takes this request only if it has no other target. */
static int
send_prepare(struct cnd_session *s, const struct cnd_prepare *p, struct cnd_rt_ahead *a)
{
	int r;

	if (s->n_targets > 1 || may_copy(p->sql))
		return CENOTE_AGAIN;
	r = cenote_stmt_create(s->at->conn, p->sql.p, p->sql.n, &a->handle);
	if (r == CENOTE_OK)
		r = cenote_stmt_set_name(a->handle, p->name.p);
	if (r == CENOTE_OK && p->n_types > 0)
		r = cenote_stmt_set_param_types(a->handle, p->types, p->n_types);
	return r == CENOTE_OK ? cenote_send_prepare(a->handle) : r;
}

static int
send_one(struct cnd_session *s, const struct cnd_ahead *what, struct cnd_rt_ahead *a)
{
	switch (what->code) {
	case CNP_MSG_QUERY:
		return send_query(s, what);
	case CNP_MSG_EXECUTE:
		return send_execute(s, what, a);
	case CNP_MSG_PREPARE:
		return send_prepare(s, what->prepare, a);
	case CNP_MSG_DESCRIBE:
		return cenote_send_describe_named(
			s->at->conn, what->which->kind, what->which->name.p);
	case CNP_MSG_CLOSE:
		return s->n_targets > 1 ? CENOTE_AGAIN
					: cenote_send_close_named(s->at->conn,
						  what->which->kind, what->which->name.p);
	default:
		return CENOTE_AGAIN;
	}
}

static int
take(struct cnd_session *s, const struct cnd_ahead *what)
{
	struct cnd_rt_ahead a = { .code = what->code };

	if (what->code != CNP_MSG_SYNC) {
		if (send_one(s, what, &a) != CENOTE_OK) {
			cenote_stmt_destroy(a.handle);
			return CENOTE_AGAIN;
		}
		s->ahead.list[s->ahead.n++] = a;
	}
	/* if it cannot be sent now, sync() sends it */
	s->at->has_sync = what->is_sync && cenote_send_sync(s->at->conn) == CENOTE_OK;
	return CENOTE_OK;
}

int
cnd_rt_ahead(struct cnd_session *s, const struct cnd_ahead *what)
{
	struct cnd_rt_target *t = s->ahead.n > 0 ? s->ahead.target : target_of(s);
	size_t size = size_of(what);

	if (t == NULL || s->ahead.n == CND_RT_AHEAD_MAX ||
		(s->ahead.n > 0 && s->ahead.size + size > BYTES_MAX))
		return CENOTE_AGAIN;
	s->at = t;
	if (s->ahead.n == 0) {
		if (what->code == CNP_MSG_SYNC)
			return CENOTE_AGAIN;
		if (cnd_rt_begin_unit(t) != CENOTE_OK)
			return CENOTE_AGAIN;
		s->ahead.target = t;
		s->ahead.size = 0;
	}
	if (take(s, what) != CENOTE_OK)
		return CENOTE_AGAIN;
	s->ahead.size += size;
	return CENOTE_OK;
}

/* ---- answers ---- */

void
cnd_rt_ahead_forget(struct cnd_session *s)
{
	while (s->ahead.n > 0)
		cenote_stmt_destroy(s->ahead.list[--s->ahead.n].handle);
	s->ahead.at = 0;
}

/* After a failed request, the target skips the others up to the synchronization point. *ret_ran: it has carried out one of them, so it
 * does not know of the failure. */
static int
skip(struct cnd_session *s, struct cnc_diag *diag, bool *ret_ran)
{
	cenote_result *res;
	int r = CENOTE_OK;

	for (size_t i = s->ahead.at; i < s->ahead.n; i++) {
		for (;;) {
			CND_RT_AWAIT(r, s, s->at, cenote_get_result(s->at->conn, &res));
			if (r == CENOTE_DONE)
				break;
			if (r < 0)
				return cnd_rt_fail(s, s->at, r, diag);
			*ret_ran |= cenote_result_kind(res) != CENOTE_RESULT_SKIPPED;
			cenote_result_destroy(res);
		}
	}
	return CENOTE_OK;
}

/* The request has failed with `r`, and the worker drops the others of the series. */
static int
end_series(struct cnd_session *s, int r, struct cnc_diag *diag)
{
	struct cnc_diag lost;
	bool has_run = false;
	int q;

	if (r == CENOTE_ERR_CONN || s->ahead.at == s->ahead.n)
		return r;
	cnc_diag_init(&lost, s->mem);
	q = skip(s, &lost, &has_run);
	if (q < 0)
		cnc_diag_copy(diag, &lost);
	else if (has_run)
		cnc_diag_set(diag, CNC_SQLSTATE(OUTCOME_UNKNOWN),
			"a request of a pipeline failed in the router, and target %s has "
			"carried out those after it",
			s->at->name);
	cnc_diag_finish(&lost);
	return q < 0 || has_run ? CENOTE_ERR_CONN : r;
}

int
cnd_rt_answer(struct cnd_session *s, struct cnd_sink *sink)
{
	struct cnd_rt_ahead *a = &s->ahead.list[s->ahead.at++];
	struct cnd_statement *statement = a->statement;
	uint64_t sent = statement != NULL && a->is_known ? statement->sent : 0;
	bool is_first = s->ahead.at == 1;
	int r = CENOTE_OK;

	s->at = s->ahead.target;
	cnd_rt_begin_request(s, sink);
	cnd_rt_tell_early(s, s->ahead.at - 1);
	if (!s->at->is_attached) {
		cnd_rt_copy_diag(sink->diag, cenote_conn_diag(s->at->conn));
		r = CENOTE_ERR_CONN;
	} else if (is_first) {
		r = cenote_flush(s->at->conn);
		if (r < 0)
			r = cnd_rt_fail(s, s->at, r, sink->diag);
	}
	if (r == CENOTE_OK || r == CENOTE_AGAIN)
		r = cnd_rt_deliver(
			s, sink, NULL, a->code == CNP_MSG_QUERY ? NULL : &sent);
	if (statement != NULL && sent != 0)
		statement->sent = sent;
	if (r < 0)
		r = end_series(s, r, sink->diag);
	/* what came early for the synchronization point stays */
	if (r < 0 || s->ahead.at == s->ahead.n)
		cnd_rt_ahead_forget(s);
	return cnd_rt_leave(s, r, NULL, 0);
}
