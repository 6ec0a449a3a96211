/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_CMD_H
#define SQLSH_CMD_H

#include "args.h"
#include "shell.h"

/* Backslash commands. Each group has a table in a file of its own. */

struct cmd {
	/* the source of the command, and the statement that is being typed */
	struct input *in;
	struct shell *sh;
	const char *name; /* as typed */
	struct args args;
};

struct command {
	const char *name;
	const char *args; /* as \? shows them */
	const char *help;
	int (*run)(struct cmd *cmd);
};

extern const struct command cmd_admin_table[], cmd_copy_table[], cmd_describe_table[],
	cmd_general_table[], cmd_output_table[], cmd_query_table[], cmd_status_table[];

/* Run the command in a line. */
int cmd_run(struct input *in, const char *line, size_t len);
/* Whether this command may end a line of SQL. */
int cmd_is_go(const char *command, size_t len);
/* The i-th name, for completion; NULL after the last. */
const char *cmd_name(size_t i);
/* Whether the text is one command that needs no session. */
int cmd_needs_no_session(const char *text);
/* Report wrong arguments. */
int cmd_usage(struct cmd *cmd, const char *expected);

#endif
