/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_SERVER_SQL_H
#define SQLSH_SERVER_SQL_H

/* SQL for facts that the pool's catalog does not have. NULL: the server does not have them. */
struct server_sql {
	const char *backend;
	/* Name and definition of a table's checks. Parameters: its schema (MySQL: database) and
	 * name. */
	const char *checks;
	/* Users. Parameter: a pattern for LIKE. */
	const char *users;
};

/* The SQL for a backend. An unknown backend has none. */
const struct server_sql *server_sql_of(const char *backend);

#endif
