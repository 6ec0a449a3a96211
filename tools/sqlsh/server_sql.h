/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SQLSH_SERVER_SQL_H
#define SQLSH_SERVER_SQL_H

/* What no catalog list of a pool tells is asked in the server's own SQL. NULL: it has no such thing. */
struct server_sql {
	const char *backend;
	/* Name and definition of a table's checks; for its schema (MySQL: database) and name. */
	const char *checks;
	/* Users; for a pattern of LIKE. */
	const char *users;
};

/* Of a backend by its name; one without SQL if unknown. */
const struct server_sql *server_sql_of(const char *backend);

#endif
