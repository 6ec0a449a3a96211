/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_LEX_H
#define SQLSH_LEX_H

#include <stddef.h>

/*
 * Just enough of SQL's lexical rules to know where a statement ends and what in it is a
 * placeholder. Works on a text that grows: what is unfinished at its end (a quote, a comment)
 * is gone on with, not begun anew, when more was appended. Text must be appended in whole
 * lines, so that no token but those is ever cut.
 */

/* What the servers do differently. */
enum lex_flag {
	LEX_BRACKETS = 1, /* [name] */
	LEX_BACKTICKS = 2, /* `name` */
	LEX_DOLLARS = 4, /* $tag$ … $tag$, and E'…' with backslashes */
	LEX_NESTED = 8, /* comments nest */
	LEX_BACKSLASH = 16 /* backslash escapes in every '…' and "…" */
};

enum lex_kind {
	LEX_END = 0, /* no more, and nothing is open */
	LEX_OPEN, /* no more, within a quote or comment; see lex.mode */
	LEX_BLANK, /* white space, comments */
	LEX_WORD,
	LEX_NUMBER,
	LEX_QUOTED,
	LEX_PLACEHOLDER, /* :name */
	LEX_CHAR
};

#define LEX_TAG_MAX 64

struct lex {
	unsigned flags;
	size_t start; /* of the token that lex_next() gave */
	size_t pos; /* its end; where the next one begins */
	/* What is open: 0 nothing, else ' " ` [ $ - (line comment) * (block comment). */
	char mode;
	int escape; /* backslashes escape in what is open */
	unsigned depth; /* of nested comments */
	char tag[LEX_TAG_MAX]; /* of the dollar quote, both $ included */
	size_t tag_len;
};

/* Rules of a backend by its name; those of the SQL standard and a little more if unknown. */
unsigned lex_flags_for(const char *backend);

void lex_init(struct lex *l, unsigned flags);
/* The next token of text[0…len). */
enum lex_kind lex_next(struct lex *l, const char *text, size_t len);

int lex_is_word_char(int c);

#endif
