/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TURNS_H
#define TURNS_H

#include "with_pool.h"

/* A pool of PostgreSQL in mode = transaction, and clients that take turns on its few sessions. */

/* After "sessions = …\n". No test reaches this limit by itself, even on a busy machine. */
#define TURNS_POOL "mode = transaction\nqueue_timeout = 60s\n"

/* Runs from the setup to the teardown of the group. */
extern struct cnt_server turns_server;

int turns_setup(void **state);
int turns_teardown(void **state);

/* A configuration with `lines` for the pool main; in static memory until the next call. */
const char *turns_config(const char *lines);
/* Start cenoted with it. */
void turns_start(const char *lines);

void turns_attach(cenote_conn **conns, size_t n);
void turns_destroy(cenote_conn **conns, size_t n);
/* One query of each client after the other, in so many rounds. All must get their own answer. */
void turns_take(cenote_conn **conns, size_t n, int rounds);

/* Wait until the server's superuser gets this answer. */
void turns_await_server(const char *sql, const char *wanted);

#endif
