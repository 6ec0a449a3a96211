/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PORT_LINK_H
#define PORT_LINK_H

#include <cenote/cenote.h>

#include "dialect.h"

/* The connection to a pool. All functions report their errors; they return an enum port_status. */

struct link {
	cenote_conn *conn;
	const struct dialect *dialect;
	const char *backend;
};

/* Connect to a pool, by its name or URI. */
int link_open(struct link *l, const char *target);
void link_close(struct link *l);

/* Report the failure of a call, and the diagnostics of a result. PORT_FAILED, or PORT_STOPPED if the session is lost. */
int link_failed(struct link *l, int status);
int link_refused(const cenote_diag *diag);

/* Run a statement whose rows are not wanted. *ret_affected may be NULL. */
int link_run(struct link *l, const char *sql, const cenote_params *params,
	int64_t *ret_affected);
/* Run a statement, and get its result. */
int link_query(struct link *l, const char *sql, const cenote_params *params,
	cenote_result **ret_res);
/* Take what is left of the results of a request. */
int link_finish(struct link *l);

int link_begin(struct link *l, uint32_t flags);
int link_commit(struct link *l);
/* Roll back without a report, after an error. */
void link_rollback(struct link *l);

/* A table's name as the user typed it. */
struct table_name {
	const char *typed;
	struct text schema,
		object; /* "" for no schema; patterns of LIKE for the catalog */
	cenote_catalog_filter filter;
};

/* -1: it is not a name, which is reported. */
int table_name_parse(struct table_name *t, const struct link *l, const char *typed);
void table_name_finish(struct table_name *t);
/* Add the names of the columns of the table's primary key. None is no error. */
int link_primary_key(struct link *l, const struct table_name *t, struct columns *ret_key);

/* Append a value as a parameter of the given type. `cell` is as in a file: bytes may be \x and hexadecimal digits. */
int link_bind(cenote_params *params, const struct link *l, const struct column *column,
	const struct cell *cell);

#endif
