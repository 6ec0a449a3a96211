/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_ESCAPE_PARTS_H
#define COD_ESCAPE_PARTS_H

/* What the files of the escapes share: escape.c reads the statement and puts what becomes of it, escape_literal.c has
 * the escapes that are values, escape_call.c those that call functions and procedures. */

#include "escape.h"
#include "lex.h"

/* A text under construction. */
struct cod_escape_out {
	char *p;
	size_t n, room;
};

struct cod_translation {
	const struct cod_escape_options *options;
	struct cod_statement *statement;
	const char *begin; /* of the whole statement */
	struct cod_escape_out *out;
	unsigned depth;
	uint32_t n_markers; /* in the text */
	const char *state; /* of the first failure; behind it nothing is done */
};

/* Only the first failure counts. */
void cod_escape_fail(
	struct cod_translation *t, const char *state, const char *format, ...);
void cod_escape_put(struct cod_translation *t, const char *p, size_t n);
void cod_escape_put_text(struct cod_translation *t, const char *text);
/* Put what is in ODBC's SQL. */
void cod_escape_translate(struct cod_translation *t, struct cod_span text);

/* Behind the character, literal, name or comment that begins there. */
const char *cod_escape_next(const struct cod_translation *t, struct cod_span text);
/* What is between `text.p`, which is an opening one, and its closing one; 0, or -1: there is none. */
int cod_escape_closing(const struct cod_translation *t, struct cod_span text, char open,
	char close, struct cod_span *ret_inner);
/* Up to the next comma that is in no parentheses and no braces. */
struct cod_span cod_escape_argument(
	const struct cod_translation *t, struct cod_span *rest);
/* A literal, which is all that is left: what is between its quotes, none of which is in it; 0, or -1: it is none. */
int cod_escape_literal(struct cod_span text, struct cod_span *ret_inner);

/* The escapes: what is within their braces, without the keyword. */
void cod_escape_date(struct cod_translation *t, struct cod_span text);
void cod_escape_time(struct cod_translation *t, struct cod_span text);
void cod_escape_timestamp(struct cod_translation *t, struct cod_span text);
void cod_escape_guid(struct cod_translation *t, struct cod_span text);
void cod_escape_character(struct cod_translation *t, struct cod_span text);
void cod_escape_interval(struct cod_translation *t, struct cod_span text);
void cod_escape_function(struct cod_translation *t, struct cod_span text);
void cod_escape_call(struct cod_translation *t, struct cod_span text);
/* {?=call …}, behind the ? */
void cod_escape_value(struct cod_translation *t, struct cod_span text);

#endif
