/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_LEX_H
#define SQLSH_LEX_H

#include <stddef.h>

#include <stdint.h>

#include "core/sql.h"

/*
 * SQL as sqlsh needs it: with blanks as tokens, from a text that grows. What is unfinished at its end (a quote, a
 * comment) continues when more was appended. Text must be appended in whole lines.
 */
enum lex_kind {
	LEX_END = 0, /* no more, and nothing is open */
	LEX_OPEN, /* no more, within a quote or comment; see lex.mode */
	LEX_BLANK, /* white space, comments */
	LEX_WORD,
	LEX_NUMBER, /* or a variable */
	LEX_QUOTED,
	LEX_PLACEHOLDER, /* :name */
	LEX_CHAR /* or another token of a few bytes */
};

struct lex {
	uint32_t flags; /* enum cnc_sql_rule */
	size_t start; /* of the token that lex_next() gave */
	size_t pos; /* its end; where the next one begins */
	char mode; /* what is open: 0 nothing, else ' " ` [ $ * (a comment) */
	size_t open; /* where that begins */
	struct cnc_sql sql; /* its pointers count while something is open */
};

/* Rules of a backend by its name; those of the SQL standard and a little more if unknown. */
uint32_t lex_flags_for(const char *backend);

void lex_init(struct lex *l, uint32_t flags);
/* The next token of text[0…len). */
enum lex_kind lex_next(struct lex *l, const char *text, size_t len);

/* Whether it is part of a placeholder's name. */
bool lex_is_word_char(char c);

#endif
