/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words that have a meaning inside a statement: those after which tables stand, those that make a query write, and the
 * functions. summary.c calls it for each token. If a word is missing here, a statement can pass any rule. A table too many
 * does no harm.
 */
#include "walk.h"

#include <stdlib.h>

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

/* ---- tables ---- */

/* Is it the name of a common table expression that is visible here? */
static bool
is_cte(const struct cnd_walk *w, const struct cnd_sql_name *name)
{
	for (uint32_t i = 0; name->schema.n == 0 && i < w->n_ctes; i++) {
		const struct cnd_cte *c = &w->ctes[i];

		if (c->is_ready && cnd_name_equals(&name->name, &c->name))
			return true;
	}
	return false;
}

void
cnd_walk_table(struct cnd_walk *w, struct cnc_sql_token t)
{
	struct cnd_level *l = cnd_walk_level(w);
	struct cnd_sql_name name = { .name = t, .is_written = l->is_writing };
	struct cnc_sql_token next;
	bool has_columns;

	cnd_name_read_rest(&w->x, &name);
	l->wants_table = false;
	next = cnd_walk_peek(w);
	/* without columns, NAME ( is a function */
	if ((l->takes_columns || !cnc_sql_is_char(&next, '(')) && !is_cte(w, &name))
		cnd_names_add(&w->out->tables, &name);
	/* in a list, the name may be an alias, and the next one a function */
	has_columns = l->takes_columns && (!l->is_list || cnd_walk_has_verb(w, "create"));
	w->columns_after = has_columns ? name.name.p : NULL;
	/* INSERT INTO t SELECT … FROM u */
	l->is_writing &= l->is_list;
	cnd_walk_remember(w, name.name);
}

/* The next name is a table. A list of tables does not end here: the word before may be the alias of a table in it. */
static void
want_table(struct cnd_walk *w, bool is_list, bool is_writing, bool takes_columns)
{
	struct cnd_level *l = cnd_walk_level(w);

	l->wants_table = true;
	l->is_list |= is_list;
	l->is_writing = is_writing;
	l->takes_columns = takes_columns;
}

static void
end_list(struct cnd_walk *w)
{
	cnd_walk_level(w)->is_list = false;
	cnd_walk_level(w)->wants_table = false;
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
	"insert", "intersect", "into", "is", "join", "key", "lateral", "like", "limit",
	"materialized", "not", "offset", "on", "only", "or", "over", "partition",
	"recursive", "returning", "rollup", "row", "select", "set", "sets", "some",
	"table", "then", "union", "unique", "using", "values", "when", "where", "with",
	"within", NULL };

static bool
is_writing_function(const struct cnc_sql_token *t)
{
	struct cnc_sql_token word = { .kind = CNC_SQL_WORD };

	word.p = cnc_sql_inside(t, &word.n);
	return cnd_name_has_escapes(t) || cnc_sql_is_one_of(&word, writing_functions);
}

void
cnd_walk_function(struct cnd_walk *w)
{
	struct cnd_sql_name name = { .name = w->last[0] };

	if (!cnd_name_is_possible(&name.name) || name.name.p == w->columns_after ||
		cnc_sql_is_one_of(&name.name, no_functions))
		return;
	cnd_names_add(&w->out->functions, &name);
	if (is_writing_function(&name.name))
		w->classes |= CND_CLASS_WRITE;
}

/* In PostgreSQL, the argument of these functions is a text. */
bool
cnd_walk_takes_sequence(const struct cnd_walk *w, const struct cnc_sql_token *function)
{
	static const char *const functions[] = { "lastval", "nextval", "setval", NULL };

	return !cnd_walk_is_postgresql(w) && cnc_sql_is_one_of(function, functions);
}

bool
cnd_walk_takes_from(const struct cnc_sql_token *function)
{
	static const char *const functions[] = { "convert", "extract", "overlay",
		"position", "substr", "substring", "trim", NULL };

	return cnc_sql_is_one_of(function, functions);
}

/* ---- words ---- */

/* Skip words that may stand before a table. If no name follows, such a word is the table. */
static void
skip_words(struct cnd_walk *w, const char *const *words)
{
	for (;;) {
		struct cnc_sql ahead = w->x;
		struct cnc_sql_token t = cnc_sql_next(&ahead), next;
		bool is_top = cnc_sql_is(&t, "top") && cnc_sql_take_char(&ahead, '(');

		if (t.kind == CNC_SQL_MARK) {
			w->x = ahead;
			continue;
		}
		/* T-SQL: UPDATE TOP (5) t */
		if (is_top) {
			(void)cnc_sql_next(&w->x);
			cnc_sql_skip_parens(&w->x);
			continue;
		}
		if (!cnc_sql_is_one_of(&t, words))
			return;
		/* UPDATE OR IGNORE t */
		if (cnc_sql_is(&t, "or"))
			(void)cnc_sql_next(&ahead);
		next = cnc_sql_next(&ahead);
		if (!cnd_name_is_possible(&next) && next.kind != CNC_SQL_MARK &&
			!cnc_sql_is_char(&next, '.'))
			return;
		(void)cnc_sql_next(&w->x);
		if (cnc_sql_is(&t, "or"))
			(void)cnc_sql_next(&w->x);
	}
}

static void
on_from(struct cnd_walk *w)
{
	static const char *const only[] = { "only", NULL };
	static const char *const others[] = { "fetch", "move", "revoke", NULL };

	if (cnd_walk_level(w)->is_expression || cnc_sql_is_one_of(&w->verb, others))
		return;
	/* a IS [NOT] DISTINCT FROM b */
	if (cnd_walk_was(w, "distinct") &&
		(cnc_sql_is(&w->last[1], "is") || cnc_sql_is(&w->last[1], "not")))
		return;
	if (cnd_walk_has_verb(w, "copy") && w->depth == 0) {
		w->classes |= CND_CLASS_WRITE;
		if (w->out->tables.n > w->first_table)
			w->out->tables.list[w->first_table].is_written = true;
		return;
	}
	want_table(w, true, cnd_walk_level(w)->is_writing, false);
	skip_words(w, only);
}

static void
on_join(struct cnd_walk *w)
{
	/* a parenthesis may follow, and a comma after the condition */
	want_table(w, cnd_walk_level(w)->is_list, cnd_walk_level(w)->is_writing, false);
}

/* DELETE FROM a USING b, MERGE INTO a USING b. In JOIN b USING (…), there are columns. */
static void
on_using(struct cnd_walk *w)
{
	struct cnc_sql_token next = cnd_walk_peek(w);

	if (!cnd_walk_level(w)->is_expression && !(w->classes & CND_CLASS_DDL) &&
		(cnd_walk_level(w)->is_writing || !cnc_sql_is_char(&next, '(')))
		want_table(w, true, false, false);
}

static void
on_into(struct cnd_walk *w)
{
	static const char *const no_tables[] = { "outfile", "dumpfile", NULL };
	static const char *const before[] = { "temporary", "temp", "unlogged", "table",
		"only", NULL };
	struct cnc_sql_token next = cnd_walk_peek(w);
	/* MySQL's LOAD INDEX INTO CACHE t, u */
	bool is_cache = cnd_walk_has_verb(w, "load") && cnc_sql_is(&next, "cache");

	w->classes |= CND_CLASS_WRITE;
	if (cnc_sql_is_one_of(&next, no_tables))
		return;
	if (is_cache)
		(void)cnc_sql_next(&w->x);
	want_table(w, is_cache, true, true);
	skip_words(w, before);
}

/* MySQL's CACHE INDEX t, u IN … */
static void
on_index(struct cnd_walk *w)
{
	if (cnd_walk_was(w, "cache") && cnd_walk_has_verb(w, "cache"))
		want_table(w, true, false, true);
}

/*
 * Whether INSERT, UPDATE or DELETE begins a statement, so that its table follows. The word may also stand inside of another
 * statement: FOR UPDATE, DO UPDATE, KEY UPDATE, ON DELETE, BEFORE INSERT OR UPDATE, INSTEAD OF DELETE, THEN INSERT.
 */
static bool
begins_change(struct cnd_walk *w)
{
	static const char *const others[] = { "for", "do", "key", "on", "before", "after",
		"of", "or", "then", NULL };

	if (!cnd_walk_has_verb(w, "grant") && !cnd_walk_has_verb(w, "revoke"))
		w->classes |= CND_CLASS_WRITE;
	/* in a block, a statement may begin after FOR, DO and THEN */
	return w->is_loose || !cnc_sql_is_one_of(&w->last[0], others);
}

static void
on_insert(struct cnd_walk *w)
{
	static const char *const before[] = { "low_priority", "delayed", "high_priority",
		"ignore", "into", "or", "overwrite", "only", NULL };

	if (!begins_change(w))
		return;
	want_table(w, false, true, true);
	skip_words(w, before);
}

static void
on_update(struct cnd_walk *w)
{
	static const char *const before[] = { "low_priority", "ignore", "only", "or",
		NULL };

	if (!begins_change(w))
		return;
	want_table(w, true, true, false);
	skip_words(w, before);
}

/* DELETE FROM, or MySQL's DELETE a, b FROM */
static void
on_delete(struct cnd_walk *w)
{
	static const char *const before[] = { "low_priority", "quick", "ignore", NULL };

	if (!begins_change(w))
		return;
	want_table(w, true, true, false);
	skip_words(w, before);
}

static void
on_merge(struct cnd_walk *w)
{
	static const char *const before[] = { "into", "only", NULL };

	w->classes |= CND_CLASS_WRITE;
	want_table(w, false, true, false);
	skip_words(w, before);
}

static void
on_replace(struct cnd_walk *w)
{
	struct cnc_sql_token next = cnd_walk_peek(w);

	/* REPLACE INTO, not replace(a, b, c) nor CREATE OR REPLACE */
	if (!cnc_sql_is_char(&next, '(') && !cnd_walk_was(w, "or"))
		on_insert(w);
}

static void
on_table(struct cnd_walk *w)
{
	static const char *const before[] = { "if", "not", "exists", "only",
		"concurrently", NULL };

	want_table(w, !cnd_walk_has_verb(w, "alter"),
		(w->classes & ~(uint32_t)CND_CLASS_READ) != 0, true);
	skip_words(w, before);
}

/* CREATE SEQUENCE s: a sequence is a table, too. */
static void
on_sequence(struct cnd_walk *w)
{
	if ((w->classes & CND_CLASS_DDL) && w->depth == 0)
		on_table(w);
}

/* NEXT VALUE FOR s, PREVIOUS VALUE FOR s */
static void
on_for(struct cnd_walk *w)
{
	if (!cnd_walk_was(w, "value"))
		return;
	if (cnc_sql_is(&w->last[1], "next"))
		w->classes |= CND_CLASS_WRITE;
	want_table(w, false, cnc_sql_is(&w->last[1], "next"), false);
}

void
cnd_walk_verb_of_table(struct cnd_walk *w)
{
	static const char *const before[] = { "table", "tables", "only", "verbose",
		"full", "freeze", "analyze", "local", "no_write_to_binlog", "skip_locked",
		NULL };
	static const char *const readers[] = { "copy", "desc", "describe", "handler",
		NULL };
	bool is_copy = cnd_walk_has_verb(w, "copy");

	want_table(w, !is_copy, !cnc_sql_is_one_of(&w->verb, readers), true);
	/* VACUUM (options) t, but COPY (query) */
	if (!is_copy)
		cnc_sql_skip_parens(&w->x);
	skip_words(w, before);
}

static void
on_on(struct cnd_walk *w)
{
	static const char *const before[] = { "table", "only", NULL };
	static const char *const granted[] = { "table", "sequence", NULL };
	bool is_grant = cnd_walk_has_verb(w, "grant") || cnd_walk_has_verb(w, "revoke");

	/* CREATE INDEX … ON t, CREATE TRIGGER … ON t, GRANT … ON t */
	if ((w->classes & CND_CLASS_DDL) && w->depth == 0) {
		want_table(w, true, true, true);
		skip_words(w, is_grant ? granted : before);
	}
}

/* Words of DDL before another table: REFERENCES t, INHERITS (t, u), PARTITION OF t, ATTACH PARTITION t, LIKE t. */
static void
on_other_table(struct cnd_walk *w)
{
	if (w->classes & CND_CLASS_DDL)
		want_table(w, false, true, true);
}

/* CREATE RULE r AS ON INSERT TO t */
static void
on_to(struct cnd_walk *w)
{
	static const char *const events[] = { "select", "insert", "update", "delete",
		NULL };

	if (cnc_sql_is_one_of(&w->last[0], events))
		on_other_table(w);
}

/* SHOW COLUMNS IN t */
static void
on_in(struct cnd_walk *w)
{
	if (cnd_walk_has_verb(w, "show"))
		want_table(w, false, false, false);
}

/* MySQL's SET GLOBAL a = 1, SET PASSWORD = '…' */
static void
on_global(struct cnd_walk *w)
{
	if (cnd_walk_has_verb(w, "set"))
		w->classes |= CND_CLASS_DDL;
}

static void
on_of(struct cnd_walk *w)
{
	if (cnd_walk_was(w, "partition"))
		on_other_table(w);
}

static void
on_partition(struct cnd_walk *w)
{
	if (cnd_walk_was(w, "attach") || cnd_walk_was(w, "detach"))
		on_other_table(w);
}

/* CREATE TABLE t (LIKE u), or MySQL's CREATE TABLE t LIKE u */
static void
on_like(struct cnd_walk *w)
{
	if (cnc_sql_is_char(&w->last[0], '(') || cnc_sql_is_char(&w->last[0], ',') ||
		w->last[0].p == w->columns_after)
		on_other_table(w);
}

static void
on_select(struct cnd_walk *w)
{
	struct cnd_level *l = cnd_walk_level(w);

	end_list(w);
	l->is_writing = l->is_expression = false;
	w->classes |= CND_CLASS_READ;
}

/* FOR UPDATE, FOR NO KEY UPDATE, FOR SHARE, LOCK IN SHARE MODE */
static void
on_share(struct cnd_walk *w)
{
	if (cnd_walk_was(w, "for") || cnd_walk_was(w, "in") || cnd_walk_was(w, "key"))
		w->classes |= CND_CLASS_WRITE;
}

static void
on_set(struct cnd_walk *w)
{
	/* UPDATE t SET. Elsewhere SET may be an alias. */
	if (cnd_walk_level(w)->is_writing)
		end_list(w);
	cnd_walk_level(w)->is_writing = false;
}

static void
on_with(struct cnd_walk *w)
{
	/* NAME [(COLUMNS)] AS [NOT MATERIALIZED] (: not WITH TIME ZONE, WITH (options), WITH ORDINALITY */
	struct cnc_sql ahead = w->x;
	bool is_recursive = cnc_sql_take(&ahead, "recursive");
	struct cnc_sql_token t = cnc_sql_next(&ahead);

	if (!cnd_name_is_possible(&t))
		return;
	cnc_sql_skip_parens(&ahead);
	if (!cnc_sql_take(&ahead, "as"))
		return;
	(void)cnc_sql_take(&ahead, "not");
	(void)cnc_sql_take(&ahead, "materialized");
	if (!cnc_sql_take_char(&ahead, '('))
		return;
	cnd_walk_level(w)->is_with = true;
	cnd_walk_level(w)->is_recursive = is_recursive;
	if (is_recursive)
		(void)cnc_sql_next(&w->x);
}

/* COPY … TO PROGRAM */
static void
on_program(struct cnd_walk *w)
{
	if (cnd_walk_has_verb(w, "copy"))
		w->classes |= CND_CLASS_WRITE;
}

/* Sorted by the words. */
static const struct word {
	const char *word;
	void (*take)(struct cnd_walk *w);
} words[] = {
	{ "apply", on_join },
	{ "delete", on_delete },
	{ "for", on_for },
	{ "from", on_from },
	{ "global", on_global },
	{ "in", on_in },
	{ "index", on_index },
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
	{ "password", on_global },
	{ "persist", on_global },
	{ "persist_only", on_global },
	{ "program", on_program },
	{ "references", on_other_table },
	{ "replace", on_replace },
	{ "select", on_select },
	{ "sequence", on_sequence },
	{ "set", on_set },
	{ "share", on_share },
	{ "straight_join", on_join },
	{ "table", on_table },
	{ "tables", on_table },
	{ "to", on_to },
	{ "update", on_update },
	{ "using", on_using },
	{ "view", on_table },
	{ "with", on_with },
};

/* Words that end a list of tables. No server allows them as an alias, but MySQL has USE INDEX FOR ORDER BY. */
static bool
ends_list(const struct cnd_walk *w, const struct cnc_sql_token *t)
{
	static const char *const ends[] = { "where", "group", "having", "order", "limit",
		"union", NULL };

	/* T-SQL has no LIMIT */
	if (cnc_sql_is(t, "limit") && (w->x.rules & CNC_SQL_WORD_SIGNS))
		return false;
	if (cnc_sql_is_one_of(t, ends))
		return !cnd_walk_was(w, "for");
	return cnc_sql_is(t, "returning") && cnd_walk_is_postgresql(w);
}

static int
compare(const void *token, const void *entry)
{
	const struct cnc_sql_token *t = token;

	return cnc_sql_compare(t->p, t->n, ((const struct word *)entry)->word);
}

void
cnd_walk_word(struct cnd_walk *w, const struct cnc_sql_token *t)
{
	const struct word *word;

	if (t->kind != CNC_SQL_WORD)
		return;
	if (ends_list(w, t))
		end_list(w);
	/* after a point or AS, a word is a name; but PREPARE and CREATE have a statement after AS */
	if (cnc_sql_is_char(&w->last[0], '.') ||
		(cnd_walk_was(w, "as") && !cnd_walk_has_verb(w, "prepare") &&
			!(w->classes & CND_CLASS_DDL)))
		return;
	word = bsearch(t, words, N_ITEMS(words), sizeof(words[0]), compare);
	if (word != NULL)
		word->take(w);
}
