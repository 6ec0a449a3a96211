/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "conninfo.h"

/*
 * Connection parameters: keyword=value texts, arrays of keywords and values, and PQconninfo().
 * uri.c reads URIs. service.c reads values from the environment and a service file, and sets
 * PostgreSQL's defaults, where the program gives no value. The error texts are libpq's.
 */

const struct cpq_keyword cpq_keywords[CPQ_N_KEYS] = {
	[CPQ_KEY_SERVICE] = { "service", "PGSERVICE", NULL, "Database-Service", "", 20 },
	[CPQ_KEY_USER] = { "user", "PGUSER", NULL, "Database-User", "", 20 },
	[CPQ_KEY_PASSWORD] = { "password", "PGPASSWORD", NULL, "Database-Password", "*",
		20 },
	[CPQ_KEY_PASSFILE] = { "passfile", "PGPASSFILE", NULL, "Database-Password-File",
		"", 64 },
	[CPQ_KEY_CHANNEL_BINDING] = { "channel_binding", "PGCHANNELBINDING", "prefer",
		"Channel-Binding", "", 8 },
	[CPQ_KEY_CONNECT_TIMEOUT] = { "connect_timeout", "PGCONNECT_TIMEOUT", NULL,
		"Connect-timeout", "", 10 },
	[CPQ_KEY_DBNAME] = { "dbname", "PGDATABASE", NULL, "Database-Name", "", 20 },
	[CPQ_KEY_HOST] = { "host", "PGHOST", NULL, "Database-Host", "", 40 },
	[CPQ_KEY_HOSTADDR] = { "hostaddr", "PGHOSTADDR", NULL, "Database-Host-IP-Address",
		"", 45 },
	[CPQ_KEY_PORT] = { "port", "PGPORT", "5432", "Database-Port", "", 6 },
	[CPQ_KEY_CLIENT_ENCODING] = { "client_encoding", "PGCLIENTENCODING", NULL,
		"Client-Encoding", "", 10 },
	[CPQ_KEY_OPTIONS] = { "options", "PGOPTIONS", "", "Backend-Options", "", 40 },
	[CPQ_KEY_APPLICATION_NAME] = { "application_name", "PGAPPNAME", NULL,
		"Application-Name", "", 64 },
	[CPQ_KEY_FALLBACK_APPLICATION_NAME] = { "fallback_application_name", NULL, NULL,
		"Fallback-Application-Name", "", 64 },
	[CPQ_KEY_KEEPALIVES] = { "keepalives", NULL, NULL, "TCP-Keepalives", "", 1 },
	[CPQ_KEY_KEEPALIVES_IDLE] = { "keepalives_idle", NULL, NULL,
		"TCP-Keepalives-Idle", "", 10 },
	[CPQ_KEY_KEEPALIVES_INTERVAL] = { "keepalives_interval", NULL, NULL,
		"TCP-Keepalives-Interval", "", 10 },
	[CPQ_KEY_KEEPALIVES_COUNT] = { "keepalives_count", NULL, NULL,
		"TCP-Keepalives-Count", "", 10 },
	[CPQ_KEY_TCP_USER_TIMEOUT] = { "tcp_user_timeout", NULL, NULL, "TCP-User-Timeout",
		"", 10 },
	[CPQ_KEY_SSLMODE] = { "sslmode", "PGSSLMODE", "prefer", "SSL-Mode", "", 12 },
	[CPQ_KEY_SSLNEGOTIATION] = { "sslnegotiation", "PGSSLNEGOTIATION", "postgres",
		"SSL-Negotiation", "", 9, 17 },
	[CPQ_KEY_SSLCOMPRESSION] = { "sslcompression", "PGSSLCOMPRESSION", "0",
		"SSL-Compression", "", 1 },
	[CPQ_KEY_SSLCERT] = { "sslcert", "PGSSLCERT", NULL, "SSL-Client-Cert", "", 64 },
	[CPQ_KEY_SSLKEY] = { "sslkey", "PGSSLKEY", NULL, "SSL-Client-Key", "", 64 },
	[CPQ_KEY_SSLCERTMODE] = { "sslcertmode", "PGSSLCERTMODE", NULL,
		"SSL-Client-Cert-Mode", "", 8, 16 },
	[CPQ_KEY_SSLPASSWORD] = { "sslpassword", NULL, NULL, "SSL-Client-Key-Password",
		"*", 20 },
	[CPQ_KEY_SSLROOTCERT] = { "sslrootcert", "PGSSLROOTCERT", NULL,
		"SSL-Root-Certificate", "", 64 },
	[CPQ_KEY_SSLCRL] = { "sslcrl", "PGSSLCRL", NULL, "SSL-Revocation-List", "", 64 },
	[CPQ_KEY_SSLCRLDIR] = { "sslcrldir", "PGSSLCRLDIR", NULL,
		"SSL-Revocation-List-Dir", "", 64 },
	[CPQ_KEY_SSLSNI] = { "sslsni", "PGSSLSNI", "1", "SSL-SNI", "", 1 },
	[CPQ_KEY_REQUIREPEER] = { "requirepeer", "PGREQUIREPEER", NULL, "Require-Peer",
		"", 10 },
	[CPQ_KEY_REQUIRE_AUTH] = { "require_auth", "PGREQUIREAUTH", NULL, "Require-Auth",
		"", 14, 16 },
	[CPQ_KEY_MIN_PROTOCOL_VERSION] = { "min_protocol_version", "PGMINPROTOCOLVERSION",
		NULL, "Min-Protocol-Version", "", 6, 18 },
	[CPQ_KEY_MAX_PROTOCOL_VERSION] = { "max_protocol_version", "PGMAXPROTOCOLVERSION",
		NULL, "Max-Protocol-Version", "", 6, 18 },
	[CPQ_KEY_SSL_MIN_PROTOCOL_VERSION] = { "ssl_min_protocol_version",
		"PGSSLMINPROTOCOLVERSION", "TLSv1.2", "SSL-Minimum-Protocol-Version", "",
		8 },
	[CPQ_KEY_SSL_MAX_PROTOCOL_VERSION] = { "ssl_max_protocol_version",
		"PGSSLMAXPROTOCOLVERSION", NULL, "SSL-Maximum-Protocol-Version", "", 8 },
	[CPQ_KEY_GSSENCMODE] = { "gssencmode", "PGGSSENCMODE", "prefer", "GSSENC-Mode",
		"", 8 },
	[CPQ_KEY_KRBSRVNAME] = { "krbsrvname", "PGKRBSRVNAME", "postgres",
		"Kerberos-service-name", "", 20 },
	[CPQ_KEY_GSSLIB] = { "gsslib", "PGGSSLIB", NULL, "GSS-library", "", 7 },
	[CPQ_KEY_GSSDELEGATION] = { "gssdelegation", "PGGSSDELEGATION", "0",
		"GSS-delegation", "", 1, 16 },
	[CPQ_KEY_REPLICATION] = { "replication", NULL, NULL, "Replication", "D", 5 },
	[CPQ_KEY_TARGET_SESSION_ATTRS] = { "target_session_attrs", "PGTARGETSESSIONATTRS",
		"any", "Target-Session-Attrs", "", 15 },
	[CPQ_KEY_LOAD_BALANCE_HOSTS] = { "load_balance_hosts", "PGLOADBALANCEHOSTS",
		"disable", "Load-Balance-Hosts", "", 8, 16 },
	[CPQ_KEY_SCRAM_CLIENT_KEY] = { "scram_client_key", NULL, NULL, "SCRAM-Client-Key",
		"D", 64, 18 },
	[CPQ_KEY_SCRAM_SERVER_KEY] = { "scram_server_key", NULL, NULL, "SCRAM-Server-Key",
		"D", 64, 18 },
	[CPQ_KEY_OAUTH_ISSUER] = { "oauth_issuer", NULL, NULL, "OAuth-Issuer", "", 40,
		18 },
	[CPQ_KEY_OAUTH_CLIENT_ID] = { "oauth_client_id", NULL, NULL, "OAuth-Client-ID",
		"", 40, 18 },
	[CPQ_KEY_OAUTH_CLIENT_SECRET] = { "oauth_client_secret", NULL, NULL,
		"OAuth-Client-Secret", "*", 40, 18 },
	[CPQ_KEY_OAUTH_SCOPE] = { "oauth_scope", NULL, NULL, "OAuth-Scope", "", 15, 18 },
	[CPQ_KEY_SSLKEYLOGFILE] = { "sslkeylogfile", NULL, NULL, "SSL-Key-Log-File", "D",
		64, 18 },
};

bool
cpq_conninfo_knows(const struct cpq_conninfo *info, size_t i)
{
	return cpq_keywords[i].since <= info->release;
}

static int
index_of(const struct cpq_conninfo *info, const char *keyword)
{
	for (size_t i = 0; i < CPQ_N_KEYS; i++) {
		const char *name = cpq_keywords[i].name;

		if (*name == *keyword && strcmp(name, keyword) == 0)
			return cpq_conninfo_knows(info, i) ? (int)i : -1;
	}
	return -1;
}

/* Free a keyword's value. A default is PostgreSQL's own text and stays. */
static void
value_drop(struct cpq_conninfo *info, size_t i)
{
	if (info->values[i] != cpq_keywords[i].compiled)
		free(info->values[i]);
	info->values[i] = NULL;
}

static int
init_options(struct cpq_conninfo *info, PQExpBuffer error)
{
	info->release = cpq_release();
	info->values = calloc(CPQ_N_KEYS, sizeof(*info->values));
	if (info->values != NULL)
		return 0;
	appendPQExpBufferStr(error, "out of memory\n");
	return -1;
}

void
cpq_conninfo_finish(struct cpq_conninfo *info)
{
	for (size_t i = 0; info->values != NULL && i < CPQ_N_KEYS; i++)
		value_drop(info, i);
	free(info->values);
	info->values = NULL;
}

void
cpq_conninfo_list(const struct cpq_conninfo *info,
	const char *ret_keywords[CPQ_N_KEYS + 1], const char *ret_values[CPQ_N_KEYS + 1])
{
	size_t n = 0;

	for (size_t i = 0; i < CPQ_N_KEYS; i++) {
		if (info->values[i] == cpq_keywords[i].compiled)
			continue;
		ret_keywords[n] = cpq_keywords[i].name;
		ret_values[n++] = info->values[i];
	}
	ret_keywords[n] = ret_values[n] = NULL;
}

int
cpq_conninfo_put_at(
	struct cpq_conninfo *info, enum cpq_key key, const char *value, PQExpBuffer error)
{
	char *copy = strdup(value);

	if (copy == NULL) {
		appendPQExpBufferStr(error, "out of memory\n");
		return -1;
	}
	value_drop(info, key);
	info->values[key] = copy;
	return 0;
}

void
cpq_conninfo_put_defaults(struct cpq_conninfo *info)
{
	for (size_t i = 0; i < CPQ_N_KEYS; i++) {
		if (info->values[i] == NULL && cpq_conninfo_knows(info, i))
			info->values[i] = (char *)(uintptr_t)cpq_keywords[i].compiled;
	}
}

int
cpq_conninfo_put(struct cpq_conninfo *info, const char *keyword, const char *value,
	PQExpBuffer error)
{
	int i = index_of(info, keyword);

	if (i >= 0)
		return cpq_conninfo_put_at(info, (size_t)i, value, error);
	/* The old form of sslmode=require. */
	if (strcmp(keyword, "requiressl") == 0)
		return cpq_conninfo_put_at(info, CPQ_KEY_SSLMODE,
			*value == '1' ? "require" : "prefer", error);
	appendPQExpBuffer(error, "invalid connection option \"%s\"\n", keyword);
	return -1;
}

/* Does the keyword have a value already? */
int
cpq_conninfo_has(const struct cpq_conninfo *info, const char *keyword)
{
	int i = index_of(info, keyword);

	return i >= 0 && info->values[i] != NULL;
}

static int
is_space(char c)
{
	return isspace((unsigned char)c);
}

static char *
skip_spaces(char *at)
{
	while (is_space(*at))
		at++;
	return at;
}

/* Read the name before '=', and end it with a zero. Returns the place after '=', or
 * NULL. */
static char *
cut_keyword(char *at, PQExpBuffer error)
{
	char *name = at;

	while (*at != '\0' && *at != '=' && !is_space(*at))
		at++;
	if (is_space(*at)) {
		*at = '\0';
		at = skip_spaces(at + 1);
	}
	if (*at != '=') {
		appendPQExpBuffer(error,
			"missing \"=\" after \"%s\" in connection info string\n", name);
		return NULL;
	}
	*at = '\0';
	return skip_spaces(at + 1);
}

/* Read the value in place. Returns the place after it, or NULL. */
static char *
cut_value(char *at, char **ret_value, PQExpBuffer error)
{
	char quote = *at == '\'' ? '\'' : '\0';
	char *to;

	if (quote)
		at++;
	*ret_value = to = at;
	for (;;) {
		if (*at == '\0' && quote) {
			appendPQExpBufferStr(error,
				"unterminated quoted string in connection info string\n");
			return NULL;
		}
		if (*at == '\0' || (quote ? *at == quote : is_space(*at)))
			break;
		if (*at == '\\' && at[1] != '\0')
			at++;
		else if (*at == '\\') {
			at++;
			continue;
		}
		*to++ = *at++;
	}
	if (*at != '\0')
		at++;
	*to = '\0';
	return at;
}

static int
parse_pairs(struct cpq_conninfo *info, char *at, PQExpBuffer error)
{
	char *name, *value;

	for (at = skip_spaces(at); *at != '\0'; at = skip_spaces(at)) {
		name = at;
		at = cut_keyword(at, error);
		if (at == NULL)
			return -1;
		at = cut_value(at, &value, error);
		if (at == NULL || cpq_conninfo_put(info, name, value, error) < 0)
			return -1;
	}
	return 0;
}

int
cpq_conninfo_from_text(struct cpq_conninfo *info, const char *conninfo, PQExpBuffer error)
{
	char *copy;
	int r;

	if (init_options(info, error) < 0)
		return -1;
	copy = strdup(conninfo);
	if (copy == NULL) {
		appendPQExpBufferStr(error, "out of memory\n");
		return -1;
	}
	r = cpq_uri_prefix(copy) > 0 ? cpq_uri_parse(info, copy, error)
				     : parse_pairs(info, copy, error);
	free(copy);
	return r;
}

static int
is_recognised(const char *dbname)
{
	return cpq_uri_prefix(dbname) > 0 || strchr(dbname, '=') != NULL;
}

/* Copy the values of a dbname that is a connection string. They replace the values that came before. */
static int
merge(struct cpq_conninfo *info, const struct cpq_conninfo *from, PQExpBuffer error)
{
	for (size_t i = 0; i < CPQ_N_KEYS; i++) {
		if (from->values[i] != NULL && *from->values[i] != '\0' &&
			cpq_conninfo_put_at(info, i, from->values[i], error) < 0)
			return -1;
	}
	return 0;
}

static int
expand(struct cpq_conninfo *info, const char *dbname, PQExpBuffer error)
{
	struct cpq_conninfo parsed = { .values = NULL };
	int r = cpq_conninfo_from_text(&parsed, dbname, error);

	if (r == 0)
		r = merge(info, &parsed, error);
	cpq_conninfo_finish(&parsed);
	return r;
}

int
cpq_conninfo_from_params(struct cpq_conninfo *info, const char *const *keywords,
	const char *const *values, int expand_dbname, PQExpBuffer error)
{
	int r = init_options(info, error);

	for (size_t i = 0; r == 0 && keywords[i] != NULL; i++) {
		const char *value = values[i];

		if (value == NULL || *value == '\0') {
			/* In libpq an unknown keyword is an error even without a
			 * value. */
			if (value != NULL && index_of(info, keywords[i]) < 0)
				r = cpq_conninfo_put(info, keywords[i], value, error);
			continue;
		}
		if (expand_dbname && strcmp(keywords[i], "dbname") == 0) {
			/* libpq expands only the first dbname */
			expand_dbname = 0;
			if (is_recognised(value)) {
				r = expand(info, value, error);
				continue;
			}
		}
		r = cpq_conninfo_put(info, keywords[i], value, error);
	}
	return r;
}

static PQconninfoOption *
options_of(const struct cpq_conninfo *info)
{
	PQconninfoOption *list = calloc(CPQ_N_KEYS + 1, sizeof(*list)), *to = list;

	for (size_t i = 0; list != NULL && i < CPQ_N_KEYS; i++) {
		const struct cpq_keyword *k = &cpq_keywords[i];
		const char *value = info->values[i];

		if (!cpq_conninfo_knows(info, i))
			continue;
		/* The interface has no const. The caller owns only `val`. */
		*to = (PQconninfoOption){ .keyword = (char *)(uintptr_t)k->name,
			.envvar = (char *)(uintptr_t)k->variable,
			.compiled = (char *)(uintptr_t)k->compiled,
			.val = value != NULL ? strdup(value) : NULL,
			.label = (char *)(uintptr_t)k->label,
			.dispchar = (char *)(uintptr_t)k->display,
			.dispsize = k->size };
		if (value != NULL && to->val == NULL) {
			cpq_PQconninfoFree(list);
			return NULL;
		}
		to++;
	}
	return list;
}

void
cpq_PQconninfoFree(PQconninfoOption *connOptions)
{
	if (connOptions == NULL)
		return;
	for (PQconninfoOption *o = connOptions; o->keyword != NULL; o++)
		free(o->val);
	free(connOptions);
}

PQconninfoOption *
cpq_PQconndefaults(void)
{
	struct cpq_conninfo info = { .values = NULL };
	PQconninfoOption *list = NULL;
	PQExpBufferData error;

	initPQExpBuffer(&error);
	/* As in libpq, errors of a service file are not reported here. */
	if (init_options(&info, &error) == 0) {
		(void)cpq_conninfo_complete(&info, &error);
		list = options_of(&info);
	}
	cpq_conninfo_finish(&info);
	termPQExpBuffer(&error);
	return list;
}

PQconninfoOption *
cpq_PQconninfoParse(const char *conninfo, char **errmsg)
{
	struct cpq_conninfo info = { .values = NULL };
	PQconninfoOption *list = NULL;
	PQExpBufferData error;

	if (errmsg != NULL)
		*errmsg = NULL;
	initPQExpBuffer(&error);
	if (cpq_conninfo_from_text(&info, conninfo, &error) == 0)
		list = options_of(&info);
	cpq_conninfo_finish(&info);
	if (list == NULL && errmsg != NULL && error.maxlen > 0)
		*errmsg = error.data;
	else
		termPQExpBuffer(&error);
	return list;
}

PQconninfoOption *
cpq_PQconninfo(PGconn *conn)
{
	static char *nothing[CPQ_N_KEYS];
	const struct cpq_conninfo untold = { .values = nothing,
		.release = cpq_release() };
	PQconninfoOption *list;

	if (conn == NULL)
		return NULL;
	list = options_of(conn->is_told ? &conn->info : &untold);
	if (list == NULL)
		cpq_say(conn, "out of memory");
	return list;
}
