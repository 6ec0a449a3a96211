/* SPDX-License-Identifier: BSD-2-Clause */
#include "conninfo.h"

#include <langinfo.h>
#include <ctype.h>
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Values that the program did not give: from a service file (pg_service.conf), from the
 * environment, and from PostgreSQL's defaults. conninfo.c and connect.c call this file.
 */

static const char *
variable(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && *value != '\0' ? value : NULL;
}

/* The user's name or home directory, malloc()ed; NULL: unknown. */
static char *
user_fact(int is_home)
{
	size_t size = 16384;
	char *room = malloc(size);
	struct passwd pw, *found = NULL;
	char *fact = NULL;

	if (room != NULL && getpwuid_r(geteuid(), &pw, room, size, &found) == 0 &&
		found != NULL)
		fact = strdup(is_home ? found->pw_dir : found->pw_name);
	free(room);
	return fact;
}

static char *
home_directory(void)
{
	const char *home = variable("HOME");

	return home != NULL ? strdup(home) : user_fact(1);
}

static char *
trim(char *line)
{
	size_t n = strlen(line);

	while (n > 0 && isspace((unsigned char)line[n - 1]))
		line[--n] = '\0';
	while (isspace((unsigned char)*line))
		line++;
	return line;
}

struct service {
	const char *name;
	const char *file; /* the file that is being read */
	int line;
	int is_found;
};

static int
put_setting(
	struct cpq_conninfo *info, const struct service *s, char *line, PQExpBuffer error)
{
	char *value = strchr(line, '=');
	PQExpBufferData ignored;
	int r;

	if (value == NULL)
		goto bad;
	*value++ = '\0';
	if (strcmp(line, "service") == 0) {
		appendPQExpBuffer(error,
			"nested service specifications not supported in service file "
			"\"%s\", line %d\n",
			s->file, s->line);
		return -1;
	}
	if (cpq_conninfo_has(info, line))
		return 0;
	initPQExpBuffer(&ignored);
	r = cpq_conninfo_put(info, line, value, &ignored);
	termPQExpBuffer(&ignored);
	if (r == 0)
		return 0;
bad:
	appendPQExpBuffer(error, "syntax error in service file \"%s\", line %d\n",
		s->file, s->line);
	return -1;
}

/* Read one line of the file. 1: the section has ended, so stop reading. */
static int
read_line(struct cpq_conninfo *info, struct service *s, char *line, PQExpBuffer error)
{
	size_t n = strlen(s->name);

	line = trim(line);
	if (*line == '\0' || *line == '#')
		return 0;
	if (*line == '[') {
		if (s->is_found)
			return 1;
		s->is_found = strncmp(line + 1, s->name, n) == 0 && line[1 + n] == ']';
		return 0;
	}
	return s->is_found ? put_setting(info, s, line, error) : 0;
}

static int
read_file(
	struct cpq_conninfo *info, struct service *s, const char *file, PQExpBuffer error)
{
	FILE *f = fopen(file, "re");
	char line[1024];
	int r = 0;

	if (f == NULL) {
		appendPQExpBuffer(error, "service file \"%s\" not found\n", file);
		return -1;
	}
	s->file = file;
	s->line = 0;
	while (r == 0 && fgets(line, sizeof(line), f) != NULL) {
		s->line++;
		if (strlen(line) >= sizeof(line) - 1) {
			appendPQExpBuffer(error,
				"line %d too long in service file \"%s\"\n", s->line,
				file);
			r = -1;
		} else {
			r = read_line(info, s, line, error);
		}
	}
	fclose(f);
	s->file = NULL;
	return r < 0 ? -1 : 0;
}

static int
is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

static int
read_services(struct cpq_conninfo *info, struct service *s, PQExpBuffer error)
{
	const char *named = variable("PGSERVICEFILE");
	const char *system = variable("PGSYSCONFDIR");
	char *home = NULL;
	char path[4096];

	if (named != NULL) {
		if (read_file(info, s, named, error) < 0)
			return -1;
	} else if ((home = home_directory()) != NULL) {
		snprintf(path, sizeof(path), "%s/.pg_service.conf", home);
		free(home);
		if (is_file(path) && read_file(info, s, path, error) < 0)
			return -1;
	}
	if (s->is_found)
		return 0;
	snprintf(path, sizeof(path), "%s/pg_service.conf",
		system != NULL ? system : CPQ_PG_SYSCONFDIR);
	return is_file(path) ? read_file(info, s, path, error) : 0;
}

static int
complete_from_service(struct cpq_conninfo *info, PQExpBuffer error)
{
	const char *name = cpq_conninfo_get(info, CPQ_KEY_SERVICE);
	struct service s = { NULL, NULL, 0, 0 };

	if (*name == '\0')
		name = variable("PGSERVICE");
	if (name == NULL)
		return 0;
	s.name = name;
	if (read_services(info, &s, error) < 0)
		return -1;
	if (s.is_found)
		return 0;
	appendPQExpBuffer(error, "definition of service \"%s\" not found\n", name);
	return -1;
}

/* "PGHOST=db1": set the keyword's value if it has none yet. */
static int
put_variable(struct cpq_conninfo *info, const char *setting, PQExpBuffer error)
{
	size_t n = strcspn(setting, "=");

	for (size_t i = 0; i < CPQ_N_KEYS; i++) {
		const char *name = cpq_keywords[i].variable;

		if (name == NULL || strncmp(name, setting, n) != 0 || name[n] != '\0' ||
			!cpq_conninfo_knows(info, i))
			continue;
		if (setting[n] != '=' || info->values[i] != NULL)
			return 0;
		return cpq_conninfo_put_at(info, i, setting + n + 1, error);
	}
	return 0;
}

static int
is_postgresql(const char *setting)
{
	return setting[0] == 'P' && setting[1] == 'G';
}

int
cpq_environment_says_something(void)
{
	for (char **at = environ; at != NULL && *at != NULL; at++) {
		if (is_postgresql(*at))
			return 1;
	}
	return 0;
}

/* Read the environment once: getenv() would read all of it for each keyword. */
static int
complete_from_environment(struct cpq_conninfo *info, PQExpBuffer error)
{
	for (char **at = environ; at != NULL && *at != NULL; at++) {
		if (is_postgresql(*at) && put_variable(info, *at, error) < 0)
			return -1;
	}
	return 0;
}

/* PGREQUIRESSL is the older form of PGSSLMODE. From libpq 16 on, the default depends on sslrootcert. */
static int
complete_sslmode(struct cpq_conninfo *info, int has_variables, PQExpBuffer error)
{
	const char *require = has_variables ? variable("PGREQUIRESSL") : NULL;

	if (info->values[CPQ_KEY_SSLMODE] != NULL)
		return 0;
	if (require != NULL && *require == '1')
		return cpq_conninfo_put_at(info, CPQ_KEY_SSLMODE, "require", error);
	if (info->release >= 16 &&
		strcmp(cpq_conninfo_get(info, CPQ_KEY_SSLROOTCERT), "system") == 0)
		return cpq_conninfo_put_at(info, CPQ_KEY_SSLMODE, "verify-full", error);
	return 0;
}

static int
complete_user(struct cpq_conninfo *info, PQExpBuffer error)
{
	char *user;
	int r;

	if (info->values[CPQ_KEY_USER] != NULL)
		return 0;
	user = user_fact(0);
	if (user == NULL)
		return 0;
	r = cpq_conninfo_put_at(info, CPQ_KEY_USER, user, error);
	free(user);
	return r;
}

/* The encoding of the program's locale, by PostgreSQL's name. */
static const char *
locale_encoding(void)
{
	int id = pg_char_to_encoding(nl_langinfo(CODESET));

	return id > 0 ? pg_encoding_to_char(id) : "SQL_ASCII";
}

char *
cpq_home_file(const char *name)
{
	char *home = home_directory();
	size_t len = home != NULL ? strlen(home) : 0, size = strlen(name) + 1;
	char *path = home != NULL ? realloc(home, len + 1 + size) : NULL;

	if (path == NULL) {
		free(home);
		return NULL;
	}
	path[len] = '/';
	memcpy(path + len + 1, name, size);
	return path;
}

/* Set the default passfile, ~/.pgpass. */
static int
put_passfile(struct cpq_conninfo *info, PQExpBuffer error)
{
	char *path = cpq_home_file(".pgpass");
	int r;

	if (path == NULL)
		return 0;
	r = cpq_conninfo_put_at(info, CPQ_KEY_PASSFILE, path, error);
	free(path);
	return r;
}

int
cpq_conninfo_for_login(struct cpq_conninfo *info, PQExpBuffer error)
{
	int r = 0;

	if (*cpq_conninfo_get(info, CPQ_KEY_DBNAME) == '\0')
		r = cpq_conninfo_put_at(info, CPQ_KEY_DBNAME,
			cpq_conninfo_get(info, CPQ_KEY_USER), error);
	if (r == 0 && *cpq_conninfo_get(info, CPQ_KEY_PASSWORD) == '\0' &&
		*cpq_conninfo_get(info, CPQ_KEY_PASSFILE) == '\0')
		r = put_passfile(info, error);
	if (r == 0 && info->values[CPQ_KEY_SSLCERTMODE] == NULL &&
		cpq_conninfo_knows(info, CPQ_KEY_SSLCERTMODE))
		r = cpq_conninfo_put_at(info, CPQ_KEY_SSLCERTMODE, "allow", error);
	if (r == 0 &&
		strcmp(cpq_conninfo_get(info, CPQ_KEY_CLIENT_ENCODING), "auto") == 0)
		r = cpq_conninfo_put_at(
			info, CPQ_KEY_CLIENT_ENCODING, locale_encoding(), error);
	return r;
}

int
cpq_conninfo_complete(struct cpq_conninfo *info, PQExpBuffer error)
{
	int has_variables = cpq_environment_says_something();

	if ((has_variables || info->values[CPQ_KEY_SERVICE] != NULL) &&
		complete_from_service(info, error) < 0)
		return -1;
	if (has_variables && complete_from_environment(info, error) < 0)
		return -1;
	if (complete_sslmode(info, has_variables, error) < 0 ||
		complete_user(info, error) < 0)
		return -1;
	cpq_conninfo_put_defaults(info);
	return 0;
}
