/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_SPLIT_H
#define SQLSH_SPLIT_H

#include <stdint.h>
#include "lex.h"
#include "text.h"

/*
 * Cuts lines of input into statements. A semicolon ends a statement, unless it is within a quote, a
 * comment, or the body of a trigger, procedure or function (BEGIN … END;).
 */

enum split_body {
	SPLIT_FIRST_WORD = 0, /* no word was seen yet */
	SPLIT_CREATE, /* CREATE was seen, but not yet the kind of object */
	SPLIT_ROUTINE, /* CREATE TRIGGER and the like: BEGIN will open a body */
	SPLIT_PLAIN /* a semicolon ends the statement */
};

struct split {
	struct lex lex;
	struct text text; /* the text from the beginning of the statement */
	size_t first; /* offset of the first word; SIZE_MAX if only blanks came */
	unsigned long line; /* line of input, from 1, in which text[counted] is */
	size_t counted;
	unsigned long first_line; /* line of input in which the first word is */
	enum split_body body;
	unsigned depth; /* how many BEGIN and CASE are open in a body */
	unsigned parens;
	int is_after_end; /* the previous word was END */
	int is_after_dot;
};

struct split_statement {
	const char *sql; /* borrowed until split_next() or split_add() */
	size_t len;
	unsigned long line; /* line of input in which the statement begins */
};

void split_init(struct split *s, uint32_t lex_flags);
void split_finish(struct split *s);
/* Forget an unfinished statement. `line` is the number of the next line of input. */
void split_reset(struct split *s, unsigned long line);

/* Append whole lines, each with its newline (the last line of an input may lack it). */
void split_add(struct split *s, const char *lines, size_t len);
/* Get the next complete statement, without its semicolon. 1; 0: none is complete yet. */
int split_next(struct split *s, struct split_statement *ret_statement);
/* At the end of input, get the rest, complete or not. 1; 0: nothing is left. */
int split_rest(struct split *s, struct split_statement *ret_statement);

/* Whether a statement has begun and is not complete. */
int split_is_pending(const struct split *s);
/* Whether the next line begins inside a quote or comment. */
int split_is_quoted(const struct split *s);
/* A character for the prompt: = nothing pending, - a statement, ( in parentheses, ' " ` [ $ * an open
 * quote or comment. */
char split_prompt(const struct split *s);

#endif
