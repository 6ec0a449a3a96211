/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The life of a session after its login (login.c): report facts, begin a request, follow what the server says that has
 * changed, change the user. Owns s->told and s->wants.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "my.h"

int
cnd_my_run_init(struct cnd_session *s)
{
	return s->opt.init_command
		       ? cnd_my_run(s, s->opt.init_command, strlen(s->opt.init_command))
		       : CENOTE_OK;
}

void
cnd_my_info(const struct cnd_session *s, struct cnd_info *ret_info)
{
	*ret_info = (struct cnd_info){ .server = s->server,
		.server_version = cnd_my_server_version(s->my),
		.database = s->opt.dbname ? s->opt.dbname : "",
		.parameters = s->told.list,
		.n_parameters = s->told.n };
}

void
cnd_my_untell(struct cnd_session *s)
{
	memcpy(s->told.list, s->parameters, sizeof(s->parameters));
	s->told.n = s->n_parameters;
	s->told.n_values = 0;
}

void
cnd_my_tell_carried(struct cnd_session *s, const char *variable, const char *value)
{
	/* the server reports these when they change */
	static const char *const names[] = { "autocommit", "character_set_client",
		"character_set_connection", "character_set_results", "time_zone",
		CND_MY_DATABASE };
	struct cnd_my_told *t = &s->told;
	size_t n = sizeof(names) / sizeof(names[0]), i = 0, at = 0;

	while (i < n && strcmp(names[i], variable) != 0)
		i++;
	if (i == n || t->n_values == n)
		return;
	if (strcmp(variable, CND_MY_DATABASE) == 0)
		variable = "database";
	else
		variable = names[i];
	if (i == 0)
		value = strcmp(value, "0") == 0 ? "OFF" : "ON";
	snprintf(t->values[t->n_values], CND_MY_TOLD_VALUE, "%s", value);
	while (at < t->n && strcmp(t->list[at].key, variable) != 0)
		at++;
	t->list[at] = (struct cnd_option){ variable, t->values[t->n_values++] };
	t->n += at == t->n;
}

/* ---- a request ---- */

/* A KILL QUERY that came too late for its statement must not stop another one. */
static int
absorb_kill(struct cnd_session *s)
{
	int tries;

	for (tries = 0; tries < 3; tries++) {
		if (mysql_ping(s->my) == 0) {
			cnd_my_take_status(s->my);
			s->wait.is_killed = 0;
			return CENOTE_OK;
		}
		if (mysql_errno(s->my) != CND_MY_ER_INTERRUPTED)
			break;
	}
	return cnd_my_failed(s, NULL);
}

int
cnd_my_enter(struct cnd_session *s, struct cnc_diag *diag, struct cnd_sink *sink)
{
	int r = cnd_my_enter_only(s, diag, sink);

	s->trace.has_done_more = 1;
	return r == CENOTE_OK ? cnd_my_reset_now(s) : r;
}

int
cnd_my_enter_only(struct cnd_session *s, struct cnc_diag *diag, struct cnd_sink *sink)
{
	cnd_my_wait_for(s);
	cnc_arena_clear(&s->arena);
	s->diag = diag;
	s->sink = sink;
	s->stop = 0;
	s->trace.changes_login = 0;
	s->trace.running = 0;
	s->wait.tls_until_ms = 0;
	s->infile.status = CENOTE_OK;
	return s->wait.is_killed ? absorb_kill(s) : CENOTE_OK;
}

int
cnd_my_set_several(struct cnd_session *s, const char *sql, size_t len)
{
	int r;

	/* the server's own option, sent only if it makes a difference */
	if (s->wants.is_single == s->wants.single || !memchr(sql, ';', len))
		return CENOTE_OK;
	r = cnd_my_reset_now(s);
	if (r < 0)
		return r;
	if (mysql_set_server_option(s->my, s->wants.single
						   ? MYSQL_OPTION_MULTI_STATEMENTS_OFF
						   : MYSQL_OPTION_MULTI_STATEMENTS_ON))
		return cnd_my_failed(s, NULL);
	s->wants.is_single = s->wants.single;
	return CENOTE_OK;
}

static int
tell(struct cnd_session *s, const char *name, const char *value, size_t len)
{
	char *copy;

	if (!s->sink || !s->sink->ops->parameter)
		return CENOTE_OK;
	copy = cnc_arena_strndup(&s->arena, value, len);
	if (!copy)
		return CENOTE_ERR_NOMEM;
	return s->sink->ops->parameter(s->sink, name, copy);
}

/* The server reports a variable that was set, also if its value is the same as before. */
static void
note_variable(struct cnd_session *s, const char *name, const char *value)
{
	const struct cnd_my_variable *v = cnd_my_variable(name, strlen(name));

	if (!v) {
		s->trace.pins |= CENOTE_PIN_SETTINGS;
		return;
	}
	cnd_my_may_have_set(s);
	if (!(v->notes & CND_MY_NOTE_CHARSET))
		return;
	s->reading.lexis &= ~(uint32_t)CND_MY_LEXIS_NOT_UTF8;
	s->reading.lexis |= cnd_my_lexis("", value);
}

/* Report changed variables. They come as name, value, name, value. */
static int
track_variables(struct cnd_session *s)
{
	const char *name, *value;
	size_t n_name, n_value;
	char *copy;
	int r;

	if (mysql_session_track_get_first(
		    s->my, SESSION_TRACK_SYSTEM_VARIABLES, &name, &n_name))
		return CENOTE_OK;
	do {
		if (mysql_session_track_get_next(
			    s->my, SESSION_TRACK_SYSTEM_VARIABLES, &value, &n_value))
			return CENOTE_OK;
		copy = cnc_arena_strndup(&s->arena, name, n_name);
		if (!copy)
			return CENOTE_ERR_NOMEM;
		note_variable(s, copy, value);
		r = tell(s, copy, value, n_value);
		if (r < 0)
			return r;
	} while (mysql_session_track_get_next(
			 s->my, SESSION_TRACK_SYSTEM_VARIABLES, &name, &n_name) == 0);
	return CENOTE_OK;
}

/* Report other changes of the session, if its client asked for them. */
static int
track_others(struct cnd_session *s)
{
	static const struct {
		enum enum_session_state_type kind;
		const char *name;
	} kinds[] = {
		{ SESSION_TRACK_GTIDS, "session_gtids" },
		{ SESSION_TRACK_STATE_CHANGE, "session_state_change" },
		{ SESSION_TRACK_TRANSACTION_CHARACTERISTICS,
			"transaction_characteristics" },
		{ SESSION_TRACK_TRANSACTION_STATE, "transaction_state" },
	};
	const char *data;
	size_t len;
	int r = CENOTE_OK;

	for (size_t i = 0; r == CENOTE_OK && i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (mysql_session_track_get_first(s->my, kinds[i].kind, &data, &len) == 0)
			r = tell(s, kinds[i].name, data, len);
	}
	return r;
}

int
cnd_my_track(struct cnd_session *s)
{
	const char *data;
	size_t len;
	int r = CENOTE_OK;

	if (!(cnd_my_status(s->my) & SERVER_SESSION_STATE_CHANGED))
		return CENOTE_OK;
	if (mysql_session_track_get_first(s->my, SESSION_TRACK_SCHEMA, &data, &len) ==
		0) {
		s->trace.is_database_changed = 1;
		cnd_my_may_have_set(s);
		r = tell(s, "database", data, len);
	}
	if (r == CENOTE_OK)
		r = track_variables(s);
	return r == CENOTE_OK ? track_others(s) : r;
}

/* ---- the life of a session ---- */

int
cnd_my_ping(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	int r = cnd_my_enter(s, ret_diag, NULL);

	if (r == CENOTE_OK && mysql_ping(s->my) != 0)
		r = cnd_my_failed(s, NULL);
	return r;
}

/* The server sends nothing unasked except the reason why it closes; some versions do not even send that. */
int
cnd_my_idle(struct cnd_session *s, struct cnd_sink *sink)
{
	struct cnc_diag none;

	cnc_diag_init(&none, NULL);
	(void)cnd_my_enter_only(s, sink ? sink->diag : &none, sink);
	/* the library reads the waiting bytes as the answer */
	if (mysql_ping(s->my) != 0)
		(void)cnd_my_failed(s, NULL);
	else
		cnc_diag_set(s->diag, CNC_SQLSTATE(CONNECTION_LOST),
			"%s sent something that nobody asked for", s->server);
	s->is_lost = 1;
	s->diag = NULL;
	cnc_diag_finish(&none);
	return CENOTE_ERR_CONN;
}

static int
tell_setting(void *user, MYSQL_ROW row, const unsigned long *lengths, unsigned n)
{
	static const char *const names[] = { "autocommit", "sql_mode", "time_zone",
		"character_set_client" };
	struct cnd_session *s = user;
	int r = CENOTE_OK;

	for (unsigned i = 0; r == CENOTE_OK && i < n; i++)
		r = tell(s, names[i], row[i] ? row[i] : "", lengths[i]);
	return r;
}

/* Another user begins with other settings, and the server does not report them by itself. */
static int
tell_settings(struct cnd_session *s)
{
	static const char sql[] = "SELECT IF(@@autocommit, 'ON', 'OFF'), @@sql_mode, "
				  "@@time_zone, @@character_set_client";

	return cnd_my_each(s, sql, sizeof(sql) - 1, tell_setting, s);
}

int
cnd_my_change_user(
	struct cnd_session *s, const struct cnp_change_user *to, struct cnd_sink *sink)
{
	struct cnp_done done;
	int r = cnd_my_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	/* even after a failure, only a login returns the session to the pool's user */
	s->trace.is_user_changed = 1;
	s->trace.pins |= CENOTE_PIN_SETTINGS;
	if (mysql_change_user(s->my, to->user.p,
		    to->password.n > 0 ? to->password.p : NULL,
		    to->database.n > 0 ? to->database.p : NULL)) {
		r = cnd_my_failed(s, NULL);
		s->trace.has_failed_user = r == CENOTE_ERR_SERVER;
		/* the transaction and the settings are gone even after a failure */
		if (s->trace.has_failed_user &&
			(cnd_my_refresh_status(s->my, s->wants.is_single) != 0 ||
				tell_settings(s) < 0))
			s->is_lost = 1;
		return r;
	}
	s->host->forget(s->host, s);
	cnd_my_done(s, &done);
	done.tag = cnp_str("CHANGE USER");
	r = tell_settings(s);
	return r < 0 ? r : sink->ops->done(sink, &done);
}

int
cnd_my_select_database(
	struct cnd_session *s, const char *database, size_t len, struct cnd_sink *sink)
{
	char *name;
	int r = cnd_my_enter(s, sink->diag, sink);

	if (r < 0)
		return r;
	name = cnc_arena_strndup(&s->arena, database, len);
	if (!name)
		return CENOTE_ERR_NOMEM;
	if (memchr(database, 0, len))
		return cnd_refuse(s->diag, CNC_SQLSTATE(NO_SCHEMA), NULL,
			"a database's name cannot hold a zero byte");
	if (mysql_select_db(s->my, name) != 0)
		return cnd_my_failed(s, NULL);
	cnd_my_take_status(s->my);
	s->trace.is_database_changed = 1;
	s->trace.n_meanings++;
	cnd_my_may_have_set(s);
	r = tell(s, "database", name, len);
	return r < 0 ? r : cnd_my_answer_done(s, "USE", sink);
}

int
cnd_my_set_option(struct cnd_session *s, const char *name, const char *value,
	struct cnc_diag *ret_diag)
{
	int on = strcasecmp(value, "on") == 0 || strcmp(value, "1") == 0 ||
		 strcasecmp(value, "yes") == 0;
	int off = strcasecmp(value, "off") == 0 || strcmp(value, "0") == 0 ||
		  strcasecmp(value, "no") == 0;

	if (strcmp(name, "multi_statements") == 0 && (on || off)) {
		s->wants.single = (uint8_t)off;
		return CENOTE_OK;
	}
	if (strcmp(name, "progress") == 0 && (on || off)) {
		s->wants.progress = (uint8_t)on;
		return CENOTE_OK;
	}
	if (strcmp(name, "more_results") == 0 && (on || off)) {
		s->wants.more = (uint8_t)on;
		return CENOTE_OK;
	}
	/* libcenote sets its options again after a reset, which keeps this option */
	if (strcmp(name, "mysql_login") == 0 && cnd_my_has_settings(s, value))
		return CENOTE_OK;
	if (strcmp(name, "found_rows") == 0 && (on || off)) {
		if (on == s->opt.has_found_rows)
			return CENOTE_OK;
		cnc_diag_set(ret_diag, CNC_SQLSTATE(BAD_PARAMETER),
			"found_rows is fixed at login: the pool's server line decides "
			"(found_rows=yes)");
		return CENOTE_ERR_ARG;
	}
	cnc_diag_set(ret_diag, CNC_SQLSTATE(BAD_PARAMETER),
		"there is no option %s=%s: allowed are multi_statements=on|off, "
		"progress=on|off, more_results=on|off and found_rows=on|off",
		name, value);
	return CENOTE_ERR_ARG;
}
