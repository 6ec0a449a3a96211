/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CND_PG_LEX_H
#define CND_PG_LEX_H

#include <stddef.h>
#include <stdint.h>

/*
 * SQL as PostgreSQL's own scanner (scan.l) divides it, as far as it matters where a statement
 * ends, which words it has, and what is called.
 */
enum cnd_pg_token_kind {
	CND_PG_TOKEN_END,
	CND_PG_TOKEN_WORD, /* a key word or name without quotes */
	CND_PG_TOKEN_NAME, /* a name in quotes; the text is what is between them */
	CND_PG_TOKEN_STRING,
	CND_PG_TOKEN_NUMBER,
	CND_PG_TOKEN_PARAM, /* $1 */
	CND_PG_TOKEN_CAST, /* :: */
	CND_PG_TOKEN_OPERATOR, /* a run of operator characters */
	CND_PG_TOKEN_SELF, /* one of ( ) [ ] , ; : . */
	CND_PG_TOKEN_BAD /* nothing that the server takes */
};

struct cnd_pg_token {
	enum cnd_pg_token_kind kind;
	uint8_t has_escapes; /* of a name: U&"…", which the text does not spell out */
	const char *text;
	size_t len;
};

struct cnd_pg_lex {
	const char *p;
	const char *end;
	int has_standard_strings; /* a backslash in '…' is one */
	int has_comments; /* some were skipped */
};

/* The next token; END for ever at the end. Blanks and comments are skipped. A comment, string or
 * name that is not closed is BAD and goes to the end. */
struct cnd_pg_token cnd_pg_lex_next(struct cnd_pg_lex *l);

/* Whether it is that word, which is in lower case: a WORD in any case, a NAME in just this. */
int cnd_pg_token_is_all(const struct cnd_pg_token *t, const char *word);

/* The same. Nearly all that are asked about have another first letter. */
static inline int
cnd_pg_token_is(const struct cnd_pg_token *t, const char *word)
{
	return t->len > 0 && (t->text[0] == *word || (t->text[0] | 0x20) == *word) &&
	       cnd_pg_token_is_all(t, word);
}

/* Whether it is that character, a SELF. */
int cnd_pg_token_is_self(const struct cnd_pg_token *t, char c);

#endif
