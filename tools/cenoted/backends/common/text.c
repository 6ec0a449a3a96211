/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SQL that a backend puts together for its catalog lists and savepoints. The text belongs to the caller; catalog.c and
 * tx.c of the backends call it.
 */
#include "text.h"

#include <string.h>

#include "core/value.h"

static void
add_bytes(struct cnd_text *t, const char *p, size_t n)
{
	if (t->r == CENOTE_OK)
		t->r = cnc_buf_append(&t->b, p, n);
}

void
cnd_text_add(struct cnd_text *t, const char *p)
{
	add_bytes(t, p, strlen(p));
}

void
cnd_text_add_literal(struct cnd_text *t, const char *p, size_t n)
{
	if (t->r == CENOTE_OK)
		t->r = t->quote(&t->b, p, n);
}

void
cnd_text_add_number(struct cnd_text *t, int64_t number)
{
	char text[CNC_VALUE_TEXT_MAX];

	add_bytes(t, text, cnc_int64_text(number, text));
	cnd_text_add(t, ", ");
}

void
cnd_text_add_known(struct cnd_text *t, int64_t number)
{
	if (number >= 0)
		cnd_text_add_number(t, number);
	else
		cnd_text_add(t, "NULL, ");
}

void
cnd_text_add_value(struct cnd_text *t, const char *value)
{
	if (value != NULL)
		cnd_text_add_literal(t, value, strlen(value));
	else
		cnd_text_add(t, "NULL");
	cnd_text_add(t, ", ");
}

size_t
cnd_quote_name(char *out, const char *verb, char quote, const char *name, size_t len)
{
	size_t n = strlen(verb);

	memcpy(out, verb, n);
	if (quote != 0)
		out[n++] = quote;
	for (size_t i = 0; i < len; i++) {
		if (quote != 0 && name[i] == quote)
			out[n++] = quote;
		out[n++] = name[i];
	}
	if (quote != 0)
		out[n++] = quote;
	out[n] = '\0';
	return n;
}
