/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Maps errors of the server and the library to SQLSTATEs with hints. A table lists the numbers that
 * mean more than their SQLSTATE says. All files that call the library use it. It has no state.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/value.h"

#include "my.h"

/* What an error number means beyond the SQLSTATE that came with it. */
enum {
	IS_LOST = 1, /* the session is gone, or is no longer usable */
	IS_NOMEM = 2
};

#define KEEP     (-1)
#define AS(name) CNC_SQLSTATE_INDEX_##name

/*
 * Most errors come with a SQLSTATE, and keep it. Servers send HY000 (general error) if they have
 * none; the library always sends it. If the number alone shows what happened, a more exact SQLSTATE
 * replaces it. PostgreSQL's SQLSTATE is used if the standard has none. Sorted.
 */
static const struct {
	uint16_t number;
	uint8_t flags;
	int16_t state; /* index into cnc_sqlstate_code; KEEP: the SQLSTATE stays */
} codes[] = {
	{ 1007, 0, AS(DUPLICATE_DATABASE) }, /* ER_DB_CREATE_EXISTS */
	{ 1008, 0, AS(NO_CATALOG) }, /* ER_DB_DROP_EXISTS */
	{ 1020, 0, AS(SERIALIZATION) }, /* ER_CHECKREAD */
	{ 1021, 0, AS(DISK_FULL) }, /* ER_DISK_FULL */
	{ 1031, 0, AS(UNSUPPORTED) }, /* ER_ILLEGAL_HA */
	{ 1034, 0, AS(CORRUPTED) }, /* ER_NOT_KEYFILE */
	{ 1035, 0, AS(CORRUPTED) }, /* ER_OLD_KEYFILE */
	{ 1041, 0, AS(NO_MEMORY) }, /* ER_OUT_OF_RESOURCES */
	{ 1043, IS_LOST, KEEP }, /* ER_HANDSHAKE_ERROR */
	{ 1053, IS_LOST, KEEP }, /* ER_SERVER_SHUTDOWN */
	{ 1080, IS_LOST, KEEP }, /* ER_FORCING_CLOSE */
	{ 1099, 0, AS(NOT_READY) }, /* ER_TABLE_NOT_LOCKED_FOR_WRITE */
	{ 1100, 0, AS(NOT_READY) }, /* ER_TABLE_NOT_LOCKED */
	{ 1114, 0, AS(DISK_FULL) }, /* ER_RECORD_FILE_FULL */
	{ 1129, 0, AS(REJECTED) }, /* ER_HOST_IS_BLOCKED */
	{ 1130, 0, AS(BAD_LOGIN) }, /* ER_HOST_NOT_PRIVILEGED */
	{ 1152, IS_LOST, KEEP }, /* ER_ABORTING_CONNECTION */
	{ 1153, IS_LOST, KEEP }, /* ER_NET_PACKET_TOO_LARGE */
	{ 1154, IS_LOST, KEEP }, /* ER_NET_READ_ERROR_FROM_PIPE */
	{ 1155, IS_LOST, KEEP }, /* ER_NET_FCNTL_ERROR */
	{ 1156, IS_LOST, KEEP }, /* ER_NET_PACKETS_OUT_OF_ORDER */
	{ 1157, IS_LOST, KEEP }, /* ER_NET_UNCOMPRESS_ERROR */
	{ 1158, IS_LOST, KEEP }, /* ER_NET_READ_ERROR */
	{ 1159, IS_LOST, KEEP }, /* ER_NET_READ_INTERRUPTED */
	{ 1160, IS_LOST, KEEP }, /* ER_NET_ERROR_ON_WRITE */
	{ 1161, IS_LOST, KEEP }, /* ER_NET_WRITE_INTERRUPTED */
	{ 1184, IS_LOST, KEEP }, /* ER_NEW_ABORTING_CONNECTION */
	{ 1193, 0, AS(NO_OBJECT) }, /* ER_UNKNOWN_SYSTEM_VARIABLE */
	{ 1194, 0, AS(CORRUPTED) }, /* ER_CRASHED_ON_USAGE */
	{ 1195, 0, AS(CORRUPTED) }, /* ER_CRASHED_ON_REPAIR */
	{ 1205, 0, AS(LOCKED) }, /* ER_LOCK_WAIT_TIMEOUT */
	{ 1206, 0, AS(NO_MEMORY) }, /* ER_LOCK_TABLE_FULL */
	{ 1214, 0, AS(UNSUPPORTED) }, /* ER_TABLE_CANT_HANDLE_FT */
	{ 1223, 0, AS(NOT_READY) }, /* ER_CANT_UPDATE_WITH_READLOCK */
	{ 1243, 0, AS(NO_STATEMENT) }, /* ER_UNKNOWN_STMT_HANDLER */
	{ 1265, 0, AS(DATA) }, /* WARN_DATA_TRUNCATED, as an error */
	{ 1295, 0, AS(UNSUPPORTED) }, /* ER_UNSUPPORTED_PS */
	{ 1364, 0, AS(NOT_NULL) }, /* ER_NO_DEFAULT_FOR_FIELD */
	{ 1366, 0, AS(BAD_CAST) }, /* ER_TRUNCATED_WRONG_VALUE_FOR_FIELD */
	{ 1820, 0, AS(BAD_LOGIN) }, /* ER_MUST_CHANGE_PASSWORD */
	{ 1836, 0, AS(READ_ONLY) }, /* ER_READ_ONLY_MODE */
	{ 1862, 0, AS(BAD_LOGIN) }, /* ER_MUST_CHANGE_PASSWORD_LOGIN */
	{ 1927, IS_LOST, KEEP }, /* ER_CONNECTION_KILLED */
	{ 2001, IS_LOST, AS(CANNOT_CONNECT) }, /* CR_SOCKET_CREATE_ERROR */
	{ 2002, IS_LOST, AS(CANNOT_CONNECT) }, /* CR_CONNECTION_ERROR */
	{ 2003, IS_LOST, AS(CANNOT_CONNECT) }, /* CR_CONN_HOST_ERROR */
	{ 2004, IS_LOST, AS(CANNOT_CONNECT) }, /* CR_IPSOCK_ERROR */
	{ 2005, IS_LOST, AS(CANNOT_CONNECT) }, /* CR_UNKNOWN_HOST */
	{ 2006, IS_LOST, KEEP }, /* CR_SERVER_GONE_ERROR */
	{ 2007, IS_LOST, AS(CANNOT_CONNECT) }, /* CR_VERSION_ERROR */
	{ 2008, IS_NOMEM, AS(NO_MEMORY) }, /* CR_OUT_OF_MEMORY */
	{ 2012, IS_LOST, AS(CANNOT_CONNECT) }, /* CR_SERVER_HANDSHAKE_ERR */
	{ 2013, IS_LOST, KEEP }, /* CR_SERVER_LOST */
	{ 2014, IS_LOST, KEEP }, /* CR_COMMANDS_OUT_OF_SYNC */
	{ 2020, IS_LOST, KEEP }, /* CR_NET_PACKET_TOO_LARGE */
	{ 2026, IS_LOST, AS(CANNOT_CONNECT) }, /* CR_SSL_CONNECTION_ERROR */
	{ 2027, IS_LOST, KEEP }, /* CR_MALFORMED_PACKET */
	{ 2047, IS_LOST, AS(CANNOT_CONNECT) }, /* CR_CONN_UNKNOWN_PROTOCOL */
	{ 2049, IS_LOST, AS(REJECTED) }, /* CR_SECURE_AUTH */
	{ 2054, 0, AS(UNSUPPORTED) }, /* CR_NOT_IMPLEMENTED */
	{ 2055, IS_LOST, KEEP }, /* CR_SERVER_LOST_EXTENDED */
	{ 2056, IS_LOST, KEEP }, /* CR_STMT_CLOSED: the connection was closed */
	{ 2059, IS_LOST, AS(REJECTED) }, /* CR_AUTH_PLUGIN_CANNOT_LOAD */
	{ 2061, IS_LOST, AS(REJECTED) }, /* CR_AUTH_PLUGIN_ERR */
	{ 3024, 0, AS(CANCELED) }, /* ER_QUERY_TIMEOUT */
	{ 3118, 0, AS(BAD_LOGIN) }, /* ER_ACCOUNT_HAS_BEEN_LOCKED */
	{ 3159, IS_LOST, AS(REJECTED) }, /* ER_SECURE_TRANSPORT_REQUIRED */
	{ 3169, IS_LOST, KEEP }, /* ER_SESSION_WAS_KILLED */
	{ 3572, 0, AS(LOCKED) }, /* ER_LOCK_NOWAIT */
	{ 3819, 0, AS(CHECK) }, /* ER_CHECK_CONSTRAINT_VIOLATED */
	{ 5013, IS_LOST, KEEP }, /* CR_ERR_NET_READ */
	{ 5014, IS_LOST, KEEP }, /* CR_ERR_NET_WRITE */
	{ 5015, IS_LOST, KEEP }, /* CR_ERR_NET_UNCOMPRESS */
};

struct meaning {
	const char *state;
	int is_lost;
	int is_nomem;
};

/* "The MariaDB server is running with the %s option": the number does not say which option. */
#define ER_OPTION_PREVENTS            1290u
/* MySQL: "The client was disconnected by the server because of inactivity". In MariaDB the same number means that
 * a trigger does not exist. */
#define ER_CLIENT_INTERACTION_TIMEOUT 4031u
#define ER_SECURE_TRANSPORT_REQUIRED  3159u
/* MariaDB: "Access denied, this account is locked". In MySQL the same number means something else. */
#define ER_ACCOUNT_LOCKED             4151u

/* ---- plugins that the library cannot load ---- */

/* Where the library's plugins for logins come from. */
static const struct {
	const char *name, *package;
} plugins[] = {
	{ "caching_sha2_password", "MariaDB's client library (Debian: libmariadb3)" },
	{ "sha256_password", "MariaDB's client library (Debian: libmariadb3)" },
	{ "client_ed25519", "MariaDB's client library (Debian: libmariadb3)" },
	{ "dialog", "MariaDB's client library (Debian: libmariadb3)" },
	{ "mysql_clear_password", "MariaDB's client library (Debian: libmariadb3)" },
	{ "parsec", "MariaDB's client library from 3.4.1 on (Debian 13: libmariadb3)" },
	{ "auth_gssapi_client", "Debian's mariadb-plugin-gssapi-client" },
	{ "mysql_native_password",
		"MySQL's client library (mysql-community-client-plugins)" },
};

/* The library reports its own failure with the number of the error that the server then sends: a wrong password. */
static int
is_plugin_missing(unsigned code, const char *message)
{
	return code == CR_AUTH_PLUGIN_CANNOT_LOAD ||
	       (code == CND_MY_ER_ACCESS_DENIED &&
		       (strstr(message, "could not be loaded: ") ||
			       strstr(message, "cannot be loaded: ")));
}

/* Say where to get the plugin. */
static void
explain_plugin(const char *message, char *text, size_t size)
{
	const char *package = "another package";
	size_t i;

	/* Oracle's library */
	if (strstr(message, "not enabled")) {
		(void)snprintf(text, size, "%.300s, " CND_MY_NO_CLEARTEXT, message);
		return;
	}
	for (i = 0; i < sizeof(plugins) / sizeof(plugins[0]); i++) {
		if (strstr(message, plugins[i].name))
			package = plugins[i].package;
	}
	(void)snprintf(text, size,
		"%.300s. The file comes with %s; plugin_dir= in the server line names "
		"another directory",
		message, package);
}

/* Explain a message of the library that does not say what to do. Returns the message, or `text`. */
static const char *
explain(unsigned code, const char *message, char *text, size_t size)
{
	if (code == CR_AUTH_PLUGIN_CANNOT_LOAD)
		explain_plugin(message, text, size);
	else if (code == CR_AUTH_PLUGIN_ERR &&
		 strstr(message, "requires secure connection"))
		(void)snprintf(text, size, "caching_sha2_password: " CND_MY_NO_KEY);
	else
		return message;
	return text;
}

static int
has_no_meaning(const char *state)
{
	return strcmp(state, CNC_SQLSTATE(GENERAL)) == 0 ||
	       strcmp(state, CNC_SQLSTATE(OK)) == 0 ||
	       strcmp(state, CNC_SQLSTATE(WARNING)) == 0;
}

static struct meaning
find_meaning(unsigned code, const char *state, const char *message)
{
	struct meaning m = { .state = state };
	size_t low = 0, high = sizeof(codes) / sizeof(codes[0]), mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (codes[mid].number < code)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < sizeof(codes) / sizeof(codes[0]) && codes[low].number == code) {
		m.is_lost = codes[low].flags == IS_LOST;
		m.is_nomem = codes[low].flags == IS_NOMEM;
		if (codes[low].state != KEEP && has_no_meaning(state))
			m.state = cnc_sqlstate_code[codes[low].state];
	}
	if (code == ER_OPTION_PREVENTS && strstr(message, "read-only"))
		m.state = CNC_SQLSTATE(READ_ONLY);
	if (code == ER_ACCOUNT_LOCKED && strstr(message, "locked"))
		m.state = CNC_SQLSTATE(BAD_LOGIN);
	if (code == ER_CLIENT_INTERACTION_TIMEOUT && strstr(message, "disconnected"))
		m.is_lost = 1;
	/* The SQLSTATE's class must show the client that the session is gone. */
	if (m.is_lost && strncmp(m.state, "08", 2) != 0)
		m.state = CNC_SQLSTATE(CONNECTION_LOST);
	return m;
}

static const char *
hint_for(unsigned code)
{
	switch (code) {
	case 1153: /* ER_NET_PACKET_TOO_LARGE */
	case CR_NET_PACKET_TOO_LARGE:
		return "Raise max_allowed_packet on the server, or send the value in "
		       "pieces.";
	case 1205: /* ER_LOCK_WAIT_TIMEOUT */
		return "Only the statement was rolled back: repeat it, or roll back the "
		       "transaction.";
	case 1213: /* ER_LOCK_DEADLOCK */
		return "The transaction was rolled back: repeat it from its beginning.";
	case 1820: /* ER_MUST_CHANGE_PASSWORD */
	case 1862: /* ER_MUST_CHANGE_PASSWORD_LOGIN */
		return "Set a new password with the server's own client.";
	case ER_SECURE_TRANSPORT_REQUIRED:
		return "The server accepts only TLS: set ssl_mode=required, with ssl_ca "
		       "and ssl_verify_server_cert=yes.";
	default:
		return NULL;
	}
}

int
cnd_my_diag(struct cnc_diag *diag, unsigned code, const char *sqlstate,
	const char *message, const char *server)
{
	struct cnd_error e = { .severity = "ERROR", .native = code, .server = server };
	struct meaning m;
	char text[600];

	if (!sqlstate || !cnc_sqlstate_is_valid(sqlstate))
		sqlstate = CNC_SQLSTATE(GENERAL);
	e.message = message ? message : "the server gave no reason";
	if (is_plugin_missing(code, e.message)) {
		e.native = code = CR_AUTH_PLUGIN_CANNOT_LOAD;
		sqlstate = CNC_SQLSTATE(GENERAL);
	}
	e.message = explain(code, e.message, text, sizeof(text));
	m = find_meaning(code, sqlstate, e.message);
	e.state = m.state;
	e.server_state = strcmp(m.state, sqlstate) == 0 ? NULL : sqlstate;
	e.hint = hint_for(code);
	cnd_error_set(diag, &e);
	if (m.is_nomem)
		return CENOTE_ERR_NOMEM;
	return m.is_lost ? CENOTE_ERR_CONN : CENOTE_ERR_SERVER;
}

/* Whether the statement failed by itself although the client cancelled it. Then the client gets the statement's own
 * error. A general error may come of the cancel. */
static int
has_own_error(const struct cnd_session *s, unsigned code, const char *state)
{
	return s->stop == CENOTE_ERR_SERVER && s->infile.status >= 0 &&
	       code != CND_MY_ER_INTERRUPTED && !has_no_meaning(state) &&
	       s->host->is_cancelled != NULL && s->host->is_cancelled(s->host);
}

int
cnd_my_failed(struct cnd_session *s, MYSQL_STMT *stmt)
{
	/* for rows fetched one by one, MariaDB's library sets the error on the connection only */
	int is_own = stmt && mysql_stmt_errno(stmt) != 0;
	unsigned code = is_own ? mysql_stmt_errno(stmt) : mysql_errno(s->my);
	const char *state = is_own ? mysql_stmt_sqlstate(stmt) : mysql_sqlstate(s->my);
	const char *text = is_own ? mysql_stmt_error(stmt) : mysql_error(s->my);
	int said = s->infile.status < 0 ? s->infile.status : s->stop;
	struct cnc_diag other;
	int r;

	/* a failed statement also leaves diagnostics */
	s->trace.has_run = 1;
	if (said < 0) {
		/* the reason is known; the server's answer only shows whether it is alive */
		cnc_diag_init(&other, NULL);
		r = cnd_my_diag(&other, code, state, text, s->server);
		cnc_diag_finish(&other);
		if (r == CENOTE_ERR_SERVER && has_own_error(s, code, state))
			return cnd_my_diag(s->diag, code, state, text, s->server);
		if (s->stop == CENOTE_ERR_SERVER && s->diag->native == 0)
			s->diag->native = (int32_t)code;
	} else {
		r = cnd_my_diag(s->diag, code, state, text, s->server);
	}
	if (r == CENOTE_ERR_CONN)
		s->is_lost = 1;
	return r == CENOTE_ERR_CONN || said == 0 ? r : said;
}
