/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Settings of a connection: connection strings, and data sources of odbc.ini. connect.c and the
 * setup library call it. The state is struct cod_settings.
 */
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <odbcinst.h>

#define VALUE_MAX 4096

static const struct {
	const char *name;
	const char *other; /* another name; NULL: none */
} keys[COD_N_KEYS] = {
	[COD_KEY_DSN] = { "DSN", NULL },
	[COD_KEY_DRIVER] = { "Driver", NULL },
	[COD_KEY_DESCRIPTION] = { "Description", NULL },
	[COD_KEY_POOL] = { "Pool", NULL },
	[COD_KEY_SERVER] = { "Server", "Servername" },
	[COD_KEY_DATABASE] = { "Database", "DB" },
	[COD_KEY_UID] = { "UID", "User" },
	[COD_KEY_PWD] = { "PWD", "Password" },
	[COD_KEY_TLS] = { "TLS", NULL },
	[COD_KEY_CA] = { "CA", NULL },
	[COD_KEY_CERT] = { "Cert", NULL },
	[COD_KEY_KEY] = { "Key", NULL },
	[COD_KEY_READ_ONLY] = { "ReadOnly", NULL },
	[COD_KEY_FETCH_SIZE] = { "FetchSize", NULL },
	[COD_KEY_TIMEOUT] = { "Timeout", NULL },
	[COD_KEY_APPLICATION_NAME] = { "ApplicationName", NULL },
	[COD_KEY_CACHE] = { "Cache", NULL },
	[COD_KEY_CACHE_TTL] = { "CacheTtl", NULL },
	[COD_KEY_MAX_LONG_VARCHAR_SIZE] = { "MaxLongVarcharSize", NULL },
	[COD_KEY_INTEGER_AS] = { "IntegerAs", NULL },
};

const char *
cod_key_name(enum cod_key key)
{
	return keys[key].name;
}

static int
is_name(const char *name, const char *text, size_t n)
{
	return name != NULL && strlen(name) == n && strncasecmp(name, text, n) == 0;
}

static int
find_key(const char *name, size_t n)
{
	for (int i = 0; i < COD_N_KEYS; i++) {
		if (is_name(keys[i].name, name, n) || is_name(keys[i].other, name, n))
			return i;
	}
	return -1;
}

void
cod_wipe(char *text)
{
	if (text != NULL)
		explicit_bzero(text, strlen(text));
	free(text);
}

void
cod_settings_clear(struct cod_settings *settings)
{
	for (int i = 0; i < COD_N_KEYS; i++)
		cod_wipe(settings->values[i]);
	*settings = (struct cod_settings){ 0 };
}

const char *
cod_setting(const struct cod_settings *settings, enum cod_key key)
{
	return settings->values[key] != NULL ? settings->values[key] : "";
}

bool
cod_settings_put(
	struct cod_settings *settings, enum cod_key key, const char *value, size_t n)
{
	if (settings->values[key] != NULL)
		return true;
	settings->values[key] = malloc(n + 1);
	if (settings->values[key] == NULL)
		return false;
	memcpy(settings->values[key], value, n);
	settings->values[key][n] = '\0';
	return true;
}

/* -------------------------------------------------------------- connection strings ----- */

#define SPACE " \t\r\n"

/* Read a value in braces, in which a closing brace is doubled. *at is after the opening brace; it
 * moves after the closing one. NULL: the end is missing, or no memory (*ret_status). */
static char *
braced(const char **at, const char *end, enum cod_parse *ret_status)
{
	char *value = malloc((size_t)(end - *at) + 1);
	size_t n = 0;

	*ret_status = value != NULL ? COD_PARSE_BAD : COD_PARSE_NO_MEMORY;
	if (value == NULL)
		return NULL;
	while (*at < end) {
		char c = *(*at)++;

		if (c == '}' && (*at == end || **at != '}')) {
			value[n] = '\0';
			return value;
		}
		if (c == '}')
			++*at;
		value[n++] = c;
	}
	explicit_bzero(value, n);
	free(value);
	return NULL;
}

static const char *
skip_space(const char *at, const char *end)
{
	while (at < end && strchr(SPACE, *at) != NULL)
		at++;
	return at;
}

static size_t
without_space(const char *from, const char *to)
{
	while (to > from && strchr(SPACE, to[-1]) != NULL)
		to--;
	return (size_t)(to - from);
}

static bool
put_named(struct cod_settings *settings, const char *name, size_t n_name,
	const char *value, size_t n, enum cod_parse *status)
{
	int key = find_key(name, n_name);

	if (key < 0) {
		*status = COD_PARSE_UNKNOWN;
		return true;
	}
	/* If both DSN and Driver are given, the first one counts. */
	if ((key == COD_KEY_DSN && settings->values[COD_KEY_DRIVER] != NULL) ||
		(key == COD_KEY_DRIVER && settings->values[COD_KEY_DSN] != NULL))
		return true;
	return cod_settings_put(settings, (enum cod_key)key, value, n);
}

/* Read one value, from after the "=" to the ";". */
static enum cod_parse
parse_value(struct cod_settings *settings, const char *name, size_t n_name,
	const char **at, const char *end, enum cod_parse *status)
{
	enum cod_parse bad;
	const char *stop;
	bool done;

	*at = skip_space(*at, end);
	if (*at < end && **at == '{') {
		char *value;

		++*at;
		value = braced(at, end, &bad);
		if (value == NULL)
			return bad;
		done = put_named(settings, name, n_name, value, strlen(value), status);
		cod_wipe(value);
		*at = skip_space(*at, end);
		if (*at < end && **at != ';')
			return COD_PARSE_BAD;
	} else {
		stop = memchr(*at, ';', (size_t)(end - *at));
		if (stop == NULL)
			stop = end;
		done = put_named(
			settings, name, n_name, *at, without_space(*at, stop), status);
		*at = stop;
	}
	return done ? COD_PARSE_OK : COD_PARSE_NO_MEMORY;
}

enum cod_parse
cod_settings_parse(struct cod_settings *settings, const char *text, size_t n)
{
	const char *at = text, *end = text + n;
	enum cod_parse status = COD_PARSE_OK, r;

	for (;;) {
		const char *name, *equals;

		while (at < end && (*at == ';' || strchr(SPACE, *at) != NULL))
			at++;
		if (at == end)
			return status;
		name = at;
		equals = memchr(at, '=', (size_t)(end - at));
		if (equals == NULL)
			return COD_PARSE_BAD;
		at = equals + 1;
		r = parse_value(
			settings, name, without_space(name, equals), &at, end, &status);
		if (r != COD_PARSE_OK)
			return r;
	}
}

static bool
needs_braces(const char *value)
{
	size_t n = strlen(value);

	return n > 0 && (strpbrk(value, "[]{}(),;?*=!@") != NULL ||
				strchr(SPACE, value[0]) != NULL ||
				strchr(SPACE, value[n - 1]) != NULL);
}

static size_t
format_value(char *to, const char *value)
{
	size_t n = 0;

	if (!needs_braces(value)) {
		for (; *value != '\0'; value++)
			to[n++] = *value;
		return n;
	}
	to[n++] = '{';
	for (; *value != '\0'; value++) {
		if (*value == '}')
			to[n++] = '}';
		to[n++] = *value;
	}
	to[n++] = '}';
	return n;
}

char *
cod_settings_format(const struct cod_settings *settings)
{
	size_t size = 1, n = 0;
	char *text;

	for (int i = 0; i < COD_N_KEYS; i++)
		size += strlen(keys[i].name) + 4 +
			2 * strlen(cod_setting(settings, (enum cod_key)i));
	text = malloc(size);
	if (text == NULL)
		return NULL;
	for (int i = 0; i < COD_N_KEYS; i++) {
		if (settings->values[i] == NULL || i == COD_KEY_DESCRIPTION ||
			(i == COD_KEY_PWD && settings->is_password_read))
			continue;
		n += (size_t)snprintf(text + n, size - n, "%s=", keys[i].name);
		n += format_value(text + n, settings->values[i]);
		text[n++] = ';';
	}
	text[n] = '\0';
	return text;
}

bool
cod_settings_read_dsn(struct cod_settings *settings, const char *dsn)
{
	char value[VALUE_MAX];
	bool ok = true;

	if (settings->values[COD_KEY_PWD] == NULL)
		settings->is_password_read = true;
	for (int i = COD_KEY_DESCRIPTION; i < COD_N_KEYS && ok; i++) {
		int n = SQLGetPrivateProfileString(
			dsn, keys[i].name, "", value, (int)sizeof(value), "odbc.ini");

		if (n <= 0 && keys[i].other != NULL)
			n = SQLGetPrivateProfileString(dsn, keys[i].other, "", value,
				(int)sizeof(value), "odbc.ini");
		ok = n <= 0 ||
		     cod_settings_put(settings, (enum cod_key)i, value, strlen(value));
	}
	explicit_bzero(value, sizeof(value));
	return ok;
}
