/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Choose the pool of a connection, by environment variables and client.conf. The libpq and MySQL
 * shims call this file for each connection. The state is one word, wants_login.
 */
#include "route.h"

#include <fnmatch.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct search {
	const char *section;
	char target[1024]; /* HOST:PORT/DBNAME/USER */
	char *pool;
	size_t size;
	int has_section;
};

const char *
csh_variable(const char *name)
{
	const char *value = secure_getenv(name);

	return value != NULL && *value != '\0' ? value : NULL;
}

int
csh_may_fall_back(void)
{
	const char *fallback = csh_variable("CENOTE_FALLBACK");

	return fallback != NULL && strcmp(fallback, "direct") == 0;
}

int
csh_is_remote(void)
{
	const char *server = csh_variable("CENOTE_SERVER");

	return server != NULL && strncmp(server, "tcp://", 6) == 0;
}

/* Hash (FNV-1a) of the name of the pool that asked for a password; 0: no pool has asked. One word
 * needs no lock. In the worst case, a connection tries once without a password. */
static _Atomic unsigned wants_login;

static unsigned
hash_of(const char *pool)
{
	unsigned hash = 2166136261u;

	for (; *pool != '\0'; pool++)
		hash = (hash ^ (unsigned char)*pool) * 16777619u;
	return hash != 0 ? hash : 1;
}

int
csh_login_was_wanted(const char *pool)
{
	return wants_login == hash_of(pool);
}

void
csh_login_is_wanted(const char *pool)
{
	wants_login = hash_of(pool);
}

/* Copy the pool's name, and cut it if it does not fit. A longer name cannot be a pool's. */
static void
put_pool(char *pool, size_t size, const char *name)
{
	size_t n = strnlen(name, size - 1);

	memcpy(pool, name, n);
	pool[n] = '\0';
}

static int
on_line(void *user, const char *section, const char *name, const char *value)
{
	struct search *s = user;

	if (strcmp(section, s->section) != 0)
		return 1;
	s->has_section = 1;
	if (s->pool[0] == '\0' && fnmatch(value, s->target, 0) == 0)
		put_pool(s->pool, s->size, name);
	return 1;
}

/* Read client.conf. 0; -1: the file exists but has an error. */
static int
ask_file(struct search *s, struct csh_choice *choice)
{
	const char *path = csh_variable("CENOTE_CLIENT_CONF");
	FILE *f;
	int line;

	if (path == NULL)
		path = CSH_CONFIG_DIR "/client.conf";
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	line = ini_parse_file(f, on_line, s);
	fclose(f);
	if (line == 0)
		return 0;
	snprintf(choice->error, sizeof(choice->error),
		"cenote: syntax error in \"%s\", line %d", path, line);
	return -1;
}

static int
choose_by_file(const struct csh_target *target, struct csh_choice *choice)
{
	struct search s = { .section = target->section,
		.pool = choice->pool,
		.size = sizeof(choice->pool) };

	snprintf(s.target, sizeof(s.target), "%s:%s/%s/%s", target->host, target->port,
		target->dbname, target->user);
	if (ask_file(&s, choice) < 0)
		return -1;
	if (s.pool[0] == '\0')
		put_pool(s.pool, s.size, s.has_section ? "direct" : target->fallback);
	return 0;
}

int
csh_choose(const struct csh_target *target, struct csh_choice *ret_choice)
{
	const char *pool = csh_variable("CENOTE_POOL");

	ret_choice->pool[0] = '\0';
	ret_choice->error[0] = '\0';
	if (pool == NULL)
		return choose_by_file(target, ret_choice);
	put_pool(ret_choice->pool, sizeof(ret_choice->pool), pool);
	return 0;
}
