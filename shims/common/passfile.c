/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Read password files (libpq's .pgpass format). The libpq shim and sqlsh call this file. It has no
 * state.
 */
#include "passfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The text after the field and its colon, if the field matches; else NULL. */
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

/* Remove the backslashes from the rest of the line, in place. */
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

/* The password in the line; NULL: the line does not match. */
static char *
password_in(char *line, const char *const names[CSH_PASSFILE_NAMES])
{
	char *at = line;

	line[strcspn(line, "\r\n")] = '\0';
	if (*line == '#')
		return NULL;
	for (int i = 0; i < CSH_PASSFILE_NAMES && at != NULL; i++)
		at = skip_part(at, names[i]);
	if (at == NULL)
		return NULL;
	unescape(at);
	return at;
}

/* May nobody else read the file? If not, warn in libpq's words, and ignore the file. */
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
search(FILE *f, const char *const names[CSH_PASSFILE_NAMES])
{
	char *line = NULL, *found = NULL;
	size_t size = 0;

	/* No password may stay in a buffer of stdio. */
	setvbuf(f, NULL, _IONBF, 0);
	while (found == NULL && getline(&line, &size, f) > 0)
		found = password_in(line, names);
	found = strdup(found != NULL ? found : "");
	if (line != NULL)
		explicit_bzero(line, size);
	free(line);
	return found;
}

char *
csh_passfile_find(const char *path, const char *const names[CSH_PASSFILE_NAMES])
{
	FILE *f = *path != '\0' ? fopen(path, "re") : NULL;
	char *found = f != NULL && is_private(f, path) ? search(f, names) : strdup("");

	if (f != NULL)
		fclose(f);
	return found;
}
