/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Describes a statement: its columns, parameters and row count. It prepares the statement at the
 * server if it must. face.c and face_w.c call it, execute.c prepares through it. The state is
 * cod_stmt.handle and cod_stmt.columns.
 */
#include "odbc.h"

/* --------------------------------------------------------------- knowing columns ----- */

SQLRETURN
cod_need_handle(struct cod_stmt *stmt)
{
	cenote_conn *conn = stmt->dbc->conn;
	int r = CENOTE_OK;

	if (cod_stmt_fit_call(stmt) == SQL_ERROR)
		return SQL_ERROR;
	if (stmt->is_described)
		return SQL_SUCCESS;
	if (stmt->handle == NULL)
		r = cenote_stmt_create(conn, stmt->sql.text, stmt->sql.n, &stmt->handle);
	if (r == CENOTE_OK)
		r = cod_settle(stmt->dbc);
	if (r == CENOTE_OK)
		r = cenote_stmt_prepare(stmt->handle);
	if (r < 0)
		return cod_request_failed(stmt, &COD_NOWHERE, cenote_conn_diag(conn), r);
	stmt->is_described = true;
	return SQL_SUCCESS;
}

SQLRETURN
cod_describe(struct cod_stmt *stmt)
{
	SQLRETURN ret;

	if (stmt->has_columns)
		return SQL_SUCCESS;
	if (!stmt->is_prepared)
		return cod_fail(&stmt->head, "HY010");
	ret = cod_need_handle(stmt);
	if (ret != SQL_SUCCESS)
		return ret;
	return cod_columns_of_handle(stmt);
}

/* ------------------------------------------------------------------------ reporting them ----- */

SQLRETURN
cod_num_result_cols(struct cod_stmt *stmt, SQLSMALLINT *ret_n)
{
	SQLRETURN ret = cod_describe(stmt);

	if (ret == SQL_SUCCESS && ret_n != NULL)
		*ret_n = (SQLSMALLINT)stmt->n_columns;
	return ret;
}

static void
bookmark_column(struct cod_column *column)
{
	cod_column_own("", SQL_BIGINT, 0, SQL_NO_NULLS, column);
	column->type.is_unsigned = SQL_TRUE;
}

/* Find a column. Column 0 is the bookmark. */
static SQLRETURN
find_column(struct cod_stmt *stmt, SQLUSMALLINT col, struct cod_column *ret_column)
{
	SQLRETURN ret = cod_describe(stmt);

	if (ret != SQL_SUCCESS)
		return ret;
	if (stmt->n_columns == 0)
		return cod_fail(&stmt->head, "07005");
	if (col > stmt->n_columns ||
		(col == 0 && stmt->attrs[COD_USE_BOOKMARKS] == SQL_UB_OFF))
		return cod_fail(&stmt->head, "07009");
	if (col == 0)
		bookmark_column(ret_column);
	else
		*ret_column = stmt->columns[col - 1];
	return SQL_SUCCESS;
}

SQLRETURN
cod_describe_col(struct cod_stmt *stmt, SQLUSMALLINT col, const struct cod_sink *name,
	SQLSMALLINT *type, SQLULEN *size, SQLSMALLINT *digits, SQLSMALLINT *nullable)
{
	struct cod_column column = { 0 };
	SQLRETURN ret = find_column(stmt, col, &column);

	if (ret != SQL_SUCCESS)
		return ret;
	if (nullable != NULL && col > 0) {
		cod_nullable_learn(stmt);
		column = stmt->columns[col - 1];
	}
	if (type != NULL && column.type.sql != NULL)
		*type = cod_sql_type_for(
			column.type.sql->concise, stmt->dbc->env->odbc_version);
	if (size != NULL)
		*size = column.type.size;
	if (digits != NULL)
		*digits = column.type.digits;
	if (nullable != NULL)
		*nullable = column.type.nullable;
	return cod_give(&stmt->head, name, column.name);
}

SQLRETURN
cod_col_attribute(struct cod_stmt *stmt, SQLUSMALLINT col, SQLUSMALLINT id,
	const struct cod_sink *sink, SQLLEN *number)
{
	struct cod_column column = { 0 };
	const char *text;
	SQLLEN value;
	SQLRETURN ret;

	ret = cod_describe(stmt);
	if (ret != SQL_SUCCESS)
		return ret;
	if (id == SQL_DESC_COUNT || id == SQL_COLUMN_COUNT) {
		if (number != NULL)
			*number = stmt->n_columns;
		return SQL_SUCCESS;
	}
	cod_origins_learn(stmt, (SQLSMALLINT)id);
	ret = find_column(stmt, col, &column);
	if (ret != SQL_SUCCESS)
		return ret;
	if (!cod_column_field(stmt, &column, (SQLSMALLINT)id, &text, &value))
		return cod_fail(&stmt->head, "HY091");
	if (text != NULL)
		return cod_give(&stmt->head, sink, text);
	if (number != NULL)
		*number = value;
	return SQL_SUCCESS;
}

SQLRETURN
cod_row_count(struct cod_stmt *stmt, SQLLEN *ret_n)
{
	if (ret_n != NULL)
		*ret_n = stmt->row_count;
	return SQL_SUCCESS;
}

/* ------------------------------------------------------------------------ parameters ----- */

SQLRETURN
cod_num_params(struct cod_stmt *stmt, SQLSMALLINT *ret_n)
{
	if (stmt->source == NULL)
		return cod_fail(&stmt->head, "HY010");
	if (ret_n != NULL)
		*ret_n = (SQLSMALLINT)stmt->sql.n_params;
	return SQL_SUCCESS;
}

SQLRETURN
cod_describe_param(struct cod_stmt *stmt, SQLUSMALLINT i, SQLSMALLINT *type,
	SQLULEN *size, SQLSMALLINT *digits, SQLSMALLINT *nullable)
{
	struct cod_native native = COD_NATIVE_INIT;
	struct cod_type of = { 0 };
	uint32_t at = 0;
	SQLRETURN ret;

	if (stmt->source == NULL)
		return cod_fail(&stmt->head, "HY010");
	if (i < 1 || i > stmt->sql.n_params)
		return cod_fail(&stmt->head, "07009");
	ret = cod_need_handle(stmt);
	if (ret != SQL_SUCCESS)
		return ret;
	for (SQLUSMALLINT k = 1; k < i; k++)
		at += cod_is_sent(stmt, (SQLSMALLINT)k);
	if (cod_is_sent(stmt, (SQLSMALLINT)i) && at < cenote_stmt_n_params(stmt->handle))
		cod_native_of_param(cenote_stmt_param_type(stmt->handle, at),
			cenote_stmt_param_native_type(stmt->handle, at), &native);
	cod_type_of(stmt->dbc->dialect, &native, &stmt->dbc->types, &of);
	if (type != NULL)
		*type = cod_sql_type_for(of.sql->concise, stmt->dbc->env->odbc_version);
	if (size != NULL)
		*size = of.size;
	if (digits != NULL)
		*digits = of.digits;
	if (nullable != NULL)
		*nullable = SQL_NULLABLE_UNKNOWN;
	return SQL_SUCCESS;
}
