/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Session variables that move with a client to another session, and the current database. The text of a statement tells
 * only that it may have changed some of them; only the server tells their values. The backend reads all of them after
 * the login, and before a client that may have changed some gives up its session. What differs from the login is
 * carried.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "../common/text.h"
#include "my.h"

/* ---- which variables the server is asked for ---- */

bool
cnd_my_is_asked(const struct cnd_session *s, const struct cnd_my_variable *v)
{
	uint32_t other = cnd_my_is_mariadb(s->my) ? CND_MY_VARIABLE_MYSQL
						  : CND_MY_VARIABLE_MARIADB;

	return !(v->flags & other);
}

/* The first variable at or after `v` that the server is asked for; NULL at the end. */
static const struct cnd_my_variable *
next_asked(const struct cnd_session *s, const struct cnd_my_variable *v)
{
	while (v->name && !cnd_my_is_asked(s, v))
		v++;
	return v->name ? v : NULL;
}

const char *
cnd_my_variables_question(struct cnd_session *s)
{
	const struct cnd_my_variable *v = cnd_my_variables;
	struct cnd_text t = { .r = CENOTE_OK };
	char *question = NULL;

	cnc_buf_init(&t.b, s->mem, CND_MY_CARRY_MAX);
	for (s->variables.n = 0; (v = next_asked(s, v)) != NULL; v++) {
		cnd_text_add(&t, s->variables.n++ > 0 ? ", " : "SELECT ");
		cnd_text_add(&t, v == cnd_my_variables ? "" : "@@session.");
		cnd_text_add(&t, v->name);
	}
	if (t.r == CENOTE_OK)
		question = cnc_arena_strndup(
			&s->keep, (const char *)cnc_buf_head(&t.b), cnc_buf_len(&t.b));
	cnc_buf_finish(&t.b);
	return question;
}

/* ---- values ---- */

/* Whether ASCII characters take several bytes in this character set, or in the character set of this collation. */
static bool
is_wide(const char *name)
{
	return strncmp(name, "ucs2", 4) == 0 || strncmp(name, "utf16", 5) == 0 ||
	       strncmp(name, "utf32", 5) == 0;
}

/* The doubts (trace.doubts) that remain after the server's answer. If a value is NULL, its doubt remains. */
static uint32_t
doubts_of(const struct cnd_session *s, const MYSQL_ROW row)
{
	const struct cnd_my_variable *v = cnd_my_variables;
	uint32_t doubts = 0;

	for (unsigned i = 0; (v = next_asked(s, v)) != NULL; v++, i++) {
		if (v->notes & CND_MY_NOTE_QUIET && (!row[i] || strcmp(row[i], "1") != 0))
			doubts |= CND_MY_NOTE_QUIET;
		if (v->notes & CND_MY_NOTE_WIDE && (!row[i] || is_wide(row[i])))
			doubts |= CND_MY_NOTE_WIDE;
	}
	return doubts;
}

int
cnd_my_variables_begin(
	void *user, MYSQL_ROW row, const unsigned long *lengths, unsigned n)
{
	struct cnd_session *s = user;

	if (n == s->variables.n)
		s->variables.login_doubts = doubts_of(s, row);
	s->trace.doubts = s->variables.login_doubts;
	for (unsigned i = 0; i < n && i < CND_MY_VARIABLES_MAX; i++) {
		s->variables.login[i] =
			cnc_arena_strndup(&s->keep, row[i] ? row[i] : "", lengths[i]);
		if (!s->variables.login[i])
			return CENOTE_ERR_NOMEM;
	}
	return CENOTE_OK;
}

bool
cnd_my_needs_no_escape(const struct cnd_my_variable *v, const char *value, size_t n)
{
	static const char digits[] = "0123456789.";
	bool is_text = (v->flags & CND_MY_VARIABLE_TEXT) != 0;

	for (size_t i = 0; i < n; i++) {
		if (is_text ? value[i] < ' ' || value[i] > '~' || strchr("'`\\", value[i])
			    : !memchr(digits, value[i], sizeof(digits) - 1))
			return false;
	}
	return n > 0 || (is_text && v != cnd_my_variables);
}

/* An unset value (NULL) is carried as "". Only character_set_results can be unset, and it is never empty. */
static int
put_difference(struct cnd_session *s, const struct cnd_my_variable *v, const char *value,
	size_t n, const char *login)
{
	if (n == strlen(login) && memcmp(value, login, n) == 0)
		return CENOTE_OK;
	/* a time limit below 0.1 s may end the statement that sets it again */
	if (!cnd_my_needs_no_escape(v, value, n) ||
		(v->flags & CND_MY_VARIABLE_LIMIT && strncmp(value, "0.0", 3) == 0))
		return CENOTE_DONE;
	return cnp_pairs_put(&s->carry, v->name, value);
}

int
cnd_my_variables_take(
	struct cnd_session *s, const MYSQL_ROW row, const unsigned long *lengths)
{
	const struct cnd_my_variable *v = cnd_my_variables;
	const char *sql_mode = NULL, *charset = NULL;
	int r = CENOTE_OK, t;

	cnc_buf_truncate(&s->carry, CND_MY_CARRY_LEN);
	for (unsigned i = 0; (v = next_asked(s, v)) != NULL; v++, i++) {
		t = put_difference(
			s, v, row[i] ? row[i] : "", lengths[i], s->variables.login[i]);
		if (t == CENOTE_ERR_NOMEM)
			return t;
		if (t != CENOTE_OK)
			r = CENOTE_DONE;
		if (v->notes & CND_MY_NOTE_MODES)
			sql_mode = row[i];
		if (v->notes & CND_MY_NOTE_CHARSET)
			charset = row[i];
	}
	s->reading.lexis = cnd_my_lexis(sql_mode, charset);
	s->trace.doubts = doubts_of(s, row);
	if (r != CENOTE_OK)
		cnc_buf_truncate(&s->carry, CND_MY_CARRY_LEN);
	return r;
}
