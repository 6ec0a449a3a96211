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
	OTHER /* one byte; none of a quote that does not end */
};

struct word {
	enum kind kind;
	const char *p;
	size_t n;
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
	return (struct word){ kind, p, (size_t)(end - p) };
}

static struct word
next_quoted(struct text *t)
{
	char quote = *t->p++;
	const char *begin = t->p;

	while (t->p < t->end && *t->p != quote && *t->p != '\\')
		t->p++;
	if (t->p == t->end || *t->p != quote)
		return word_of(OTHER, begin, begin);
	return word_of(QUOTED, begin, t->p++);
}

static struct word
next_word(struct text *t)
{
	const char *begin;

	skip_blanks(t);
	begin = t->p;
	if (t->p == t->end)
		return word_of(END, begin, begin);
	if (*t->p == '\'' || *t->p == '"' || *t->p == '`')
		return next_quoted(t);
	while (t->p < t->end && is_word(*t->p))
		t->p++;
	if (t->p > begin)
		return word_of(WORD, begin, t->p);
	return word_of(OTHER, begin, ++t->p);
}

static int
is_text(const struct word *w, const char *text)
{
	return (w->kind == WORD || w->kind == OTHER) && strlen(text) == w->n &&
	       strncasecmp(w->p, text, w->n) == 0;
}

/* 0: there are more than any form has. The last one is the end; a semicolon before it is left away. */
static int
read_words(struct text *t, struct word words[WORDS_MAX])
{
	for (unsigned n = 0; n < WORDS_MAX; n++) {
		words[n] = next_word(t);
		if (is_text(&words[n], ";")) {
			words[n] = next_word(t);
			return words[n].kind == END;
		}
		if (words[n].kind == END)
			return 1;
	}
	return 0;
}

/* ---- forms ---- */

/* What follows the first word; % is one that counts, and ? one that does not. */
struct form {
	const char *words[WORDS_MAX];
	enum cmy_phrase phrase;
};

static const struct form set_forms[] = {
	{ { "names", "%" }, CMY_PHRASE_CHARSET },
	{ { "names", "%", "collate", "?" }, CMY_PHRASE_CHARSET },
	{ { "character", "set", "%" }, CMY_PHRASE_CHARSET },
	{ { "charset", "%" }, CMY_PHRASE_CHARSET },
	{ { "character_set_client", "=", "%" }, CMY_PHRASE_CHARSET },
	{ { "character_set_connection", "=", "%" }, CMY_PHRASE_CHARSET },
	{ { "character_set_database", "=", "%" }, CMY_PHRASE_CHARSET },
	{ { "character_set_results", "=", "%" }, CMY_PHRASE_CHARSET },
	{ { "character_set_server", "=", "%" }, CMY_PHRASE_CHARSET },
	{ { "collation_connection", "=", "%" }, CMY_PHRASE_CHARSET },
	{ { "collation_database", "=", "%" }, CMY_PHRASE_CHARSET },
	{ { "collation_server", "=", "%" }, CMY_PHRASE_CHARSET },
	{ { "autocommit", "=", "%" }, CMY_PHRASE_AUTOCOMMIT },
	{ { "session", "autocommit", "=", "%" }, CMY_PHRASE_AUTOCOMMIT },
	{ { "local", "autocommit", "=", "%" }, CMY_PHRASE_AUTOCOMMIT },
	{ { "@@autocommit", "=", "%" }, CMY_PHRASE_AUTOCOMMIT },
	{ { "@@session.autocommit", "=", "%" }, CMY_PHRASE_AUTOCOMMIT },
};
static const struct form use_forms[] = { { { "%" }, CMY_PHRASE_USE } };
static const struct form begin_forms[] = {
	{ { NULL }, CMY_PHRASE_BEGIN },
	{ { "work" }, CMY_PHRASE_BEGIN },
};
static const struct form start_forms[] = {
	{ { "transaction" }, CMY_PHRASE_BEGIN },
	{ { "transaction", "read", "write" }, CMY_PHRASE_BEGIN },
	{ { "transaction", "with", "consistent", "snapshot" }, CMY_PHRASE_BEGIN },
	{ { "transaction", "read", "only" }, CMY_PHRASE_BEGIN_READ_ONLY },
};
static const struct form commit_forms[] = {
	{ { NULL }, CMY_PHRASE_COMMIT },
	{ { "work" }, CMY_PHRASE_COMMIT },
};
static const struct form rollback_forms[] = {
	{ { NULL }, CMY_PHRASE_ROLLBACK },
	{ { "work" }, CMY_PHRASE_ROLLBACK },
};

#define FORMS(list) list, sizeof(list) / sizeof((list)[0])

/* Most texts are none of them, and that shows at the first word. */
static const struct verb {
	const char *word;
	const struct form *forms;
	size_t n;
} verbs[] = {
	{ "begin", FORMS(begin_forms) },
	{ "commit", FORMS(commit_forms) },
	{ "rollback", FORMS(rollback_forms) },
	{ "set", FORMS(set_forms) },
	{ "start", FORMS(start_forms) },
	{ "use", FORMS(use_forms) },
};

static const struct verb *
find_verb(const struct word *w)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (is_text(w, verbs[i].word))
			return &verbs[i];
	}
	return NULL;
}

static int
fits_word(const char *form, const struct word *w)
{
	if (*form == '%' || *form == '?')
		return w->kind == WORD || w->kind == QUOTED;
	return is_text(w, form);
}

/* Whether it is that one; *ret_value is the word that counts, or NULL. */
static int
fits(const struct form *form, const struct word *words, const struct word **ret_value)
{
	unsigned i = 0;

	*ret_value = NULL;
	for (; i < WORDS_MAX && form->words[i]; i++) {
		if (words[i].kind == END || !fits_word(form->words[i], &words[i]))
			return 0;
		if (*form->words[i] == '%')
			*ret_value = &words[i];
	}
	return i < WORDS_MAX && words[i].kind == END;
}

/* 0: it is no value that could be handed out as a C string of that length. */
static int
put_value(const struct word *value, char ret_value[CMY_PHRASE_VALUE_MAX])
{
	if (!value)
		return 1;
	if (value->n >= CMY_PHRASE_VALUE_MAX || memchr(value->p, '\0', value->n))
		return 0;
	memcpy(ret_value, value->p, value->n);
	ret_value[value->n] = '\0';
	return 1;
}

enum cmy_phrase
cmy_phrase_read(const char *sql, size_t len, char ret_value[CMY_PHRASE_VALUE_MAX])
{
	struct text t = { sql, sql + len };
	struct word first = next_word(&t), words[WORDS_MAX];
	const struct verb *verb = find_verb(&first);
	const struct word *value;

	ret_value[0] = '\0';
	if (!verb || !read_words(&t, words))
		return CMY_PHRASE_NONE;
	for (size_t i = 0; i < verb->n; i++) {
		if (fits(&verb->forms[i], words, &value))
			return put_value(value, ret_value) ? verb->forms[i].phrase
							   : CMY_PHRASE_NONE;
	}
	return CMY_PHRASE_NONE;
}
