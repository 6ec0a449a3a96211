/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * \admin: the commands of cenotectl. They go to the admin socket of the cenoted that has the pool, so they need no session. It has no
 * state.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "admin.h"
#include "cmd.h"
#include "interrupt.h"

static void
complain(void *user, const char *text)
{
	shell_error(user, "\\admin: %s", text);
}

static int
wait_for_answer(void *user, int fd)
{
	int r;

	(void)user;
	while ((r = interrupt_wait(fd, POLLIN, -1)) == 0)
		;
	return r;
}

/* ---- where cenoted is ---- */

/* The directory that libcenote takes if nothing names one. */
static void
add_default_run_dir(const struct shell *sh, struct text *to)
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	struct text socket = { 0 };

	text_addf(&socket, "%s/cenote/%s.sock", xdg != NULL ? xdg : "",
		cenote_conn_get(sh->conn, "pool"));
	if (xdg != NULL && *xdg == '/' && access(text_str(&socket), F_OK) == 0)
		text_addf(to, "%s/cenote", xdg);
	else
		text_add_str(to, "/run/cenote");
	text_finish(&socket);
}

/* Where libcenote would look for the pool. -1: at an address. */
static int
guess_run_dir(const struct shell *sh, struct text *ret_dir)
{
	const char *run_dir = cenote_conn_get(sh->conn, "run_dir");
	const char *server = getenv("CENOTE_SERVER");

	if (*cenote_conn_get(sh->conn, "host") != '\0')
		return -1;
	if (*run_dir != '\0')
		text_add_str(ret_dir, run_dir);
	else if (server == NULL || *server == '\0')
		add_default_run_dir(sh, ret_dir);
	else if (strncmp(server, "unix:", 5) == 0)
		text_add_str(ret_dir, server + 5);
	else
		return -1;
	return 0;
}

/* The run_dir of the cenoted that has the pool. -1: it is reached by TCP. */
static int
find_run_dir(const struct shell *sh, struct text *ret_dir)
{
	/* libcenote keeps this after a loss */
	const char *socket = cenote_info(sh->conn, "socket");
	const char *slash = socket != NULL ? strrchr(socket, '/') : NULL;

	if (socket == NULL)
		return guess_run_dir(sh, ret_dir);
	if (slash == NULL)
		return -1;
	text_add(ret_dir, socket, (size_t)(slash - socket));
	return 0;
}

/* ---- the command ---- */

/* Read the words. RUN_OK, or RUN_ERROR, which was reported. */
static int
read_words(struct cmd *cmd, const struct admin *a, struct text *command)
{
	struct text word = { 0 };
	int n, r = RUN_OK;

	while (r == RUN_OK && (n = args_next(&cmd->args, &word)) != 0) {
		if (n < 0)
			r = cmd_usage(cmd, "a quote is not closed");
		else if (admin_add_word(a, command, text_str(&word)) < 0)
			r = RUN_ERROR;
	}
	text_finish(&word);
	if (r == RUN_OK && command->len == 0)
		r = cmd_usage(cmd, "a command expected");
	return r;
}

/* Whether the command waits for the end of all transactions. */
static int
waits_for_transactions(const struct text *command)
{
	return strcmp(text_str(command), "drain") == 0 ||
	       strncmp(text_str(command), "pause --wait ", 13) == 0;
}

static int
send_command(struct shell *sh, const struct admin *a, const struct text *command)
{
	int status;

	if (waits_for_transactions(command) && cenote_is_connected(sh->conn) &&
		cenote_tx_state(sh->conn) != CENOTE_TX_IDLE) {
		complain(sh, "this would wait for the transaction of this session: end "
			     "the transaction first");
		return RUN_ERROR;
	}
	status = admin_run(a, command);
	return status == ADMIN_OK            ? RUN_OK
	       : status == ADMIN_INTERRUPTED ? RUN_INTERRUPTED
					     : RUN_ERROR;
}

static int
run_admin(struct cmd *cmd)
{
	struct shell *sh = cmd->sh;
	struct text run_dir = { 0 }, command = { 0 };
	struct admin a = { .program = "sqlsh",
		.absent = "start cenoted, or connect to the one that runs (\\c)",
		.format = sh->format,
		.settings = &sh->settings,
		.out = sh->out,
		.is_quiet = sh->is_quiet || !sh->format->is_for_people,
		.complain = complain,
		.wait = wait_for_answer,
		.user = sh };
	int r = read_words(cmd, &a, &command);

	if (r == RUN_OK && find_run_dir(sh, &run_dir) < 0) {
		complain(sh,
			"the pool is reached by TCP, and cenoted takes commands by a "
			"unix socket only: run cenotectl on its machine");
		r = RUN_ERROR;
	}
	a.run_dir = text_str(&run_dir);
	if (r == RUN_OK)
		r = send_command(sh, &a, &command);
	text_finish(&run_dir);
	text_finish(&command);
	return r;
}

const struct command cmd_admin_table[] = {
#define COMMAND(name, args, help) { "admin", name args, help, run_admin },
	ADMIN_COMMANDS(COMMAND)
#undef COMMAND
		{ 0 },
};
