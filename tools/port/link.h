/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PORT_LINK_H
#define PORT_LINK_H

#include <cenote/cenote.h>

#include "dialect.h"

/* The connection to a pool. All functions report their errors. Those that return int return an enum port_status. */

struct link {
	cenote_conn *conn;
	const struct dialect *dialect;
	const char *backend;
};

/* Connect to a pool, which `target` names. It may also be a URI. */
int link_open(struct link *l, const char *target);
void link_close(struct link *l);

/* Report that a call failed with a negative enum cenote_status. Returns PORT_STOPPED if the session is lost, else PORT_FAILED. */
int link_failed(struct link *l, int status);
/* Report an error of the server. Returns PORT_FAILED. */
int link_refused(const cenote_diag *diag);

/* Run a statement and ignore its result. */
int link_run(struct link *l, const char *sql);
/* Run a statement, and get its result. */
int link_query(struct link *l, const char *sql, const cenote_params *params,
	cenote_result **ret_res);
/* Take the remaining results of a request. */
int link_finish(struct link *l);

int link_begin(struct link *l, uint32_t flags);
int link_commit(struct link *l);
/* Roll back without a report, after an error. */
void link_rollback(struct link *l);

struct table_name {
	const char *typed; /* by the user */
	struct text schema; /* "" if no schema was typed */
	struct text object; /* a pattern of LIKE that matches only the name */
	cenote_catalog_filter filter; /* it points to the texts above */
};

/* Parse NAME or SCHEMA.NAME, perhaps with quotes. -1 after a message: it is something else. */
int table_name_parse(struct table_name *t, const struct link *l, const char *typed);
void table_name_finish(struct table_name *t);
/* Add the names of the columns of the table's primary key. A table without a primary key is no error. */
int link_primary_key(struct link *l, const struct table_name *t, struct columns *ret_key);

/* Make an empty list of parameters. */
int link_params_create(cenote_params **ret_params);
/* Append a value of a file as a parameter for this column. Bytes may be \x and hexadecimal digits. Returns a cenote_status. */
int link_bind(cenote_params *params, const struct link *l, const struct column *column,
	const struct cell *cell);

#endif
