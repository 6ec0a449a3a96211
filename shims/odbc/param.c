/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parameters: binding them, reading their values for a request, and writing output values.
 * execute.c, array.c and position.c call it. The state is in the descriptors APD and IPD.
 */
#include "odbc.h"

static bool
has_precision(SQLSMALLINT sql_type)
{
	switch (sql_type) {
	case SQL_DECIMAL:
	case SQL_NUMERIC:
	case SQL_FLOAT:
	case SQL_REAL:
	case SQL_DOUBLE:
		return true;
	default:
		return false;
	}
}

static void
set_sql_type(struct cod_record *record, SQLULEN size, SQLSMALLINT digits)
{
	record->length = size;
	if (has_precision(record->concise)) {
		record->precision = (SQLSMALLINT)(size < INT16_MAX ? size : INT16_MAX);
		record->scale = digits;
	} else if (record->type == SQL_DATETIME || record->type == SQL_INTERVAL) {
		record->precision = digits;
	}
}

static bool
is_param_type(SQLSMALLINT type)
{
	return type == SQL_PARAM_INPUT || type == SQL_PARAM_OUTPUT ||
	       type == SQL_PARAM_INPUT_OUTPUT;
}

static const char *
check_binding(SQLUSMALLINT i, SQLSMALLINT param_type, SQLSMALLINT c_type, SQLPOINTER data,
	SQLLEN room, const SQLLEN *length)
{
	if (i < 1 || i > INT16_MAX)
		return "07009";
	if (!is_param_type(param_type))
		return "HY105";
	if (cod_c_type(c_type) == NULL)
		return "HY003";
	if (room < 0 && room != SQL_SETPARAM_VALUE_MAX)
		return "HY090";
	if (data == NULL && length == NULL && param_type != SQL_PARAM_OUTPUT)
		return "HY009";
	return NULL;
}

SQLRETURN
cod_bind_parameter(struct cod_stmt *stmt, SQLUSMALLINT i, SQLSMALLINT param_type,
	SQLSMALLINT c_type, SQLSMALLINT sql_type, SQLULEN size, SQLSMALLINT digits,
	SQLPOINTER data, SQLLEN room, SQLLEN *length)
{
	const char *sqlstate = check_binding(i, param_type, c_type, data, room, length);
	struct cod_record *application, *implementation;

	if (sqlstate != NULL)
		return cod_fail(&stmt->head, sqlstate);
	if (cod_sql_type(sql_type) == NULL)
		return cod_fail(&stmt->head, "HY004");
	application = cod_desc_need(stmt->desc[COD_APD], (SQLSMALLINT)i);
	implementation = cod_desc_need(stmt->desc[COD_IPD], (SQLSMALLINT)i);
	if (application == NULL || implementation == NULL)
		return cod_fail(&stmt->head, "HY001");
	(void)cod_record_set_type(application, c_type, true);
	if (application->octet_length == 0)
		application->octet_length = room;
	application->data = data;
	application->octets = length;
	application->indicator = length;
	(void)cod_record_set_type(implementation, sql_type, false);
	set_sql_type(implementation, size, digits);
	implementation->param_type = param_type;
	return SQL_SUCCESS;
}

/* --------------------------------------------------------------------- reading them ----- */

bool
cod_is_at_execution(const struct cod_desc *desc, SQLSMALLINT i, SQLULEN row)
{
	const struct cod_record *record = cod_desc_record(desc, i);
	const SQLLEN *length;

	if (record == NULL)
		return false;
	length = cod_desc_at(desc, record->octets, row, (SQLLEN)sizeof(*length));
	return length != NULL &&
	       (*length == SQL_DATA_AT_EXEC || *length <= SQL_LEN_DATA_AT_EXEC_OFFSET);
}

static bool
is_null(const struct cod_desc *desc, const struct cod_record *record, SQLULEN set)
{
	const SQLLEN *indicator =
		cod_desc_at(desc, record->indicator, set, (SQLLEN)sizeof(*indicator));

	return indicator != NULL && *indicator == SQL_NULL_DATA;
}

static const char *
put_null(cenote_params *params)
{
	return cenote_params_add_null(params) < 0 ? "HY001" : NULL;
}

/* Append a value that the application's record describes, as the type of the implementation's
 * record. */
static const char *
put_value(struct cod_stmt *stmt, const struct cod_record *application,
	const struct cod_record *implementation, const void *from, SQLLEN n,
	cenote_params *params)
{
	struct cod_source source = {
		.c_type = application->concise,
		.from = from,
		.n = n,
		.sql_type = implementation->concise,
		.size = implementation->length,
		.digits = implementation->precision,
		.precision = application->precision,
		.scale = application->scale,
	};

	if (has_precision(implementation->concise)) {
		source.size = (SQLULEN)implementation->precision;
		source.digits = implementation->scale;
	}
	return cod_put(stmt->dbc->dialect, &source, params);
}

const char *
cod_param_put(struct cod_stmt *stmt, const struct cod_desc *apd,
	const struct cod_record *application, const struct cod_record *implementation,
	SQLULEN set, const struct cod_given *given, cenote_params *params)
{
	const SQLLEN *length =
		cod_desc_at(apd, application->octets, set, (SQLLEN)sizeof(*length));
	const void *from =
		cod_desc_at(apd, application->data, set, application->octet_length);

	if (given != NULL && (given->is_null || given->bytes == NULL))
		return put_null(params);
	if (given != NULL)
		return put_value(stmt, application, implementation, given->bytes,
			(SQLLEN)given->n, params);
	if (is_null(apd, application, set))
		return put_null(params);
	if (length != NULL && *length == SQL_DEFAULT_PARAM)
		return "07S01";
	if (from == NULL)
		return "HY009";
	return put_value(stmt, application, implementation, from,
		length != NULL ? *length : SQL_NTS, params);
}

/* The value of parameter i that the application gave at execution; NULL: it is bound. */
static const struct cod_given *
given_of(const struct cod_stmt *stmt, const struct cod_desc *apd, SQLSMALLINT i,
	SQLULEN set)
{
	if (!cod_is_at_execution(apd, i, set) || (size_t)i > stmt->pending.n_given)
		return NULL;
	return &stmt->pending.given[i - 1];
}

bool
cod_is_sent(const struct cod_stmt *stmt, SQLSMALLINT i)
{
	const struct cod_record *record = cod_desc_record(stmt->desc[COD_IPD], i);

	if (i == 1 && stmt->sql.returns_value)
		return false;
	return stmt->sql.n_left_out == 0 || record == NULL ||
	       record->param_type != SQL_PARAM_OUTPUT;
}

SQLRETURN
cod_params_read(struct cod_stmt *stmt, SQLULEN set, cenote_params *params)
{
	const struct cod_desc *apd = stmt->desc[COD_APD], *ipd = stmt->desc[COD_IPD];
	SQLRETURN ret = SQL_SUCCESS;

	if ((uint32_t)apd->count < stmt->sql.n_params)
		return cod_fail(&stmt->head, "07002");
	for (SQLSMALLINT i = 1; (uint32_t)i <= stmt->sql.n_params; i++) {
		const struct cod_record *to = cod_desc_record(ipd, i);
		const char *sqlstate;

		if (!cod_is_sent(stmt, i))
			continue;
		if (to == NULL)
			return cod_fail(&stmt->head, "07002");
		if (to->param_type == SQL_PARAM_OUTPUT)
			sqlstate = put_null(params);
		else
			sqlstate = cod_param_put(stmt, apd, &apd->records[i], to, set,
				given_of(stmt, apd, i, set), params);
		ret = cod_worse(
			ret, cod_tell(&stmt->head,
				     &(struct cod_diag_where){ (SQLLEN)set + 1, i },
				     sqlstate));
		if (ret == SQL_ERROR)
			return ret;
	}
	return ret;
}

/* ------------------------------------------------------------------------- output ----- */

static bool
is_output(const struct cod_stmt *stmt, SQLSMALLINT i)
{
	const struct cod_record *record = cod_desc_record(stmt->desc[COD_IPD], i);

	return record != NULL && record->param_type != SQL_PARAM_INPUT;
}

bool
cod_has_output(const struct cod_stmt *stmt)
{
	for (SQLSMALLINT i = 1; (uint32_t)i <= stmt->sql.n_params; i++) {
		if (is_output(stmt, i))
			return true;
	}
	return false;
}

static SQLRETURN
write_one(struct cod_stmt *stmt, SQLSMALLINT i, SQLUSMALLINT col)
{
	const struct cod_desc *apd = stmt->desc[COD_APD];
	const struct cod_record *record = cod_desc_record(apd, i);
	struct cod_target target;
	struct cod_value value;

	if (record == NULL || (record->data == NULL && record->octets == NULL))
		return SQL_SUCCESS;
	cod_column_value(stmt, cod_cursor_row(&stmt->cursor, 0), col, &value);
	cod_target_of(apd, record, stmt->exec.set, &target);
	if (target.c_type == SQL_C_DEFAULT)
		target.c_type = cod_default_c_type(value.sql_type, value.is_unsigned);
	return cod_tell(&stmt->head, &(struct cod_diag_where){ 1, i },
		cod_get(&value, &target, NULL));
}

/* Write the output parameters. The result's columns are these parameters, in their order. */
SQLRETURN
cod_params_write(struct cod_stmt *stmt)
{
	SQLUSMALLINT col = 0;
	SQLRETURN ret = SQL_SUCCESS;

	for (SQLSMALLINT i = 1;
		(uint32_t)i <= stmt->sql.n_params && col < stmt->n_columns; i++) {
		if (is_output(stmt, i))
			ret = cod_worse(ret, write_one(stmt, i, ++col));
	}
	return ret;
}
