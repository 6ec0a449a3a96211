/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SQLEndTran() for a connection, or for all connections of an environment. face.c calls this file. The
 * state is the session's transaction.
 */
#include "odbc.h"

static SQLRETURN
end_transaction(struct cod_dbc *dbc, SQLSMALLINT completion)
{
	int r;

	if (completion != SQL_COMMIT && completion != SQL_ROLLBACK)
		return cod_fail(&dbc->head, "HY012");
	if (dbc->conn == NULL)
		return cod_fail(&dbc->head, "08003");
	for (const struct cod_stmt *stmt = dbc->stmts; stmt != NULL; stmt = stmt->next) {
		if (stmt->async != 0 || stmt->pending.function != 0)
			return cod_fail(&dbc->head, "HY010");
	}
	/* No transaction is open, so nothing must be sent to the server. */
	if (cenote_tx_state(dbc->conn) == CENOTE_TX_IDLE && dbc->owner == NULL)
		return SQL_SUCCESS;
	r = cod_settle_all(dbc);
	if (r == CENOTE_OK && cenote_tx_state(dbc->conn) != CENOTE_TX_IDLE)
		r = completion == SQL_COMMIT ? cenote_commit(dbc->conn)
					     : cenote_rollback(dbc->conn);
	if (completion == SQL_ROLLBACK)
		cod_nullable_forget(dbc);
	if (r < 0)
		return cod_fail_cenote(
			&dbc->head, &COD_NOWHERE, cenote_conn_diag(dbc->conn), r);
	return SQL_SUCCESS;
}

static SQLRETURN
end_one(struct cod_dbc *dbc, SQLSMALLINT completion)
{
	struct cod_call call;

	if (!cod_enter(&call, dbc, COD_DBC, SQL_API_SQLENDTRAN))
		return call.ret;
	call.ret = end_transaction(dbc, completion);
	return cod_leave(&call);
}

/* End the transactions of all open connections. Each connection reports its own errors. */
static SQLRETURN
end_all(struct cod_env *env, SQLSMALLINT completion)
{
	SQLRETURN ret = SQL_SUCCESS;

	if (completion != SQL_COMMIT && completion != SQL_ROLLBACK)
		return cod_fail(&env->head, "HY012");
	for (struct cod_dbc *dbc = env->dbcs; dbc != NULL; dbc = dbc->next) {
		if (dbc->conn != NULL)
			ret = cod_worse(ret, end_one(dbc, completion));
	}
	if (ret == SQL_ERROR)
		return cod_fail(&env->head, "25S01");
	return ret;
}

SQLRETURN
cod_end_tran(SQLSMALLINT kind, SQLHANDLE handle, SQLSMALLINT completion)
{
	struct cod_call call;

	if (kind == SQL_HANDLE_DBC && cod_is_handle(handle, COD_DBC))
		return end_one(handle, completion);
	if (kind != SQL_HANDLE_ENV ||
		!cod_enter(&call, handle, COD_ENV, SQL_API_SQLENDTRAN))
		return SQL_INVALID_HANDLE;
	call.ret = end_all(handle, completion);
	return cod_leave(&call);
}
