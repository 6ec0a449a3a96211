/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queries of the driver itself, about keys, origins of columns and functions. keys.c, origin.c,
 * nullable.c, position.c and statement.c write them as text and read the answers. It has no state.
 */
#include "keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
cod_sql_put(struct cod_sql *sql, const char *text)
{
	size_t n = strlen(text), room = sql->room < 256 ? 256 : sql->room;
	char *grown;

	if (sql->is_lost)
		return;
	while (room < sql->n + n + 1)
		room *= 2;
	if (room > sql->room) {
		grown = realloc(sql->text, room);
		if (grown == NULL) {
			sql->is_lost = true;
			return;
		}
		sql->text = grown;
		sql->room = room;
	}
	memcpy(sql->text + sql->n, text, n + 1);
	sql->n += n;
}

void
cod_sql_put_name(struct cod_sql *sql, enum cod_dialect dialect, const char *name)
{
	char quote = dialect == COD_DIALECT_MYSQL ? '`' : '"';
	const char quoted[] = { quote, '\0' };

	cod_sql_put(sql, quoted);
	for (; *name != '\0'; name++) {
		const char letter[] = { *name, '\0' };

		if (*name == quote)
			cod_sql_put(sql, quoted);
		cod_sql_put(sql, letter);
	}
	cod_sql_put(sql, quoted);
}

void
cod_sql_put_param(struct cod_sql *sql, enum cod_dialect dialect, unsigned i)
{
	char text[16] = "?";

	if (dialect == COD_DIALECT_POSTGRESQL)
		(void)snprintf(text, sizeof(text), "$%u", i);
	cod_sql_put(sql, text);
}

SQLRETURN
cod_ask(struct cod_stmt *stmt, const char *sql, const cenote_params *params,
	cenote_result **ret_result)
{
	cenote_conn *conn = stmt->dbc->conn;
	cenote_result *more;
	int r = cod_settle(stmt->dbc);

	if (r == CENOTE_OK)
		r = cenote_query(conn, sql, CENOTE_NTS, params, NULL, ret_result);
	if (r < 0)
		return cod_fail_cenote(
			&stmt->head, &COD_NOWHERE, cenote_conn_diag(conn), r);
	while (cenote_get_result(conn, &more) == CENOTE_OK)
		cenote_result_destroy(more);
	return SQL_SUCCESS;
}

cenote_result *
cod_ask_aside(struct cod_dbc *dbc, const char *sql, const cenote_params *params)
{
	bool was_idle = cenote_tx_state(dbc->conn) == CENOTE_TX_IDLE;
	cenote_result *found, *more;

	if (cod_settle(dbc) != CENOTE_OK || cenote_query(dbc->conn, sql, CENOTE_NTS,
						    params, NULL, &found) != CENOTE_OK)
		return NULL;
	while (cenote_get_result(dbc->conn, &more) == CENOTE_OK)
		cenote_result_destroy(more);
	/* Without autocommit the question has begun a transaction. The program did not, so the
	 * driver ends it. */
	if (was_idle && cenote_tx_state(dbc->conn) != CENOTE_TX_IDLE &&
		cenote_commit(dbc->conn) < 0) {
		cenote_result_destroy(found);
		return NULL;
	}
	return found;
}
