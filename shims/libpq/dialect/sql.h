/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CPQ_DIALECT_SQL_H
#define CPQ_DIALECT_SQL_H

#include <stddef.h>
#include <stdint.h>

#include "core/sql.h"

#include "../expbuffer.h"

/*
 * Read an SQL text before it is sent to a server that is not PostgreSQL: find the placeholders, the
 * ends of statements, and their first words. Every text is accepted. If a text is not SQL, the
 * server refuses it.
 */

/* The rules for reading SQL in which $1 is a placeholder. */
enum cpq_sql_rules {
	CPQ_SQL_MYSQL = CNC_SQL_MYSQL | CNC_SQL_DOLLAR,
	CPQ_SQL_SQLITE = CNC_SQL_SQLITE | CNC_SQL_DOLLAR,
	CPQ_SQL_OTHER =
		CNC_SQL_ANSI | CNC_SQL_BACKQUOTES | CNC_SQL_WORD_DOLLAR | CNC_SQL_DOLLAR
};

/* Read the next token. Tokens in a comment that the server executes are returned, too. */
struct cnc_sql_token cpq_sql_next(struct cnc_sql *sql);

/* The parameters of a translated text, by placeholder. */
struct cpq_places {
	/* for each ?, the number of its parameter, from 1; NULL: the placeholders are numbered */
	uint16_t *order;
	size_t n;
	/* the highest number after a $; 0: there are none, and the text is unchanged */
	unsigned highest;
};

/* How the server writes placeholders. */
enum cpq_placeholder {
	CPQ_PLACEHOLDER_NUMBERED, /* ?7 */
	CPQ_PLACEHOLDER_PLAIN /* ?, in the order of the text */
};

/* Append the text with the server's placeholders in place of $1. Returns 0; -1 without memory; 1 if a placeholder's number has no parameter (places->highest is that number). */
int cpq_sql_translate(struct cnc_sql sql, enum cpq_placeholder style, PQExpBuffer out,
	struct cpq_places *ret_places);
void cpq_places_finish(struct cpq_places *places);

#define CPQ_TAG_MAX 40u

/* The name of a statement in its command tag, such as "CREATE TABLE". */
struct cpq_head {
	char tag[CPQ_TAG_MAX];
	int is_counted; /* the tag ends with the number of rows */
	int has_many; /* it may have several results; the last of them is a command */
};

/* Read one statement and its semicolon. 1; 0: no statement is left. */
int cpq_sql_head(struct cnc_sql *sql, struct cpq_head *ret_head);
/* Does the text have at most one statement? */
int cpq_sql_is_single(struct cnc_sql sql);

#endif
