/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Log in through libpq, so that each of its ways to authenticate works. Afterwards libpq only holds the connection, and its
 * key for cancels. Requests do not need it: this file, stream_tls.c, cancel.c and options.c alone use libpq or OpenSSL.
 */
#include <ctype.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "session.h"

/* The time limit of a login, if the server line has no connect_timeout. */
#define LOGIN_MS 30000

/* The parameters that the server reports at login. libpq keeps their values. */
static const char *const reported[] = { "server_version", "server_encoding",
	"client_encoding", "application_name", "default_transaction_read_only",
	"in_hot_standby", "is_superuser", "session_authorization", "DateStyle",
	"IntervalStyle", "TimeZone", "integer_datetimes", "standard_conforming_strings",
	"scram_iterations", "search_path" };

/* ---- login ---- */

#define STATE_CHARS "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* Find the next SQLSTATE in a text like "FATAL:  28P01: text" (PQERRORS_VERBOSE). NULL: there is none. */
static const char *
next_sqlstate(const char *text)
{
	for (; (text = strstr(text, ":  ")) != NULL; text++) {
		if (strspn(text + 3, STATE_CHARS) == 5 && text[8] == ':')
			return text + 3;
	}
	return NULL;
}

/* The SQLSTATE of the last server that was tried; NULL: there is none. */
static const char *
find_sqlstate(const char *text)
{
	const char *found = NULL;

	while ((text = next_sqlstate(text)) != NULL)
		found = text;
	return found;
}

/* Remove what PQERRORS_VERBOSE adds: the SQLSTATEs, and the lines "LOCATION:  FUNCTION, FILE:LINE". */
static void
make_terse(char *text)
{
	char *at;

	while ((at = (char *)(uintptr_t)next_sqlstate(text)) != NULL)
		memmove(at, at + strlen("28P01: "), strlen(at + strlen("28P01: ")) + 1);
	while ((at = strstr(text, "\nLOCATION: ")) != NULL) {
		size_t n = 1 + strcspn(at + 1, "\n");

		memmove(at, at + n, strlen(at + n) + 1);
	}
}

/* If the server itself refused the login, the error says so. Everything else counts as a server that cannot be reached. */
static const char *
state_of(PGconn *conn, const char *text, char room[6])
{
	const char *at = find_sqlstate(text);

	if (conn != NULL && PQconnectionNeedsPassword(conn))
		return CNC_SQLSTATE(BAD_PASSWORD);
	if (at == NULL || (strncmp(at, "28", 2) != 0 && strncmp(at, "3D", 2) != 0))
		return CNC_SQLSTATE(CANNOT_CONNECT);
	memcpy(room, at, 5);
	room[5] = '\0';
	return room;
}

/* Report libpq's message, which may have several lines, without white space at its end. */
static int
login_failed(PGconn *conn, struct cnc_diag *diag)
{
	const char *text = conn != NULL ? PQerrorMessage(conn) : "out of memory";
	size_t len = strlen(text);
	char copy[CNC_DIAG_MESSAGE_MAX], state[6];

	if (len >= sizeof(copy))
		len = cnc_utf8_cut(text, len, sizeof(copy) - 1);
	memcpy(copy, text, len);
	copy[len] = 0;
	make_terse(copy);
	len = strlen(copy);
	while (len > 0 && isspace((unsigned char)copy[len - 1]))
		len--;
	copy[len] = 0;
	cnc_diag_set(diag, state_of(conn, text, state), "%s",
		len > 0 ? copy : "the connection could not be made");
	return CENOTE_ERR_CONN;
}

/* Report the server's answer to a client's own login. The SQLSTATE decides what that client may be told. */
static int
client_login_failed(PGconn *conn, struct cnc_diag *diag)
{
	const char *at = find_sqlstate(PQerrorMessage(conn));
	char sqlstate[6] = "";

	if (at == NULL)
		return login_failed(conn, diag);
	memcpy(sqlstate, at, 5);
	at += strlen("28P01: ");
	cnc_diag_set(diag, sqlstate, "%.*s", (int)strcspn(at, "\n"), at);
	return CENOTE_ERR_CONN;
}

/* A server that trusts cenoted, or knows cenoted by a certificate, has not checked who the client is. */
static int
check_proof(PGconn *conn, struct cnc_diag *diag)
{
	if (PQconnectionUsedPassword(conn))
		return CENOTE_OK;
	cnc_diag_set(diag, CNC_SQLSTATE(BAD_LOGIN),
		"the server asked for no password, so it has not proved who the client "
		"is; it has to ask cenoted's host for one (pg_hba.conf)");
	return CENOTE_ERR_CONN;
}

/* libpq heeds connect_timeout only where it waits itself. */
static int64_t
login_limit_ms(PGconn *conn)
{
	PQconninfoOption *all = PQconninfo(conn);
	int64_t ms = LOGIN_MS;
	int64_t seconds;

	for (const PQconninfoOption *o = all; o != NULL && o->keyword != NULL; o++) {
		if (strcmp(o->keyword, "connect_timeout") != 0 || o->val == NULL ||
			cnc_text_int64(o->val, strlen(o->val), &seconds) < 0)
			continue;
		/* For libpq, 0 means no limit: keep LOGIN_MS. Like libpq, wait two seconds at least. */
		if (seconds > 0 && seconds < INT32_MAX)
			ms = (seconds < 2 ? 2 : seconds) * 1000;
	}
	PQconninfoFree(all);
	return cnd_clock_ms() + ms;
}

static int
await_login(struct cnd_session *s, struct cnc_diag *diag)
{
	PostgresPollingStatusType step = PGRES_POLLING_WRITING;
	int64_t until = login_limit_ms(s->conn);

	while (step != PGRES_POLLING_OK) {
		int64_t left = until - cnd_clock_ms();
		int r;

		if (step == PGRES_POLLING_FAILED || PQstatus(s->conn) == CONNECTION_BAD)
			return s->is_clients ? client_login_failed(s->conn, diag)
					     : login_failed(s->conn, diag);
		if (left <= 0) {
			cnc_diag_set(diag, CNC_SQLSTATE(CANNOT_CONNECT),
				"the server did not let us in in time (connect_timeout)");
			return CENOTE_ERR_CONN;
		}
		r = s->host->wait(s->host, PQsocket(s->conn),
			step == PGRES_POLLING_READING ? POLLIN : POLLOUT,
			left > INT32_MAX ? INT32_MAX : (int)left, diag);
		if (r < 0)
			return CENOTE_ERR_CONN;
		if (r > 0)
			step = PQconnectPoll(s->conn);
	}
	return CENOTE_OK;
}

static int
log_in(struct cnd_session *s, struct cnc_diag *diag)
{
	/* If a login fails, libpq gives the SQLSTATE only in the text of the error. */
	PGVerbosity usual = PQsetErrorVerbosity(s->conn, PQERRORS_VERBOSE);
	int r = await_login(s, diag);

	(void)PQsetErrorVerbosity(s->conn, usual);
	return r < 0 || !s->is_clients ? r : check_proof(s->conn, diag);
}

static void
name_server(struct cnd_session *s)
{
	const char *host = PQhost(s->conn);
	const char *port = PQport(s->conn);

	snprintf(s->server, sizeof(s->server), "%s%s%s", host != NULL ? host : "",
		host != NULL && host[0] == '/' ? "/.s.PGSQL." : ":",
		port != NULL ? port : "");
	snprintf(s->database, sizeof(s->database), "%s", PQdb(s->conn));
	snprintf(s->backend_pid, sizeof(s->backend_pid), "%d", PQbackendPID(s->conn));
	s->version = PQserverVersion(s->conn);
}

static int
take_parameters(struct cnd_session *s)
{
	for (size_t i = 0; i < sizeof(reported) / sizeof(reported[0]); i++) {
		const char *value = PQparameterStatus(s->conn, reported[i]);

		if (value != NULL && cnd_pg_set_parameter(s, reported[i], value) < 0)
			return CENOTE_ERR_NOMEM;
	}
	for (size_t i = 0; i < s->n_parameters; i++) {
		struct cnd_pg_parameter *p = &s->parameters[i];

		p->at_login = cnc_strndup(s->mem, p->value, strlen(p->value));
		if (p->at_login == NULL)
			return CENOTE_ERR_NOMEM;
		if (strcmp(p->name, "server_version") == 0)
			snprintf(s->server_version, sizeof(s->server_version), "%s",
				p->value);
	}
	return CENOTE_OK;
}

/* libpq's notices of the login go to the log, not to standard error. */
static void
log_notice(void *user, const char *message)
{
	const struct cnd_host *host = user;

	host->log(host, 6, "%s", message);
}

/* The connection has GSS encryption in spite of gssencmode=disable: this libpq ignores the key. */
static int
refuse_gss(struct cnc_diag *diag)
{
	cnc_diag_set(diag, CNC_SQLSTATE(UNSUPPORTED),
		"cenoted cannot read a connection that GSSAPI encrypts");
	return CENOTE_ERR_CONN;
}

static void
close_connection(struct cnd_session *s)
{
	cnd_pg_end_for_all(s);
	PQfinish(s->conn);
}

/* Keep how libpq describes the TLS connection. */
static void
take_tls(struct cnd_session *s)
{
	static const char *const attributes[CND_PG_TLS_FACTS] = { "protocol", "cipher",
		"key_bits" };

	for (size_t i = 0; PQsslInUse(s->conn) && i < CND_PG_TLS_FACTS; i++)
		s->tls[i] = PQsslAttribute(s->conn, attributes[i]);
}

/* From now on, requests use the connection themselves. */
static void
take_socket(struct cnd_session *s)
{
	s->fd = PQsocket(s->conn);
	s->stream.ssl = PQsslStruct(s->conn, "OpenSSL");
	s->stream.transport = s->stream.ssl != NULL ? &cnd_pg_tls : &cnd_pg_plain;
	s->cancel = cnd_pg_cancel;
	take_tls(s);
}

static int
take_over(struct cnd_session *s, struct cnc_diag *diag)
{
	/* Let libpq read what came after the login's ReadyForQuery. */
	(void)PQisBusy(s->conn);
	if (PQgssEncInUse(s->conn))
		return refuse_gss(diag);
	take_socket(s);
	s->tx = 'I';
	name_server(s);
	return take_parameters(s);
}

int
cnd_pg_login(const struct cnd_host *host, const struct cnd_server_spec *spec,
	struct cnd_session **ret_session, struct cnc_diag *ret_diag)
{
	struct cnd_pg_options options;
	struct cnd_session *s;
	int r = cnd_pg_options_read(spec, &options, ret_diag);

	if (r < 0)
		return r;
	s = cnc_calloc(host->mem, 1, sizeof(*s));
	if (s == NULL)
		return CENOTE_ERR_NOMEM;
	s->host = host;
	s->close = close_connection;
	s->mem = host->mem;
	s->is_clients = spec->is_clients;
	s->keeps_compiled = options.keeps_compiled;
	s->has_pure_queries = options.has_pure_queries;
	cnc_diag_init(&s->lost, s->mem);
	cnc_diag_init(&s->stop.diag, s->mem);
	s->conn = PQconnectStartParams(options.keys, options.values, 1);
	if (s->conn == NULL || PQstatus(s->conn) == CONNECTION_BAD) {
		r = login_failed(s->conn, ret_diag);
	} else {
		(void)PQsetNoticeProcessor(s->conn, log_notice, (void *)host);
		r = log_in(s, ret_diag);
	}
	if (r == CENOTE_OK)
		r = take_over(s, ret_diag);
	if (r == CENOTE_OK)
		r = cnd_pg_learn_login(s, ret_diag);
	if (r < 0) {
		cnd_pg_logout(s);
		return r;
	}
	*ret_session = s;
	return CENOTE_OK;
}
