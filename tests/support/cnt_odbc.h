/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_ODBC_H
#define CNT_ODBC_H

#include "support/cnt_server.h"

/* The ODBC drivers of Linux distributions, on the servers of support/cnt_server.h. */
struct cnt_odbc {
	const char *name; /* the name of its file, without .so: psqlodbcw */
	/* The server's SQL that the driver accepts: postgresql, mysql, sqlite, freetds. */
	const char *backend;
	int has_server; /* 0: the driver opens a file, or the server that CENOTE_TEST_TDS names */
	enum cnt_server_kind kind;
	/* The part of the connection string that is the same for every server and user. */
	const char *connect;
};

/* NULL: there is no such driver. */
const struct cnt_odbc *cnt_odbc_find(const char *name);
/* The path of the driver's file, valid until the next call; NULL: it is not installed. */
const char *cnt_odbc_path(const struct cnt_odbc *o);
/* Call this first in main(). It is like cnt_server_need(), for the driver and its server. */
void cnt_odbc_need(const struct cnt_odbc *o);
/* Write the connection string to `ret`, and return it. `where` is the user for the database app of
 * a server, or the path of a database file. */
char *cnt_odbc_connect(const struct cnt_odbc *o, const struct cnt_server *s,
	const char *where, char *ret, size_t size);

#endif
