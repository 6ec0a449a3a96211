/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The beginning and the end of a statement: translates escape clauses when the text is set, and
 * closes results, cursors and the prepared statement. face.c and most files that work on statements
 * call it. The state is in struct cod_stmt.
 */
#include "keys.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------- the statement's end ----- */

static void
drop_columns(struct cod_stmt *stmt)
{
	cod_columns_drop(stmt);
	stmt->has_columns = false;
}

void
cod_execution_finish(struct cod_stmt *stmt)
{
	cenote_params_destroy(stmt->exec.params);
	stmt->exec = (struct cod_execution){ 0 };
	cod_request_end(stmt);
}

/* Cancel the request: nobody will read the remaining rows. Not in a transaction, where the cancel
 * would undo work. */
static void
stop_sending(struct cod_stmt *stmt)
{
	struct cod_dbc *dbc = stmt->dbc;

	if (dbc->owner != stmt || !stmt->cursor.is_streamed ||
		dbc->autocommit != SQL_AUTOCOMMIT_ON)
		return;
	(void)pthread_mutex_lock(&dbc->cancel_mutex);
	cenote_cancel_follow(dbc->cancel, dbc->conn);
	if (cenote_cancel_send(dbc->cancel) < 0)
		dbc->running = NULL; /* the cancel failed: all rows will come */
	(void)pthread_mutex_unlock(&dbc->cancel_mutex);
}

void
cod_stmt_close(struct cod_stmt *stmt)
{
	struct cod_dbc *dbc = stmt->dbc;
	cenote_result *result;

	stop_sending(stmt);
	cod_execution_finish(stmt);
	cod_pending_clear(stmt);
	stmt->async = 0;
	drop_columns(stmt);
	cod_cursor_close(stmt);
	cod_later_clear(stmt);
	cod_keys_forget(stmt);
	stmt->row_count = -1;
	if (dbc->owner != stmt)
		return;
	/* Drop the results after the one that was read. */
	while (cenote_get_result(dbc->conn, &result) == CENOTE_OK)
		cenote_result_destroy(result);
	dbc->owner = NULL;
}

void
cod_stmt_forget(struct cod_stmt *stmt)
{
	cod_stmt_close(stmt);
	cenote_stmt_destroy(stmt->handle);
	stmt->handle = NULL;
	stmt->is_described = false;
	stmt->is_prepared = false;
	cod_statement_finish(&stmt->sql);
	stmt->sql = (struct cod_statement){ 0 };
	free(stmt->source);
	stmt->source = NULL;
}

SQLRETURN
cod_close_cursor(struct cod_stmt *stmt)
{
	if (!stmt->cursor.is_open)
		return cod_fail(&stmt->head, "24000");
	cod_stmt_close(stmt);
	return SQL_SUCCESS;
}

SQLRETURN
cod_free_stmt(struct cod_stmt *stmt, SQLUSMALLINT option)
{
	switch (option) {
	case SQL_CLOSE:
		cod_stmt_close(stmt);
		return SQL_SUCCESS;
	case SQL_UNBIND:
		cod_desc_set_count(stmt->desc[COD_ARD], 0);
		return SQL_SUCCESS;
	case SQL_RESET_PARAMS:
		cod_desc_set_count(stmt->desc[COD_APD], 0);
		cod_desc_set_count(stmt->desc[COD_IPD], 0);
		return SQL_SUCCESS;
	default:
		return cod_fail(&stmt->head, "HY092");
	}
}

/* ------------------------------------------------------- the statement's beginning ----- */

/* PostgreSQL calls functions and procedures in different ways, so the driver must ask
 * which it is. */
static int
is_function(const char *name, size_t n, void *user)
{
	static const char sql[] =
		"select 1 from pg_catalog.pg_proc where prokind = 'p' and proname = "
		"(pg_catalog.parse_ident($1))[pg_catalog.cardinality("
		"pg_catalog.parse_ident($1))]";
	struct cod_stmt *stmt = user;
	cenote_params *params = NULL;
	cenote_result *found = NULL;
	int is_procedure;

	if (stmt->dbc->dialect != COD_DIALECT_POSTGRESQL)
		return 0;
	if (cenote_params_create(NULL, &params) == CENOTE_OK &&
		cenote_params_add_text(params, name, n) == CENOTE_OK)
		found = cod_ask_aside(stmt->dbc, sql, params);
	cenote_params_destroy(params);
	/* Without an answer, treat it as a procedure: the call itself will report the error. */
	is_procedure = found == NULL || cenote_result_n_rows(found) > 0;
	cenote_result_destroy(found);
	return !is_procedure;
}

/* Whether parameter i is bound as an output parameter at the moment. */
static int
is_output(uint32_t i, void *user)
{
	const struct cod_stmt *stmt = user;
	const struct cod_record *record =
		cod_desc_record(stmt->desc[COD_IPD], (SQLSMALLINT)i);

	return stmt->dbc->dialect == COD_DIALECT_POSTGRESQL && record != NULL &&
	       record->param_type == SQL_PARAM_OUTPUT;
}

static SQLRETURN
translate(struct cod_stmt *stmt, int (*asked)(const char *name, size_t n, void *user),
	struct cod_statement *ret_sql)
{
	const struct cod_escape_options options = {
		.dialect = stmt->dbc->dialect,
		.is_odd = cod_is_backslash_odd(stmt->dbc),
		.is_noscan = stmt->attrs[COD_NOSCAN] == SQL_NOSCAN_ON,
		.is_function = asked,
		.is_output = is_output,
		.user = stmt,
	};
	const char *sqlstate =
		cod_escape(&options, stmt->source, strlen(stmt->source), ret_sql);

	if (sqlstate == NULL)
		return SQL_SUCCESS;
	return cod_fail_text(&stmt->head, sqlstate,
		ret_sql->message[0] != '\0' ? ret_sql->message : NULL);
}

static int
is_known_function(const char *name, size_t n, void *user)
{
	(void)name;
	(void)n;
	(void)user;
	return 1;
}

/* Translate a function call again: the application may have changed the bindings since. */
SQLRETURN
cod_stmt_fit_call(struct cod_stmt *stmt)
{
	struct cod_statement now;
	SQLRETURN ret;

	if (!stmt->sql.calls_function || stmt->cursor.is_open ||
		(stmt->sql.n_left_out == 0 && !cod_has_output(stmt)))
		return SQL_SUCCESS;
	ret = translate(stmt, is_known_function, &now);
	if (ret != SQL_SUCCESS || strcmp(now.text, stmt->sql.text) == 0) {
		cod_statement_finish(&now);
		return ret;
	}
	drop_columns(stmt);
	cenote_stmt_destroy(stmt->handle);
	stmt->handle = NULL;
	stmt->is_described = false;
	cod_statement_finish(&stmt->sql);
	stmt->sql = now;
	return SQL_SUCCESS;
}

SQLRETURN
cod_stmt_set_sql(struct cod_stmt *stmt, struct cod_text sql)
{
	if (sql.text == NULL)
		return cod_fail(&stmt->head, "HY009");
	if (sql.is_cut)
		return cod_fail_text(
			&stmt->head, "42000", "the statement contains a zero byte");
	if (stmt->cursor.is_open)
		return cod_fail(&stmt->head, "24000");
	cod_stmt_forget(stmt);
	stmt->source = cod_strdup(sql.text, sql.n);
	if (stmt->source == NULL)
		return cod_fail(&stmt->head, "HY001");
	if (translate(stmt, is_function, &stmt->sql) == SQL_ERROR) {
		cod_stmt_forget(stmt);
		return SQL_ERROR;
	}
	cod_diag_set_function(&stmt->head.diag, stmt->sql.text);
	return SQL_SUCCESS;
}

/* The server gets the statement at its execution, or when the application asks for its columns. */
SQLRETURN
cod_prepare(struct cod_stmt *stmt, struct cod_text sql)
{
	SQLRETURN ret = cod_stmt_set_sql(stmt, sql);

	if (ret == SQL_SUCCESS)
		stmt->is_prepared = true;
	return ret;
}

SQLRETURN
cod_native_sql(struct cod_dbc *dbc, struct cod_text sql, const struct cod_sink *out)
{
	struct cod_escape_options options = { .dialect = dbc->dialect };
	struct cod_statement statement;
	const char *sqlstate;
	SQLRETURN ret;

	if (sql.text == NULL)
		return cod_fail(&dbc->head, "HY009");
	if (dbc->conn == NULL)
		return cod_fail(&dbc->head, "08003");
	options.is_odd = cod_is_backslash_odd(dbc);
	sqlstate = cod_escape(&options, sql.text, sql.n, &statement);
	if (sqlstate == NULL)
		ret = cod_give_n(&dbc->head, out, statement.text, statement.n);
	else
		ret = cod_fail_text(&dbc->head, sqlstate,
			statement.message[0] != '\0' ? statement.message : NULL);
	cod_statement_finish(&statement);
	return ret;
}
