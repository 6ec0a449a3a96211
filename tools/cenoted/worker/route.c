/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tell the backend of a router to which target the pool's rules send a statement, and what the statement does to the session.
 * query.c calls this; backends/router decides.
 */
#include "worker.h"

#include <string.h>

#include "core/sql.h"
#include "query/query_rules.h"

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

void
cnd_query_route(struct cnd_worker *w, const struct cnd_query_rule *rule,
	const struct cnd_query *q)
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
