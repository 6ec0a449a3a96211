/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CPQ_DIALECT_SQL_H
#define CPQ_DIALECT_SQL_H

#include <stddef.h>
#include <stdint.h>

#include "../expbuffer.h"

/*
 * The little that has to be known of an SQL text before another kind of server reads it: where its
 * placeholders are, where a statement ends, and what its first words say. No text is too broken
 * for it: what nobody can read is the server's to refuse.
 */

/* How a server reads SQL. */
enum cpq_sql_rule {
	CPQ_SQL_BACKSLASH = 1, /* a backslash in '' or "" hides what follows it */
	CPQ_SQL_HASH = 2, /* # begins a comment */
	CPQ_SQL_DASH_BLANK = 4, /* -- begins one only before a blank */
	CPQ_SQL_BRACKETS = 8, /* [name] is a quoted name */
	CPQ_SQL_BANG = 16 /* a comment that begins with ! is carried out */
};

enum cpq_token_kind {
	CPQ_TOKEN_END,
	CPQ_TOKEN_WORD, /* a name or a number */
	CPQ_TOKEN_PLACEHOLDER, /* $1 */
	CPQ_TOKEN_QUOTED, /* a text or name with its quotes; a doubled quote begins the next one */
	CPQ_TOKEN_OTHER /* one byte */
};

struct cpq_token {
	enum cpq_token_kind kind;
	const char *p;
	size_t n;
};

/* The length of the character at `start` if it is a whole one of several bytes, else 0. */
typedef unsigned cpq_sql_character(const char *start, const char *end);

struct cpq_sql {
	const char *at; /* what was not read yet, up to a zero byte */
	unsigned rules;
	/* of a character set in which a backslash or a quote can be the end of a character; else NULL */
	cpq_sql_character *character;
};

/* The next token, past blanks and comments. */
struct cpq_token cpq_sql_next(struct cpq_sql *sql);
/* Whether it is that word; upper and lower case are the same. */
int cpq_token_is(const struct cpq_token *t, const char *word);
int cpq_token_is_byte(const struct cpq_token *t, char byte);

/* Where values go in a text that was translated. */
struct cpq_places {
	uint16_t *
		order; /* of each ?, the number of its value, from 1; NULL: they are numbered */
	size_t n;
	unsigned highest; /* of $1 …; 0: there is none, and the text is as it was */
};

/* How placeholders are written by the server. */
enum cpq_placeholder {
	CPQ_PLACEHOLDER_NUMBERED, /* ?7 */
	CPQ_PLACEHOLDER_PLAIN /* ?, in the order of the text */
};

/* Append the text with the server's placeholders in place of $1. 0; -1 no memory; 1 a number that no
 * parameter has: places->highest holds it. */
int cpq_sql_translate(struct cpq_sql sql, enum cpq_placeholder style, PQExpBuffer out,
	struct cpq_places *ret_places);
void cpq_places_finish(struct cpq_places *places);

#define CPQ_TAG_MAX 40u

/* What a statement is called when it is done. */
struct cpq_head {
	char tag[CPQ_TAG_MAX];
	int is_counted; /* the number of rows belongs to it */
	int has_many; /* it may have several results; the last of them is a command */
};

/* Read one statement and its semicolon: 1; 0 when there is none left. */
int cpq_sql_head(struct cpq_sql *sql, struct cpq_head *ret_head);
/* Whether there is one statement at most. */
int cpq_sql_is_single(struct cpq_sql sql);

#endif
