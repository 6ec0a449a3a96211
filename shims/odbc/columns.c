/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns that a statement shows: the columns of its result, or of the prepared statement. The
 * state is cod_stmt.columns, and whether their origins are known. cursor.c, describe.c, execute.c and
 * statement.c call it. */
#include "odbc.h"

#include <stdlib.h>

static SQLRETURN
set_columns(struct cod_stmt *stmt, uint32_t n, const void *from,
	const cenote_column *(*column_of)(const void *from, uint32_t i))
{
	struct cod_column *columns = NULL;

	if (n > INT16_MAX)
		return cod_fail_text(
			&stmt->head, "HY000", "the result has too many columns");
	if (n > 0) {
		columns = calloc(n, sizeof(*columns));
		if (columns == NULL)
			return cod_fail(&stmt->head, "HY001");
	}
	for (uint32_t i = 0; i < n; i++)
		cod_column_of(column_of(from, i), stmt->dbc->dialect, &stmt->dbc->types,
			&columns[i]);
	cod_columns_drop(stmt);
	stmt->columns = columns;
	stmt->n_columns = (SQLUSMALLINT)n;
	stmt->has_columns = true;
	return SQL_SUCCESS;
}

void
cod_columns_drop(struct cod_stmt *stmt)
{
	free(stmt->columns);
	stmt->columns = NULL;
	stmt->n_columns = 0;
	cenote_result_destroy(stmt->origins);
	stmt->origins = NULL;
	stmt->has_origins = false;
	stmt->has_nullability = false;
}

static const cenote_column *
of_result(const void *from, uint32_t i)
{
	return cenote_result_column(from, i);
}

static const cenote_column *
of_stmt(const void *from, uint32_t i)
{
	return cenote_stmt_column(from, i);
}

SQLRETURN
cod_columns_of_result(struct cod_stmt *stmt, const cenote_result *result)
{
	return set_columns(stmt, cenote_result_n_columns(result), result, of_result);
}

SQLRETURN
cod_columns_of_handle(struct cod_stmt *stmt)
{
	return set_columns(
		stmt, cenote_stmt_n_columns(stmt->handle), stmt->handle, of_stmt);
}
