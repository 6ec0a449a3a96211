/* SPDX-License-Identifier: BSD-2-Clause */
/* What a rule and a statement are: the first line is the rule, the rest is SQL. */
#include "fuzz.h"

#include <string.h>

#include "query/read_only.h"

static void
check_names(const struct cnd_sql_names *names, const char *sql, size_t n)
{
	for (uint32_t i = 0; i < names->n; i++) {
		const struct cnc_sql_token *t = &names->list[i].name;

		FUZZ_CHECK(t->n > 0 && t->p >= sql && t->p + t->n <= sql + n);
		(void)cnd_sql_name_is(&names->list[i], "a.b");
	}
}

static void
judge(const struct cnd_query_rules *rules, const char *sql, size_t n, uint32_t dialect)
{
	const struct cnd_query_condition *condition;
	struct cnd_summary summary;
	struct cnd_query q = { .summary = &summary,
		.sql = sql,
		.sql_len = n,
		.database = "app",
		.user = "joe",
		.application = "" };

	cnd_summarize(sql, n, dialect, &summary);
	check_names(&summary.tables, sql, n);
	check_names(&summary.functions, sql, n);
	FUZZ_CHECK(!summary.is_unsure || cnd_read_only_fault(&q, dialect) != NULL);
	for (size_t i = 0; i < rules->n; i++) {
		enum cnd_match match =
			cnd_query_rule_match(&rules->list[i], &q, &condition);

		FUZZ_CHECK((match == CND_MATCH_YES) == (condition == NULL));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t dialects[] = { CNC_SQL_POSTGRESQL, CNC_SQL_MYSQL,
		CNC_SQL_SQLITE, CNC_SQL_TDS, CNC_SQL_UNKNOWN };
	char *text = malloc(size + 1);
	struct cnd_query_rules rules = { .n = 0 };
	char error[CND_QUERY_ERROR_MAX];
	size_t n;

	FUZZ_CHECK(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	n = strcspn(text, "\n");
	text[n] = '\0';
	if (cnd_query_rules_parse(&rules, text, 1, error) < 0) {
		FUZZ_CHECK(*error != '\0');
		cnd_query_rules_destroy(&rules);
	}
	if (n < size)
		n++;
	for (size_t i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++)
		judge(&rules, text + n, size - n, dialects[i]);
	cnd_query_rules_destroy(&rules);
	free(text);
	return 0;
}
