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

struct choice {
	enum cpq_key key;
	const char *values[8];
	int is_any_case; /* case does not matter, and the value may be empty */
};

/* In the order in which libpq checks. */
static const struct choice choices[] = {
	{ CPQ_KEY_CHANNEL_BINDING, { "disable", "prefer", "require" }, 0 },
	{ CPQ_KEY_SSLMODE,
		{ "disable", "allow", "prefer", "require", "verify-ca", "verify-full" },
		0 },
	{ CPQ_KEY_SSL_MIN_PROTOCOL_VERSION,
		{ "", "TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3" }, 1 },
	{ CPQ_KEY_SSL_MAX_PROTOCOL_VERSION,
		{ "", "TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3" }, 1 },
	{ CPQ_KEY_GSSENCMODE, { "disable", "prefer", "require" }, 0 },
	{ CPQ_KEY_TARGET_SESSION_ATTRS,
		{ "any", "read-write", "read-only", "primary", "standby",
			"prefer-standby" },
		0 },
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
check_choices(const struct cpq_conninfo *info, PQExpBuffer error)
{
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		enum cpq_key key = choices[i].key;
		const char *value = cpq_conninfo_get(info, key);

		/* the table's own default: the program did not set the value, and it is valid */
		if (info->values[key] == cpq_keywords[key].compiled ||
			is_choice(&choices[i], value))
			continue;
		appendPQExpBuffer(error, "invalid %s value: \"%s\"\n",
			cpq_keywords[key].name, value);
		return -1;
	}
	return 0;
}

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
	if (check_hosts(info, error) < 0)
		return -1;
	return check_choices(info, error) < 0 ? -1 : check_tls_range(info, error);
}
