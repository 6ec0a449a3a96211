/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arrays of parameters. Each set has a status of its own, and a set that failed does not stop the
 * next ones. Where it can, the driver sends many sets together: each is a request of its own with a
 * synchronisation point, so that an error does not reach the next set. Sets and bytes limit how
 * much is under way. execute.c calls it; the state is cod_stmt.exec.
 */
#include "odbc.h"

#define SETS_MAX  128
#define BYTES_MAX (1u << 20)

/* The sets that are under way: `n` sets from number `first` on. */
struct window {
	SQLULEN first, n;
	/* SQL_ERROR: the set was not sent; SQL_NO_DATA: the application leaves it out */
	SQLRETURN sent[SETS_MAX];
};

struct cod_diag_where
cod_array_here(const struct cod_stmt *stmt)
{
	if (!stmt->exec.is_array)
		return COD_NOWHERE;
	return (struct cod_diag_where){ (SQLLEN)stmt->exec.set + 1,
		SQL_NO_COLUMN_NUMBER };
}

/* --------------------------------------------------------------- status of the sets ----- */

static void
set_status(struct cod_stmt *stmt, SQLUSMALLINT status)
{
	struct cod_desc *ipd = stmt->desc[COD_IPD];

	if (ipd->array_status != NULL)
		ipd->array_status[stmt->exec.set] = status;
	if (ipd->rows_processed != NULL)
		*ipd->rows_processed = stmt->exec.set + 1;
}

bool
cod_array_is_ignored(const struct cod_stmt *stmt)
{
	const struct cod_desc *apd = stmt->desc[COD_APD];

	return apd->array_status != NULL &&
	       apd->array_status[stmt->exec.set] == SQL_PARAM_IGNORE;
}

void
cod_array_count(struct cod_stmt *stmt, SQLRETURN ret)
{
	struct cod_execution *exec = &stmt->exec;

	if (ret == SQL_NO_DATA) {
		set_status(stmt, SQL_PARAM_UNUSED);
	} else if (ret == SQL_ERROR) {
		exec->n_failed++;
		set_status(stmt, SQL_PARAM_ERROR);
	} else {
		exec->n_done++;
		exec->has_warning = exec->has_warning || ret == SQL_SUCCESS_WITH_INFO;
		set_status(stmt, ret == SQL_SUCCESS ? SQL_PARAM_SUCCESS
						    : SQL_PARAM_SUCCESS_WITH_INFO);
	}
	exec->set++;
}

void
cod_array_give_up(struct cod_stmt *stmt)
{
	SQLUSMALLINT *status = stmt->desc[COD_IPD]->array_status;
	SQLULEN n = stmt->desc[COD_APD]->array_size;

	for (SQLULEN i = stmt->exec.set; i < n && status != NULL; i++)
		status[i] = SQL_PARAM_UNUSED;
	stmt->exec.set = n;
}

/* ------------------------------------------------------------------------- together ----- */

static bool
has_data_at_execution(const struct cod_stmt *stmt, SQLULEN set)
{
	for (SQLSMALLINT i = 1; (uint32_t)i <= stmt->sql.n_params; i++) {
		if (cod_is_at_execution(stmt->desc[COD_APD], i, set))
			return true;
	}
	return false;
}

bool
cod_array_can_send(const struct cod_stmt *stmt)
{
	const struct cod_execution *exec = &stmt->exec;

	return exec->is_array && !exec->is_running && stmt->pending.n_given == 0 &&
	       stmt->is_described && stmt->sql.n_params > 0 && !stmt->sql.is_call &&
	       cenote_stmt_n_columns(stmt->handle) == 0 &&
	       stmt->attrs[COD_ASYNC_ENABLE] == SQL_ASYNC_ENABLE_OFF &&
	       !has_data_at_execution(stmt, exec->set);
}

/* How many sets may be under way. No value is longer than its buffer, so the buffers bound the
 * bytes. */
static SQLULEN
sets_at_most(const struct cod_stmt *stmt)
{
	const struct cod_desc *apd = stmt->desc[COD_APD];
	SQLULEN n_bytes = 1;

	for (SQLSMALLINT i = 1; (uint32_t)i <= stmt->sql.n_params; i++) {
		SQLLEN room = apd->records[i].octet_length;

		n_bytes += room > 0 && room < (SQLLEN)BYTES_MAX ? (SQLULEN)room : 0;
		if (room >= (SQLLEN)BYTES_MAX)
			return 1;
	}
	if (n_bytes * SETS_MAX <= BYTES_MAX)
		return SETS_MAX;
	return BYTES_MAX / n_bytes > 0 ? BYTES_MAX / n_bytes : 1;
}

/* Send one set. SQL_NO_DATA: the application leaves it out. SQL_ERROR: a value cannot be converted.
 * *ret_r is an error of the connection. */
static SQLRETURN
send_set(struct cod_stmt *stmt, int *ret_r)
{
	SQLRETURN ret;

	if (cod_array_is_ignored(stmt))
		return SQL_NO_DATA;
	cenote_params_clear(stmt->exec.params);
	ret = cod_params_read(stmt, stmt->exec.set, stmt->exec.params);
	if (ret == SQL_ERROR)
		return ret;
	*ret_r = cod_send_request(stmt);
	return ret;
}

static int
send_sets(struct cod_stmt *stmt, struct window *window)
{
	SQLULEN end = stmt->desc[COD_APD]->array_size, most = sets_at_most(stmt);
	struct cod_execution *exec = &stmt->exec;
	int r = CENOTE_OK;

	window->first = exec->set;
	window->n = 0;
	while (window->n < most && exec->set < end &&
		!has_data_at_execution(stmt, exec->set)) {
		window->sent[window->n] = send_set(stmt, &r);
		if (r < 0)
			return r;
		window->n++;
		exec->set++;
	}
	return r;
}

static SQLRETURN
take(struct cod_stmt *stmt, cenote_result *result)
{
	struct cod_diag_where where = cod_array_here(stmt);
	SQLLEN n = (SQLLEN)cenote_result_affected_rows(result);
	SQLRETURN ret = SQL_SUCCESS;

	if (cenote_result_kind(result) == CENOTE_RESULT_ERROR)
		ret = cod_request_failed(
			stmt, &where, cenote_result_diag(result), CENOTE_ERR_SERVER);
	else if (cenote_result_kind(result) == CENOTE_RESULT_COMMAND && n > 0)
		stmt->exec.affected += n;
	cenote_result_destroy(result);
	return ret;
}

/* Take the results of one set. */
static SQLRETURN
answer(struct cod_stmt *stmt, int *ret_r)
{
	SQLRETURN ret = SQL_SUCCESS;
	cenote_result *result;

	/* A cancel or a timeout stops one request at a time, so each one that was sent already
	 * needs its own. */
	if (cod_is_stopped(stmt))
		cod_stop_next(stmt);
	while ((*ret_r = cod_wait_result(stmt, false, &result)) == CENOTE_OK)
		ret = cod_worse(ret, take(stmt, result));
	return ret;
}

static int
take_answers(struct cod_stmt *stmt, const struct window *window)
{
	struct cod_execution *exec = &stmt->exec;
	int r = CENOTE_DONE;

	exec->set = window->first;
	for (SQLULEN i = 0; i < window->n && r == CENOTE_DONE; i++) {
		SQLRETURN ret = window->sent[i];

		if (SQL_SUCCEEDED(ret))
			ret = cod_worse(ret, answer(stmt, &r));
		if (r == CENOTE_DONE)
			cod_array_count(stmt, ret);
	}
	return r == CENOTE_DONE ? CENOTE_OK : r;
}

/* The connection failed. Nobody knows what became of the sets that are under way, so all up to
 * `end` get an error. */
static void
fail(struct cod_stmt *stmt, SQLULEN end, int status)
{
	struct cod_diag_where where;

	/* A set after the last one has no place in the application's arrays. */
	if (stmt->exec.set == stmt->desc[COD_APD]->array_size)
		stmt->exec.set--;
	where = cod_array_here(stmt);
	(void)cod_request_failed(stmt, &where, cenote_conn_diag(stmt->dbc->conn), status);
	do
		cod_array_count(stmt, SQL_ERROR);
	while (stmt->exec.set < end);
	cod_array_give_up(stmt);
}

void
cod_array_send(struct cod_stmt *stmt)
{
	cenote_conn *conn = stmt->dbc->conn;
	struct window window;
	int sent, r = cod_settle(stmt->dbc);

	if (r == CENOTE_OK) {
		cod_request_begin(stmt);
		r = cenote_pipeline_begin(conn);
	}
	if (r < 0) {
		fail(stmt, stmt->exec.set, r);
		return;
	}
	sent = send_sets(stmt, &window);
	if (sent == CENOTE_OK)
		sent = cenote_flush(conn);
	cod_request_sent(stmt);
	r = take_answers(stmt, &window);
	stmt->dbc->owner = NULL;
	if (r == CENOTE_OK)
		r = sent;
	if (cenote_pipeline_end(conn) < 0 && r == CENOTE_OK)
		r = CENOTE_ERR_CONN;
	stmt->row_count = stmt->exec.affected;
	stmt->has_columns = true;
	if (r < 0)
		fail(stmt, window.first + window.n, r);
	else if (cod_is_stopped(stmt))
		cod_array_give_up(stmt);
	cod_request_end(stmt);
}
