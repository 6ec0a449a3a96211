/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The roles of the servers, for a pool with `target`. A client gets a session only if the session's own server has said that it
 * has the role that the pool wants. A worker asks at the login, and later again: in each check_interval, one worker of each line
 * asks. If the answer has changed, each worker of that line asks its own session before the next use. The scoreboard only has a
 * hint: it orders the lines that a worker tries, and the next answer of a session of that line replaces it.
 *
 * It owns does_not_suit and turns in w->login, and the line_role words and those after it in the pool's record. login.c,
 * worker.c, client.c, attach.c and owner.c call it.
 */
#include "worker.h"

#include "core/sqlstate.h"
#include "shared/log.h"

static const char *const role_words[] = { [CND_ROLE_UNKNOWN] = "of an unknown role",
	[CND_ROLE_PRIMARY] = "a primary",
	[CND_ROLE_REPLICA] = "a replica" };

bool
cnd_roles_are_asked(const struct cnd_worker *w)
{
	return w->config->target != CND_TARGET_ANY;
}

/* Why the pool does not want a server that says this; NULL: the pool wants it. */
static const char *
objection(const struct cnd_worker *w, const struct cnd_server_role *r)
{
	bool is_replica = r->role == CND_ROLE_REPLICA;

	if (!r->is_ready)
		return "the server says that it is not ready (wsrep_ready)";
	if (w->config->target == CND_TARGET_PRIMARY)
		return is_replica
			       ? "the server is a replica, and the pool wants a primary"
			       : NULL;
	if (!is_replica)
		return w->config->target == CND_TARGET_REPLICA
			       ? "the server is a primary, and the pool wants a replica"
			       : NULL;
	if (w->config->max_lag_ms == 0 || r->lag_ms <= w->config->max_lag_ms)
		return NULL;
	return r->lag_ms == CND_LAG_STOPPED
		       ? "the server is a replica whose replication has stopped"
		       : "the server is a replica that is further behind than max_lag";
}

static void
log_turn(const struct cnd_worker *w, size_t line, uint32_t role, const char *why)
{
	char label[CND_LABEL_MAX];

	cnd_server_label(&w->config->servers[line], label);
	cnd_log(LOG_NOTICE, "%s is %s%s%s", label, role_words[role],
		why != NULL ? "; no session goes there: " : "", why != NULL ? why : "");
}

/* Returns by how much line_turns has grown. */
static uint32_t
publish(struct cnd_worker *w, size_t line, const struct cnd_server_role *r,
	const char *why)
{
	struct cnd_pool_record *p = w->pool;
	uint32_t suits = why == NULL;
	uint32_t role = atomic_exchange(&p->line_role[line], r->role);
	bool turned = atomic_exchange(&p->line_suits[line], suits) != suits;

	atomic_store(&p->line_lag_ms[line], r->lag_ms);
	atomic_store(&p->line_asked_ms[line], cnd_now_ms());
	if (role == r->role && !turned)
		return 0;
	/* the other sessions of the line must ask for themselves */
	atomic_fetch_add(&p->line_turns[line], 1);
	if (role != CND_ROLE_UNKNOWN && turned && suits)
		atomic_store(&p->line_back_ms[line], cnd_now_ms());
	if (role != CND_ROLE_UNKNOWN || why != NULL)
		log_turn(w, line, r->role, why);
	return 1;
}

/* Ask that session's server, and publish the answer. *ret_why: the objection. *ret_turns: line_turns with this answer. */
static int
ask(struct cnd_worker *w, size_t line, struct cnd_session *session, struct cnd_sink *sink,
	const char **ret_why, uint32_t *ret_turns, struct cnc_diag *diag)
{
	struct cnd_server_role role = { .role = CND_ROLE_UNKNOWN };
	uint32_t turns = w->pool->line_turns[line];
	int r;

	r = w->serving.backend->role(session, sink, &role, diag);
	if (r < 0)
		return r;
	*ret_why = objection(w, &role);
	*ret_turns = turns + publish(w, line, &role, *ret_why);
	return CENOTE_OK;
}

int
cnd_roles_admit(struct cnd_worker *w, size_t line, struct cnd_session *session,
	struct cnc_diag *diag)
{
	const char *why = NULL;
	int r;

	if (!cnd_roles_are_asked(w))
		return CENOTE_OK;
	r = ask(w, line, session, NULL, &why, &w->login.next_turns, diag);
	if (r < 0)
		return CENOTE_ERR_CONN;
	if (why == NULL)
		return CENOTE_OK;
	cnc_diag_set(diag, CNC_SQLSTATE(CANNOT_CONNECT), "%s", why);
	return CENOTE_ERR_CONN;
}

bool
cnd_roles_have_turned(const struct cnd_worker *w)
{
	uint32_t line = w->slot->server_line;

	return cnd_roles_are_asked(w) && line > 0 && !w->login.does_not_suit &&
	       w->login.turns != w->pool->line_turns[line - 1];
}

/* Become the worker that asks for its line now. False: it is too early, or another worker was first. */
static bool
take_turn(struct cnd_worker *w, size_t line)
{
	int64_t asked =
		atomic_load_explicit(&w->pool->line_asked_ms[line], memory_order_relaxed);
	int64_t now = cnd_now_ms();

	return now - asked >= w->config->check_interval_ms &&
	       atomic_compare_exchange_strong(&w->pool->line_asked_ms[line], &asked, now);
}

bool
cnd_roles_is_due(struct cnd_worker *w)
{
	uint32_t line = w->slot->server_line;

	if (!cnd_roles_are_asked(w) || line == 0 || w->login.does_not_suit ||
		w->serving.session == NULL)
		return false;
	if (cnd_roles_have_turned(w))
		return true;
	/* a client would notice the question, so a worker without a client asks it */
	if (w->client.fd >= 0 && w->serving.backend->is_settling_felt)
		return false;
	return take_turn(w, line - 1);
}

int
cnd_roles_check(struct cnd_worker *w)
{
	size_t line = w->slot->server_line - 1;
	const char *why = NULL;
	struct cnc_diag diag;
	int r;

	cnc_diag_init(&diag, NULL);
	cnd_host_begin(w, w->config->check_interval_ms, "check_interval");
	w->serving.result.is_in_rows = false;
	r = ask(w, line, w->serving.session, cnd_host_sink(w), &why, &w->login.turns,
		&diag);
	if (r < 0 && r != CENOTE_ERR_UNSUPPORTED) {
		cnd_log(LOG_NOTICE, "the server does not say its role (SQLSTATE %s)",
			diag.sqlstate);
		atomic_store(&w->pool->line_failed_ms[line], cnd_now_ms());
	}
	cnc_diag_finish(&diag);
	if (r < 0)
		return r == CENOTE_ERR_UNSUPPORTED ? 0 : r;
	w->login.does_not_suit = why != NULL;
	return why != NULL;
}

/* ---- hints ---- */

/* How long a line that does not suit comes after the others. After that, workers try it again. */
static int64_t
span_of(const struct cnd_worker *w)
{
	int64_t span =
		w->config->rebalance_ms > 0 ? w->config->rebalance_ms : CND_LINE_DOWN_MS;
	int64_t least = 2 * w->config->check_interval_ms;

	return span > least ? span : least;
}

bool
cnd_roles_refused(const struct cnd_worker *w, size_t line)
{
	return cnd_roles_are_asked(w) && w->pool->line_asked_ms[line] != 0 &&
	       !w->pool->line_suits[line];
}

uint32_t
cnd_roles_rank(const struct cnd_worker *w, size_t line)
{
	const struct cnd_pool_record *p = w->pool;
	int64_t asked = p->line_asked_ms[line];

	if (!cnd_roles_are_asked(w) || asked == 0 || cnd_now_ms() - asked >= span_of(w))
		return 0;
	if (cnd_roles_refused(w, line))
		return CND_RANK_BAD;
	return w->config->target == CND_TARGET_PREFER_REPLICA &&
	       p->line_role[line] == CND_ROLE_PRIMARY;
}

int
cnd_roles_left(const struct cnd_worker *w)
{
	uint32_t line = w->slot->server_line;
	int64_t left;

	if (!cnd_roles_are_asked(w) || line == 0)
		return -1;
	left = w->pool->line_asked_ms[line - 1] + w->config->check_interval_ms -
	       cnd_now_ms();
	return left > 3600000 ? 3600000 : left > 0 ? (int)left : 0;
}
