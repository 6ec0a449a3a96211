/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_SPAN_H
#define COD_SPAN_H

/*
 * A part of a statement's text. The reader of SQL (core/sql.h) finds where parts begin and end; these
 * functions only compare and trim them. The files of the escape clauses use them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/sql.h"

struct cod_span {
	const char *p, *end;
};

static inline size_t
cod_span_length(struct cod_span span)
{
	return (size_t)(span.end - span.p);
}

/* How many bytes of the span a message shows, for %.*s. */
static inline int
cod_span_shown(struct cod_span span)
{
	return cod_span_length(span) > 40 ? 40 : (int)cod_span_length(span);
}

/* Whether the span is this word; case does not matter. */
static inline bool
cod_span_is(struct cod_span span, const char *word)
{
	return cnc_sql_compare(span.p, cod_span_length(span), word) == 0;
}

static inline struct cod_span
cod_span_of(const struct cnc_sql_token *t)
{
	return (struct cod_span){ t->p, t->p + t->n };
}

static inline struct cnc_sql
cod_span_read(struct cod_span span, uint32_t rules)
{
	return cnc_sql_begin(span.p, cod_span_length(span), rules);
}

/* Trim blanks at both ends. Comments stay, with the blanks outside them. */
struct cod_span cod_span_trim(struct cod_span span, uint32_t rules);

#endif
