/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SQLParamData(): ask the application for the next value. Once the application has given all
 * values, this file continues the function that needs them. pending.c keeps the values; execute.c
 * and position.c continue. It has no state of its own.
 */
#include "odbc.h"

static SQLRETURN
go_on(struct cod_stmt *stmt)
{
	SQLUSMALLINT function = stmt->pending.function;

	stmt->pending.function = 0;
	if (function == SQL_API_SQLSETPOS || function == SQL_API_SQLBULKOPERATIONS)
		return cod_position_go_on(stmt);
	return cod_execution_go_on(stmt);
}

SQLRETURN
cod_param_data(struct cod_stmt *stmt, SQLPOINTER *ret_value)
{
	SQLRETURN ret;

	if (stmt->async == SQL_API_SQLPARAMDATA) {
		/* The application polls an execution that this function continued with. */
		ret = cod_execution_go_on(stmt);
	} else {
		ret = cod_pending_next(stmt, ret_value);
		if (ret != SQL_SUCCESS)
			return ret;
		ret = go_on(stmt);
	}
	if (ret == SQL_STILL_EXECUTING)
		stmt->async = SQL_API_SQLPARAMDATA;
	/* The next set of parameters, or the next row, also needs data. */
	if (ret == SQL_NEED_DATA)
		return cod_pending_next(stmt, ret_value);
	return ret;
}
