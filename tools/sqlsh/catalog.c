/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of tables and columns for completion. interactive.c completes; run.c and session.c discard
 * the names when they may have changed. The state is struct catalog.
 */
#include "catalog.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "admin.h"
#include "cmd.h"
#include "shell.h"

#define CATALOG_NAMES_MAX 100000u

static const char *const keywords[] = { "ABORT", "ALL", "ALTER", "ANALYZE", "AND", "AS",
	"ASC", "ATTACH", "BEGIN", "BETWEEN", "BY", "CASCADE", "CASE", "CAST", "CHECK",
	"COLLATE", "COLUMN", "COMMIT", "CONFLICT", "CONSTRAINT", "CREATE", "CROSS",
	"CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "DATABASE", "DEFAULT",
	"DEFERRED", "DELETE", "DESC", "DETACH", "DISTINCT", "DROP", "ELSE", "END",
	"ESCAPE", "EXCEPT", "EXISTS", "EXPLAIN", "FETCH", "FIRST", "FOREIGN", "FROM",
	"FULL", "FUNCTION", "GRANT", "GROUP", "HAVING", "IMMEDIATE", "IN", "INDEX",
	"INNER", "INSERT", "INTERSECT", "INTO", "IS", "JOIN", "KEY", "LEFT", "LIKE",
	"LIMIT", "MATERIALIZED", "NATURAL", "NOT", "NULL", "OFFSET", "ON", "OR", "ORDER",
	"OUTER", "OVER", "PARTITION", "PRAGMA", "PRIMARY", "PROCEDURE", "RECURSIVE",
	"REFERENCES", "RELEASE", "RENAME", "REPLACE", "RETURNING", "REVOKE", "RIGHT",
	"ROLLBACK", "ROWS", "SAVEPOINT", "SCHEMA", "SELECT", "SET", "TABLE", "TEMPORARY",
	"THEN", "TO", "TRANSACTION", "TRIGGER", "TRUNCATE", "UNION", "UNIQUE", "UPDATE",
	"USING", "VACUUM", "VALUES", "VIEW", "WHEN", "WHERE", "WINDOW", "WITH" };

#define N_KEYWORDS (sizeof(keywords) / sizeof(keywords[0]))

/* After \admin. */
static const char *const admin_names[] = {
#define NAME(name, args, help) name,
	ADMIN_COMMANDS(NAME)
#undef NAME
};

#define N_ADMIN_NAMES (sizeof(admin_names) / sizeof(admin_names[0]))

/* Words that only a table's name can follow. */
static const char *const before_table[] = { "FROM", "INTO", "JOIN", "TABLE", "UPDATE",
	"copy", "d" };

static void
forget_list(struct catalog_list *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		free(c->names[i]);
	free(c->names);
	*c = (struct catalog_list){ 0 };
}

void
catalog_forget(struct catalog *c)
{
	forget_list(&c->tables);
	forget_list(&c->columns);
	c->is_loaded = 0;
}

static void
add_name(struct catalog_list *c, const char *name)
{
	if (!*name || c->n >= CATALOG_NAMES_MAX)
		return;
	if (c->n == c->cap) {
		c->cap = c->cap ? c->cap * 2 : 64;
		c->names = mem_resize(c->names, c->cap, sizeof(c->names[0]));
	}
	c->names[c->n++] = mem_dup(name, strlen(name));
}

static void
add_column_of(struct catalog_list *c, const cenote_result *res, const char *column)
{
	int64_t col = cenote_result_find_column(res, column);
	uint64_t n_rows = cenote_result_n_rows(res), row;

	for (row = 0; col >= 0 && row < n_rows; row++) {
		const char *name = cenote_result_text(res, row, (uint32_t)col, NULL);

		add_name(c, name ? name : "");
	}
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void
sort_names(struct catalog_list *c)
{
	size_t i, n = 0;

	if (c->n == 0)
		return;
	qsort(c->names, c->n, sizeof(c->names[0]), compare_names);
	for (i = 0; i < c->n; i++) {
		if (n > 0 && strcmp(c->names[i], c->names[n - 1]) == 0)
			free(c->names[i]);
		else
			c->names[n++] = c->names[i];
	}
	c->n = n;
}

static int
load_list(struct catalog_list *c, struct shell *sh, uint32_t kind, const char *column)
{
	cenote_result *res;

	if (session_catalog(sh, kind, NULL, 1, &res) != RUN_OK)
		return 0;
	add_column_of(c, res, column);
	cenote_result_destroy(res);
	sort_names(c);
	return 1;
}

void
catalog_load(struct catalog *c, struct shell *sh)
{
	if (c->is_loaded || !cenote_is_connected(sh->conn))
		return;
	catalog_forget(c);
	c->is_loaded = load_list(&c->tables, sh, CENOTE_CATALOG_TABLES, "table_name") &&
		       load_list(&c->columns, sh, CENOTE_CATALOG_COLUMNS, "column_name");
}

int
catalog_is_before_table(const char *word, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof(before_table) / sizeof(before_table[0]); i++) {
		if (strlen(before_table[i]) == len &&
			strncasecmp(before_table[i], word, len) == 0)
			return 1;
	}
	return 0;
}

static const char *
nth_of(const struct catalog_list *c, size_t i)
{
	return i < c->n ? c->names[i] : NULL;
}

/* The i-th word of all words of a kind. */
static const char *
nth_word(const struct catalog *c, enum catalog_what what, size_t i)
{
	if (what == CATALOG_NONE)
		return NULL;
	if (what == CATALOG_COMMANDS)
		return cmd_name(i);
	if (what == CATALOG_ADMIN)
		return i < N_ADMIN_NAMES ? admin_names[i] : NULL;
	if (what == CATALOG_TABLES)
		return nth_of(&c->tables, i);
	if (i < N_KEYWORDS)
		return keywords[i];
	i -= N_KEYWORDS;
	return i < c->tables.n ? c->tables.names[i]
			       : nth_of(&c->columns, i - c->tables.n);
}

const char *
catalog_complete(
	const struct catalog *c, const struct catalog_prefix *prefix, size_t *state)
{
	const char *word;

	do
		word = nth_word(c, prefix->what, (*state)++);
	while (word && strncasecmp(word, prefix->text, prefix->len) != 0);
	return word;
}
