/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_CHECKS_H
#define SQLSH_CHECKS_H

#include <stdint.h>
#include "text.h"

/* Find the CHECK constraints in a CREATE TABLE statement, since SQLite does not list them. Calls
 * found() for each, with its name ("" if it has none) and its "CHECK (...)". */
void checks_find(const char *sql, uint32_t lex_flags,
	void (*found)(void *user, const char *name, const char *definition), void *user);

#endif
