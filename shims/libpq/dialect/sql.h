/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CPQ_DIALECT_SQL_H
#define CPQ_DIALECT_SQL_H

#include <stddef.h>
#include <stdint.h>

#include "core/sql.h"

#include "../expbuffer.h"

/*
 * What the shim must know of an SQL text before it sends the text to a server that is not PostgreSQL: where the
 * placeholders are, where a statement ends, and what its first words are. It accepts every text. The server
 * refuses text that is not SQL.
 */

/* The rules for reading SQL in which $1 is a placeholder. */
enum cpq_sql_rules {
	CPQ_SQL_MYSQL = CNC_SQL_MYSQL | CNC_SQL_DOLLAR,
	CPQ_SQL_SQLITE = CNC_SQL_SQLITE | CNC_SQL_DOLLAR,
	CPQ_SQL_OTHER =
		CNC_SQL_ANSI | CNC_SQL_BACKQUOTES | CNC_SQL_WORD_DOLLAR | CNC_SQL_DOLLAR
};

/* The next token. It also returns tokens inside a comment that the server executes. */
struct cnc_sql_token cpq_sql_next(struct cnc_sql *sql);

/* Where values go in a text that was translated. */
struct cpq_places {
	uint16_t *
		order; /* for each ?, the number of its value, from 1; NULL: placeholders are numbered */
	size_t n;
	unsigned
		highest; /* the highest $ number; 0: no placeholders, and the text is unchanged */
};

/* How placeholders are written by the server. */
enum cpq_placeholder {
	CPQ_PLACEHOLDER_NUMBERED, /* ?7 */
	CPQ_PLACEHOLDER_PLAIN /* ?, in the order of the text */
};

/* Append the text with the server's placeholders in place of $1. Returns 0; -1 without memory; 1 if a placeholder's number has no parameter (places->highest is that number). */
int cpq_sql_translate(struct cnc_sql sql, enum cpq_placeholder style, PQExpBuffer out,
	struct cpq_places *ret_places);
void cpq_places_finish(struct cpq_places *places);

#define CPQ_TAG_MAX 40u

/* The name of a statement in its command tag. */
struct cpq_head {
	char tag[CPQ_TAG_MAX];
	int is_counted; /* the number of rows belongs to it */
	int has_many; /* it may have several results; the last of them is a command */
};

/* Read one statement and its semicolon: 1; 0 when there is none left. */
int cpq_sql_head(struct cnc_sql *sql, struct cpq_head *ret_head);
/* Whether there is one statement at most. */
int cpq_sql_is_single(struct cnc_sql sql);

#endif
