/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * \f, \x, \o, \pset, \timing and \echo: the format and the place of results. The state is in
 * struct shell.
 */
#include <string.h>

#include "cmd.h"

/* Read the first word, "on" or "off". Without a word, switch. */
static int
take_switch(struct cmd *cmd, int *value)
{
	struct text word = { 0 };
	int n = args_next(&cmd->args, &word), is_right = 1;

	if (n == 0)
		*value = !*value;
	else if (n > 0 && strcmp(text_str(&word), "on") == 0)
		*value = 1;
	else if (n > 0 && strcmp(text_str(&word), "off") == 0)
		*value = 0;
	else
		is_right = 0;
	text_finish(&word);
	return is_right;
}

static void
set_format(struct shell *sh, const struct output_ops *format)
{
	if (sh->format != &output_expanded)
		sh->format_before = sh->format;
	sh->format = format;
}

static int
run_expanded(struct cmd *cmd)
{
	int is_expanded = cmd->sh->format == &output_expanded;

	if (!take_switch(cmd, &is_expanded))
		return cmd_usage(cmd, "on or off expected");
	set_format(cmd->sh, is_expanded ? &output_expanded : cmd->sh->format_before);
	if (cmd->sh->is_interactive)
		shell_say(cmd->sh, "Expanded is %s.", is_expanded ? "on" : "off");
	return RUN_OK;
}

static int
run_format(struct cmd *cmd)
{
	struct text word = { 0 };
	const struct output_ops *format = NULL;

	if (args_next(&cmd->args, &word) > 0)
		format = output_find(text_str(&word));
	text_finish(&word);
	if (!format)
		return cmd_usage(
			cmd, "table, expanded, csv, tsv, json or unaligned expected");
	set_format(cmd->sh, format);
	return RUN_OK;
}

static int
run_timing(struct cmd *cmd)
{
	if (!take_switch(cmd, &cmd->sh->is_timing))
		return cmd_usage(cmd, "on or off expected");
	if (cmd->sh->is_interactive)
		shell_say(cmd->sh, "Timing is %s.", cmd->sh->is_timing ? "on" : "off");
	return RUN_OK;
}

static int
run_output(struct cmd *cmd)
{
	struct text path = { 0 };
	int r;

	/* The shell reads its own quotes in a command. */
	if (*cmd->args.rest == '|')
		return shell_redirect(cmd->sh, cmd->args.rest);
	r = args_next(&cmd->args, &path);
	if (r < 0)
		r = cmd_usage(cmd, "a quote is not closed");
	else
		r = shell_redirect(cmd->sh, r > 0 ? text_str(&path) : NULL);
	text_finish(&path);
	return r;
}

static int
run_pset(struct cmd *cmd)
{
	struct text word = { 0 };
	struct shell *sh = cmd->sh;
	int r = RUN_OK, n = args_next(&cmd->args, &word);
	const char *what = text_str(&word);
	int *value = strcmp(what, "header") == 0  ? &sh->settings.has_header
		     : strcmp(what, "pager") == 0 ? &sh->is_paging
						  : NULL;

	if (n > 0 && strcmp(what, "null") == 0) {
		if (args_next(&cmd->args, &word) < 0)
			r = cmd_usage(cmd, "a quote is not closed");
		else
			shell_set_null(sh, text_str(&word));
	} else if (n <= 0 || !value || !take_switch(cmd, value)) {
		r = cmd_usage(cmd, "null TEXT, header on|off or pager on|off expected");
	}
	shell_adapt_output(sh);
	text_finish(&word);
	return r;
}

static int
run_echo(struct cmd *cmd)
{
	struct text word = { 0 };
	const char *between = "";

	while (args_next(&cmd->args, &word) > 0) {
		(void)fprintf(cmd->sh->out, "%s%s", between, text_str(&word));
		between = " ";
	}
	(void)fputc('\n', cmd->sh->out);
	(void)fflush(cmd->sh->out);
	text_finish(&word);
	return RUN_OK;
}

const struct command cmd_output_table[] = {
	{ "f", "FORMAT", "table, expanded, csv, tsv, json or unaligned", run_format },
	{ "x", "[on|off]", "expanded: one line for each value", run_expanded },
	{ "o", "[FILE||COMMAND]", "send results to a file or a program", run_output },
	{ "pset", "null TEXT", "how NULL is shown", run_pset },
	{ "pset", "header [on|off]", "column names and row counts", run_pset },
	{ "pset", "pager [on|off]", "a pager for results larger than the screen",
		run_pset },
	{ "timing", "[on|off]", "show how long each statement took", run_timing },
	{ "echo", "WORD ...", "write words to the output", run_echo },
	{ 0 },
};
