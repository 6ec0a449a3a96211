/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

/* Leaving, help, files, programs. */

static int
run_quit(struct cmd *cmd)
{
	(void)cmd;
	return RUN_QUIT;
}

static void
show_table(FILE *out, const struct command *table)
{
	for (; table->name; table++) {
		struct text left = { 0 };

		text_addf(&left, "\\%s %s", table->name, table->args);
		(void)fprintf(out, "  %-38s %s\n", text_str(&left), table->help);
		text_finish(&left);
	}
}

static int
run_help(struct cmd *cmd)
{
	FILE *out = cmd->sh->out;

	(void)fputs(
		"SQL statements end with a semicolon. Commands take one line:\n", out);
	(void)fputs("\nGeneral\n", out);
	show_table(out, cmd_general_table);
	(void)fputs("\nStatements\n", out);
	show_table(out, cmd_query_table);
	(void)fputs("\nOutput\n", out);
	show_table(out, cmd_output_table);
	(void)fputs("\nWhat is there (NAME may have the wildcards * and ?)\n", out);
	show_table(out, cmd_describe_table);
	(void)fputs("\nCopying\n", out);
	show_table(out, cmd_copy_table);
	(void)fputs("\nPool\n", out);
	show_table(out, cmd_status_table);
	(void)fflush(out);
	return RUN_OK;
}

static int
run_include(struct cmd *cmd)
{
	struct text path = { 0 };
	int r = RUN_ERROR;

	if (args_next(&cmd->args, &path) <= 0)
		r = cmd_usage(cmd, "FILE expected");
	else
		r = input_run_file(cmd->sh, text_str(&path));
	text_finish(&path);
	return r;
}

static int
run_shell(struct cmd *cmd)
{
	const char *shell = getenv("SHELL");
	const char *line = *cmd->args.rest ? cmd->args.rest : shell ? shell : "/bin/sh";
	int status;

	(void)fflush(cmd->sh->out);
	/* That is what the command is for. */
	status = system(line); /* NOLINT(cert-env33-c) */
	if (status == -1) {
		shell_error(cmd->sh, "\\!: %s", strerror(errno));
		return RUN_ERROR;
	}
	return status == 0 ? RUN_OK : RUN_ERROR;
}

static int
run_cd(struct cmd *cmd)
{
	struct text path = { 0 };
	const char *home = getenv("HOME");
	int r = RUN_OK;

	if (args_next(&cmd->args, &path) <= 0)
		text_add_str(&path, home ? home : "/");
	if (chdir(text_str(&path)) < 0) {
		shell_error(cmd->sh, "%s: %s", text_str(&path), strerror(errno));
		r = RUN_ERROR;
	}
	text_finish(&path);
	return r;
}

const struct command cmd_general_table[] = {
	{ "q", "", "leave", run_quit },
	{ "?", "", "this help", run_help },
	{ "i", "FILE", "run the statements and commands in a file", run_include },
	{ "cd", "[FOLDER]", "change the working folder", run_cd },
	{ "!", "[COMMAND]", "run a shell, or one command of it", run_shell },
	{ 0 },
};
