/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_LEX_H
#define SQLSH_LEX_H

#include <stddef.h>

#include <stdint.h>

#include "core/sql.h"

/*
 * Tokens of SQL, including blanks, from a text that grows. A quote or comment that is open at the end
 * continues when more text is appended. Text must be appended in whole lines.
 */
enum lex_kind {
	LEX_END = 0, /* the end, and nothing is open */
	LEX_OPEN, /* the end, within a quote or comment; see lex.mode */
	LEX_BLANK, /* white space, comments */
	LEX_WORD,
	LEX_NUMBER, /* or a variable */
	LEX_QUOTED,
	LEX_PLACEHOLDER, /* :name */
	LEX_CHAR /* or another token of a few bytes */
};

struct lex {
	uint32_t flags; /* enum cnc_sql_rule */
	size_t start; /* beginning of the last token */
	size_t pos; /* end of the last token */
	char mode; /* the open quote or comment: 0 none, else ' " ` [ $ * (a comment) */
	size_t open; /* where the open quote or comment begins */
	struct cnc_sql sql; /* the pointers in it are valid while `mode` is not 0 */
};

/* The rules of a backend; for an unknown one, the SQL standard's and a few more. */
uint32_t lex_flags_for(const char *backend);

void lex_init(struct lex *l, uint32_t flags);
/* The next token of text[0…len). */
enum lex_kind lex_next(struct lex *l, const char *text, size_t len);

/* Whether `c` can be part of a placeholder's name. */
bool lex_is_word_char(char c);

#endif
