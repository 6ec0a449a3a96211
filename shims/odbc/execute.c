/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Carries out statements: a request for each set of parameters, and its first result. A single set
 * and an array share the loop; array.c sends most sets of an array together. face.c and
 * param_data.c call it. The state is cod_stmt.exec.
 */
#include "odbc.h"

/* ------------------------------------------------------------------------- results ----- */

static SQLRETURN
take_count(struct cod_stmt *stmt, cenote_result *result, SQLLEN n)
{
	cod_result_over(stmt, cenote_result_flags(result));
	cenote_result_destroy(result);
	stmt->has_columns = true;
	/* A command that does not change rows reports 0. */
	if (n > 0)
		stmt->exec.affected += n;
	stmt->row_count = stmt->exec.affected;
	return SQL_SUCCESS;
}

static SQLRETURN
take_command(struct cod_stmt *stmt, cenote_result *result)
{
	cod_backslash_follow(stmt->dbc, result);
	cod_nullable_changed(stmt->dbc, cenote_result_tag(result));
	return take_count(stmt, result, (SQLLEN)cenote_result_affected_rows(result));
}

static SQLRETURN
take_error(struct cod_stmt *stmt, cenote_result *result)
{
	struct cod_diag_where where = cod_array_here(stmt);
	SQLRETURN ret = cod_request_failed(
		stmt, &where, cenote_result_diag(result), CENOTE_ERR_SERVER);

	cod_result_over(stmt, cenote_result_flags(result));
	cenote_result_destroy(result);
	return ret;
}

/* PostgreSQL has rows without columns. To ODBC, a result without columns is a row count, and there
 * is nothing to fetch. */
static SQLRETURN
take_bare_rows(struct cod_stmt *stmt, cenote_result *result)
{
	uint64_t n = cenote_result_n_rows(result);
	SQLRETURN ret;
	int r;

	while ((r = cod_wait_batch(stmt, result)) == CENOTE_ROW)
		n += cenote_result_n_rows(result);
	if (r == CENOTE_DONE)
		return take_count(stmt, result, (SQLLEN)n);
	ret = cod_request_failed(stmt, &COD_NOWHERE, cenote_result_diag(result), r);
	cod_result_over(stmt, 0);
	cenote_result_destroy(result);
	return ret;
}

/* ODBC has no functions to send or receive the data of a COPY. */
static SQLRETURN
take_copy(struct cod_stmt *stmt, cenote_result *result)
{
	cenote_result_destroy(result);
	(void)cod_settle(stmt->dbc);
	cod_later_clear(stmt);
	return cod_fail_text(
		&stmt->head, "HYC00", "ODBC has no functions for the data of a COPY");
}

/* Close the open result. */
static void
drop_result(struct cod_stmt *stmt)
{
	cod_columns_drop(stmt);
	cod_cursor_close(stmt);
	cod_keys_forget(stmt);
	stmt->row_count = -1;
}

/* Whether the rows are values of output parameters. MySQL says so at the end of the result. */
static bool
is_output(const struct cod_stmt *stmt)
{
	uint32_t flags = cenote_result_flags(stmt->cursor.result);

	return stmt->sql.returns_value || (flags & CENOTE_RESULT_FLAG_OUTPUT) != 0 ||
	       (stmt->sql.is_call && stmt->dbc->dialect == COD_DIALECT_POSTGRESQL &&
		       cod_has_output(stmt));
}

/* Take the command's result with which MySQL ends a CALL. */
static void
drop_status(struct cod_stmt *stmt)
{
	struct cod_dbc *dbc = stmt->dbc;
	cenote_result *result;

	if (dbc->owner != stmt || cod_wait_result(stmt, false, &result) != CENOTE_OK)
		return;
	if (cenote_result_kind(result) != CENOTE_RESULT_COMMAND) {
		(void)cod_later_add(stmt, result);
		return;
	}
	cod_backslash_follow(dbc, result);
	cod_result_over(stmt, cenote_result_flags(result));
	cenote_result_destroy(result);
}

/* Take the values of output parameters. A result that follows them belongs to the application. */
static SQLRETURN
take_output(struct cod_stmt *stmt)
{
	SQLRETURN ret = SQL_SUCCESS;

	if (cod_cursor_total(&stmt->cursor) > 0)
		ret = cod_params_write(stmt);
	drop_result(stmt);
	drop_status(stmt);
	return ret;
}

static SQLRETURN
take_rows(struct cod_stmt *stmt, cenote_result *result, bool was_streamed)
{
	SQLRETURN ret = cod_cursor_open(stmt, result, was_streamed);

	if (ret == SQL_ERROR || !is_output(stmt))
		return ret;
	return cod_worse(ret, take_output(stmt));
}

static SQLRETURN
take(struct cod_stmt *stmt, cenote_result *result, bool was_streamed)
{
	switch (cenote_result_kind(result)) {
	case CENOTE_RESULT_ROWS:
		if (cenote_result_n_columns(result) == 0)
			return take_bare_rows(stmt, result);
		return take_rows(stmt, result, was_streamed);
	case CENOTE_RESULT_ERROR:
		return take_error(stmt, result);
	case CENOTE_RESULT_COPY_IN:
	case CENOTE_RESULT_COPY_OUT:
		return take_copy(stmt, result);
	default:
		return take_command(stmt, result);
	}
}

/* ------------------------------------------------------------------------- requests ----- */

static SQLRETURN
failed(struct cod_stmt *stmt, int status)
{
	struct cod_diag_where where = cod_array_here(stmt);

	return cod_request_failed(
		stmt, &where, cenote_conn_diag(stmt->dbc->conn), status);
}

static SQLRETURN
send_set(struct cod_stmt *stmt)
{
	struct cod_execution *exec = &stmt->exec;
	SQLRETURN ret = SQL_SUCCESS;
	int r;

	if (stmt->sql.n_params > 0) {
		ret = cod_need_handle(stmt);
		if (ret != SQL_SUCCESS)
			return ret;
		cenote_params_clear(exec->params);
		ret = cod_params_read(stmt, exec->set, exec->params);
		if (ret == SQL_ERROR)
			return ret;
	}
	r = cod_settle(stmt->dbc);
	if (r == CENOTE_OK) {
		cod_request_begin(stmt);
		r = cod_send_request(stmt);
	}
	if (r < 0)
		return failed(stmt, r);
	cod_request_sent(stmt);
	exec->is_running = true;
	return ret;
}

/* SQL_STILL_EXECUTING: the answer has not arrived. */
static SQLRETURN
answer_set(struct cod_stmt *stmt)
{
	bool was_streamed = cod_is_streamed(stmt);
	cenote_result *result = cod_later_take(stmt);
	SQLRETURN ret;
	int r;

	if (result != NULL)
		was_streamed = false;
	r = result != NULL ? CENOTE_OK : cod_wait_result(stmt, true, &result);
	if (r == CENOTE_AGAIN)
		return SQL_STILL_EXECUTING;
	stmt->exec.is_running = false;
	if (r == CENOTE_DONE) {
		stmt->dbc->owner = NULL;
		stmt->has_columns = true;
		return SQL_SUCCESS;
	}
	if (r < 0) {
		stmt->dbc->owner = NULL;
		return failed(stmt, r);
	}
	ret = take(stmt, result, was_streamed);
	cod_request_end(stmt);
	return ret;
}

/* The return code for all sets together. */
static SQLRETURN
outcome(struct cod_stmt *stmt, SQLRETURN last)
{
	const struct cod_execution *exec = &stmt->exec;
	bool is_change = !stmt->cursor.is_open && stmt->row_count == 0;
	SQLRETURN ret = last;

	if (exec->is_array)
		ret = cod_outcome(exec->n_done, exec->n_failed, exec->has_warning);
	stmt->head.diag.row_count = stmt->row_count;
	/* an UPDATE or DELETE that found no row */
	if (ret == SQL_SUCCESS && is_change &&
		(stmt->head.diag.function_code == SQL_DIAG_UPDATE_WHERE ||
			stmt->head.diag.function_code == SQL_DIAG_DELETE_WHERE))
		ret = SQL_NO_DATA;
	cod_execution_finish(stmt);
	cod_pending_clear(stmt);
	stmt->async = 0;
	return ret;
}

/* Send a set, unless it is on its way, and take its answer. */
static SQLRETURN
run_set(struct cod_stmt *stmt)
{
	SQLRETURN sent = SQL_SUCCESS, answered;

	if (!stmt->exec.is_running) {
		sent = send_set(stmt);
		if (sent == SQL_ERROR)
			return sent;
	}
	answered = answer_set(stmt);
	if (answered == SQL_STILL_EXECUTING)
		return answered;
	return cod_worse(sent, answered);
}

SQLRETURN
cod_execution_go_on(struct cod_stmt *stmt)
{
	struct cod_execution *exec = &stmt->exec;
	SQLULEN n = stmt->desc[COD_APD]->array_size;
	SQLRETURN ret = SQL_SUCCESS;

	while (exec->set < n) {
		if (cod_array_can_send(stmt)) {
			cod_array_send(stmt);
			continue;
		}
		if (!exec->is_running && cod_array_is_ignored(stmt)) {
			cod_array_count(stmt, SQL_NO_DATA);
			continue;
		}
		if (!exec->is_running && stmt->pending.n_given == 0) {
			ret = cod_pending_begin(
				stmt, exec->function, exec->set, stmt->sql.n_params);
			/* The application's time to give the data does not count. */
			exec->deadline_ms = 0;
			if (ret != SQL_SUCCESS)
				return ret;
		}
		ret = run_set(stmt);
		if (ret == SQL_STILL_EXECUTING) {
			stmt->async = exec->function;
			return ret;
		}
		cod_array_count(stmt, ret);
		cod_pending_clear(stmt);
		if (cod_is_stopped(stmt))
			cod_array_give_up(stmt);
	}
	return outcome(stmt, ret);
}

static SQLRETURN
start(struct cod_stmt *stmt, SQLUSMALLINT function)
{
	struct cod_execution *exec = &stmt->exec;
	struct cod_desc *ipd = stmt->desc[COD_IPD];

	if (stmt->cursor.is_open)
		return cod_fail(&stmt->head, "24000");
	if ((uint32_t)stmt->desc[COD_APD]->count < stmt->sql.n_params)
		return cod_fail(&stmt->head, "07002");
	cod_stmt_close(stmt);
	cod_diag_set_function(&stmt->head.diag, stmt->sql.text);
	exec->function = function;
	exec->is_array = stmt->desc[COD_APD]->array_size > 1;
	if (ipd->rows_processed != NULL)
		*ipd->rows_processed = 0;
	if (cenote_params_create(NULL, &exec->params) < 0)
		return cod_fail(&stmt->head, "HY001");
	/* Prepare first: if the server rejects the statement, it does so once, and not for each
	 * set. */
	if (exec->is_array && stmt->sql.n_params > 0 &&
		cod_need_handle(stmt) == SQL_ERROR) {
		cod_array_count(stmt, SQL_ERROR);
		cod_array_give_up(stmt);
	}
	return cod_execution_go_on(stmt);
}

SQLRETURN
cod_execute(struct cod_stmt *stmt)
{
	if (stmt->async == SQL_API_SQLEXECUTE)
		return cod_execution_go_on(stmt);
	if (!stmt->is_prepared)
		return cod_fail(&stmt->head, "HY010");
	return start(stmt, SQL_API_SQLEXECUTE);
}

SQLRETURN
cod_exec_direct(struct cod_stmt *stmt, struct cod_text sql)
{
	SQLRETURN ret;

	if (stmt->async == SQL_API_SQLEXECDIRECT)
		return cod_execution_go_on(stmt);
	ret = cod_stmt_set_sql(stmt, sql);
	if (ret == SQL_SUCCESS)
		return start(stmt, SQL_API_SQLEXECDIRECT);
	return ret;
}

/* ------------------------------------------------------------------- further results ----- */

/* Close the open result and take the next one. */
static int
next_result(struct cod_stmt *stmt, cenote_result **ret_result)
{
	struct cod_dbc *dbc = stmt->dbc;

	drop_result(stmt);
	*ret_result = cod_later_take(stmt);
	if (*ret_result != NULL)
		return CENOTE_OK;
	return dbc->owner == stmt ? cod_wait_result(stmt, false, ret_result)
				  : CENOTE_DONE;
}

SQLRETURN
cod_more_results(struct cod_stmt *stmt)
{
	cenote_result *result;
	bool is_whole = stmt->later != NULL && stmt->dbc->owner != stmt;
	bool has_rows;
	SQLRETURN ret;
	int r = next_result(stmt, &result);

	if (r != CENOTE_OK) {
		if (stmt->dbc->owner == stmt)
			stmt->dbc->owner = NULL;
		cod_request_end(stmt);
		if (r == CENOTE_DONE)
			return SQL_NO_DATA;
		return failed(stmt, r);
	}
	has_rows = cenote_result_kind(result) == CENOTE_RESULT_ROWS;
	ret = take(stmt, result, cod_is_streamed(stmt) && !is_whole);
	cod_request_end(stmt);
	/* Values of output parameters are not a result for the application. */
	if (ret == SQL_SUCCESS && has_rows && !stmt->cursor.is_open)
		return cod_more_results(stmt);
	return ret;
}
