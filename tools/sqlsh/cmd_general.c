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
add_table(struct text *t, const char *title, const struct command *table)
{
	text_addf(t, "\n%s\n", title);
	for (; table->name; table++) {
		struct text left = { 0 };

		text_addf(&left, "\\%s %s", table->name, table->args);
		text_addf(t, "  %-38s %s\n", text_str(&left), table->help);
		text_finish(&left);
	}
}

static int
run_help(struct cmd *cmd)
{
	struct text t = { 0 };

	text_add_str(
		&t, "SQL statements end with a semicolon. Commands take one line:\n");
	add_table(&t, "General", cmd_general_table);
	add_table(&t, "Statements", cmd_query_table);
	add_table(&t, "Output", cmd_output_table);
	add_table(&t, "What is there (NAME may have the wildcards * and ?)",
		cmd_describe_table);
	add_table(&t, "Copying", cmd_copy_table);
	add_table(&t, "Pool", cmd_status_table);
	shell_show_text(cmd->sh, &t);
	text_finish(&t);
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
