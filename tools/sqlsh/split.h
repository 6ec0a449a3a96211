/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_SPLIT_H
#define SQLSH_SPLIT_H

#include <stdint.h>
#include "lex.h"
#include "text.h"

/*
 * Cuts lines of input into statements. A semicolon ends one, unless it is within a quote, a
 * comment, or the body of a trigger, procedure or function (BEGIN … END;).
 */

enum split_body {
	SPLIT_FIRST_WORD = 0, /* no word was seen yet */
	SPLIT_CREATE, /* CREATE, and nothing yet that tells of what */
	SPLIT_ROUTINE, /* CREATE TRIGGER and the like: BEGIN will open a body */
	SPLIT_PLAIN /* semicolons end it */
};

struct split {
	struct lex lex;
	struct text text; /* from the statement's begin on */
	size_t first; /* where its first word is; SIZE_MAX if only blanks came */
	unsigned long line; /* of input (from 1), that text[counted] is in */
	size_t counted;
	unsigned long first_line; /* that the first word is in */
	enum split_body body;
	unsigned depth; /* of BEGIN and CASE in a body */
	unsigned parens;
	int is_after_end; /* the word before was END */
	int is_after_dot;
};

struct split_statement {
	const char *sql; /* borrowed until split_next() or split_add() */
	size_t len;
	unsigned long line; /* of input, that it begins in */
};

void split_init(struct split *s, uint32_t lex_flags);
void split_finish(struct split *s);
/* Forget what is unfinished. `line` is the number of the next line that comes. */
void split_reset(struct split *s, unsigned long line);

/* Append whole lines, each with its newline (the last line of an input may lack it). */
void split_add(struct split *s, const char *lines, size_t len);
/* The next complete statement, without its semicolon: 1, or 0 when there is none yet. */
int split_next(struct split *s, struct split_statement *ret_statement);
/* At the end of input: what is left, complete or not. 0 if it is nothing. */
int split_rest(struct split *s, struct split_statement *ret_statement);

/* Whether a statement has begun that is not ended. */
int split_is_pending(const struct split *s);
/* Whether a line that comes now is in the midst of a quote or comment. */
int split_is_quoted(const struct split *s);
/* For the prompt: = nothing pending, - a statement, ( in parentheses, ' " ` [ $ *. */
char split_prompt(const struct split *s);

#endif
