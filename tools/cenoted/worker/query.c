/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Judge the statements of the worker's client by the pool's rules. owner.c gives cnd_query_judge() to the code that serves
 * requests. query/ knows the rules; this file knows the client.
 */
#include "worker.h"

#include <string.h>
#include <time.h>

#include "core/digest.h"
#include "core/sql.h"
#include "core/sqlstate.h"
#include "query/query_rules.h"
#include "shared/log.h"

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

/* How often a worker writes a message about its rules. */
#define LOG_MS 1000

/* A client may send any number of statements, so most decisions leave no message. */
static void
log_decision(struct cnd_worker *w, const struct cnd_query_rule *rule, struct cnp_str sql)
{
	struct cnd_worker_query *state = &w->query;
	int64_t now = cnd_now_ms();
	uint64_t digest;

	if (state->logged_ms != 0 && now - state->logged_ms < LOG_MS) {
		state->n_unlogged++;
		return;
	}
	(void)cnc_digest(
		sql.p, sql.n, cnd_query_dialect(cnd_login_kind(w)), NULL, 0, &digest);
	cnd_log(LOG_NOTICE,
		"the rule of line %u %s a statement of user \"%s\", with digest %016llx "
		"(%llu more without a message)",
		rule->line, rule->is_dry_run ? "would deny" : "denied", w->client.user,
		(unsigned long long)digest, (unsigned long long)state->n_unlogged);
	state->logged_ms = now;
	state->n_unlogged = 0;
}

/* After a reload, another rule may count at this place. */
static void
count(struct cnd_worker *w, const struct cnd_query_rule *rule)
{
	size_t i = (size_t)(rule - w->config->query_rules.list);

	if (cnd_pool_head(w->board, w->pool_index)->rules[i].key == rule->key)
		atomic_fetch_add_explicit(
			&w->pool->rule_decisions[i], 1, memory_order_relaxed);
}

static int
deny(struct cnd_worker *w, const struct cnd_query_rule *rule)
{
	if (rule->message != NULL)
		cnc_diag_set(&w->serving.diag, rule->sqlstate, "%s", rule->message);
	else
		cnc_diag_set(&w->serving.diag, rule->sqlstate,
			"the pool's rule of line %u denies this statement", rule->line);
	return CENOTE_ERR_SERVER;
}

/*
 * Whether the text asks what an earlier statement did, such as LAST_INSERT_ID(). To find this in a text that does not ask is
 * harmless: the statement goes where the one before it went.
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

	for (uint32_t i = 0; i < summary->functions.n; i++) {
		for (size_t j = 0; j < N_ITEMS(functions); j++) {
			if (cnd_sql_name_is(&summary->functions.list[i], functions[j]))
				return true;
		}
	}
	for (size_t i = 0; i < N_ITEMS(variables); i++) {
		if (strcasestr(sql.p, variables[i]) != NULL)
			return true;
	}
	return cnc_sql_take(&x, "show") && cnc_sql_take_one_of(&x, lists);
}

/* Tell a router where the statement goes. `rule` NULL: none decides. */
static void
route(struct cnd_worker *w, const struct cnd_query_rule *rule, const struct cnd_query *q)
{
	const struct cnd_router_ops *router = w->serving.backend->router;
	const uint32_t settings = CND_CLASS_SESSION | CND_CLASS_READ;
	uint32_t classes = q->summary->classes;
	struct cnd_route to = { .target = NULL };

	if (router == NULL)
		return;
	to.sets_state = (classes & CND_CLASS_SESSION) != 0 && (classes & ~settings) == 0;
	/* the pointer is NULL for a call of a function by its number */
	to.asks_last = q->sql != NULL &&
		       asks_last(q->summary, (struct cnp_str){ q->sql, q->sql_len });
	if (rule != NULL && rule->action == CND_QUERY_POOL) {
		to.target = rule->target;
		to.line = rule->line;
	}
	router->route(w->serving.session, &to);
}

static int
decide(struct cnd_worker *w, const struct cnd_query *q, struct cnp_str sql)
{
	const struct cnd_query_rules *rules = &w->config->query_rules;
	const struct cnd_query_condition *condition;

	for (size_t i = 0; i < rules->n; i++) {
		const struct cnd_query_rule *rule = &rules->list[i];

		if (!cnd_query_rule_applies(
			    rule, cnd_query_rule_match(rule, q, &condition)))
			continue;
		count(w, rule);
		if (rule->action == CND_QUERY_DENY)
			log_decision(w, rule, sql);
		if (rule->is_dry_run)
			continue;
		if (rule->action == CND_QUERY_DENY)
			return deny(w, rule);
		route(w, rule, q);
		return CENOTE_OK;
	}
	route(w, NULL, q);
	return CENOTE_OK;
}

int
cnd_query_judge(struct cnd_serving *s, struct cnp_str sql)
{
	struct cnd_worker *w = s->owner;
	struct cnd_summary summary;
	struct cnd_query q = { .summary = &summary,
		.sql = sql.p,
		.sql_len = sql.n,
		.now = time(NULL),
		.database = w->login.info.database != NULL ? w->login.info.database : "",
		.user = w->client.user,
		.application = w->slot->identity.application,
		.peer = w->client.peer,
		.in_tx = s->held.tx != CENOTE_TX_IDLE ||
			 (s->backend->router != NULL &&
				 s->backend->router->is_bound(s->session)) };
	uint32_t dialect = cnd_query_dialect(cnd_login_kind(w));

	cnd_summarize(sql.p, sql.n, dialect, &summary);
	if (w->config->query_rules.has_digest)
		(void)cnc_digest(sql.p, sql.n, dialect, NULL, 0, &q.digest);
	if (sql.p == NULL) {
		/* a call of a function by its number */
		summary.classes = CND_CLASS_CALL;
		summary.is_unsure = true;
	}
	/* a text without a statement, with which some programs ask whether the server is there, does nothing */
	if (summary.classes != 0)
		return decide(w, &q, sql);
	route(w, NULL, &q);
	return CENOTE_OK;
}
