/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMY_PLACEHOLDER_H
#define CMY_PLACEHOLDER_H

#include <stddef.h>

/*
 * A statement of MySQL's for a PostgreSQL server: `?` becomes $1, $2 … where it is no part of a text, a
 * name or a comment, as PostgreSQL reads these. Writes at most CMY_PLACEHOLDER_SIZE(n) bytes; the length.
 */
#define CMY_PLACEHOLDER_SIZE(n) ((n)*13 + 1)
size_t cmy_placeholders(const char *sql, size_t n, char *to);

#endif
