/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CNT_ODBC_H
#define CNT_ODBC_H

#include "support/cnt_server.h"

/* The ODBC drivers of Linux distributions, on the servers of support/cnt_server.h. */
struct cnt_odbc {
	const char *name; /* of its file, without .so: psqlodbcw */
	const char *
		backend; /* the server's SQL that the driver accepts: postgresql, mysql, sqlite */
	int has_server; /* 0: a file, or the server that CENOTE_TEST_TDS names */
	enum cnt_server_kind kind;
	const char *connect; /* of the connection string, beside the driver and where */
};

/* NULL: there is no such driver. */
const struct cnt_odbc *cnt_odbc_find(const char *name);
/* The path of the driver's file, valid until the next call; NULL: it is not installed. */
const char *cnt_odbc_path(const struct cnt_odbc *o);
/* Call this first in main(): as cnt_server_need(), for the driver and its server. */
void cnt_odbc_need(const struct cnt_odbc *o);
/* The connection string for the database app of a server, `where`: its user; or for the file of that path. In `ret`,
 * which is returned. */
char *cnt_odbc_connect(const struct cnt_odbc *o, const struct cnt_server *s,
	const char *where, char *ret, size_t size);

#endif
