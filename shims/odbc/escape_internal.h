/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_ESCAPE_PARTS_H
#define COD_ESCAPE_PARTS_H

/* What the files of the escapes share. escape.c reads the statement and writes the translation,
 * escape_literal.c has the escapes that are values, and escape_call.c those that are calls. */

#include "escape.h"
#include "span.h"

/* A text under construction. */
struct cod_escape_out {
	char *p;
	size_t n, room;
};

struct cod_translation {
	const struct cod_escape_options *options;
	uint32_t rules; /* how the server reads the text: enum cnc_sql_rule */
	struct cod_statement *statement;
	struct cod_escape_out *out;
	unsigned depth;
	uint32_t n_markers; /* markers so far, including those that were left out */
	const char *
		state; /* SQLSTATE of the first failure, after which nothing is written */
};

/* Note a failure. Only the first one counts. */
void cod_escape_fail(
	struct cod_translation *t, const char *state, const char *format, ...);
void cod_escape_put(struct cod_translation *t, const char *p, size_t n);
void cod_escape_put_span(struct cod_translation *t, struct cod_span text);
void cod_escape_put_text(struct cod_translation *t, const char *text);
/* Translate a part of the statement, which ends where a token ends. */
void cod_escape_translate(struct cod_translation *t, struct cod_span text);

/*
 * Find the token that closes what `x` has just opened, and go past it. *ret_inner is the text between
 * the two. False: it is not closed.
 */
bool cod_escape_close(
	struct cnc_sql *x, char open, char close, struct cod_span *ret_inner);
/* Take the text up to the next comma outside parentheses and braces, or all. `rest` begins there. */
struct cod_span cod_escape_argument(
	const struct cod_translation *t, struct cod_span *rest);
/* Whether the token is a text in single quotes that has no single quote in it. *ret_inner is the text
 * between the quotes. */
bool cod_escape_literal(const struct cnc_sql_token *token, struct cod_span *ret_inner);
/* The rules for reading texts in which a backslash is an ordinary character. */
uint32_t cod_escape_literal_rules(const struct cod_translation *t);

/* The escapes. Each gets what is inside its braces, after the key word. */
void cod_escape_date(struct cod_translation *t, struct cod_span text);
void cod_escape_time(struct cod_translation *t, struct cod_span text);
void cod_escape_timestamp(struct cod_translation *t, struct cod_span text);
void cod_escape_guid(struct cod_translation *t, struct cod_span text);
void cod_escape_character(struct cod_translation *t, struct cod_span text);
void cod_escape_interval(struct cod_translation *t, struct cod_span text);
void cod_escape_function(struct cod_translation *t, struct cod_span text);
void cod_escape_call(struct cod_translation *t, struct cod_span text);
/* {?=call ...}: gets the text after the ?. */
void cod_escape_value(struct cod_translation *t, struct cod_span text);

#endif
