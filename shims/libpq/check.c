/* SPDX-License-Identifier: BSD-2-Clause */
#include "conninfo.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The values of connection parameters that libpq refuses. Most of them mean nothing to a
 * pool, but a program with a wrong value must get libpq's error. connect.c calls this
 * file.
 */

/* ---- single values ---- */

typedef int check_more(const struct cpq_conninfo *info, PQExpBuffer error);

struct choice {
	enum cpq_key key;
	const char *values[8];
	int is_any_case; /* case does not matter, and the value may be empty */
	check_more *more; /* what must be right beyond this value; NULL: nothing */
};

/* libpq 16: the system's authorities sign for anybody, so they need a check of the name. */
static int
check_authorities(const struct cpq_conninfo *info, PQExpBuffer error)
{
	const char *mode = cpq_conninfo_get(info, CPQ_KEY_SSLMODE);

	if (info->release < 16 || strcmp(mode, "verify-full") == 0 ||
		strcmp(cpq_conninfo_get(info, CPQ_KEY_SSLROOTCERT), "system") != 0)
		return 0;
	appendPQExpBuffer(error,
		"weak sslmode \"%s\" may not be used with sslrootcert=system (use "
		"\"verify-full\")\n",
		mode);
	return -1;
}

static int
check_negotiation(const struct cpq_conninfo *info, PQExpBuffer error)
{
	const char *mode = cpq_conninfo_get(info, CPQ_KEY_SSLMODE);

	if (strcmp(cpq_conninfo_get(info, CPQ_KEY_SSLNEGOTIATION), "direct") != 0 ||
		*mode == 'r' || *mode == 'v')
		return 0;
	appendPQExpBuffer(error,
		"weak sslmode \"%s\" may not be used with sslnegotiation=direct (use "
		"\"require\", \"verify-ca\", or \"verify-full\")\n",
		mode);
	return -1;
}

/* Are two TLS versions in order? Either may be empty; their names sort in order. */
static int
check_tls_range(const struct cpq_conninfo *info, PQExpBuffer error)
{
	const char *min = cpq_conninfo_get(info, CPQ_KEY_SSL_MIN_PROTOCOL_VERSION);
	const char *max = cpq_conninfo_get(info, CPQ_KEY_SSL_MAX_PROTOCOL_VERSION);

	if (*min == '\0' || *max == '\0' || strcasecmp(min, max) <= 0)
		return 0;
	appendPQExpBufferStr(error, "invalid SSL protocol version range\n");
	return -1;
}

static int
check_protocol_range(const struct cpq_conninfo *info, PQExpBuffer error)
{
	const char *min = cpq_conninfo_get(info, CPQ_KEY_MIN_PROTOCOL_VERSION);
	const char *max = cpq_conninfo_get(info, CPQ_KEY_MAX_PROTOCOL_VERSION);

	/* there are only "3.0", "3.2" and "latest", which is 3.2 */
	if (strcmp(max, "3.0") != 0 || *min == '\0' || strcmp(min, max) == 0)
		return 0;
	appendPQExpBufferStr(error,
		"\"min_protocol_version\" is greater than \"max_protocol_version\"\n");
	return -1;
}

/* How many bytes the text in base64 stands for; -1: it is not base64. */
static int
base64_length(const char *text)
{
	size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				"0123456789+/");
	size_t padding = strlen(text + n);

	if (padding > 2 || strspn(text + n, "=") != padding || (n + padding) % 4 != 0)
		return -1;
	return (int)(n * 3 / 4);
}

/* A key takes the place of a password when the program logs in to the server itself. */
static int
check_scram_key(const struct cpq_conninfo *info, enum cpq_key key, const char *name,
	PQExpBuffer error)
{
	const int key_length = 32;
	const char *value = info->values[key];
	int length = value != NULL ? base64_length(value) : key_length;

	if (length == key_length)
		return 0;
	appendPQExpBuffer(error, "invalid SCRAM %s key", name);
	if (length >= 0)
		appendPQExpBuffer(error, " length: %d", length);
	appendPQExpBufferChar(error, '\n');
	return -1;
}

static int
check_scram_keys(const struct cpq_conninfo *info, PQExpBuffer error)
{
	int r = check_scram_key(info, CPQ_KEY_SCRAM_CLIENT_KEY, "client", error);

	return r < 0 ? r
		     : check_scram_key(info, CPQ_KEY_SCRAM_SERVER_KEY, "server", error);
}

/* In the order in which libpq checks. */
static const struct choice choices[] = {
	{ CPQ_KEY_CHANNEL_BINDING, { "disable", "prefer", "require" }, 0, NULL },
	{ CPQ_KEY_SSLMODE,
		{ "disable", "allow", "prefer", "require", "verify-ca", "verify-full" },
		0, check_authorities },
	{ CPQ_KEY_SSLNEGOTIATION, { "postgres", "direct" }, 0, check_negotiation },
	{ CPQ_KEY_SSL_MIN_PROTOCOL_VERSION,
		{ "", "TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3" }, 1, NULL },
	{ CPQ_KEY_SSL_MAX_PROTOCOL_VERSION,
		{ "", "TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3" }, 1, check_tls_range },
	{ CPQ_KEY_SSLCERTMODE, { "disable", "allow", "require" }, 0, NULL },
	{ CPQ_KEY_GSSENCMODE, { "disable", "prefer", "require" }, 0, NULL },
	{ CPQ_KEY_TARGET_SESSION_ATTRS,
		{ "any", "read-write", "read-only", "primary", "standby",
			"prefer-standby" },
		0, check_scram_keys },
	{ CPQ_KEY_LOAD_BALANCE_HOSTS, { "disable", "random" }, 0, NULL },
	{ CPQ_KEY_MIN_PROTOCOL_VERSION, { "3.0", "3.2", "latest" }, 0, NULL },
	{ CPQ_KEY_MAX_PROTOCOL_VERSION, { "3.0", "3.2", "latest" }, 0,
		check_protocol_range },
};

static int
is_choice(const struct choice *c, const char *value)
{
	for (size_t i = 0; i < 8 && c->values[i] != NULL; i++) {
		if ((c->is_any_case ? strcasecmp(value, c->values[i])
				    : strcmp(value, c->values[i])) == 0)
			return 1;
	}
	return 0;
}

static int
check_choice(const struct choice *c, const struct cpq_conninfo *info, PQExpBuffer error)
{
	const char *name = cpq_keywords[c->key].name;
	const char *value = cpq_conninfo_get(info, c->key);
	/* libpq 17 has begun to put quotes around some names. */
	const char *quote = c->is_any_case && info->release >= 17 ? "\"" : "";

	/* nothing, or the table's own default: the program did not set the value */
	if (info->values[c->key] == NULL ||
		info->values[c->key] == cpq_keywords[c->key].compiled ||
		is_choice(c, value))
		return c->more != NULL ? c->more(info, error) : 0;
	appendPQExpBuffer(
		error, "invalid %s%s%s value: \"%s\"\n", quote, name, quote, value);
	return -1;
}

static int
check_choices(const struct cpq_conninfo *info, PQExpBuffer error)
{
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		if (check_choice(&choices[i], info, error) < 0)
			return -1;
	}
	return 0;
}

/* ---- require_auth ---- */

/* The methods' names, and which libpq brought each. */
static const struct {
	const char *name;
	int since;
} methods[] = { { "none", 16 }, { "password", 16 }, { "md5", 16 }, { "gss", 16 },
	{ "sspi", 16 }, { "scram-sha-256", 16 }, { "oauth", 18 } };

/* The number of the method with this name of `len` bytes; -1: none. */
static int
method_of(const struct cpq_conninfo *info, const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		if (strncmp(methods[i].name, name, len) == 0 &&
			methods[i].name[len] == '\0' && methods[i].since <= info->release)
			return (int)i;
	}
	return -1;
}

/* A list of methods, or of methods that are not allowed: "!password,!md5". */
struct methods {
	const struct cpq_conninfo *info;
	bool is_of_nots;
	unsigned seen; /* a bit for each method */
};

/* Check one method, `len` bytes at `at`. */
static int
check_method(struct methods *m, const char *at, size_t len, PQExpBuffer error)
{
	bool is_not = *at == '!';
	int method = method_of(m->info, at + is_not, len - is_not);

	if (is_not && !m->is_of_nots)
		appendPQExpBuffer(error,
			"negative require_auth method \"%.*s\" cannot be mixed with "
			"non-negative methods\n",
			(int)len, at);
	else if (!is_not && m->is_of_nots)
		appendPQExpBuffer(error,
			"require_auth method \"%.*s\" cannot be mixed with negative "
			"methods\n",
			(int)len, at);
	else if (method < 0)
		appendPQExpBuffer(error, "invalid require_auth value: \"%.*s\"\n",
			(int)len - is_not, at + is_not);
	else if ((m->seen & 1U << method) != 0)
		appendPQExpBuffer(error,
			"require_auth method \"%.*s\" is specified more than once\n",
			(int)len, at);
	else {
		m->seen |= 1U << method;
		return 0;
	}
	return -1;
}

static int
check_require_auth(const struct cpq_conninfo *info, PQExpBuffer error)
{
	const char *at = cpq_conninfo_get(info, CPQ_KEY_REQUIRE_AUTH);
	struct methods m = { .info = info, .is_of_nots = *at == '!' };
	size_t len;

	if (*at == '\0')
		return 0;
	for (;; at += len + 1) {
		len = strcspn(at, ",");
		if (check_method(&m, at, len, error) < 0)
			return -1;
		if (at[len] == '\0')
			return 0;
	}
}

/* ---- hosts and ports ---- */

static int
n_elements(const char *list)
{
	int n = 1;

	for (; *list != '\0'; list++)
		n += *list == ',';
	return n;
}

static int
check_hosts(const struct cpq_conninfo *info, PQExpBuffer error)
{
	const char *hosts = cpq_conninfo_get(info, CPQ_KEY_HOST);
	const char *addresses = cpq_conninfo_get(info, CPQ_KEY_HOSTADDR);
	const char *ports = cpq_conninfo_get(info, CPQ_KEY_PORT);
	int n = n_elements(*addresses != '\0' ? addresses : hosts);

	if (*hosts != '\0' && n_elements(hosts) != n) {
		appendPQExpBuffer(error,
			"could not match %d host names to %d hostaddr values\n",
			n_elements(hosts), n);
		return -1;
	}
	if (n_elements(ports) == 1 || n_elements(ports) == n)
		return 0;
	appendPQExpBuffer(error, "could not match %d port numbers to %d hosts\n",
		n_elements(ports), n);
	return -1;
}

int
cpq_port_check(const struct cpq_conninfo *info, PQExpBuffer error)
{
	const char *port = cpq_conninfo_get(info, CPQ_KEY_PORT);
	char *end;
	long number;

	if (*port == '\0' || strchr(port, ',') != NULL)
		return 0;
	errno = 0;
	number = strtol(port, &end, 10);
	while (isspace((unsigned char)*end))
		end++;
	if (end == port || *end != '\0' || errno != 0 || number != (int)number) {
		appendPQExpBuffer(error,
			"invalid integer value \"%s\" for connection option "
			"\"port\"\n",
			port);
		return -1;
	}
	if (number > 0 && number < 65536)
		return 0;
	appendPQExpBuffer(error, "invalid port number: \"%s\"\n", port);
	return -1;
}

int
cpq_conninfo_check(const struct cpq_conninfo *info, PQExpBuffer error)
{
	if (check_hosts(info, error) < 0 || check_require_auth(info, error) < 0)
		return -1;
	return check_choices(info, error);
}
