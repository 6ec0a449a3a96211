/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Convert PHP's values to parameters, and values of results to PHP's values. cenote_statement.c
 * calls this file. It has no state.
 */
#include "php_pdo_cenote_int.h"

/* ---------------------------------------------------------------- to the session ----- */

/* Add a value without a type, so that the server finds the type, as for a quoted literal. */
static int
add_untyped(cenote_params *params, const zval *value, enum pdo_param_type type)
{
	zend_string *text;
	int status;

	if (Z_TYPE_P(value) == IS_TRUE || Z_TYPE_P(value) == IS_FALSE)
		return cenote_params_add_text(
			params, Z_TYPE_P(value) == IS_TRUE ? "t" : "f", 1);
	text = zval_try_get_string((zval *)value);
	if (!text)
		return CENOTE_ERR_CONVERT;
	status = type == PDO_PARAM_LOB
			 ? cenote_params_add_native(params, 0, CENOTE_FORMAT_BINARY,
				   ZSTR_VAL(text), ZSTR_LEN(text))
			 : cenote_params_add_text(params, ZSTR_VAL(text), ZSTR_LEN(text));
	zend_string_release(text);
	return status;
}

static int
add_typed(cenote_params *params, const zval *value, enum pdo_param_type type)
{
	zend_string *text;
	int status;

	if (Z_TYPE_P(value) == IS_TRUE || Z_TYPE_P(value) == IS_FALSE)
		return cenote_params_add_bool(params, Z_TYPE_P(value) == IS_TRUE);
	if (Z_TYPE_P(value) == IS_LONG)
		return cenote_params_add_int64(params, Z_LVAL_P(value));
	if (type == PDO_PARAM_INT)
		return cenote_params_add_int64(params, zval_get_long((zval *)value));
	if (Z_TYPE_P(value) == IS_DOUBLE)
		return cenote_params_add_double(params, Z_DVAL_P(value));
	text = zval_try_get_string((zval *)value);
	if (!text)
		return CENOTE_ERR_CONVERT;
	status = type == PDO_PARAM_LOB
			 ? cenote_params_add_bytes(params, ZSTR_VAL(text), ZSTR_LEN(text))
			 : cenote_params_add_text(params, ZSTR_VAL(text), ZSTR_LEN(text));
	zend_string_release(text);
	return status;
}

/* Read the rest of a stream. */
static bool
add_stream(pdo_stmt_t *stmt, cenote_params *params, zval *resource, int *ret_status)
{
	const pdo_cenote_stmt *S = stmt->driver_data;
	php_stream *stream;
	zend_string *bytes;
	zval value;

	php_stream_from_zval_no_verify(stream, resource);
	if (!stream)
		return false;
	bytes = php_stream_copy_to_mem(stream, PHP_STREAM_COPY_ALL, 0);
	ZVAL_STR(&value, bytes ? bytes : ZSTR_EMPTY_ALLOC());
	*ret_status = (S->H->dialect->finds_types ? add_untyped : add_typed)(
		params, &value, PDO_PARAM_LOB);
	zval_ptr_dtor(&value);
	return true;
}

static bool
check(pdo_stmt_t *stmt, int status)
{
	if (status == CENOTE_OK)
		return true;
	/* A value that cannot become a text has thrown an exception already. */
	if (status != CENOTE_ERR_CONVERT)
		pdo_cenote_error_text(stmt->dbh, stmt,
			status == CENOTE_ERR_LIMIT ? "54000" : "HY001",
			status == CENOTE_ERR_LIMIT ? "too many parameters, or too large"
						   : "out of memory");
	return false;
}

bool
pdo_cenote_add_value(pdo_stmt_t *stmt, struct pdo_bound_param_data *bound)
{
	const pdo_cenote_stmt *S = stmt->driver_data;
	enum pdo_param_type type = PDO_PARAM_TYPE(bound->param_type);
	zval *value = Z_ISREF(bound->parameter) ? Z_REFVAL(bound->parameter)
						: &bound->parameter;
	int status;

	if (type == PDO_PARAM_NULL || Z_TYPE_P(value) == IS_NULL)
		return check(stmt, cenote_params_add_null(S->params));
	if (type == PDO_PARAM_LOB && Z_TYPE_P(value) == IS_RESOURCE) {
		if (add_stream(stmt, S->params, value, &status))
			return check(stmt, status);
		pdo_cenote_error_text(
			stmt->dbh, stmt, "HY105", "expected a stream resource");
		return false;
	}
	return check(stmt, (S->H->dialect->finds_types ? add_untyped : add_typed)(
				   S->params, value, type));
}

/* -------------------------------------------------------------- from the session ----- */

static bool
get_long(const cenote_result *res, uint64_t row, uint32_t col, zval *ret_value)
{
	int64_t number;

	if (cenote_result_int64(res, row, col, &number) != CENOTE_OK ||
		number < ZEND_LONG_MIN || number > ZEND_LONG_MAX)
		return false;
	ZVAL_LONG(ret_value, (zend_long)number);
	return true;
}

static bool
get_double(const cenote_result *res, uint64_t row, uint32_t col, zval *ret_value)
{
	double number;

	if (cenote_result_double(res, row, col, &number) != CENOTE_OK)
		return false;
	ZVAL_DOUBLE(ret_value, number);
	return true;
}

static bool
get_bool(const cenote_result *res, uint64_t row, uint32_t col, zval *ret_value)
{
	int64_t number;

	if (cenote_result_int64(res, row, col, &number) != CENOTE_OK ||
		(number != 0 && number != 1))
		return false;
	ZVAL_BOOL(ret_value, number == 1);
	return true;
}

uint32_t
pdo_cenote_type(const cenote_column *column)
{
	return (uint32_t)cenote_column_int(column, CENOTE_COLUMN_TYPE);
}

void
pdo_cenote_get_value(const cenote_result *res, uint64_t row, uint32_t col, uint32_t type,
	zval *ret_value)
{
	/* Values without a type in PHP stay text. Values that do not have their column's type,
	 * which SQLite allows, stay text, too. */
	static bool (*const getters[])(
		const cenote_result *, uint64_t, uint32_t, zval *) = {
		[CENOTE_TYPE_BOOL] = get_bool,
		[CENOTE_TYPE_INT64] = get_long,
		[CENOTE_TYPE_UINT64] = get_long,
		[CENOTE_TYPE_DOUBLE] = get_double,
	};
	size_t len;
	const char *text = cenote_result_text(res, row, col, &len);

	if (!text)
		ZVAL_NULL(ret_value);
	else if (type >= sizeof(getters) / sizeof(*getters) || !getters[type] ||
		 !getters[type](res, row, col, ret_value))
		ZVAL_STRINGL_FAST(ret_value, text, len);
}

enum pdo_param_type
pdo_cenote_column_type(const cenote_column *column)
{
	switch (pdo_cenote_type(column)) {
	case CENOTE_TYPE_BOOL:
		return PDO_PARAM_BOOL;
	case CENOTE_TYPE_INT64:
	case CENOTE_TYPE_UINT64:
		return PDO_PARAM_INT;
	case CENOTE_TYPE_BYTES:
		return PDO_PARAM_LOB;
	default:
		return PDO_PARAM_STR;
	}
}
