/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recognise the statements that MySQL programs and drivers send to any server. On a pool of another
 * server, send.c asks whether a text is one of these. It owns no state.
 */
#include "phrase.h"

#include <stdbool.h>
#include <string.h>

#include "core/sql.h"

#define WORDS_MAX 8u

/* Is the token that word, variable or byte? Text in quotes can only be a value. */
static bool
is_word(const struct cnc_sql_token *t, const char *word)
{
	return (t->kind == CNC_SQL_WORD || t->kind == CNC_SQL_VARIABLE ||
		       t->kind == CNC_SQL_CHAR) &&
	       cnc_sql_compare(t->p, t->n, word) == 0;
}

/* Read all words. The last one is END; a semicolon before it is left out. False: there are more
 * words than any phrase has. */
static bool
read_words(struct cnc_sql *x, struct cnc_sql_token words[WORDS_MAX])
{
	for (unsigned n = 0; n < WORDS_MAX; n++) {
		words[n] = cnc_sql_next(x);
		if (cnc_sql_is_char(&words[n], ';')) {
			words[n] = cnc_sql_next(x);
			return words[n].kind == CNC_SQL_END;
		}
		if (words[n].kind == CNC_SQL_END)
			return true;
	}
	return false;
}

/* ---- forms ---- */

/* The words after the first one. % is the value; ? is any word that does not matter. */
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

/* Most texts do not begin with one of these words, so one look rules them out. */
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
find_verb(const struct cnc_sql_token *t)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (cnc_sql_is(t, verbs[i].word))
			return &verbs[i];
	}
	return NULL;
}

static bool
fits_word(const char *form, const struct cnc_sql_token *t)
{
	if (*form != '%' && *form != '?')
		return is_word(t, form);
	return t->kind == CNC_SQL_WORD || t->kind == CNC_SQL_NUMBER ||
	       t->kind == CNC_SQL_VARIABLE || t->kind == CNC_SQL_TEXT ||
	       t->kind == CNC_SQL_NAME;
}

/* Do the words match the form? *ret_value is the word for %, or NULL. */
static bool
fits(const struct form *form, const struct cnc_sql_token *words,
	const struct cnc_sql_token **ret_value)
{
	unsigned i = 0;

	*ret_value = NULL;
	for (; i < WORDS_MAX && form->words[i] != NULL; i++) {
		if (!fits_word(form->words[i], &words[i]))
			return false;
		if (*form->words[i] == '%')
			*ret_value = &words[i];
	}
	return i < WORDS_MAX && words[i].kind == CNC_SQL_END;
}

/* Copy the value. False: it has bytes with a meaning in quotes, a zero byte, or too many bytes. */
static bool
put_value(const struct cnc_sql_token *value, char ret_value[CMY_PHRASE_VALUE_MAX])
{
	const char *p;
	size_t n;

	if (value == NULL)
		return true;
	p = cnc_sql_inside(value, &n);
	if (n >= CMY_PHRASE_VALUE_MAX)
		return false;
	memcpy(ret_value, p, n);
	ret_value[n] = '\0';
	if (strlen(ret_value) == n &&
		(p == value->p || strpbrk(ret_value, "\\'\"`") == NULL))
		return true;
	ret_value[0] = '\0';
	return false;
}

enum cmy_phrase
cmy_phrase_read(const char *sql, size_t len, char ret_value[CMY_PHRASE_VALUE_MAX])
{
	struct cnc_sql x = cnc_sql_begin(sql, len, CNC_SQL_MYSQL);
	struct cnc_sql_token first = cnc_sql_next(&x), words[WORDS_MAX];
	const struct verb *verb = find_verb(&first);
	const struct cnc_sql_token *value;

	ret_value[0] = '\0';
	if (verb == NULL || !read_words(&x, words) || x.seen & CNC_SQL_SEEN_COMMENT)
		return CMY_PHRASE_NONE;
	for (size_t i = 0; i < verb->n; i++) {
		if (fits(&verb->forms[i], words, &value))
			return put_value(value, ret_value) ? verb->forms[i].phrase
							   : CMY_PHRASE_NONE;
	}
	return CMY_PHRASE_NONE;
}
