/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SQLCancel() and SQLCancelHandle(). Any thread may call them while another one waits for the
 * answer and holds the connection's lock. They take cancel_mutex only. The state is cod_dbc.running
 * and the is_cancelled flag of a statement.
 */
#include "odbc.h"

/* Send the cancel. The caller holds cancel_mutex. After a failure, the next function that reads
 * diagnostics of `head` makes the record. */
static SQLRETURN
send_cancel(struct cod_dbc *dbc, struct cod_head *head)
{
	atomic_store(&dbc->running->is_cancelled, true);
	if (cenote_cancel_send(dbc->cancel) >= 0)
		return SQL_SUCCESS;
	atomic_store(&dbc->running->is_cancelled, false);
	atomic_store(&head->is_cancel_lost, true);
	return SQL_ERROR;
}

/* Cancel the statement if it is running. True: it is running, and a cancel is on its way. */
static bool
cancel_running(struct cod_stmt *stmt, SQLRETURN *ret)
{
	struct cod_dbc *dbc = stmt->dbc;
	bool is_running;

	(void)pthread_mutex_lock(&dbc->cancel_mutex);
	is_running = dbc->running == stmt;
	if (is_running)
		*ret = send_cancel(dbc, &stmt->head);
	(void)pthread_mutex_unlock(&dbc->cancel_mutex);
	return is_running;
}

/* Give up an execution that waits for data. */
static SQLRETURN
cancel_idle(struct cod_stmt *stmt)
{
	(void)pthread_mutex_lock(stmt->head.lock);
	cod_diag_clear(&stmt->head.diag);
	if (stmt->pending.function != 0) {
		cod_pending_clear(stmt);
		cod_execution_finish(stmt);
	}
	(void)pthread_mutex_unlock(stmt->head.lock);
	return SQL_SUCCESS;
}

static SQLRETURN
cancel_dbc(struct cod_dbc *dbc)
{
	SQLRETURN ret = SQL_SUCCESS;

	(void)pthread_mutex_lock(&dbc->cancel_mutex);
	if (dbc->running != NULL)
		ret = send_cancel(dbc, &dbc->head);
	(void)pthread_mutex_unlock(&dbc->cancel_mutex);
	return ret;
}

SQLRETURN
cod_cancel_handle(SQLSMALLINT kind, SQLHANDLE handle)
{
	SQLRETURN ret;

	if (kind == SQL_HANDLE_DBC && cod_is_handle(handle, COD_DBC))
		return cancel_dbc(handle);
	if (kind != SQL_HANDLE_STMT || !cod_is_handle(handle, COD_STMT))
		return SQL_INVALID_HANDLE;
	if (cancel_running(handle, &ret))
		return ret;
	return cancel_idle(handle);
}
