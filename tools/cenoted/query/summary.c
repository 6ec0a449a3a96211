/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Find out from the tokens of a text what its statements do: their classes, and the tables and functions that they name.
 * query_rules.c, worker/query.c and `cenoted --explain-sql` call it. It owns no state.
 *
 * This is no parser. It knows the words that begin a statement, the words after which tables stand, and the words
 * that make a query write (words.c). A rule that denies must not be got round, so in doubt a text counts as more than it is.
 */
#include "walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_ITEMS(a) (sizeof(a) / sizeof((a)[0]))

/* ---- the statement's first word ---- */

/* Sorted by the words. */
static const struct verb {
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
	{ "disable", CND_CLASS_DDL },
	{ "discard", CND_CLASS_SESSION },
	{ "do", CND_CLASS_CALL },
	{ "drop", CND_CLASS_DDL },
	{ "enable", CND_CLASS_DDL },
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

static int
compare(const void *token, const void *entry)
{
	const struct cnc_sql_token *t = token;

	return cnc_sql_compare(t->p, t->n, ((const struct verb *)entry)->word);
}

/* 0: the word begins no known statement. */
static uint32_t
class_of_verb(const struct cnc_sql_token *t)
{
	const struct verb *verb = NULL;

	if (t->kind == CNC_SQL_WORD)
		verb = bsearch(t, verbs, N_ITEMS(verbs), sizeof(verbs[0]), compare);
	return verb != NULL ? verb->classes : 0;
}

/* ---- parentheses ---- */

static void
open_level(struct cnd_walk *w)
{
	struct cnd_level *outer = cnd_walk_level(w), *inner;
	const struct cnc_sql_token *last = &w->last[0];
	bool is_list = outer->wants_table;
	bool is_sequence = cnd_walk_takes_sequence(w, last);

	cnd_walk_function(w);
	if (w->depth + 1 == CND_WALK_DEPTH) {
		w->out->is_unsure = true;
		return;
	}
	outer->wants_table = false;
	inner = &w->levels[++w->depth];
	*inner = (struct cnd_level){
		.is_list = is_list,
		.wants_table = is_list || is_sequence, /* FROM (a JOIN b), nextval(s) */
		.is_writing = (is_list && outer->is_writing) || is_sequence,
		.is_expression = cnd_walk_takes_from(last),
		.is_cte_query =
			outer->is_with &&
			(cnc_sql_is(last, "as") || cnc_sql_is(last, "materialized")),
	};
}

static void
close_level(struct cnd_walk *w)
{
	bool is_cte_query = cnd_walk_level(w)->is_cte_query;

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
take_cte(struct cnd_walk *w, const struct cnc_sql_token *t)
{
	if (!cnd_walk_level(w)->is_with || !cnd_name_is_possible(t))
		return false;
	if (!cnd_walk_was(w, "with") && !cnc_sql_is_char(&w->last[0], ',')) {
		/* after the last query, the statement itself begins */
		if (cnc_sql_is_char(&w->last[0], ')') && !cnc_sql_is(t, "as")) {
			cnd_walk_level(w)->is_with = false;
			if (w->depth == 0 && class_of_verb(t) != 0)
				w->verb = *t;
		}
		return false;
	}
	if (w->n_ctes < CND_WALK_CTES)
		w->ctes[w->n_ctes++] = (struct cnd_cte){ .name = *t,
			.depth = w->depth,
			.is_ready = cnd_walk_level(w)->is_recursive };
	return true;
}

/* ---- statements ---- */

/* Whether BEGIN before this token begins a transaction, and not a block of statements. */
static bool
is_plain_begin(const struct cnc_sql_token *next)
{
	static const char *const words[] = { "work", "transaction", "tran", "deferred",
		"immediate", "exclusive", "concurrent", NULL };

	return next->kind != CNC_SQL_WORD || cnc_sql_is_one_of(next, words);
}

/* Whether other statements may begin inside of this one: in blocks of MariaDB and T-SQL, and after SET STATEMENT … FOR. */
static bool
is_block(const struct cnd_walk *w)
{
	struct cnc_sql_token next = cnd_walk_peek(w);

	if (cnd_walk_is_postgresql(w))
		return false;
	return (cnd_walk_has_verb(w, "set") && cnc_sql_is(&next, "statement")) ||
	       (cnd_walk_has_verb(w, "begin") && !is_plain_begin(&next));
}

static void
take_verb(struct cnd_walk *w, const struct cnc_sql_token *t)
{
	static const char *const of_tables[] = { "analyze", "analyse", "cluster", "copy",
		"desc", "describe", "handler", "lock", "optimize", "repair", "truncate",
		"vacuum", NULL };
	uint32_t classes = class_of_verb(t);
	struct cnc_sql_token next = cnd_walk_peek(w);

	w->verb = *t;
	w->classes |= classes != 0 ? classes : (uint32_t)CND_CLASS_OTHER;
	w->is_loose |= classes == 0 || is_block(w);
	w->is_explain |= cnc_sql_is(t, "explain");
	/* MariaDB's ANALYZE runs the statement that follows */
	if (cnc_sql_is_one_of(t, of_tables) &&
		(class_of_verb(&next) == 0 || cnc_sql_is(&next, "table")))
		cnd_walk_verb_of_table(w);
}

/* Take a word between EXPLAIN and its statement. PostgreSQL allows "analyze" with quotes, too, if it is in parentheses.
 * False: this is no such word. */
static bool
take_explain(struct cnd_walk *w, const struct cnc_sql_token *t)
{
	if (cnc_sql_is(t, "analyze") || cnc_sql_is(t, "analyse") ||
		t->kind == CNC_SQL_NAME)
		w->is_analyzed = true;
	else if (w->depth == 0 && class_of_verb(t) != 0)
		take_verb(w, t);
	else
		return false;
	return true;
}

/* Is it no table, although the next name would be one? */
static bool
is_statement_word(const struct cnd_walk *w, const struct cnc_sql_token *t)
{
	static const char *const reserved[] = { "select", "from", "table", "into", "with",
		NULL };
	static const char *const writes[] = { "delete", "insert", "merge", "update",
		NULL };

	return cnc_sql_is_one_of(t, reserved) ||
	       ((cnc_sql_is_char(&w->last[0], '(') || cnd_walk_was(w, "on")) &&
		       cnc_sql_is_one_of(t, writes));
}

/* LATERAL and ONLY, before a table. */
static bool
is_prefix(const struct cnd_walk *w, const struct cnc_sql_token *t)
{
	struct cnc_sql_token next;

	if (w->x.rules & CNC_SQL_DOLLAR_QUOTES)
		return cnc_sql_is(t, "lateral") || cnc_sql_is(t, "only");
	if (!cnc_sql_is(t, "lateral"))
		return false;
	next = cnd_walk_peek(w);
	return cnc_sql_is_char(&next, '(');
}

/* The next name would be a table. Is it this one? */
static bool
is_table(const struct cnd_walk *w, const struct cnc_sql_token *t)
{
	struct cnc_sql_token next;

	if (is_statement_word(w, t) || is_prefix(w, t))
		return false;
	if (!cnc_sql_is(t, "values"))
		return true;
	next = cnd_walk_peek(w);
	return !cnc_sql_is_char(&next, '(');
}

static void
take_name_or_word(struct cnd_walk *w, const struct cnc_sql_token *t)
{
	struct cnd_level *l = cnd_walk_level(w);

	if (l->wants_table && is_table(w, t)) {
		cnd_walk_table(w, *t);
		return;
	}
	l->wants_table = l->wants_table && is_prefix(w, t);
	cnd_walk_word(w, t);
	cnd_walk_remember(w, *t);
}

/* Whether the next token is a text with a statement in it: after PREPARE … FROM and EXECUTE IMMEDIATE. PostgreSQL has
 * neither. */
static bool
is_dynamic(const struct cnd_walk *w)
{
	if (cnd_walk_is_postgresql(w))
		return false;
	return (cnd_walk_was(w, "from") && cnd_walk_has_verb(w, "prepare")) ||
	       (cnd_walk_was(w, "immediate") && cnc_sql_is(&w->last[1], "execute"));
}

static void summarize(
	struct cnd_summary *out, const char *sql, size_t len, uint32_t rules);

/* The token should be a text with a statement in it: summarize that, too. If it has quotes, the statement is not known. */
static void
take_text(struct cnd_walk *w, const struct cnc_sql_token *t)
{
	size_t n;
	const char *p = cnc_sql_inside(t, &n);

	w->classes |= CND_CLASS_CALL;
	if (t->kind != CNC_SQL_TEXT || cnd_name_has_escapes(t))
		w->out->is_unsure = true;
	else
		summarize(w->out, p, n, w->x.rules);
}

/* Parentheses and commas; and what may stand between FROM and a table of MySQL: {OJ a JOIN b}, .t */
static bool
take_char(struct cnd_walk *w, const struct cnc_sql_token *t)
{
	struct cnd_level *l = cnd_walk_level(w);

	if (cnc_sql_is_char(t, '('))
		open_level(w);
	else if (cnc_sql_is_char(t, ')'))
		close_level(w);
	else if (cnc_sql_is_char(t, ','))
		l->wants_table = l->is_list;
	else if (cnc_sql_is_char(t, '{') && l->wants_table)
		(void)cnc_sql_next(&w->x);
	else
		return cnc_sql_is_char(t, '.') && l->wants_table;
	return true;
}

static void
take_word(struct cnd_walk *w, const struct cnc_sql_token *t)
{
	uint32_t classes = w->is_loose ? class_of_verb(t) : 0;

	/* TABLE begins a statement too, but mostly it stands inside of one */
	if (classes != 0 && !cnc_sql_is(t, "table")) {
		w->classes |= classes;
		w->verb = *t;
	}
	if (take_cte(w, t))
		cnd_walk_remember(w, *t);
	else
		take_name_or_word(w, t);
}

/* SET @@global.a = 1 */
static void
take_variable(struct cnd_walk *w, const struct cnc_sql_token *t)
{
	static const char *const global[] = { "@@global", "@@persist", "@@persist_only",
		NULL };
	const char *point = memchr(t->p, '.', t->n);
	struct cnc_sql_token scope = { CNC_SQL_WORD, false, t->p,
		point != NULL ? (size_t)(point - t->p) : 0 };

	if (cnd_walk_has_verb(w, "set") && cnc_sql_is_one_of(&scope, global))
		w->classes |= CND_CLASS_DDL;
}

static void
take_token(struct cnd_walk *w, const struct cnc_sql_token *t)
{
	bool is_begun = w->verb.kind != CNC_SQL_END;

	if (is_begun && is_dynamic(w)) {
		take_text(w, t);
	} else if (is_begun && cnd_walk_has_verb(w, "explain") && take_explain(w, t)) {
		cnd_walk_word(w, t);
	} else if (take_char(w, t)) {
		/* take_char() did all that is needed */
	} else if (!is_begun) {
		take_verb(w, t);
		cnd_walk_word(w, t);
	} else if (cnd_name_is_possible(t)) {
		take_word(w, t);
		return;
	} else {
		take_variable(w, t);
		cnd_walk_level(w)->wants_table = false;
	}
	cnd_walk_remember(w, *t);
}

/* The server may execute the comment, or skip it: its text is read in both ways. A statement may begin in it, or behind it. */
static void
take_mark(struct cnd_walk *w)
{
	struct cnc_sql_token next = cnd_walk_peek(w);

	w->classes |= class_of_verb(&next);
}

static void
begin_statement(struct cnd_walk *w)
{
	w->verb = w->last[0] = w->last[1] = (struct cnc_sql_token){ .kind = CNC_SQL_END };
	w->levels[0] = (struct cnd_level){ .is_list = false };
	w->depth = w->n_ctes = 0;
	w->classes = 0;
	w->first_table = w->out->tables.n;
	w->columns_after = NULL;
	/* T-SQL needs nothing between statements */
	w->is_loose = (w->x.rules & CNC_SQL_WORD_SIGNS) != 0;
	w->is_explain = w->is_analyzed = false;
}

static void
end_statement(struct cnd_walk *w)
{
	if (w->verb.kind == CNC_SQL_END && w->classes == 0)
		return;
	w->n_statements++;
	if (cnd_walk_has_verb(w, "copy") && !(w->classes & CND_CLASS_WRITE))
		w->classes |= CND_CLASS_READ;
	w->out->classes |=
		w->is_explain && !w->is_analyzed ? (uint32_t)CND_CLASS_READ : w->classes;
}

/* ---- texts ---- */

static void
walk_text(struct cnd_summary *out, const char *sql, size_t len, uint32_t rules)
{
	struct cnd_walk w = { .x = cnc_sql_begin(sql, len, rules), .out = out };
	struct cnc_sql_token t;

	begin_statement(&w);
	while ((t = cnc_sql_next(&w.x)).kind != CNC_SQL_END) {
		if (t.kind == CNC_SQL_BAD) {
			out->is_unsure = true;
		} else if (cnc_sql_is_char(&t, ';')) {
			end_statement(&w);
			begin_statement(&w);
		} else if (t.kind == CNC_SQL_MARK) {
			take_mark(&w);
		} else {
			take_token(&w, &t);
		}
	}
	end_statement(&w);
	if (w.n_statements > out->n_statements)
		out->n_statements = w.n_statements;
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

/* Whether a part of the text is a comment, an escape or a quoted name on some servers only. A pool with ODBC may have any
 * server. */
static bool
depends_on_server(const char *sql, size_t len)
{
	static const char marks[] = "\\#$`[";

	for (size_t i = 0; i < len; i++) {
		if ((sql[i] != '\0' && strchr(marks, sql[i]) != NULL) ||
			cnc_sql_opens_comment(sql + i, sql + len))
			return true;
	}
	return false;
}

/*
 * Read the text in each way in which a server may read it. The session's settings may be those of the client (PostgreSQL's
 * standard_conforming_strings, MySQL's sql_mode), and the version of the server decides whether it executes a comment.
 */
static void
summarize(struct cnd_summary *out, const char *sql, size_t len, uint32_t rules)
{
	bool has_backslash = len > 0 && memchr(sql, '\\', len) != NULL;
	bool has_quote = len > 0 && memchr(sql, '"', len) != NULL;
	bool is_postgresql = (rules & CNC_SQL_DOLLAR_QUOTES) != 0;
	bool is_mysql = (rules & CNC_SQL_HASH) != 0;
	uint32_t marks = is_mysql ? count_marks(sql, len, rules) : 0;

	out->is_unsure |=
		marks > 1 || (rules == CNC_SQL_UNKNOWN && depends_on_server(sql, len));
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
	ret_summary->classes = 0;
	ret_summary->n_statements = 0;
	ret_summary->is_unsure = false;
	ret_summary->tables.n = ret_summary->functions.n = 0;
	ret_summary->tables.is_cut = ret_summary->functions.is_cut = false;
	summarize(ret_summary, sql, len, dialect);
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
