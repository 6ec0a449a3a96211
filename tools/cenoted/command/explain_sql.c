/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cenoted --explain-sql: read the question, and print how the pool changes a statement, what its rules see in it, and which rule
 * decides. It uses the same functions as a worker (query/). It owns nothing.
 */
#include "explain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/digest.h"
#include "core/mem.h"
#include "query/read_only.h"
#include "query/rewrite.h"
#include "query/touch.h"

struct question {
	const struct cnd_pool_config *pool;
	const char *pool_name;
	const char *sql;
	struct cnd_query_text text;
};

__attribute__((format(printf, 1, 2))) static void
complain(const char *format, ...)
{
	va_list args;

	fputs("cenoted: --explain-sql: ", stderr);
	va_start(args, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is initialized */
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

static int
set_pool(struct question *q, const char *value)
{
	q->pool_name = value;
	return 0;
}

static int
set_user(struct question *q, const char *value)
{
	q->text.query.user = value;
	return 0;
}

static int
set_application(struct question *q, const char *value)
{
	q->text.query.application = value;
	return 0;
}

static int
set_from(struct question *q, const char *value)
{
	struct cnd_network n;

	if (strcmp(value, "unix") == 0)
		return 0;
	if (strchr(value, '/') != NULL || cnd_network_parse(value, &n) < 0) {
		complain("from=%s is neither an address nor unix", value);
		return -1;
	}
	q->text.query.peer.door = CND_DOOR_TCP;
	q->text.query.peer.addr = n.addr;
	return 0;
}

static int
set_in_tx(struct question *q, const char *value)
{
	q->text.query.in_tx = strcmp(value, "yes") == 0;
	if (q->text.query.in_tx || strcmp(value, "no") == 0)
		return 0;
	complain("in_tx=%s must be yes or no", value);
	return -1;
}

static int
set_database(struct question *q, const char *value)
{
	q->text.query.database = value;
	return 0;
}

/* The value is a time by the clock of this machine, such as "2026-11-30 08:15". */
static int
set_time(struct question *q, const char *value)
{
	struct tm tm = { .tm_isdst = -1 };
	const char *end = strptime(value, "%Y-%m-%d %H:%M", &tm);

	q->text.query.now = end != NULL && *end == '\0' ? (int64_t)mktime(&tm) : -1;
	if (q->text.query.now >= 0)
		return 0;
	complain("time=%s is not a time, such as \"time=2026-11-30 08:15\"", value);
	return -1;
}

static const struct {
	const char *name;
	int (*set)(struct question *q, const char *value);
} words[] = {
	{ "pool=", set_pool },
	{ "user=", set_user },
	{ "application=", set_application },
	{ "from=", set_from },
	{ "in_tx=", set_in_tx },
	{ "database=", set_database },
	{ "time=", set_time },
};

static int
take_word(struct question *q, const char *word)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i].name);

		if (strncmp(words[i].name, word, n) == 0)
			return words[i].set(q, word + n);
	}
	complain("\"%s\" is not pool=, user=, application=, from=, in_tx=, database= or "
		 "time=; the statement comes last",
		word);
	return -1;
}

/* The database of the first server line; "": the line names none. */
static const char *
database_of(const struct cnd_pool_config *pool)
{
	static const char *const keys[] = { "dbname", "database" };

	for (size_t i = 0; i < 2 && pool->n_servers > 0; i++) {
		const char *value = cnd_server_option(&pool->servers[0], keys[i]);

		if (value != NULL)
			return value;
	}
	return strcmp(pool->backend, "sqlite") == 0 ? "main" : "";
}

static int
read_question(
	const struct cnd_config *c, char *const *arguments, int n, struct question *q)
{
	*q = (struct question){
		.text = { .query = { .user = "", .application = "", .now = time(NULL) } }
	};
	for (int i = 0; i + 1 < n; i++) {
		if (take_word(q, arguments[i]) < 0)
			return -1;
	}
	if (n == 0 || q->pool_name == NULL) {
		complain("write pool=NAME and, last, a statement");
		return -1;
	}
	q->sql = arguments[n - 1];
	q->pool = cnd_config_pool(c, q->pool_name);
	if (q->pool != NULL) {
		if (q->text.query.database == NULL)
			q->text.query.database = database_of(q->pool);
		return 0;
	}
	complain("there is no pool \"%s\"", q->pool_name);
	return -1;
}

/* ---- the answer ---- */

static void
print_names(const char *what, const struct cnd_sql_names *names)
{
	printf("%s:", what);
	for (uint32_t i = 0; i < names->n; i++) {
		const struct cnd_sql_name *name = &names->list[i];

		printf("%s ", i > 0 ? "," : "");
		if (name->schema.n > 0)
			printf("%.*s.", (int)name->schema.n, name->schema.p);
		printf("%.*s%s", (int)name->name.n, name->name.p,
			name->is_written ? " (written)" : "");
	}
	puts(names->is_cut ? ", and more" : names->n == 0 ? " none" : "");
}

static void
print_summary(const struct cnd_summary *s, uint64_t digest)
{
	char text[CND_CLASSES_TEXT_MAX];

	printf("class: %s\n", cnd_classes_text(s->classes, text));
	if (s->is_unsure)
		puts("       servers may read this text in different ways, so it has all "
		     "classes, and perhaps other tables");
	print_names("tables", &s->tables);
	print_names("functions", &s->functions);
	printf("digest: %016llx\n", (unsigned long long)digest);
	if (s->functions.n > 0 || (s->classes & CND_CLASS_CALL))
		puts("note: rules cannot see what functions, procedures and blocks do");
}

static const char *
what_it_does(const struct cnd_query_rule *rule)
{
	if (rule->action == CND_QUERY_LIMIT)
		return rule->is_dry_run ? "would limit the answer (dry-run)"
					: "limits the answer, and the next rules go on";
	if (rule->action == CND_QUERY_REWRITE)
		return rule->is_dry_run ? "would rewrite (dry-run)" : "rewrites";
	return rule->is_dry_run ? "would decide (dry-run)" : "decides";
}

/* Print whether the pool keeps the result, as far as the text tells. */
static void
print_cache(const struct cnd_query *q)
{
	struct cnd_touch touch;

	cnd_touch_find(q->summary, q->sql, q->sql_len, &touch);
	if (!touch.may_keep)
		puts("  the result is not kept: the text does more than plainly read, or "
		     "calls "
		     "a function that is not in the list of lib/core/reach.c");
	else
		puts(q->in_tx ? "  the result is not kept: a transaction is open"
			      : "  the result is kept, if the session's settings are "
				"known");
}

/* Print what the rule does with the statement. True: it decides, or it rewrites the text. */
static bool
print_rule(const struct question *q, const struct cnd_config *c,
	const struct cnd_query_rule *rule)
{
	const struct cnd_query_condition *condition;
	enum cnd_match match = cnd_query_rule_match(rule, &q->text.query, &condition);
	bool applies = cnd_query_rule_applies(rule, match);

	printf("%s:%u: %s: ", c->path, rule->line, rule->text);
	if (applies)
		puts(what_it_does(rule));
	else
		printf("%s %s\n", cnd_query_condition_text(condition),
			match == CND_MATCH_PARTLY ? "holds only for a part of the text"
						  : "does not match");
	return applies && !rule->is_dry_run && rule->action != CND_QUERY_LIMIT;
}

/* The rules let the statement pass. Print what `read_only` does with it. Returns the exit status. */
static int
print_pass(const struct question *q)
{
	const char *fault = q->pool->is_read_only
				    ? cnd_read_only_fault(&q->text.query,
					      cnd_query_dialect(q->pool->backend))
				    : NULL;

	if (fault != NULL)
		printf("read_only = yes denies the statement: %s\n", fault);
	else if (q->pool->is_read_only)
		puts("read_only = yes: the server refuses what writes, also in "
		     "functions");
	return fault != NULL;
}

static void
print_text(const struct cnd_query_text *t)
{
	printf("text: %.*s\n", (int)t->query.sql_len, t->query.sql);
	print_summary(t->summary, t->query.digest);
}

/* Print the error that the client would get from cenoted. Returns the exit status. */
static int
print_error(const struct cnd_query_text *t)
{
	printf("error %s: %s\n", t->diag->sqlstate, t->diag->message);
	return 1;
}

static int
print_rules(struct question *q, const struct cnd_config *c)
{
	const struct cnd_query_rules *rules = &q->pool->query_rules;

	for (size_t i = 0; i < rules->n; i++) {
		const struct cnd_query_rule *rule = &rules->list[i];
		int r;

		if (!print_rule(q, c, rule))
			continue;
		if (rule->action == CND_QUERY_CACHE)
			print_cache(&q->text.query);
		if (rule->action != CND_QUERY_REWRITE)
			return rule->action == CND_QUERY_DENY ? 1 : print_pass(q);
		r = cnd_query_text_rewrite(&q->text, rule);
		if (r < 0)
			return print_error(&q->text);
		if (r == CENOTE_OK)
			print_text(&q->text);
		else
			puts("  rules do not rewrite the classes session and "
			     "transaction, "
			     "or a text that servers may read in different ways");
	}
	puts("no rule decides: the statement passes");
	return print_pass(q);
}

static int
explain(struct question *q, const struct cnd_config *c)
{
	struct cnd_query_text *t = &q->text;

	if (cnd_query_text_begin(t, q->sql, strlen(q->sql)) < 0)
		return print_error(t);
	if (t->summary->classes == 0) {
		puts("the text has no statement: it passes");
		return 0;
	}
	if (strlen(q->sql) == t->query.sql_len &&
		memcmp(q->sql, t->query.sql, t->query.sql_len) == 0)
		print_summary(t->summary, t->query.digest);
	else
		print_text(t);
	return print_rules(q, c);
}

int
cnd_explain_sql(const struct cnd_config *c, char *const *arguments, int n)
{
	struct cnd_summary summary;
	struct cnc_arena arena;
	struct cnc_diag diag;
	struct question q;
	int r;

	if (n == 0 || read_question(c, arguments, n, &q) < 0)
		return n == 0 ? (complain("write pool=NAME and a statement%s", ""), 2)
			      : 2;
	cnc_arena_init(&arena, &cnc_mem_default);
	cnc_diag_init(&diag, NULL);
	q.text.style = cnd_pool_config_style(q.pool, cnd_pool_config_kind(c, q.pool));
	q.text.has_digest = true;
	q.text.arena = &arena;
	q.text.diag = &diag;
	q.text.summary = &summary;
	r = explain(&q, c);
	cnc_arena_finish(&arena);
	return r;
}
