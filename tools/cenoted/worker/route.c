/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tell the backend of a router to which target the pool's rules send a statement, and what the statement does to the session; and
 * find the statements of a pipeline that may go to their target together. query.c and serving/ahead.c call this;
 * backends/router decides.
 */
#include "worker.h"

#include <string.h>

#include "core/sql.h"
#include "query/query_rules.h"
#include "query/rewrite.h"

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Whether the text asks what an earlier statement did, such as LAST_INSERT_ID(). If the text only seems to ask, no harm is
 * done: the statement goes where the one before it went.
 */
static bool
asks_last(const struct cnd_summary *summary, struct cnp_str sql)
{
	static const char *const functions[] = { "last_insert_id", "last_insert_rowid",
		"changes", "total_changes", "row_count", "found_rows", "lastval",
		"currval", "scope_identity", "rowcount_big" };
	static const char *const variables[] = { "@@identity", "@@last_insert_id",
		"@@warning_count", "@@error_count", "@@rowcount" };
	static const char *const lists[] = { "warnings", "errors", "count", NULL };
	struct cnc_sql x = cnc_sql_begin(sql.p, sql.n, CNC_SQL_UNKNOWN);
	const char *at = strstr(sql.p, "@@");

	for (uint32_t i = 0; i < summary->functions.n; i++) {
		for (size_t j = 0; j < N_ITEMS(functions); j++) {
			if (cnd_sql_name_is(&summary->functions.list[i], functions[j]))
				return true;
		}
	}
	for (size_t i = 0; at != NULL && i < N_ITEMS(variables); i++) {
		if (strcasestr(at, variables[i]) != NULL)
			return true;
	}
	return cnc_sql_take(&x, "show") && cnc_sql_take_one_of(&x, lists);
}

/* Whether the text sets the session's state, and does nothing else, except that it may read. */
static bool
sets_state(const struct cnd_summary *summary)
{
	const uint32_t settings = CND_CLASS_SESSION | CND_CLASS_READ;

	return (summary->classes & CND_CLASS_SESSION) != 0 &&
	       (summary->classes & ~settings) == 0;
}

void
cnd_query_route(struct cnd_worker *w, const struct cnd_query_rule *rule,
	const struct cnd_query *q)
{
	const struct cnd_router_ops *router = w->serving.backend->router;
	struct cnd_route to = { .target = NULL };

	if (router == NULL)
		return;
	to.sets_state = sets_state(q->summary);
	/* the pointer is NULL for a call of a function by its number */
	to.asks_last = q->sql != NULL &&
		       asks_last(q->summary, (struct cnp_str){ q->sql, q->sql_len });
	if (rule != NULL && rule->action == CND_QUERY_POOL) {
		to.target = rule->target;
		to.line = rule->line;
	}
	router->route(w->serving.session, &to);
}

/* ---- statements of a pipeline ---- */

/* Whether the pool does no more with a statement than to choose its target. */
static bool
only_routes(const struct cnd_pool_config *p)
{
	struct cnd_respelling style = cnd_pool_config_style(p, p->backend);

	for (size_t i = 0; i < p->query_rules.n; i++) {
		const struct cnd_query_rule *rule = &p->query_rules.list[i];

		if (rule->is_dry_run || (rule->action != CND_QUERY_POOL &&
						rule->action != CND_QUERY_ALLOW))
			return false;
	}
	return p->is_read_only == 0 && !cnd_respells(&style);
}

/* Whether the rules leave the statement with the target `at`. Notes in w->query.passed which of them apply. */
static bool
stays_at(struct cnd_worker *w, const struct cnd_query *q, const char *at)
{
	const struct cnd_query_rules *rules = &w->config->query_rules;

	for (size_t i = 0; i < rules->n; i++) {
		const struct cnd_query_rule *rule = &rules->list[i];
		const struct cnd_query_condition *condition;

		if (!cnd_query_rule_applies(
			    rule, cnd_query_rule_match(rule, q, &condition)))
			continue;
		w->query.passed |= UINT64_C(1) << i;
		if (cnd_query_rule_decides(rule))
			return rule->action != CND_QUERY_POOL ||
			       strcmp(rule->target, at) == 0;
	}
	return true;
}

bool
cnd_query_passes(struct cnd_serving *s, struct cnp_str sql)
{
	struct cnd_worker *w = s->owner;
	const struct cnd_router_ops *router = s->backend->router;
	const char *at = router != NULL ? router->bound_to(s->session) : NULL;
	struct cnd_summary summary;
	struct cnd_query_text t;

	w->query.passed = 0;
	if (at == NULL || !only_routes(w->config))
		return false;
	t = cnd_query_text_of(w, &summary);
	if (cnd_query_text_begin(&t, sql.p, sql.n) < 0)
		return false;
	/* a text that sets something is repeated on other targets, once it has run */
	return !sets_state(&summary) &&
	       (summary.classes == 0 || stays_at(w, &t.query, at));
}

void
cnd_query_passed(struct cnd_serving *s)
{
	struct cnd_worker *w = s->owner;

	for (size_t i = 0; i < w->config->query_rules.n; i++) {
		if (w->query.passed & (UINT64_C(1) << i))
			cnd_query_count(w, i);
	}
}
