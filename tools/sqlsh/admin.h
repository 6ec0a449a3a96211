/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_ADMIN_H
#define SQLSH_ADMIN_H

#include "output.h"

/* Commands to a running cenoted through its admin socket: what cenotectl and sqlsh's \admin have in common. */

/* The commands, their arguments, and what they do: for help texts and completion. The master checks what is sent, so nothing else
 * here depends on this list. */
#define ADMIN_COMMANDS(X)                                                                \
	X("status", "", "cenoted and its pools")                                         \
	X("pools", "", "a table of the pools, and how busy they are")                    \
	X("servers", "", "a table of the servers, their roles and lag")                  \
	X("workers", "", "a table of the sessions, and what each does")                  \
	X("clients", "", "a table of the clients that have a session")                   \
	X("pins", "", "a table of what keeps sessions with their clients")               \
	X("times", "",                                                                   \
		"a table of how long requests, waiting, sessions and logins took")       \
	X("digests", " [--reset]", "statistics of statements, or begin them anew")       \
	X("rules", "", "a table of the rules of the pools, and how often each matched")  \
	X("cache", "", "a table of the pools' caches of results")                        \
	X("reload", "", "read the configuration again")                                  \
	X("drain", " [--now]", "end cenoted, and wait for that")                         \
	X("upgrade", "", "replace the running cenoted by the installed one")             \
	X("log-level", " LEVEL", "error, warning, notice, info or debug")                \
	X("pause", " [--wait] POOL|all", "let no new transaction begin")                 \
	X("resume", " POOL|all", "let them begin again")                                 \
	X("kill", " PID", "end the session of a client, or of a worker's client")

enum admin_status {
	ADMIN_OK = 0,
	ADMIN_REFUSED = 1, /* cenoted answered with an error */
	ADMIN_FAILED = 2, /* bad words, or no whole answer */
	ADMIN_INTERRUPTED = 3 /* wait() said so */
};

/* A caller of cenoted: where it is, and how to show its answer. */
struct admin {
	const char *run_dir; /* of cenoted */
	const char *program; /* its user runs it, for a hint */
	const char *absent; /* what to do if no cenoted is there */
	const struct output_ops *format;
	const struct output_settings *settings;
	FILE *out;
	int is_quiet; /* do not say that a command was carried out */
	/* Show an error or a warning. */
	void (*complain)(void *user, const char *text);
	/* Wait until the answer comes. -1: the user does not want it any more. NULL: only read. */
	int (*wait)(void *user, int fd);
	void *user;
};

/* Add a word to a command. 0; -1: it is not possible, and complain() was told why. */
int admin_add_word(const struct admin *a, struct text *command, const char *word);
/* Send the command, and show the answer. Returns enum admin_status; complain() was told of errors. */
int admin_run(const struct admin *a, const struct text *command);

#endif
