/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WITH_MYSQL_H
#define WITH_MYSQL_H

#include "support/cnt_server.h"
#include "with_pool.h"

/* A pool with the backend mysql, on a MariaDB server of the test's own. */

/* Runs from the setup to the teardown of the group. */
extern struct cnt_server with_mysql_server;

int with_mysql_group_setup(void **state);
int with_mysql_group_teardown(void **state);

/* Start cenoted with this server line, and `lines` for the pool main. */
void with_mysql_start(const char *line, const char *lines);

/* For a test: a pool of one session in mode = transaction. *state is an attached client, which the teardown destroys. */
int with_mysql_setup_shared(void **state);
int with_mysql_teardown(void **state);

#endif
