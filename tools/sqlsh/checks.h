/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_CHECKS_H
#define SQLSH_CHECKS_H

#include "text.h"

/*
 * The CHECK constraints in a CREATE TABLE statement, which is all that SQLite tells of them: for
 * each a call with its name ("" if it has none) and its "CHECK (…)".
 */
void checks_find(const char *sql, unsigned lex_flags,
	void (*found)(void *user, const char *name, const char *definition), void *user);

#endif
