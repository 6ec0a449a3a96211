/* SPDX-License-Identifier: BSD-2-Clause */
#include "catalog.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

void
catalog_forget(struct catalog *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		free(c->names[i]);
	free(c->names);
	*c = (struct catalog){ 0 };
}

static void
add_name(struct catalog *c, const char *name)
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
add_column_of(struct catalog *c, const cenote_result *res, const char *column)
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
sort_names(struct catalog *c)
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

void
catalog_load(struct catalog *c, struct shell *sh)
{
	static const struct {
		uint32_t kind;
		const char *column;
	} lists[] = { { CENOTE_CATALOG_TABLES, "table_name" },
		{ CENOTE_CATALOG_COLUMNS, "column_name" } };
	size_t i;

	if (c->is_loaded || !cenote_is_connected(sh->conn))
		return;
	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		cenote_result *res;

		if (session_catalog(sh, lists[i].kind, NULL, 1, &res) != RUN_OK)
			return;
		add_column_of(c, res, lists[i].column);
		cenote_result_destroy(res);
	}
	sort_names(c);
	c->is_loaded = 1;
}

/* The i-th of all words that there are: keywords, then names. */
static const char *
nth_word(const struct catalog *c, size_t i)
{
	if (i < N_KEYWORDS)
		return keywords[i];
	i -= N_KEYWORDS;
	return i < c->n ? c->names[i] : NULL;
}

const char *
catalog_complete(const struct catalog *c, const char *prefix, size_t len, size_t *state)
{
	int is_command = len > 0 && *prefix == '\\';
	const char *word;

	if (is_command) {
		prefix++;
		len--;
	}
	do
		word = is_command ? cmd_name((*state)++) : nth_word(c, (*state)++);
	while (word && strncasecmp(word, prefix, len) != 0);
	return word;
}
