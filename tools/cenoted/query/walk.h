/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_WALK_H
#define CND_WALK_H

#include "summary.h"

/*
 * What the files that make a summary share. summary.c: texts, statements and parentheses; words.c: the words that
 * have a meaning inside a statement; names.c: names.
 */

#define CND_WALK_DEPTH 64u
#define CND_WALK_CTES  16u

/* One level of parentheses. */
struct cnd_level {
	bool is_list; /* in a list of tables: a comma is followed by a table */
	bool wants_table; /* the next name is a table */
	bool is_writing; /* the tables of this list are written */
	bool takes_columns; /* the table may have a list of columns: NAME (…) is no function */
	bool is_cte_query; /* the query of a common table expression */
	bool is_expression; /* of a function whose FROM names no table: extract(… from …) */
	bool is_with; /* in the list of WITH: the next name is a common table expression */
	bool is_recursive;
};

/* A common table expression. */
struct cnd_cte {
	struct cnc_sql_token name;
	uint32_t depth; /* of its WITH */
	bool is_ready; /* its query has ended: from now on its name means it, and not a table */
};

/* Where the reader of a text is, and what it has found. */
struct cnd_walk {
	struct cnc_sql x;
	struct cnd_summary *out;
	struct cnc_sql_token verb; /* END: the statement has not begun */
	/* the last two tokens, the newest first */
	struct cnc_sql_token last[2];
	struct cnd_level levels[CND_WALK_DEPTH];
	uint32_t depth;
	struct cnd_cte ctes[CND_WALK_CTES];
	uint32_t n_ctes;
	uint32_t n_statements;
	const char *columns_after; /* the table that a list of columns may follow */
	/* of this statement */
	uint32_t classes;
	uint32_t first_table;
	bool is_loose; /* another statement may begin at each of its words */
	bool is_explain;
	bool is_analyzed; /* EXPLAIN ANALYZE runs the statement */
};

static inline struct cnd_level *
cnd_walk_level(struct cnd_walk *w)
{
	return &w->levels[w->depth];
}

static inline bool
cnd_walk_was(const struct cnd_walk *w, const char *word)
{
	return cnc_sql_is(&w->last[0], word);
}

static inline bool
cnd_walk_has_verb(const struct cnd_walk *w, const char *word)
{
	return cnc_sql_is(&w->verb, word);
}

/* Whether the text is PostgreSQL's. */
static inline bool
cnd_walk_is_postgresql(const struct cnd_walk *w)
{
	return (w->x.rules & CNC_SQL_DOLLAR_QUOTES) != 0;
}

static inline struct cnc_sql_token
cnd_walk_peek(const struct cnd_walk *w)
{
	struct cnc_sql ahead = w->x;

	return cnc_sql_next(&ahead);
}

static inline void
cnd_walk_remember(struct cnd_walk *w, struct cnc_sql_token t)
{
	w->last[1] = w->last[0];
	w->last[0] = t;
}

/* names.c */
/* May the token be the name of a table? SQLite allows texts. */
bool cnd_name_is_possible(const struct cnc_sql_token *t);
/* Whether the name has escapes, so that its bytes are not the name. */
bool cnd_name_has_escapes(const struct cnc_sql_token *t);
/* Whether both are surely the same name. */
bool cnd_name_equals(const struct cnc_sql_token *a, const struct cnc_sql_token *b);
/* Read the rest of SCHEMA.NAME; `name` has the first part. */
void cnd_name_read_rest(struct cnc_sql *x, struct cnd_sql_name *name);
void cnd_names_add(struct cnd_sql_names *names, const struct cnd_sql_name *name);

/* words.c */
/* Do what the word means inside a statement. */
void cnd_walk_word(struct cnd_walk *w, const struct cnc_sql_token *t);
/* The word of the statement is followed by a table, with or without TABLE. */
void cnd_walk_verb_of_table(struct cnd_walk *w);
/* Add the name, which begins with this token, to the tables. */
void cnd_walk_table(struct cnd_walk *w, struct cnc_sql_token t);
/* A parenthesis follows the last token: if that is a name, add it to the functions. */
void cnd_walk_function(struct cnd_walk *w);
/* Whether the arguments of the function may have FROM or USING. */
bool cnd_walk_takes_from(const struct cnc_sql_token *function);
/* Whether the first argument of the function is the name of a sequence. */
bool cnd_walk_takes_sequence(
	const struct cnd_walk *w, const struct cnc_sql_token *function);

#endif
