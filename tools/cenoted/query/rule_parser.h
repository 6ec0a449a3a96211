/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_RULE_PARSER_H
#define CND_RULE_PARSER_H

#include "query_rules.h"

/* What the files that read a rule share. */
struct cnd_rule_parser {
	struct cnd_query_rules *rules;
	struct cnd_query_rule *rule; /* the one that is read */
	char *error; /* CND_QUERY_ERROR_MAX bytes; empty: none */
	char *rest; /* what is left of the line; the parser writes into it */
};

/* query_rules.c */
/* Set the error. Returns -1. */
__attribute__((format(printf, 2, 3))) int cnd_rule_bad(
	struct cnd_rule_parser *p, const char *format, ...);
/* Take the next word. "…" is one word, in which \" is a quote. NULL: there are no more words; or a quote does not end, and
 * the error is set. */
char *cnd_rule_word(struct cnd_rule_parser *p);

/* conditions.c */
/* Take NAME=VALUE,…, NAME!=VALUE,…, NAME~PATTERN or NAME!~PATTERN. 0; or -1, with the error set. */
int cnd_condition_take(struct cnd_rule_parser *p, char *word);
void cnd_condition_destroy(struct cnd_query_condition *c);
enum cnd_match cnd_condition_match(
	const struct cnd_query_condition *c, const struct cnd_query *q);

/* actions.c */
/* Take what stands after "->". 0; or -1, with the error set. */
int cnd_action_take(struct cnd_rule_parser *p);

#endif
