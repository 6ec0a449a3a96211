/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The life of a session: log in through libpq, attach a client, report the state, ask the server questions of our
 * own, log out. This file owns the connection and the facts for info().
 */
#include <ctype.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

static int
take_over(struct cnd_session *s, struct cnc_diag *diag)
{
	/* Let libpq read what came after the login's ReadyForQuery. */
	(void)PQisBusy(s->conn);
	if (PQgssEncInUse(s->conn))
		return refuse_gss(diag);
	cnd_pg_stream_init(s);
	s->tx = 'I';
	name_server(s);
	return take_parameters(s);
}

/* Fails with CENOTE_ERR_SERVER and the diagnostics filled, or the session is lost. */
int
cnd_pg_ask_more(struct cnd_session *s, const char *sql, uint8_t *ret_flags, size_t n,
	char *ret_text, size_t room)
{
	struct cnd_pg_msg m;
	int status = CENOTE_OK;
	int r = cnd_pg_add_query(&s->out.buf, 'Q', sql, strlen(sql));

	if (r < 0)
		return r;
	s->out.n_ready++;
	memset(ret_flags, 0, n);
	if (room > 0)
		*ret_text = '\0';
	r = cnd_pg_send(s);
	while (r == CENOTE_OK) {
		r = cnd_pg_next(s, &m);
		if (r < 0 || m.type == 'Z')
			break;
		if (m.type == 'E') {
			if (cnd_pg_is_fatal(m.body, m.len))
				return cnd_pg_fatal(s, &m);
			status = CENOTE_ERR_SERVER;
			(void)cnd_pg_diag(s->diag, m.body, m.len, s->server);
		} else if (m.type == 'D') {
			r = cnd_pg_take_row(s, &m, ret_flags, n, ret_text, room);
		} else if (cnd_pg_async(s, &m, NULL) == CENOTE_ERR_CONN) {
			return CENOTE_ERR_CONN;
		}
	}
	if (r < 0)
		return r;
	r = cnd_pg_note_ready(s, &m);
	return r < 0 ? r : status;
}

int
cnd_pg_ask(struct cnd_session *s, const char *sql, uint8_t *ret_flags, size_t n)
{
	return cnd_pg_ask_more(s, sql, ret_flags, n, NULL, 0);
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

void
cnd_pg_logout(struct cnd_session *s)
{
	if (s == NULL)
		return;
	s->host->forget(s->host, s);
	cnd_pg_desc_finish(s, &s->desc);
	cnd_pg_stream_finish(s);
	cnd_pg_begun_forget(s);
	for (size_t i = 0; i < s->n_parameters; i++) {
		cnc_free(s->mem, s->parameters[i].name);
		cnc_free(s->mem, s->parameters[i].value);
		cnc_free(s->mem, s->parameters[i].at_login);
	}
	cnc_free(s->mem, s->params.types);
	if (s->ready_fd > 0)
		(void)close(s->ready_fd);
	PQfinish(s->conn);
	cnc_diag_finish(&s->lost);
	cnc_diag_finish(&s->stop.diag);
	cnc_free(s->mem, s);
}

/* ---- while a client has the session ---- */

/* Report the TLS connection to the server, as libpq describes it. */
static size_t
report_tls(struct cnd_session *s, size_t n)
{
	static const struct {
		const char *key;
		const char *attribute;
	} facts[] = {
		{ "server_tls_version", "protocol" },
		{ "server_tls_cipher", "cipher" },
		{ "server_tls_bits", "key_bits" },
	};

	if (!PQsslInUse(s->conn))
		return n;
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		const char *value = PQsslAttribute(s->conn, facts[i].attribute);

		if (value != NULL)
			s->reported[n++] = (struct cnd_option){ facts[i].key, value };
	}
	return n;
}

void
cnd_pg_info(const struct cnd_session *s, struct cnd_info *ret_info)
{
	struct cnd_session *w = (struct cnd_session *)s;
	size_t n = 0;

	w->reported[n++] = (struct cnd_option){ "backend_pid", s->backend_pid };
	for (size_t i = 0; i < s->n_parameters; i++)
		w->reported[n++] = (struct cnd_option){ s->parameters[i].name,
			s->parameters[i].value };
	n = report_tls(w, n);
	*ret_info = (struct cnd_info){ .server = s->server,
		.server_version = s->server_version,
		.database = s->database,
		.parameters = w->reported,
		.n_parameters = n,
		.changes = s->n_changes + 1 };
}

/* Send a Sync, the smallest request that the server answers. */
int
cnd_pg_ping(struct cnd_session *s, struct cnc_diag *ret_diag)
{
	int r = cnd_pg_enter(s, ret_diag);

	if (r == CENOTE_OK)
		r = cnd_pg_ready(s, NULL);
	if (r < 0)
		return r;
	/* A Sync would end an unfinished unit or an open result. */
	if (s->sync.is_missing || s->sync.n_ready > 0)
		return CENOTE_OK;
	return cnd_pg_sync_now(s, NULL);
}

int
cnd_pg_attach(
	struct cnd_session *s, const struct cnp_str *carry, struct cnc_diag *ret_diag)
{
	if (s->is_lost) {
		cnc_diag_copy(ret_diag, &s->lost);
		return CENOTE_ERR_CONN;
	}
	cnd_pg_begun_forget(s);
	if (carry == NULL || carry->n == 0)
		return CENOTE_OK;
	if (carry->n != 1 || carry->p[0] < 0 || carry->p[0] > 1) {
		cnc_diag_set(ret_diag, CNC_SQLSTATE(PROTOCOL),
			"what the client carried over is not a PostgreSQL session's "
			"state");
		return CENOTE_ERR_SERVER;
	}
	s->client.is_manual = carry->p[0] == 1;
	s->client.has_carried = 1;
	return CENOTE_OK;
}

void
cnd_pg_state(const struct cnd_session *s, struct cnd_state *ret_state)
{
	static const char manual[2] = { 0, 1 };

	*ret_state = (struct cnd_state){ .pins = s->client.pins, .carry = CNP_STR_NONE };
	if (s->is_lost)
		ret_state->tx = CENOTE_TX_UNKNOWN;
	else if (s->tx == 'I')
		ret_state->tx = CENOTE_TX_IDLE;
	else
		ret_state->tx = s->tx == 'T' ? CENOTE_TX_OPEN : CENOTE_TX_FAILED;
	if (cnd_has_portals(s->host->statements))
		ret_state->pins |= CENOTE_PIN_CURSOR;
	/* otherwise settle() compares them */
	if (s->has_pure_queries && s->client.is_used &&
		!cnd_pg_is_as_begun((struct cnd_session *)s))
		ret_state->pins |= CENOTE_PIN_SETTINGS;
	if (s->client.is_manual || s->client.has_carried)
		ret_state->carry = (struct cnp_str){ &manual[s->client.is_manual], 1 };
}

int
cnd_pg_fd(const struct cnd_session *s)
{
	/* The rest of an open result stays in the socket until it is fetched. */
	return s->sync.n_ready > 0 ? -1 : s->fd;
}

int
cnd_pg_idle(struct cnd_session *s, struct cnd_sink *sink)
{
	struct cnc_diag diag;
	struct cnd_pg_msg m;
	int r;

	cnc_diag_init(&diag, NULL);
	r = cnd_pg_enter(s, sink != NULL ? sink->diag : &diag);
	/* Leave the rest of an open result in the socket. */
	while (r == CENOTE_OK && s->sync.n_ready == 0) {
		r = cnd_pg_poll(s, &m);
		if (r != CENOTE_OK)
			break;
		r = cnd_pg_async(s, &m, sink);
		if (r != CENOTE_AGAIN)
			continue;
		r = m.type == 'E' ? cnd_pg_fatal(s, &m)
				  : cnd_pg_broken(s, "an answer that nobody asked for");
	}
	cnc_diag_finish(&diag);
	s->diag = NULL;
	return r < 0 ? r : CENOTE_OK;
}
