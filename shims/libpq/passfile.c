/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * The passfile: lines HOST:PORT:DATABASE:USER:PASSWORD, of which the first that fits has the password. "*" fits
 * everything; a backslash takes the meaning from what follows it. A local socket's host is "localhost".
 */

/* What the first four parts are compared with. */
#define N_PARTS 4

/* Behind the part and its colon, if it fits; else NULL. */
static char *
skip_part(char *line, const char *wanted)
{
	if (line[0] == '*' && line[1] == ':')
		return line + 2;
	for (; *line != ':'; line++, wanted++) {
		if (*line == '\\')
			line++;
		if (*line == '\0' || *line != *wanted)
			return NULL;
	}
	return *wanted == '\0' ? line + 1 : NULL;
}

/* The rest of the line without its backslashes, in place. */
static void
unescape(char *text)
{
	char *to = text;

	for (; *text != '\0'; text++) {
		if (*text == '\\' && text[1] != '\0')
			text++;
		*to++ = *text;
	}
	*to = '\0';
}

/* NULL: the line is for somebody else. */
static char *
password_in(char *line, const char *const wanted[N_PARTS])
{
	char *at = line;

	line[strcspn(line, "\r\n")] = '\0';
	if (*line == '#')
		return NULL;
	for (int i = 0; i < N_PARTS && at != NULL; i++)
		at = skip_part(at, wanted[i]);
	if (at == NULL)
		return NULL;
	unescape(at);
	return at;
}

/* As libpq says it, and then does without. */
static int
is_private(FILE *f, const char *path)
{
	struct stat st;

	if (fstat(fileno(f), &st) < 0)
		return 0;
	if (!S_ISREG(st.st_mode)) {
		fprintf(stderr, "WARNING: password file \"%s\" is not a plain file\n",
			path);
		return 0;
	}
	if ((st.st_mode & (S_IRWXG | S_IRWXO)) == 0)
		return 1;
	fprintf(stderr,
		"WARNING: password file \"%s\" has group or world access; permissions "
		"should be u=rw (0600) or less\n",
		path);
	return 0;
}

static char *
search(FILE *f, const char *const wanted[N_PARTS])
{
	char *line = NULL, *found = NULL;
	size_t size = 0;

	/* so that nothing of it is left in a buffer */
	setvbuf(f, NULL, _IONBF, 0);
	while (found == NULL && getline(&line, &size, f) > 0)
		found = password_in(line, wanted);
	found = strdup(found != NULL ? found : "");
	if (line != NULL)
		explicit_bzero(line, size);
	free(line);
	return found;
}

/* Of a list the first. */
static void
put_first(char *to, size_t size, const char *list)
{
	size_t n = strcspn(list, ",");

	snprintf(to, size, "%.*s", n < size ? (int)n : (int)size, list);
}

char *
cpq_passfile_find(const struct cpq_conninfo *info)
{
	const char *path = cpq_conninfo_get(info, CPQ_KEY_PASSFILE);
	char host[256], port[32];
	const char *const wanted[N_PARTS] = { host, port,
		cpq_conninfo_get(info, CPQ_KEY_DBNAME),
		cpq_conninfo_get(info, CPQ_KEY_USER) };
	FILE *f = *path != '\0' ? fopen(path, "re") : NULL;
	char *found;

	put_first(host, sizeof(host), cpq_conninfo_get(info, CPQ_KEY_HOST));
	if (*host == '\0')
		put_first(host, sizeof(host), cpq_conninfo_get(info, CPQ_KEY_HOSTADDR));
	if (*host == '\0' || *host == '/')
		memcpy(host, "localhost", sizeof("localhost"));
	put_first(port, sizeof(port), cpq_conninfo_get(info, CPQ_KEY_PORT));
	if (*port == '\0')
		memcpy(port, "5432", sizeof("5432"));
	found = f != NULL && is_private(f, path) ? search(f, wanted) : strdup("");
	if (f != NULL)
		fclose(f);
	return found;
}
