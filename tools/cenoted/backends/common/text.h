/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_TEXT_H
#define CND_TEXT_H

#include "../backend.h"

/* A SQL text that is being built. After the first failure, which `r` keeps, nothing more is added. */
struct cnd_text {
	struct cnc_buf b;
	int r;
	/* Appends a text as an SQL literal, in the server's syntax. */
	int (*quote)(struct cnc_buf *b, const char *p, size_t n);
};

void cnd_text_add(struct cnd_text *t, const char *p);
void cnd_text_add_literal(struct cnd_text *t, const char *p, size_t n);

/* Write `verb` and the quoted name, and a zero byte. `quote` 0: without quotes. Returns the length. `out`
 * needs room for twice the bytes of the name. */
size_t cnd_quote_name(
	char *out, const char *verb, char quote, const char *name, size_t len);

/* Items of a SELECT list, each with ", " after it. */
void cnd_text_add_number(struct cnd_text *t, int64_t number);
/* Adds NULL if the number is negative. */
void cnd_text_add_known(struct cnd_text *t, int64_t number);
/* `value` NULL: adds NULL. */
void cnd_text_add_value(struct cnd_text *t, const char *value);

#endif
