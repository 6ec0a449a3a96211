/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Find out from the tokens of a text what its statements do: their classes, and the tables and functions that they name.
 * rules.c decides by this. It owns no state.
 *
 * This is no parser. It knows the words that begin a statement, the words after which tables stand, and the words
 * that make a query write. A rule that denies must not be got round, so in doubt a text counts as more than it is.
 */
#include "summary.h"

#include <stdio.h>
#include <string.h>

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

/* ---- the statement's first word ---- */

static const struct {
	const char *word;
	uint32_t classes;
} verbs[] = {
	{ "abort", CND_CLASS_TRANSACTION },
	{ "alter", CND_CLASS_DDL },
	{ "analyse", CND_CLASS_DDL },
	{ "analyze", CND_CLASS_DDL },
	{ "attach", CND_CLASS_SESSION },
	{ "backup", CND_CLASS_DDL },
	{ "begin", CND_CLASS_TRANSACTION },
	{ "call", CND_CLASS_CALL },
	{ "checkpoint", CND_CLASS_OTHER },
	{ "close", CND_CLASS_SESSION },
	{ "cluster", CND_CLASS_DDL },
	{ "comment", CND_CLASS_DDL },
	{ "commit", CND_CLASS_TRANSACTION },
	{ "copy", CND_CLASS_COPY },
	{ "create", CND_CLASS_DDL },
	{ "deallocate", CND_CLASS_SESSION },
	{ "declare", CND_CLASS_SESSION },
	{ "delete", CND_CLASS_WRITE },
	{ "desc", CND_CLASS_READ },
	{ "describe", CND_CLASS_READ },
	{ "detach", CND_CLASS_SESSION },
	{ "discard", CND_CLASS_SESSION },
	{ "do", CND_CLASS_CALL },
	{ "drop", CND_CLASS_DDL },
	{ "end", CND_CLASS_TRANSACTION },
	{ "exec", CND_CLASS_CALL },
	{ "execute", CND_CLASS_CALL },
	{ "explain", CND_CLASS_READ },
	{ "fetch", CND_CLASS_READ },
	{ "grant", CND_CLASS_DDL },
	{ "handler", CND_CLASS_READ },
	{ "help", CND_CLASS_READ },
	{ "import", CND_CLASS_DDL },
	{ "insert", CND_CLASS_WRITE },
	{ "install", CND_CLASS_DDL },
	{ "listen", CND_CLASS_SESSION },
	{ "load", CND_CLASS_COPY | CND_CLASS_WRITE },
	{ "lock", CND_CLASS_TRANSACTION },
	{ "merge", CND_CLASS_WRITE },
	{ "move", CND_CLASS_SESSION },
	{ "notify", CND_CLASS_SESSION },
	{ "optimize", CND_CLASS_DDL },
	{ "pragma", CND_CLASS_SESSION },
	{ "prepare", CND_CLASS_SESSION },
	{ "reassign", CND_CLASS_DDL },
	{ "refresh", CND_CLASS_DDL },
	{ "reindex", CND_CLASS_DDL },
	{ "release", CND_CLASS_TRANSACTION },
	{ "rename", CND_CLASS_DDL },
	{ "repair", CND_CLASS_DDL },
	{ "replace", CND_CLASS_WRITE },
	{ "reset", CND_CLASS_SESSION },
	{ "revoke", CND_CLASS_DDL },
	{ "rollback", CND_CLASS_TRANSACTION },
	{ "savepoint", CND_CLASS_TRANSACTION },
	{ "security", CND_CLASS_DDL },
	{ "select", CND_CLASS_READ },
	{ "set", CND_CLASS_SESSION },
	{ "show", CND_CLASS_READ },
	{ "start", CND_CLASS_TRANSACTION },
	{ "table", CND_CLASS_READ },
	{ "truncate", CND_CLASS_DDL | CND_CLASS_WRITE },
	{ "uninstall", CND_CLASS_DDL },
	{ "unlisten", CND_CLASS_SESSION },
	{ "unlock", CND_CLASS_TRANSACTION },
	{ "update", CND_CLASS_WRITE },
	{ "use", CND_CLASS_SESSION },
	{ "vacuum", CND_CLASS_DDL },
	{ "values", CND_CLASS_READ },
	{ "with", CND_CLASS_READ },
	{ "xa", CND_CLASS_TRANSACTION },
};

/* 0: the word begins no known statement. */
static uint32_t
class_of_verb(const struct cnc_sql_token *t)
{
	size_t low = 0, high = N_ITEMS(verbs);

	while (t->kind == CNC_SQL_WORD && low < high) {
		size_t middle = (low + high) / 2;
		int order = cnc_sql_compare(t->p, t->n, verbs[middle].word);

		if (order == 0)
			return verbs[middle].classes;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return 0;
}

/* ---- names ---- */

static void
add_name(struct cnd_sql_names *names, const struct cnd_sql_name *name)
{
	/* a text may be read more than once */
	for (uint32_t i = 0; i < names->n; i++) {
		if (names->list[i].name.p != name->name.p)
			continue;
		names->list[i].is_written |= name->is_written;
		return;
	}
	if (names->n == CND_SUMMARY_NAMES)
		names->is_cut = true;
	else
		names->list[names->n++] = *name;
}

static bool
is_name(const struct cnc_sql_token *t)
{
	return t->kind == CNC_SQL_WORD || t->kind == CNC_SQL_NAME ||
	       (t->kind == CNC_SQL_TEXT && *t->p == '"');
}

/* Read the rest of NAME.NAME; `name` has the first part. */
static void
read_parts(struct cnc_sql *x, struct cnd_sql_name *name)
{
	for (;;) {
		struct cnc_sql ahead = *x;
		struct cnc_sql_token t = cnc_sql_next(&ahead);

		if (!cnc_sql_is_char(&t, '.'))
			return;
		t = cnc_sql_next(&ahead);
		/* T-SQL: database..table */
		while (cnc_sql_is_char(&t, '.'))
			t = cnc_sql_next(&ahead);
		if (!is_name(&t))
			return;
		name->schema = name->name;
		name->name = t;
		*x = ahead;
	}
}

static int
lower(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

/* Does the name have escapes, so that its bytes are not the name? */
static bool
has_escapes(const struct cnc_sql_token *t, const char *p, size_t n)
{
	if (t->kind == CNC_SQL_WORD)
		return false;
	return *t->p == 'U' || *t->p == 'u' || memchr(p, '"', n) != NULL ||
	       memchr(p, '`', n) != NULL || memchr(p, ']', n) != NULL ||
	       memchr(p, '\\', n) != NULL;
}

static bool
is_part(const struct cnc_sql_token *t, const char *wanted, size_t n_wanted)
{
	size_t n;
	const char *p = cnc_sql_inside(t, &n);

	if (has_escapes(t, p, n))
		return true;
	if (n != n_wanted)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (lower(p[i]) != lower(wanted[i]))
			return false;
	}
	return true;
}

bool
cnd_sql_name_is(const struct cnd_sql_name *name, const char *wanted)
{
	const char *point = strrchr(wanted, '.');

	if (point != NULL && name->schema.n > 0 &&
		!is_part(&name->schema, wanted, (size_t)(point - wanted)))
		return false;
	wanted = point != NULL ? point + 1 : wanted;
	return is_part(&name->name, wanted, strlen(wanted));
}

/* ---- the walk through a text ---- */

#define DEPTH_MAX 64u
#define CTES_MAX  16u

/* One level of parentheses. */
struct level {
	bool is_list; /* in a list of tables: a comma is followed by a table */
	bool wants_table; /* the next name is a table */
	bool is_writing; /* the tables of this list are written */
	bool takes_columns; /* the table may have a list of columns: NAME (…) is no function */
	bool is_cte_query; /* the query of a common table */
	bool is_expression; /* of a function whose FROM names no table: extract(… from …) */
	bool is_with; /* in the list of WITH: the next name is a common table */
	bool is_recursive;
};

/* The name of a common table expression. */
struct cte {
	struct cnc_sql_token name;
	uint32_t depth; /* of its WITH */
	bool is_ready; /* its own query is over, so that its name means it */
};

struct walk {
	struct cnc_sql x;
	struct cnd_summary *out;
	struct cnc_sql_token verb;
	/* the last tokens: [0] is the last one */
	struct cnc_sql_token last[2];
	struct level levels[DEPTH_MAX];
	uint32_t depth;
	struct cte ctes[CTES_MAX];
	uint32_t n_ctes;
	uint32_t n_statements;
	const char
		*columns_after; /* the table behind which a list of columns may stand */
	/* of this statement */
	uint32_t classes;
	uint32_t first_table;
	bool is_loose; /* another statement may begin at each of its words */
	bool is_explain;
	bool is_analyzed; /* EXPLAIN ANALYZE runs the statement */
};

static struct level *
level(struct walk *w)
{
	return &w->levels[w->depth];
}

static bool
was(const struct walk *w, const char *word)
{
	return cnc_sql_is(&w->last[0], word);
}

static struct cnc_sql_token
peek(const struct walk *w)
{
	struct cnc_sql ahead = w->x;

	return cnc_sql_next(&ahead);
}

/* Are both surely the same name? Two words may differ in case. */
static bool
are_equal(const struct cnc_sql_token *a, const struct cnc_sql_token *b)
{
	if (a->kind != b->kind || a->n != b->n)
		return false;
	if (a->kind != CNC_SQL_WORD)
		return memcmp(a->p, b->p, a->n) == 0;
	for (size_t i = 0; i < a->n; i++) {
		if (lower(a->p[i]) != lower(b->p[i]))
			return false;
	}
	return true;
}

/* Is it the name of a common table that is visible here? */
static bool
is_cte(const struct walk *w, const struct cnd_sql_name *name)
{
	for (uint32_t i = 0; name->schema.n == 0 && i < w->n_ctes; i++) {
		const struct cte *c = &w->ctes[i];

		if (c->is_ready && are_equal(&name->name, &c->name))
			return true;
	}
	return false;
}

static void
remember(struct walk *w, struct cnc_sql_token t)
{
	w->last[1] = w->last[0];
	w->last[0] = t;
}

static void
take_table(struct walk *w, struct cnc_sql_token t)
{
	struct level *l = level(w);
	struct cnd_sql_name name = { .name = t, .is_written = l->is_writing };
	struct cnc_sql_token next;

	read_parts(&w->x, &name);
	l->wants_table = false;
	next = peek(w);
	if (!l->takes_columns && cnc_sql_is_char(&next, '('))
		; /* a function: take_function() sees it next */
	else if (!is_cte(w, &name))
		add_name(&w->out->tables, &name);
	w->columns_after = l->takes_columns ? name.name.p : NULL;
	/* INSERT INTO t SELECT … FROM u */
	l->is_writing &= l->is_list;
	remember(w, name.name);
}

/* The next name is a table. */
static void
want_table(struct walk *w, bool is_list, bool is_writing, bool takes_columns)
{
	struct level *l = level(w);

	l->wants_table = true;
	l->is_list = is_list;
	l->is_writing = is_writing;
	l->takes_columns = takes_columns;
}

static void
end_list(struct walk *w)
{
	level(w)->is_list = false;
	level(w)->wants_table = false;
}

/* ---- functions ---- */

/*
 * Functions of the servers that write, lock, or execute a text, so that a statement that calls them is no mere read. There
 * are others, above all those that users have made: a rule may name them.
 */
static const char *const writing_functions[] = { "benchmark", "cursor_to_xml",
	"database_to_xml", "dblink", "dblink_connect", "dblink_exec", "get_lock",
	"last_insert_id", "load_file", "lo_create", "lo_creat", "lo_export",
	"lo_from_bytea", "lo_import", "lo_open", "lo_put", "lo_truncate", "lo_unlink",
	"lowrite", "nextval", "pg_advisory_lock", "pg_advisory_lock_shared",
	"pg_advisory_unlock", "pg_advisory_unlock_all", "pg_advisory_unlock_shared",
	"pg_advisory_xact_lock", "pg_advisory_xact_lock_shared", "pg_cancel_backend",
	"pg_create_restore_point", "pg_logical_emit_message", "pg_notify", "pg_promote",
	"pg_read_binary_file", "pg_read_file", "pg_reload_conf", "pg_rotate_logfile",
	"pg_switch_wal", "pg_terminate_backend", "pg_try_advisory_lock",
	"pg_try_advisory_lock_shared", "pg_try_advisory_xact_lock",
	"pg_try_advisory_xact_lock_shared", "query_to_xml", "query_to_xml_and_xmlschema",
	"query_to_xmlschema", "release_all_locks", "release_lock", "schema_to_xml",
	"set_config", "setval", "sleep", "table_to_xml", "ts_rewrite", "ts_stat",
	"load_extension", "writefile", NULL };

/* Words before ( that are no functions. */
static const char *const no_functions[] = { "all", "and", "any", "array", "as", "between",
	"by", "case", "check", "conflict", "copy", "cube", "distinct", "else", "except",
	"exists", "explain", "filter", "from", "group", "grouping", "having", "in",
	"intersect", "into", "is", "join", "key", "lateral", "like", "limit",
	"materialized", "not", "offset", "on", "only", "or", "over", "partition",
	"recursive", "returning", "rollup", "row", "select", "set", "sets", "some",
	"table", "then", "union", "unique", "using", "values", "when", "where", "with",
	"within", NULL };

/* The arguments of these functions may have FROM or USING. */
static const char *const from_functions[] = { "convert", "extract", "overlay", "position",
	"substr", "substring", "trim", NULL };

static bool
is_writing_function(const struct cnc_sql_token *t)
{
	size_t n;
	const char *p = cnc_sql_inside(t, &n);
	struct cnc_sql_token word = { CNC_SQL_WORD, false, p, n };

	return has_escapes(t, p, n) || cnc_sql_is_one_of(&word, writing_functions);
}

/* A parenthesis opens after the last token. */
static void
take_function(struct walk *w)
{
	struct cnd_sql_name name = { .name = w->last[0] };

	if (!is_name(&name.name) || cnc_sql_is_one_of(&name.name, no_functions) ||
		name.name.p == w->columns_after)
		return;
	add_name(&w->out->functions, &name);
	if (is_writing_function(&name.name))
		w->classes |= CND_CLASS_WRITE;
}

/* ---- words ---- */

static bool
is_verb(const struct walk *w, const char *word)
{
	return cnc_sql_is(&w->verb, word);
}

/* Skip words that may stand before a table. A word counts as such only if a name follows. */
static void
skip_words(struct walk *w, const char *const *words)
{
	for (;;) {
		struct cnc_sql ahead = w->x;
		struct cnc_sql_token t = cnc_sql_next(&ahead), next;

		if (t.kind == CNC_SQL_MARK) {
			w->x = ahead;
			continue;
		}
		if (!cnc_sql_is_one_of(&t, words))
			return;
		/* UPDATE OR IGNORE */
		if (cnc_sql_is(&t, "or"))
			(void)cnc_sql_next(&ahead);
		w->x = ahead;
		next = cnc_sql_next(&ahead);
		if (!is_name(&next) && next.kind != CNC_SQL_MARK)
			return;
	}
}

static void
on_from(struct walk *w)
{
	static const char *const only[] = { "only", NULL };

	static const char *const others[] = { "fetch", "move", "revoke", NULL };

	if (level(w)->is_expression || cnc_sql_is_one_of(&w->verb, others))
		return;
	/* a IS [NOT] DISTINCT FROM b */
	if (was(w, "distinct") &&
		(cnc_sql_is(&w->last[1], "is") || cnc_sql_is(&w->last[1], "not")))
		return;
	if (is_verb(w, "copy") && w->depth == 0) {
		w->classes |= CND_CLASS_WRITE;
		if (w->out->tables.n > w->first_table)
			w->out->tables.list[w->first_table].is_written = true;
		return;
	}
	want_table(w, true, level(w)->is_writing, false);
	skip_words(w, only);
}

static void
on_join(struct walk *w)
{
	/* a parenthesis may follow, and a comma after the condition */
	want_table(w, level(w)->is_list, level(w)->is_writing, false);
}

/* DELETE FROM a USING b, MERGE INTO a USING b. In JOIN b USING (…), there are columns. */
static void
on_using(struct walk *w)
{
	struct cnc_sql_token next = peek(w);

	if (!level(w)->is_expression && !(w->classes & CND_CLASS_DDL) &&
		(level(w)->is_writing || !cnc_sql_is_char(&next, '(')))
		want_table(w, true, false, false);
}

static void
on_into(struct walk *w)
{
	static const char *const no_tables[] = { "outfile", "dumpfile", NULL };
	static const char *const before[] = { "temporary", "temp", "unlogged", "table",
		"only", NULL };
	struct cnc_sql_token next = peek(w);

	w->classes |= CND_CLASS_WRITE;
	if (!cnc_sql_is_one_of(&next, no_tables)) {
		want_table(w, false, true, true);
		skip_words(w, before);
	}
}

static void
on_insert(struct walk *w)
{
	static const char *const before[] = { "low_priority", "delayed", "high_priority",
		"ignore", "into", "or", "overwrite", "only", NULL };

	w->classes |= CND_CLASS_WRITE;
	want_table(w, false, true, true);
	skip_words(w, before);
}

/* UPDATE or DELETE, with words that may follow. After `others` it is no statement. */
static void
on_change(struct walk *w, const char *const *before, const char *const *others)
{
	if (!is_verb(w, "grant") && !is_verb(w, "revoke"))
		w->classes |= CND_CLASS_WRITE;
	if (cnc_sql_is_one_of(&w->last[0], others))
		return;
	want_table(w, true, true, false);
	skip_words(w, before);
}

static void
on_update(struct walk *w)
{
	static const char *const before[] = { "low_priority", "ignore", "only", "or",
		NULL };
	/* FOR UPDATE, DO UPDATE, ON DUPLICATE KEY UPDATE, ON UPDATE, BEFORE UPDATE, GRANT … UPDATE */
	static const char *const others[] = { "for", "do", "key", "on", "before", "after",
		"of", "or", NULL };

	on_change(w, before, others);
}

/* DELETE FROM, or MySQL's DELETE a, b FROM */
static void
on_delete(struct walk *w)
{
	static const char *const before[] = { "low_priority", "quick", "ignore", NULL };
	static const char *const others[] = { "on", "before", "after", "or", NULL };

	on_change(w, before, others);
}

static void
on_merge(struct walk *w)
{
	static const char *const before[] = { "into", "only", NULL };

	w->classes |= CND_CLASS_WRITE;
	want_table(w, false, true, false);
	skip_words(w, before);
}

static void
on_replace(struct walk *w)
{
	struct cnc_sql_token next = peek(w);

	/* REPLACE INTO, not replace(a, b, c) nor CREATE OR REPLACE */
	if (!cnc_sql_is_char(&next, '(') && !was(w, "or"))
		on_insert(w);
}

static void
on_table(struct walk *w)
{
	static const char *const before[] = { "if", "not", "exists", "only",
		"concurrently", NULL };

	want_table(w, !is_verb(w, "alter"), (w->classes & ~(uint32_t)CND_CLASS_READ) != 0,
		true);
	skip_words(w, before);
}

/* A statement whose verb is followed by a table, with or without TABLE. */
static void
on_verb_of_table(struct walk *w)
{
	static const char *const before[] = { "table", "tables", "only", "verbose",
		"full", "freeze", "analyze", "local", "no_write_to_binlog", "skip_locked",
		NULL };

	want_table(w, true,
		!is_verb(w, "copy") && !is_verb(w, "desc") && !is_verb(w, "describe") &&
			!is_verb(w, "handler"),
		true);
	skip_words(w, before);
}

static void
on_on(struct walk *w)
{
	static const char *const before[] = { "table", "only", NULL };

	/* CREATE INDEX … ON t, CREATE TRIGGER … ON t, GRANT … ON t */
	if ((w->classes & CND_CLASS_DDL) && w->depth == 0) {
		want_table(w, true, true, true);
		skip_words(w, before);
	}
}

/* Words of DDL before another table: REFERENCES t, INHERITS (t, u), PARTITION OF t, ATTACH PARTITION t, LIKE t. */
static void
on_other_table(struct walk *w)
{
	if (w->classes & CND_CLASS_DDL)
		want_table(w, false, true, true);
}

static void
on_of(struct walk *w)
{
	if (was(w, "partition"))
		on_other_table(w);
}

static void
on_partition(struct walk *w)
{
	if (was(w, "attach") || was(w, "detach"))
		on_other_table(w);
}

/* CREATE TABLE t (LIKE u), or MySQL's CREATE TABLE t LIKE u */
static void
on_like(struct walk *w)
{
	if (cnc_sql_is_char(&w->last[0], '(') || cnc_sql_is_char(&w->last[0], ',') ||
		w->last[0].p == w->columns_after)
		on_other_table(w);
}

static void
on_select(struct walk *w)
{
	struct level *l = level(w);

	end_list(w);
	l->is_writing = l->is_expression = false;
	w->classes |= CND_CLASS_READ;
}

/* FOR UPDATE, FOR NO KEY UPDATE, FOR SHARE, LOCK IN SHARE MODE */
static void
on_share(struct walk *w)
{
	if (was(w, "for") || was(w, "in") || was(w, "key"))
		w->classes |= CND_CLASS_WRITE;
}

static void
on_set(struct walk *w)
{
	/* UPDATE t SET: other tables follow */
	if (is_verb(w, "update") || level(w)->is_writing)
		end_list(w);
	level(w)->is_writing = false;
}

static void
on_with(struct walk *w)
{
	/* NAME [(COLUMNS)] AS [NOT MATERIALIZED] (: not WITH TIME ZONE, WITH (options), WITH ORDINALITY */
	struct cnc_sql ahead = w->x;
	bool is_recursive = cnc_sql_take(&ahead, "recursive");
	struct cnc_sql_token t = cnc_sql_next(&ahead);

	if (!is_name(&t))
		return;
	cnc_sql_skip_parens(&ahead);
	if (!cnc_sql_take(&ahead, "as"))
		return;
	(void)cnc_sql_take(&ahead, "not");
	(void)cnc_sql_take(&ahead, "materialized");
	if (!cnc_sql_take_char(&ahead, '('))
		return;
	level(w)->is_with = true;
	level(w)->is_recursive = is_recursive;
	if (is_recursive)
		(void)cnc_sql_next(&w->x);
}

/* COPY … TO PROGRAM */
static void
on_program(struct walk *w)
{
	if (is_verb(w, "copy"))
		w->classes |= CND_CLASS_WRITE;
}

static const struct {
	const char *word;
	void (*take)(struct walk *w);
} words[] = {
	/* sorted */
	{ "apply", on_join },
	{ "delete", on_delete },
	{ "from", on_from },
	{ "inherit", on_other_table },
	{ "inherits", on_other_table },
	{ "insert", on_insert },
	{ "into", on_into },
	{ "join", on_join },
	{ "like", on_like },
	{ "merge", on_merge },
	{ "of", on_of },
	{ "on", on_on },
	{ "partition", on_partition },
	{ "program", on_program },
	{ "references", on_other_table },
	{ "replace", on_replace },
	{ "select", on_select },
	{ "set", on_set },
	{ "share", on_share },
	{ "straight_join", on_join },
	{ "table", on_table },
	{ "tables", on_table },
	{ "update", on_update },
	{ "using", on_using },
	{ "view", on_table },
	{ "with", on_with },
};

/* Words that end a list of tables. No server allows them as an alias, but MySQL has USE INDEX FOR ORDER BY. */
static bool
ends_list(const struct walk *w, const struct cnc_sql_token *t)
{
	static const char *const ends[] = { "where", "group", "having", "order", "limit",
		"union", NULL };

	if (cnc_sql_is_one_of(t, ends))
		return !was(w, "for");
	return cnc_sql_is(t, "returning") && (w->x.rules & CNC_SQL_DOLLAR_QUOTES) != 0;
}

static void
take_word(struct walk *w, const struct cnc_sql_token *t)
{
	size_t low = 0, high = N_ITEMS(words);

	/* after a point or AS, a word is a name; but PREPARE and CREATE have a statement after AS */
	if (t->kind != CNC_SQL_WORD || cnc_sql_is_char(&w->last[0], '.') ||
		(was(w, "as") && !is_verb(w, "prepare") && !(w->classes & CND_CLASS_DDL)))
		return;
	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = cnc_sql_compare(t->p, t->n, words[middle].word);

		if (order == 0) {
			words[middle].take(w);
			return;
		}
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
}

/* ---- parentheses ---- */

static void
open_level(struct walk *w)
{
	struct level *outer = level(w), *inner;
	const struct cnc_sql_token *last = &w->last[0];
	bool is_list = outer->wants_table;

	take_function(w);
	if (w->depth + 1 == DEPTH_MAX) {
		w->out->is_unsure = true;
		return;
	}
	outer->wants_table = false;
	inner = &w->levels[++w->depth];
	*inner = (struct level){
		.is_list = is_list,
		.wants_table = is_list, /* FROM (a JOIN b) */
		.is_writing = is_list && outer->is_writing,
		.is_expression = cnc_sql_is_one_of(last, from_functions),
		.is_cte_query =
			outer->is_with &&
			(cnc_sql_is(last, "as") || cnc_sql_is(last, "materialized")),
	};
}

static void
close_level(struct walk *w)
{
	bool is_cte_query = level(w)->is_cte_query;

	if (w->depth == 0)
		return;
	while (w->n_ctes > 0 && w->ctes[w->n_ctes - 1].depth == w->depth)
		w->n_ctes--;
	w->depth--;
	if (is_cte_query && w->n_ctes > 0)
		w->ctes[w->n_ctes - 1].is_ready = true;
}

/* The list of WITH: NAME AS (…), NAME AS (…). Its names may be any words. */
static bool
take_cte(struct walk *w, const struct cnc_sql_token *t)
{
	if (!level(w)->is_with || !is_name(t))
		return false;
	if (!was(w, "with") && !cnc_sql_is_char(&w->last[0], ',')) {
		/* after the last query, the statement itself begins */
		if (cnc_sql_is_char(&w->last[0], ')') && !cnc_sql_is(t, "as")) {
			level(w)->is_with = false;
			if (w->depth == 0 && class_of_verb(t) != 0)
				w->verb = *t;
		}
		return false;
	}
	if (w->n_ctes < CTES_MAX)
		w->ctes[w->n_ctes++] = (struct cte){
			.name = *t, .depth = w->depth, .is_ready = level(w)->is_recursive
		};
	return true;
}

/* ---- statements ---- */

/* Statements after which other words may begin statements: blocks and loops of MariaDB, SET STATEMENT … FOR. */
static bool
is_block(struct walk *w)
{
	struct cnc_sql_token next = peek(w);

	return (is_verb(w, "set") && cnc_sql_is(&next, "statement")) ||
	       (is_verb(w, "begin") && cnc_sql_is(&next, "not"));
}

static void
take_verb(struct walk *w, const struct cnc_sql_token *t)
{
	static const char *const of_tables[] = { "analyze", "analyse", "cluster", "copy",
		"desc", "describe", "handler", "lock", "optimize", "repair", "truncate",
		"vacuum", NULL };
	uint32_t classes = class_of_verb(t);

	struct cnc_sql_token next = peek(w);

	w->verb = *t;
	w->classes |= classes != 0 ? classes : (uint32_t)CND_CLASS_OTHER;
	w->is_loose |= classes == 0 || is_block(w);
	w->is_explain |= cnc_sql_is(t, "explain");
	/* MariaDB's ANALYZE runs the statement that follows */
	if (cnc_sql_is_one_of(t, of_tables) &&
		(class_of_verb(&next) == 0 || cnc_sql_is(&next, "table")))
		on_verb_of_table(w);
}

/* The words between EXPLAIN and its statement. True: it was one. */
static bool
take_explain(struct walk *w, const struct cnc_sql_token *t)
{
	if (cnc_sql_is(t, "analyze") || cnc_sql_is(t, "analyse"))
		w->is_analyzed = true;
	else if (w->depth == 0 && class_of_verb(t) != 0)
		take_verb(w, t);
	else
		return false;
	return true;
}

/* Is it no table, although the next name would be one? */
static bool
is_statement_word(const struct walk *w, const struct cnc_sql_token *t)
{
	static const char *const reserved[] = { "select", "from", "table", "into", "with",
		NULL };
	static const char *const writes[] = { "delete", "insert", "merge", "update",
		NULL };

	return cnc_sql_is_one_of(t, reserved) ||
	       (cnc_sql_is_char(&w->last[0], '(') && cnc_sql_is_one_of(t, writes));
}

/* LATERAL and ONLY, before a table. */
static bool
is_prefix(const struct walk *w, const struct cnc_sql_token *t)
{
	struct cnc_sql_token next;

	if (w->x.rules & CNC_SQL_DOLLAR_QUOTES)
		return cnc_sql_is(t, "lateral") || cnc_sql_is(t, "only");
	if (!cnc_sql_is(t, "lateral"))
		return false;
	next = peek(w);
	return cnc_sql_is_char(&next, '(');
}

/* The next name would be a table. Is it this one? */
static bool
is_table(const struct walk *w, const struct cnc_sql_token *t)
{
	struct cnc_sql_token next;

	if (is_statement_word(w, t) || is_prefix(w, t))
		return false;
	if (!cnc_sql_is(t, "values"))
		return true;
	next = peek(w);
	return !cnc_sql_is_char(&next, '(');
}

static void
take_name_or_word(struct walk *w, const struct cnc_sql_token *t)
{
	struct level *l = level(w);

	if (l->wants_table && is_table(w, t)) {
		take_table(w, *t);
		return;
	}
	l->wants_table = l->wants_table && is_prefix(w, t);
	if (ends_list(w, t))
		end_list(w);
	take_word(w, t);
	remember(w, *t);
}

/* A text inside PREPARE … FROM or EXECUTE IMMEDIATE is a statement too. */
static bool
is_dynamic(const struct walk *w)
{
	return (is_verb(w, "prepare") && was(w, "from") &&
		       !(w->x.rules & CNC_SQL_DOLLAR_QUOTES)) ||
	       (is_verb(w, "execute") && was(w, "immediate"));
}

static void summarize(struct cnd_summary *out, const char *sql, size_t len,
	uint32_t rules, uint32_t depth);

static void
take_text(struct walk *w, const struct cnc_sql_token *t)
{
	size_t n;
	const char *p = cnc_sql_inside(t, &n);

	if (!is_dynamic(w))
		return;
	w->classes |= CND_CLASS_CALL;
	if (t->kind != CNC_SQL_TEXT || *p == '\0' || memchr(p, '\\', n) != NULL ||
		memchr(p, p[-1], n) != NULL)
		w->out->is_unsure = true;
	else
		summarize(w->out, p, n, w->x.rules, 1);
}

static void
take_token(struct walk *w, const struct cnc_sql_token *t)
{
	if (t->kind == CNC_SQL_MARK) {
		struct cnc_sql_token next = peek(w);

		w->classes |= class_of_verb(&next);
		return;
	}
	/* TABLE begins a statement too, but mostly it stands inside of one */
	if (w->is_loose && !cnc_sql_is(t, "table"))
		w->classes |= class_of_verb(t);
	if (cnc_sql_is_char(t, '(')) {
		open_level(w);
	} else if (cnc_sql_is_char(t, ')')) {
		close_level(w);
	} else if (cnc_sql_is_char(t, ',')) {
		level(w)->wants_table = level(w)->is_list;
	} else if (w->verb.kind == CNC_SQL_END) {
		take_verb(w, t);
		take_word(w, t);
	} else if (is_verb(w, "explain") && take_explain(w, t)) {
		take_word(w, t);
	} else if (is_dynamic(w)) {
		take_text(w, t);
	} else if (is_name(t) && !take_cte(w, t)) {
		take_name_or_word(w, t);
		return;
	} else if (!is_name(t)) {
		level(w)->wants_table = false;
	}
	remember(w, *t);
}

static void
begin_statement(struct walk *w)
{
	w->verb = w->last[0] = w->last[1] = (struct cnc_sql_token){ .kind = CNC_SQL_END };
	w->levels[0] = (struct level){ .is_list = false };
	w->depth = w->n_ctes = 0;
	w->classes = 0;
	w->first_table = w->out->tables.n;
	w->columns_after = NULL;
	/* T-SQL needs nothing between statements */
	w->is_loose = (w->x.rules & CNC_SQL_WORD_SIGNS) != 0;
	w->is_explain = w->is_analyzed = false;
}

static void
end_statement(struct walk *w)
{
	if (w->verb.kind == CNC_SQL_END && w->classes == 0)
		return;
	if (is_verb(w, "copy") && !(w->classes & CND_CLASS_WRITE))
		w->classes |= CND_CLASS_READ;
	w->n_statements++;
	if (w->n_statements > w->out->n_statements)
		w->out->n_statements = w->n_statements;
	w->out->classes |=
		w->is_explain && !w->is_analyzed ? (uint32_t)CND_CLASS_READ : w->classes;
}

/* ---- texts ---- */

static void
walk_text(struct cnd_summary *out, const char *sql, size_t len, uint32_t rules)
{
	struct walk w = { .x = cnc_sql_begin(sql, len, rules), .out = out };
	struct cnc_sql_token t;

	begin_statement(&w);
	while ((t = cnc_sql_next(&w.x)).kind != CNC_SQL_END) {
		if (t.kind == CNC_SQL_BAD) {
			out->is_unsure = true;
		} else if (cnc_sql_is_char(&t, ';')) {
			end_statement(&w);
			begin_statement(&w);
		} else {
			take_token(&w, &t);
		}
	}
	end_statement(&w);
}

/* May a server read the text differently, depending on the character set of the session? In some, a backslash may be the
 * second byte of a character. */
static bool
depends_on_character_set(const char *sql, size_t len)
{
	for (size_t i = 1; i < len; i++) {
		if (sql[i] == '\\' && (unsigned char)sql[i - 1] >= 0x80)
			return true;
	}
	return false;
}

static uint32_t
count_marks(const char *sql, size_t len, uint32_t rules)
{
	struct cnc_sql x = cnc_sql_begin(sql, len, rules);
	struct cnc_sql_token t;
	uint32_t n = 0;

	while ((t = cnc_sql_next(&x)).kind != CNC_SQL_END)
		n += t.kind == CNC_SQL_MARK && *t.p == '/';
	return n;
}

/*
 * Read the text in each way in which a server may read it. The session's settings may be those of the client (PostgreSQL's
 * standard_conforming_strings, MySQL's sql_mode), and the version of the server decides whether it executes a comment.
 */
static void
summarize(struct cnd_summary *out, const char *sql, size_t len, uint32_t rules,
	uint32_t depth)
{
	bool has_backslash = len > 0 && memchr(sql, '\\', len) != NULL;
	bool has_quote = len > 0 && memchr(sql, '"', len) != NULL;
	bool is_postgresql = (rules & CNC_SQL_DOLLAR_QUOTES) != 0;
	bool is_mysql = (rules & CNC_SQL_HASH) != 0;
	uint32_t marks = rules & CNC_SQL_EXECUTED ? count_marks(sql, len, rules) : 0;

	out->is_unsure |= depth > 2 || marks > 1;
	if (out->is_unsure)
		return;
	walk_text(out, sql, len, rules);
	if (marks == 1)
		walk_text(out, sql, len, rules & ~(uint32_t)CNC_SQL_EXECUTED);
	if (!has_backslash || !(is_postgresql || is_mysql))
		return;
	out->is_unsure |= depends_on_character_set(sql, len);
	walk_text(out, sql, len, rules ^ CNC_SQL_BACKSLASH);
	if (is_mysql && has_quote) {
		rules &= ~(uint32_t)CNC_SQL_DOUBLE_QUOTED_TEXT;
		walk_text(out, sql, len, rules);
		walk_text(out, sql, len, rules ^ CNC_SQL_BACKSLASH);
	}
}

void
cnd_summarize(
	const char *sql, size_t len, uint32_t dialect, struct cnd_summary *ret_summary)
{
	ret_summary->classes = ret_summary->n_statements = 0;
	ret_summary->is_unsure = false;
	ret_summary->tables.n = ret_summary->functions.n = 0;
	ret_summary->tables.is_cut = ret_summary->functions.is_cut = false;
	summarize(ret_summary, sql, len, dialect, 0);
	if (ret_summary->is_unsure)
		ret_summary->classes = CND_CLASS_ALL;
}

/* ---- for people ---- */

/* In the order of enum cnd_class. */
static const char *const class_names[] = { "read", "write", "ddl", "transaction",
	"session", "call", "copy", "other" };

const char *
cnd_classes_text(uint32_t classes, char text[CND_CLASSES_TEXT_MAX])
{
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < N_ITEMS(class_names); i++) {
		if (classes & 1u << i)
			n += (size_t)snprintf(text + n, CND_CLASSES_TEXT_MAX - n, "%s%s",
				n > 0 ? ", " : "", class_names[i]);
	}
	return text;
}

uint32_t
cnd_class_named(const char *name, size_t n)
{
	for (size_t i = 0; i < N_ITEMS(class_names); i++) {
		if (strlen(class_names[i]) == n && memcmp(class_names[i], name, n) == 0)
			return 1u << i;
	}
	return 0;
}
