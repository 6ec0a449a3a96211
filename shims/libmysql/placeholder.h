/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMY_PLACEHOLDER_H
#define CMY_PLACEHOLDER_H

#include <stddef.h>

/*
 * Rewrite a MySQL statement for a PostgreSQL server: `?` becomes $1, $2 … except in texts, names
 * and comments, by PostgreSQL's rules. Writes at most CMY_PLACEHOLDER_SIZE(n) bytes. Returns the
 * length.
 */
#define CMY_PLACEHOLDER_SIZE(n) ((n)*13 + 1)
size_t cmy_placeholders(const char *sql, size_t n, char *to);

#endif
