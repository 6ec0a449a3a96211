/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_LEX_H
#define COD_LEX_H

#include <stddef.h>

#include "dialect.h"

/* SQL as far as escapes and parameter markers have to know it: what is quoted, and what is a comment. */

struct cod_span {
	const char *p, *end;
};

/* Whether a backslash escapes in a literal. `is_odd`: the session has the setting that reverses its server's rule
 * (MySQL: NO_BACKSLASH_ESCAPES; PostgreSQL: standard_conforming_strings off). */
int cod_lex_has_backslash(enum cod_dialect dialect, int is_odd);

/*
 * Behind what begins at `text.p` (which is not the end): a literal, a quoted name or a comment as a whole, as this
 * server reads them, else one character. `begin` is where the statement begins.
 */
const char *cod_lex_skip(
	enum cod_dialect dialect, int is_odd, const char *begin, struct cod_span text);
/* Whether a comment begins here that ends with its line. */
int cod_lex_is_line_comment(enum cod_dialect dialect, struct cod_span text);

size_t cod_lex_length(struct cod_span text);
/* As much of it as a message shows, for %.*s. */
int cod_lex_shown(struct cod_span text);
int cod_lex_is_blank(char c);
int cod_lex_is_word(char c);
/* Without blanks at both ends. */
struct cod_span cod_lex_trim(struct cod_span text);
/* The word at the beginning, which is taken off; empty if there is none. */
struct cod_span cod_lex_word(struct cod_span *text);
/* Whether it is this word, which is in upper case. */
int cod_lex_is(struct cod_span text, const char *word);

#endif
