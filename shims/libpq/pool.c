/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <fnmatch.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>

/*
 * Which pool a connection goes to. CENOTE_POOL says it for all of a process; else the first line that fits of
 * the section [libpq] of client.conf,
 *
 *     POOL = HOST:PORT/DBNAME/USER          a pattern of the shell; POOL may be "direct"
 *
 * and what no line fits is not pooled. Without such a file the pool is named as the database is.
 */

struct search {
	char target[1024]; /* HOST:PORT/DBNAME/USER */
	char pool[256];
	int has_section;
};

static const char *
variable(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && *value != '\0' ? value : NULL;
}

static int
on_line(void *user, const char *section, const char *name, const char *value)
{
	struct search *s = user;

	if (strcmp(section, "libpq") != 0)
		return 1;
	s->has_section = 1;
	if (s->pool[0] == '\0' && fnmatch(value, s->target, 0) == 0)
		snprintf(s->pool, sizeof(s->pool), "%s", name);
	return 1;
}

static void
describe(struct search *s, const struct cpq_conninfo *info)
{
	const char *host = cpq_conninfo_get(info, "host");
	const char *dbname = cpq_conninfo_get(info, "dbname");
	const char *user = cpq_conninfo_get(info, "user");

	if (*host == '\0')
		host = cpq_conninfo_get(info, "hostaddr");
	snprintf(s->target, sizeof(s->target), "%s:%s/%s/%s",
		*host != '\0' ? host : "localhost", cpq_conninfo_get(info, "port"),
		*dbname != '\0' ? dbname : user, user);
}

/* 0; -1: the file is there and wrong. */
static int
ask_file(struct search *s, PQExpBuffer error)
{
	const char *path = variable("CENOTE_CLIENT_CONF");
	FILE *f;
	int line;

	if (path == NULL)
		path = CPQ_CONFIG_DIR "/client.conf";
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	line = ini_parse_file(f, on_line, s);
	fclose(f);
	if (line == 0)
		return 0;
	appendPQExpBuffer(error, "cenote: syntax error in \"%s\", line %d\n", path, line);
	return -1;
}

static int
choose(struct search *s, const struct cpq_conninfo *info, PQExpBuffer error)
{
	const char *pool = variable("CENOTE_POOL");
	const char *dbname = cpq_conninfo_get(info, "dbname");

	describe(s, info);
	if (pool != NULL) {
		snprintf(s->pool, sizeof(s->pool), "%s", pool);
		return 0;
	}
	if (ask_file(s, error) < 0)
		return -1;
	if (s->pool[0] == '\0')
		snprintf(s->pool, sizeof(s->pool), "%s",
			s->has_section    ? "direct"
			: *dbname != '\0' ? dbname
					  : cpq_conninfo_get(info, "user"));
	return 0;
}

/* A replication connection is the server's own, of no pool. */
static int
is_replication(const struct cpq_conninfo *info)
{
	const char *value = cpq_conninfo_get(info, "replication");
	static const char *const no[] = { "", "0", "off", "no", "false", "n", "f" };

	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		if (strcmp(value, no[i]) == 0)
			return 0;
	}
	return 1;
}

int
cpq_route_find(
	struct cpq_route *route, const struct cpq_conninfo *info, PQExpBuffer error)
{
	const char *fallback = variable("CENOTE_FALLBACK");
	struct search s = { .pool = "" };

	*route = (struct cpq_route){ .way = CPQ_WAY_POOL };
	route->may_fall_back = fallback != NULL && strcmp(fallback, "direct") == 0;
	if (choose(&s, info, error) < 0)
		return -1;
	if (strcmp(s.pool, "direct") == 0) {
		route->way = CPQ_WAY_ORIGINAL;
		return 0;
	}
	if (is_replication(info)) {
		route->way = route->may_fall_back ? CPQ_WAY_ORIGINAL : CPQ_WAY_NONE;
		if (route->way == CPQ_WAY_NONE)
			appendPQExpBufferStr(error,
				"cenote: replication connections are not pooled; "
				"CENOTE_FALLBACK=direct lets them go to the server\n");
		return 0;
	}
	route->pool = strdup(s.pool);
	if (route->pool != NULL)
		return 0;
	appendPQExpBufferStr(error, "out of memory\n");
	return -1;
}

void
cpq_route_finish(struct cpq_route *route)
{
	free(route->pool);
	route->pool = NULL;
}
