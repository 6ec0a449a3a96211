/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One line of an option file: groups, includes, and options with their values. optionfile.c calls
 * this file. It owns no state, so tests and a fuzz target run it alone.
 */
#include "optionline.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

static char *
skip_space(char *p)
{
	while (isspace((unsigned char)*p))
		p++;
	return p;
}

static void
cut_space(char *begin)
{
	char *end = begin + strlen(begin);

	while (end > begin && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
}

/* Remove the quotes around a value and replace its escapes, in place. */
static char *
read_value(char *value)
{
	static const char marks[] = "ntrbs\"'\\", meant[] = "\n\t\r\b \"'\\";
	char *to, *from, *end;

	value = skip_space(value);
	cut_space(value);
	end = value + strlen(value);
	if (*value == '\'' || *value == '"') {
		value++;
		if (end > value && (end[-1] == '\'' || end[-1] == '"'))
			end--;
	}
	for (to = from = value; from < end; from++) {
		const char *mark =
			*from == '\\' && from + 1 < end ? strchr(marks, from[1]) : NULL;

		if (mark)
			from++;
		*to++ = (char)(mark ? meant[mark - marks] : *from);
	}
	*to = '\0';
	return value;
}

static int
is_group(const struct cmy_option_reader *r, const char *name)
{
	for (size_t i = 0; r->groups[i] != NULL; i++) {
		if (strcmp(r->groups[i], name) == 0)
			return 1;
	}
	return 0;
}

static int
read_group(struct cmy_option_reader *r, char *line)
{
	char *end = strchr(line, ']');

	if (!end)
		return -1;
	*end = '\0';
	cut_space(line);
	r->has_group = 1;
	r->is_ours = is_group(r, line);
	return 0;
}

static int
read_include(struct cmy_option_reader *r, char *line)
{
	char *path = strchr(line, ' ');

	if (!path)
		return 0;
	*path++ = '\0';
	cut_space(path);
	return r->on_include(r->user, line, path);
}

int
cmy_option_line(struct cmy_option_reader *r, char *line)
{
	char *value;

	line = skip_space(line);
	if (*line == '!')
		return read_include(r, line + 1);
	if (*line == '\0' || strchr("#;\"'", *line))
		return 0;
	if (*line == '[')
		return read_group(r, line + 1);
	if (!r->has_group)
		return -1;
	if (!r->is_ours)
		return 0;
	value = strchr(line, '=');
	if (value)
		*value++ = '\0';
	cut_space(line);
	return r->on_option(r->user, line, value ? read_value(value) : NULL);
}
