/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Judge the statements of the worker's client by the pool's rules, and change them and the server's errors as the pool says.
 * owner.c gives these functions to the code that serves requests. query/ knows the rules; this file knows the client.
 */
#include "worker.h"

#include <string.h>
#include <time.h>

#include "core/digest.h"
#include "core/sqlstate.h"
#include "query/read_only.h"
#include "query/rewrite.h"
#include "shared/log.h"

/* How often a worker writes a message about its rules. */
#define LOG_MS 1000

static const char *
what_happens(const struct cnd_query_rule *rule)
{
	static const char *const would[] = {
		[CND_QUERY_ALLOW] = "would allow",
		[CND_QUERY_DENY] = "would deny",
		[CND_QUERY_LIMIT] = "would limit",
		[CND_QUERY_REWRITE] = "would rewrite",
		[CND_QUERY_POOL] = "would route",
		[CND_QUERY_CACHE] = "would keep the result of",
	};

	return rule->is_dry_run ? would[rule->action] : "denied";
}

/* A client may send any number of statements, so most decisions leave no message. */
static void
log_decision(struct cnd_worker *w, const struct cnd_query_rule *rule,
	const struct cnd_query_text *t)
{
	struct cnd_worker_query *state = &w->query;
	int64_t now = cnd_now_ms();
	uint64_t digest;

	if (state->logged_ms != 0 && now - state->logged_ms < LOG_MS) {
		state->n_unlogged++;
		return;
	}
	(void)cnc_digest(
		t->query.sql, t->query.sql_len, t->style.dialect, NULL, 0, &digest);
	cnd_log(LOG_NOTICE,
		"the rule of line %u %s a statement of user \"%s\", with digest %016llx "
		"(%llu more without a message)",
		rule->line, what_happens(rule), w->client.user,
		(unsigned long long)digest, (unsigned long long)state->n_unlogged);
	state->logged_ms = now;
	state->n_unlogged = 0;
}

void
cnd_query_count(struct cnd_worker *w, size_t i)
{
	const struct cnd_query_rule *rule = &w->config->query_rules.list[i];

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

/* Whether later requests may return rows of this statement: PREPARE and DECLARE contain a query. */
static bool
has_consequences(const struct cnd_summary *summary)
{
	const uint32_t harmless = CND_CLASS_SESSION | CND_CLASS_TRANSACTION;

	return (summary->classes & CND_CLASS_SESSION) && (summary->classes & ~harmless);
}

static void
limit(struct cnd_worker *w, const struct cnd_query_rule *rule,
	const struct cnd_summary *summary)
{
	const struct cnd_limits limits = { { rule->max_rows, rule->line },
		{ rule->max_bytes, rule->line }, { rule->max_ms, rule->line } };

	cnd_limits_narrow(&w->serving.result.limits, &limits);
	if (has_consequences(summary))
		cnd_limits_narrow(&w->serving.limited.all, &limits);
}

/* The rule applies: do what it says. Negative: the statement is refused. */
static int
act(struct cnd_worker *w, struct cnd_query_text *t, const struct cnd_query_rule *rule)
{
	if (rule->is_dry_run || rule->action == CND_QUERY_DENY)
		log_decision(w, rule, t);
	if (rule->is_dry_run)
		return CENOTE_OK;
	switch (rule->action) {
	case CND_QUERY_DENY:
		return deny(w, rule);
	case CND_QUERY_LIMIT:
		limit(w, rule, t->summary);
		return CENOTE_OK;
	case CND_QUERY_REWRITE:
		return cnd_query_text_rewrite(t, rule);
	default:
		return CENOTE_OK;
	}
}

/* Ask the rules. *ret_rule: the one that lets the statement pass; NULL: none does, and it passes. Negative: it is refused. */
static int
decide(struct cnd_worker *w, struct cnd_query_text *t,
	const struct cnd_query_rule **ret_rule)
{
	const struct cnd_query_rules *rules = &w->config->query_rules;
	const struct cnd_query_rule *decider = NULL;

	for (size_t i = 0; i < rules->n && decider == NULL; i++) {
		const struct cnd_query_rule *rule = &rules->list[i];
		const struct cnd_query_condition *condition;
		int r;

		if (!cnd_query_rule_applies(
			    rule, cnd_query_rule_match(rule, &t->query, &condition)))
			continue;
		cnd_query_count(w, i);
		r = act(w, t, rule);
		if (r < 0)
			return r;
		if (cnd_query_rule_decides(rule))
			decider = rule;
	}
	*ret_rule = decider;
	return CENOTE_OK;
}

static int
judge_read_only(struct cnd_worker *w, const struct cnd_query_text *t)
{
	const uint32_t reads = CND_CLASS_READ | CND_CLASS_COPY;
	uint32_t classes = t->summary->classes;
	struct cnd_serving *s = &w->serving;
	const char *fault = cnd_read_only_fault(&t->query, t->style.dialect);

	s->read_only.may_end = (classes & CND_CLASS_TRANSACTION) != 0;
	s->read_only.is_plain = (classes & ~reads) == 0;
	/* later, EXECUTE does not show that it ends the transaction */
	if (fault == NULL && s->read_only.may_end && s->result.is_describing &&
		s->backend->sync != NULL)
		fault = "statements of transactions cannot be prepared";
	if (fault == NULL)
		return CENOTE_OK;
	cnc_diag_set(&s->diag, CNC_SQLSTATE(READ_ONLY),
		"pool %s is read-only (read_only = yes): %s", w->config->name, fault);
	return CENOTE_ERR_SERVER;
}

static bool
is_in_tx(const struct cnd_serving *s)
{
	return s->held.tx != CENOTE_TX_IDLE ||
	       (s->backend->router != NULL &&
		       s->backend->router->bound_to(s->session) != NULL);
}

struct cnd_query_text
cnd_query_text_of(struct cnd_worker *w, struct cnd_summary *summary)
{
	const char *database = w->login.info.database;
	struct cnd_serving *s = &w->serving;

	return (struct cnd_query_text){
		.style = cnd_pool_config_style(w->config, cnd_login_kind(w)),
		.has_digest = w->config->query_rules.has_digest,
		.arena = &s->request.arena,
		.diag = &s->diag,
		.summary = summary,
		.query = { .now = time(NULL),
			.database = database != NULL ? database : "",
			.user = w->client.user,
			.application = w->slot->identity.application,
			.peer = w->client.peer,
			.in_tx = is_in_tx(s) },
	};
}

int
cnd_query_judge(struct cnd_serving *s, struct cnp_str *sql)
{
	struct cnd_worker *w = s->owner;
	const struct cnd_query_rule *rule = NULL;
	struct cnd_summary summary;
	struct cnd_query_text t = cnd_query_text_of(w, &summary);
	int r = cnd_query_text_begin(&t, sql->p, sql->n);
	/* some programs send a text without a statement to ask whether the server is there */
	bool has_statement = r == CENOTE_OK && summary.classes != 0;

	if (has_statement)
		r = decide(w, &t, &rule);
	if (r == CENOTE_OK)
		cnd_query_route(w, rule, &t.query);
	/* judge the text that the server gets, which rules may have changed */
	if (r == CENOTE_OK && has_statement && s->is_read_only)
		r = judge_read_only(w, &t);
	if (r == CENOTE_OK && s->cached != NULL)
		cnd_worker_cache_judge(w, &t.query, rule);
	if (r == CENOTE_OK)
		*sql = (struct cnp_str){ t.query.sql, t.query.sql_len };
	return r;
}

void
cnd_query_retell(struct cnd_serving *s)
{
	const struct cnd_worker *w = s->owner;

	if (w->config->errors.n > 0 && cnd_loss_is_from_server(&s->diag))
		cnd_error_maps_apply(&w->config->errors, &s->diag);
}

void
cnd_query_limit_time(struct cnd_serving *s, const struct cnd_limit *limit)
{
	struct cnd_worker *w = s->owner;
	int64_t until =
		limit->max < INT32_MAX ? cnd_now_ms() + (int64_t)limit->max : CND_NEVER;

	if (until >= w->stop.until_ms)
		return;
	w->stop.until_ms = until;
	snprintf(w->query.limit, sizeof(w->query.limit), "rule of line %u", limit->line);
	w->stop.option = w->query.limit;
}
