/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The `rule` lines of a pool: parse and print them, and find out whether a rule matches a statement. The configuration owns
 * the rules; the worker and `cenoted --explain-sql` ask. The words of a text are judged in summary.c.
 */
#include "query_rules.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/sqlstate.h"
#include "shared/units.h"

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))
#define BLANKS     " \t"

__attribute__((format(printf, 2, 3))) static int
bad(char error[CND_QUERY_ERROR_MAX], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is initialized */
	vsnprintf(error, CND_QUERY_ERROR_MAX, format, args);
	va_end(args);
	return -1;
}

/* ---- conditions ---- */

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
	uint32_t wanted = 0, classes = q->summary->classes;

	for (size_t i = 0; i < c->n; i++)
		wanted |= cnd_class_named(c->values[i], strlen(c->values[i]));
	return share((size_t)__builtin_popcount(classes & wanted),
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
	struct cnd_network n;

	if (q->peer.door == CND_DOOR_UNIX)
		return yes_if(is_one_of(c, "unix"));
	for (size_t i = 0; i < c->n; i++) {
		if (cnd_network_parse(c->values[i], &n) == 0 &&
			cnd_network_has(&n, &q->peer.addr))
			return CND_MATCH_YES;
	}
	return CND_MATCH_NO;
}

static enum cnd_match
match_in_tx(const struct cnd_query_condition *c, const struct cnd_query *q)
{
	return yes_if(is_one_of(c, q->in_tx ? "yes" : "no"));
}

static bool
is_class(const char *value)
{
	return cnd_class_named(value, strlen(value)) != 0;
}

static bool
is_name(const char *value)
{
	return *value != '\0' && *value != '.' && value[strlen(value) - 1] != '.' &&
	       strpbrk(value, "\"'`[]();") == NULL;
}

static bool
is_digest(const char *value)
{
	return strlen(value) == 16 && value[strspn(value, "0123456789abcdef")] == '\0';
}

static bool
is_any_text(const char *value)
{
	return *value != '\0';
}

static bool
is_from(const char *value)
{
	struct cnd_network n;

	return strcmp(value, "unix") == 0 || cnd_network_parse(value, &n) == 0;
}

static bool
is_yes_or_no(const char *value)
{
	return strcmp(value, "yes") == 0 || strcmp(value, "no") == 0;
}

static const struct {
	const char *name;
	const char *what; /* what its values are, for an error */
	bool (*is_value)(const char *value);
	enum cnd_match (*match)(
		const struct cnd_query_condition *c, const struct cnd_query *q);
} conditions[] = {
	{ "class", "a class: read, write, ddl, transaction, session, call, copy or other",
		is_class, match_class },
	{ "tables", "a table, as NAME or SCHEMA.NAME without quotes", is_name,
		match_tables },
	{ "functions", "a function, as NAME without quotes", is_name, match_functions },
	{ "digest", "a digest: 16 digits, such as --explain-sql prints", is_digest,
		match_digest },
	{ "user", "a user", is_any_text, match_user },
	{ "application", "an application", is_any_text, match_application },
	{ "from", "a network, such as 10.0.0.0/8; or unix", is_from, match_from },
	{ "in_tx", "yes or no", is_yes_or_no, match_in_tx },
};

const char *
cnd_query_condition_text(const struct cnd_query_condition *c)
{
	return conditions[c->kind].name;
}

/* ---- reading ---- */

struct parser {
	struct cnd_query_rules *rules;
	struct cnd_query_rule *rule;
	char *error;
	char *rest;
};

/* Take the next word. "…" is one word, in which \" is a quote. NULL: there is none, or its quote does not end. */
static char *
next_word(struct parser *p)
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
		bad(p->error, "rule: a quote does not end");
		return NULL;
	}
	p->rest = *from == '\0' ? from : from + 1;
	*to = '\0';
	return word;
}

static int
add_values(struct parser *p, struct cnd_query_condition *c, char *values)
{
	for (char *value; (value = strsep(&values, ",")) != NULL;) {
		char **more = realloc(c->values, (c->n + 1) * sizeof(*more));

		if (more == NULL)
			return bad(p->error, "out of memory");
		c->values = more;
		if (!conditions[c->kind].is_value(value))
			return bad(p->error, "rule: %s: \"%.64s\" is not %s",
				conditions[c->kind].name, value,
				conditions[c->kind].what);
		more[c->n] = strdup(value);
		if (more[c->n] == NULL)
			return bad(p->error, "out of memory");
		c->n++;
	}
	return 0;
}

static int
no_condition(struct parser *p, const char *word)
{
	const char *names[N_ITEMS(conditions)];
	const char *nearest;

	for (size_t i = 0; i < N_ITEMS(conditions); i++)
		names[i] = conditions[i].name;
	nearest = cnd_nearest(word, names, N_ITEMS(names), sizeof(*names));
	if (nearest != NULL)
		return bad(p->error,
			"rule: \"%.64s\" is not a condition; did you mean \"%s=\"?", word,
			nearest);
	return bad(p->error,
		"rule: \"%.64s\" is not a condition; there are class, tables, functions, "
		"digest, user, application, from and in_tx, each with = or !=",
		word);
}

/* NAME=VALUE,… or NAME!=VALUE,… */
static int
take_condition(struct parser *p, char *word)
{
	struct cnd_query_rule *rule = p->rule;
	struct cnd_query_condition *c = &rule->conditions[rule->n_conditions];
	char *equals = strchr(word, '=');

	if (equals == NULL || equals == word)
		return no_condition(p, word);
	if (rule->n_conditions == CND_QUERY_CONDITIONS_MAX)
		return bad(p->error, "rule: more than %u conditions",
			CND_QUERY_CONDITIONS_MAX);
	*equals = '\0';
	c->is_not = equals[-1] == '!';
	if (c->is_not)
		equals[-1] = '\0';
	while (c->kind < N_ITEMS(conditions) &&
		strcmp(conditions[c->kind].name, word) != 0)
		c->kind++;
	if (c->kind == N_ITEMS(conditions))
		return no_condition(p, word);
	rule->n_conditions++;
	p->rules->has_digest |= conditions[c->kind].match == match_digest;
	return add_values(p, c, equals + 1);
}

static int
take_sqlstate(struct parser *p, const char *value)
{
	size_t n = strspn(value, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	if (n != 5 || value[5] != '\0' || strncmp(value, "00", 2) == 0)
		return bad(p->error,
			"rule: sqlstate: \"%.64s\" is not an SQLSTATE of an error, such "
			"as "
			"42501",
			value);
	memcpy(p->rule->sqlstate, value, 6);
	return 0;
}

/* allow | deny ["MESSAGE"] [sqlstate=SQLSTATE], and dry-run */
static int
take_action(struct parser *p)
{
	struct cnd_query_rule *rule = p->rule;
	char *word = next_word(p);

	if (word != NULL && strcmp(word, "deny") == 0)
		rule->action = CND_QUERY_DENY;
	else if (word == NULL || strcmp(word, "allow") != 0)
		return *p->error != '\0'
			       ? -1
			       : bad(p->error, "rule: write -> deny, or -> allow");
	while ((word = next_word(p)) != NULL) {
		if (strcmp(word, "dry-run") == 0)
			rule->is_dry_run = true;
		else if (rule->action != CND_QUERY_DENY)
			return bad(p->error, "rule: \"%.64s\" cannot stand after allow",
				word);
		else if (strncmp(word, "sqlstate=", 9) == 0) {
			if (take_sqlstate(p, word + 9) < 0)
				return -1;
		} else if (rule->message != NULL)
			return bad(p->error,
				"rule: deny has one message; put it in double quotes");
		else if ((rule->message = strdup(word)) == NULL)
			return bad(p->error, "out of memory");
	}
	return *p->error != '\0' ? -1 : 0;
}

static int
take_rule(struct parser *p)
{
	char *word;

	while ((word = next_word(p)) != NULL && strcmp(word, "->") != 0) {
		if (take_condition(p, word) < 0)
			return -1;
	}
	if (word != NULL)
		return take_action(p);
	return *p->error != '\0' ? -1 : bad(p->error, "rule: write CONDITIONS -> ACTION");
}

int
cnd_query_rules_parse(struct cnd_query_rules *rules, const char *text, unsigned line,
	char error[CND_QUERY_ERROR_MAX])
{
	struct parser p = { .rules = rules, .error = error };
	struct cnd_query_rule *more;
	char *copy;
	int r;

	*error = '\0';
	if (rules->n == CND_QUERY_RULES_MAX)
		return bad(error, "rule: more than %u rules", CND_QUERY_RULES_MAX);
	more = realloc(rules->list, (rules->n + 1) * sizeof(*more));
	if (more == NULL)
		return bad(error, "out of memory");
	rules->list = more;
	p.rule = &more[rules->n++];
	*p.rule = (struct cnd_query_rule){ .line = line, .text = strdup(text) };
	memcpy(p.rule->sqlstate, CNC_SQLSTATE(PRIVILEGE), sizeof(p.rule->sqlstate));
	copy = p.rest = strdup(text);
	r = copy != NULL && p.rule->text != NULL ? take_rule(&p)
						 : bad(error, "out of memory");
	free(copy);
	return r;
}

void
cnd_query_rules_destroy(struct cnd_query_rules *rules)
{
	for (size_t i = 0; i < rules->n; i++) {
		struct cnd_query_rule *rule = &rules->list[i];

		for (size_t j = 0; j < rule->n_conditions; j++) {
			for (size_t k = 0; k < rule->conditions[j].n; k++)
				free(rule->conditions[j].values[k]);
			free(rule->conditions[j].values);
		}
		free(rule->text);
		free(rule->message);
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
		enum cnd_match match = conditions[c->kind].match(c, q);

		if (c->is_not)
			match = (enum cnd_match)(CND_MATCH_YES - match);
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
	       (match == CND_MATCH_PARTLY && rule->action == CND_QUERY_DENY);
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
