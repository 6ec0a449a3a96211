/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Find out from its text whether a statement of the worker's client may run a second time (`replay`). owner.c gives this
 * function to serving/replay.c.
 */
#include "worker.h"

#include <string.h>

#include "query/query_rules.h"
#include "query/summary.h"

/*
 * Functions of the servers that change nothing outside of the transaction. Others may take a lock, set a variable, write a
 * file, or run a statement on another server.
 */
static const char *const harmless[] = { "abs", "avg", "ceil", "ceiling", "char_length",
	"coalesce", "concat", "count", "curdate", "current_date", "current_timestamp",
	"date", "date_trunc", "exists", "extract", "floor", "greatest", "ifnull", "least",
	"left", "length", "localtimestamp", "lower", "max", "min", "mod", "now", "nullif",
	"right", "round", "substring", "sum", "trim", "upper", "values" };

static bool
is_harmless(const struct cnd_sql_name *function)
{
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++) {
		if (function->schema.n == 0 && cnd_sql_name_is(function, harmless[i]))
			return true;
	}
	return false;
}

bool
cnd_replay_allows(struct cnd_serving *s, struct cnp_str sql)
{
	const struct cnd_worker *w = s->owner;
	struct cnd_summary summary;

	while (sql.n > 0 && strchr("; \t\r\n", sql.p[sql.n - 1]) != NULL)
		sql.n--;
	/* the text must be one statement, without variables of MySQL */
	if (memchr(sql.p, ';', sql.n) != NULL || memchr(sql.p, '@', sql.n) != NULL)
		return false;
	cnd_summarize(sql.p, sql.n, cnd_query_dialect(w->config->backend), &summary);
	if (summary.classes == 0 || summary.is_unsure || summary.functions.is_cut ||
		(summary.classes & ~(uint32_t)(CND_CLASS_READ | CND_CLASS_WRITE)) != 0)
		return false;
	for (uint32_t i = 0; i < summary.functions.n; i++) {
		if (!is_harmless(&summary.functions.list[i]))
			return false;
	}
	return true;
}
