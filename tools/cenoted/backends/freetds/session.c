/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The life of a session: log in with ct-library, attach a client, report the state, log out. It owns the
 * connection and the facts about the server.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "../common/line.h"
#include "tds.h"

/* The variable that names the file which ct-library reads besides the properties. */
#define CONF_VARIABLE "FREETDSCONF"
/* How often the library looks whether to go on waiting; it counts in seconds. */
#define LOOK_SECONDS  1

/* ---- logging in ---- */

/* Keep a copy of the options: the line's text outlives this call, but not the session. */
static int
keep_options(struct cnd_session *s, const struct cnd_server_spec *spec)
{
	struct cnd_server_spec kept;
	int r = cnd_line_keep(spec, &s->keep, &kept);

	if (r == CENOTE_OK)
		r = cnd_tds_options_read(&kept, &s->opt, s->diag);
	if (r < 0 || !s->opt.passfile)
		return r;
	return cnd_line_keep_password(
		s->opt.passfile, s->opt.user, &s->keep, &s->opt.password, s->diag);
}

static int
name_server(struct cnd_session *s)
{
	const struct cnd_tds_options *o = &s->opt;
	char text[300];
	int n;

	if (o->section)
		n = snprintf(text, sizeof(text), "[%s] of %s", o->section,
			o->conf ? o->conf : "freetds.conf");
	else if (o->instance)
		n = snprintf(text, sizeof(text), "%s\\%s", o->host, o->instance);
	else
		n = snprintf(text, sizeof(text), "%s:%u", o->host, cnd_tds_port(o));
	s->server = cnc_arena_strndup(
		&s->keep, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
	return s->server ? CENOTE_OK : CENOTE_ERR_NOMEM;
}

static int
set_text(struct cnd_session *s, CS_INT property, const char *value)
{
	/* the library's parameter is not const, but the library only copies the text */
	return !value || ct_con_props(s->con, CS_SET, property,
				 (CS_VOID *)(uintptr_t)value, CS_NULLTERM,
				 NULL) == CS_SUCCEED
		       ? CENOTE_OK
		       : CENOTE_ERR_NOMEM;
}

static int
set_number(struct cnd_session *s, CS_INT property, CS_INT value)
{
	return ct_con_props(s->con, CS_SET, property, &value, CS_UNUSED, NULL) ==
			       CS_SUCCEED
		       ? CENOTE_OK
		       : CENOTE_ERR_NOMEM;
}

static int
set_properties(struct cnd_session *s)
{
	const struct cnd_tds_options *o = &s->opt;
	const struct {
		CS_INT property;
		const char *value;
	} texts[] = {
		{ CS_USERNAME, o->user },
		{ CS_PASSWORD, o->password },
		{ CS_DATABASE, o->database },
		{ CS_APPNAME, o->app_name },
		{ CS_HOSTNAME, o->client_host },
		{ CS_CLIENTCHARSET, o->client_charset },
	};
	int r = CENOTE_OK;

	for (size_t i = 0; r == CENOTE_OK && i < sizeof(texts) / sizeof(texts[0]); i++)
		r = set_text(s, texts[i].property, texts[i].value);
	if (r == CENOTE_OK && o->connect_timeout > 0)
		r = set_number(s, CS_LOGIN_TIMEOUT, (CS_INT)o->connect_timeout);
	return r;
}

/* Set the variable only while the library reads it: it belongs to the whole process. */
static void
name_conf(const char *path, char **former)
{
	const char *was = getenv(CONF_VARIABLE);

	*former = was ? strdup(was) : NULL;
	if (path)
		(void)setenv(CONF_VARIABLE, path, 1);
}

static void
rename_conf(char *former)
{
	if (former)
		(void)setenv(CONF_VARIABLE, former, 1);
	else
		(void)unsetenv(CONF_VARIABLE);
	free(former);
}

static int
connect_to(struct cnd_session *s, const char *conf, const char *section)
{
	struct cnd_tds_fds *before = cnc_arena_alloc(&s->arena, sizeof(*before));
	char *former = NULL;
	CS_RETCODE r;

	if (!before)
		return CENOTE_ERR_NOMEM;
	cnd_tds_note_fds(before);
	name_conf(conf, &former);
	r = ct_connect(s->con, (CS_CHAR *)(uintptr_t)section, CS_NULLTERM);
	rename_conf(former);
	if (r != CS_SUCCEED)
		return CENOTE_ERR_CONN;
	s->fd = cnd_tds_find_fd(before);
	return set_number(s, CS_TIMEOUT, LOOK_SECONDS);
}

static int
connect_by_line(struct cnd_session *s)
{
	char path[32];
	int fd = cnd_tds_conf_make(&s->opt);
	int r;

	if (fd < 0)
		return CENOTE_ERR_NOMEM;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = connect_to(s, path, CND_TDS_SECTION);
	close(fd);
	return r;
}

static int
open_session(struct cnd_session *s)
{
	CS_VOID *self = s;
	int r;

	if (cs_ctx_alloc(CS_VERSION_100, &s->ctx) != CS_SUCCEED ||
		ct_init(s->ctx, CS_VERSION_100) != CS_SUCCEED ||
		cs_config(s->ctx, CS_SET, CS_USERDATA, &self, sizeof(self), NULL) !=
			CS_SUCCEED)
		return CENOTE_ERR_NOMEM;
	cnd_tds_listen(s);
	if (ct_con_alloc(s->ctx, &s->con) != CS_SUCCEED)
		return CENOTE_ERR_NOMEM;
	r = set_properties(s);
	if (r == CENOTE_OK)
		r = s->opt.section ? connect_to(s, s->opt.conf, s->opt.section)
				   : connect_by_line(s);
	if (r == CENOTE_ERR_CONN && !s->has_error)
		cnd_tds_explain(s);
	return r;
}

/* ---- facts about the session ---- */

static int
add_parameter(struct cnd_session *s, const char *key, const char *value)
{
	char *copy = cnc_arena_strndup(&s->facts, value, strlen(value));

	if (!copy)
		return CENOTE_ERR_NOMEM;
	if (s->n_parameters < CND_TDS_PARAMETERS)
		s->parameters[s->n_parameters++] = (struct cnd_option){ key, copy };
	return CENOTE_OK;
}

static const char *
tds_version(struct cnd_session *s)
{
	static const char *const names[] = { "4.0", "4.2", "4.6", "4.9.5", "5.0", "7.0",
		"7.1", "7.2", "7.3", "7.4" };
	CS_INT version = 0;

	if (ct_con_props(s->con, CS_GET, CS_TDS_VERSION, &version, CS_UNUSED, NULL) !=
			CS_SUCCEED ||
		version < CS_TDS_40 ||
		version >= CS_TDS_40 + (CS_INT)(sizeof(names) / sizeof(names[0])))
		return "";
	return names[version - CS_TDS_40];
}

/* No call of ct-library tells about TLS. TLS is certain only if the line requires it. */
static int
learn_tls(struct cnd_session *s)
{
	static const char unknown[] = "not told by this FreeTDS";
	int r;

	if (!cnd_tds_requires_tls(&s->opt))
		return CENOTE_OK;
	r = add_parameter(s, "server_tls_version", unknown);
	return r < 0 ? r : add_parameter(s, "server_tls_cipher", unknown);
}

/* Ask what the server is, and for the facts that the faces tell their programs. */
int
cnd_tds_learn_facts(struct cnd_session *s)
{
	char *facts[4], *product[1] = { NULL };
	int r;

	cnc_arena_clear(&s->facts);
	s->n_parameters = 0;
	r = cnd_tds_ask(s,
		"select @@version, db_name(), convert(varchar(12), @@spid), "
		"convert(varchar(12), @@trancount)",
		facts, 4);

	if (r < 0)
		return r;
	s->is_sybase = facts[0] && (strstr(facts[0], "Adaptive Server") ||
					   strstr(facts[0], "SQL Anywhere"));
	s->is_babelfish = facts[0] && strstr(facts[0], "Babelfish");
	if (facts[0])
		facts[0][strcspn(facts[0], "\r\n")] = '\0';
	s->database = cnc_arena_strndup(
		&s->keep, facts[1] ? facts[1] : "", facts[1] ? strlen(facts[1]) : 0);
	if (!s->database)
		return CENOTE_ERR_NOMEM;
	r = add_parameter(s, "version", facts[0] ? facts[0] : "");
	if (r == CENOTE_OK)
		r = add_parameter(s, "connection_id", facts[2] ? facts[2] : "");
	if (r == CENOTE_OK)
		r = add_parameter(s, "tds_version", tds_version(s));
	if (r == CENOTE_OK)
		r = learn_tls(s);
	if (r == CENOTE_OK && !s->is_sybase)
		r = cnd_tds_ask(s,
			"select convert(varchar(60), serverproperty('ProductVersion'))",
			product, 1);
	if (r == CENOTE_OK && !product[0])
		product[0] = facts[0];
	s->version = cnc_arena_strndup(&s->facts, product[0] ? product[0] : "",
		product[0] ? strlen(product[0]) : 0);
	return r == CENOTE_OK && !s->version ? CENOTE_ERR_NOMEM : r;
}

static void
close_session(struct cnd_session *s)
{
	if (s->cmd)
		(void)ct_cmd_drop(s->cmd);
	if (s->con) {
		(void)ct_close(s->con, CS_FORCE_CLOSE);
		(void)ct_con_drop(s->con);
	}
	if (s->ctx) {
		(void)ct_exit(s->ctx, CS_FORCE_EXIT);
		(void)cs_ctx_drop(s->ctx);
	}
}

static int
log_in(struct cnd_session *s, const struct cnd_server_spec *spec)
{
	int r = keep_options(s, spec);

	if (r == CENOTE_OK)
		r = name_server(s);
	if (r == CENOTE_OK)
		r = open_session(s);
	s->is_logging_in = 0;
	if (r == CENOTE_OK)
		r = cnd_tds_learn_facts(s);
	s->has_run = 0;
	return r == CENOTE_OK || r == CENOTE_ERR_NOMEM || r == CENOTE_ERR_ARG
		       ? r
		       : CENOTE_ERR_CONN;
}

int
cnd_tds_login(const struct cnd_host *host, const struct cnd_server_spec *spec,
	struct cnd_session **ret_session, struct cnc_diag *ret_diag)
{
	struct cnd_session *s = cnc_calloc(host->mem, 1, sizeof(*s));
	int r;

	if (!s)
		return CENOTE_ERR_NOMEM;
	s->host = host;
	s->mem = host->mem;
	s->fd = -1;
	cnc_arena_init(&s->arena, s->mem);
	cnc_arena_init(&s->keep, s->mem);
	cnc_arena_init(&s->facts, s->mem);
	s->is_logging_in = 1;
	s->diag = ret_diag;
	r = log_in(s, spec);
	if (r < 0) {
		cnd_tds_logout(s);
		return r;
	}
	*ret_session = s;
	return CENOTE_OK;
}

void
cnd_tds_logout(struct cnd_session *s)
{
	if (!s)
		return;
	s->diag = NULL;
	close_session(s);
	s->is_lost = 1;
	s->host->forget(s->host, s);
	cnd_tds_forget_savepoints(s);
	if (s->opt.password)
		cnc_wipe((void *)(uintptr_t)s->opt.password, strlen(s->opt.password));
	cnc_arena_finish(&s->arena);
	cnc_arena_finish(&s->keep);
	cnc_arena_finish(&s->facts);
	cnc_free(s->mem, s);
}

void
cnd_tds_info(const struct cnd_session *s, struct cnd_info *ret_info)
{
	*ret_info = (struct cnd_info){ .server = s->server,
		.server_version = s->version,
		.database = s->database,
		.parameters = s->parameters,
		.n_parameters = s->n_parameters };
}

int
cnd_tds_ping(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	int r = cnd_tds_enter(s, ret_diag, NULL);

	return r == CENOTE_OK ? cnd_tds_do(s, "select 1") : r;
}

int
cnd_tds_attach(
	struct cnd_session *s, const struct cnp_str *carry, struct cnc_diag *ret_diag)
{
	(void)carry;
	return cnd_tds_enter(s, ret_diag, NULL);
}

void
cnd_tds_state(const struct cnd_session *s, struct cnd_state *ret_state)
{
	*ret_state =
		(struct cnd_state){ .tx = s->tx, .pins = s->pins, .carry = CNP_STR_NONE };
	if (cnd_has_portals(s->host->statements))
		ret_state->pins |= CENOTE_PIN_CURSOR;
}

int
cnd_tds_fd(const struct cnd_session *s)
{
	/* rows that nobody has fetched yet may wait on the connection */
	return s->live ? -1 : s->fd;
}

/* The server sends nothing unasked, except when it closes the connection. */
int
cnd_tds_idle(struct cnd_session *s, struct cnd_sink *sink)
{
	struct cnc_diag none;
	int r;

	cnc_diag_init(&none, NULL);
	r = cnd_tds_enter(s, sink ? sink->diag : &none, sink);
	if (r == CENOTE_OK)
		r = cnd_tds_do(s, "select 1");
	if (r == CENOTE_OK)
		cnc_diag_set(s->diag, CNC_SQLSTATE(CONNECTION_LOST),
			"%s sent something that nobody asked for", s->server);
	s->is_lost = 1;
	s->diag = NULL;
	cnc_diag_finish(&none);
	return CENOTE_ERR_CONN;
}
