/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The catalog functions of a statement: ask the catalog and open a cursor over the rows. face.c and
 * face_w.c call this file. It has no state.
 */
#include "odbc.h"

SQLRETURN
cod_ask_catalog(struct cod_stmt *stmt, struct cod_catalog_args *args)
{
	struct cod_dbc *dbc = stmt->dbc;
	struct cod_catalog catalog = { 0 };
	const char *sqlstate = NULL;
	int r;

	if (stmt->cursor.is_open)
		return cod_fail(&stmt->head, "24000");
	cod_stmt_forget(stmt);
	args->dialect = dbc->dialect;
	args->is_identifier = stmt->attrs[COD_METADATA_ID] == SQL_TRUE;
	args->options = dbc->types;
	args->odbc_version = dbc->env->odbc_version;
	r = cod_settle(dbc);
	if (r == CENOTE_OK)
		r = cod_catalog_ask(dbc->conn, args, &catalog, &sqlstate);
	if (r == COD_CATALOG_BAD)
		return cod_fail(&stmt->head, sqlstate);
	if (r < 0)
		return cod_request_failed(
			stmt, &COD_NOWHERE, cenote_conn_diag(dbc->conn), r);
	return cod_cursor_open_own(stmt, &catalog.rows, catalog.columns);
}
