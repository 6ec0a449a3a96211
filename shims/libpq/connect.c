/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include "../common/process.h"
#include "../common/route.h"

#include <stdlib.h>
#include <string.h>

/*
 * A connection from start to finish: PQconnectdb() and the other ways to begin, polling, reset,
 * ping, and freeing. It owns conn->attempt; login.c and target.c have two steps of it.
 *
 * Attaching to a session is cenote_connect(). The settings that libpq sends with a login go with
 * that call, and the pool gives a session that logged in with the same settings. Settings that
 * differ from program to program (application_name, client_encoding) are set afterwards, in one
 * statement, and only if the session has other values.
 */

static PGconn *
conn_new(void)
{
	PGconn *conn = calloc(1, sizeof(*conn));

	if (conn == NULL)
		return NULL;
	conn->tag = &cpq_tag;
	conn->owner = csh_getpid();
	conn->fd = -1;
	conn->status = CONNECTION_BAD;
	conn->inherited.verbosity = PQERRORS_DEFAULT;
	conn->inherited.show_context = PQSHOW_CONTEXT_ERRORS;
	conn->inherited.receiver = cpq_default_receiver;
	conn->inherited.processor = cpq_default_processor;
	initPQExpBuffer(&conn->error);
	if (conn->error.maxlen > 0)
		return conn;
	free(conn);
	return NULL;
}

static void
conn_free(PGconn *conn)
{
	cpq_requests_drop(conn);
	cpq_dialect_leave(conn);
	cpq_cancel_leave(conn);
	cpq_notifies_drop(conn);
	cpq_notices_drop(&conn->notices);
	cpq_parameters_drop(conn);
	cenote_params_destroy(conn->params);
	cenote_conn_destroy(conn->session);
	cpq_login_forget(conn);
	cpq_conninfo_finish(&conn->info);
	cpq_route_finish(&conn->route);
	cpq_events_finish(&conn->events);
	termPQExpBuffer(&conn->error);
	if (conn->copy.line.data != NULL)
		termPQExpBuffer(&conn->copy.line);
	free(conn);
}

void
cpq_PQfinish(PGconn *conn)
{
	if (conn == NULL)
		return;
	if (conn->stand_in != NULL) {
		cpq_original(NULL)->PQfinish(conn->stand_in);
		conn_free(conn);
		return;
	}
	cpq_events_tell_destruction(conn);
	if (conn->session != NULL && conn->status == CONNECTION_OK)
		cpq_trace_word(conn, "Terminate");
	cpq_PQuntrace(conn);
	conn_free(conn);
}

/* Append " -c name=value", as in the server's command line. A backslash keeps blanks together. */
static void
put_setting(PQExpBuffer out, const char *name, const char *value)
{
	appendPQExpBuffer(out, " -c %s=", name);
	for (; *value != '\0'; value++) {
		if (*value == ' ' || *value == '\\' || (*value >= '\t' && *value <= '\r'))
			appendPQExpBufferChar(out, '\\');
		appendPQExpBufferChar(out, *value);
	}
}

/* Pass the settings that libpq sends with its login. RESET returns to these values. */
static int
give_settings(PGconn *conn)
{
	static const char *const variables[][2] = { { "PGDATESTYLE", "DateStyle" },
		{ "PGTZ", "TimeZone" }, { "PGGEQO", "geqo" } };
	const char *options = cpq_conninfo_get(&conn->info, CPQ_KEY_OPTIONS);
	PQExpBufferData text;
	int r = CENOTE_OK;

	if (*options == '\0' && !cpq_environment_says_something())
		return CENOTE_OK;
	initPQExpBuffer(&text);
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *value = getenv(variables[i][0]);

		if (value != NULL && strcmp(value, "default") != 0)
			put_setting(&text, variables[i][1], value);
	}
	appendPQExpBuffer(&text, "%s%s", text.len > 0 ? " " : "", options);
	if (text.maxlen == 0)
		r = CENOTE_ERR_NOMEM;
	else if (text.len > 0)
		r = cenote_set_session_option(conn->session, "settings", text.data);
	termPQExpBuffer(&text);
	return r;
}

static int
session_make(PGconn *conn)
{
	const char *application = cpq_conninfo_get(&conn->info, CPQ_KEY_APPLICATION_NAME);
	const char *encoding = cpq_conninfo_get(&conn->info, CPQ_KEY_CLIENT_ENCODING);
	int r;

	if (*application == '\0')
		application =
			cpq_conninfo_get(&conn->info, CPQ_KEY_FALLBACK_APPLICATION_NAME);
	r = cenote_conn_create(NULL, &conn->session);
	if (r != CENOTE_OK)
		return r;
	cenote_conn_set_getpid(conn->session, csh_getpid);
	r = cenote_conn_set(conn->session, "pool", conn->route.pool);
	if (r == CENOTE_OK && *application != '\0')
		r = cenote_conn_set(conn->session, "application_name", application);
	/* Each session of this connection gets these settings before it is used. */
	if (r == CENOTE_OK && *application != '\0')
		r = cenote_set_session_option(
			conn->session, "application_name", application);
	if (r == CENOTE_OK && *encoding != '\0')
		r = cenote_set_session_option(conn->session, "client_encoding", encoding);
	/* A program must see that its session was ended with pg_terminate_backend(). */
	if (r == CENOTE_OK)
		r = cenote_conn_set(conn->session, "reattach", "planned");
	if (r == CENOTE_OK)
		r = cpq_login_give(conn);
	if (r == CENOTE_OK)
		r = give_settings(conn);
	if (r != CENOTE_OK)
		return r;
	cenote_set_notice_handler(conn->session, cpq_on_notice, conn);
	cenote_set_notification_handler(conn->session, cpq_on_notification, conn);
	cenote_set_parameter_handler(conn->session, cpq_on_parameter, conn);
	return CENOTE_OK;
}

static void
say_cannot_connect(PGconn *conn, int status)
{
	const char *why = conn->session != NULL
				  ? cenote_diag_message(cenote_conn_diag(conn->session))
				  : "";

	conn->status = CONNECTION_BAD;
	/* A pool that is busy or has no server still counts as reached. */
	conn->attempt.is_unreachable =
		status == CENOTE_ERR_CONN && conn->session != NULL &&
		strncmp(cenote_diag_sqlstate(cenote_conn_diag(conn->session)), "08", 2) ==
			0;
	cpq_say(conn, "connection to pool \"%s\" failed: %s", conn->route.pool,
		*why != '\0' ? why : cenote_status_name(status));
}

/* The timeout in seconds; 0: none. */
static long
connect_timeout(const PGconn *conn)
{
	return strtol(cpq_conninfo_get(&conn->info, CPQ_KEY_CONNECT_TIMEOUT), NULL, 10);
}

/* Between two tries there is no descriptor to wait on, so wait here. */
static int
wait_for_try(PGconn *conn)
{
	return cpq_is_between_tries(conn) &&
	       cpq_wait(conn, conn->attempt.deadline_ms) > 0;
}

/* When a caller that waits gives up; 0: never. */
static int64_t
connect_deadline(const PGconn *conn)
{
	long seconds = connect_timeout(conn);

	if (seconds <= 0)
		return 0;
	/* libpq waits at least two seconds, because its clock counts whole seconds. */
	return cpq_now_ms() + 1000 * (seconds < 2 ? 2 : seconds);
}

static int
attach_once(PGconn *conn, int may_block)
{
	int r = session_make(conn);

	if (r != CENOTE_OK)
		return r;
	(void)cenote_set_nonblocking(
		conn->session, may_block ? CENOTE_BLOCKING : CENOTE_NONBLOCKING);
	do
		r = cenote_connect(conn->session);
	while (r == CENOTE_AGAIN && wait_for_try(conn));
	/* From here on there is a descriptor, even if the pool has taken the session back already. */
	if (r == CENOTE_OK)
		(void)cenote_set_nonblocking(conn->session, CENOTE_PASSIVE);
	(void)cenote_set_nonblocking(conn->session, CENOTE_NONBLOCKING);
	return r;
}

/* Begin to attach. 0: the attempt goes on, or has succeeded; -1: it failed, and the error text says
 * why. If the caller waits without a time limit, libcenote does the waiting, which takes fewer
 * calls. */
static int
attach_begin(PGconn *conn, int is_waited_for)
{
	int may_block;
	int r;

	conn->status = CONNECTION_BAD;
	conn->attempt.is_polled = 0;
	conn->attempt.is_unreachable = 0;
	conn->attempt.gives_login = 0;
	conn->attempt.deadline_ms = is_waited_for ? connect_deadline(conn) : 0;
	if (cpq_port_check(&conn->info, &conn->error) < 0)
		return -1;
	may_block = is_waited_for && conn->attempt.deadline_ms == 0;
	r = attach_once(conn, may_block);
	if (cpq_login_again(conn, r))
		r = attach_once(conn, may_block);
	conn->status = CONNECTION_STARTED;
	if (r == CENOTE_OK || r == CENOTE_AGAIN)
		return 0;
	say_cannot_connect(conn, r);
	return -1;
}

static PostgresPollingStatusType
failed(PGconn *conn)
{
	conn->status = CONNECTION_BAD;
	cenote_close(conn->session);
	return PGRES_POLLING_FAILED;
}

static PostgresPollingStatusType
is_ready(PGconn *conn)
{
	const char *missed = cpq_login_missed(conn);

	if (missed == NULL)
		missed = cpq_target_missed(conn);
	if (missed != NULL) {
		cpq_say(conn, "connection to pool \"%s\" failed: %s", conn->route.pool,
			missed);
		return failed(conn);
	}
	if (cpq_parameters_read(conn) < 0) {
		say_cannot_connect(conn, CENOTE_ERR_NOMEM);
		return failed(conn);
	}
	conn->status = CONNECTION_OK;
	conn->fd = cenote_fd(conn->session);
	/* From here on, PQconsumeInput() is the only call that reads without waiting. */
	(void)cenote_set_nonblocking(conn->session, CENOTE_PASSIVE);
	conn->transaction = cenote_tx_state(conn->session);
	resetPQExpBuffer(&conn->error);
	return PGRES_POLLING_OK;
}

static PostgresPollingStatusType
goes_on(PGconn *conn)
{
	return cenote_wants(conn->session) & CENOTE_WANTS_WRITE ? PGRES_POLLING_WRITING
								: PGRES_POLLING_READING;
}

static PostgresPollingStatusType
poll_attach(PGconn *conn)
{
	/* The session may have been attached when the attempt began. */
	int r = cenote_is_connected(conn->session) ? CENOTE_OK
						   : cenote_connect(conn->session);

	if (cpq_login_again(conn, r))
		r = attach_once(conn, 0);
	if (r == CENOTE_AGAIN)
		return goes_on(conn);
	if (r != CENOTE_OK) {
		say_cannot_connect(conn, r);
		return failed(conn);
	}
	if (cpq_dialect_enter(conn) < 0)
		return failed(conn);
	return is_ready(conn);
}

static PostgresPollingStatusType
poll_once(PGconn *conn)
{
	switch (conn->status) {
	case CONNECTION_OK:
		return PGRES_POLLING_OK;
	case CONNECTION_STARTED:
		return poll_attach(conn);
	default:
		return PGRES_POLLING_FAILED;
	}
}

static PostgresPollingStatusType
poll_session(PGconn *conn)
{
	PostgresPollingStatusType status;

	if (conn->session == NULL)
		return PGRES_POLLING_FAILED;
	do
		status = poll_once(conn);
	while ((status == PGRES_POLLING_READING || status == PGRES_POLLING_WRITING) &&
		wait_for_try(conn));
	return status;
}

/* Programs rely on libpq never being connected at the first poll. Nothing has been read by then. If
 * the session was attached at once, PGRES_POLLING_WRITING makes the program call again without
 * waiting. */
static PostgresPollingStatusType
poll_first(PGconn *conn)
{
	conn->attempt.is_polled = 1;
	return cenote_is_connected(conn->session) ? PGRES_POLLING_WRITING : goes_on(conn);
}

PostgresPollingStatusType
cpq_PQconnectPoll(PGconn *conn)
{
	PostgresPollingStatusType status;

	if (conn == NULL)
		return PGRES_POLLING_FAILED;
	if (conn->status == CONNECTION_STARTED && !conn->attempt.is_polled)
		return poll_first(conn);
	status = poll_session(conn);
	if (status == PGRES_POLLING_FAILED && cpq_fall_back(conn, 0) == 0)
		return PGRES_POLLING_WRITING;
	return status;
}

/* The parameters are complete: begin to connect. A handle that failed has the error text. NULL: the
 * original library must serve the connection. */
static PGconn *
start(PGconn *conn, int is_waited_for)
{
	if (cpq_conninfo_complete(&conn->info, &conn->error) < 0)
		return conn;
	conn->is_told = 1;
	if (cpq_conninfo_for_login(&conn->info, &conn->error) < 0 ||
		cpq_conninfo_check(&conn->info, &conn->error) < 0 ||
		cpq_route_find(&conn->route, &conn->info, &conn->error) < 0 ||
		conn->route.way == CPQ_WAY_NONE)
		return conn;
	if (conn->route.way == CPQ_WAY_POOL) {
		if (attach_begin(conn, is_waited_for) == 0 ||
			(is_waited_for && !conn->attempt.is_unreachable) ||
			!csh_may_fall_back())
			return conn;
	}
	if (cpq_original(NULL) == NULL) {
		const char *why;

		(void)cpq_original(&why);
		cpq_say(conn, "cenote: %s", why);
		return conn;
	}
	conn_free(conn);
	return NULL;
}

/* The original library, for making a connection. */
static const struct cpq_original *
the_original(void)
{
	cpq_escape_leave();
	return cpq_original(NULL);
}

/* *ret_is_original: the original library must make the connection, and nothing is
 * returned. */
static PGconn *
begin_params(const char *const *keywords, const char *const *values, int expand_dbname,
	int is_waited_for, int *ret_is_original)
{
	PGconn *conn = conn_new();

	*ret_is_original = 0;
	if (conn == NULL || cpq_conninfo_from_params(&conn->info, keywords, values,
				    expand_dbname, &conn->error) < 0)
		return conn;
	conn = start(conn, is_waited_for);
	*ret_is_original = conn == NULL;
	return conn;
}

static PGconn *
begin_text(const char *conninfo, int is_waited_for, int *ret_is_original)
{
	PGconn *conn = conn_new();

	*ret_is_original = 0;
	if (conn == NULL ||
		cpq_conninfo_from_text(&conn->info, conninfo, &conn->error) < 0)
		return conn;
	conn = start(conn, is_waited_for);
	*ret_is_original = conn == NULL;
	return conn;
}

PGconn *
cpq_PQconnectStartParams(
	const char *const *keywords, const char *const *values, int expand_dbname)
{
	int is_original;
	PGconn *conn = begin_params(keywords, values, expand_dbname, 0, &is_original);

	return !is_original ? conn
			    : the_original()->PQconnectStartParams(
				      keywords, values, expand_dbname);
}

PGconn *
cpq_PQconnectStart(const char *conninfo)
{
	int is_original;
	PGconn *conn = begin_text(conninfo, 0, &is_original);

	return !is_original ? conn : the_original()->PQconnectStart(conninfo);
}

/* Wait until the connection is made or has failed. */
static void
finish_connecting(PGconn *conn)
{
	if (conn->status == CONNECTION_BAD || conn->session == NULL)
		return;
	if (conn->attempt.deadline_ms == 0)
		conn->attempt.deadline_ms = connect_deadline(conn);
	while (poll_session(conn) < PGRES_POLLING_OK) {
		if (conn->status == CONNECTION_BAD)
			return;
		if (cpq_wait(conn, conn->attempt.deadline_ms) <= 0) {
			cpq_say(conn, "timeout expired");
			(void)failed(conn);
			return;
		}
	}
}

/* Finish connecting for a caller that waits. If there is no cenoted, the original library may still
 * take over. */
static PGconn *
finish_or_leave(PGconn *conn, int *ret_is_original)
{
	if (conn == NULL)
		return NULL;
	finish_connecting(conn);
	if (!conn->attempt.is_unreachable || !csh_may_fall_back() ||
		cpq_original(NULL) == NULL)
		return conn;
	conn_free(conn);
	*ret_is_original = 1;
	return NULL;
}

PGconn *
cpq_PQconnectdbParams(
	const char *const *keywords, const char *const *values, int expand_dbname)
{
	int is_original;
	PGconn *conn = begin_params(keywords, values, expand_dbname, 1, &is_original);

	conn = finish_or_leave(conn, &is_original);
	return !is_original ? conn
			    : the_original()->PQconnectdbParams(
				      keywords, values, expand_dbname);
}

PGconn *
cpq_PQconnectdb(const char *conninfo)
{
	int is_original;
	PGconn *conn = begin_text(conninfo, 1, &is_original);

	conn = finish_or_leave(conn, &is_original);
	return !is_original ? conn : the_original()->PQconnectdb(conninfo);
}

PGconn *
cpq_PQsetdbLogin(const char *pghost, const char *pgport, const char *pgoptions,
	const char *pgtty, const char *dbName, const char *login, const char *pwd)
{
	const char *const keywords[] = { "dbname", "host", "port", "options", "user",
		"password", NULL };
	const char *const values[] = { dbName, pghost, pgport, pgoptions, login, pwd,
		NULL };

	(void)pgtty;
	return cpq_PQconnectdbParams(keywords, values, 1);
}

/* Go back to the state before connecting, and attach to another session: 0; -1: it
 * failed at once. */
static int
begin_again(PGconn *conn)
{
	cpq_requests_drop(conn);
	cpq_dialect_leave(conn);
	cpq_cancel_leave(conn);
	cpq_notifies_drop(conn);
	cpq_notices_drop(&conn->notices);
	cpq_parameters_drop(conn);
	cenote_conn_destroy(conn->session);
	conn->session = NULL;
	conn->status = CONNECTION_BAD;
	conn->owner = csh_getpid();
	conn->pipeline = PQ_PIPELINE_OFF;
	conn->is_nonblocking = 0;
	conn->has_large_objects = 0;
	conn->attempt.is_resetting = 1;
	resetPQExpBuffer(&conn->error);
	return conn->route.pool != NULL ? attach_begin(conn, 0) : -1;
}

int
cpq_PQresetStart(PGconn *conn)
{
	return conn != NULL && (begin_again(conn) == 0 || cpq_fall_back(conn, 0) == 0);
}

static void
reset_done(PGconn *conn)
{
	conn->attempt.is_resetting = 0;
	cpq_events_tell_reset(conn);
}

PostgresPollingStatusType
cpq_PQresetPoll(PGconn *conn)
{
	PostgresPollingStatusType status = cpq_PQconnectPoll(conn);

	if (status == PGRES_POLLING_OK && conn->attempt.is_resetting)
		reset_done(conn);
	return status;
}

void
cpq_PQreset(PGconn *conn)
{
	if (conn == NULL)
		return;
	if (begin_again(conn) == 0)
		finish_connecting(conn);
	if (conn->status == CONNECTION_OK || cpq_fall_back(conn, 1) == 0)
		reset_done(conn);
}

static PGPing
ping(PGconn *conn)
{
	PGPing answer;
	const char *state;

	if (conn == NULL)
		return PQPING_NO_ATTEMPT;
	if (conn->route.pool == NULL) {
		cpq_PQfinish(conn);
		return PQPING_NO_ATTEMPT;
	}
	state = conn->session != NULL
			? cenote_diag_sqlstate(cenote_conn_diag(conn->session))
			: "";
	/* Class 28: the login was refused, so the server is there. */
	if (conn->status == CONNECTION_OK || strncmp(state, "28", 2) == 0)
		answer = PQPING_OK;
	else if (strncmp(state, "57P", 3) == 0 || strncmp(state, "53", 2) == 0)
		answer = PQPING_REJECT;
	else
		answer = PQPING_NO_RESPONSE;
	cpq_PQfinish(conn);
	return answer;
}

PGPing
cpq_PQping(const char *conninfo)
{
	PGconn *conn = cpq_PQconnectdb(conninfo);

	if (!cpq_is_foreign(conn))
		return ping(conn);
	cpq_original(NULL)->PQfinish(conn);
	return cpq_original(NULL)->PQping(conninfo);
}

PGPing
cpq_PQpingParams(
	const char *const *keywords, const char *const *values, int expand_dbname)
{
	PGconn *conn = cpq_PQconnectdbParams(keywords, values, expand_dbname);

	if (!cpq_is_foreign(conn))
		return ping(conn);
	cpq_original(NULL)->PQfinish(conn);
	return cpq_original(NULL)->PQpingParams(keywords, values, expand_dbname);
}
