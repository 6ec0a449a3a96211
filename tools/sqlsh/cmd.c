/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds and runs backslash commands. input.c calls it. It has no state.
 */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

static const struct command *const tables[] = { cmd_general_table, cmd_query_table,
	cmd_output_table, cmd_describe_table, cmd_copy_table, cmd_status_table,
	cmd_admin_table };

#define N_TABLES (sizeof(tables) / sizeof(tables[0]))

static const struct command *
nth(size_t i)
{
	size_t t;

	for (t = 0; t < N_TABLES; t++) {
		const struct command *c = tables[t];

		for (; c->name; c++) {
			if (i-- == 0)
				return c;
		}
	}
	return NULL;
}

const char *
cmd_name(size_t i)
{
	const struct command *c, *before = NULL;
	size_t k;

	/* A command may have several rows in \?, one after the other. */
	for (k = 0; (c = nth(k)) != NULL; k++) {
		if (before == NULL || strcmp(before->name, c->name) != 0) {
			if (i-- == 0)
				return c->name;
		}
		before = c;
	}
	return NULL;
}

int
cmd_usage(struct cmd *cmd, const char *expected)
{
	shell_error(cmd->sh, "\\%s: %s (see \\?)", cmd->name, expected);
	return RUN_ERROR;
}

int
cmd_is_go(const char *command, size_t len)
{
	static const char *const names[] = { "\\g", "\\gx", "\\G" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i]) == len && memcmp(names[i], command, len) == 0)
			return 1;
	}
	return 0;
}

int
cmd_needs_no_session(const char *text)
{
	static const struct command *const of_cenoted[] = { cmd_admin_table,
		cmd_status_table };
	size_t n = *text == '\\' ? strcspn(text + 1, " \t") : 0, t;

	for (t = 0; t < 2 && strchr(text, '\n') == NULL; t++) {
		const struct command *c;

		for (c = of_cenoted[t]; c->name; c++) {
			/* \conninfo is about the session */
			if (strlen(c->name) == n && memcmp(c->name, text + 1, n) == 0)
				return strcmp(c->name, "conninfo") != 0;
		}
	}
	return 0;
}

static const struct command *
find(const char *name)
{
	const struct command *c;
	size_t i;

	for (i = 0; (c = nth(i)) != NULL; i++) {
		if (strcmp(c->name, name) == 0)
			return c;
	}
	return NULL;
}

int
cmd_run(struct input *in, const char *line, size_t len)
{
	struct cmd cmd = { .in = in, .sh = in->sh };
	char *copy = mem_dup(line, len), *name;
	const struct command *command;
	size_t n;
	int r;

	name = strchr(copy, '\\') + 1;
	/* \? and \! need no blank after them. */
	n = *name == '!' || *name == '?' ? 1 : strcspn(name, " \t\r\n");
	cmd.args.rest = name + n;
	args_skip_blanks(&cmd.args);
	copy[len - (len > 0 && copy[len - 1] == '\n')] = '\0';
	cmd.name = name = mem_dup(name, n);
	command = find(name);
	if (command) {
		r = command->run(&cmd);
	} else {
		shell_error(in->sh, "\\%s is no command (see \\?)", name);
		r = RUN_ERROR;
	}
	free(name);
	free(copy);
	return r;
}
