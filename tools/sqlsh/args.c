/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Splits the arguments of a backslash command into words. The cmd_*.c files call it. It has no
 * state.
 */
#include "args.h"

#include <string.h>

static const char blanks[] = " \t\r\n";

void
args_skip_blanks(struct args *a)
{
	a->rest += strspn(a->rest, blanks);
}

/* Read a word after its opening quote. Returns the text after the closing quote; NULL: there is
 * none. */
static const char *
take_quoted(const char *s, char quote, struct text *word)
{
	for (; *s; s++) {
		if (*s == quote && *++s != quote)
			return s;
		text_add_char(word, *s);
	}
	return NULL;
}

int
args_next(struct args *a, struct text *ret_word)
{
	const char *s;

	text_clear(ret_word);
	args_skip_blanks(a);
	s = a->rest;
	if (!*s)
		return 0;
	while (*s && !strchr(blanks, *s)) {
		char c = *s++;

		if (c != '\'' && c != '"') {
			text_add_char(ret_word, c);
			continue;
		}
		s = take_quoted(s, c, ret_word);
		if (!s)
			return -1;
	}
	a->rest = s;
	return 1;
}
