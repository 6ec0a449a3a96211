/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * \q, \?, \h, \c, \s, \i, \cd and \!: leaving, help, files and programs. It has no state.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

static int
run_quit(struct cmd *cmd)
{
	(void)cmd;
	return RUN_QUIT;
}

struct help {
	const char *title;
	const struct command *table;
};

/* Add the commands whose line contains the word, below the title. */
static void
add_table(struct text *t, const struct help *help, const char *word)
{
	const struct command *c;
	int is_begun = 0;

	for (c = help->table; c->name; c++) {
		struct text line = { 0 };
		size_t before;

		text_addf(&line, "  \\%s %s", c->name, c->args);
		before = line.len;
		text_add_repeat(&line, ' ', before < 41 ? 41 - before : 1);
		text_add_str(&line, c->help);
		if (strcasestr(text_str(&line), word) != NULL) {
			if (!is_begun)
				text_addf(t, "\n%s\n", help->title);
			text_addf(t, "%s\n", text_str(&line));
			is_begun = 1;
		}
		text_finish(&line);
	}
}

static int
run_help(struct cmd *cmd)
{
	static const struct help helps[] = { { "General", cmd_general_table },
		{ "Statements", cmd_query_table }, { "Output", cmd_output_table },
		{ "What is there (NAME may have the wildcards * and ?)",
			cmd_describe_table },
		{ "Copying", cmd_copy_table }, { "Pool", cmd_status_table },
		{ "Control of cenoted, as by cenotectl(1)", cmd_admin_table } };
	struct text t = { 0 };
	size_t i;

	text_add_str(&t,
		"SQL statements end with a semicolon; see the server's manual. "
		"Commands\ntake one line; \\g, \\gx and \\G may also end a statement:\n");
	for (i = 0; i < sizeof(helps) / sizeof(helps[0]); i++)
		add_table(&t, &helps[i], cmd->args.rest);
	shell_show_text(cmd->sh, &t);
	text_finish(&t);
	return RUN_OK;
}

/* Connect to another pool. The old session ends when the new one has begun. */
static int
run_connect(struct cmd *cmd)
{
	struct shell *sh = cmd->sh;
	struct text word = { 0 };
	int n = args_next(&cmd->args, &word), r;

	if (n == 0)
		text_add_str(&word, cenote_conn_get(sh->conn, "pool"));
	r = n < 0 ? cmd_usage(cmd, "a quote is not closed")
		  : session_change(sh, text_str(&word));
	if (r == RUN_OK)
		shell_say(sh, "Connected to pool %s.", cenote_conn_get(sh->conn, "pool"));
	text_finish(&word);
	/* The rest of a script must not run on the old pool. */
	return r == RUN_LOST && sh->is_interactive ? RUN_ERROR : r;
}

static int
run_history(struct cmd *cmd)
{
	struct text path = { 0 }, t = { 0 };
	struct shell *sh = cmd->sh;
	FILE *file;
	int n = args_next(&cmd->args, &path), r = RUN_OK;

	if (interactive_history(sh, &t) < 0) {
		r = cmd_usage(cmd, "there is a history at a terminal only");
	} else if (n == 0) {
		shell_show_text(sh, &t);
	} else {
		file = fopen(text_str(&path), "we");
		if (!file || fwrite(text_str(&t), 1, t.len, file) < t.len ||
			fclose(file) != 0) {
			shell_error(sh, "%s: %s", text_str(&path), strerror(errno));
			r = RUN_ERROR;
		}
	}
	text_finish(&path);
	text_finish(&t);
	return r;
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
	/* Running a command is what \! is for. */
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
	{ "?", "[WORD]", "this help, or its lines with a word", run_help },
	{ "h", "[WORD]", "the same", run_help },
	{ "c", "[POOL|URI]", "connect to another pool, or anew", run_connect },
	{ "s", "[FILE]", "show the history, or write it to a file", run_history },
	{ "i", "FILE", "run the statements and commands in a file", run_include },
	{ "cd", "[FOLDER]", "change the working folder", run_cd },
	{ "!", "[COMMAND]", "run a shell, or one command of it", run_shell },
	{ 0 },
};
