/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_SERVER_SQL_H
#define SQLSH_SERVER_SQL_H

/* The server's own SQL for facts that the pool's catalog does not have. NULL: unknown. */
struct server_sql {
	const char *backend;
	/* Name and definition of a table's checks; for its schema (MySQL: database) and name. */
	const char *checks;
	/* Users; for a pattern of LIKE. */
	const char *users;
};

/* By the backend's name. An unknown one has no SQL. */
const struct server_sql *server_sql_of(const char *backend);

#endif
