/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Map files: which unix user or certificate may be which database user. The configuration owns the
 * maps; rules.c asks.
 */
#include "map.h"

#include <stdlib.h>
#include <string.h>

#include "users.h"

#define BLANKS " \t"

/* Cut out the line's first word. NULL if its quote is not closed. *ret_rest: the text after it. */
static char *
take_name(char *line, char **ret_rest)
{
	char *end;

	if (*line != '"') {
		end = line + strcspn(line, BLANKS);
	} else {
		line++;
		end = strchr(line, '"');
		if (end == NULL)
			return NULL;
	}
	*ret_rest = end;
	if (*end != '\0') {
		*end = '\0';
		*ret_rest = end + 1;
	}
	*ret_rest += strspn(*ret_rest, BLANKS);
	return line;
}

static int
add(struct cnd_map *m, const char *name, const char *user)
{
	struct cnd_mapping *more = realloc(m->list, (m->n + 1) * sizeof(*more));
	struct cnd_mapping new = { strdup(name), strdup(user) };

	if (more != NULL)
		m->list = more;
	if (more == NULL || new.name == NULL || new.user == NULL) {
		free(new.name);
		free(new.user);
		return -1;
	}
	m->list[m->n++] = new;
	return 0;
}

static int
read_mapping(struct cnd_map *m, char *line, struct cnd_lines *lines)
{
	const char *fault;
	char *user;
	char *name = take_name(line, &user);

	if (name == NULL)
		return cnd_lines_bad(lines, "the quote is not closed");
	if (*name == '\0' || *user == '\0')
		return cnd_lines_bad(lines, "a line must be NAME USER");
	fault = strcmp(user, "*") == 0 ? NULL : cnd_user_name_fault(user);
	if (fault != NULL)
		return cnd_lines_bad(
			lines, "this cannot be the name of a user: %s", fault);
	return add(m, name, user) < 0 ? cnd_lines_bad(lines, "out of memory") : 0;
}

int
cnd_map_read(struct cnd_map *m, struct cnd_lines *lines)
{
	char *line;

	*m = (struct cnd_map){ .list = NULL };
	while ((line = cnd_lines_next(lines)) != NULL) {
		if (read_mapping(m, line, lines) < 0)
			return -1;
	}
	return lines->error[0] != '\0' ? -1 : 0;
}

void
cnd_map_destroy(struct cnd_map *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free(m->list[i].name);
		free(m->list[i].user);
	}
	free(m->list);
	*m = (struct cnd_map){ .list = NULL };
}

void
cnd_map_print(const struct cnd_map *m, FILE *out)
{
	for (size_t i = 0; i < m->n; i++)
		fprintf(out, "\"%s\" %s\n", m->list[i].name, m->list[i].user);
}

int
cnd_map_has(const struct cnd_map *m, const char *name, const char *user)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct cnd_mapping *x = &m->list[i];

		if (strcmp(x->name, name) == 0 &&
			(strcmp(x->user, "*") == 0 || strcmp(x->user, user) == 0))
			return 1;
	}
	return 0;
}

const char *
cnd_map_first(const struct cnd_map *m, const char *name)
{
	for (size_t i = 0; i < m->n; i++) {
		if (strcmp(m->list[i].name, name) == 0 &&
			strcmp(m->list[i].user, "*") != 0)
			return m->list[i].user;
	}
	return NULL;
}
