/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

#include "../common/fact.h"

#include <stdlib.h>
#include <string.h>

/*
 * Session tracking: the changes that the last statement without rows made in the session. The pool
 * reports changes as parameters, by name; any other name is a system variable. A program of
 * MariaDB's flavour may set a function that gets the changes instead. cmy_session.track holds the
 * list; exchange.c and session.c begin and end it.
 */

struct item {
	struct item *next;
	size_t len;
	char text[];
};

struct list {
	struct item *first;
	struct item **end; /* where to link the next item */
};

struct cmy_track {
	struct list told[CMY_SESSION_TRACK_KINDS];
	/* changes of the running statement */
	struct list coming[CMY_SESSION_TRACK_KINDS];
	/* the place of mysql_session_track_get_next() */
	const struct item *at[CMY_SESSION_TRACK_KINDS];
};

static void
list_clear(struct list *l)
{
	struct item *item, *next;

	for (item = l->first; item; item = next) {
		next = item->next;
		free(item);
	}
	l->first = NULL;
	l->end = NULL;
}

/* Add an item. Without memory the list lacks the item. */
static void
list_add_part(struct list *l, const char *text, size_t len)
{
	struct item *item = malloc(sizeof(*item) + len + 1);

	if (!item)
		return;
	item->next = NULL;
	item->len = len;
	memcpy(item->text, text, len);
	item->text[len] = '\0';
	*(l->end ? l->end : &l->first) = item;
	l->end = &item->next;
}

static void
list_add(struct list *l, const char *text)
{
	list_add_part(l, text, strlen(text));
}

static enum enum_session_state_type
kind_of(const char *name)
{
	static const struct {
		const char *name;
		enum enum_session_state_type kind;
	} kinds[] = {
		{ "database", SESSION_TRACK_SCHEMA },
		{ "session_gtids", SESSION_TRACK_GTIDS },
		{ "session_state_change", SESSION_TRACK_STATE_CHANGE },
		{ "transaction_characteristics",
			SESSION_TRACK_TRANSACTION_CHARACTERISTICS },
		{ "transaction_state", SESSION_TRACK_TRANSACTION_STATE },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(kinds[i].name, name) == 0)
			return kinds[i].kind;
	}
	return SESSION_TRACK_SYSTEM_VARIABLES;
}

/* Update the members that follow the session: database and character set. */
static void
follow(MYSQL *my, const char *name, const char *value)
{
	const MARIADB_CHARSET_INFO *charset;
	char *copy;

	if (strcmp(name, "database") == 0) {
		copy = strdup(value);
		if (!copy)
			return;
		free(my->db);
		my->db = copy;
	} else if (strcmp(name, "character_set_client") == 0) {
		charset = cmy_charset_by_name(value);
		if (charset && strcmp(charset->csname, my->charset->csname) != 0)
			my->charset = charset;
	}
}

static void
on_parameter(const char *name, const char *value, void *user)
{
	struct cmy_session *s = user;
	enum enum_session_state_type kind = kind_of(name);

	if (strcmp(name, "connection_id") == 0)
		s->my->thread_id = strtoul(value, NULL, 10);
	if (csh_is_fact(name))
		return;
	follow(s->my, name, value);
	if (s->is_untracked)
		return;
	if (kind == SESSION_TRACK_SYSTEM_VARIABLES)
		list_add(&s->track->coming[kind], name);
	list_add(&s->track->coming[kind], value);
}

int
cmy_track_start(struct cmy_session *s)
{
	if (!s->track)
		s->track = calloc(1, sizeof(*s->track));
	if (!s->track) {
		cmy_error(s->my, CR_OUT_OF_MEMORY, NULL);
		return -1;
	}
	cenote_set_parameter_handler(s->conn, on_parameter, s);
	return 0;
}

#if CMY_ORACLE

void
cmy_track_status(struct cmy_session *s)
{
	(void)s;
}

/* Pass the changes to the program's function. 0: the program has set no function. */
static int
tell_program(const struct cmy_session *s, int kind, const struct list *items)
{
	(void)s;
	(void)kind;
	(void)items;
	return 0;
}

#else

void
cmy_track_status(struct cmy_session *s)
{
	unsigned status = s->my->server_status;

	if (s->on_status && status != s->told_status)
		s->on_status(s->status_data, STATUS_TYPE, status);
	s->told_status = status;
}

static int
tell_program(const struct cmy_session *s, int kind, const struct list *items)
{
	for (const struct item *i = items->first; s->on_status && i; i = i->next) {
		MARIADB_CONST_STRING first = { i->text, i->len }, second;

		if (kind == SESSION_TRACK_SYSTEM_VARIABLES && i->next) {
			i = i->next;
			second = (MARIADB_CONST_STRING){ i->text, i->len };
			s->on_status(s->status_data, SESSION_TRACK_TYPE, kind, &first,
				&second);
		} else {
			s->on_status(s->status_data, SESSION_TRACK_TYPE, kind, &first);
		}
	}
	return s->on_status != NULL;
}

#endif

void
cmy_track_take(struct cmy_session *s)
{
	struct cmy_track *t = s->is_untracked ? NULL : s->track;

	for (int i = 0; t && i < CMY_SESSION_TRACK_KINDS; i++) {
		list_clear(&t->told[i]);
		t->told[i] = t->coming[i];
		t->coming[i] = (struct list){ NULL, NULL };
		if (tell_program(s, i, &t->told[i]))
			list_clear(&t->told[i]);
		t->at[i] = t->told[i].first;
	}
}

void
cmy_track_skip(struct cmy_session *s)
{
	for (int i = 0; s->track && i < CMY_SESSION_TRACK_KINDS; i++)
		list_clear(&s->track->coming[i]);
}

void
cmy_track_forget(struct cmy_session *s)
{
	for (int i = 0; s->track && i < CMY_SESSION_TRACK_KINDS; i++) {
		list_clear(&s->track->told[i]);
		list_clear(&s->track->coming[i]);
		s->track->at[i] = NULL;
	}
}

void
cmy_track_begin(struct cmy_session *s)
{
	for (int i = 0; CMY_ORACLE && s->track && i < CMY_SESSION_TRACK_KINDS; i++) {
		list_clear(&s->track->told[i]);
		s->track->at[i] = NULL;
	}
}

void
cmy_track_database(struct cmy_session *s, const char *db)
{
	struct list *told = s->track ? &s->track->told[SESSION_TRACK_SCHEMA] : NULL;

	if (!told || !db || s->backend != CMY_BACKEND_MYSQL)
		return;
	list_add(told, db);
	if (tell_program(s, SESSION_TRACK_SCHEMA, told))
		list_clear(told);
}

/* The value of a variable now, if it may differ from that of the pool's login: the program's character set, and what
 * the pool has set. */
static const char *
value_now(const struct cmy_session *s, const char *name)
{
	static const char *const charsets[] = { "character_set_client",
		"character_set_connection", "character_set_results" };

	for (size_t i = 0; i < sizeof(charsets) / sizeof(*charsets); i++) {
		if (strcmp(charsets[i], name) == 0)
			return s->my->charset->csname;
	}
	return cenote_parameter(s->conn, name);
}

void
cmy_track_login(struct cmy_session *s)
{
	const char *line = cenote_parameter(s->conn, "login_report"), *end;
	struct list *told =
		s->track ? &s->track->told[SESSION_TRACK_SYSTEM_VARIABLES] : NULL;

	while (told && line && (end = strchr(line, '\n')) != NULL) {
		const char *equals = memchr(line, '=', (size_t)(end - line)), *now;
		struct item **at = told->end ? told->end : &told->first;

		if (!equals)
			return;
		list_add_part(told, line, (size_t)(equals - line));
		now = *at ? value_now(s, (*at)->text) : NULL;
		if (now)
			list_add(told, now);
		else
			list_add_part(told, equals + 1, (size_t)(end - equals - 1));
		line = end + 1;
	}
	if (told && tell_program(s, SESSION_TRACK_SYSTEM_VARIABLES, told))
		list_clear(told);
}

void
cmy_track_free(struct cmy_track *track)
{
	for (int i = 0; track && i < CMY_SESSION_TRACK_KINDS; i++) {
		list_clear(&track->told[i]);
		list_clear(&track->coming[i]);
	}
	free(track);
}

int
cmy_mysql_session_track_get_next(MYSQL *mysql, enum enum_session_state_type type,
	const char **data, size_t *length)
{
	struct cmy_session *s = cmy_session(mysql);
	const struct item *item;

	if (!s || !s->track || (unsigned)type >= CMY_SESSION_TRACK_KINDS)
		return 1;
	item = s->track->at[type];
	if (!item)
		return 1;
	*data = item->text;
	*length = item->len;
	s->track->at[type] = item->next;
	return 0;
}

int
cmy_mysql_session_track_get_first(MYSQL *mysql, enum enum_session_state_type type,
	const char **data, size_t *length)
{
	struct cmy_session *s = cmy_session(mysql);

	if (s && s->track && (unsigned)type < CMY_SESSION_TRACK_KINDS)
		s->track->at[type] = s->track->told[type].first;
	return cmy_mysql_session_track_get_next(mysql, type, data, length);
}
