/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Log in, and learn the facts about the server and the session that a client is told; log out. module.c calls this file.
 * It owns the connection and the facts.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "../common/line.h"
#include "my.h"

/* Copy the options: the strings of the line live only until login() returns. */
static int
keep_options(struct cnd_session *s, const struct cnd_server_spec *spec)
{
	static const uint8_t none[CND_MY_CARRY_LEN];
	struct cnd_server_spec kept;
	int r;

	r = cnc_buf_append(&s->carry, none, CND_MY_CARRY_LEN);
	if (r == CENOTE_OK)
		r = cnd_line_keep(spec, &s->keep, &kept);
	if (r == CENOTE_OK)
		r = cnd_my_options_read(&kept, &s->opt, s->diag);
	if (r < 0 || !s->opt.passfile)
		return r;
	return cnd_line_keep_password(
		s->opt.passfile, s->opt.user, &s->keep, &s->opt.password, s->diag);
}

static int
name_server(struct cnd_session *s)
{
	const struct cnd_my_options *o = &s->opt;
	char text[300];
	int n;

	if (o->socket || !o->host || strcmp(o->host, "localhost") == 0)
		n = snprintf(text, sizeof(text), "%s",
			o->socket         ? o->socket
			: o->default_file ? o->default_file
					  : "localhost");
	else
		n = snprintf(
			text, sizeof(text), "%s:%u", o->host, o->port ? o->port : 3306u);
	s->server = cnc_arena_strndup(
		&s->keep, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
	return s->server ? CENOTE_OK : CENOTE_ERR_NOMEM;
}

static int
refuse_login(struct cnd_session *s, const char *why)
{
	cnc_diag_set(s->diag, CNC_SQLSTATE(CANNOT_CONNECT), "%s: %s", s->server, why);
	return CENOTE_ERR_CONN;
}

/* Report why the library could not log in. */
static int
explain_refusal(struct cnd_session *s)
{
	const struct cnd_my_options *o = &s->opt;
	unsigned code = mysql_errno(s->my);
	const char *why = mysql_error(s->my);
	char text[1024];

	/* a server that cannot decrypt the password reports a wrong one */
	if (code == CND_MY_ER_ACCESS_DENIED && o->server_public_key && !o->socket &&
		!mysql_get_ssl_cipher(s->my)) {
		(void)snprintf(text, sizeof(text),
			"%.500s; or the key in %.300s is another server's", why,
			o->server_public_key);
		why = text;
	}
	(void)cnd_my_diag(s->diag, code, mysql_sqlstate(s->my), why, s->server);
	return CENOTE_ERR_CONN;
}

static int
open_session(struct cnd_session *s)
{
	int r;

	s->my = mysql_init(NULL);
	if (!s->my)
		return CENOTE_ERR_NOMEM;
	cnd_my_set_options(s->my, &s->opt, s->opt.connect_timeout);
	s->wait.is_hooked = (uint8_t)cnd_my_hook_wait(s->my, cnd_my_on_wait);
	cnd_my_hook_progress(s->my, cnd_my_on_progress);
	cnd_my_infile_init(s);
	r = cnd_my_connect_to(s, s->my);
	if (r < 0) {
		return s->stop < 0 ? s->stop : explain_refusal(s);
	}
	s->is_tls = mysql_get_ssl_cipher(s->my) != NULL;
	if (s->opt.tls_mode == CND_MY_TLS_REQUIRED && !s->is_tls)
		return refuse_login(s, CND_MY_NO_TLS);
	/* a non-blocking socket makes the library call the hook before it waits; for plain sockets it
	 * always does */
	if (s->is_tls && s->wait.is_hooked)
		(void)fcntl(
			cnd_my_fd(s), F_SETFL, fcntl(cnd_my_fd(s), F_GETFL) | O_NONBLOCK);
	s->thread_id = mysql_thread_id(s->my);
	return CENOTE_OK;
}

static int
set_parameter(struct cnd_session *s, const char *key, const char *value, size_t len)
{
	char *copy = cnc_arena_strndup(&s->keep, value, len);
	size_t i = 0;

	if (!copy)
		return CENOTE_ERR_NOMEM;
	while (i < s->n_parameters && strcmp(s->parameters[i].key, key) != 0)
		i++;
	if (i == CND_MY_PARAMETERS)
		return CENOTE_OK;
	s->parameters[i] = (struct cnd_option){ key, copy };
	if (i == s->n_parameters)
		s->n_parameters++;
	return CENOTE_OK;
}

static int
take_facts(void *user, MYSQL_ROW row, const unsigned long *lengths, unsigned n)
{
	static const char *const keys[] = { NULL, "sql_mode", "time_zone",
		"character_set", "collation", "lower_case_table_names", "autocommit" };
	struct cnd_session *s = user;
	unsigned i;
	int r;

	if (row[0] && *row[0])
		s->reset.has_init = 1;
	for (i = 1; i < n; i++) {
		r = set_parameter(s, keys[i], row[i] ? row[i] : "", lengths[i]);
		if (r < 0)
			return r;
	}
	s->reading.lexis = cnd_my_lexis(row[1], row[3]);
	return CENOTE_OK;
}

static int
take_fact(void *user, MYSQL_ROW row, const unsigned long *lengths, unsigned n)
{
	struct cnd_session *s = user;

	if (n > 1)
		return take_facts(user, row, lengths, n);
	if (row[0])
		cnd_my_confirm_native(&s->reading, row[0], lengths[0]);
	return CENOTE_OK;
}

static int
take_tls_version(void *user, MYSQL_ROW row, const unsigned long *lengths, unsigned n)
{
	return n < 2 || !row[1]
		       ? CENOTE_OK
		       : set_parameter(user, "server_tls_version", row[1], lengths[1]);
}

/* The libraries report TLS differently; the server reports the version. */
static int
learn_tls(struct cnd_session *s)
{
	static const char sql[] = "SHOW SESSION STATUS LIKE 'Ssl_version'";
	const char *cipher = mysql_get_ssl_cipher(s->my);
	int r;

	if (!s->is_tls || !cipher)
		return CENOTE_OK;
	r = set_parameter(s, "server_tls_cipher", cipher, strlen(cipher));
	return r < 0 ? r : cnd_my_each(s, sql, sizeof(sql) - 1, take_tls_version, s);
}

#define SETTINGS                                                                         \
	"SELECT @@global.init_connect, @@sql_mode, @@time_zone, "                        \
	"@@character_set_client, @@collation_connection, "                               \
	"@@lower_case_table_names, IF(@@autocommit, 'ON', 'OFF')"

/* Read the state that a session begins with. */
static int
learn_settings(struct cnd_session *s)
{
	static const char sql[] = SETTINGS;

	return cnd_my_each(s, sql, sizeof(sql) - 1, take_facts, s);
}

/* Read these settings, and which functions the server has. MariaDB reports them from 10.6 on; functions.c asks MySQL. */
static int
learn_settings_and_functions(struct cnd_session *s)
{
	static const char sql[] =
		SETTINGS "; SELECT function FROM information_schema.sql_functions"
			 " UNION ALL SELECT word FROM information_schema.keywords"
			 " WHERE word IN ('LASTVAL', 'LAST_VALUE', 'ROW_NUMBER')";
	size_t before = s->n_parameters;
	int r = cnd_my_each(s, sql, sizeof(sql) - 1, take_fact, s);

	if (r != CENOTE_ERR_SERVER || s->is_lost || s->n_parameters == before)
		return r;
	cnc_diag_clear(s->diag);
	return CENOTE_OK;
}

#define REPORT_MAX 2048u

/* What the server said about variables in its answer to the login, as lines "name=value". The library keeps it
 * until the next statement. MariaDB 11.8 says something there, 11.4 does not. 0: nothing, or too much. */
static size_t
login_report(struct cnd_session *s, char report[REPORT_MAX])
{
	const char *text;
	size_t n = 0, len;
	char end = '=';
	int r = mysql_session_track_get_first(
		s->my, SESSION_TRACK_SYSTEM_VARIABLES, &text, &len);

	while (r == 0) {
		if (len >= REPORT_MAX - n)
			return 0;
		if (len > 0)
			memcpy(report + n, text, len);
		n += len;
		report[n++] = end;
		end = end == '=' ? '\n' : '=';
		r = mysql_session_track_get_next(
			s->my, SESSION_TRACK_SYSTEM_VARIABLES, &text, &len);
	}
	return n;
}

static int
set_number(struct cnd_session *s, const char *key, unsigned long number)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%lu", number);

	return set_parameter(s, key, text, (size_t)n);
}

/* The parameters that the client libraries report to their programs. */
static int
learn_facts(struct cnd_session *s)
{
	char report[REPORT_MAX];
	size_t n_report = login_report(s, report);
	unsigned long more = cnd_my_more_capabilities(s->my);
	int r = set_number(s, "connection_id", s->thread_id);

	if (r == CENOTE_OK)
		r = learn_settings_and_functions(s);
	s->reset.modes = cnd_my_modes(s);
	if (r == CENOTE_OK)
		r = cnd_my_learn_functions(s);
	if (r == CENOTE_OK)
		r = s->opt.has_found_rows ? set_parameter(s, "found_rows", "on", 2)
					  : set_parameter(s, "found_rows", "off", 3);
	if (r == CENOTE_OK && n_report > 0)
		r = set_parameter(s, "login_report", report, n_report);
	if (r == CENOTE_OK && more != 0)
		r = set_number(s, "mariadb_capabilities", more);
	return r == CENOTE_OK ? learn_tls(s) : r;
}

/* Read the values of the variables that can move. If the server lacks one of them, none moves. */
static int
learn_variables(struct cnd_session *s)
{
	const char *question = cnd_my_variables_question(s);
	int r;

	if (!question)
		return CENOTE_ERR_NOMEM;
	s->variables.login_lexis = s->reading.lexis;
	/* assume the worst until the server has answered */
	s->variables.login_doubts = CND_MY_NOTE_QUIET | CND_MY_NOTE_WIDE;
	s->trace.doubts = s->variables.login_doubts;
	r = cnd_my_each(s, question, strlen(question), cnd_my_variables_begin, s);
	s->variables.list = NULL;
	if (r == CENOTE_OK && s->variables.login[0])
		s->variables.list = question + strlen("SELECT ");
	if (r != CENOTE_ERR_SERVER || s->is_lost)
		return r;
	cnc_diag_clear(s->diag);
	return CENOTE_OK;
}

/* The pool's own SQL may set the parameters that the client libraries report. */
static int
begin_as_pool(struct cnd_session *s)
{
	int r = cnd_my_run_init(s);

	if (r < 0 || !s->opt.init_command)
		return r;
	r = learn_settings(s);
	return r == CENOTE_OK ? learn_variables(s) : r;
}

static int
log_in(struct cnd_session *s, const struct cnd_server_spec *spec)
{
	int r = keep_options(s, spec);

	if (r == CENOTE_OK)
		r = name_server(s);
	if (r == CENOTE_OK)
		r = open_session(s);
	if (r == CENOTE_OK)
		r = learn_facts(s);
	if (r == CENOTE_OK)
		r = learn_variables(s);
	if (r == CENOTE_OK)
		r = cnd_my_learn_reset(s);
	if (r == CENOTE_OK)
		r = begin_as_pool(s);
	if (r == CENOTE_OK) {
		s->trace.is_database_changed = 0;
		cnd_my_untell(s);
		return CENOTE_OK;
	}
	return r == CENOTE_ERR_NOMEM || r == CENOTE_ERR_ARG ? r : CENOTE_ERR_CONN;
}

int
cnd_my_login(const struct cnd_host *host, const struct cnd_server_spec *spec,
	struct cnd_session **ret_session, struct cnc_diag *ret_diag)
{
	struct cnd_session *s = cnc_calloc(host->mem, 1, sizeof(*s));
	int r;

	if (!s)
		return CENOTE_ERR_NOMEM;
	s->host = host;
	s->mem = host->mem;
	cnc_arena_init(&s->arena, s->mem);
	cnc_arena_init(&s->keep, s->mem);
	cnc_buf_init(&s->carry, s->mem, CND_MY_CARRY_MAX);
	s->is_logging_in = 1;
	(void)cnd_my_enter(s, ret_diag, NULL);
	r = log_in(s, spec);
	s->is_logging_in = 0;
	if (r < 0) {
		cnd_my_logout(s);
		return r;
	}
	*ret_session = s;
	return CENOTE_OK;
}

void
cnd_my_logout(struct cnd_session *s)
{
	if (!s)
		return;
	/* the library would first read an unfinished result to its end */
	cnd_my_wait_for(NULL);
	cnd_my_watch_free(s);
	if (s->my && s->is_lost)
		cnd_my_break(s->my);
	s->host->forget(s->host, s);
	if (s->my)
		mysql_close(s->my);
	if (s->opt.password)
		cnc_wipe((void *)(uintptr_t)s->opt.password, strlen(s->opt.password));
	cnc_arena_finish(&s->arena);
	cnc_arena_finish(&s->keep);
	cnc_buf_finish(&s->carry);
	cnc_free(s->mem, s);
}
