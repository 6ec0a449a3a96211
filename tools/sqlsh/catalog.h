/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_CATALOG_H
#define SQLSH_CATALOG_H

#include <stddef.h>

struct shell;

/* Names of tables and columns for completion. They are loaded at the first use and discarded after
 * DDL. */
struct catalog_list {
	char **names; /* sorted, without duplicates */
	size_t n, cap;
};

struct catalog {
	struct catalog_list tables;
	struct catalog_list columns;
	int is_loaded;
};

enum catalog_what {
	CATALOG_ANY, /* keywords, tables and columns */
	CATALOG_TABLES,
	CATALOG_COMMANDS,
	CATALOG_ADMIN, /* commands to cenoted */
	CATALOG_NONE /* no word is known */
};

/* The word to complete. */
struct catalog_prefix {
	enum catalog_what what;
	const char *text; /* for a command: without the backslash */
	size_t len;
};

void catalog_forget(struct catalog *c);
/* Load the names, unless they are loaded. */
void catalog_load(struct catalog *c, struct shell *sh);

/* The words that begin with the prefix (ASCII case ignored). Call it first with *state 0. NULL
 * after the last word. The words are static or borrowed. */
const char *catalog_complete(
	const struct catalog *c, const struct catalog_prefix *prefix, size_t *state);
/* Whether a table's name must follow this word, such as "from" (ASCII case ignored). */
int catalog_is_before_table(const char *word, size_t len);

#endif
