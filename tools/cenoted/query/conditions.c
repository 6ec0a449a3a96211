/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The conditions of a rule: read them, and find out whether one holds for a statement. The names in conditions[] are those of
 * the configuration.
 */
#include "rule_parser.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shared/units.h"

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

/* How many of `n` things are meant: none, some or all. */
static enum cnd_match
share(size_t n_meant, size_t n)
{
	if (n_meant == 0)
		return CND_MATCH_NO;
	return n_meant == n ? CND_MATCH_YES : CND_MATCH_PARTLY;
}

static enum cnd_match
yes_if(bool is_so)
{
	return is_so ? CND_MATCH_YES : CND_MATCH_NO;
}

static enum cnd_match
match_class(const struct cnd_query_condition *c, const struct cnd_query *q)
{
	uint32_t classes = q->summary->classes;

	return share((size_t)__builtin_popcount(classes & c->classes),
		(size_t)__builtin_popcount(classes));
}

static bool
is_one_of(const struct cnd_query_condition *c, const char *text)
{
	for (size_t i = 0; i < c->n; i++) {
		if (strcmp(c->values[i], text) == 0)
			return true;
	}
	return false;
}

static enum cnd_match
match_names(const struct cnd_query_condition *c, const struct cnd_query *q,
	const struct cnd_sql_names *names)
{
	size_t n_meant = 0;

	if (q->summary->is_unsure || names->is_cut)
		return CND_MATCH_PARTLY;
	for (uint32_t i = 0; i < names->n; i++) {
		bool is_meant = false;

		for (size_t j = 0; j < c->n && !is_meant; j++)
			is_meant = cnd_sql_name_is(&names->list[i], c->values[j]);
		n_meant += is_meant;
	}
	return share(n_meant, names->n);
}

static enum cnd_match
match_tables(const struct cnd_query_condition *c, const struct cnd_query *q)
{
	return match_names(c, q, &q->summary->tables);
}

static enum cnd_match
match_functions(const struct cnd_query_condition *c, const struct cnd_query *q)
{
	return match_names(c, q, &q->summary->functions);
}

static enum cnd_match
match_digest(const struct cnd_query_condition *c, const struct cnd_query *q)
{
	char text[17];

	snprintf(text, sizeof(text), "%016llx", (unsigned long long)q->digest);
	return yes_if(is_one_of(c, text));
}

static enum cnd_match
match_user(const struct cnd_query_condition *c, const struct cnd_query *q)
{
	return yes_if(is_one_of(c, q->user));
}

static enum cnd_match
match_application(const struct cnd_query_condition *c, const struct cnd_query *q)
{
	return yes_if(is_one_of(c, q->application));
}

static enum cnd_match
match_from(const struct cnd_query_condition *c, const struct cnd_query *q)
{
	if (q->peer.door == CND_DOOR_UNIX)
		return yes_if(is_one_of(c, "unix"));
	for (size_t i = 0; i < c->n_networks; i++) {
		if (cnd_network_has(&c->networks[i], &q->peer.addr))
			return CND_MATCH_YES;
	}
	return CND_MATCH_NO;
}

static enum cnd_match
match_in_tx(const struct cnd_query_condition *c, const struct cnd_query *q)
{
	return yes_if(is_one_of(c, q->in_tx ? "yes" : "no"));
}

/* A pattern sees the text as bytes. If the match reaches a limit, it is unknown whether the pattern matches. */
static enum cnd_match
match_text(const struct cnd_query_condition *c, const struct cnd_query *q)
{
	int r = q->sql != NULL ? cnd_pattern_match(c->pattern, q->sql, q->sql_len, NULL)
			       : -1;

	return r < 0 ? CND_MATCH_PARTLY : yes_if(r > 0);
}

/* If the server does not say which database the session uses, it may be any database. */
static enum cnd_match
match_database(const struct cnd_query_condition *c, const struct cnd_query *q)
{
	return *q->database != '\0' ? yes_if(is_one_of(c, q->database))
				    : CND_MATCH_PARTLY;
}

static enum cnd_match
match_time(const struct cnd_query_condition *c, const struct cnd_query *q)
{
	return yes_if(cnd_hours_allow(&c->hours, "", q->now, NULL));
}

static bool
take_class(struct cnd_query_condition *c, const char *value)
{
	uint32_t class = cnd_class_named(value, strlen(value));

	c->classes |= class;
	return class != 0;
}

static bool
is_name(struct cnd_query_condition *c, const char *value)
{
	(void)c;
	return *value != '\0' && *value != '.' && value[strlen(value) - 1] != '.' &&
	       strpbrk(value, "\"'`[]();") == NULL;
}

static bool
is_digest(struct cnd_query_condition *c, const char *value)
{
	(void)c;
	return strlen(value) == 16 && value[strspn(value, "0123456789abcdef")] == '\0';
}

static bool
is_any_text(struct cnd_query_condition *c, const char *value)
{
	(void)c;
	return *value != '\0';
}

static bool
take_from(struct cnd_query_condition *c, const char *value)
{
	struct cnd_network *more;

	if (strcmp(value, "unix") == 0)
		return true;
	more = realloc(c->networks, (c->n_networks + 1) * sizeof(*more));
	if (more == NULL)
		return false;
	c->networks = more;
	if (cnd_network_parse(value, &more[c->n_networks]) < 0)
		return false;
	c->n_networks++;
	return true;
}

static bool
is_yes_or_no(struct cnd_query_condition *c, const char *value)
{
	(void)c;
	return strcmp(value, "yes") == 0 || strcmp(value, "no") == 0;
}

static int take_text(
	struct cnd_rule_parser *p, struct cnd_query_condition *c, const char *value);
static int take_time(
	struct cnd_rule_parser *p, struct cnd_query_condition *c, const char *value);

static const struct condition {
	const char *name;
	const char *what; /* what its values are, for an error */
	/* Check a value, and keep what it means. False: the condition has no such value. */
	bool (*take_value)(struct cnd_query_condition *c, const char *value);
	enum cnd_match (*match)(
		const struct cnd_query_condition *c, const struct cnd_query *q);
	/* Take all that follows the name as one value. NULL: there may be several values, with commas between them. */
	int (*take)(struct cnd_rule_parser *p, struct cnd_query_condition *c,
		const char *value);
} conditions[] = {
	{ "class", "a class: read, write, ddl, transaction, session, call, copy or other",
		take_class, match_class },
	{ "tables", "a table, as NAME or SCHEMA.NAME without quotes", is_name,
		match_tables },
	{ "functions", "a function, as NAME without quotes", is_name, match_functions },
	{ "digest", "a digest: 16 digits, such as --explain-sql prints", is_digest,
		match_digest },
	{ "user", "a user", is_any_text, match_user },
	{ "application", "an application", is_any_text, match_application },
	{ "from", "a network, such as 10.0.0.0/8; or unix", take_from, match_from },
	{ "in_tx", "yes or no", is_yes_or_no, match_in_tx },
	{ "database", "a database", is_any_text, match_database },
	{ "text", NULL, NULL, match_text, take_text },
	{ "time", NULL, NULL, match_time, take_time },
};

const char *
cnd_query_condition_text(const struct cnd_query_condition *c)
{
	return conditions[c->kind].name;
}

enum cnd_match
cnd_condition_match(const struct cnd_query_condition *c, const struct cnd_query *q)
{
	enum cnd_match match = conditions[c->kind].match(c, q);

	return c->is_not ? (enum cnd_match)(CND_MATCH_YES - match) : match;
}

/* ---- reading ---- */

static int
take_text(struct cnd_rule_parser *p, struct cnd_query_condition *c, const char *value)
{
	char why[CND_PATTERN_ERROR_MAX];

	if (cnd_pattern_compile(value, &c->pattern, why) == 0)
		return 0;
	return cnd_rule_bad(
		p, "rule: text: \"%.64s\" is not a regular expression: %s", value, why);
}

static int
take_time(struct cnd_rule_parser *p, struct cnd_query_condition *c, const char *value)
{
	char why[CND_HOURS_ERROR_MAX];

	if (strncmp(value, "user=", 5) == 0)
		return cnd_rule_bad(
			p, "rule: time: write user= as a condition of its own");
	if (cnd_hours_parse(&c->hours, value, time(NULL), why) == 0)
		return 0;
	return cnd_rule_bad(p, "rule: time: %.200s", why);
}

static int
add_values(struct cnd_rule_parser *p, struct cnd_query_condition *c, char *values)
{
	for (char *value; (value = strsep(&values, ",")) != NULL;) {
		char **more = realloc(c->values, (c->n + 1) * sizeof(*more));

		if (more == NULL)
			return cnd_rule_bad(p, "out of memory");
		c->values = more;
		if (!conditions[c->kind].take_value(c, value))
			return cnd_rule_bad(p, "rule: %s: \"%.64s\" is not %s",
				conditions[c->kind].name, value,
				conditions[c->kind].what);
		more[c->n] = strdup(value);
		if (more[c->n] == NULL)
			return cnd_rule_bad(p, "out of memory");
		c->n++;
	}
	return 0;
}

static int
no_condition(struct cnd_rule_parser *p, const char *word)
{
	const char *names[N_ITEMS(conditions)];
	const char *nearest;

	for (size_t i = 0; i < N_ITEMS(conditions); i++)
		names[i] = conditions[i].name;
	nearest = cnd_nearest(word, names, N_ITEMS(names), sizeof(*names));
	if (nearest != NULL)
		return cnd_rule_bad(p,
			"rule: \"%.64s\" is not a condition; did you mean \"%s=\"?", word,
			nearest);
	return cnd_rule_bad(p,
		"rule: \"%.64s\" is not a condition; there are class, tables, functions, "
		"digest, user, application, from, in_tx, database and time, each with = "
		"or !=, and text with ~ or !~",
		word);
}

/* The index of the condition of this name; N_ITEMS(conditions): there is none. */
static uint8_t
find_condition(const char *name)
{
	uint8_t i = 0;

	while (i < N_ITEMS(conditions) && strcmp(conditions[i].name, name) != 0)
		i++;
	return i;
}

int
cnd_condition_take(struct cnd_rule_parser *p, char *word)
{
	struct cnd_query_rule *rule = p->rule;
	struct cnd_query_condition *c = &rule->conditions[rule->n_conditions];
	char *sign = strpbrk(word, "=~"), what;

	if (sign == NULL || sign == word)
		return no_condition(p, word);
	if (rule->n_conditions == CND_QUERY_CONDITIONS_MAX)
		return cnd_rule_bad(
			p, "rule: more than %u conditions", CND_QUERY_CONDITIONS_MAX);
	what = *sign;
	*sign = '\0';
	c->is_not = sign[-1] == '!';
	if (c->is_not)
		sign[-1] = '\0';
	c->kind = find_condition(word);
	if (c->kind == N_ITEMS(conditions))
		return no_condition(p, word);
	if ((what == '~') != (conditions[c->kind].match == match_text))
		return cnd_rule_bad(p, "rule: write %s%s, or %s!%s", word,
			what == '~' ? "=" : "~", word, what == '~' ? "=" : "~");
	rule->n_conditions++;
	p->rules->has_digest |= conditions[c->kind].match == match_digest;
	return conditions[c->kind].take != NULL ? conditions[c->kind].take(p, c, sign + 1)
						: add_values(p, c, sign + 1);
}

void
cnd_condition_destroy(struct cnd_query_condition *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->values[i]);
	free(c->values);
	free(c->networks);
	cnd_pattern_destroy(c->pattern);
	cnd_hours_destroy(&c->hours);
}
