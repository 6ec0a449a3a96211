/* SPDX-License-Identifier: BSD-2-Clause */
/* The actions of rules: read what stands after "->". worker/query.c does what they say. */
#include "rewrite.h"
#include "rule_parser.h"

#include <stdlib.h>
#include <string.h>

#include "core/sqlstate.h"
#include "shared/units.h"

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

static int
take_sqlstate(struct cnd_rule_parser *p, const char *value)
{
	if (!cnc_sqlstate_is_valid(value) || strncmp(value, "00", 2) == 0)
		return cnd_rule_bad(p,
			"rule: sqlstate: \"%.64s\" is not an SQLSTATE of an error, such "
			"as 42501",
			value);
	memcpy(p->rule->sqlstate, value, 6);
	return 0;
}

/* A word after "deny": its message or its SQLSTATE. */
static int
take_deny_word(struct cnd_rule_parser *p, const char *word)
{
	struct cnd_query_rule *rule = p->rule;

	if (strncmp(word, "sqlstate=", 9) == 0)
		return take_sqlstate(p, word + 9);
	if (rule->message != NULL)
		return cnd_rule_bad(
			p, "rule: deny has one message; put it in double quotes");
	rule->message = strdup(word);
	return rule->message != NULL ? 0 : cnd_rule_bad(p, "out of memory");
}

static int
take_limit_word(struct cnd_rule_parser *p, const char *word)
{
	struct cnd_query_rule *rule = p->rule;
	const char *value = strchr(word, '=');
	int64_t ms = 0;
	int r = -1;

	value = value != NULL ? value + 1 : word;
	if (strncmp(word, "rows=", 5) == 0)
		r = cnd_number_parse(value, UINT64_MAX / 2, &rule->max_rows);
	else if (strncmp(word, "bytes=", 6) == 0)
		r = cnd_number_parse(value, UINT64_MAX / 2, &rule->max_bytes) == 0
			    ? 0
			    : cnd_size_parse(value, &rule->max_bytes);
	else if (strncmp(word, "time=", 5) == 0)
		r = cnd_ms_parse(value, &ms);
	if (ms > 0)
		rule->max_ms = (uint64_t)ms;
	return r == 0 ? 0
		      : cnd_rule_bad(p,
				"rule: limit: \"%.64s\" is not rows=NUMBER, bytes=SIZE "
				"or time=TIME, such as time=2s",
				word);
}

static int
check_limit(const struct cnd_query_rule *rule, char error[CND_QUERY_ERROR_MAX])
{
	if (rule->max_rows > 0 || rule->max_bytes > 0 || rule->max_ms > 0)
		return 0;
	snprintf(error, CND_QUERY_ERROR_MAX,
		"rule: limit: write rows=, bytes= or time=, with a value above 0");
	return -1;
}

static int
take_rewrite_word(struct cnd_rule_parser *p, const char *word)
{
	struct cnd_query_rule *rule = p->rule;

	if (rule->message != NULL)
		return cnd_rule_bad(
			p, "rule: rewrite has one text; put it in double quotes");
	rule->message = strdup(word);
	return rule->message != NULL ? 0 : cnd_rule_bad(p, "out of memory");
}

/* Take the name of the target after "pool". */
static int
take_target(struct cnd_rule_parser *p, const char *word)
{
	struct cnd_query_rule *rule = p->rule;

	if (rule->target != NULL)
		return cnd_rule_bad(p, "rule: pool has one name");
	rule->target = strdup(word);
	return rule->target != NULL ? 0 : cnd_rule_bad(p, "out of memory");
}

static int
check_target(const struct cnd_query_rule *rule, char error[CND_QUERY_ERROR_MAX])
{
	if (rule->target != NULL)
		return 0;
	(void)snprintf(error, CND_QUERY_ERROR_MAX, "rule: write -> pool NAME");
	return -1;
}

static int
take_cache_word(struct cnd_rule_parser *p, const char *word)
{
	int64_t ms = 0;

	if (strncmp(word, "ttl=", 4) != 0 || cnd_ms_parse(word + 4, &ms) < 0 || ms <= 0)
		return cnd_rule_bad(p,
			"rule: cache: \"%.64s\" is not ttl=TIME, such as ttl=60s", word);
	p->rule->ttl_ms = (uint64_t)ms;
	return 0;
}

static int
check_cache(const struct cnd_query_rule *rule, char error[CND_QUERY_ERROR_MAX])
{
	if (rule->ttl_ms > 0)
		return 0;
	(void)snprintf(error, CND_QUERY_ERROR_MAX,
		"rule: write -> cache ttl=TIME, such as ttl=60s");
	return -1;
}

static const struct action {
	const char *name;
	/* Take a word after the name. NULL: no word may follow. */
	int (*take_word)(struct cnd_rule_parser *p, const char *word);
	/* Check the rule after its last word. NULL: there is nothing to check. */
	int (*check)(const struct cnd_query_rule *rule, char error[CND_QUERY_ERROR_MAX]);
} actions[] = {
	[CND_QUERY_ALLOW] = { "allow", NULL, NULL },
	[CND_QUERY_DENY] = { "deny", take_deny_word, NULL },
	[CND_QUERY_LIMIT] = { "limit", take_limit_word, check_limit },
	[CND_QUERY_REWRITE] = { "rewrite", take_rewrite_word, cnd_rewrite_check },
	[CND_QUERY_POOL] = { "pool", take_target, check_target },
	[CND_QUERY_CACHE] = { "cache", take_cache_word, check_cache },
};

const char *
cnd_query_action_name(uint8_t action)
{
	return action < N_ITEMS(actions) ? actions[action].name : "";
}

static const struct action *
find_action(struct cnd_rule_parser *p, const char *name)
{
	for (size_t i = 0; i < N_ITEMS(actions); i++) {
		p->rule->action = (uint8_t)i;
		if (strcmp(actions[i].name, name) == 0)
			return &actions[i];
	}
	cnd_rule_bad(p,
		"rule: \"%.64s\" is not an action; there are allow, cache, deny, "
		"limit, pool and rewrite",
		name);
	return NULL;
}

int
cnd_action_take(struct cnd_rule_parser *p)
{
	const char *word = cnd_rule_word(p);
	const struct action *action;

	if (word == NULL)
		return *p->error != '\0' ? -1
					 : cnd_rule_bad(p, "rule: write -> deny, -> "
							   "allow, or -> pool NAME");
	action = find_action(p, word);
	if (action == NULL)
		return -1;
	while ((word = cnd_rule_word(p)) != NULL) {
		if (strcmp(word, "dry-run") == 0)
			p->rule->is_dry_run = true;
		else if (action->take_word == NULL)
			return cnd_rule_bad(p, "rule: \"%.64s\" cannot stand after %s",
				word, action->name);
		else if (action->take_word(p, word) < 0)
			return -1;
	}
	if (*p->error != '\0')
		return -1;
	return action->check != NULL ? action->check(p->rule, p->error) : 0;
}
