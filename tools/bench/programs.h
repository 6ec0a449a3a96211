/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNB_PROGRAMS_H
#define CNB_PROGRAMS_H

#include "bench.h"

/* Finding programs, and running those of the servers. */

#define CNB_MAX_ARGS 32

struct passwd;

/* A program with its arguments. Its output goes to a log. */
struct cnb_command {
	const char *name;
	char program[256]; /* its path */
	char log[96];
	char *args[CNB_MAX_ARGS + 1]; /* they point into `bytes` */
	size_t n;
	char bytes[2048];
	size_t used;
	int is_too_long; /* an argument did not fit */
};

/* Set the path of a program that is in PATH or in one of the usual directories of servers; "": there is
 * none. */
void cnb_program_find(const char *name, char *ret_path, size_t size);
/* The user who runs the servers. Servers refuse to run as root, so root runs them as another user. NULL:
 * the user of this process. */
const struct passwd *cnb_server_user(void);

/* Begin a command without arguments, with its log in `dir`. 0; -1 with the error set: it is not
 * installed. */
int cnb_command_find(struct cnb_command *ret_command, const char *name, const char *dir,
	struct cnb_error *ret_error);
__attribute__((format(printf, 2, 3))) void cnb_command_add(
	struct cnb_command *c, const char *format, ...);
/* Start it. Returns its process, or -1. */
pid_t cnb_command_start(const struct cnb_command *c);
/* Run it until it ends with status 0. 0; -1 with the error set. */
int cnb_command_run(const struct cnb_command *c, struct cnb_error *ret_error);
/* Set the error: what happened, and the last line of the log. Returns -1. */
int cnb_command_failed(
	const struct cnb_command *c, const char *what, struct cnb_error *ret_error);

#endif
