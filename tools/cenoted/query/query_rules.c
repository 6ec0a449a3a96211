/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The `rule` lines of a pool: parse and print them, and find out whether a rule matches a statement. The configuration owns
 * the rules; the worker and `cenoted --explain-sql` ask. The words of a text are judged in summary.c.
 */
#include "query_rules.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/digest.h"
#include "core/sqlstate.h"
#include "rule_parser.h"

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))
#define BLANKS     " \t"

/* ---- reading ---- */

int
cnd_rule_bad(struct cnd_rule_parser *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is initialized */
	vsnprintf(p->error, CND_QUERY_ERROR_MAX, format, args);
	va_end(args);
	return -1;
}

char *
cnd_rule_word(struct cnd_rule_parser *p)
{
	char *word = p->rest + strspn(p->rest, BLANKS), *to = word, *from = word;
	bool is_quoted = false;

	if (*word == '\0')
		return NULL;
	for (; *from != '\0' && (is_quoted || strchr(BLANKS, *from) == NULL); from++) {
		if (*from == '"') {
			is_quoted = !is_quoted;
			continue;
		}
		if (is_quoted && *from == '\\' && (from[1] == '"' || from[1] == '\\'))
			from++;
		*to++ = *from;
	}
	if (is_quoted) {
		cnd_rule_bad(p, "rule: a quote does not end");
		return NULL;
	}
	p->rest = *from == '\0' ? from : from + 1;
	*to = '\0';
	return word;
}

static int
take_rule(struct cnd_rule_parser *p)
{
	char *word;

	while ((word = cnd_rule_word(p)) != NULL && strcmp(word, "->") != 0) {
		if (cnd_condition_take(p, word) < 0)
			return -1;
	}
	if (word != NULL)
		return cnd_action_take(p);
	return *p->error != '\0' ? -1
				 : cnd_rule_bad(p, "rule: write CONDITIONS -> ACTION");
}

int
cnd_query_rules_parse(struct cnd_query_rules *rules, const char *text, unsigned line,
	char error[CND_QUERY_ERROR_MAX])
{
	struct cnd_rule_parser p = { .rules = rules, .error = error };
	struct cnd_query_rule *more;
	char *copy;
	int r;

	*error = '\0';
	if (rules->n == CND_QUERY_RULES_MAX)
		return cnd_rule_bad(&p, "rule: more than %u rules", CND_QUERY_RULES_MAX);
	more = realloc(rules->list, (rules->n + 1) * sizeof(*more));
	if (more == NULL)
		return cnd_rule_bad(&p, "out of memory");
	rules->list = more;
	p.rule = &more[rules->n++];
	*p.rule = (struct cnd_query_rule){ .line = line, .text = strdup(text) };
	p.rule->key = cnc_digest_key(text, strlen(text), 0) | 1;
	memcpy(p.rule->sqlstate, CNC_SQLSTATE(PRIVILEGE), sizeof(p.rule->sqlstate));
	copy = p.rest = strdup(text);
	r = copy != NULL && p.rule->text != NULL ? take_rule(&p)
						 : cnd_rule_bad(&p, "out of memory");
	free(copy);
	return r;
}

void
cnd_query_rules_destroy(struct cnd_query_rules *rules)
{
	for (size_t i = 0; i < rules->n; i++) {
		struct cnd_query_rule *rule = &rules->list[i];

		for (size_t j = 0; j < rule->n_conditions; j++)
			cnd_condition_destroy(&rule->conditions[j]);
		free(rule->text);
		free(rule->message);
		free(rule->target);
	}
	free(rules->list);
	*rules = (struct cnd_query_rules){ .n = 0 };
}

void
cnd_query_rules_print(const struct cnd_query_rules *rules, FILE *out)
{
	for (size_t i = 0; i < rules->n; i++)
		fprintf(out, "%-19s = %s\n", "rule", rules->list[i].text);
}

/* ---- judging ---- */

enum cnd_match
cnd_query_rule_match(const struct cnd_query_rule *rule, const struct cnd_query *q,
	const struct cnd_query_condition **ret_condition)
{
	enum cnd_match all = CND_MATCH_YES;

	*ret_condition = NULL;
	for (size_t i = 0; i < rule->n_conditions; i++) {
		const struct cnd_query_condition *c = &rule->conditions[i];
		enum cnd_match match = cnd_condition_match(c, q);

		if (match == CND_MATCH_YES)
			continue;
		if (*ret_condition == NULL || match == CND_MATCH_NO)
			*ret_condition = c;
		if (match == CND_MATCH_NO)
			return CND_MATCH_NO;
		all = CND_MATCH_PARTLY;
	}
	return all;
}

bool
cnd_query_rule_applies(const struct cnd_query_rule *rule, enum cnd_match match)
{
	return match == CND_MATCH_YES ||
	       (match == CND_MATCH_PARTLY && (rule->action == CND_QUERY_DENY ||
						     rule->action == CND_QUERY_LIMIT));
}

bool
cnd_query_rule_decides(const struct cnd_query_rule *rule)
{
	return !rule->is_dry_run && rule->action != CND_QUERY_LIMIT &&
	       rule->action != CND_QUERY_REWRITE;
}

bool
cnd_query_rules_cache(const struct cnd_query_rules *rules)
{
	for (size_t i = 0; i < rules->n; i++) {
		const struct cnd_query_rule *rule = &rules->list[i];

		if (rule->action == CND_QUERY_CACHE && !rule->is_dry_run)
			return true;
	}
	return false;
}

uint32_t
cnd_query_dialect(const char *backend)
{
	static const struct {
		const char *backend;
		uint32_t dialect;
	} dialects[] = {
		{ "postgresql", CNC_SQL_POSTGRESQL },
		{ "mysql", CNC_SQL_MYSQL },
		{ "sqlite", CNC_SQL_SQLITE },
		{ "freetds", CNC_SQL_TDS },
	};

	for (size_t i = 0; i < N_ITEMS(dialects); i++) {
		if (strcmp(dialects[i].backend, backend) == 0)
			return dialects[i].dialect;
	}
	return CNC_SQL_UNKNOWN;
}
