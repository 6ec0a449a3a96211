/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_SERVER_KINDS_H
#define CNT_SERVER_KINDS_H

#include "support/cnt_server.h"

#include <limits.h>
#include <stdio.h>

/* The differences between the kinds of servers; for cnt_server.c. */

#define CNT_SERVER_ARGS 24u

struct cnt_argv {
	const char *args[CNT_SERVER_ARGS + 1];
	size_t n;
	char text[4096]; /* of the arguments that were formatted */
	size_t used;
};

struct cnt_programs {
	char server[PATH_MAX];
	char init[PATH_MAX];
	char client[PATH_MAX];
};

struct cnt_server_type {
	const char *name;
	const char *backend;
	const char *bin_env;
	const char *names[3]; /* of the programs: server, init, client */
	/* Patterns of directories to search; the first match wins. */
	const char *const *where;
	const char *setup; /* SQL that sets up a new server for the tests */
	const char *setup_database;
	const char *passfile;
	int may_be_root;
	int end_signal; /* ends the server in order */
	/* Ends the server as fast as possible, and leaves nothing outside of the directory. */
	int quick_signal;
	/* Fill the members whose paths depend on the port. */
	void (*name_paths)(struct cnt_server *s);
	int (*write_conf)(const struct cnt_server *s, FILE *f);
	/* Add the arguments after the program's name. */
	void (*init_args)(const struct cnt_server *s, struct cnt_argv *a);
	void (*run_args)(const struct cnt_server *s, struct cnt_argv *a);
	void (*client_args)(
		const struct cnt_server *s, const char *database, struct cnt_argv *a);
	int (*is_ready)(const struct cnt_server *s);
	/* For cnt_server_replicates() and cnt_server_follow(). */
	int (*replicates)(const struct cnt_server *s, int waits);
	int (*follow)(const struct cnt_server *s, const struct cnt_server *primary);
	/* The arguments of the program that copies a running primary. */
	void (*copy_args)(const struct cnt_server *s, const struct cnt_server *primary,
		struct cnt_argv *a);
	/* Remove what a killed server leaves outside of its directory. */
	void (*sweep)(const struct cnt_server *s);
};

const struct cnt_server_type *cnt_server_type(enum cnt_server_kind kind);

/* Find the server's programs. Returns -1 if one of them is missing. */
int cnt_server_find(
	const struct cnt_server_type *type, struct cnt_programs *ret_programs);

#endif
