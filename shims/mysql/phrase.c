/* SPDX-License-Identifier: BSD-2-Clause */
#include "phrase.h"

#include <string.h>
#include <strings.h>

/* ---- words ---- */

#define WORDS_MAX 8u

enum kind {
	END,
	WORD, /* or a variable, with its @@ */
	QUOTED, /* without its quotes */
	OTHER /* one byte; or what is too long */
};

struct word {
	enum kind kind;
	char text[CMY_PHRASE_VALUE_MAX];
};

struct text {
	const char *p, *end;
};

static int
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static int
is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '@' || c == '.' || c == '$' ||
	       (unsigned char)c >= 0x80;
}

/* Comments are not looked for: what begins or ends with one is the server's. */
static void
skip_blanks(struct text *t)
{
	while (t->p < t->end && is_blank(*t->p))
		t->p++;
}

static struct word
word_of(enum kind kind, const char *p, const char *end)
{
	struct word w = { .kind = kind };
	size_t n = (size_t)(end - p);

	if (n >= sizeof(w.text) || memchr(p, '\0', n))
		return (struct word){ .kind = OTHER };
	memcpy(w.text, p, n);
	return w;
}

static struct word
next_quoted(struct text *t)
{
	char quote = *t->p++;
	const char *begin = t->p;

	while (t->p < t->end && *t->p != quote && *t->p != '\\')
		t->p++;
	if (t->p == t->end || *t->p != quote)
		return (struct word){ .kind = OTHER };
	return word_of(QUOTED, begin, t->p++);
}

static struct word
next_word(struct text *t)
{
	const char *begin;

	skip_blanks(t);
	begin = t->p;
	if (t->p == t->end)
		return (struct word){ .kind = END };
	if (*t->p == '\'' || *t->p == '"' || *t->p == '`')
		return next_quoted(t);
	while (t->p < t->end && is_word(*t->p))
		t->p++;
	if (t->p > begin)
		return word_of(WORD, begin, t->p);
	t->p++;
	return word_of(OTHER, begin, t->p);
}

/* 0: there are more than any form has. The last one is the end; a semicolon before it is left away. */
static int
read_words(const char *sql, size_t len, struct word words[WORDS_MAX])
{
	struct text t = { sql, sql + len };
	unsigned n = 0;

	for (; n < WORDS_MAX; n++) {
		words[n] = next_word(&t);
		if (words[n].kind == OTHER && strcmp(words[n].text, ";") == 0) {
			words[n] = next_word(&t);
			return words[n].kind == END;
		}
		if (words[n].kind == END)
			return 1;
	}
	return 0;
}

/* ---- forms ---- */

/* Words; % is one that counts, and ? one that does not. */
static const struct form {
	const char *words[WORDS_MAX];
	enum cmy_phrase phrase;
} forms[] = {
	{ { "set", "names", "%" }, CMY_PHRASE_CHARSET },
	{ { "set", "names", "%", "collate", "?" }, CMY_PHRASE_CHARSET },
	{ { "set", "character", "set", "%" }, CMY_PHRASE_CHARSET },
	{ { "set", "charset", "%" }, CMY_PHRASE_CHARSET },
	{ { "set", "character_set_client", "=", "%" }, CMY_PHRASE_CHARSET },
	{ { "set", "character_set_connection", "=", "%" }, CMY_PHRASE_CHARSET },
	{ { "set", "character_set_database", "=", "%" }, CMY_PHRASE_CHARSET },
	{ { "set", "character_set_results", "=", "%" }, CMY_PHRASE_CHARSET },
	{ { "set", "character_set_server", "=", "%" }, CMY_PHRASE_CHARSET },
	{ { "set", "collation_connection", "=", "%" }, CMY_PHRASE_CHARSET },
	{ { "set", "collation_database", "=", "%" }, CMY_PHRASE_CHARSET },
	{ { "set", "collation_server", "=", "%" }, CMY_PHRASE_CHARSET },
	{ { "set", "autocommit", "=", "%" }, CMY_PHRASE_AUTOCOMMIT },
	{ { "set", "session", "autocommit", "=", "%" }, CMY_PHRASE_AUTOCOMMIT },
	{ { "set", "local", "autocommit", "=", "%" }, CMY_PHRASE_AUTOCOMMIT },
	{ { "set", "@@autocommit", "=", "%" }, CMY_PHRASE_AUTOCOMMIT },
	{ { "set", "@@session.autocommit", "=", "%" }, CMY_PHRASE_AUTOCOMMIT },
	{ { "use", "%" }, CMY_PHRASE_USE },
	{ { "begin" }, CMY_PHRASE_BEGIN },
	{ { "begin", "work" }, CMY_PHRASE_BEGIN },
	{ { "start", "transaction" }, CMY_PHRASE_BEGIN },
	{ { "start", "transaction", "read", "write" }, CMY_PHRASE_BEGIN },
	{ { "start", "transaction", "with", "consistent", "snapshot" },
		CMY_PHRASE_BEGIN },
	{ { "start", "transaction", "read", "only" }, CMY_PHRASE_BEGIN_READ_ONLY },
	{ { "commit" }, CMY_PHRASE_COMMIT },
	{ { "commit", "work" }, CMY_PHRASE_COMMIT },
	{ { "rollback" }, CMY_PHRASE_ROLLBACK },
	{ { "rollback", "work" }, CMY_PHRASE_ROLLBACK },
};

static int
fits_word(const char *form, const struct word *w)
{
	if (*form == '%' || *form == '?')
		return w->kind == WORD || w->kind == QUOTED;
	return w->kind != QUOTED && strcasecmp(form, w->text) == 0;
}

/* Whether it is that one; *ret_value is the word that counts, or NULL. */
static int
fits(const struct form *form, const struct word *words, const char **ret_value)
{
	unsigned i = 0;

	*ret_value = NULL;
	for (; i < WORDS_MAX && form->words[i]; i++) {
		if (words[i].kind == END || !fits_word(form->words[i], &words[i]))
			return 0;
		if (*form->words[i] == '%')
			*ret_value = words[i].text;
	}
	return i < WORDS_MAX && words[i].kind == END;
}

enum cmy_phrase
cmy_phrase_read(const char *sql, size_t len, char ret_value[CMY_PHRASE_VALUE_MAX])
{
	struct word words[WORDS_MAX];
	const char *value;

	ret_value[0] = '\0';
	if (!read_words(sql, len, words))
		return CMY_PHRASE_NONE;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (!fits(&forms[i], words, &value))
			continue;
		if (value)
			memcpy(ret_value, value, strlen(value) + 1);
		return forms[i].phrase;
	}
	return CMY_PHRASE_NONE;
}
