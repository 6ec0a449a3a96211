/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_CATALOG_H
#define SQLSH_CATALOG_H

#include <stddef.h>

struct shell;

/* Names of tables and columns for completion: asked for when needed, forgotten after DDL. */
struct catalog_list {
	char **names; /* sorted, each once */
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
	CATALOG_COMMANDS
};

/* What is to be completed. */
struct catalog_prefix {
	enum catalog_what what;
	const char *text; /* a command without its backslash */
	size_t len;
};

void catalog_forget(struct catalog *c);
/* Ask for the names if they are not there. */
void catalog_load(struct catalog *c, struct shell *sh);

/*
 * The words that begin with a prefix (ASCII case ignored). Call with *state 0 first; NULL behind
 * the last. Static or borrowed.
 */
const char *catalog_complete(
	const struct catalog *c, const struct catalog_prefix *prefix, size_t *state);
/* Whether a table must follow this word ("from"; ASCII case ignored). */
int catalog_is_before_table(const char *word, size_t len);

#endif
