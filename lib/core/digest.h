/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNC_DIGEST_H
#define CNC_DIGEST_H

#include <stddef.h>
#include <stdint.h>

/*
 * What else a reader must know so that no literal gets into a digest. These bits stand beside those of enum
 * cnc_sql_rule.
 */
enum cnc_digest_rule {
	/* The server may read "a" as a text. So it is a value, unless its place makes it a name. */
	CNC_DIGEST_UNSURE_NAMES = 1 << 29,
	/* The server may execute a comment that begins with !, and a SET may change how it reads the statements behind it. So
	 * all that follows is one value. */
	CNC_DIGEST_UNSURE_REST = 1 << 30
};

/*
 * The digest of a statement: its text with ? in place of literals and placeholders, one ? for a list of them,
 * words in lower case, one form of blanks, and no comments. Statements that differ in values only have the
 * same digest. No byte of a literal or comment gets into the digest, if the rules are those by which the server
 * reads the text.
 *
 * Writes at most `size` bytes to `to`, without a zero byte; to may be NULL if size is 0. Returns the length of
 * the whole digest, which may be more. *ret_hash is the hash of the whole digest, even if `size` cuts the
 * text. `rules`: enum cnc_sql_rule and enum cnc_digest_rule.
 */
size_t cnc_digest(const char *sql, size_t len, uint32_t rules, char *to, size_t size,
	uint64_t *ret_hash);

/* A hash of any bytes, which finds what is known of a text that came before. */
uint64_t cnc_digest_key(const void *bytes, size_t len, uint64_t seed);

#endif
