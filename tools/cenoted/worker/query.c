/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Judge and change the statements of the worker's client by the pool's rules, and the errors of the server. owner.c gives
 * these functions to the code that serves requests. query/ knows the rules; this file knows the client.
 */
#include "worker.h"

#include <string.h>
#include <time.h>

#include "core/digest.h"
#include "core/sql.h"
#include "core/sqlstate.h"
#include "query/rewrite.h"
#include "shared/log.h"

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

/* How often a worker writes a message about its rules. */
#define LOG_MS 1000

static const char *
what_happens(const struct cnd_query_rule *rule)
{
	if (rule->action == CND_QUERY_REWRITE)
		return "would rewrite";
	return rule->is_dry_run ? "would deny" : "denied";
}

/* A client may send any number of statements, so most decisions leave no message. */
static void
log_decision(struct cnd_worker *w, const struct cnd_query_rule *rule,
	const struct cnd_query *q)
{
	struct cnd_worker_query *state = &w->query;
	int64_t now = cnd_now_ms();
	uint64_t digest;

	if (state->logged_ms != 0 && now - state->logged_ms < LOG_MS) {
		state->n_unlogged++;
		return;
	}
	(void)cnc_digest(q->sql, q->sql_len, cnd_query_dialect(cnd_login_kind(w)), NULL,
		0, &digest);
	cnd_log(LOG_NOTICE,
		"the rule of line %u %s a statement of user \"%s\", with digest %016llx "
		"(%llu more without a message)",
		rule->line, what_happens(rule), w->client.user,
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
rewrite(struct cnd_worker *w, struct cnd_query_text *t, const struct cnd_query_rule *rule)
{
	int r;

	if (rule->is_dry_run) {
		log_decision(w, rule, &t->query);
		return CENOTE_OK;
	}
	r = cnd_query_text_rewrite(t, rule);
	return r < 0 ? r : CENOTE_OK;
}

static int
decide(struct cnd_worker *w, struct cnd_query_text *t)
{
	const struct cnd_query_rules *rules = &w->config->query_rules;
	const struct cnd_query_condition *condition;
	int r = CENOTE_OK;

	for (size_t i = 0; i < rules->n && r == CENOTE_OK; i++) {
		const struct cnd_query_rule *rule = &rules->list[i];

		if (!cnd_query_rule_applies(
			    rule, cnd_query_rule_match(rule, &t->query, &condition)))
			continue;
		count(w, rule);
		if (rule->action == CND_QUERY_REWRITE) {
			r = rewrite(w, t, rule);
			continue;
		}
		if (rule->action == CND_QUERY_DENY)
			log_decision(w, rule, &t->query);
		if (rule->is_dry_run)
			continue;
		if (rule->action == CND_QUERY_DENY)
			return deny(w, rule);
		route(w, rule, &t->query);
		return CENOTE_OK;
	}
	if (r == CENOTE_OK)
		route(w, NULL, &t->query);
	return r;
}

int
cnd_query_judge(struct cnd_serving *s, struct cnp_str *sql)
{
	struct cnd_worker *w = s->owner;
	struct cnd_summary summary;
	struct cnd_query_text t = { .style = cnd_pool_config_style(
					    w->config, cnd_login_kind(w)),
		.has_digest = w->config->query_rules.has_digest,
		.arena = &s->request.arena,
		.diag = &s->diag,
		.summary = &summary,
		.query = { .now = time(NULL),
			.database = w->login.info.database != NULL
					    ? w->login.info.database
					    : "",
			.user = w->client.user,
			.application = w->slot->identity.application,
			.peer = w->client.peer,
			.in_tx = s->held.tx != CENOTE_TX_IDLE ||
				 (s->backend->router != NULL &&
					 s->backend->router->is_bound(s->session)) } };
	int r = cnd_query_text_begin(&t, sql->p, sql->n);

	/* a text without a statement, with which some programs ask whether the server is there, does nothing */
	if (r == CENOTE_OK && summary.classes != 0)
		r = decide(w, &t);
	else if (r == CENOTE_OK)
		route(w, NULL, &t.query);
	if (r == CENOTE_OK)
		*sql = (struct cnp_str){ t.query.sql, t.query.sql_len };
	return r;
}

void
cnd_query_retell(struct cnd_serving *s)
{
	const struct cnd_worker *w = s->owner;

	/* cenoted's own errors stay. An error of a server has a number, or other fields of the server. */
	if (w->config->errors.n > 0 &&
		(s->diag.native != 0 || cnd_loss_has_words(&s->diag)))
		cnd_error_maps_apply(&w->config->errors, &s->diag);
}
