/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_CATALOG_H
#define SQLSH_CATALOG_H

#include <stddef.h>

struct shell;

/* Names of tables and columns for completion: asked for when needed, forgotten after DDL. */
struct catalog {
	char **names; /* sorted, each once */
	size_t n, cap;
	int is_loaded;
};

void catalog_forget(struct catalog *c);
/* Ask for the names if they are not there. */
void catalog_load(struct catalog *c, struct shell *sh);

/*
 * The words that begin with a prefix (ASCII case ignored): keywords and names, or, behind a
 * backslash, commands. Call with *state 0 first; NULL behind the last. Static or borrowed.
 */
const char *catalog_complete(
	const struct catalog *c, const char *prefix, size_t len, size_t *state);

#endif
