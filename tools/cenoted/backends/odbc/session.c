/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The life of a session: connect through the driver manager, attach a client, reset, report the state, log out. It
 * owns the connection and the facts about the driver.
 */
#include <poll.h>
#include <string.h>

#include "odbc.h"

#define VALUE_MAX ((size_t)CNC_BATCH_ROW_MAX)

/* ---- connecting ---- */

static void
disconnect(struct cnd_session *s)
{
	if (!s->dbc)
		return;
	cnd_od_call_begin(s, NULL);
	(void)SQLDisconnect(s->dbc);
	(void)SQLFreeHandle(SQL_HANDLE_DBC, s->dbc);
	cnd_od_call_end(s);
	s->dbc = NULL;
	s->watch.own.n = 0;
}

static SQLRETURN
driver_connect(struct cnd_session *s, const struct cnd_od_text *text)
{
	SQLSMALLINT n;
	SQLRETURN rc;

	cnd_od_sockets_list(&s->watch.before);
	s->watch.is_login = 1;
	cnd_od_call_begin(s, NULL);
	rc = CND_OD_CALL(s, SQLDriverConnect, s->dbc, NULL, text->p, (SQLSMALLINT)text->n,
		NULL, 0, &n, SQL_DRIVER_NOPROMPT);
	cnd_od_call_end(s);
	s->watch.is_login = 0;
	return rc;
}

/* A login error that does not say otherwise means that the server cannot be reached. */
static int
fail_login(struct cnd_session *s)
{
	int r = cnd_od_fail(s, SQL_HANDLE_DBC, s->dbc);

	return r == CENOTE_ERR_SERVER && s->stop == 0 ? CENOTE_ERR_CONN : r;
}

static int
open_connection(struct cnd_session *s)
{
	struct cnd_od_sockets now;
	struct cnd_od_text text;
	SQLRETURN rc;
	int r = cnd_od_text_make(s, s->connect, strlen(s->connect), &text);

	if (r == CENOTE_ERR_CONVERT) {
		cnc_diag_set(s->diag, CNC_SQLSTATE(BAD_PARAMETER),
			"the connection string is not UTF-8");
		return CENOTE_ERR_CONN;
	}
	if (r < 0)
		return r;
	if (!CND_OD_OK(SQLAllocHandle(SQL_HANDLE_DBC, s->env, &s->dbc))) {
		cnd_od_text_finish(s, &text);
		return CENOTE_ERR_NOMEM;
	}
	(void)SQLSetConnectAttr(s->dbc, SQL_ATTR_LOGIN_TIMEOUT,
		(SQLPOINTER)(uintptr_t)s->opt.connect_timeout, SQL_IS_UINTEGER);
	rc = driver_connect(s, &text);
	if (text.is_owned)
		cnc_wipe(text.p, text.n * sizeof(SQLWCHAR));
	cnd_od_text_finish(s, &text);
	if (!CND_OD_OK(rc))
		return fail_login(s);
	cnd_od_sockets_list(&now);
	cnd_od_sockets_new(&s->watch.before, &now, &s->watch.own);
	return CENOTE_OK;
}

/* ---- facts about the driver ---- */

static void
get_text(struct cnd_session *s, SQLUSMALLINT what, char *out, size_t size)
{
	SQLWCHAR raw[512] = { 0 };
	SQLSMALLINT n = 0;
	SQLRETURN rc;

	rc = CND_OD_CALL(s, SQLGetInfo, s->dbc, what, raw, (SQLSMALLINT)sizeof(raw), &n);
	out[0] = '\0';
	if (!CND_OD_OK(rc) || n < 0)
		return;
	if (n >= (SQLSMALLINT)sizeof(raw))
		n = (SQLSMALLINT)(sizeof(raw) - sizeof(SQLWCHAR));
	cnd_od_text_take(
		s, raw, s->is_wide ? (size_t)n / sizeof(SQLWCHAR) : (size_t)n, out, size);
}

static uint16_t
get_number(struct cnd_session *s, SQLUSMALLINT what)
{
	SQLUSMALLINT v = 0;

	return CND_OD_OK(SQLGetInfo(s->dbc, what, &v, sizeof(v), NULL)) ? v : 0;
}

/* Whether SQLGetData() can read unbound and cut columns of the same row, in any order. */
static int
can_bind(struct cnd_session *s)
{
	const SQLUINTEGER needed = SQL_GD_ANY_COLUMN | SQL_GD_ANY_ORDER | SQL_GD_BOUND;
	SQLUINTEGER v = 0;

	return CND_OD_OK(
		       SQLGetInfo(s->dbc, SQL_GETDATA_EXTENSIONS, &v, sizeof(v), NULL)) &&
	       (v & needed) == needed;
}

static void
learn_driver(struct cnd_session *s)
{
	SQLUSMALLINT has = SQL_FALSE;
	char escape[8];

	get_text(s, SQL_DRIVER_NAME, s->driver, sizeof(s->driver));
	get_text(s, SQL_DBMS_NAME, s->dbms, sizeof(s->dbms));
	s->quirks = cnd_od_quirks_find(s->driver, s->dbms);
	if (s->opt.text == CND_OD_TEXT_AUTO)
		s->is_wide = !s->quirks->is_narrow;
	get_text(s, SQL_DBMS_VER, s->server_version, sizeof(s->server_version));
	get_text(s, SQL_DATABASE_NAME, s->database, sizeof(s->database));
	get_text(s, SQL_SERVER_NAME, s->server, sizeof(s->server));
	get_text(s, SQL_IDENTIFIER_QUOTE_CHAR, s->quote, sizeof(s->quote));
	if (strcmp(s->quote, " ") == 0)
		s->quote[0] = '\0';
	get_text(s, SQL_SEARCH_PATTERN_ESCAPE, escape, sizeof(escape));
	s->escape = escape[0];
	s->cursor_behaviour[0] = get_number(s, SQL_CURSOR_COMMIT_BEHAVIOR);
	s->cursor_behaviour[1] = get_number(s, SQL_CURSOR_ROLLBACK_BEHAVIOR);
	s->can_bind = (uint8_t)can_bind(s);
	(void)SQLGetFunctions(s->dbc, SQL_API_SQLDESCRIBEPARAM, &has);
	s->describes_params = has == SQL_TRUE;
	s->isolation = 0;
	(void)SQLGetConnectAttr(
		s->dbc, SQL_ATTR_TXN_ISOLATION, &s->isolation, SQL_IS_UINTEGER, NULL);
}

/* Make a session for the next client. After a failure, only logout may be called. */
static int
open_session(struct cnd_session *s)
{
	int r;

	s->is_lost = 0;
	s->watch.is_cut = 0;
	s->is_wide = s->opt.text != CND_OD_TEXT_NARROW;
	r = open_connection(s);
	if (r < 0)
		return r;
	learn_driver(s);
	if (s->opt.init)
		r = cnd_od_internal(s, s->opt.init);
	s->is_used = 0;
	s->is_noisy = 0;
	return r == CENOTE_ERR_SERVER && s->stop == 0 ? CENOTE_ERR_CONN : r;
}

/* ---- login and logout ---- */

static const char *
keep(struct cnd_session *s, const char *text, int *is_short)
{
	const char *copy = text ? cnc_arena_strndup(&s->line, text, strlen(text)) : NULL;

	*is_short |= text && !copy;
	return copy;
}

/* Keep the options that are needed after the login. */
static int
keep_options(struct cnd_session *s, const struct cnd_od_options *opt)
{
	int is_short = 0;

	s->opt = *opt;
	s->opt.dsn = keep(s, opt->dsn, &is_short);
	s->opt.init = keep(s, opt->init, &is_short);
	s->opt.ping = keep(s, opt->ping, &is_short);
	s->opt.connect = s->opt.user = s->opt.password = s->opt.passfile = NULL;
	return is_short ? CENOTE_ERR_NOMEM : CENOTE_OK;
}

static int
make_environment(struct cnd_session *s)
{
	if (!CND_OD_OK(SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &s->env)))
		return CENOTE_ERR_NOMEM;
	(void)SQLSetEnvAttr(s->env, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)SQL_OV_ODBC3, 0);
	return cnd_od_watch_start(s);
}

int
cnd_od_login(const struct cnd_host *host, const struct cnd_server_spec *spec,
	struct cnd_session **ret_session, struct cnc_diag *ret_diag)
{
	struct cnd_od_options opt;
	struct cnd_session *s;
	int r = cnd_od_options_read(spec, &opt, ret_diag);

	if (r < 0)
		return r;
	s = cnc_calloc(host->mem, 1, sizeof(*s));
	if (!s)
		return CENOTE_ERR_NOMEM;
	s->host = host;
	s->mem = host->mem;
	s->diag = ret_diag;
	cnc_arena_init(&s->line, s->mem);
	cnc_buf_init(&s->value, s->mem, VALUE_MAX);
	r = cnd_od_connect_string(&opt, s->mem, &s->connect, ret_diag);
	if (r == CENOTE_OK)
		r = keep_options(s, &opt);
	if (r == CENOTE_OK)
		r = make_environment(s);
	if (r == CENOTE_OK)
		r = open_session(s);
	if (r < 0) {
		cnd_od_logout(s);
		return r;
	}
	s->diag = NULL;
	*ret_session = s;
	return CENOTE_OK;
}

static void
close_statements(struct cnd_session *s)
{
	s->host->forget(s->host, s);
	cnd_od_stmt_destroy(s, s->spare);
	s->spare = NULL;
}

void
cnd_od_logout(struct cnd_session *s)
{
	if (!s)
		return;
	s->diag = NULL;
	s->sink = NULL;
	close_statements(s);
	disconnect(s);
	cnd_watch_stop(&s->watch.thread);
	if (s->env)
		(void)SQLFreeHandle(SQL_HANDLE_ENV, s->env);
	if (s->connect)
		cnc_wipe(s->connect, strlen(s->connect));
	cnc_free(s->mem, s->connect);
	cnc_arena_finish(&s->line);
	cnc_buf_finish(&s->value);
	cnc_free(s->mem, s);
}

void
cnd_od_info(const struct cnd_session *s, struct cnd_info *ret_info)
{
	struct cnd_option *parameters = (struct cnd_option *)(uintptr_t)s->parameters;

	parameters[0] = (struct cnd_option){ "odbc_driver", s->driver };
	parameters[1] = (struct cnd_option){ "odbc_dbms", s->dbms };
	parameters[2] =
		(struct cnd_option){ "odbc_text", s->is_wide ? "wide" : "narrow" };
	parameters[3] = (struct cnd_option){ "odbc_tested",
		s->quirks->tested ? s->quirks->tested : "no" };
	*ret_info = (struct cnd_info){
		.server = s->server[0] || !s->opt.dsn ? s->server : s->opt.dsn,
		.server_version = s->server_version,
		.database = s->database,
		.parameters = parameters,
		.n_parameters = 4,
	};
}

int
cnd_od_internal(struct cnd_session *s, const char *sql)
{
	struct cnd_od_stmt *st;
	struct cnd_od_text text;
	SQLRETURN rc;
	int r = cnd_od_text_make(s, sql, strlen(sql), &text);

	if (r < 0)
		return r;
	r = cnd_od_stmt_take(s, &st);
	if (r == CENOTE_OK) {
		st->is_open = 1;
		cnd_od_call_begin(s, st->handle);
		rc = CND_OD_CALL(
			s, SQLExecDirect, st->handle, text.p, (SQLINTEGER)text.n);
		cnd_od_call_end(s);
		if (!CND_OD_OK(rc) && rc != SQL_NO_DATA)
			r = cnd_od_fail(s, SQL_HANDLE_STMT, st->handle);
		cnd_od_stmt_give(s, st);
	}
	cnd_od_text_finish(s, &text);
	return r;
}

/* Drivers notice a lost connection only when they use it. */
static int
ask_server(struct cnd_session *s)
{
	const char *sql = s->opt.ping ? s->opt.ping : s->quirks->ping;
	SQLUINTEGER dead = SQL_CD_FALSE;
	int r = sql ? cnd_od_internal(s, sql) : CENOTE_OK;

	/* with autocommit off, the ping began a transaction */
	if (r == CENOTE_OK && sql && s->is_manual && s->tx == CND_OD_TX_NONE)
		r = cnd_od_end_tx(s, SQL_ROLLBACK);
	if (r != CENOTE_OK || s->is_lost)
		return r;
	(void)SQLGetConnectAttr(
		s->dbc, SQL_ATTR_CONNECTION_DEAD, &dead, SQL_IS_UINTEGER, NULL);
	if (dead != SQL_CD_TRUE)
		return CENOTE_OK;
	s->is_lost = 1;
	return cnd_od_enter(s, s->diag, NULL);
}

int
cnd_od_ping(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	int r = cnd_od_enter(s, ret_diag, NULL);

	return r < 0 ? r : ask_server(s);
}

int
cnd_od_attach(
	struct cnd_session *s, const struct cnp_str *carry, struct cnc_diag *ret_diag)
{
	/* nothing is carried: the worker sets autocommit again, and all other state pins the session */
	(void)carry;
	return cnd_od_enter(s, ret_diag, NULL);
}

/* ---- reset ---- */

static void
forget_client(struct cnd_session *s)
{
	s->pins = 0;
	s->is_tx_failed = 0;
	s->is_manual = 0;
	s->tx = CND_OD_TX_NONE;
	s->is_used = 0;
}

static int
reconnect(struct cnd_session *s)
{
	/* if this fails, the locks go with the connection */
	if (s->quirks->release && !s->is_lost)
		(void)cnd_od_internal(s, s->quirks->release);
	cnd_od_stmt_destroy(s, s->spare);
	s->spare = NULL;
	disconnect(s);
	forget_client(s);
	return open_session(s);
}

/* CENOTE_DONE: only a new login resets this session. */
static int
reset_in_place(struct cnd_session *s)
{
	int r = CENOTE_DONE;

	if (s->opt.reset == CND_OD_RESET_ATTRIBUTE && !s->quirks->lies_on_reset) {
		if (SQLSetConnectAttr(s->dbc, SQL_ATTR_RESET_CONNECTION,
			    (SQLPOINTER)SQL_RESET_CONNECTION_YES,
			    SQL_IS_UINTEGER) == SQL_SUCCESS)
			r = CENOTE_OK;
	} else if (s->opt.reset == CND_OD_RESET_AUTO && s->quirks->reset) {
		r = cnd_od_internal(s, s->quirks->reset);
	}
	if (r == CENOTE_OK && s->opt.init)
		r = cnd_od_internal(s, s->opt.init);
	return r;
}

int
cnd_od_reset(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	int r;

	r = cnd_od_enter(s, ret_diag, NULL);
	if (r < 0)
		return r;
	close_statements(s);
	/* the client ran nothing, so the session is unchanged */
	if (!s->is_used) {
		forget_client(s);
		return CENOTE_OK;
	}
	r = cnd_od_end_tx(s, SQL_ROLLBACK);
	if (r == CENOTE_OK)
		r = reset_in_place(s);
	if (r != CENOTE_OK)
		return s->stop < 0 ? s->stop : reconnect(s);
	forget_client(s);
	return CENOTE_OK;
}

void
cnd_od_state(const struct cnd_session *s, struct cnd_state *ret_state)
{
	*ret_state = (struct cnd_state){
		.tx = CENOTE_TX_UNKNOWN, .pins = s->pins, .carry = CNP_STR_NONE
	};
	if (s->is_lost)
		return;
	if (s->is_tx_failed && s->tx != CND_OD_TX_NONE)
		ret_state->tx = CENOTE_TX_FAILED;
	else
		ret_state->tx = s->tx != CND_OD_TX_NONE ? CENOTE_TX_OPEN : CENOTE_TX_IDLE;
	if (cnd_has_portals(s->host->statements))
		ret_state->pins |= CENOTE_PIN_CURSOR;
}

/* ---- while no request runs ---- */

int
cnd_od_fd(const struct cnd_session *s)
{
	return s->is_noisy || s->watch.own.n != 1 ? -1 : s->watch.own.list[0].fd;
}

/* The driver reads unexpected bytes with its next answer, so leave them. Only notice the end of the
 * connection. */
int
cnd_od_idle(struct cnd_session *s, struct cnd_sink *sink)
{
	struct pollfd p = { .fd = cnd_od_fd(s), .events = POLLIN | POLLRDHUP };

	(void)sink;
	if (p.fd < 0 || poll(&p, 1, 0) <= 0)
		return CENOTE_OK;
	if (!(p.revents & (POLLRDHUP | POLLHUP | POLLERR))) {
		s->is_noisy = 1;
		return CENOTE_OK;
	}
	s->is_lost = 1;
	return CENOTE_ERR_CONN;
}
