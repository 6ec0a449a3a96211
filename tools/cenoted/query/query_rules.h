/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_QUERY_RULES_H
#define CND_QUERY_RULES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "auth/hours.h"
#include "auth/peer.h"
#include "pattern.h"
#include "summary.h"

/*
 * Which statements a pool lets pass: its `rule` lines, CONDITIONS -> ACTION. The first rule that matches decides. After the
 * actions limit and rewrite, the next rules are asked, too. If no rule decides, the statement passes.
 */
enum cnd_query_action {
	CND_QUERY_ALLOW,
	CND_QUERY_DENY,
	CND_QUERY_LIMIT, /* limit the answer, and ask the next rule */
	CND_QUERY_REWRITE, /* put another text in the place of the statement, and ask the next rule */
	CND_QUERY_POOL, /* send it to a target of the router */
	CND_QUERY_CACHE /* keep its result for a time, and answer the same statement with it */
};

/* A condition, and so a rule, may match only a part of a text. Then rules that deny or limit apply, and all others do not. */
enum cnd_match {
	CND_MATCH_NO,
	CND_MATCH_PARTLY,
	CND_MATCH_YES
};

struct cnd_query_condition {
	uint8_t kind; /* the index of its name, in conditions.c */
	bool is_not;
	char **values; /* as written */
	size_t n;
	/* what the values of some conditions mean */
	uint32_t classes; /* of `class` */
	struct cnd_network *networks; /* of `from`, without the value "unix" */
	size_t n_networks;
	struct cnd_pattern *pattern; /* of `text`; NULL: the condition has another name */
	struct cnd_hours hours; /* of `time` */
};

#define CND_QUERY_RULES_MAX      64u
#define CND_QUERY_CONDITIONS_MAX 16u

struct cnd_query_rule {
	unsigned line; /* in the configuration */
	char *text; /* as written */
	uint64_t key; /* a hash of the text; never 0 */
	struct cnd_query_condition conditions[CND_QUERY_CONDITIONS_MAX];
	size_t n_conditions;
	uint8_t action; /* enum cnd_query_action */
	bool is_dry_run; /* count and log, but do nothing */
	char *message; /* deny: for the client, NULL: a message that names the rule; rewrite: the new text */
	char *target; /* pool: the name of a target of the router; else NULL */
	char sqlstate[6];
	/* of the action `limit`; 0: there is no such limit */
	uint64_t max_rows;
	uint64_t max_bytes;
	uint64_t max_ms;
	uint64_t ttl_ms; /* of the action `cache`: how old a result may be */
};

struct cnd_query_rules {
	struct cnd_query_rule *list;
	size_t n;
	bool has_digest; /* a rule asks for the digest */
};

/* A statement and who sent it. */
struct cnd_query {
	const struct cnd_summary *summary;
	const char *sql; /* NULL: the client calls a function by its number */
	size_t sql_len;
	uint64_t digest; /* 0 if no rule asks for it */
	int64_t now; /* in seconds since 1970 */
	const char *database; /* of the session's login; "": not known */
	const char *user;
	const char *application;
	struct cnd_peer peer;
	bool in_tx; /* in a transaction */
};

#define CND_QUERY_ERROR_MAX 256u

/* Add the rule of one line. The patterns are compiled and the time zones are read now, since a process in its sandbox can do
 * neither. 0; or -1, with the error set. */
int cnd_query_rules_parse(struct cnd_query_rules *rules, const char *text, unsigned line,
	char error[CND_QUERY_ERROR_MAX]);
void cnd_query_rules_destroy(struct cnd_query_rules *rules);
/* Print the rules in a form that can be read back. */
void cnd_query_rules_print(const struct cnd_query_rules *rules, FILE *out);

/* Whether the conditions of the rule hold. *ret_condition: the first one that does not; NULL: there is none. */
enum cnd_match cnd_query_rule_match(const struct cnd_query_rule *rule,
	const struct cnd_query *q, const struct cnd_query_condition **ret_condition);
/* Whether a rule with this match does what its action says. */
bool cnd_query_rule_applies(const struct cnd_query_rule *rule, enum cnd_match match);
/* The rule applies. Whether it decides, so that no other rule is asked. */
bool cnd_query_rule_decides(const struct cnd_query_rule *rule);
/* Whether a rule keeps results, and not only in a dry run. */
bool cnd_query_rules_cache(const struct cnd_query_rules *rules);
/* The word for an action: "deny". */
const char *cnd_query_action_name(uint8_t action);
/* How the condition is written, without its values: "class!=". */
const char *cnd_query_condition_text(const struct cnd_query_condition *c);

/* How a backend's servers read SQL: enum cnc_sql_dialect. */
uint32_t cnd_query_dialect(const char *backend);

#endif
