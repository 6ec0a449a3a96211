/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_odbc.h"
#include "support/cnt_tds.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PostgreSQL's drivers return booleans as text unless a setting says no, and the narrow driver uses
 * the character set of the locale. MariaDB's driver accepts several statements only with a setting. */
static const struct cnt_odbc drivers[] = {
	{ "psqlodbcw", "postgresql", 1, CNT_POSTGRESQL,
		"Database=app;BoolsAsChar=0;ByteaAsLongVarBinary=1" },
	{ "psqlodbca", "postgresql", 1, CNT_POSTGRESQL,
		"Database=app;BoolsAsChar=0;ByteaAsLongVarBinary=1;"
		"ConnSettings=set client_encoding to UTF8" },
	{ "libmaodbc", "mysql", 1, CNT_MARIADB, "Database=app;CHARSET=utf8mb4" },
	{ "libsqlite3odbc", "sqlite", 0, CNT_POSTGRESQL, "" },
	{ "libtdsodbc", "freetds", 0, CNT_POSTGRESQL,
		"TDS_Version=7.4;ClientCharset=UTF-8" },
};

const struct cnt_odbc *
cnt_odbc_find(const char *name)
{
	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++) {
		if (strcmp(drivers[i].name, name) == 0)
			return &drivers[i];
	}
	return NULL;
}

static int
is_tds(const struct cnt_odbc *o)
{
	return strcmp(o->backend, "freetds") == 0;
}

const char *
cnt_odbc_path(const struct cnt_odbc *o)
{
	static const char *const where[] = { "/usr/lib/*/odbc", "/usr/lib/odbc",
		"/usr/lib64/odbc", "/usr/lib64", "/usr/lib", "/usr/local/lib" };
	static char path[256];
	char pattern[128];
	glob_t found;

	for (size_t i = 0; i < sizeof(where) / sizeof(where[0]); i++) {
		snprintf(pattern, sizeof(pattern), "%s/%s.so", where[i], o->name);
		if (glob(pattern, 0, NULL, &found) != 0)
			continue;
		snprintf(path, sizeof(path), "%.255s", found.gl_pathv[0]);
		globfree(&found);
		return path;
	}
	return NULL;
}

void
cnt_odbc_need(const struct cnt_odbc *o)
{
	if (cnt_odbc_path(o) == NULL) {
		printf("1..0 # SKIP the ODBC driver %s is not installed: "
		       "scripts/install-deps test\n",
			o->name);
		exit(0);
	}
	if (is_tds(o))
		cnt_tds_need();
	else if (o->has_server)
		cnt_server_need(o->kind);
}

/* Write the keys of the server line under the driver's names. */
static void
put_tds_keys(char *text, size_t size)
{
	static const char *const keys[][2] = { { "host", "Server" }, { "port", "Port" },
		{ "user", "UID" }, { "password", "PWD" }, { "database", "Database" } };
	size_t n = 0;

	*text = '\0';
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && n < size; i++) {
		const char *value = cnt_tds_option(keys[i][0]);

		if (value)
			n += (size_t)snprintf(
				text + n, size - n, "%s=%s;", keys[i][1], value);
	}
}

char *
cnt_odbc_connect(const struct cnt_odbc *o, const struct cnt_server *s, const char *where,
	char *ret, size_t size)
{
	int n = snprintf(ret, size, "Driver=%s;%s;", cnt_odbc_path(o), o->connect);
	char *rest = ret + n;
	size_t room = size - (size_t)n;

	if (is_tds(o))
		put_tds_keys(rest, room);
	else if (!o->has_server)
		snprintf(rest, room, "Database=%s", where);
	else if (o->kind == CNT_MARIADB)
		snprintf(rest, room, "Socket=%s;UID=%s", s->socket, where);
	else
		snprintf(rest, room, "Server=%s;Port=%d;UID=%s", s->run_dir, s->port,
			where);
	return ret;
}
