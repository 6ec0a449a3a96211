/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WITH_SERVER_H
#define WITH_SERVER_H

#include "with_pool.h"

#include <stdbool.h>

/* What tests that run on several servers share. The only argument of such a test names its server. */

enum ws_kind {
	WS_POSTGRESQL,
	WS_MARIADB,
	WS_SQLITE
};

extern enum ws_kind ws_kind;
/* Runs from ws_setup() to ws_teardown(). SQLite has none. */
extern struct cnt_server ws_server;

/* Read the argument. `servers` are the names that it may have, with | between them. Returns false after printing the usage. If the
 * server is not installed, this function ends the process, and its tests count as skipped. */
bool ws_choose(int argc, char **argv, const char *servers);

/* Setup and teardown of a group of tests: start and stop the server. */
int ws_setup(void **state);
int ws_teardown(void **state);

/* Write a configuration to `ret`, and return it: the pool main on the server, with these lines. */
const char *ws_config(const char *lines, char *ret, size_t size);
/* Start cenoted with such a configuration. */
void ws_start(const char *lines);
/* Start cenoted with two pools on the server: main has `lines`, and free has `free_lines`. */
void ws_start_with_free(const char *lines, const char *free_lines);

#endif
