/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frees the connection for another request: reads the remaining results of the owner's request into
 * the owner's memory. Everything that sends a request or ends a transaction calls it first. The state
 * is cod_dbc.owner.
 */
#include "odbc.h"

/* Put the whole result into its owner's memory. */
static int
keep_result(struct cod_stmt *owner, cenote_result *result)
{
	int r = CENOTE_OK;

	if (cenote_result_kind(result) == CENOTE_RESULT_ROWS)
		r = cenote_result_buffer(result);
	/* The result was complete, or it failed. If it failed, reading it reports the error. */
	if (r == CENOTE_ERR_STATE || r == CENOTE_ERR_SERVER)
		r = CENOTE_OK;
	if (r < 0) {
		cenote_result_destroy(result);
		return r;
	}
	return cod_later_add(owner, result);
}

int
cod_settle(struct cod_dbc *dbc)
{
	struct cod_stmt *owner = dbc->owner;
	cenote_result *result;
	int r;

	if (owner == NULL)
		return CENOTE_OK;
	r = cod_cursor_keep(owner);
	while (r == CENOTE_OK && dbc->owner != NULL) {
		r = cenote_get_result(dbc->conn, &result);
		if (r != CENOTE_OK)
			break;
		r = keep_result(owner, result);
	}
	if (r == CENOTE_DONE || cenote_status_is_fatal(r))
		dbc->owner = NULL;
	return r == CENOTE_DONE ? CENOTE_OK : r;
}

int
cod_settle_all(struct cod_dbc *dbc)
{
	int r = cod_settle(dbc);

	for (struct cod_stmt *stmt = dbc->stmts; stmt != NULL && r == CENOTE_OK;
		stmt = stmt->next)
		r = cod_cursor_keep(stmt);
	return r;
}
