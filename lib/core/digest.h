/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_DIGEST_H
#define CNC_DIGEST_H

#include <stddef.h>
#include <stdint.h>

/*
 * The digest of a statement: its text with ? in place of literals and placeholders, one ? for a list of them,
 * words in lower case, one form of blanks, and no comments. Statements that differ in values only have the
 * same digest.
 *
 * Writes at most `size` bytes to `to`, without a zero byte; to may be NULL if size is 0. Returns the length of
 * the whole digest, which may be more. *ret_hash is the hash of the whole digest, even if `size` cuts the
 * text. `rules`: enum cnc_sql_rule.
 */
size_t cnc_digest(const char *sql, size_t len, uint32_t rules, char *to, size_t size,
	uint64_t *ret_hash);

#endif
