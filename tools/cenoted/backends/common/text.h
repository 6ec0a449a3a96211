/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_TEXT_H
#define CND_TEXT_H

#include "../backend.h"

/* SQL in the making. After the first failure, which is in `r`, nothing more is added. */
struct cnd_text {
	struct cnc_buf b;
	int r;
	/* Append a text as a literal. */
	int (*quote)(struct cnc_buf *b, const char *p, size_t n);
};

void cnd_text_add(struct cnd_text *t, const char *p);
void cnd_text_add_literal(struct cnd_text *t, const char *p, size_t n);

/* `verb` and a name in quotes (0: without), with a zero byte at the end: the length. Needs room for each byte of the
 * name twice. */
size_t cnd_quote_name(
	char *out, const char *verb, char quote, const char *name, size_t len);

/* Items of a SELECT list, each with ", " after it. */
void cnd_text_add_number(struct cnd_text *t, int64_t number);
/* NULL, if it is negative. */
void cnd_text_add_known(struct cnd_text *t, int64_t number);
/* NULL is allowed. */
void cnd_text_add_value(struct cnd_text *t, const char *value);

#endif
