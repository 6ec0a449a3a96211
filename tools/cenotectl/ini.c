/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The syntax of PgBouncer's files. inih does not read it: a ';' or ':' in a value has no meaning here, names may be quoted, and
 * lines may be long. pgbouncer.c calls it.
 */
#include "ini.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS       " \t\r"
#define INCLUDES_MAX 10 /* as in PgBouncer */
#define SETTINGS_MAX 20000u

/* ---- pgbouncer.ini ---- */

struct reader {
	struct ini *ini;
	struct draft *d;
	struct origin at;
	char *section; /* NULL: none yet */
	int depth;
};

static int read_text(struct reader *r, const char *file, char *text);

static char *
trim(char *text)
{
	size_t n;

	text += strspn(text, BLANKS);
	n = strlen(text);
	while (n > 0 && strchr(BLANKS, text[n - 1]) != NULL)
		n--;
	text[n] = '\0';
	return text;
}

/* Take the quotes off a name: "" within them is one quote. NULL: the quotes do not enclose it. */
static char *
unquote_name(char *name)
{
	char *to = name;

	if (*name != '"')
		return name;
	for (char *from = name + 1; *from != '\0'; from++) {
		if (*from == '"' && *++from != '"') {
			*to = '\0';
			return *from == '\0' ? name : NULL;
		}
		*to++ = *from;
	}
	return NULL;
}

static int
bad_line(struct reader *r, const char *why)
{
	draft_note(r->d, &r->at, NULL, "%s", why);
	return -1;
}

/* Find the '=' after the key; NULL: there is none. A quoted key may contain another one. */
static char *
find_equals(char *line)
{
	if (*line == '"') {
		for (line++; *line != '\0'; line++) {
			if (*line == '"' && line[1] == '"')
				line++;
			else if (*line == '"')
				break;
		}
	}
	return strchr(line, '=');
}

static int
add_setting(struct reader *r, char *line)
{
	char *equals = find_equals(line);
	struct ini_setting *s;
	char *key;

	if (r->section == NULL)
		return bad_line(r, "a setting comes before any section");
	if (equals == NULL)
		return bad_line(r, "this line is neither a section nor key = value");
	if (r->ini->n == SETTINGS_MAX)
		return bad_line(r, "there are too many settings");
	*equals = '\0';
	key = unquote_name(trim(line));
	if (key == NULL || *key == '\0')
		return bad_line(r, "the quotes must enclose the whole name");
	r->ini->list = mem_resize(r->ini->list, r->ini->n + 1, sizeof(*r->ini->list));
	s = &r->ini->list[r->ini->n++];
	s->section = mem_dup(r->section, strlen(r->section));
	s->key = mem_dup(key, strlen(key));
	equals = trim(equals + 1);
	s->value = mem_dup(equals, strlen(equals));
	s->at = r->at;
	return 0;
}

static int
include(struct reader *r, const char *path)
{
	struct origin at = r->at;
	const char *why = "files are not opened here";
	char *text = NULL;
	size_t n;
	int result;

	if (r->depth == INCLUDES_MAX)
		return bad_line(r, "files include each other too deeply");
	if (r->d->may_open)
		text = file_read(path, &n, &why);
	if (text == NULL) {
		draft_note(r->d, &at, "%include", "%s: %s", path, why);
		return -1;
	}
	r->depth++;
	result = read_text(r, path, text);
	r->depth--;
	r->at = at;
	free(text);
	return result;
}

static int
read_line(struct reader *r, char *line)
{
	char *end;

	line = trim(line);
	if (*line == '\0' || *line == ';' || *line == '#')
		return 0;
	if (strncmp(line, "%include", 8) == 0 && strchr(BLANKS, line[8]) != NULL)
		return include(r, trim(line + 8));
	if (*line != '[')
		return add_setting(r, line);
	end = strchr(line, ']');
	if (end == NULL || end[1] != '\0')
		return bad_line(r, "a section is a name in brackets");
	*end = '\0';
	free(r->section);
	r->section = mem_dup(line + 1, strlen(line + 1));
	return 0;
}

static int
read_text(struct reader *r, const char *file, char *text)
{
	struct ini *ini = r->ini;
	char *line;

	ini->files = mem_resize(ini->files, ini->n_files + 1, sizeof(*ini->files));
	ini->files[ini->n_files++] = mem_dup(file, strlen(file));
	r->at = (struct origin){ ini->files[ini->n_files - 1], 0 };
	while ((line = strsep(&text, "\n")) != NULL) {
		r->at.line++;
		if (read_line(r, line) < 0)
			return -1;
	}
	return 0;
}

int
ini_read(struct ini *ini, struct draft *d, const char *file, char *text)
{
	struct reader r = { .ini = ini, .d = d };
	int result = read_text(&r, file, text);

	free(r.section);
	return result;
}

void
ini_finish(struct ini *ini)
{
	for (size_t i = 0; i < ini->n; i++) {
		free(ini->list[i].section);
		free(ini->list[i].key);
		free(ini->list[i].value);
	}
	for (size_t i = 0; i < ini->n_files; i++)
		free(ini->files[i]);
	free(ini->list);
	free(ini->files);
}

const struct ini_setting *
ini_find(const struct ini *ini, const char *section, const char *key)
{
	for (size_t i = ini->n; i-- > 0;) {
		if (strcmp(ini->list[i].section, section) == 0 &&
			strcmp(ini->list[i].key, key) == 0)
			return &ini->list[i];
	}
	return NULL;
}

/* ---- connection strings ---- */

/* Take the quotes off a value in place: '' within them is one quote. Returns the end of the value in the text; NULL: no quote closes it. */
static char *
unquote_value(char *value)
{
	char *to = value;

	for (char *from = value + 1; *from != '\0'; from++) {
		if (*from == '\'' && *++from != '\'') {
			*to = '\0';
			return from;
		}
		*to++ = *from;
	}
	return NULL;
}

int
pairs_split(char *text, struct pair ret_pairs[PAIRS_MAX])
{
	int n = 0;

	while (*(text += strspn(text, BLANKS)) != '\0') {
		struct pair *p = &ret_pairs[n];
		char *equals = strchr(text, '=');

		if (equals == NULL || equals == text || n == (int)PAIRS_MAX)
			return -1;
		*equals = '\0';
		p->key = trim(text);
		p->value = equals + 1 + strspn(equals + 1, BLANKS);
		text = *p->value == '\'' ? unquote_value(p->value)
					 : p->value + strcspn(p->value, BLANKS);
		if (text == NULL || strpbrk(p->key, BLANKS) != NULL ||
			(*text != '\0' && strchr(BLANKS, *text) == NULL))
			return -1;
		if (*text != '\0')
			*text++ = '\0';
		n++;
	}
	return n;
}

/* ---- the list of users ---- */

/* Take a text in double quotes. NULL: there is none. */
static char *
take_quoted(char **text)
{
	char *from = *text + strspn(*text, BLANKS);
	char *to, *start;

	if (*from != '"')
		return NULL;
	start = to = ++from;
	for (; *from != '\0' && *from != '\n'; from++) {
		if (*from == '"' && *++from != '"') {
			/* do not overwrite the byte at `from`: it may be the end of the line */
			*text = from;
			*to = '\0';
			return start;
		}
		*to++ = *from;
	}
	return NULL;
}

int
userlist_next(char **text, char **ret_name, char **ret_secret)
{
	char *p = *text;
	int r;

	p += strspn(p, BLANKS "\n");
	while (*p == ';' || *p == '#') {
		p += strcspn(p, "\n");
		p += strspn(p, BLANKS "\n");
	}
	if (*p == '\0')
		return 0;
	*ret_name = take_quoted(&p);
	*ret_secret = *ret_name != NULL ? take_quoted(&p) : NULL;
	r = *ret_secret != NULL ? 1 : -1;
	p += strcspn(p, "\n");
	*text = p;
	return r;
}
