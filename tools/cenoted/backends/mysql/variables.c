/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Session variables that move with a client to another session, and the current database. The text of a statement tells
 * only that it may have changed some of them; only the server tells their values. The backend reads all of them after
 * the login, and before a client that may have changed some gives up its session. What differs from the login is
 * carried. The next session sets it, and reads it again: what the server then says must be what was carried.
 *
 * A carry comes from the client, which may have written anything into it. So only the names in the table of names.c
 * are set, each for the session only, and to values that need no escaping.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "../common/text.h"
#include "my.h"

/* ---- which variables the server is asked for ---- */

static bool
is_asked(const struct cnd_session *s, const struct cnd_my_variable *v)
{
	uint32_t other = cnd_my_is_mariadb(s->my) ? CND_MY_VARIABLE_MYSQL
						  : CND_MY_VARIABLE_MARIADB;

	return !(v->flags & other);
}

/* The first variable at or after `v` that the server is asked for; NULL at the end. */
static const struct cnd_my_variable *
next_asked(const struct cnd_session *s, const struct cnd_my_variable *v)
{
	while (v->name && !is_asked(s, v))
		v++;
	return v->name ? v : NULL;
}

static int
make_list(struct cnd_session *s, const char **ret_list)
{
	struct cnd_text t = { .r = CENOTE_OK };
	const struct cnd_my_variable *v = cnd_my_variables;

	cnc_buf_init(&t.b, s->mem, CND_MY_CARRY_MAX);
	for (s->variables.n = 0; (v = next_asked(s, v)) != NULL; v++) {
		cnd_text_add(&t, s->variables.n++ > 0 ? ", " : "");
		cnd_text_add(&t, v == cnd_my_variables ? "" : "@@session.");
		cnd_text_add(&t, v->name);
	}
	if (t.r == CENOTE_OK) {
		*ret_list = cnc_arena_strndup(
			&s->keep, (const char *)cnc_buf_head(&t.b), cnc_buf_len(&t.b));
		t.r = *ret_list ? CENOTE_OK : CENOTE_ERR_NOMEM;
	}
	cnc_buf_finish(&t.b);
	return t.r;
}

/* ---- values ---- */

uint32_t
cnd_my_lexis(const char *sql_mode, const char *charset)
{
	uint32_t lexis = 0;

	if (!sql_mode)
		lexis |= CND_MY_LEXIS_UNSURE;
	else if (strstr(sql_mode, "ANSI_QUOTES"))
		lexis |= CND_MY_LEXIS_ANSI_QUOTES;
	if (sql_mode && strstr(sql_mode, "NO_BACKSLASH_ESCAPES"))
		lexis |= CND_MY_LEXIS_NO_BACKSLASH;
	if (!charset || strncmp(charset, "utf8", 4) != 0)
		lexis |= CND_MY_LEXIS_NOT_UTF8;
	return lexis;
}

static int
take_login(void *user, MYSQL_ROW row, const unsigned long *lengths, unsigned n)
{
	struct cnd_session *s = user;

	for (unsigned i = 0; i < n && i < CND_MY_VARIABLES_MAX; i++) {
		s->variables.login[i] =
			cnc_arena_strndup(&s->keep, row[i] ? row[i] : "", lengths[i]);
		if (!s->variables.login[i])
			return CENOTE_ERR_NOMEM;
	}
	return CENOTE_OK;
}

int
cnd_my_variables_learn(struct cnd_session *s)
{
	const char *list = NULL;
	char *sql;
	size_t size;
	int r = make_list(s, &list);

	if (r < 0)
		return r;
	s->variables.login_lexis = s->reading.lexis;
	size = sizeof("SELECT ") + strlen(list);
	sql = cnc_arena_alloc(&s->arena, size);
	if (!sql)
		return CENOTE_ERR_NOMEM;
	snprintf(sql, size, "SELECT %s", list);
	r = cnd_my_each(s, sql, size - 1, take_login, s);
	if (r == CENOTE_OK && s->variables.login[0])
		s->variables.list = list;
	/* a server without one of them: none can move */
	if (r != CENOTE_ERR_SERVER || s->is_lost)
		return r;
	cnc_diag_clear(s->diag);
	return CENOTE_OK;
}

/* Whether the value can stand in a SET without escapes, in any character set and sql_mode. */
static bool
is_plain(const struct cnd_my_variable *v, const char *value, size_t n)
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
	if (!is_plain(v, value, n))
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
	return r;
}

/* ---- setting what was carried ---- */

static void
add_setting(struct cnd_text *t, const struct cnd_my_variable *v, const char *value)
{
	const char *quote = v->flags & CND_MY_VARIABLE_TEXT ? "'" : "";

	cnd_text_add(t, ", @@session.");
	cnd_text_add(t, v->name);
	cnd_text_add(t, " = ");
	/* also an empty sql_mode is one, but character_set_results cannot be */
	if (*value == '\0' && strcmp(v->name, "character_set_results") == 0) {
		cnd_text_add(t, "NULL");
		return;
	}
	cnd_text_add(t, quote);
	cnd_text_add(t, value);
	cnd_text_add(t, quote);
}

/* Make one text that sets all of it and reads it again. CENOTE_ERR_PROTOCOL: no backend wrote these pairs. */
static int
make_text(struct cnd_session *s, uint64_t id, struct cnp_str pairs, struct cnd_text *t)
{
	const struct cnd_my_variable *v;
	struct cnp_str name, value, database = CNP_STR_NONE;
	struct cnc_reader reader;
	char number[40];
	int r;

	snprintf(number, sizeof(number), "SET last_insert_id = %llu",
		(unsigned long long)id);
	cnd_text_add(t, number);
	cnc_reader_init(&reader, pairs.p, pairs.n);
	while ((r = cnp_pairs_next(&reader, &name, &value)) > 0) {
		v = cnd_my_variable(name.p, name.n);
		if (!v || !is_asked(s, v) || !is_plain(v, value.p, value.n))
			return CENOTE_ERR_PROTOCOL;
		if (v == cnd_my_variables)
			database = value;
		else
			add_setting(t, v, value.p);
	}
	if (database.n > 0) {
		s->trace.is_database_changed = 1;
		cnd_text_add(t, "; USE `");
		cnd_text_add(t, database.p);
		cnd_text_add(t, "`");
	}
	if (pairs.n > 0) {
		cnd_text_add(t, "; SELECT ");
		cnd_text_add(t, s->variables.list ? s->variables.list : "NULL");
	}
	return r < 0 ? r : t->r;
}

/* The column of the variable in the list. */
static unsigned
column_of(const struct cnd_session *s, const struct cnd_my_variable *v)
{
	unsigned i = 0;

	for (const struct cnd_my_variable *p = cnd_my_variables; p < v; p++)
		i += is_asked(s, p);
	return i;
}

/* Setting variables, and what the server says about them then. */
struct setting {
	struct cnd_session *s;
	struct cnp_str pairs;
	bool is_confirmed;
};

/* Compare what the server says with the pairs, which are valid. */
static int
take_set(void *user, MYSQL_ROW row, const unsigned long *lengths, unsigned n)
{
	struct setting *set = user;
	struct cnp_str name, value;
	struct cnc_reader reader;
	int r;

	if (n != set->s->variables.n)
		return CENOTE_OK;
	r = cnd_my_variables_take(set->s, row, lengths);
	if (r != CENOTE_OK)
		return r < 0 ? r : CENOTE_OK;
	set->is_confirmed = true;
	cnd_my_untell(set->s);
	cnc_reader_init(&reader, set->pairs.p, set->pairs.n);
	while (cnp_pairs_next(&reader, &name, &value) > 0) {
		unsigned i = column_of(set->s, cnd_my_variable(name.p, name.n));

		set->is_confirmed &=
			lengths[i] == value.n &&
			(value.n == 0 || memcmp(row[i], value.p, value.n) == 0);
		cnd_my_tell_carried(set->s, name.p, value.p);
	}
	cnc_buf_truncate(&set->s->carry, CND_MY_CARRY_LEN);
	return cnc_buf_append(&set->s->carry, set->pairs.p, set->pairs.n);
}

static int
refuse(struct cnd_session *s, const char *why)
{
	char text[CNC_DIAG_MESSAGE_MAX];

	snprintf(text, sizeof(text), "%s", why);
	cnc_diag_set(s->diag, CNC_SQLSTATE(CONNECTION_LOST),
		"the client's settings could not be made on another session: %s", text);
	return CENOTE_ERR_SERVER;
}

int
cnd_my_variables_set(struct cnd_session *s, uint64_t id, struct cnp_str pairs)
{
	struct setting set = { s, pairs, pairs.n == 0 };
	struct cnd_text t = { .r = CENOTE_OK };
	const char *sql;
	int r;

	cnc_buf_init(&t.b, s->mem, (size_t)4 * CND_MY_CARRY_MAX);
	r = make_text(s, id, pairs, &t);
	sql = (const char *)cnc_buf_head(&t.b);
	if (r == CENOTE_OK)
		r = cnd_my_set_several(s, sql, cnc_buf_len(&t.b));
	if (r == CENOTE_OK)
		r = cnd_my_each(s, sql, cnc_buf_len(&t.b), take_set, &set);
	cnc_buf_finish(&t.b);
	s->trace.n_sets += r == CENOTE_OK;
	/* the server has reported what was set here: the client did nothing yet */
	s->trace.variables = CND_MY_KNOWN;
	s->trace.pins = 0;
	if (r == CENOTE_ERR_SERVER && !s->is_lost && pairs.n > 0)
		return refuse(s, s->diag->message);
	if (r == CENOTE_OK && !set.is_confirmed)
		return refuse(s, "the server has other values");
	return r;
}
