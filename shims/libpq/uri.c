/* SPDX-License-Identifier: BSD-2-Clause */
#include "conninfo.h"

#include <stdlib.h>
#include <string.h>

/*
 * URIs: postgresql://[user[:password]@][host[:port][,…]][/dbname][?name=value[&…]] (RFC
 * 3986, except for the list of hosts). The error texts are libpq's. conninfo.c calls this
 * file.
 */

size_t
cpq_uri_prefix(const char *text)
{
	static const char *const prefixes[] = { "postgresql://", "postgres://" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t n = strlen(prefixes[i]);

		if (strncmp(text, prefixes[i], n) == 0)
			return n;
	}
	return 0;
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decode the percent sign at `from`: one byte; -1, and the reason in `error`. */
static int
decode_byte(const char *from, const char *text, PQExpBuffer error)
{
	int high = hex_digit(from[1]);
	int low = high >= 0 ? hex_digit(from[2]) : -1;

	if (low < 0) {
		appendPQExpBuffer(error, "invalid percent-encoded token: \"%s\"\n", text);
		return -1;
	}
	if (high != 0 || low != 0)
		return high << 4 | low;
	appendPQExpBuffer(
		error, "forbidden value %%00 in percent-encoded value: \"%s\"\n", text);
	return -1;
}

/* Decode the text up to its end, or up to a space that ends it. Returns that place; NULL, and the reason in `error`. */
static const char *
decode_to(
	char *to, const char *from, bool has_spaces, const char *text, PQExpBuffer error)
{
	while (*from != '\0' && (has_spaces || *from != ' ')) {
		int byte = (unsigned char)*from;

		if (*from == '%') {
			byte = decode_byte(from, text, error);
			if (byte < 0)
				return NULL;
			from += 2;
		}
		*to++ = (char)byte;
		from++;
	}
	*to = '\0';
	return from;
}

/* Decode percent signs; NULL, and the reason in `error`. From libpq 18 on, spaces around a part do not count, and a part has none. */
static char *
decode(const struct cpq_conninfo *info, const char *text, PQExpBuffer error)
{
	bool has_spaces = info->release < 18;
	char *out = malloc(strlen(text) + 1);
	const char *end;

	if (out == NULL) {
		appendPQExpBufferStr(error, "out of memory\n");
		return NULL;
	}
	end = decode_to(out, text + (has_spaces ? 0 : strspn(text, " ")), has_spaces,
		text, error);
	if (end != NULL && end[strspn(end, " ")] == '\0')
		return out;
	if (end != NULL)
		appendPQExpBuffer(error,
			"unexpected spaces found in \"%s\", use percent-encoded "
			"spaces (%%20) instead\n",
			text);
	free(out);
	return NULL;
}

/* Set a keyword from a part of the URI. An empty part sets nothing. */
static int
put_part(struct cpq_conninfo *info, const char *keyword, const char *part,
	PQExpBuffer error)
{
	char *value;
	int r;

	if (*part == '\0')
		return 0;
	value = decode(info, part, error);
	if (value == NULL)
		return -1;
	r = cpq_conninfo_put(info, keyword, value, error);
	free(value);
	return r;
}

/* Cut the text at the first of these characters, and return that character. */
static char
cut(char **at, const char *stops)
{
	char *end = *at + strcspn(*at, stops);
	char stop = *end;

	*end = '\0';
	*at = stop != '\0' ? end + 1 : end;
	return stop;
}

static int
parse_user(struct cpq_conninfo *info, char **at, PQExpBuffer error)
{
	char *user = *at;
	char *password;
	char stop;

	if ((*at)[strcspn(*at, "@/")] != '@')
		return 0;
	stop = cut(at, ":@");
	if (put_part(info, "user", user, error) < 0)
		return -1;
	if (stop != ':')
		return 0;
	password = *at;
	(void)cut(at, "@");
	return put_part(info, "password", password, error);
}

/* Find the end of the host, without brackets. Returns the place after it, or NULL. */
static char *
host_end(char **host, const char *begin, const char *uri, PQExpBuffer error)
{
	char *at = *host;

	if (*at != '[')
		return at + strcspn(at, ":/?,");
	*host = ++at;
	at += strcspn(at, "]");
	if (*at == '\0') {
		appendPQExpBuffer(error,
			"end of string reached when looking for matching \"]\" in IPv6 "
			"host address in URI: \"%s\"\n",
			uri);
		return NULL;
	}
	if (at == *host) {
		appendPQExpBuffer(error,
			"IPv6 host address may not be empty in URI: \"%s\"\n", uri);
		return NULL;
	}
	*at++ = '\0';
	if (*at == '\0' || strchr(":/?,", *at) != NULL)
		return at;
	appendPQExpBuffer(error,
		"unexpected character \"%c\" at position %d in URI (expected \":\" or "
		"\"/\"): \"%s\"\n",
		*at, (int)(at - begin + 1), uri);
	return NULL;
}

struct lists {
	PQExpBufferData hosts;
	PQExpBufferData ports;
};

/* Parse host[:port][,…]. Returns the character after it, or -1. */
static int
parse_hosts(
	struct lists *l, char **at, const char *begin, const char *uri, PQExpBuffer error)
{
	char stop;

	for (;;) {
		char *host = *at;
		char *end = host_end(&host, begin, uri, error);

		if (end == NULL)
			return -1;
		stop = *end;
		*end = '\0';
		*at = stop != '\0' ? end + 1 : end;
		appendPQExpBufferStr(&l->hosts, host);
		if (stop == ':') {
			char *port = *at;

			stop = cut(at, "/?,");
			appendPQExpBufferStr(&l->ports, port);
		}
		if (stop != ',')
			return (unsigned char)stop;
		appendPQExpBufferChar(&l->hosts, ',');
		appendPQExpBufferChar(&l->ports, ',');
	}
}

/* Parse one "name=value" of the query part, which the caller has cut out. */
static int
parse_param(struct cpq_conninfo *info, char *param, PQExpBuffer error)
{
	char *equals = strchr(param, '=');
	char *name, *value;
	int r;

	if (equals == NULL) {
		appendPQExpBuffer(error,
			"missing key/value separator \"=\" in URI query parameter: "
			"\"%s\"\n",
			param);
		return -1;
	}
	*equals = '\0';
	if (strchr(equals + 1, '=') != NULL) {
		appendPQExpBuffer(error,
			"extra key/value separator \"=\" in URI query parameter: "
			"\"%s\"\n",
			param);
		return -1;
	}
	name = decode(info, param, error);
	value = name != NULL ? decode(info, equals + 1, error) : NULL;
	r = value != NULL ? 0 : -1;
	/* JDBC's form of sslmode=require. */
	if (r == 0 && strcmp(name, "ssl") == 0 && strcmp(value, "true") == 0) {
		r = cpq_conninfo_put_at(info, CPQ_KEY_SSLMODE, "require", error);
	} else if (r == 0) {
		PQExpBufferData ignored;

		initPQExpBuffer(&ignored);
		r = cpq_conninfo_put(info, name, value, &ignored);
		termPQExpBuffer(&ignored);
		if (r < 0)
			appendPQExpBuffer(
				error, "invalid URI query parameter: \"%s\"\n", name);
	}
	free(name);
	free(value);
	return r;
}

static int
parse_params(struct cpq_conninfo *info, char *at, PQExpBuffer error)
{
	while (*at != '\0') {
		char *param = at;

		(void)cut(&at, "&");
		if (parse_param(info, param, error) < 0)
			return -1;
	}
	return 0;
}

static int
parse_all(struct cpq_conninfo *info, struct lists *l, char *begin, const char *uri,
	PQExpBuffer error)
{
	char *at = begin + cpq_uri_prefix(begin);
	int stop;

	if (parse_user(info, &at, error) < 0)
		return -1;
	stop = parse_hosts(l, &at, begin, uri, error);
	if (stop < 0)
		return -1;
	if (put_part(info, "host", l->hosts.data, error) < 0 ||
		put_part(info, "port", l->ports.data, error) < 0)
		return -1;
	if (stop == '/') {
		char *dbname = at;

		stop = (unsigned char)cut(&at, "?");
		if (put_part(info, "dbname", dbname, error) < 0)
			return -1;
	}
	return stop == '?' ? parse_params(info, at, error) : 0;
}

int
cpq_uri_parse(struct cpq_conninfo *info, char *uri, PQExpBuffer error)
{
	char *whole = strdup(uri);
	struct lists l;
	int r = -1;

	initPQExpBuffer(&l.hosts);
	initPQExpBuffer(&l.ports);
	if (whole == NULL || l.hosts.maxlen == 0 || l.ports.maxlen == 0)
		appendPQExpBufferStr(error, "out of memory\n");
	else
		r = parse_all(info, &l, uri, whole, error);
	termPQExpBuffer(&l.hosts);
	termPQExpBuffer(&l.ports);
	free(whole);
	return r;
}
